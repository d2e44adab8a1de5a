//! How servers are started and stopped: runtimes, environment, crashes, order.

use std::io::{BufRead, BufReader};
use std::process::Command;

use serde_json::{Value, json};
use trailblaze_protocol::event::Event;

use crate::support::lab::{Lab, Runtime};

const SCRIPT: &str = "{name: fixture, script: tools/toolset.ts}";

fn lab(runtime: Runtime) -> Option<Lab> {
    let lab = Lab::under(runtime)?;
    lab.fixture("toolset.ts").configured("target: fixture\n").target(&[SCRIPT]);
    Some(lab)
}

fn refused(lab: &Lab) -> String {
    let ran = lab.go(&["tool", "fixture_runtime"]).exits(2);
    ran.normal(&ran.stderr)
}

#[test]
fn a_script_runs_under_bun_and_under_node_in_every_way_that_node_can() {
    for runtime in [Runtime::Bun, Runtime::Tsx, Runtime::TsxOnPath, Runtime::Node] {
        let Some(lab) = lab(runtime) else { return };
        let ran = lab.go(&["tool", "fixture_runtime"]).exits(0);
        let expected = if runtime == Runtime::Bun { "bun\n" } else { "node\n" };
        assert_eq!(ran.stdout, expected, "{runtime:?}: {}", ran.stderr);
    }
}

#[test]
fn plain_javascript_needs_no_loader() {
    let Some(lab) = Lab::under(Runtime::Node) else { return };
    let entry = "{name: small, script: tools/small.js, env: {SMALL_TOOLS: '[\"one\"]'}}";
    let lab = lab.fixture("small.js").configured("target: fixture\n").target(&[entry]);
    assert_eq!(lab.go(&["tool", "one"]).exits(0).stdout, "one of small\n");
}

#[test]
fn without_bun_and_node_the_session_does_not_start() {
    let Some(lab) = lab(Runtime::Nothing) else { return };
    insta::assert_snapshot!(refused(&lab), @"error: server `fixture` did not start: No compatible TypeScript runtime found on PATH. Install bun (https://bun.sh) or Node with tsx.");
    // A run reports the same, and its folder is complete.
    let played = lab.calls(&["fixture_add: {a: 1, b: 2}"]).run(&[], 2);
    let told = "No compatible TypeScript runtime found on PATH. Install bun (https://bun.sh) or Node with tsx.";
    assert!(played.ran.stderr.contains(told) || played.ran.stdout.contains(told), "{:?}", played.ran);
    assert_eq!(played.run.calls().len(), 0, "nothing is called");
}

#[test]
fn a_node_that_cannot_run_typescript_is_reported_with_what_to_install() {
    let Some(lab) = lab(Runtime::Nothing) else { return };
    put_old_node(&lab);
    insta::assert_snapshot!(refused(&lab), @"error: server `fixture` did not start: node was found, but nothing that runs TypeScript with it; run `npm install tsx` in `[project]/tools`, or install bun (https://bun.sh)");
}

/// A Node that does not run TypeScript without a loader.
fn put_old_node(lab: &Lab) {
    let node = lab.project.root().join("bin/node");
    std::fs::write(&node, "#!/bin/sh\necho v20.11.0\n").unwrap();
    assert!(Command::new("chmod").arg("+x").arg(&node).status().unwrap().success());
}

