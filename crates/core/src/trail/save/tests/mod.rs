//! Tests of saving recordings, with examples and random files.

use super::*;

fn check(before: &str, calls: Value, expected: &str) {
    let source = Source::new("a.trail.yaml", before);
    let recording = StepCalls { slot: Slot::Step(0), calls: calls.as_array().unwrap().clone() };
    match save(&source, "android", &[recording]) {
        Ok(after) => assert_eq!(after, expected),
        Err(error) => panic!("{error}\n{before}"),
    }
}

#[test]
fn a_first_recording_is_added_behind_the_step() {
    check(
        "trail:\n  - step: Pay # now\n  - step: Wait\n",
        json!([{"tap": {"text": "Pay"}}]),
        "trail:\n  - step: Pay # now\n    recording:\n      android:\n        - tap:\n            text: Pay\n  - step: Wait\n",
    );
    check("trail:\n- step: Pay", json!([]), "trail:\n- step: Pay\n  recording:\n    android: []");
}

#[test]
fn only_the_slot_of_this_classifier_changes() {
    check(
        "trail:\n  - step: Pay\n    recording:\n      ios: [] # iOS has none\n      android:\n        - old: {}\n    # end\n",
        json!([{"tap": {"id": "0"}}]),
        "trail:\n  - step: Pay\n    recording:\n      ios: [] # iOS has none\n      android:\n        - tap:\n            id: '0'\n    # end\n",
    );
    check(
        "trail:\n  - step: Pay\n    recording:\n      ios:\n        - back: {}\n    maxRetries: 2\n",
        json!([{"back": {}}]),
        "trail:\n  - step: Pay\n    recording:\n      ios:\n        - back: {}\n      android:\n        - back: {}\n    maxRetries: 2\n",
    );
}

#[test]
fn flow_style_stays_on_its_line() {
    check(
        "trail: [{step: Pay}, {step: Wait}]\n",
        json!([{"tap": {"text": "a, b"}}]),
        "trail: [{step: Pay, recording: {android: [{tap: {text: 'a, b'}}]}}, {step: Wait}]\n",
    );
    check(
        "trail:\n  - step: Pay\n    recording: {ios: [], android: [{old: {}}]}\n",
        json!([]),
        "trail:\n  - step: Pay\n    recording: {ios: [], android: []}\n",
    );
}

#[test]
fn other_line_ends_are_kept() {
    check(
        "trail:\r\n  - step: Pay\r\n",
        json!([{"back": {}}]),
        "trail:\r\n  - step: Pay\r\n    recording:\r\n      android:\r\n        - back: {}\r\n",
    );
}

fn refused(before: &str, recording: StepCalls) -> SaveError {
    let source = Source::new("a.trail.yaml", before);
    save(&source, "android", &[recording]).expect_err(before)
}

#[test]
fn a_file_that_would_not_read_back_is_left_alone() {
    let path = || "a.trail.yaml".to_string();
    let of = |slot: Slot| StepCalls { slot, calls: vec![json!({"back": {}})] };
    let alias = "trail:\n  - &s {step: Pay}\n  - *s\n";
    assert_eq!(refused(alias, of(Slot::Step(1))), SaveError::Unsafe { path: path() });
    let shared = "trail:\n  - step: a\n    recording: &r {ios: []}\n  - step: b\n    recording: *r\n";
    assert_eq!(refused(shared, of(Slot::Step(0))), SaveError::Unsafe { path: path() });
    assert_eq!(refused(shared, of(Slot::Step(1))), SaveError::Unsafe { path: path() });
    let explicit = "trail:\n  - step: a\n    ? recording\n";
    assert_eq!(refused(explicit, of(Slot::Step(0))), SaveError::Unsafe { path: path() });
    let head = "trailhead: launch\ntrail:\n  - step: a\n";
    assert_eq!(refused(head, of(Slot::Trailhead)), SaveError::TrailheadIsTool { path: path() });
    assert_eq!(refused("trail: [{step: a}]", of(Slot::Trailhead)), SaveError::NoTrailhead { path: path() });
    assert_eq!(refused("trail: [{step: a}]", of(Slot::Step(1))), SaveError::NoSuchStep { path: path(), number: 2 });
    let long = StepCalls { slot: Slot::Trailhead, calls: vec![json!({"a": {}}), json!({"b": {}})] };
    let head = "trailhead: {step: go}\ntrail:\n  - step: a\n";
    assert_eq!(refused(head, long), SaveError::TrailheadTooLong { path: path(), count: 2 });
    let list = "- prompts:\n    - step: a\n";
    assert_eq!(refused(list, of(Slot::Step(0))), SaveError::ListForm { path: path() });
}

#[test]
fn a_step_that_is_not_recordable_gets_no_recording() {
    let text = "trail:\n  - step: Pay\n    recordable: false\n";
    check(text, json!([{"back": {}}]), text);
}

#[test]
fn a_slot_that_says_the_same_stays_as_it_is_written() {
    let text = "trail:\n  - step: Pay\n    recording: {\"android\": [\"tap\": {id: \"a\"}]} # by hand\n";
    check(text, json!([{"tap": {"id": "a"}}]), text);
}

#[test]
fn comments_around_the_slot_stay_where_they_are() {
    check(
        "trail:\n  - step: Pay\n    recording: # of June\n    # end\n",
        json!([{"back": {}}]),
        "trail:\n  - step: Pay\n    recording: # of June\n      android:\n        - back: {}\n    # end\n",
    );
    check(
        "trail:\n  - step: Pay\n    recording: {} # none\n",
        json!([{"back": {}}]),
        "trail:\n  - step: Pay\n    recording: # none\n      android:\n        - back: {}\n",
    );
    check(
        "trail:\n  - step: Pay\n    recording:\n      'android' : # here\n      # and\n      - old: # last\n      # end\n",
        json!([]),
        "trail:\n  - step: Pay\n    recording:\n      'android' : # here\n      # and\n       [] # last\n      # end\n",
    );
    check(
        "trail:\n  - step: Pay\n    recording: {ios: [] # a\n      , # b\n      }\n",
        json!([]),
        "trail:\n  - step: Pay\n    recording: {ios: [], android: [] # a\n      , # b\n      }\n",
    );
}

#[test]
fn a_text_with_blank_lines_at_its_end_keeps_them() {
    check(
        "trail:\n  - step: |+\n      Pay\n\n\n  - step: Wait\n",
        json!([]),
        "trail:\n  - step: |+\n      Pay\n\n\n    recording:\n      android: []\n  - step: Wait\n",
    );
    check(
        "trail:\n  - step: >-\n      Pay\n      now\n\n  # next\n  - step: Wait\n",
        json!([]),
        "trail:\n  - step: >-\n      Pay\n      now\n    recording:\n      android: []\n\n  # next\n  - step: Wait\n",
    );
}

mod layouts;
