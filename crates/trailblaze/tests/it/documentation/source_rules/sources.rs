//! Rules for sources and manifests that no compiler checks.

use std::path::PathBuf;

use crate::documentation::source_rules::support::*;

#[test]
fn every_crate_has_the_edition_and_the_rust_of_the_workspace() {
    let mut violations = Violations::default();
    for package in packages() {
        for (key, expected) in [("edition", "2024"), ("rust_version", "1.95"), ("license", "Apache-2.0")] {
            if package[key] != expected {
                let (file, line) = find_line(&package, "[package]");
                violations.add(&file, line, &format!("`{key}` must be {expected}, not {}", package[key]));
            }
        }
    }
    violations.check();
}

#[test]
fn sources_keep_to_the_rules() {
    let mut violations = Violations::default();
    for file in files(&root().join("crates"), "rs") {
        let (path, source) = (shown(&file), read(&file));
        let is_own = path.contains("/src/");
        if is_own && !source.starts_with("//!") {
            violations.add(&path, 1, "a file starts with `//!`, saying what it is for");
        }
        if file.with_extension("").is_dir() && !files(&file.with_extension(""), "rs").is_empty() {
            violations.add(&path, 1, "a module with files of its own is in its folder, as `mod.rs`");
        }
        for (index, line) in source.lines().enumerate() {
            // These tests name what they forbid.
            if line.trim_start().starts_with("//")
                || path.starts_with("crates/trailblaze/tests/it/documentation/source_rules/")
            {
                continue;
            }
            let mut forbid = |words: &[&str], rule: &str| {
                for word in words.iter().filter(|word| has_word(line, word)) {
                    violations.add(&path, index + 1, &format!("`{word}`: {rule}"));
                }
            };
            forbid(&["todo!", "unimplemented!", "dbg!"], "finish it, or name an issue");
            if path.starts_with("crates/core/src/") {
                forbid(&["std::fs", "std::process", "std::env", "std::net"], "the engine takes text and ports");
            }
            // The generator is a program of its own.
            let prints = ["crates/trailblaze/src/output/print/mod.rs", "crates/contract-gen/src/main.rs"];
            if is_own && !prints.contains(&path.as_str()) {
                forbid(&["println!", "print!", "eprintln!", "eprint!"], "all printing goes through output/print");
            }
            let is_cli = path.starts_with("crates/trailblaze/src/cli/");
            if path.starts_with("crates/trailblaze/src/") && !is_cli {
                forbid(&["clap"], "only the command line parses arguments");
                if !path.starts_with("crates/trailblaze/src/output/") {
                    forbid(&["print::"], "runs and sessions report through `Console`");
                }
                if path != "crates/trailblaze/src/project/environment.rs" {
                    forbid(&["std::env"], "the environment is read once, by `Environment`");
                }
            }
            if path != "crates/trailblaze/tests/it/support/skip.rs" {
                forbid(&["SKIPPED"], "skip a test through support/skip.rs, which counts it");
            }
        }
    }
    violations.check();
}

#[test]
fn only_backends_of_browsers_name_methods_of_a_protocol() {
    let mut violations = Violations::default();
    let pages = root().join("crates/drivers/src/web");
    let is_of_pages = |file: &&PathBuf| file.parent() == Some(&*pages);
    for file in files(&pages, "").iter().filter(is_of_pages) {
        for (index, line) in read(file).lines().enumerate() {
            for text in line.split('"').skip(1).step_by(2).filter(|text| is_protocol_method(text)) {
                let rule = format!("`{text}`: what knows pages asks a `Backend`, whose folder knows the protocol");
                violations.add(&shown(file), index + 1, &rule);
            }
        }
    }
    violations.check();
}

