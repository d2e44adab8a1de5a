//! Servers that fail to start. The session ends before its first step.

use crate::support::stage::{Played, Stage, with_a_limit};
use crate::support::wait_until;

#[track_caller]
fn check(stage: Stage) -> String {
    let played: Played = stage.play(2);
    played.assert_nothing_called();
    played.said()
}

#[test]
fn a_program_that_does_not_exist() {
    insta::assert_snapshot!(check(Stage::new("good").program("no-such-program")), @r"
    trails/a on android/sim-1 (trails/a.trail.yaml)
      server `rogue` did not start: there is no program `no-such-program` on PATH
      hint: install `no-such-program`, or correct `command` at trailblaze.yaml:8:14

    0 passed, 1 broken by the environment in [time]
    ");
}

#[test]
fn a_path_that_does_not_exist() {
    insta::assert_snapshot!(check(Stage::new("good").program("servers/nowhere.py")), @r"
    trails/a on android/sim-1 (trails/a.trail.yaml)
      server `rogue` did not start: there is no program `[project]/servers/nowhere.py`
      hint: correct `command` at trailblaze.yaml:8:14

    0 passed, 1 broken by the environment in [time]
    ");
}

/// With several devices, the server is first asked to listen on a port, and then started again.
#[test]
fn a_server_that_exits_immediately_is_quoted_once_even_if_it_was_started_twice() {
    let stage = Stage::new("exits_at_once");
    let ran = stage.finish(stage.command(&["run", "--pictures", "off", "-d", "android/sim-1,ios/sim-1"]));
    let said = stage.judge(ran.exits(2), 2).said();
    assert_eq!(said.matches("cannot read settings.toml").count(), 1, "{said}");
}

#[test]
fn a_server_that_exits_immediately() {
    insta::assert_snapshot!(check(Stage::new("exits_at_once")), @r"
    trails/a on android/sim-1 (trails/a.trail.yaml)
      server `rogue` did not start: it exited with code 3 before it answered
      its stderr:
        reading its settings
        cannot read settings.toml: no such file

    0 passed, 1 broken by the environment in [time]
    ");
}

#[test]
fn a_program_that_does_not_start_its_server() {
    insta::assert_snapshot!(check(Stage::new("never_runs")), @r"
    trails/a on android/sim-1 (trails/a.trail.yaml)
      server `rogue` did not start: it exited with code 0 before it answered; a server runs until its stdin closes, so check that the program starts it, as with `run()`

    0 passed, 1 broken by the environment in [time]
    ");
}

#[test]
fn a_server_that_prints_its_error_on_stdout() {
    insta::assert_snapshot!(check(Stage::new("prints_and_exits")), @r"
    warning: server `rogue`: it prints to stdout, which carries the protocol: `Rogue 1.0 needs a licence`; print to stderr instead
    trails/a on android/sim-1 (trails/a.trail.yaml)
      server `rogue` did not start: it exited with code 1 before it answered; it prints to stdout, which carries the protocol: `Rogue 1.0 needs a licence`; print to stderr instead

    0 passed, 1 broken by the environment in [time]
    ");
}

#[test]
fn a_server_that_exits_after_the_handshake() {
    insta::assert_snapshot!(check(Stage::new("exits_after_the_handshake")), @r"
    trails/a on android/sim-1 (trails/a.trail.yaml)
      server `rogue` died: it exited with code 4
      its stderr:
        no tools today

    0 passed, 1 broken by the environment in [time]
    ");
}

#[test]
fn a_server_that_never_answers_the_handshake() {
    let said = with_a_limit(|limit| {
        let said = check(Stage::new("never_opens").with(&format!("startupTimeout: {limit}")));
        said.contains("its stderr:").then(|| said.replace(&format!("within {limit}"), "within [limit]"))
    });
    insta::assert_snapshot!(said, @r"
    trails/a on android/sim-1 (trails/a.trail.yaml)
      server `rogue` did not start: it did not answer the MCP handshake within [limit]; raise `startupTimeout:` in its entry to allow more
      its stderr:
        still loading a large model

    0 passed, 1 broken by the environment in [time]
    ");
}

/// Neither for the port and then for stdio, nor for one device and then for the other.
#[test]
fn a_server_that_never_answers_is_waited_for_once() {
    let (said, n_starts) = with_a_limit(|limit| {
        let stage = Stage::new("never_opens").with(&format!("startupTimeout: {limit}"));
        let ran = stage.finish(stage.command(&["run", "--pictures", "off", "-d", "android/sim-1,ios/sim-1"]));
        let logs = std::fs::read_dir(stage.project().last_run().path.join("servers")).expect("the logs of servers");
        let log: String = logs.map(|log| std::fs::read_to_string(log.expect("a file").path()).expect("text")).collect();
        let n_starts = log.matches("still loading a large model").count();
        (n_starts > 0).then(|| (stage.judge(ran.exits(2), 2).said(), n_starts))
    });
    assert!(said.contains("it neither answered the MCP handshake on stdio nor listened on port "), "{said}");
    assert_eq!(n_starts, 1, "{said}");
}

#[test]
fn a_server_that_refuses_both_handshakes() {
    insta::assert_snapshot!(check(Stage::new("refuses_to_open")), @r"
    trails/a on android/sim-1 (trails/a.trail.yaml)
      server `rogue` did not start: it refuses `initialize` (not today (-32600)) and `server/discover` (Method not found (-32601))

    0 passed, 1 broken by the environment in [time]
    ");
}

#[test]
fn a_server_that_refuses_the_version_that_its_entry_pins() {
    insta::assert_snapshot!(check(Stage::new("refuses_to_open").with("protocol: 2025-06-18")), @r"
    trails/a on android/sim-1 (trails/a.trail.yaml)
      server `rogue` did not start: it refuses version 2025-06-18 of the protocol, which was requested: not today (-32600)

    0 passed, 1 broken by the environment in [time]
    ");
}

#[test]
fn a_server_with_an_unknown_version() {
    insta::assert_snapshot!(check(Stage::new("speaks_another_version")), @r"
    trails/a on android/sim-1 (trails/a.trail.yaml)
      server `rogue` did not start: it speaks version 1999-12-31 of the protocol; this build speaks 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28

    0 passed, 1 broken by the environment in [time]
    ");
}

#[test]
fn a_server_that_names_no_version() {
    insta::assert_snapshot!(check(Stage::new("opens_without_a_version")), @r"
    trails/a on android/sim-1 (trails/a.trail.yaml)
      server `rogue` did not start: its answer to `initialize` does not follow the protocol: it has no `protocolVersion`

    0 passed, 1 broken by the environment in [time]
    ");
}

#[test]
fn a_server_that_starts_with_broken_json() {
    insta::assert_snapshot!(check(Stage::new("opens_with_broken_json")), @r"
    trails/a on android/sim-1 (trails/a.trail.yaml)
      server `rogue` did not start: it broke the protocol: broken JSON: key must be a string at line 1 column 2 in `{'protocolVersion': '2025-11-25'}`; it was killed

    0 passed, 1 broken by the environment in [time]
    ");
}

#[test]
fn a_banner_on_stdout_is_only_a_warning() {
    let played = Stage::new("prints_a_banner").then_the_other().play(0);
    played.assert_the_other_went_on();
    insta::assert_snapshot!(played.said(), @r"
    warning: server `rogue`: it prints to stdout, which carries the protocol: `Rogue 1.0 is ready`; print to stderr instead
    2 passed in [time]
    ");
}

#[test]
fn log_lines_on_stdout_are_one_warning_even_in_json() {
    let played = Stage::new("logs_to_stdout").then_the_other().play(0);
    played.assert_the_other_went_on();
    insta::assert_snapshot!(played.said(), @r#"
    warning: server `rogue`: it prints to stdout, which carries the protocol: `{"level": 30, "msg": "about to answer", "method": {"id": 7}}`; print to stderr instead
    2 passed in [time]
    "#);
}

/// The other commands that start servers report the same.
#[test]
fn every_command_that_needs_the_server_reports_it() {
    let commands: [&[&str]; 4] = [
        &["toolbox", "-d", "android/sim-1"],
        &["tool", "rogue_act", "-d", "android/sim-1"],
        &["check"],
        &["shell", "-d", "android/sim-1"],
    ];
    let stage = Stage::new("exits_at_once");
    let mut said = String::new();
    for args in commands {
        let ran = stage.finish(stage.command(args));
        stage.assert_none_left();
        said.push_str(&format!("{}: {}\n\n", args[0], ran.refusal()));
    }
    insta::assert_snapshot!(said, @r"
    toolbox: exit 2
    error: server `rogue` did not start: it exited with code 3 before it answered
    its stderr:
      reading its settings
      cannot read settings.toml: no such file

    tool: exit 2
    error: server `rogue` did not start: it exited with code 3 before it answered
    its stderr:
      reading its settings
      cannot read settings.toml: no such file

    check: exit 2
    error: server `rogue` did not start: it exited with code 3 before it answered
    its stderr:
      reading its settings
      cannot read settings.toml: no such file

    shell: exit 2
    error: server `rogue` did not start: it exited with code 3 before it answered
    its stderr:
      reading its settings
      cannot read settings.toml: no such file
    ");
}

#[test]
fn cancelling_while_servers_start_leaves_none_behind() {
    let stage = Stage::new("never_opens");
    let running = stage.start();
    wait_until("the server is started", || {
        let logs = std::fs::read_dir(stage.project().runs().first()?.path.join("servers")).ok()?.flatten();
        let mut texts = logs.filter_map(|log| std::fs::read_to_string(log.path()).ok());
        texts.any(|text| text.contains("still loading")).then_some(())
    });
    running.interrupt();
    let ran = stage.project().ended(running).exits(2);
    let played = stage.judge(ran, 2);
    insta::assert_snapshot!(played.said(), @r"
    cancelling; press Ctrl-C again to stop immediately
    0 passed, 1 not run in [time]
    ");
}