#[test]
fn packages_that_are_not_installed_are_named_with_the_command_that_installs_them() {
    let sdk = r#""dependencies": {"@modelcontextprotocol/sdk": "1"}"#;
    for (runtime, lock, manager, command) in [
        (Runtime::Bun, "bun.lock", "", "bun install"),
        (Runtime::Bun, "pnpm-lock.yaml", "", "pnpm install"),
        (Runtime::Bun, "yarn.lock", "", "yarn install"),
        (Runtime::Bun, "x", r#", "packageManager": "pnpm@9.1.0""#, "pnpm install"),
        (Runtime::Bun, "x", "", "bun install"),
        (Runtime::Node, "x", "", "npm install"),
    ] {
        let Some(lab) = lab(runtime) else { return };
        std::fs::remove_dir_all(lab.project.root().join("node_modules")).unwrap();
        let told = refused(lab.with("package.json", &format!("{{{sdk}{manager}}}")).with(lock, ""));
        let expected = format!("names dependencies that are not installed; run `{command}` in `[project]`");
        assert!(told.contains(&expected), "{runtime:?} {lock}: {told}");
    }
}

#[test]
fn before_anything_is_installed_the_hint_is_to_install_all_packages() {
    let loader = r#""devDependencies": {"tsx": "4"}"#;
    for package in [format!(r#"{{"dependencies": {{"zod": "4"}}, {loader}}}"#), format!("{{{loader}}}")] {
        let Some(lab) = lab(Runtime::Nothing) else { return };
        put_old_node(&lab);
        std::fs::remove_dir_all(lab.project.root().join("node_modules")).unwrap();
        let told = refused(lab.with("package.json", &package));
        assert!(told.contains("dependencies that are not installed; run `npm install` in `[project]`"), "{told}");
    }
}

#[test]
fn a_servers_environment_is_ours_with_what_its_session_adds_and_less_what_its_entry_drops() {
    let Some(lab) = lab(Runtime::Bun) else { return };
    let entry = "{name: fixture, script: tools/toolset.ts, env: {OWN: its own}, dropEnv: [DROPPED]}";
    let lab = lab
        .target(&[entry])
        .env("SENTINEL", "kept")
        .env("DROPPED", "gone")
        .env("OPENAI_API_KEY", "sk-canary")
        .calls(&["fixture_environment: {}"]);
    let played = lab.run(&["-d", "ios/sim-1"], 0);
    let told = played.structured("fixture_environment");
    let root = lab.project.root().canonicalize().unwrap();
    assert_eq!(told["folder"], json!(root.join("tools")), "a script starts in its folder");
    let env = &told["env"];
    assert_eq!((&env["SENTINEL"], &env["OWN"], &env["DROPPED"]), (&json!("kept"), &json!("its own"), &Value::Null));
    assert_eq!(env["OPENAI_API_KEY"], Value::Null, "no model is used, and its key is kept back anyway");

    let opened = played.run.events().into_iter().find_map(|event| match event {
        Event::SessionOpened { session, device, .. } => Some((session, device)),
        _ => None,
    });
    let (session, device) = opened.expect("a session");
    let base = env["TRAILBLAZE_BASE_URL"].as_str().expect("an address");
    assert!(base.starts_with("http://127.0.0.1:"), "{base}");
    let expected = json!({
        "TRAILBLAZE_PROJECT_DIR": root,
        "TRAILBLAZE_BASE_URL": base,
        "TRAILBLAZE_CALLBACK_URL": format!("{base}/scripting/callback"),
        "TRAILBLAZE_DEVICE_PLATFORM": "IOS",
        "TRAILBLAZE_DEVICE_DRIVER": "ios-host",
        "TRAILBLAZE_DEVICE_WIDTH_PX": device.size.width.to_string(),
        "TRAILBLAZE_DEVICE_HEIGHT_PX": device.size.height.to_string(),
        "TRAILBLAZE_SESSION_ID": session,
        "TRAILBLAZE_TOOLSET_FILE": root.join("tools/toolset.ts"),
    });
    assert_eq!(ours(env), expected);
}

#[test]
fn a_shared_server_gets_no_environment_of_a_device() {
    let Some(lab) = Lab::new() else { return };
    let entry = "mcpServers:\n  - {name: fixture, command: bun, args: [run, ../toolset.ts], workingDir: tools/deep}\n";
    let lab = lab.fixture("toolset.ts").with("tools/deep/x", "").configured(entry);
    let played = lab.calls(&["fixture_environment: {}"]).run(&["-d", "android/sim-1,ios/sim-1"], 0);
    let told = played.outcomes("fixture_environment");
    assert_eq!(told.len(), 2);
    for told in told.into_iter().map(|outcome| outcome.structured.expect("a structured value")) {
        assert_eq!(told["folder"], json!(lab.project.root().canonicalize().unwrap().join("tools/deep")));
        let env = &told["env"];
        let base = env["TRAILBLAZE_BASE_URL"].as_str().expect("an address");
        let callback = format!("{base}/scripting/callback");
        let root = lab.project.root().canonicalize().unwrap();
        let expected =
            json!({"TRAILBLAZE_PROJECT_DIR": root, "TRAILBLAZE_BASE_URL": base, "TRAILBLAZE_CALLBACK_URL": callback});
        assert_eq!(ours(env), expected);
    }
}

/// Our variables in order, except those of every test.
fn ours(env: &Value) -> Value {
    let env = env.as_object().expect("an environment").iter();
    let is_ours =
        |name: &str| name.starts_with("TRAILBLAZE_") && !["TRAILBLAZE_TEST_MARK", "TRAILBLAZE_FRESH"].contains(&name);
    env.filter(|(name, _)| is_ours(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
}

#[test]
fn a_server_is_stopped_cleanly_with_its_session() {
    let Some(lab) = lab(Runtime::Bun) else { return };
    let farewell = lab.path("farewell");
    let lab = lab.env("FAREWELL", &farewell).calls(&["fixture_add: {a: 1, b: 2}"]);
    let played = lab.run(&[], 0);
    assert_eq!(lab.project.read("farewell"), "bye\n", "it saw its input end, and was not killed");
    let ended = played.run.events().into_iter().find_map(|event| match event {
        Event::ServerEnded { server, message, .. } => Some((server, message)),
        _ => None,
    });
    assert_eq!(ended, Some(("fixture".to_string(), "exited with code 0".to_string())));
}

#[test]
fn a_crash_during_a_call_ends_the_session_and_shows_the_end_of_stderr() {
    let Some(lab) = lab(Runtime::Bun) else { return };
    let lab = lab.calls(&["fixture_crash: {}", "fixture_add: {a: 1, b: 2}"]);
    let played = lab.run(&[], 2);
    let told = format!("{}{}", played.ran.stdout, played.ran.stderr);
    assert!(told.contains("server `fixture` died: it exited with code 7"), "{told}");
    assert!(told.contains("out of tea"), "{told}");
    assert_eq!(played.log("fixture"), "out of tea\n");
    let tools: Vec<String> = played.run.calls().into_iter().map(|call| call.tool).collect();
    assert_eq!(tools, ["fixture_crash"], "what comes after it is not called");
}

#[test]
fn servers_start_concurrently() {
    let Some(lab) = Lab::new() else { return };
    // Each waits until the other has been started before it answers.
    let entry = |name: &str, other: &str| {
        format!(
            "{{name: {name}, script: tools/small.js, startupTimeout: 60s, env: {{SMALL_NAME: {name}, \
             SMALL_TOOLS: '[\"{name}_go\"]', SMALL_SIGN: ../{name}.sign, SMALL_GATE: ../{other}.sign}}}}"
        )
    };
    let lab = lab.fixture("small.js").configured("target: fixture\n");
    let lab = lab.target(&[&entry("left", "right"), &entry("right", "left")]).calls(&["left_go: {}", "right_go: {}"]);
    let played = lab.run(&[], 0);
    assert_eq!(played.texts("left_go"), ["left_go of left"]);
    assert_eq!(played.texts("right_go"), ["right_go of right"]);
}

#[test]
fn a_slow_server_is_named_while_it_starts() {
    let Some(lab) = Lab::new() else { return };
    let slow = "{name: slow, script: tools/small.js, env: {SMALL_TOOLS: '[\"slow_go\"]', SMALL_GATE: ../gate}}";
    let quick = "{name: quick, script: tools/small.js, env: {SMALL_TOOLS: '[\"quick_go\"]'}}";
    let lab = lab.fixture("small.js").configured("target: fixture\n").target(&[slow, quick]).calls(&["slow_go: {}"]);
    let mut child = lab.command(&["run", "--pictures", "off"]).spawn().expect("the program starts");
    let stderr = BufReader::new(child.stderr.take().expect("its talk is ours"));
    // It prints nothing until it reports the wait or fails, and ends soon after.
    let said = stderr.lines().map_while(Result::ok).find(|line| line.contains("waiting for"));
    lab.project.write("gate", "");
    assert!(child.wait().expect("it ends").success());
    let said = said.expect("it says what it waits for");
    assert!(said.contains("waiting for `slow` to start ("), "{said}");
}
