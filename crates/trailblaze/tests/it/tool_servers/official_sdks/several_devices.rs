//! One server and several devices: over HTTP if the server supports it, otherwise over one pipe, or with a process for
//! each.

use std::collections::BTreeSet;

use serde_json::Value;
use trailblaze_protocol::event::{Event, Level};

use crate::support::lab::{Lab, Played, Runtime, python};
use crate::support::stage::with_a_limit;

const DEVICES: [&str; 2] = ["-d", "android/sim-1,ios/sim-1"];

fn with(entry: &str, key: &str) -> String {
    entry.replace('}', &format!(", {key}}}"))
}

/// The number of processes that served the devices, the transports they used, and the warnings.
#[track_caller]
fn served(played: &Played, tool: &str) -> (usize, BTreeSet<String>, Vec<String>) {
    let met: Vec<Value> = played.outcomes(tool).into_iter().filter_map(|outcome| outcome.structured).collect();
    assert_eq!(met.len(), 2, "both devices met there");
    let processes: BTreeSet<String> = met.iter().map(|met| met["process"].to_string()).collect();
    let transports = met.iter().map(|met| met["transport"].as_str().unwrap_or_default().to_string()).collect();
    let warned = played.notes().into_iter().filter(|(level, _)| *level == Level::Warning).map(|(_, text)| text);
    (processes.len(), transports, warned.collect())
}

fn set(word: &str) -> BTreeSet<String> {
    BTreeSet::from([word.to_string()])
}

#[test]
fn fastmcp_serves_several_devices_from_one_process_over_http() {
    let Some(lab) = Lab::new() else { return };
    let lab = lab.fixture("web.py").calls(&["py_meet: {n: 2}", "py_meta: {}"]);
    for entry in [python("web"), with(&python("web"), "multiDevice: http")] {
        let played = lab.configured(&format!("mcpServers: [{entry}]\n")).run(&DEVICES, 0);
        assert_eq!(served(&played, "py_meet"), (1, set("http"), vec![]), "{entry}");
        let devices: BTreeSet<String> = played
            .outcomes("py_meta")
            .into_iter()
            .map(|told| told.structured.unwrap()["device"]["id"].to_string())
            .collect();
        assert_eq!(devices.len(), 2, "each call is told of its own device");
    }
}

#[test]
fn the_typescript_sdk_serves_several_devices_from_one_process_over_http() {
    let Some(lab) = Lab::new() else { return };
    let lab = lab.fixture("web.ts").calls(&["ts_meet: {n: 2}"]);
    let played = lab.configured("mcpServers: [{name: web, script: tools/web.ts}]\n").run(&DEVICES, 0);
    assert_eq!(served(&played, "ts_meet"), (1, set("http"), vec![]));
    assert!(played.log("web").contains("session closed"), "its session is closed: {}", played.log("web"));
}

#[test]
fn our_own_package_serves_several_devices_from_one_process_over_http() {
    for runtime in [Runtime::Bun, Runtime::Tsx, Runtime::Node] {
        let Some(lab) = Lab::under(runtime) else { return };
        let lab = lab.fixture("meeting.ts").calls(&["sdk_meet: {n: 2}"]);
        for key in ["multiDevice: auto", "multiDevice: http"] {
            let entry = format!("{{name: meeting, script: tools/meeting.ts, {key}}}");
            let played = lab.configured(&format!("mcpServers: [{entry}]\n")).run(&DEVICES, 0);
            assert_eq!(served(&played, "sdk_meet"), (1, set("http"), vec![]), "{runtime:?}, {key}");
            let told: Vec<String> = played.notes().into_iter().map(|(_, text)| text).collect();
            for platform in ["android", "ios"] {
                let is_told = told.iter().any(|text| text.ends_with(&format!("met on {platform}")));
                assert!(is_told, "{runtime:?}, {key}: {told:?}");
            }
            let ended = played.run.events().into_iter().find_map(|event| match event {
                Event::ServerEnded { message, .. } => Some(message),
                _ => None,
            });
            assert_eq!(ended.as_deref(), Some("exited with code 0"), "it ends by itself when its stdin does");
        }
    }
}

#[test]
fn a_server_that_does_not_know_the_flags_serves_all_from_one_pipe_with_a_warning() {
    let Some(lab) = Lab::new() else { return };
    let lab = lab.fixture("web.ts").calls(&["ts_meet: {n: 2}"]);
    for (variable, how) in [
        ("WEB_KNOWS_NO_FLAGS", "it stayed on stdio"),
        ("WEB_REFUSES_FLAGS", "it exited with code 64 before it answered"),
    ] {
        let entry = format!("{{name: web, script: tools/web.ts, env: {{{variable}: '1'}}}}");
        let played = lab.configured(&format!("mcpServers: [{entry}]\n")).run(&DEVICES, 0);
        let (n_processes, transports, warned) = served(&played, "ts_meet");
        assert_eq!((n_processes, transports), (1, set("stdio")));
        assert_eq!(warned.len(), 1, "{warned:?}");
        let expected = format!("but {how}; one process on stdio serves all devices instead");
        assert!(warned[0].contains(&expected), "{warned:?}");
        assert!(played.ran.stderr.contains(&expected), "{}", played.ran.stderr);
    }
}