#[test]
fn one_file_decides_what_happens_without_a_capability_of_a_browser() {
    const CAPABILITIES: &[&str] =
        &["isolated_world", "interception", "events", "contexts", "storage", "layout", "screencasting"];
    let mut violations = Violations::default();
    let pages = root().join("crates/drivers/src/web");
    let is_of_pages = |file: &&PathBuf| file.parent() == Some(&*pages) && !file.ends_with("fallbacks.rs");
    for file in files(&pages, "rs").iter().filter(is_of_pages) {
        for (index, line) in read(file).lines().enumerate() {
            for name in CAPABILITIES.iter().filter(|name| line.contains(&format!("backend.{name}()"))) {
                violations.add(&shown(file), index + 1, &format!("`{name}`: add a method to fallbacks.rs"));
            }
        }
    }
    violations.check();
}

#[test]
fn a_task_without_an_owner_says_why_it_ends() {
    let mut violations = Violations::default();
    for file in files(&root().join("crates"), "rs") {
        let (path, source) = (shown(&file), read(&file));
        // The runtime of a test ends its tasks.
        let product = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let lines: Vec<&str> = product.lines().filter(|_| path.contains("/src/")).collect();
        for index in (0..lines.len()).filter(|index| drops_task(&lines[*index..])) {
            let above = lines[..index].iter().rev().map(|line| line.trim_start());
            if !above.take_while(|line| line.starts_with("//")).any(|line| line.starts_with("// Detached: ")) {
                let rule = "keep the handle of the task (`AbortOnDropHandle`, `JoinSet`), spawn it with a `TaskTracker`, or \
                            say above it why and when it ends: `// Detached: …`";
                violations.add(&path, index + 1, rule);
            }
        }
    }
    violations.check();
}

#[test]
fn a_channel_without_a_bound_says_why_it_needs_none() {
    let mut violations = Violations::default();
    for file in files(&root().join("crates"), "rs") {
        let (path, source) = (shown(&file), read(&file));
        let lines: Vec<&str> = product(&path, &source);
        for (index, line) in lines.iter().enumerate().filter(|(_, line)| makes_unbounded_channel(line)) {
            if !index.checked_sub(1).is_some_and(|above| lines[above].trim_start().starts_with("//")) {
                let rule = "give the channel a bound, or say above it why what waits in it cannot become much";
                violations.add(&path, index + 1, &format!("`{}`: {rule}", line.trim()));
            }
        }
    }
    violations.check();
}

fn makes_unbounded_channel(line: &str) -> bool {
    // With a bound, tokio's `mpsc::channel` has an argument; that of the standard library never has one.
    line.contains("unbounded_channel") && line.contains("()")
        || line.contains("mpsc::channel") && line.contains("()") && !line.trim_start().starts_with("//")
}

#[test]
fn a_function_that_is_no_table_has_at_most_a_hundred_lines() {
    /// Each of them is one list of alike things.
    const TABLES: &[(&str, &str)] =
        &[("crates/trailblaze/src/api/mcp/tools.rs", "standard"), ("crates/core/src/tools/commands.rs", "body")];
    let mut violations = Violations::default();
    for file in files(&root().join("crates"), "rs") {
        let (path, source) = (shown(&file), read(&file));
        if path.contains("generated") {
            continue;
        }
        let lines = product(&path, &source);
        // A declaration ends with its line.
        for (index, line) in lines.iter().enumerate().filter(|(_, line)| !line.ends_with(';')) {
            let Some(name) = function_name(line) else { continue };
            let indentation = &line[..line.len() - line.trim_start().len()];
            let end = format!("{indentation}}}");
            let n_lines = lines[index..].iter().position(|line| *line == end).map_or(0, |end| end + 1);
            if n_lines > 100 && !TABLES.contains(&(&*path, name)) {
                violations.add(&path, index + 1, &format!("`{name}` has {n_lines} lines: divide it"));
            }
        }
    }
    violations.check();
}

fn function_name(line: &str) -> Option<&str> {
    let code = line.trim_start();
    let words = ["pub ", "pub(crate) ", "pub(super) ", "async ", "const "];
    let code = words.iter().fold(code, |code, word| code.strip_prefix(word).unwrap_or(code));
    let name = code.strip_prefix("fn ")?;
    name.split(['(', '<']).next()
}

