//! Servers that do not want to end, or leave somebody behind.

use crate::stage::Stage;

#[track_caller]
fn check(behaviour: &str) {
    let played = Stage::new(behaviour).then_the_other().play(0);
    played.assert_the_other_went_on();
    assert_eq!(played.said().lines().last().map(|line| line.starts_with("2 passed")), Some(true), "{}", played.said());
}

#[test]
fn a_server_that_ignores_every_hint_is_ended_all_the_same() {
    check("ignores_every_hint");
}

#[test]
fn a_grandchild_is_ended_with_its_server() {
    check("forks");
}

#[test]
fn a_daemon_is_ended_with_its_server() {
    check("daemonises");
}

/// A server that several sessions share takes them all with it, and later ones start it anew.
#[test]
fn a_shared_server_that_dies_breaks_who_uses_it() {
    let stage = Stage::new("exits_mid_call").with("multiDevice: stdio");
    let ran = stage.finish(stage.command(&["run", "--pictures", "off", "-d", "android/sim-1,ios/sim-1"]));
    let played = stage.judge(ran.exits(2), 2);
    // Whoever comes when it is dead already is told so without a call.
    let answers = played.answers("rogue_act");
    assert!(!answers.is_empty() && answers.iter().all(|answer| answer == DIED), "{answers:?}");
    assert_eq!(played.run.summary()["counts"]["errored"], 2);
}

const DIED: &str = "server `rogue` died: it exited with code 9\nits stderr:\n  out of memory";