#[test]
fn a_server_that_must_listen_and_does_not_fails_its_trails() {
    let Some(lab) = Lab::new() else { return };
    let keys = "startupTimeout: 1s, multiDevice: http, env: {WEB_KNOWS_NO_FLAGS: '1'}";
    let entry = format!("{{name: web, script: tools/web.ts, {keys}}}");
    let lab = lab.fixture("web.ts").calls(&["ts_meet: {n: 2}"]).configured(&format!("mcpServers: [{entry}]\n"));
    let played = lab.run(&DEVICES, 2);
    let told = format!("{}{}", played.ran.stdout, played.ran.stderr);
    assert!(told.contains("server `web` did not start: it did not listen on port "), "{told}");
    assert!(told.contains("or set `multiDevice: stdio`"), "{told}");
}

#[test]
fn one_pipe_or_a_process_for_each_can_be_requested() {
    let Some(lab) = Lab::new() else { return };
    let lab = lab.fixture("web.py");
    for (key, n_devices, expected) in [("multiDevice: stdio", 2, 1), ("multiDevice: perDevice", 1, 2)] {
        // With one process per device, they do not meet.
        let lab = lab.calls(&[&format!("py_meet: {{n: {n_devices}}}")]);
        let played = lab.configured(&format!("mcpServers: [{}]\n", with(&python("web"), key))).run(&DEVICES, 0);
        assert_eq!(served(&played, "py_meet"), (expected, set("stdio"), vec![]), "{key}");
    }
}

#[test]
fn the_death_of_a_server_on_a_port_is_reported_with_its_exit_and_stderr() {
    let Some(lab) = Lab::new() else { return };
    let entry = with(&python("web"), "multiDevice: http");
    let lab = lab.fixture("web.py").calls(&["py_end: {}"]).configured(&format!("mcpServers: [{entry}]\n"));
    let played = lab.run(&["-d", "android/sim-1"], 2);
    let told = format!("{}{}", played.ran.stdout, played.ran.stderr);
    assert!(told.contains("server `web` died: it exited with code 3"), "{told}");
    let ended = played.run.events().into_iter().filter(|event| matches!(event, Event::ServerEnded { .. })).count();
    assert_eq!(ended, 1, "its end is told once");
}

#[test]
fn a_server_on_a_port_is_restarted_on_another() {
    let Some(lab) = Lab::new() else { return };
    let entry = with(&python("web"), "multiDevice: http, restart: on-failure");
    let lab = lab.fixture("web.py").calls(&["py_end: {}"]).configured(&format!("mcpServers: [{entry}]\n"));
    let lab = lab.with("trails/b.trail.yaml", "trail:\n  - step: Go\n    tools: [py_talk: {}]\n");
    let played = lab.run(&["-d", "android/sim-1"], 2);
    assert_eq!(played.texts("py_talk"), ["talked"]);
    let started = played.run.events().into_iter().filter(|event| matches!(event, Event::ServerStarted { .. })).count();
    assert_eq!(started, 2);
}

const HANGS: &str = r#"
import time
from pathlib import Path
from fastmcp import FastMCP

server = FastMCP("hangs")


@server.tool
async def hangs_once(word: str) -> str:
    is_first = not Path("first").exists()
    Path("first").touch()
    # The event loop does nothing else any more.
    while is_first:
        time.sleep(60)
    return word


server.run(show_banner=False)
"#;

/// Over HTTP too, a process that we started is ours to stop.
#[test]
fn a_server_that_hangs_is_stopped_and_started_again_over_http() {
    let Some(lab) = Lab::new() else { return };
    let lab = lab.with("tools/hangs.py", HANGS).calls(&["hangs_once: {word: first}"]);
    lab.with("trails/b.trail.yaml", "trail:\n  - step: Go\n    tools:\n      - hangs_once: {word: next}\n");
    with_a_limit(|limit| {
        let _ = std::fs::remove_file(lab.path("first"));
        let entry = with(&with(&python("hangs"), "multiDevice: http"), &format!("callTimeout: {limit}"));
        let played = lab.configured(&format!("mcpServers: [{entry}]\n")).run(&DEVICES, 1);
        let hung = "server `hangs` died: it hangs: it answered neither `hangs_once`, which was cancelled, nor a ping within 5s";
        println!("{limit}: {}", played.ran.stderr);
        let n_next = played.texts("hangs_once").iter().filter(|text| *text == "next").count();
        (played.ran.stderr.contains(hung) && n_next == 2).then_some(())
    });
}
