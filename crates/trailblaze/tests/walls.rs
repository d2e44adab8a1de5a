//! The walls between the crates, and the rules for sources and documents that no compiler checks. A failure names the
//! place and the rule.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Which of our crates each may use.
const ARROWS: &[(&str, &[&str])] = &[
    ("trailblaze-protocol", &[]),
    ("trailblaze-core", &["trailblaze-protocol"]),
    ("trailblaze-drivers", &["trailblaze-core", "trailblaze-protocol", "trailblaze-supervise"]),
    ("trailblaze-supervise", &[]),
    ("trailblaze-toolhost", &["trailblaze-core", "trailblaze-protocol", "trailblaze-supervise"]),
    (
        "trailblaze",
        &[
            "trailblaze-toolhost",
            "trailblaze-drivers",
            "trailblaze-supervise",
            "trailblaze-core",
            "trailblaze-protocol",
        ],
    ),
];

#[test]
fn arrows_between_crates_point_one_way() {
    let mut broken = Broken::default();
    for package in packages() {
        let name = text(&package["name"]);
        let Some((_, allowed)) = ARROWS.iter().find(|(known, _)| *known == name) else {
            broken.add("crates", 1, &format!("`{name}` has no row in ARROWS of walls.rs"));
            continue;
        };
        let dependencies = package["dependencies"].as_array().into_iter().flatten();
        // Tests may look from anywhere.
        let used = dependencies.filter(|dependency| dependency["kind"] != "dev").map(|dependency| &dependency["name"]);
        for used in used.map(text).filter(|used| ARROWS.iter().any(|(ours, _)| ours == used)) {
            if !allowed.contains(&used.as_str()) {
                let (file, line) = find_line(&package, &used);
                broken.add(&file, line, &format!("`{name}` may not use `{used}`: arrows point one way"));
            }
        }
    }
    broken.check();
}

/// Which folders of the binary each may use. `cli` may use all of them.
const FOLDERS: &[(&str, &[&str])] = &[
    ("files", &[]),
    ("output", &["files"]),
    ("project", &["files"]),
    ("kit", &["files", "project"]),
    ("servers", &["files", "output", "project"]),
    ("sessions", &["files", "output", "project", "servers"]),
    ("api", &["servers", "sessions"]),
    ("run", &["files", "output", "project", "servers", "sessions"]),
    ("cli", &["files", "output", "project", "kit", "api", "servers", "sessions", "run"]),
];

#[test]
fn arrows_between_folders_of_the_binary_point_one_way() {
    let mut broken = Broken::default();
    for (folder, allowed) in FOLDERS {
        for (path, line, used) in uses(&format!("crates/trailblaze/src/{folder}")) {
            if used != *folder && !allowed.contains(&used.as_str()) {
                broken.add(&path, line, &format!("`{folder}` may not use `{used}`: arrows point one way"));
            }
        }
    }
    broken.check();
}

#[test]
fn modules_are_listed_in_reading_order() {
    let mut broken = Broken::default();
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
                    broken.add(
                        &path,
                        line,
                        &format!("`{module}` may not use `{used}`, which comes after it in lib.rs"),
                    );
                }
            }
        }
    }
    broken.check();
}

/// The modules at the root of their own crate that the files of a folder use, or one file: path, line and name. Tests may look
/// anywhere.
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
    let mut broken = Broken::default();
    for line in tree("trailblaze-core", "features,no-dev").lines() {
        for feature in ["net", "process", "fs", "signal", "io-std", "full"] {
            if line.starts_with(&format!("tokio feature \"{feature}\"")) {
                broken.add("crates/core/Cargo.toml", 1, &format!("the engine may not have `{line}`"));
            }
        }
    }
    for name in ["hyper", "axum", "reqwest", "rmcp", "tungstenite", "tokio-tungstenite", "clap", "mio", "socket2"] {
        if depends_on("trailblaze-core", name) {
            broken.add("crates/core/Cargo.toml", 1, &format!("the engine may not use `{name}`"));
        }
    }
    broken.check();
}

