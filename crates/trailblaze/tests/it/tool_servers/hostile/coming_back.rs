//! Servers that die and are restarted, servers that die too often, and trails that run without a server.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::sync::mpsc;

use crate::support::stage::{Stage, with_a_limit};
use crate::support::{PATIENCE, wait_until};

const AGAIN: &str = "restart: on-failure";

fn trail(stage: &Stage, name: &str, calls: &str) {
    stage
        .project()
        .write(&format!("trails/{name}.trail.yaml"), format!("trail:\n  - step: Go\n    tools: [{calls}]\n"));
}

/// Types lines into a shell, each when it is ready, and returns the answers.
fn converse(stage: &Stage, talk: impl FnOnce(&mut dyn FnMut(&str) -> String)) {
    let mut command = stage.command(&["shell", "--json", "-d", "android/sim-1"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let answers = BufReader::new(child.stdout.take().expect("its stdout")).lines().map_while(Result::ok);
    let (send, heard) = mpsc::channel();
    std::thread::spawn(move || answers.into_iter().try_for_each(|answer| send.send(answer)));
    let mut lines = child.stdin.take().expect("its stdin");
    talk(&mut |line| {
        writeln!(lines, "{line}").expect("it reads");
        heard.recv_timeout(PATIENCE).unwrap_or_else(|_| {
            let _ = child.kill();
            panic!("`{line}` is not answered");
        })
    });
    drop(lines);
    child.wait().expect("it ends");
    stage.assert_none_left();
}

/// Waits until the run that is in progress has an event with this text, and after that one with another.
fn wait_for_events(stage: &Stage, first: &str, then: &str) {
    wait_until(&format!("`{first}` and `{then}` in the record"), || {
        let runs = std::fs::read_dir(stage.project().root().join("logs")).into_iter().flatten().flatten();
        let mut told = runs.filter_map(|run| std::fs::read_to_string(run.path().join("events.jsonl")).ok());
        told.find(|events| events.split_once(first).is_some_and(|(_, rest)| rest.contains(then)))
    });
}

#[test]
fn a_server_that_dies_in_a_call_is_restarted_but_the_call_is_not_retried() {
    let stage = Stage::new("exits_in_its_first_call").with(AGAIN);
    converse(&stage, |say| {
        let died = say("rogue_act");
        assert!(died.contains("server `rogue` died: it exited with code 9 during `rogue_act`"), "{died}");
        assert!(say("rogue_act").contains("did it"), "the session goes on");
        assert!(say("good_act text=well").contains(r#""ok":true"#), "and so does the other server");
    });
}

#[test]
fn a_server_that_dies_between_calls_is_restarted_for_the_next() {
    let stage = Stage::new("exits_after_its_first_call").with(AGAIN);
    converse(&stage, |say| {
        assert!(say("rogue_act").contains("did it"));
        wait_for_events(&stage, "died: it exited with code 9", "");
        assert!(say("rogue_act").contains("did it"), "nobody notices");
    });
}

#[test]
fn a_server_that_keeps_dying_is_not_restarted_and_the_others_continue() {
    let stage = Stage::new("exits_mid_call").with(AGAIN).then_the_other();
    for number in 1..=6 {
        trail(&stage, &format!("a{number}"), "rogue_act: {}");
    }
    std::fs::remove_file(stage.project().root().join("trails/a.trail.yaml")).expect("it is there");
    let played = stage.play(2);
    played.assert_the_other_went_on();
    let answers = played.answers("rogue_act");
    assert_eq!(answers.len(), 5, "it is not called again: {answers:?}");
    assert!(answers.iter().all(|answer| answer.starts_with("server `rogue` died: it exited with code 9")));
    let said = played.said();
    let given_up = "server `rogue` did not start: it died 5 times within 5m and will not be restarted";
    assert_eq!(said.matches(given_up).count(), 1, "{said}");
    assert!(said.contains("1 passed, 6 broken by the environment"), "{said}");
}

#[test]
fn a_server_that_does_not_start_breaks_the_trails_that_need_it_and_no_other() {
    let stage = Stage::new("exits_at_once").then_the_other();
    stage.project().write(
        "trailblaze-config/tools/act.tool.yaml",
        "id: act\ndescription: Acts\nparameters: []\ntools:\n  - rogue_act: {}\n",
    );
    trail(&stage, "c", "act: {}");
    let played = stage.play(2);
    played.assert_the_other_went_on();
    let said = played.said();
    assert!(said.contains("server `rogue` did not start: it exited with code 3"), "{said}");
    assert!(said.contains("same failure: trails/c on android/sim-1"), "{said}");
    assert!(said.contains("1 passed, 2 broken by the environment"), "{said}");
    assert_eq!(played.answers("rogue_act"), [""; 0], "nothing is called in vain");
}

#[test]
fn a_server_that_no_trail_needs_may_be_missing() {
    let stage = Stage::new("exits_at_once").then_the_other();
    std::fs::remove_file(stage.project().root().join("trails/a.trail.yaml")).expect("it is there");
    let played = stage.play(0);
    assert_eq!(played.answers("good_act").len(), 1);
    insta::assert_snapshot!(played.said(), @r"
    warning: server `rogue` did not start: it exited with code 3 before it answered
    its stderr:
      reading its settings
      cannot read settings.toml: no such file
    no trail of this run needs it, so the run continues
    1 passed in [time]
    ");
    assert!(played.notes().contains("warning: server `rogue` did not start"), "{}", played.notes());
}

#[test]
fn the_last_listing_of_a_server_decides_which_trails_need_it() {
    let stage = Stage::new("exits_when_told").then_the_other();
    stage.finish(stage.command(&["check"])).exits(0);
    stage.project().write("told", "");
    // Its tools are known, so an unknown tool is a mistake, which is reported.
    trail(&stage, "c", "rogue_acct: {}");
    let ran = stage.finish(stage.command(&["run", "--pictures", "off", "-d", "android/sim-1"])).exits(3);
    assert!(ran.stderr.contains("unknown tool `rogue_acct`"), "{}", ran.stderr);
    std::fs::remove_file(stage.project().root().join("trails/c.trail.yaml")).expect("it is there");
    let played = stage.play(2);
    played.assert_the_other_went_on();
    assert!(played.said().contains("server `rogue` did not start: it exited with code 3"), "{}", played.said());
}

#[test]
fn a_server_that_hangs_is_stopped_and_started_again_for_the_next_trail() {
    let said = with_a_limit(|limit| {
        let stage = Stage::new("hangs_in_its_first_call").with(&format!("callTimeout: {limit}"));
        trail(&stage, "b", "rogue_act: {text: well}");
        let played = stage.play(1);
        let is_well = played.answers("rogue_act").last().is_some_and(|answer| answer == "did well");
        is_well.then(|| played.said().replace(&format!("silent for {limit}"), "silent for [limit]"))
    });
    insta::assert_snapshot!(said, @r#"
    warning: server `rogue` died: it hangs: it answered neither `rogue_act`, which was cancelled, nor a ping within 5s; it was stopped
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Act": `rogue_act` failed: `rogue_act` did not answer in time: server `rogue` was silent for [limit] and hung, as in an endless loop; it was stopped

    1 passed, 1 failed in [time]
    "#);
}

#[test]
fn a_server_that_hangs_is_restarted_within_its_session() {
    with_a_limit(|limit| {
        let stage = Stage::new("hangs_in_its_first_call").with(&format!("callTimeout: {limit}")).with(AGAIN);
        let mut goes_on = false;
        converse(&stage, |say| {
            let late = say("rogue_act");
            assert!(late.contains("did not answer in time"), "{late}");
            wait_for_events(&stage, "died: it hangs", "serverStarted");
            goes_on = say("rogue_act text=well").contains("did well");
        });
        goes_on.then_some(())
    });
}

#[test]
fn the_call_after_one_that_hung_starts_the_server_again() {
    with_a_limit(|limit| {
        let stage = Stage::new("hangs_in_its_first_call").with(&format!("callTimeout: {limit}"));
        let mut answer = String::new();
        converse(&stage, |say| {
            let late = say("rogue_act");
            assert!(late.contains("did not answer in time"), "{late}");
            answer = say("rogue_act text=well");
        });
        assert!(!answer.contains("died"), "{answer}");
        answer.contains("did well").then_some(())
    });
}

#[test]
fn a_call_that_hangs_after_its_server_was_started_for_it_is_the_one_that_hung() {
    with_a_limit(|limit| {
        let stage = Stage::new("exits_then_hangs").with(&format!("callTimeout: {limit}"));
        let (mut hung, mut answer) = (String::new(), String::new());
        converse(&stage, |say| {
            assert!(say("rogue_act").contains("died"));
            hung = say("rogue_act");
            answer = say("rogue_act text=well");
        });
        (hung.contains("and hung, as in an endless loop") && answer.contains("did well")).then_some(())
    });
}

#[test]
fn a_death_is_reported_with_the_output_of_its_process_and_call_alone() {
    let stage = Stage::new("exits_in_its_second_call");
    converse(&stage, |say| {
        assert!(say("rogue_act").contains("did it"));
        let died = say("rogue_act");
        assert!(died.contains("about this call") && !died.contains("about an earlier call"), "{died}");
    });
    let stage = Stage::new("prints_in_its_first_life");
    converse(&stage, |say| {
        let died = say("rogue_act");
        assert!(died.contains("; it prints to stdout") && died.contains("noise of an earlier process"), "{died}");
        let died = say("rogue_act");
        assert!(died.contains("it exited with code 9") && !died.contains("noise of an earlier process"), "{died}");
    });
}

#[test]
fn a_server_that_hangs_while_several_devices_use_it_is_started_again() {
    with_a_limit(|limit| {
        let stage = Stage::new("hangs_in_its_first_call").with(&format!("callTimeout: {limit}"));
        let stage = stage.with("multiDevice: stdio");
        trail(&stage, "b", "rogue_act: {text: well}");
        let run = ["run", "--pictures", "off", "-d", "android/sim-1,ios/sim-1"];
        let ran = stage.finish(stage.command(&run)).exits(1);
        let answers = stage.judge(ran, 1).answers("rogue_act");
        (answers.iter().filter(|answer| *answer == "did well").count() == 2).then_some(())
    });
}
