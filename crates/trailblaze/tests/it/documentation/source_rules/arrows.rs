//! Dependencies point one way: between crates, between folders of the binary, between modules of the engine.

use crate::documentation::source_rules::support::*;

/// Which of our crates each may use.
const ARROWS: &[(&str, &[&str])] = &[
    ("trailblaze-protocol", &[]),
    ("trailblaze-client", &[]),
    ("trailblaze-tools", &["trailblaze-client", "trailblaze-protocol", "trailblaze-tools-macros"]),
    ("trailblaze-tools-macros", &[]),
    ("trailblaze-contract", &[]),
    ("trailblaze-contract-gen", &[]),
    ("trailblaze-core", &["trailblaze-protocol"]),
    ("trailblaze-drivers", &["trailblaze-core", "trailblaze-http", "trailblaze-protocol", "trailblaze-supervise"]),
    ("trailblaze-http", &[]),
    ("trailblaze-models", &["trailblaze-core", "trailblaze-http"]),
    ("trailblaze-supervise", &[]),
    ("trailblaze-android-stand-in", &["trailblaze-core", "trailblaze-drivers", "trailblaze-protocol"]),
    ("trailblaze-ios-stand-in", &["trailblaze-core", "trailblaze-drivers", "trailblaze-protocol"]),
    ("trailblaze-script", &[]),
    ("trailblaze-import", &["trailblaze-core", "trailblaze-script"]),
    (
        "trailblaze-toolhost",
        &[
            "trailblaze-contract",
            "trailblaze-core",
            "trailblaze-http",
            "trailblaze-protocol",
            "trailblaze-script",
            "trailblaze-supervise",
        ],
    ),
    ("wallet-tools", &["trailblaze", "trailblaze-tools"]),
    (
        "trailblaze",
        &[
            "trailblaze-toolhost",
            "trailblaze-drivers",
            "trailblaze-models",
            "trailblaze-http",
            "trailblaze-supervise",
            "trailblaze-core",
            "trailblaze-contract",
            "trailblaze-protocol",
            "trailblaze-script",
            "trailblaze-import",
            "trailblaze-tools",
        ],
    ),
];

#[test]
fn arrows_between_crates_point_one_way() {
    let mut violations = Violations::default();
    for package in packages() {
        let name = text(&package["name"]);
        let Some((_, allowed)) = ARROWS.iter().find(|(known, _)| *known == name) else {
            violations.add("crates", 1, &format!("`{name}` has no row in ARROWS of source_rules/arrows.rs"));
            continue;
        };
        let dependencies = package["dependencies"].as_array().into_iter().flatten();
        // Tests may use any crate.
        let used = dependencies.filter(|dependency| dependency["kind"] != "dev").map(|dependency| &dependency["name"]);
        for used in used.map(text).filter(|used| ARROWS.iter().any(|(ours, _)| ours == used)) {
            if !allowed.contains(&used.as_str()) {
                let (file, line) = find_line(&package, &used);
                violations.add(&file, line, &format!("`{name}` may not use `{used}`: arrows point one way"));
            }
        }
    }
    violations.check();
}

/// Which folders of the binary each may use. ARCHITECTURE.md has the same table.
const FOLDERS: &[(&str, &[&str])] = &[
    ("files", &[]),
    ("output", &["files"]),
    ("project", &["files"]),
    ("kit", &["files", "project"]),
    ("servers", &["files", "output", "project"]),
    ("sessions", &["files", "output", "project", "servers"]),
    ("api", &["servers", "sessions"]),
    ("run", &["files", "output", "project", "servers", "sessions"]),
    ("daemon", &["files", "output", "project", "servers", "sessions", "api", "run"]),
    ("lsp", &["files", "output", "project", "servers", "sessions", "run"]),
    ("cli", &["files", "output", "project", "kit", "api", "servers", "sessions", "run", "daemon", "lsp"]),
];

#[test]
fn arrows_between_folders_of_the_binary_point_one_way() {
    let mut violations = Violations::default();
    for (folder, allowed) in FOLDERS {
        for (path, line, used) in uses(&format!("crates/trailblaze/src/{folder}")) {
            if used != *folder && !allowed.contains(&used.as_str()) {
                violations.add(&path, line, &format!("`{folder}` may not use `{used}`: arrows point one way"));
            }
        }
    }
    violations.check();
}