#[test]
fn drivers_know_nothing_of_the_command_line() {
    let mut broken = Broken::default();
    for name in ["clap", "trailblaze"] {
        if depends_on("trailblaze-drivers", name) {
            broken.add("crates/drivers/Cargo.toml", 1, &format!("drivers may not use `{name}`"));
        }
    }
    broken.check();
}

#[test]
fn every_crate_has_the_edition_and_the_rust_of_the_workspace() {
    let mut broken = Broken::default();
    for package in packages() {
        for (key, expected) in [("edition", "2024"), ("rust_version", "1.95"), ("license", "Apache-2.0")] {
            if package[key] != expected {
                let (file, line) = find_line(&package, "[package]");
                broken.add(&file, line, &format!("`{key}` must be {expected}, not {}", package[key]));
            }
        }
    }
    broken.check();
}

#[test]
fn sources_keep_to_the_rules() {
    let mut broken = Broken::default();
    for file in files(&root().join("crates"), "rs") {
        let (path, source) = (shown(&file), read(&file));
        let is_own = path.contains("/src/");
        if is_own && !source.starts_with("//!") {
            broken.add(&path, 1, "a file opens with `//!`, saying what it is for");
        }
        for (index, line) in source.lines().enumerate() {
            // This file names what it forbids.
            if line.trim_start().starts_with("//") || path == "crates/trailblaze/tests/walls.rs" {
                continue;
            }
            let mut forbid = |words: &[&str], rule: &str| {
                for word in words.iter().filter(|word| has_word(line, word)) {
                    broken.add(&path, index + 1, &format!("`{word}`: {rule}"));
                }
            };
            forbid(&["todo!", "unimplemented!", "dbg!"], "finish it, or name an issue");
            if path.starts_with("crates/core/src/") {
                forbid(&["std::fs", "std::process", "std::env", "std::net"], "the engine takes text and ports");
            }
            if is_own && path != "crates/trailblaze/src/output/print/mod.rs" {
                forbid(&["println!", "print!", "eprintln!", "eprint!"], "all printing goes through print.rs");
            }
            if path != "crates/trailblaze/tests/support/skip.rs" {
                forbid(&["SKIPPED"], "a test that is left out says so through support/skip.rs, where it is counted");
            }
        }
    }
    broken.check();
}

#[test]
fn ci_is_told_apart_from_home() {
    // Tests of a part that is missing are left out at home, and fail in CI.
    let (ci, test) = (read(&root().join(".ci/run")), read(&root().join("scripts/test")));
    let mut lines = ci.lines();
    assert!(lines.any(|line| line == "export CI=true") && lines.any(|line| line == "exec ./scripts/test"), "{ci}");
    assert!(test.contains("export TRAILBLAZE_SKIPPED_TESTS") && test.contains("trap count_skipped EXIT"), "{test}");
}

#[test]
fn no_file_names_a_path_of_one_machine() {
    let mut broken = Broken::default();
    for file in files(&root(), "") {
        let path = shown(&file);
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        for (index, line) in text.lines().enumerate() {
            for machine in
                [concat!("/", "root/"), concat!("/", "home/")].iter().filter(|machine| line.contains(*machine))
            {
                broken.add(&path, index + 1, &format!("`{machine}` is a path of one machine"));
            }
        }
    }
    broken.check();
}

#[test]
fn documents_name_only_what_is_there() {
    let mut broken = Broken::default();
    for name in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        for (index, line) in read(&root().join(name)).lines().enumerate() {
            for path in line.split('`').skip(1).step_by(2).filter(|text| is_repository_path(text)) {
                if !root().join(path).exists() {
                    broken.add(name, index + 1, &format!("there is no `{path}`"));
                }
            }
        }
    }
    broken.check();
}