#[test]
fn a_generated_file_has_a_name_that_says_so() {
    let mut violations = Violations::default();
    for (folder, extension) in [("crates", "rs"), ("sdks", "ts"), ("sdks", "py"), ("sdks", "kt"), ("ui", "ts")] {
        for file in files(&root().join(folder), extension) {
            let (path, source) = (shown(&file), read(&file));
            let is_generated = source.lines().take(4).any(|line| line.contains("Generated by `"));
            if is_generated && !path.to_lowercase().contains("generated") {
                violations.add(&path, 1, "what is generated has `generated` in its name or folder");
            }
        }
    }
    violations.check();
}

/// The lines of a file of the product before its own tests.
fn product<'a>(path: &str, source: &'a str) -> Vec<&'a str> {
    let product = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let is_product = path.contains("/src/") && !path.contains("/tests/") && !path.contains("stand-in");
    product.lines().filter(|_| is_product).collect()
}

/// Whether a statement starts with the first of these lines that spawns a task and drops its handle.
fn drops_task(lines: &[&str]) -> bool {
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let Some((first, rest)) = lines.split_first() else { return false };
    let code = first.trim_start();
    if ["drop(tokio::spawn(", "let _ = tokio::spawn(", ".detach();"].iter().any(|dropped| code.contains(dropped)) {
        return !code.starts_with("//");
    }
    let is_statement = ["tokio::spawn(", "runtime.spawn("].iter().any(|spawn| code.starts_with(spawn));
    // One of several lines ends where it is indented like its start.
    let end = match code.ends_with(['(', '{']) {
        true => rest.iter().find(|line| indentation(line) == indentation(first)),
        false => Some(first),
    };
    // Without `;`, the handle is the value of a block.
    is_statement && end.is_some_and(|end| end.ends_with(");"))
}

/// Whether a text is the name of a command or event, such as `Page.navigate` or `browsingContext.navigate`.
fn is_protocol_method(text: &str) -> bool {
    const DOMAINS: &[&str] = &[
        "Accessibility",
        "Browser",
        "CSS",
        "DOM",
        "DOMSnapshot",
        "Debugger",
        "Emulation",
        "Fetch",
        "Input",
        "Inspector",
        "Log",
        "Network",
        "Overlay",
        "Page",
        "Performance",
        "Runtime",
        "Security",
        "Storage",
        "Target",
        "browser",
        "browsingContext",
        "emulation",
        "input",
        "log",
        "network",
        "permissions",
        "script",
        "session",
        "storage",
    ];
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|sign| sign.is_ascii_alphabetic());
    text.split_once('.').is_some_and(|(domain, method)| DOMAINS.contains(&domain) && is_name(method))
}

#[test]
fn ci_fails_where_a_developer_machine_skips() {
    // A test whose part is not installed is skipped on a developer's machine, and fails in CI.
    let (ci, test) = (read(&root().join(".ci/run")), read(&root().join("scripts/test")));
    let mut lines = ci.lines();
    assert!(lines.any(|line| line == "export CI=true") && lines.any(|line| line == "exec ./scripts/test"), "{ci}");
    assert!(
        test.contains("export TRAILBLAZE_SKIPPED_TESTS")
            && test.contains("trap finish EXIT")
            && test.contains("\n    count_skipped\n"),
        "{test}"
    );
}

#[test]
fn no_file_names_a_path_of_one_machine() {
    let mut violations = Violations::default();
    for file in files(&root(), "") {
        let path = shown(&file);
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        for (index, line) in text.lines().enumerate() {
            for machine in
                [concat!("/", "root/"), concat!("/", "home/")].iter().filter(|machine| line.contains(*machine))
            {
                violations.add(&path, index + 1, &format!("`{machine}` is a path of one machine"));
            }
        }
    }
    violations.check();
}

/// Whether a line has this name, and not only as the end of a longer one.
fn has_word(line: &str, word: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| !line[..at].ends_with(is_name))
}
