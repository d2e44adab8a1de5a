//! What a project does with a toolset in the engine.

use super::{serve, toolset};
use crate::support::lab::Runtime;

#[test]
fn nothing_is_started_and_no_port_is_opened() {
    let Some(lab) = toolset(Runtime::Nothing) else { return };
    serve(&lab, "script: tools/toolset.ts, runtime: embedded");
    lab.calls(&["count: {}", "shout: {text: hey}"]);
    let played = lab.run(&["-d", "android/sim-1"], 0);
    assert_eq!(played.texts("shout"), ["HEYHEY !"]);
    assert!(played.run.calls().iter().all(|call| &*call.source == "server tools"));
}

#[test]
fn on_a_device_the_engine_is_the_default_and_tools_that_need_a_host_are_left_out() {
    let Some(lab) = toolset(Runtime::Nothing) else { return };
    lab.configured("agentMode: onDevice\nmcpServers:\n  tools: {script: tools/toolset.ts}\n");
    let device = "android/sim-1";
    let offered = lab.offered(&["-d", device]);
    assert!(offered.contains(&"count".to_string()), "{offered:?}");
    assert!(!offered.contains(&"onHost".to_string()), "{offered:?}");
    let why = lab.go(&["toolbox", "why", "onHost", "-d", device]);
    assert!(why.stdout.contains("host") || why.stderr.contains("host"), "{}{}", why.stdout, why.stderr);
    // On a host it can be called, but the Node module that it needs is missing.
    serve(&lab, "script: tools/toolset.ts, runtime: embedded");
    let called = lab.go(&["tool", "-d", device, "onHost"]).exits(1);
    let expected = "`node:path` is a module of Node, which the script engine does not have";
    assert!(format!("{}{}", called.stdout, called.stderr).contains(expected), "{}{}", called.stdout, called.stderr);
}

#[test]
fn what_cannot_run_in_the_engine_is_explained() {
    let Some(lab) = toolset(Runtime::Nothing) else { return };
    serve(&lab, "script: tools/toolset.ts, runtime: embedded");
    let refused = |source: &str| {
        lab.with("tools/toolset.ts", source);
        let ran = lab.go(&["tool", "-d", "android/sim-1", "count"]);
        assert_ne!(ran.code, Some(0), "{}", ran.stdout);
        ran.stderr
    };
    let told = refused("import { run } from '@trailblaze/scripting';\nimport { deep } from './deep.ts';\nrun(deep());");
    assert!(told.contains("tools/toolset.ts:2:22: `./deep.ts` was not found; tried `tools/deep.ts`"), "{told}");
    lab.with(
        "tools/deep.ts",
        "import { readFileSync } from 'node:fs';\nexport const deep = () => readFileSync as never;",
    );
    let told = refused("import { run } from '@trailblaze/scripting';\nimport { deep } from './deep.ts';\nrun(deep());");
    let chain = "tools/deep.ts:1:30: `node:fs` is a module of Node, which the script engine does not have (imported by tools/toolset.ts:2:22)";
    assert!(told.contains(chain) && told.contains("hint: "), "{told}");
    let told = refused("export const a = 1;");
    assert!(told.contains("it serves no tools: it must call `run()` of @trailblaze/scripting"), "{told}");
    let told = refused("const a: = 1;");
    assert!(told.contains("tools/toolset.ts:1:10: "), "{told}");
    let told = refused(
        "import { run, tool } from '@trailblaze/scripting';\ntool('a b', { description: '' }, () => {});\nrun();",
    );
    assert!(told.contains("`a b` is not a valid tool name"), "{told}");
    // On a busy machine, the time that a script may compute can be longer than a server may take to start.
    serve(&lab, "script: tools/toolset.ts, runtime: embedded, startupTimeout: 30m");
    let told = refused("\n\nfor (;;) {}\n");
    assert!(told.contains("in the loop at tools/toolset.ts:3:1"), "{told}");
}

#[test]
fn tools_of_one_name_are_told_with_the_files_of_their_authors() {
    let Some(lab) = toolset(Runtime::Nothing) else { return };
    serve(&lab, "script: tools/toolset.ts, runtime: embedded}\n  again: {script: tools/again.ts, runtime: embedded");
    lab.with("tools/again.ts", "import './toolset.ts';\n");
    let told = lab.go(&["tool", "-d", "android/sim-1", "count"]);
    assert_ne!(told.code, Some(0), "{}", told.stdout);
    let (first, second) =
        ("by server tools (tools/toolset.ts:", "by server again (tools/again.ts, defined at tools/toolset.ts:");
    assert!(told.stderr.contains(first) && told.stderr.contains(second), "{}", told.stderr);
}