/// Whether a text in backticks is a path in this repository, as opposed to one in a user's project.
fn is_repository_path(text: &str) -> bool {
    let first = text.split('/').next().unwrap_or_default();
    let is_pattern = text.contains(['*', '<', '{', ' ', '…']);
    !is_pattern
        && text.contains('/')
        && ["crates", "docs", "examples", "scripts", "schemas", "sdks", ".ci"].contains(&first)
        || ["md", "toml", "lock"].iter().any(|ending| text.ends_with(&format!(".{ending}"))) && !is_pattern
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut broken = Broken::default();
    for file in files(&root(), "md") {
        let (path, source) = (shown(&file), read(&file));
        for (line, target) in links(&source) {
            let (to, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let to = if to.is_empty() { file.clone() } else { file.with_file_name("").join(to) };
            if !to.exists() {
                broken.add(&path, line, &format!("the link `{target}` leads nowhere"));
            } else if !anchor.is_empty() && !read(&to).lines().any(|line| slug(line).as_deref() == Some(anchor)) {
                broken.add(&path, line, &format!("no heading answers to the link `{target}`"));
            }
        }
    }
    broken.check();
}

/// Relative links outside of code, each with its line.
fn links(source: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut is_code = false;
    for (index, line) in source.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let is_relative = |target: &&str| !target.contains("://") && !target.starts_with("mailto:");
        found.extend(targets.filter(is_relative).filter(|_| !is_code).map(|target| (index + 1, target.to_string())));
    }
    found
}

/// The anchor of a heading.
fn slug(line: &str) -> Option<String> {
    let heading = line.strip_prefix('#')?.trim_start_matches('#').trim();
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    Some(kept.collect::<String>().to_lowercase().replace(' ', "-"))
}

#[test]
fn the_quick_start_is_two_commands() {
    let readme = read(&root().join("README.md"));
    let section = readme.split("\n## Quick start\n").nth(1).expect("README.md has a section `## Quick start`");
    let section = section.split("\n## ").next().unwrap_or_default();
    let blocks: Vec<&str> =
        section.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect();
    assert_eq!(blocks, ["./scripts/demo\n", "./scripts/test\n"], "README.md: the quick start is two one-line blocks");
}

/// What is wrong, to be told at once.
#[derive(Default)]
struct Broken(String);

impl Broken {
    fn add(&mut self, file: &str, line: usize, rule: &str) {
        writeln!(self.0, "{file}:{line}: {rule}").expect("text can be written to");
    }

    fn check(self) {
        assert!(self.0.is_empty(), "\n{}", self.0);
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace is there")
}

fn shown(file: &Path) -> String {
    file.strip_prefix(root()).unwrap_or(file).to_string_lossy().replace('\\', "/")
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", shown(file)))
}

/// The files beneath a folder that have this ending, without those that are made and not written.
/// Folders of what was made or fetched here.
const NOT_OURS: &[&str] = &["target", "logs", "dist", "node_modules", ".git", ".parts", ".trailblaze", ".venv"];

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the entry can be read").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && !NOT_OURS.contains(&&*name) {
            found.extend(files(&path, ending));
        } else if path.is_file() && name != ".git" && (ending.is_empty() || name.ends_with(&format!(".{ending}"))) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Whether a name stands in the line and is not the end of a longer one.
fn has_word(line: &str, word: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| !line[..at].ends_with(is_name))
}

fn packages() -> Vec<Value> {
    let metadata = cargo(&["metadata", "--no-deps", "--format-version", "1", "--locked", "--offline"]);
    let metadata: Value = serde_json::from_str(&metadata).expect("cargo answers in JSON");
    metadata["packages"].as_array().cloned().unwrap_or_default()
}

fn depends_on(package: &str, name: &str) -> bool {
    tree(package, "no-dev").lines().any(|line| line.starts_with(&format!("{name} v")))
}

fn tree(package: &str, edges: &str) -> String {
    cargo(&["tree", "-p", package, "-e", edges, "--prefix", "none", "--locked", "--offline"])
}

fn cargo(args: &[&str]) -> String {
    // The cargo that runs the tests; a rustup proxy may not know which toolchain is meant.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo).args(args).current_dir(root()).output().expect("cargo can be started");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {}: {errors}", args.join(" "));
    String::from_utf8(output.stdout).expect("cargo answers in UTF-8")
}

/// Where a package's manifest speaks of something.
fn find_line(package: &Value, of: &str) -> (String, usize) {
    let manifest = PathBuf::from(text(&package["manifest_path"]));
    let line = read(&manifest).lines().position(|line| line.starts_with(of)).map_or(1, |index| index + 1);
    (shown(&manifest), line)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}
