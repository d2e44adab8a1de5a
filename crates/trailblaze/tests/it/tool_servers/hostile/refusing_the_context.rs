//! Servers that refuse `_trailblazeContext`, the argument that carries the context, although their schemas allow it.

use crate::support::stage::Stage;

#[test]
fn a_server_that_refuses_the_argument_is_called_without_it() {
    for behaviour in ["refuses_the_context", "refuses_the_context_as_a_parameter"] {
        let played = Stage::new(behaviour).calls_each(&["{}", "{text: x}"]).then_the_other().play(0);
        played.assert_the_other_went_on();
        assert_eq!(played.answers("rogue_act"), ["did it", "did it"]);
        assert_eq!(played.log().lines().count(), 2, "each call ran once: {}", played.log());
        insta::allow_duplicates! {
            insta::assert_snapshot!(played.said(), @"
            warning: server `rogue`: it refuses the argument `_trailblazeContext`, although its schemas allow it; it is not sent again (set `context: meta` in the server's entry to never send it)
            2 passed in [time]
            ");
        }
    }
}

#[test]
fn it_still_receives_the_device() {
    let played = Stage::new("refuses_the_context").calls("{text: x}").play(0);
    assert_eq!(played.log(), "ran with ['text'], told of android/sim-1\n");
}

#[test]
fn the_refusal_is_known_to_all_sessions_of_a_run() {
    let stage = Stage::new("refuses_the_context").with("multiDevice: perDevice");
    let ran = stage.finish(stage.command(&["run", "--pictures", "off", "-d", "android/sim-1,ios/sim-1"])).exits(0);
    let said = ran.stderr.matches("it refuses the argument").count();
    assert_eq!(said, 1, "{}", ran.stderr);
    assert_eq!(stage.judge(ran, 0).answers("rogue_act"), ["did it", "did it"]);
}

#[test]
fn a_tool_that_ran_and_mentions_the_argument_is_not_run_again() {
    let played = Stage::new("runs_and_mentions_the_context").then_the_other().play(1);
    played.assert_the_other_went_on();
    assert_eq!(played.log(), "ran\n");
    insta::assert_snapshot!(played.said(), @r#"
    warning: server `rogue`: the error from `rogue_act` mentions `_trailblazeContext`; if the tool does not take this argument, set `context: meta` in the server's entry
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Act": `rogue_act` failed: paid, and then: Unexpected keyword argument `_trailblazeContext` [type=unexpected_keyword_argument, x]

    1 passed, 1 failed in [time]
    "#);
}

#[test]
fn a_server_that_also_refuses_without_the_argument_is_not_called_a_third_time() {
    let played = Stage::new("refuses_everything").play(1);
    assert_eq!(played.log(), "asked\nasked\n");
    assert!(played.answers("rogue_act")[0].starts_with("1 validation error for call[act]"));
}

#[test]
fn an_entry_that_requires_the_argument_gets_the_refusal() {
    let played = Stage::new("refuses_the_context").with("context: both").play(1);
    assert_eq!(played.log(), "");
    assert_eq!(played.notes(), "");
    let played = Stage::new("refuses_the_context").with("context: meta").play(0);
    assert_eq!(played.answers("rogue_act"), ["did it"]);
    assert_eq!(played.notes(), "info: ran with [], told of android/sim-1", "only what it printed");
}