#[test]
fn the_architecture_lists_the_folders_and_their_arrows() {
    let architecture = read(&root().join("ARCHITECTURE.md"));
    let rows: Vec<&str> =
        architecture.lines().filter(|line| line.starts_with("| `crates/trailblaze/src/")).take(FOLDERS.len()).collect();
    for ((folder, allowed), row) in FOLDERS.iter().zip(&rows) {
        let uses = match allowed.len() {
            0 => "nothing".to_string(),
            n if n + 1 == FOLDERS.len() => "all".to_string(),
            _ => allowed.join(", "),
        };
        let is_row =
            row.starts_with(&format!("| `crates/trailblaze/src/{folder}` |")) && row.ends_with(&format!("| {uses} |"));
        assert!(is_row, "ARCHITECTURE.md: the row of `{folder}` must name what it uses, {uses}; got\n{row}");
    }
    assert_eq!(rows.len(), FOLDERS.len(), "ARCHITECTURE.md: a row for each folder of the binary");
}

#[test]
fn modules_are_listed_in_reading_order() {
    let mut violations = Violations::default();
    let list = |path: &str| -> Vec<String> {
        let modules = read(&root().join(path));
        let names = modules.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
        names.map(String::from).collect()
    };
    let folders: Vec<&str> = FOLDERS.iter().map(|(folder, _)| *folder).collect();
    assert_eq!(list("crates/trailblaze/src/lib.rs"), folders, "lib.rs of the binary has the order of FOLDERS");
    let modules = list("crates/core/src/lib.rs");
    for (index, module) in modules.iter().enumerate() {
        for path in [format!("crates/core/src/{module}"), format!("crates/core/src/{module}.rs")] {
            for (path, line, used) in uses(&path) {
                if modules.iter().position(|known| *known == used).is_some_and(|at| at > index) {
                    violations.add(
                        &path,
                        line,
                        &format!("`{module}` may not use `{used}`, which comes after it in lib.rs"),
                    );
                }
            }
        }
    }
    violations.check();
}

/// The top-level modules of its own crate that a file, or each file of a folder, uses: path, line and name. Unit tests may use
/// any module.
fn uses(path: &str) -> Vec<(String, usize, String)> {
    let path = root().join(path);
    let found = match (path.is_dir(), path.is_file()) {
        (true, _) => files(&path, "rs"),
        (_, true) => vec![path],
        _ => Vec::new(),
    };
    let mut used = Vec::new();
    for file in found.iter().filter(|file| !shown(file).contains("/tests") && !shown(file).ends_with("/samples.rs")) {
        let source = read(file);
        let own = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for (at, _) in own.match_indices("crate::").filter(|(at, _)| !own[..*at].ends_with(['_', '$'])) {
            let line = own[..at].matches('\n').count() + 1;
            let rest = &own[at + "crate::".len()..];
            let is_comment = own[..at].lines().next_back().is_some_and(|line| line.trim_start().starts_with("//"));
            if is_comment {
                continue;
            }
            let name =
                |text: &str| text.trim().split(|c: char| !c.is_alphanumeric() && c != '_').next().map(String::from);
            let names: Vec<String> = match rest.strip_prefix('{') {
                // `use crate::{print, files::slug};`
                Some(group) => group.split('}').next().unwrap_or_default().split(',').filter_map(name).collect(),
                None => name(rest).into_iter().collect(),
            };
            used.extend(names.into_iter().map(|name| (shown(file), line, name)));
        }
    }
    used
}

#[test]
fn the_engine_reaches_no_network_process_or_file() {
    let mut violations = Violations::default();
    for line in tree("trailblaze-core", "features,no-dev").lines() {
        for feature in ["net", "process", "fs", "signal", "io-std", "full"] {
            if line.starts_with(&format!("tokio feature \"{feature}\"")) {
                violations.add("crates/core/Cargo.toml", 1, &format!("the engine may not have `{line}`"));
            }
        }
    }
    for name in ["hyper", "axum", "reqwest", "rmcp", "tungstenite", "tokio-tungstenite", "clap", "mio", "socket2"] {
        if depends_on("trailblaze-core", name) {
            violations.add("crates/core/Cargo.toml", 1, &format!("the engine may not use `{name}`"));
        }
    }
    violations.check();
}

#[test]
fn drivers_know_nothing_of_the_command_line() {
    let mut violations = Violations::default();
    for name in ["clap", "trailblaze"] {
        if depends_on("trailblaze-drivers", name) {
            violations.add("crates/drivers/Cargo.toml", 1, &format!("drivers may not use `{name}`"));
        }
    }
    violations.check();
}

fn depends_on(package: &str, name: &str) -> bool {
    tree(package, "no-dev").lines().any(|line| line.starts_with(&format!("{name} v")))
}

fn tree(package: &str, edges: &str) -> String {
    cargo(&["tree", "-p", package, "-e", edges, "--prefix", "none", "--locked", "--offline"])
}
