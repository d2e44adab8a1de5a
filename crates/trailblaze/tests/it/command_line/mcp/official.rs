//! The official clients: the TypeScript SDK in both versions, the Python SDK, and the Inspector.

use std::os::unix::fs::DirBuilderExt;
use std::process::Command;

use serde_json::{Value, json};

use crate::command_line::mcp::client::Daemon;
use crate::support::lab::{Lab, Runtime, parts};
use crate::support::{PROGRAM, repository};

const TOOLS: [&str; 10] =
    ["devices", "session", "snapshot", "act", "step", "verify", "trail", "toolbox", "report", "screenshot"];

/// A program in the lab, with a daemon of the lab's own.
fn started(lab: &Lab, program: &str, args: &[&str]) -> Command {
    let runtime = lab.project.root().join("run");
    if !runtime.exists() {
        std::fs::DirBuilder::new().mode(0o700).create(&runtime).expect("a folder");
    }
    let mut command = lab.program(program, args);
    command.env("XDG_RUNTIME_DIR", runtime).env("TRAILBLAZE_DAEMON_IDLE", "2m").env_remove("TRAILBLAZE_FRESH");
    command
}

fn finish(mut command: Command, lab: &Lab) -> Value {
    let ran = lab.project.ran(command.output().expect("it starts")).exits(0);
    ran.json()
}

#[track_caller]
fn check(used: &Value) {
    assert_eq!(used["server"], "trailblaze", "{used:#}");
    assert_eq!(used["tools"], json!(TOOLS));
    assert!(used["opened"].as_str().is_some_and(|text| text.contains("Count: 0")), "{used:#}");
    assert!(used["acted"].as_str().is_some_and(|text| text.contains("Count: 1")), "{used:#}");
    assert_eq!(
        (&used["wrong"], &used["picture"], &used["registry"]),
        (&json!(true), &json!(["image/png"]), &json!(true))
    );
    let resources = used["resources"].as_array().expect("a list");
    assert!(resources.contains(&json!("trailblaze://registry")), "{used:#}");
}

#[test]
fn the_official_typescript_clients_work() {
    let Some(lab) = Lab::under(Runtime::Node) else { return };
    let _daemon = Daemon(&lab.project);
    let node = lab.path("bin/node");
    for name in ["use.mjs", "version1.mjs", "version2.mjs"] {
        let from = repository().join("crates/trailblaze/tests/it/command_line/mcp/clients").join(name);
        lab.with(name, &std::fs::read_to_string(from).expect("it is there"));
    }
    for script in ["version1.mjs", "version2.mjs"] {
        let used = finish(started(&lab, &node, &[script, PROGRAM, "mcp"]), &lab);
        check(&used);
        let progress = used["progress"].as_array().expect("a list");
        assert!(progress.iter().any(|line| line.as_str().is_some_and(|line| line.contains("opening"))), "{used:#}");
    }
}

#[test]
fn the_official_python_client_works() {
    let Some(lab) = Lab::under(Runtime::Nothing) else { return };
    let _daemon = Daemon(&lab.project);
    let python = repository().join(".parts/python/bin/python").display().to_string();
    let script =
        repository().join("crates/trailblaze/tests/it/command_line/mcp/clients/official.py").display().to_string();
    check(&finish(started(&lab, &python, &[&script, PROGRAM, "mcp"]), &lab));
}

#[test]
fn the_inspector_works() {
    let Some(lab) = Lab::under(Runtime::Node) else { return };
    let _daemon = Daemon(&lab.project);
    let packages = parts().expect("the parts are there").join("node/node_modules");
    lab.env("PATH", format!("{}:{}", lab.path("bin"), packages.join("node/bin").display()));
    let inspector = packages.join(".bin/mcp-inspector").display().to_string();
    let ask = |args: &[&str]| {
        let args = [&["--cli", PROGRAM, "mcp", "--method"], args].concat();
        finish(started(&lab, &inspector, &args), &lab)
    };
    let listed = ask(&["tools/list"]);
    let names: Vec<&Value> = listed["tools"].as_array().expect("tools").iter().map(|tool| &tool["name"]).collect();
    assert_eq!(json!(names), json!(TOOLS));
    let args = ["--tool-arg", "action=open", "--tool-arg", "device=android/sim-1"];
    let opened = ask(&[&["tools/call", "--tool-name", "session"], &args[..]].concat());
    assert!(opened["content"][0]["text"].as_str().is_some_and(|text| text.contains("opened session")), "{opened:#}");
    let listed = ask(&["resources/list"]);
    assert!(listed.to_string().contains("trailblaze://registry"), "{listed:#}");
}
