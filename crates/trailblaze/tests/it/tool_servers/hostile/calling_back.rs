//! Servers that call back in ways that they should not. The checks of each request are tested in `callback.rs`.

use trailblaze_protocol::event::Event;

use crate::support::stage::Stage;

/// The only answer of the tool, which contains the responses to its callbacks.
#[track_caller]
fn heard(behaviour: &str) -> String {
    let played = Stage::new(behaviour).then_the_other().play(0);
    played.assert_the_other_went_on();
    played.answers("rogue_act").concat()
}

#[test]
fn with_the_id_of_another_session() {
    insta::assert_snapshot!(heard("calls_back_for_another_session"), @"refused: The invocation [invocation_id] belongs to another session.");
}

#[test]
fn with_the_id_of_an_earlier_call() {
    let played = Stage::new("calls_back_for_an_earlier_call").calls_each(&["{}", "{}"]).play(1);
    insta::assert_snapshot!(played.answers("rogue_act").join("\n"), @r"
    nothing yet
    refused: Unknown invocation ID: [invocation_id]. The tool call may have completed or timed out.
    ");
    let warning = "warning: android/sim-1: `rogue_act` called `tap` after it had ended, so nothing was done; \
                   wait for everything that the tool starts before it returns";
    assert_eq!(played.said().matches(warning).count(), 1, "{}", played.said());
    assert!(played.said().contains("step 1 \"Act\": `rogue_act` called `tap` after it had ended"), "{}", played.said());
}

#[test]
fn a_tool_that_calls_itself_is_stopped_at_the_seventeenth_call() {
    let played = Stage::new("calls_itself").then_the_other().play(0);
    played.assert_the_other_went_on();
    let answers = played.answers("rogue_act");
    assert_eq!(answers.len(), 16);
    insta::assert_snapshot!(answers[0], @"refused: `rogue_act` was not called: calls nest deeper than 16");
}

#[test]
fn tools_that_call_each_other_are_stopped_in_the_same_way() {
    let played = Stage::new("calls_in_a_circle").then_the_other().play(0);
    played.assert_the_other_went_on();
    assert_eq!(played.answers("rogue_act").len() + played.answers("rogue_rest").len(), 16);
    insta::assert_snapshot!(played.answers("rogue_rest")[0], @"refused: `rogue_rest` was not called: calls nest deeper than 16");
}

#[test]
fn after_its_call_has_ended() {
    // The second call is answered when that of the first was refused, so that the trail still runs.
    let played = Stage::new("calls_back_too_late").calls_each(&["{}", "{}"]).play(1);
    insta::assert_snapshot!(played.log(), @"refused: Unknown invocation ID: [invocation_id]. The tool call may have completed or timed out.");
}

#[test]
fn what_fails_after_its_call_has_ended_fails_the_trail() {
    let played = Stage::new("fails_after_its_call").calls_each(&["{}", "{}"]).then_the_other().play(1);
    played.assert_the_other_went_on();
    insta::assert_snapshot!(played.said(), @r#"
    warning: android/sim-1: not paid (orders.go:42)
    trails/a on android/sim-1 (trails/a.trail.yaml:2:11)
      step 1 "Act": not paid (orders.go:42)

    1 passed, 1 failed in [time]
    "#);
}

#[test]
fn open_callbacks_end_with_their_call() {
    let played = Stage::new("leaves_a_callback_open").play(0);
    assert_eq!(played.answers("waitUntilVisible"), ["cancelled"]);
    // It ends first, so that the record is complete in any case.
    let name = |event: Event| match event {
        Event::Answered { call, .. } => Some(call),
        _ => None,
    };
    let calls: Vec<_> = played.run.calls().into_iter().map(|call| call.call).rev().collect();
    let answered: Vec<_> = played.run.events().into_iter().filter_map(name).collect();
    assert_eq!(answered, calls);
}

#[test]
fn with_malformed_requests() {
    // A slow machine takes longer to look once, and says how long.
    let heard = heard("calls_back_badly");
    let heard = match heard.split_once(" within ").and_then(|(before, after)| Some((before, after.split_once(" s: ")?)))
    {
        Some((before, (_, after))) => format!("{before}: {after}"),
        None => heard,
    };
    insta::assert_snapshot!(heard, @r#"
    refused: `arguments_json` of `tap` is not JSON: expected value at line 1 column 1
    refused: `arguments_json` of `tap` must be a JSON object, got ["add"]
    refused: unknown tool `tapp`; did you mean `tap`?
    refused: `inputText`: `text`: 5 is not of type "string"
    failed: could not see text "Nowhere": nothing on the screen has the text "Nowhere"
    refused: unknown action `fly`; this Trailblaze supports `call_tool`
    refused: version 2 of the callback is newer than this Trailblaze, which speaks 1; upgrade Trailblaze
    done:
    "#);
}

#[test]
fn a_delegating_tool_may_look_but_not_act() {
    insta::assert_snapshot!(heard("acts_though_it_delegates"), @r"
    done: true
    failed: `rogue_act` is a delegating tool and may not act by itself; return `tap` as a delegate instead
    ");
}
