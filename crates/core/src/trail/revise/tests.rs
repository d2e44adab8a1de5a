//! Tests of several changes in one go, in block and flow style.

use super::*;

fn check(before: &str, changes: &[Change], expected: &str) {
    match revise(&Source::new("a.trail.yaml", before), changes) {
        Ok(after) => assert_eq!(after, expected, "\n{before}"),
        Err(error) => panic!("{error}\n{before}"),
    }
}

fn refused(before: &str, change: Change) {
    let error = revise(&Source::new("a.trail.yaml", before), &[change]).expect_err(before);
    assert_eq!(error, SaveError::Unsafe { path: "a.trail.yaml".into() });
}

fn remove(step: usize, classifiers: &[&str]) -> Change {
    let classifiers = classifiers.iter().map(ToString::to_string).collect();
    Change::RemoveRecordings { step: Slot::Step(step), classifiers }
}

#[test]
fn a_recording_goes_and_the_last_one_takes_its_key_with_it() {
    let two = "trail:\n  - step: Pay # now\n    # why\n    recording: # both\n      ios:\n        - back: {}\n      android: # here\n        - tap:\n            id: a\n    maxRetries: 2\n";
    check(
        two,
        &[remove(0, &["android"])],
        "trail:\n  - step: Pay # now\n    # why\n    recording: # both\n      ios:\n        - back: {}\n    maxRetries: 2\n",
    );
    check(two, &[remove(0, &["android", "ios"])], "trail:\n  - step: Pay # now\n    # why\n    maxRetries: 2\n");
    check(
        "trail:\r\n- step: Pay\r\n  recording: {android: []}\r\n",
        &[remove(0, &["android"])],
        "trail:\r\n- step: Pay\r\n",
    );
    check(
        "trail: [{step: Pay, recording: {ios: [], android: []}}]\n",
        &[remove(0, &["android"])],
        "trail: [{step: Pay, recording: {ios: []}}]\n",
    );
    check(
        "trail: [{step: Pay, recording: {android: [{a: {}}]}, maxRetries: 1}]\n",
        &[remove(0, &["android"])],
        "trail: [{step: Pay, maxRetries: 1}]\n",
    );
    check(
        "trail:\n  - recording:\n      android: []\n    step: Pay\n",
        &[remove(0, &["android"])],
        "trail:\n  - step: Pay\n",
    );
}

#[test]
fn steps_come_and_go_and_what_stands_between_them_stays() {
    let text = "trail:\n  # first\n  - step: A\n    tools:\n      - a: {}\n\n  # second\n  - step: B\n  - {step: C} # last\n# end\n";
    let new = |after: Option<usize>, text: &str| Change::Insert { after, steps: vec![json!({ "step": text })] };
    check(
        text,
        &[Change::RemoveStep(1), new(Some(1), "X"), new(None, "W")],
        "trail:\n  # first\n  - step: W\n  - step: A\n    tools:\n      - a: {}\n\n  # second\n  - step: X\n  - {step: C} # last\n# end\n",
    );
    check(
        text,
        &[Change::RemoveStep(0), Change::RemoveStep(1), Change::RemoveStep(2), new(Some(2), "Z")],
        "trail:\n  # first\n\n  # second\n  - step: Z\n# end\n",
    );
    check(
        "trail: [{step: A}, {step: B}]\n",
        &[Change::RemoveStep(0), new(Some(1), "C")],
        "trail: [{step: B}, {step: C}]\n",
    );
}

#[test]
fn tools_and_a_trailhead_are_put_where_they_belong() {
    let put = |calls: Value| Change::PutTools { step: Slot::Step(0), calls };
    check(
        "config: {id: a}\n# the steps\ntrail:\n- step: A\n  tools: # by hand\n  - old: {}\n",
        &[put(json!([{"new": {}}])), Change::AddTrailhead(json!({"step": "Go"}))],
        "config: {id: a}\n# the steps\ntrailhead:\n  step: Go\ntrail:\n- step: A\n  tools: # by hand\n  - new: {}\n",
    );
    check(
        "trail:\n  - step: A # first\n",
        &[put(json!([{"new": {}}]))],
        "trail:\n  - step: A # first\n    tools:\n      - new: {}\n",
    );
}

#[test]
fn what_others_share_is_left_alone() {
    let shared = "trail:\n  - step: a\n    recording: &r {android: []}\n  - step: b\n    recording: *r\n";
    refused(shared, remove(0, &["android"]));
    refused("trail:\n  - &s {step: a}\n  - *s\n", Change::RemoveStep(0));
    refused("trail:\n  - step: a\n", remove(0, &["android"]));
}
