//! What authors of Kotlin tools are given.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::support::lab::{Lab, Runtime, parts};
use crate::support::{Project, Ran, files, repository, skip};

/// A lab with a new tool, and Java and Maven on the PATH.
fn with_new_tool() -> Option<(Lab, Ran)> {
    let repository = parts()?.join("maven");
    let lab = Lab::under(Runtime::Nothing)?;
    lab.env("PATH", std::env::var("PATH").expect("a PATH"));
    lab.env("MAVEN_OPTS", format!("-Dmaven.repo.local={}", repository.display()));
    let new = lab.go(&["tool", "new", "acme_countText", "--lang", "kotlin"]).exits(0);
    Some((lab, new))
}

#[test]
fn the_libraries_for_kotlin_come_along() {
    let project = Project::empty();
    project.run(&["tool", "new", "acme_countText", "--lang", "kotlin"]).exits(0);
    let files_of = |root: PathBuf| {
        let is_ours = |path: &PathBuf| {
            let text = path.display().to_string();
            let is_main = ["client/src/main/", "tools/src/main/"].iter().any(|folder| text.starts_with(folder));
            is_main || ["pom.xml", "client/pom.xml", "tools/pom.xml", "README.md", "LICENSE"].contains(&text.as_str())
        };
        let relative = |path: PathBuf| path.strip_prefix(&root).expect("a file of the folder").to_path_buf();
        let mut found: Vec<PathBuf> = files(&root).into_iter().map(relative).filter(is_ours).collect();
        found.sort();
        let read = |path: PathBuf| (std::fs::read_to_string(root.join(&path)).expect("text"), path);
        found.into_iter().map(read).collect::<Vec<_>>()
    };
    let (copy, ours) = (project.root().join(".trailblaze/kotlin"), repository().join("sdks/kotlin"));
    assert_eq!(files(&copy).len(), files_of(copy.clone()).len(), "nothing else is copied");
    assert_eq!(files_of(copy.clone()), files_of(ours), "the libraries, in the version of this build");
    // The next tool replaces the copy of another version.
    let older = copy.join("tools/src/main/kotlin/dev/trailblaze/tools/Results.kt");
    std::fs::write(&older, "// older\n").expect("a file");
    let next = project.run(&["tool", "new", "acme_countMore", "--lang", "kotlin"]).exits(0);
    assert!(next.stdout.contains("\n.trailblaze/kotlin/ (changed)\n"), "{}", next.stdout);
    assert!(next.stderr.contains("mvn -q -f .trailblaze/kotlin install"), "{}", next.stderr);
    assert!(std::fs::read_to_string(&older).is_ok_and(|text| text.contains("package dev.trailblaze.tools")));
    let next = project.run(&["tool", "new", "acme_countLess", "--lang", "kotlin"]).exits(0);
    assert!(!next.stdout.contains(".trailblaze"), "{}", next.stdout);
}

#[test]
fn missing_libraries_for_kotlin_are_told_and_tools_of_another_target_are_not_mixed() {
    let project = Project::wallet();
    project.run(&["tool", "new", "acme_countText", "--lang", "kotlin", "--target", "wallet"]).exits(0);
    let refused = project.run(&["tool", "new", "acme_countMore", "--lang", "kotlin"]).exits(3);
    assert!(refused.stderr.contains("hint: use `--target wallet`, or move its entry from `"), "{}", refused.stderr);
    project.run(&["tool", "new", "acme_countMore", "--lang", "kotlin", "--target", "wallet"]).exits(0);
    let lack = "[ERROR] Failed to execute goal on project tools: Could not resolve dependencies: Could not find artifact dev.trailblaze:trailblaze-tools:jar:0.1.0";
    project.write("mvnw", format!("#!/bin/sh\necho '{lack}' >&2\nexit 1\n"));
    std::fs::set_permissions(project.root().join("mvnw"), PermissionsExt::from_mode(0o755)).expect("a file");
    let tested = project.run(&["tool", "test", "acme_countText"]).exits(1);
    let hint = "hint: the libraries are not installed here: run `mvn -q -f .trailblaze/kotlin install";
    assert!(tested.stderr.contains(hint), "{}", tested.stderr);
}

#[test]
fn a_new_kotlin_tool_says_how_to_build_it() {
    let Some((lab, new)) = with_new_tool() else { return };
    assert_eq!(
        new.stdout,
        "tools/src/main/kotlin/AcmeCountText.kt\ntools/src/test/kotlin/AcmeCountTextTest.kt\n\
         trails/tools/acme_countText.trail.yaml\ntools/src/main/kotlin/Main.kt\ntools/pom.xml\n.trailblaze/kotlin/\n\
         trailblaze.yaml (changed)\n"
    );
    let next = "Next:\n  mvn -q -f .trailblaze/kotlin install -Dmaven.test.skip=true\n  mvn -q -f tools package\n  \
                trailblaze tool acme_countText text=Pay\n";
    assert!(new.stderr.contains(next), "{}", new.stderr);
    let early = lab.go(&["tool", "acme_countText", "text=Pay"]).exits(2);
    let hint = "hint: `tools/target/kotlin-tools.jar` does not exist; run `mvn -q -f tools package` in `";
    assert!(early.stderr.contains(hint), "{}", early.stderr);
}

/// With `SOAK=1`: Maven and the Kotlin compiler take more than a minute.
#[test]
fn a_new_kotlin_tool_runs_once_it_is_built() {
    if !crate::support::is_full_tier() {
        return;
    }
    let Some((lab, _)) = with_new_tool() else { return };
    if !repository().join(".parts/maven/stamp").exists() {
        return skip::without_part("Maven, with what the Kotlin libraries need; `scripts/parts full` installs it");
    }
    // The libraries are installed already.
    lab.finish(lab.program("mvn", &["-q", "-B", "-o", "-f", "tools", "package"])).exits(0);
    assert_eq!(lab.go(&["tool", "acme_countText", "text=Pay"]).exits(0).stdout, "0 on the screen\n");
    lab.run(&[], 0);
    let tested = lab.go(&["tool", "test", "acme_countText"]).exits(0);
    assert!(tested.stdout.starts_with("passed  tools/src/test/kotlin/AcmeCountTextTest.kt\n"), "{}", tested.stdout);
    assert_eq!(lab.go(&["tool", "lint", "acme_countText"]).exits(0).stdout, "1 tool, no problems\n");

    let tool = lab.project.read("tools/src/main/kotlin/AcmeCountText.kt").replace("on the screen", "seen");
    lab.with("tools/src/main/kotlin/AcmeCountText.kt", &tool);
    let failed = lab.go(&["tool", "test", "acme_countText"]).exits(1);
    assert!(failed.stdout.contains("failed  tools/src/test/kotlin/AcmeCountTextTest.kt\n"), "{}", failed.stdout);
}
