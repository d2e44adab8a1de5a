//! The same tools as an MCP server.

use serde_json::{Value, json};
use trailblaze_protocol::event::Event;

use super::compiled_in::outcomes;
use super::{Team, with_server};
use crate::support::{Project, wait_until};

#[test]
fn a_server_lists_the_same_tools() {
    let list = |toolsets: &str, project: &Project| {
        let mut listed = project.team(toolsets, &["toolbox", "--all", "--json", "-d", "android/sim-1"]).exits(0).json();
        let tools = listed[0]["tools"].as_array_mut().expect("a list");
        tools.retain(|tool| tool["name"].as_str().is_some_and(|name| name.starts_with("team_")));
        tools.iter_mut().for_each(|tool| drop(tool.as_object_mut().expect("an object").shift_remove("source")));
        json!(tools)
    };
    let (compiled_in, served) = (list("team", &Project::counter()), list("", &with_server(Project::counter(), "")));
    assert_eq!(served, compiled_in);
    assert!(compiled_in.as_array().is_some_and(|tools| tools.len() == 7), "{compiled_in}");
}

#[test]
fn a_server_gives_the_same_answers_and_recording() {
    let lines = "team_count times=2\nteam_delegate\nteam_remember user=ada\nteam_remember user=grace\ndumpMemory\n\
                 team_fail how=failed\nteam_fail how=fatal\nteam_fail how=assertion\nteam_fail how=action\nteam_fail how=unsupported\n\
                 team_fail how=tool\nteam_fail how=parse\nteam_fail how=panic\nteam_fail how=spawned\nteam_fail how=flood\nteam_count\nsave all.trail.yaml\n";
    let act = |toolsets: &str, project: Project| {
        let told = project.team_shell(toolsets, "android/sim-1", lines).json_lines();
        let answers: Vec<Value> = told
            .iter()
            .map(|told| json!([told["ok"], told["answer"]["text"], told["answer"]["structured"], told["error"]]))
            .collect();
        let run = project.last_run();
        (answers, outcomes(&run, "team_fail"), project.read("all.trail.yaml"))
    };
    let (compiled_in, served) = (act("team", Project::counter()), act("", with_server(Project::counter(), "")));
    assert_eq!(served.0, compiled_in.0);
    assert_eq!(served.1, compiled_in.1);
    assert_eq!(served.2, compiled_in.2);
}

#[test]
fn one_server_on_a_port_serves_several_devices() {
    let trail = "trail:\n  - step: Count\n    tools:\n      - team_count: {times: 2}\n";
    let project = with_server(Project::counter(), "    multiDevice: http\n").with("trails/count.trail.yaml", trail);
    project.team("", &["run", "-d", "android/sim-1,ios/sim-1"]).exits(0);
    let run = project.last_run();
    assert_eq!(outcomes(&run, "team_count").len(), 2);
    assert!(run.mentions("counted Count: 2 on ios/sim-1") > 0, "what a tool logs is recorded");
    assert!(run.mentions("2 of 2") > 0, "its progress is recorded");
    let has_call = |event: Event| match event {
        Event::Noted { about, text, .. } if text.contains("counted Count: 2") => Some(about.is_some()),
        _ => None,
    };
    let logged: Vec<bool> = run.events().into_iter().filter_map(has_call).collect();
    assert_eq!(logged, [true, true], "each with the call that logged it, although both may be in progress");
}

#[test]
fn a_tool_of_a_server_on_a_port_is_cancelled_with_its_run() {
    let trail = "trail:\n  - step: Sleep\n    tools:\n      - team_fail: {how: sleep}\n";
    let project = with_server(Project::counter(), "    multiDevice: http\n").with("trails/sleep.trail.yaml", trail);
    let running = project.team_start("", &["run", "-d", "android/sim-1"]);
    wait_until("the tool sleeps", || (project.runs().pop()?.mentions("asleep") > 0).then_some(()));
    running.interrupt();
    project.ended(running).exits(2);
    let log = std::fs::read_dir(project.last_run().path.join("servers")).expect("the logs of servers");
    let log: String = log.map(|file| std::fs::read_to_string(file.expect("a file").path()).expect("text")).collect();
    assert!(log.contains("the tool was dropped"), "{log}");
}

#[test]
fn both_generations_of_the_protocol_are_spoken() {
    for version in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        let project = with_server(Project::counter(), &format!("    protocol: '{version}'\n"));
        let told = project.team_shell("", "android/sim-1", "team_count\n").json_lines();
        assert_eq!(told[0]["answer"]["structured"], json!({"text": "Count: 1"}), "{version}: {told:?}");
    }
    let doctor = with_server(Project::counter(), "").team("", &["tool", "doctor", "team"]).exits(0);
    assert!(!doctor.stdout.contains("problem"), "{}", doctor.stdout);
}

#[test]
fn a_command_that_fails_in_a_task_is_a_warning_of_the_run() {
    let trail = "trail:\n  - step: Leave\n    tools:\n      - team_fail: {how: task}\n";
    for (toolsets, project) in [("team", Project::counter()), ("", with_server(Project::counter(), ""))] {
        let project = project.with("trails/task.trail.yaml", trail);
        let said = project.team(toolsets, &["run", "-d", "android/sim-1"]).exits(0).stderr;
        let words = "in a task that `team_fail` had started, `Tap` failed: could not tap text \"Nowhere\"";
        assert!(said.contains(words) && said.contains("/examples/team.rs:"), "{said}");
    }
}

#[test]
fn two_toolsets_with_one_name_do_not_start() {
    let ran = Project::counter().team("team,rival", &["serve-tools"]).exits(1);
    let places: Vec<&str> = ran.stderr.split(['(', ')']).skip(1).step_by(2).collect();
    let [team, rival] = places[..] else { panic!("{}", ran.stderr) };
    assert_eq!(
        ran.stderr,
        format!(
            "team: the tool `team_count` is in two toolsets: Team ({team}) and Rival ({rival}); rename one of them\n"
        )
    );
    let is_place =
        |place: &str| place.rsplit_once("examples/team.rs:").is_some_and(|(_, line)| line.parse::<u32>().is_ok());
    assert!(is_place(team) && is_place(rival) && team != rival, "{}", ran.stderr);
    let ran = Project::counter().team("team", &["serve-tools", "--transport", "sse"]).exits(1);
    assert_eq!(ran.stderr, "team: `--transport` must be stdio or http, got `sse`\n");
}

#[test]
fn a_server_ends_with_its_input() {
    // Input is empty from the start.
    Project::counter().team("team", &["serve-tools"]).exits(0);
}
