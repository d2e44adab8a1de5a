//! Rules for sources and manifests that no compiler checks.

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
