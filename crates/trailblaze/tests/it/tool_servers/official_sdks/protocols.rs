//! Both generations of the protocol, with the libraries that speak them.

use serde_json::json;
use trailblaze_protocol::event::{Event, Level};

use crate::support::lab::{Lab, Played, python};

/// The version that was negotiated with the only server.
#[track_caller]
fn version(played: &Played) -> String {
    let started = |event: Event| match event {
        Event::ServerStarted { protocol, .. } => Some(protocol),
        _ => None,
    };
    let versions: Vec<String> = played.run.events().into_iter().filter_map(started).collect();
    assert_eq!(versions.len(), 1);
    versions.into_iter().next().unwrap_or_default()
}

fn python_with(name: &str, key: &str) -> String {
    python(name).replace('}', &format!(", {key}}}"))
}

#[test]
fn a_python_server_is_called_in_either_generation() {
    let Some(lab) = Lab::new() else { return };
    let lab = lab.fixture("talk.py").calls(&["talk_work: {}", "talk_meta: {}"]);
    for (entry, expected) in [
        (python("talk"), "2025-11-25"),
        (python_with("talk", "protocol: '2025-06-18'"), "2025-06-18"),
        (python_with("talk", "protocol: '2026-07-28'"), "2026-07-28"),
    ] {
        let lab = lab.configured(&format!("mcpServers: [{entry}]\n"));
        let played = lab.run(&["-d", "ios/sim-1"], 0);
        assert_eq!(version(&played), expected);
        assert_eq!(played.texts("talk_work"), ["worked"]);
        let notes = played.notes();
        assert!(notes.contains(&(Level::Warning, "a word of warning".into())), "{expected}: {notes:?}");
        assert!(notes.contains(&(Level::Info, "1/2 halfway".into())), "{expected}: {notes:?}");
        let told = played.structured("talk_meta");
        let call = played.run.calls().into_iter().find(|call| call.tool == "talk_meta").expect("it was called");
        assert_eq!((&told["device"]["id"], &told["invocation"]), (&json!("ios/sim-1"), &json!(call.call)));
    }
}

#[test]
fn a_server_of_the_newer_sdk_is_called_in_either_generation() {
    let Some(lab) = Lab::new() else { return };
    let lab = lab.fixture("newer.ts").calls(&["newer_echo: {word: hello}", "newer_talk: {}"]);
    for (keys, expected) in [
        ("", "2025-11-25"),
        (", protocol: '2026-07-28'", "2026-07-28"),
        // It refuses the older generation, so the newer one is tried.
        (", env: {NEWER_ONLY: '1'}", "2026-07-28"),
    ] {
        let lab = lab.configured(&format!("mcpServers: [{{name: newer, script: tools/newer.ts{keys}}}]\n"));
        let played = lab.run(&[], 0);
        assert_eq!(version(&played), expected);
        assert_eq!(played.texts("newer_echo"), ["hello"]);
        let sent = played.structured("newer_echo");
        let call = &played.run.calls()[0].call;
        assert_eq!(sent["_meta"]["trailblazeInvocationId"], json!(call), "{expected}: {sent}");
        assert_eq!(sent["arguments"]["_trailblazeContext"]["device"]["platform"], "ANDROID");
        let notes = played.notes();
        assert!(notes.contains(&(Level::Warning, "a word of warning".into())), "{expected}: {notes:?}");
        assert!(notes.contains(&(Level::Info, "1/2".into())), "{expected}: {notes:?}");
    }
}

#[test]
fn the_newer_generation_also_announces_new_tools() {
    let Some(lab) = Lab::new() else { return };
    let entry = "{name: newer, script: tools/newer.ts, protocol: '2026-07-28'}";
    let lab = lab.fixture("newer.ts").configured(&format!("mcpServers: [{entry}]\n"));
    lab.project.write("lines", "newer_grow\nreloadTools\nnewer_grown\nquit\n");
    let mut command = lab.command(&["shell", "-d", "android/sim-1"]);
    command.stdin(std::fs::File::open(lab.path("lines")).unwrap());
    let ran = lab.finish(command);
    assert!(ran.stdout.contains("I am new"), "{ran:?}");
}

#[test]
fn a_server_that_speaks_another_version_than_its_entry_pins_is_refused() {
    let Some(lab) = Lab::new() else { return };
    let entry = "{name: fixture, script: tools/toolset.ts, protocol: '2026-07-28'}";
    let lab = lab.fixture("toolset.ts").configured(&format!("mcpServers: [{entry}]\n"));
    let ran = lab.go(&["tool", "fixture_runtime"]).exits(2);
    insta::assert_snapshot!(ran.normal(&ran.stderr), @"error: server `fixture` did not start: it refuses version 2026-07-28 of the protocol, which was requested: Method not found (-32601)");
}
