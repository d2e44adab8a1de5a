//! Tools that are compiled into a team's own build of the program.

use serde_json::{Value, json};
use trailblaze_protocol::event::{CallOrigin, CallResult, Event};
use trailblaze_protocol::ids::Parent;

use super::Team;
use crate::support::{Project, RunFolder, wait_until};

#[test]
fn compiled_in_tools_are_listed_explained_and_filtered() {
    let project = Project::counter();
    let listed = project.team("team", &["toolbox", "--json", "-d", "android/sim-1"]).exits(0).json();
    let count = find(&listed, "team_count");
    assert_eq!(count["source"], "toolset Team (compiled in)");
    assert_eq!(count["description"], "Add to the counter, through another tool of this toolset and through commands.");
    let why = |tool: &str, device: &str| project.team("team", &["toolbox", "why", tool, "-d", device]).stdout;
    assert!(why("team_count", "android/sim-1").contains("it is offered to models, through counting"));
    assert!(why("team_launch", "web/sim-1").contains("offers it, but it is for android, ios, not web"));
    assert!(why("team_launch", "ios/sim-1").contains("it is not for models"));
    assert!(why("team_host", "android/sim-1").contains("none of its groups (rare) is enabled"));
    project.team("team", &["check"]).exits(0);
    project.team("team", &["tool", "lint"]).exits(0);
    let version = project.team("team", &["--version"]).exits(0).stdout;
    assert_eq!(version, format!("team (trailblaze {})\n", env!("CARGO_PKG_VERSION")));
    assert!(project.team("team", &["--help"]).exits(0).stdout.contains("Usage: team [OPTIONS] <COMMAND>"));
    assert!(project.team("team", &["completions", "bash"]).exits(0).stdout.contains("complete -F _team "));
}

fn find(listed: &Value, name: &str) -> Value {
    let tools = listed[0]["tools"].as_array().expect("a list");
    tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("{name} is not listed")).clone()
}

#[test]
fn a_call_is_recorded_as_one_and_delegates_in_its_place() {
    let project = Project::counter();
    let ran = project
        .team_shell("team", "android/sim-1", "team_count times=2\nteam_delegate\nsave counted.trail.yaml\n")
        .exits(0);
    let told = ran.json_lines();
    assert_eq!(told[0]["answer"]["structured"], json!({"text": "Count: 2"}), "{}", ran.stdout);
    let calls = project.last_run().calls();
    let count = calls.iter().find(|call| call.tool == "team_count").expect("it was called");
    let launch = calls.iter().find(|call| call.tool == "launchApp").expect("it was called");
    assert_eq!((launch.origin, &launch.parent), (CallOrigin::Callback, &Parent::Call(count.call.clone())));
    project.last_run().assert_calls_have_parents();

    let saved = project.read("counted.trail.yaml");
    assert!(saved.contains("team_count") && saved.contains("times: 2") && saved.contains("Add one"), "{saved}");
    assert!(!saved.contains("launchApp") && !saved.contains("team_delegate"), "{saved}");
    project.team("team", &["run", "counted.trail.yaml", "-d", "android/sim-1"]).exits(0);
    let without = project.team("", &["run", "counted.trail.yaml", "-d", "android/sim-1"]).exits(3);
    assert!(without.stderr.contains("unknown tool `team_count`"), "{}", without.stderr);
}

#[test]
fn a_compiled_in_tool_may_ask_a_model() {
    let ask = r#"{method: TrailblazeSession/AskModel, params: '{"prompt": "Is it late?"}'}"#;
    let project = Project::counter()
        .with("replies.yaml", "replies: [{expect: {contains: Is it late?}, reply: {text: No.}}]\n")
        .with("a.trail.yaml", format!("trail:\n  - step: Ask\n    tools:\n      - team_request: {ask}\n"));
    let run = ["run", "a.trail.yaml", "-d", "android/sim-1", "--model", "scripted/replies.yaml"];
    project.team("team", &run).exits(0);
    let answers = project.last_run().events().into_iter().filter_map(|event| match event {
        Event::Answered { answer: CallResult::Outcome(outcome), .. } => outcome.structured,
        _ => None,
    });
    assert_eq!(answers.collect::<Vec<_>>(), [json!({"fields": {"text": "No.", "model": "scripted/replies.yaml"}})]);
}

#[test]
fn effects_of_a_compiled_in_tool_are_replayed_without_it() {
    let trail = "trail:\n  - step: Count\n    tools:\n      - team_count: {times: 2}\n      - assertVisible: {text: 'Count: 2'}\n";
    let project = Project::counter().with("trails/count.trail.yaml", trail);
    project.team("team", &["run", "-d", "android/sim-1", "--record", "effects"]).exits(0);
    project.team("team", &["run", "-d", "android/sim-1", "--replay", "verify"]).exits(0);
    project.team("", &["run", "-d", "android/sim-1", "--replay", "effects"]).exits(0);
}

