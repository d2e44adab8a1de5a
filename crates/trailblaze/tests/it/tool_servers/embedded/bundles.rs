//! `tool bundle` and `tool install`.

use super::{serve, toolset};
use crate::support::lab::{Lab, Runtime};

#[test]
fn a_bundle_runs_without_node_and_packages() {
    let Some(lab) = toolset(Runtime::Nothing) else { return };
    let wrote = lab.go(&["tool", "bundle", "tools/toolset.ts"]).exits(0).stdout;
    assert!(wrote.starts_with("wrote tools/toolset.bundle.json: 16 tools, "), "{wrote}");
    let bundle = lab.project.read("tools/toolset.bundle.json");
    assert!(!bundle.contains(&lab.project.root().display().to_string()), "it names no folder of this machine");
    std::fs::remove_dir_all(lab.project.root().join("node_modules")).expect("removed");
    std::fs::remove_dir_all(lab.project.root().join("tools/lib")).expect("removed");
    std::fs::remove_file(lab.project.root().join("tools/toolset.ts")).expect("removed");
    serve(&lab, "script: tools/toolset.bundle.json");
    lab.calls(&["shout: {text: hey}", "uses: {}"]);
    let played = lab.run(&["-d", "android/sim-1"], 0);
    assert_eq!(played.texts("shout"), ["HEYHEY !"]);
    assert_eq!(played.texts("uses"), ["7200000 c ü hi string"]);
}

#[test]
fn a_bundle_of_another_version_is_refused() {
    let Some(lab) = toolset(Runtime::Nothing) else { return };
    serve(&lab, "script: tools/x.bundle.json");
    let refused = |text: &str| {
        lab.with("tools/x.bundle.json", text);
        lab.go(&["tool", "-d", "android/sim-1", "count"]).stderr
    };
    let told = refused(r#"{"trailblazeBundle": 2, "version": "9.0.0", "program": {}}"#);
    assert!(told.contains("`tools/x.bundle.json`: it is a bundle in format 2, written by Trailblaze 9.0.0"), "{told}");
    assert!(told.contains("write it again with `trailblaze tool bundle`"), "{told}");
    let told = refused("[");
    assert!(told.contains("it is not a bundle of tools"), "{told}");
}

#[test]
fn what_cannot_be_bundled_is_explained() {
    let Some(lab) = toolset(Runtime::Nothing) else { return };
    let refused = |args: &[&str]| lab.go(&[&["tool", "bundle"], args].concat()).exits(3).stderr;
    assert!(refused(&["tools/none.ts"]).contains("does not exist"));
    assert!(refused(&["tools/toolset.ts", "-o", "x.js"]).contains("`x.js` must end in .bundle.json"));
    lab.with("tools/bad.ts", "import 'fs';");
    assert!(refused(&["tools/bad.ts"]).contains("tools/bad.ts:1:8: `fs` is a module of Node"));
}

/// A package manager that says what it was asked.
fn manager(lab: &Lab, name: &str, code: u8) {
    let script = format!("#!/bin/sh\necho \"{name} $@ here\"\necho done > installed\nexit {code}\n");
    lab.with(&format!("bin/{name}"), &script);
    use std::os::unix::fs::PermissionsExt;
    let path = lab.project.root().join("bin").join(name);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("it may run");
}

#[test]
fn install_needs_no_server_and_no_package_that_is_missing() {
    let Some(lab) = toolset(Runtime::Nothing) else { return };
    lab.with("package.json", "{\"dependencies\": {\"not-there\": \"1\"}}");
    lab.with("package-lock.json", "");
    let source = "import a from 'not-there';\\nexport default () => a;";
    let file = format!("id: tryIt\ndescription: A script.\nparameters: []\nscript: {{source: \"{source}\"}}\n");
    lab.with("trailblaze-config/tools/tryIt.yaml", &file);
    let said = lab.go(&["check", "--offline"]).exits(3).stderr;
    assert!(said.contains("the package `not-there` is not installed"), "{said}");
    manager(&lab, "npm", 0);
    lab.go(&["tool", "install"]).exits(0);
    assert_eq!(lab.project.read("installed"), "done\n");
}

#[test]
fn install_runs_the_package_manager_whose_lock_file_is_there() {
    let Some(lab) = toolset(Runtime::Nothing) else { return };
    serve(&lab, "script: tools/toolset.ts");
    for (lock, name) in [("package-lock.json", "npm"), ("pnpm-lock.yaml", "pnpm")] {
        lab.with(lock, "");
        manager(&lab, name, 0);
        let ran = lab.go(&["tool", "install"]).exits(0);
        assert!(ran.stderr.contains(&format!("running `{name} install` in the project's folder")), "{}", ran.stderr);
        assert!(ran.stderr.contains(&format!("{name} install here")), "{}", ran.stderr);
        assert_eq!(lab.project.read("installed"), "done\n");
    }
    manager(&lab, "pnpm", 7);
    let failed = lab.go(&["tool", "install", "tools"]).exits(2).stderr;
    assert!(failed.contains("`pnpm install` in the project's folder exited with code 7"), "{failed}");
    lab.with("yarn.lock", "");
    std::fs::remove_file(lab.project.root().join("pnpm-lock.yaml")).expect("removed");
    let failed = lab.go(&["tool", "install"]).exits(2).stderr;
    assert!(failed.contains("`yarn` is not on PATH"), "{failed}");
}