#[test]
fn a_tool_that_never_ends_fails_and_the_session_goes_on() {
    let Some(lab) = toolset(Runtime::Nothing) else { return };
    // On a slow machine, ten seconds of computing take longer than a call may be silent.
    serve(&lab, "script: tools/toolset.ts, runtime: embedded, callTimeout: 30m");
    lab.with(
        "tools/toolset.ts",
        "import { run, tool } from '@trailblaze/scripting';\n\
         tool('loops', { description: '' }, () => {\n  while (true) {}\n});\n\
         tool('stuck', { description: '' }, () => new Promise<string>(() => {}));\n\
         tool('fills', { description: '' }, () => { const all = []; for (;;) all.push('x'.repeat(1e6) + all.length); });\n\
         tool('deep', { description: '' }, () => { const f = (): number => f() + 1; return String(f()); });\n\
         tool('fine', { description: '' }, () => 'fine');\nrun();",
    );
    lab.with("session.txt", "loops\nstuck\nfills\ndeep\nfine\n");
    let mut command = lab.command(&["shell", "--json", "-d", "android/sim-1"]);
    command.stdin(std::fs::File::open(lab.path("session.txt")).expect("it is there"));
    let ran = lab.finish(command);
    let answers: Vec<&str> = ran.stdout.lines().collect();
    let expected = [
        "it was stopped: it computed for 10 s without waiting for anything, in the loop at tools/toolset.ts:3:3",
        "it never ends: it waits for a promise that nothing can settle",
        "out of memory",
        "Maximum call stack size exceeded",
        "fine",
    ];
    assert_eq!(answers.len(), expected.len(), "{answers:#?}");
    for (answer, expected) in answers.iter().zip(expected) {
        assert!(answer.contains(expected), "{expected}: {answer}");
    }
}

#[test]
fn the_next_run_uses_changed_files() {
    let Some(lab) = toolset(Runtime::Nothing) else { return };
    serve(&lab, "script: tools/toolset.ts, runtime: embedded");
    lab.calls(&["shout: {text: hey}"]);
    lab.run(&["-d", "android/sim-1", "--record"], 0);
    lab.with("tools/lib/words.json", r#"{"end": "?"}"#);
    lab.with("tools/lib/shout.ts", "export const shout = (text: string): string => text + text;\n");
    let played = lab.run(&["-d", "android/sim-1"], 0);
    assert_eq!(played.texts("shout"), ["heyheyheyhey ?"]);
}

#[test]
fn doctor_and_lint_know_a_toolset_in_the_engine() {
    let Some(lab) = toolset(Runtime::Nothing) else { return };
    serve(&lab, "script: tools/toolset.ts, runtime: embedded");
    let doctor = lab.go(&["tool", "doctor", "tools"]).exits(0);
    assert!(doctor.stdout.contains("it runs in the script engine of this process"), "{}", doctor.stdout);
    assert!(doctor.stdout.contains("it lists 16 tools"), "{}", doctor.stdout);
    let lint = lab.go(&["tool", "lint"]);
    assert!(!lint.stderr.contains("did not start"), "{}", lint.stderr);
}

#[test]
fn a_tool_from_the_template_runs_in_the_engine() {
    let Some(lab) = toolset(Runtime::Nothing) else { return };
    lab.configured("");
    let link = |name: &str| lab.project.root().join("node_modules/@trailblaze").join(name);
    ["client", "scripting"].iter().for_each(|name| std::fs::remove_file(link(name)).expect("removed"));
    lab.go(&["tool", "new", "acme_countText", "--lang", "ts"]).exits(0);
    // As `npm install` links the copies.
    for name in ["client", "scripting"] {
        std::os::unix::fs::symlink(format!("../../.trailblaze/{name}"), link(name)).expect("a link");
    }
    let entry = "script: tools/tool-server.ts";
    let config = lab.project.read("trailblaze.yaml");
    assert!(config.contains(entry), "{config}");
    lab.with("trailblaze.yaml", &config.replace(entry, &format!("{entry}\n    runtime: embedded")));
    let called = lab.go(&["tool", "-d", "android/sim-1", "acme_countText", "text=Pay"]).exits(0);
    assert!(called.stdout.contains("0 on the screen"), "{}", called.stdout);
    let tested = lab.go(&["run", "trails/tools", "-d", "android/sim-1"]).exits(0);
    assert!(tested.stderr.contains("passed") || tested.stdout.contains("passed"), "{}", tested.stderr);
}

#[test]
fn cassettes_are_recorded_from_the_engine_and_replayed() {
    let Some(lab) = toolset(Runtime::Nothing) else { return };
    serve(&lab, "script: tools/toolset.ts, runtime: embedded");
    lab.calls(&["shout: {text: hey}", "callsOthers: {}"]);
    let recorded = lab.run(&["-d", "android/sim-1", "--cassette", "record"], 0).texts("callsOthers");
    lab.with("tools/toolset.ts", "throw new Error('it is not started')");
    let played = lab.run(&["-d", "android/sim-1", "--cassette", "replay"], 0);
    assert_eq!(played.texts("callsOthers"), recorded);
}

#[test]
fn a_runtime_is_for_scripts() {
    let Some(lab) = toolset(Runtime::Nothing) else { return };
    serve(&lab, "command: python3, runtime: embedded");
    let ran = lab.go(&["check"]).exits(3);
    let told = format!("{}{}", ran.stdout, ran.stderr);
    assert!(told.contains("`runtime: embedded` requires `script`, not `command`"), "{told}");
}