#[test]
fn tools_fail_in_their_own_way() {
    let project = Project::counter();
    let ways = [
        "failed",
        "fatal",
        "assertion",
        "action",
        "unsupported",
        "tool",
        "parse",
        "panic",
        "spawned",
        "itself",
        "flood",
    ];
    let mut lines = vec!["team_count".to_string()];
    lines.extend(ways.iter().map(|way| format!("team_fail how={way}")));
    // The session goes on.
    lines.push("team_count".to_string());
    let told = project.team_shell("team", "android/sim-1", &lines.join("\n")).json_lines();
    assert_eq!((&told[0]["ok"], &told[lines.len() - 1]["ok"]), (&json!(true), &json!(true)));
    let failures: Vec<(String, String)> = outcomes(&project.last_run(), "team_fail");
    let expected = [
        ("ExceptionThrown", "it failed"),
        ("FatalError", "it is over"),
        ("AssertionFailed", "assertVisible"),
        ("ExceptionThrown", "could not tap text \"Nowhere\""),
        ("Unsupported", "unsupported on android"),
        ("FatalError", "it is over"),
        ("ExceptionThrown", "invalid digit found in string"),
        ("ExceptionThrown", "`team_fail` panicked: no way"),
        ("ExceptionThrown", "/crates/trailblaze/examples/team.rs:"),
        ("ExceptionThrown", ""),
        ("ExceptionThrown", "it said a lot"),
    ];
    assert_eq!(failures.len(), expected.len(), "{failures:?}");
    for ((variant, text), (expected, words)) in failures.iter().zip(expected) {
        let words = if words == "assertVisible" { "Nowhere" } else { words };
        assert!(variant == expected && text.contains(words), "{variant}: {text}, expected {expected}: {words}");
    }
    let stray = "something that the tool started panicked: in a task (";
    assert!(failures.iter().any(|(_, text)| text.starts_with(stray)), "{failures:?}");
    let notes = project.last_run().events().iter().filter(|event| matches!(event, Event::Noted { .. })).count();
    assert!((1_000..1_100).contains(&notes), "a tool that says too much is cut off: {notes}");
}

/// The variants and texts of the top-level calls of a tool.
pub fn outcomes(run: &RunFolder, tool: &str) -> Vec<(String, String)> {
    let events = run.events();
    let is_top = |parent: &Parent| matches!(parent, Parent::Step(_));
    let mut found = Vec::new();
    for event in &events {
        let Event::Called(called) = event else { continue };
        if called.tool != tool || !is_top(&called.parent) {
            continue;
        }
        let answer = events.iter().find_map(|event| match event {
            Event::Answered { call, answer, .. } if *call == called.call => Some(answer),
            _ => None,
        });
        found.push(match answer.expect("it was answered") {
            CallResult::Outcome(outcome) => (outcome.variant.name().to_string(), outcome.text.clone()),
            other => ("fault".to_string(), format!("{other:?}")),
        });
    }
    found
}

#[test]
fn memory_changes_take_effect_with_the_result() {
    let project = Project::counter();
    let lines = "team_remember user=ada\nteam_remember user=grace\nteam_count\ndumpMemory\nteam_remember user=joan\ndumpMemory\n";
    let told = project.team_shell("team", "android/sim-1", lines).exits(0).json_lines();
    assert_eq!((&told[0]["answer"]["text"], &told[1]["answer"]["text"]), (&json!("nobody"), &json!("ada")));
    assert_eq!(told[3]["answer"]["structured"], json!({"user": "grace", "counted": "Count: 1"}));
    assert_eq!(told[5]["answer"]["structured"], json!({"user": "joan"}));
}

#[test]
fn reloading_keeps_compiled_in_tools() {
    let project = Project::counter();
    let told = project.team_shell("team", "android/sim-1", "reloadTools\nteam_count\n").exits(0).json_lines();
    assert_eq!(told[1]["ok"], true, "{told:?}");
}

#[test]
fn a_name_that_is_used_twice_is_an_error_that_names_both() {
    let project = Project::counter();
    for (toolsets, expected) in [
        (
            "team,rival",
            "the tool `team_count` is offered twice: by toolset Team (compiled in) (team.rs) and by toolset Rival (compiled in) (team.rs)",
        ),
        ("taken", "the tool `tap` is offered twice: by built-in and by toolset Taken (compiled in) (team.rs)"),
        (
            "reserved",
            "the name `android_count` starts with the reserved prefix `android_`; to allow it, add `reservedPrefixes: [android_]`",
        ),
    ] {
        for args in [["check", "-d", "android/sim-1"], ["toolbox", "-d", "android/sim-1"]] {
            let ran = project.team(toolsets, &args).exits(3);
            let said = without_lines(&ran.stderr);
            assert!(said.contains(expected), "{args:?}: {said}");
        }
    }
    let yaml = "id: team_count\ndescription: Counts.\nparameters: []\ntools:\n  - tap: {id: add}\n";
    project.write("trailblaze-config/tools/team_count.yaml", yaml);
    let ran = project.team("team", &["toolbox", "-d", "android/sim-1"]).exits(3);
    let both = "the tool `team_count` is offered twice: by toolset Team (compiled in) (team.rs) and by trailblaze-config/tools/team_count.yaml";
    assert!(without_lines(&ran.stderr).contains(both), "{}", ran.stderr);
    let granted = project.with("trailblaze.yaml", "reservedPrefixes: [android_]\nsim:\n  apps: [counter.app.yaml]\n");
    granted.team("reserved", &["toolbox", "-d", "android/sim-1"]).exits(0);
}

#[test]
fn a_running_tool_is_cancelled_with_its_run() {
    let trail = "trail:\n  - step: Sleep\n    tools:\n      - team_fail: {how: sleep}\n";
    let project = Project::counter().with("trails/sleep.trail.yaml", trail);
    let running = project.team_start("team", &["run", "-d", "android/sim-1"]);
    wait_until("the tool sleeps", || (project.runs().pop()?.mentions("asleep") > 0).then_some(()));
    running.interrupt();
    project.ended(running).exits(2);
}

/// With `(team.rs)` in place of each line of the example.
fn without_lines(said: &str) -> String {
    let shown = |word| if str::contains(word, "examples/team.rs:") { "(team.rs)" } else { word };
    said.split(' ').map(shown).collect::<Vec<_>>().join(" ")
}
