//! Servers that answer a call badly or not at all.

use serde_json::{Value, json};

use crate::support::stage::{Played, Stage, with_a_limit};
use crate::support::wait_until;

/// The server is unusable after the call. The next trail starts it again.
#[track_caller]
fn check_broken(stage: Stage) -> Played {
    let played = stage.then_the_other().play(2);
    played.assert_the_other_went_on();
    played
}

/// The call failed; the server keeps running.
#[track_caller]
fn check_failed(stage: Stage) -> Played {
    let played = stage.then_the_other().play(1);
    played.assert_the_other_went_on();
    played
}

#[test]
fn a_server_that_exits_mid_call() {
    insta::assert_snapshot!(check_broken(Stage::new("exits_mid_call")).said(), @r#"
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Act": server `rogue` died: it exited with code 9 during `rogue_act`
      its stderr:
        out of memory

    1 passed, 1 broken by the environment in [time]
    "#);
}

#[test]
fn a_server_that_exits_between_calls() {
    let said = check_broken(Stage::new("exits_between_calls").calls_each(&["{}", "{}"])).said();
    // Its end may be noticed before the second call or in it.
    insta::assert_snapshot!(said.replace(" during `rogue_act`", ""), @r#"
    trails/a on android/sim-1 (trails/a.trail.yaml:5:9)
      step 1 "Act": server `rogue` died: it exited with code 0
      its stderr:
        that was all

    1 passed, 1 broken by the environment in [time]
    "#);
}

#[test]
fn a_server_that_is_killed_mid_call() {
    insta::assert_snapshot!(check_broken(Stage::new("is_killed_mid_call")).said(), @r#"
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Act": server `rogue` died: it was killed by signal 9 (SIGKILL) during `rogue_act`

    1 passed, 1 broken by the environment in [time]
    "#);
}

#[test]
fn a_dead_server_whose_child_holds_its_pipes() {
    insta::assert_snapshot!(check_broken(Stage::new("leaves_an_heir")).said(), @r#"
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Act": server `rogue` died: it exited with code 9 during `rogue_act`

    1 passed, 1 broken by the environment in [time]
    "#);
}

#[test]
fn broken_json() {
    insta::assert_snapshot!(check_broken(Stage::new("answers_broken_json")).said(), @r#"
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Act": server `rogue` died: it broke the protocol: broken JSON: expected value at line 1 column 52 in `{"jsonrpc": "2.0", "id": 3, "result": {"content": [}`; it was killed

    1 passed, 1 broken by the environment in [time]
    "#);
}

#[test]
fn the_answer_to_another_request() {
    insta::assert_snapshot!(check_broken(Stage::new("answers_another_id")).said(), @r#"
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Act": server `rogue` died: it broke the protocol: it answered a request that was never made (id 4711); it was killed

    1 passed, 1 broken by the environment in [time]
    "#);
}

#[test]
fn an_endless_line() {
    insta::assert_snapshot!(check_broken(Stage::new("answers_without_end")).said(), @r#"
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Act": server `rogue` died: it broke the protocol: a line of more than 32 MiB; it was killed

    1 passed, 1 broken by the environment in [time]
    "#);
}

#[test]
fn an_error_without_an_id() {
    insta::assert_snapshot!(check_broken(Stage::new("errs_without_an_id")).said(), @r#"
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Act": server `rogue` died: it could not read our message: Parse error (-32700); it was killed

    1 passed, 1 broken by the environment in [time]
    "#);
}

#[test]
fn a_server_that_closes_its_stdout_and_keeps_running() {
    insta::assert_snapshot!(check_broken(Stage::new("closes_its_stdout")).said(), @r#"
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Act": server `rogue` died: it closed its stdout but kept running, and was killed
      its stderr:
        I have nothing more to say

    1 passed, 1 broken by the environment in [time]
    "#);
}

#[test]
fn a_server_that_closes_its_stdin_and_keeps_running() {
    insta::assert_snapshot!(check_broken(Stage::new("closes_its_stdin").calls_each(&["{}", "{}"])).said(), @r#"
    trails/a on android/sim-1 (trails/a.trail.yaml:5:9)
      step 1 "Act": server `rogue` died: it closed its stdin; it was killed

    1 passed, 1 broken by the environment in [time]
    "#);
}

#[test]
fn a_flood_on_stderr_is_cut_where_it_is_shown() {
    let played = check_broken(Stage::new("floods_stderr"));
    let said = played.said();
    let widest = said.lines().map(|line| line.trim_start().chars().count()).filter(|n| *n > 200).max();
    assert_eq!(widest, Some(301), "a long line is cut");
    let mut short: Vec<char> = said.chars().collect();
    short.dedup_by(|a, b| *a == 'x' && *b == 'x');
    insta::assert_snapshot!(short.into_iter().collect::<String>(), @r#"
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Act": server `rogue` died: it exited with code 5 during `rogue_act`
      its stderr:
        0 x…
        1 x…
        2 x…
        3 x…
        4 x…
        5 x…
        6 x…
        7 x…
        … 276 lines left out
        284 x…
        285 x…
        286 x…
        287 x…
        288 x…
        289 x…
        290 x…
        291 x…
        292 x…
        293 x…
        294 x…
        295 x…
        296 x…
        297 x…
        298 x…
        299 x…

    1 passed, 1 broken by the environment in [time]
    "#);
    let n_bytes = played.log().len();
    assert!(n_bytes > 8 << 20 && n_bytes < 17 << 20, "{n_bytes}");
}

#[test]
fn an_answer_that_never_arrives() {
    let played = check_failed(Stage::new("never_answers").with("callTimeout: 500ms"));
    insta::assert_snapshot!(played.said(), @r#"
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Act": `rogue_act` failed: `rogue_act` did not answer in time: server `rogue` was silent for 500ms; the server responds, so the tool may wait or loop without an end; if it only takes long, let it report progress, or raise `callTimeout:` of its entry

    1 passed, 1 failed in [time]
    "#);
    insta::assert_snapshot!(played.log(), @"cancelled: the caller gave up");
}

#[test]
fn a_late_answer_is_ignored() {
    let said = with_a_limit(|limit| {
        let stage = Stage::new("answers_too_late").with(&format!("callTimeout: {limit}")).then_the_other();
        stage.project().write("trails/c.trail.yaml", "trail:\n  - step: Rest\n    tools:\n      - rogue_rest: {}\n");
        let played = stage.play(1);
        played.assert_the_other_went_on();
        let said = || played.said().replace(&format!("silent for {limit}"), "silent for [limit]");
        (played.answers("rogue_rest") == ["rested"]).then(said)
    });
    insta::assert_snapshot!(said, @r#"
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Act": `rogue_act` failed: `rogue_act` did not answer in time: server `rogue` was silent for [limit]; the server responds, so the tool may wait or loop without an end; if it only takes long, let it report progress, or raise `callTimeout:` of its entry

    2 passed, 1 failed in [time]
    "#);
}

#[test]
fn unknown_messages_are_ignored() {
    let played = Stage::new("babbles").then_the_other().play(0);
    played.assert_the_other_went_on();
    assert_eq!(played.answers("rogue_act"), ["did it"]);
    // What is no message is output of the call.
    insta::assert_snapshot!(played.notes(), @r#"
    info: {"a":1}
    info: [7]
    warning: server `rogue`: it prints to stdout, which carries the protocol: `[7]`; print to stderr instead
    info: null
    info: 7
    info: "words"
    info: {}
    info: {"jsonrpc": "2.0"}
    info: ��
    "#);
}

#[test]
fn a_server_that_reads_nothing() {
    let words = "x".repeat(1 << 20);
    let stage = Stage::new("reads_nothing").with("callTimeout: 500ms").calls(&format!("{{text: {words}}}"));
    insta::assert_snapshot!(check_failed(stage).said(), @r#"
    warning: server `rogue`: it does not read its stdin, so it never received the whole call
    warning: server `rogue` died: it hangs: it answered neither `rogue_act`, which was cancelled, nor a ping within 5s; it was stopped
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Act": `rogue_act` failed: `rogue_act` did not answer in time: server `rogue` was silent for 500ms and hung, as in an endless loop; it was stopped

    1 passed, 1 failed in [time]
    "#);
}

#[test]
fn an_answer_that_is_not_an_object() {
    insta::assert_snapshot!(check_failed(Stage::new("answers_no_object")).said(), @r#"
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Act": `rogue_act` failed: its answer is malformed: it must be an object, got "did it"

    1 passed, 1 failed in [time]
    "#);
}

#[test]
fn an_answer_without_a_result() {
    insta::assert_snapshot!(check_failed(Stage::new("answers_nothing")).said(), @r#"
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Act": `rogue_act` failed: its answer is malformed: it must be an object, got null

    1 passed, 1 failed in [time]
    "#);
}

#[test]
fn an_answer_with_fields_of_wrong_types() {
    insta::assert_snapshot!(check_failed(Stage::new("answers_odd_fields")).said(), @r#"
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Act": `rogue_act` failed: its answer is malformed: `isError` must be a boolean, got "no"

    1 passed, 1 failed in [time]
    "#);
}

#[test]
fn an_answer_in_ten_thousand_pieces() {
    insta::assert_snapshot!(check_failed(Stage::new("answers_in_pieces")).said(), @r#"
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Act": `rogue_act` failed: its answer is malformed: it has 10000 content blocks; the limit is 1000

    1 passed, 1 failed in [time]
    "#);
}

#[test]
fn success_false_is_not_a_failure_and_is_warned_about_once() {
    for text in ["as text", "as a value"] {
        let call = format!("{{text: {text}}}");
        let played = Stage::new("says_that_it_failed").calls_each(&[&call, &call]).then_the_other().play(0);
        played.assert_the_other_went_on();
        insta::allow_duplicates! {
            insta::assert_snapshot!(played.said(), @"
            warning: server `rogue`: `rogue_act` answered `success: false` but not `isError: true`, so the call counts as passed; `strictResults: true` in trailblaze.yaml makes it a failure
            2 passed in [time]
            ");
        }
    }
}

#[test]
fn a_failure_without_a_reason_names_the_tool() {
    insta::assert_snapshot!(check_failed(Stage::new("fails_without_a_reason")).said(), @r#"
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Act": `rogue_act` failed: `rogue_act` gave no reason for its failure

    1 passed, 1 failed in [time]
    "#);
    let stage = Stage::new("fails_without_a_reason");
    let ran = stage.finish(stage.command(&["tool", "rogue_act", "-d", "android/sim-1"])).exits(1);
    assert!(ran.stderr.contains("error: `rogue_act` gave no reason for its failure\n"), "{}", ran.stderr);
}

#[test]
fn half_of_an_emoji_is_replaced() {
    let played = Stage::new("answers_half_an_emoji").calls_each(&["{}", "{}"]).then_the_other().play(0);
    played.assert_the_other_went_on();
    assert_eq!(played.answers("rogue_act"), ["cut \u{fffd}", "cut \u{fffd}"]);
    insta::assert_snapshot!(played.said(), @"
    warning: server `rogue`: some of its text is not valid Unicode, such as half of an emoji, and was replaced by U+FFFD
    2 passed in [time]
    ");
}

#[test]
fn text_in_another_encoding_is_replaced() {
    let played = Stage::new("answers_in_another_encoding").then_the_other().play(0);
    played.assert_the_other_went_on();
    assert_eq!(played.answers("rogue_act"), ["a caf\u{fffd}"]);
}

#[test]
fn many_log_messages_do_not_fill_the_record() {
    let played = Stage::new("chatters").then_the_other().play(0);
    played.assert_the_other_went_on();
    let notes = played.notes();
    assert_eq!(notes.lines().count(), 1_001);
    let last = "warning: too many log messages; the rest are left out";
    assert_eq!(notes.lines().last(), Some(last));
}

#[test]
fn a_protocol_error_is_a_failed_tool() {
    insta::assert_snapshot!(check_failed(Stage::new("errs_at_length")).said(), @r#"
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Act": `rogue_act` failed: Internal error

    1 passed, 1 failed in [time]
    "#);
}

#[test]
fn the_first_of_two_answers_counts() {
    let played = Stage::new("answers_twice").calls_each(&["{}", "{}"]).then_the_other().play(0);
    played.assert_the_other_went_on();
    assert_eq!(played.answers("rogue_act"), ["did it", "did it"]);
    insta::assert_snapshot!(played.said(), @r"
    warning: server `rogue`: it answered the same request twice
    2 passed in [time]
    ");
}

#[test]
fn only_pings_of_a_server_are_answered() {
    let played = Stage::new("asks_in_return").play(0);
    let heard: Vec<Value> = serde_json::from_str(&played.answers("rogue_act")[0]).expect("a list");
    let refused = |method: &str| json!({"code": -32601, "message": format!("Trailblaze does not offer `{method}` to its tool servers")});
    let may_not = "the server `rogue` may not ask a model: set `sampling: true` in its entry to allow that";
    assert_eq!(heard, [json!({}), json!({"code": -32601, "message": may_not}), refused("roots/list")]);
}

/// Plays a stage with a model whose only reply is "A cat."
fn play_with_a_model(stage: Stage, code: i32) -> Played {
    stage.project().write("replies.yaml", "replies: [{reply: {text: A cat.}}]\n");
    let run = ["run", "--pictures", "off", "-d", "android/sim-1", "--model", "scripted/replies.yaml"];
    let ran = stage.finish(stage.command(&run));
    stage.judge(ran.exits(code), code)
}

#[test]
fn bad_requests_for_a_model_are_refused_one_by_one() {
    let played = play_with_a_model(Stage::new("asks_a_model_badly").with("sampling: true"), 0);
    let heard: Vec<String> = serde_json::from_str(&played.answers("rogue_act")[0]).expect("a list");
    assert_eq!(
        heard,
        [
            "`messages` must be a list with at least one message",
            "`maxTokens` must be a positive whole number, got -1",
            "the `data` of a picture must be base64",
            "`tools` are not supported in requests to a model",
            "Unknown invocation ID: c-nothing. The tool call may have completed or timed out.",
            "the request is larger than 8 MiB",
            "A cat.",
        ]
    );
}

#[test]
fn input_that_is_not_offered_fails_the_call() {
    let check = |keys: &[&str], asked: &str, expected: &str| {
        let stage = Stage::new("requires_input_of_all_kinds").calls(&format!("{{text: {asked}}}"));
        let stage = keys.iter().fold(stage, |stage, key| stage.with(key));
        let played = play_with_a_model(stage, 1);
        assert_eq!(played.answers("rogue_act"), [format!("it asked for input: {expected}")]);
    };
    let sampling = ["sampling: true"];
    check(&sampling, "person", "Trailblaze does not offer `elicitation/create` to its tool servers");
    check(&sampling, "roots", "Trailblaze does not offer `roots/list` to its tool servers");
    check(&[], "sampling", "its entry does not have `sampling: true`, so it may not ask a model");
    check(&sampling, "bad", "`messages` must be a list with at least one message");
    check(&sampling, "list", "`inputRequests` must be an object, got [1]");
    check(&sampling, "nothing", "its answer has neither `inputRequests` nor a `requestState`");
}

#[test]
fn progress_keeps_a_long_call_alive() {
    let played = with_a_limit(|limit| {
        // It works for longer than the limit, and reports five times within it.
        let pause = limit.trim_end_matches('s').parse::<f64>().expect("seconds") / 5.0;
        let stage = Stage::new("works_long_and_says_so").with(&format!("callTimeout: {limit}"));
        let played = stage.calls(&format!("{{text: '{pause}'}}")).play_to_any_end();
        (played.answers("rogue_act") == ["counted"]).then_some(played)
    });
    assert_eq!(played.ran.code, Some(0));
    let expected: Vec<String> = (1..=8).map(|number| format!("info: {number}/8 counting")).collect();
    // On a busy machine, a report may take so long that its silence is told.
    let notes = played.notes();
    let reports: Vec<&str> = notes.lines().filter(|note| !note.starts_with("info: silent for ")).collect();
    assert_eq!(reports, expected);
}

#[test]
fn delegates_that_delegate_to_themselves() {
    insta::assert_snapshot!(check_failed(Stage::new("delegates_to_itself")).said(), @r#"
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Act": `rogue_act` failed: its delegate `rogue_act` failed: a cycle of calls: rogue_act → rogue_act

    1 passed, 1 failed in [time]
    "#);
}

#[test]
fn delegates_that_nest_without_end() {
    let played = check_failed(Stage::new("delegates_ever_deeper"));
    let answers = played.answers("rogue_act");
    assert_eq!(answers.len(), 17, "the last one is refused");
    let chain = ["rogue_act"; 17].join(" ← ");
    assert_eq!(answers[0], format!("calls nest deeper than 16: {chain}"));
}

#[test]
fn unknown_delegates() {
    insta::assert_snapshot!(check_failed(Stage::new("delegates_to_the_unknown")).said(), @r#"
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Act": `rogue_act` failed: its delegate `tapp` failed: unknown tool `tapp`; did you mean `tap`?

    1 passed, 1 failed in [time]
    "#);
}

#[test]
fn delegates_with_wrong_arguments() {
    insta::assert_snapshot!(check_failed(Stage::new("delegates_with_wrong_arguments")).said(), @r#"
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Act": `rogue_act` failed: its delegate `inputText` failed: `inputText`: `text`: 5 is not of type "string"

    1 passed, 1 failed in [time]
    "#);
}

#[test]
fn ten_thousand_delegates() {
    let played = check_failed(Stage::new("delegates_ten_thousand"));
    insta::assert_snapshot!(played.said(), @r#"
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Act": `rogue_act` failed: the answer contains 10000 delegates; the limit is 200

    1 passed, 1 failed in [time]
    "#);
    assert_eq!(played.answers("rogue_rest").len(), 0);
}

#[test]
fn delegates_that_are_not_a_list() {
    insta::assert_snapshot!(check_failed(Stage::new("delegates_no_list")).said(), @r#"
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Act": `rogue_act` failed: its delegates are malformed: `_trailblaze_delegates` must be a list, got {"tool":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…

    1 passed, 1 failed in [time]
    "#);
}

#[test]
fn a_delegate_without_a_tool() {
    let played = check_failed(Stage::new("delegates_the_nameless"));
    insta::assert_snapshot!(played.said(), @r#"
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Act": `rogue_act` failed: its delegates are malformed: number 2 has no `tool`

    1 passed, 1 failed in [time]
    "#);
    assert_eq!(played.answers("rogue_rest").len(), 0, "nothing of a list that makes no sense is carried out");
}

#[test]
fn a_delegate_whose_arguments_are_not_an_object() {
    insta::assert_snapshot!(check_failed(Stage::new("delegates_odd_arguments")).said(), @r#"
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Act": `rogue_act` failed: its delegates are malformed: `args` of `rogue_rest` must be an object, got "text: x"

    1 passed, 1 failed in [time]
    "#);
}

#[test]
fn cancelling_reaches_the_server() {
    let stage = Stage::new("never_answers");
    let running = stage.start();
    wait_until("the call arrives", || stage.project().root().join("called").exists().then_some(()));
    running.interrupt();
    let ran = stage.project().ended(running).exits(2);
    let played = stage.judge(ran, 2);
    insta::assert_snapshot!(played.said(), @r#"
    cancelling; press Ctrl-C again to stop immediately
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Act": cancelled

    0 passed, 1 cancelled in [time]
    "#);
    insta::assert_snapshot!(played.log(), @"cancelled: cancelled");
}
