//! Servers that do not end when asked to, or leave processes behind.

use crate::support::stage::Stage;

#[track_caller]
fn check(behaviour: &str) {
    let played = Stage::new(behaviour).then_the_other().play(0);
    played.assert_the_other_went_on();
    assert_eq!(played.said().lines().last().map(|line| line.starts_with("2 passed")), Some(true), "{}", played.said());
}

#[test]
fn a_server_that_ignores_every_signal_is_killed() {
    check("ignores_every_hint");
}

#[test]
fn a_grandchild_is_killed_with_its_server() {
    check("forks");
}

#[test]
fn a_daemon_is_killed_with_its_server() {
    check("daemonises");
}

/// When a server that several sessions share dies, all of them fail, and later ones start it again.
#[test]
fn a_shared_server_that_dies_breaks_its_sessions() {
    let stage = Stage::new("exits_mid_call").with("multiDevice: stdio");
    let ran = stage.finish(stage.command(&["run", "--pictures", "off", "-d", "android/sim-1,ios/sim-1"]));
    let played = stage.judge(ran.exits(2), 2);
    // A session that starts after its death fails without a call.
    let answers = played.answers("rogue_act");
    assert!(!answers.is_empty() && answers.iter().all(|answer| answer.starts_with(DIED)), "{answers:?}");
    assert_eq!(played.run.summary()["counts"]["errored"], 2);
}

const DIED: &str = "server `rogue` died: it exited with code 9";
