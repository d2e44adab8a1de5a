//! Tests of merging sessions into existing trails.

use serde_json::json;

use super::*;

fn step(kind: StepKind, text: &str, calls: NewCalls) -> NewStep {
    NewStep { kind, text: text.into(), calls }
}

fn does(text: &str, tool: &str) -> NewStep {
    step(StepKind::Step, text, NewCalls::Anywhere(vec![json!({ tool: {} })]))
}

fn merged(before: &str, steps: &[NewStep], how: Merge) -> Result<MergedTrail, SaveError> {
    let lineage = ["android-phone".to_string(), "android".to_string()];
    merge(&Source::new("a.trail.yaml", before), &lineage, steps, how)
}

fn check(before: &str, steps: &[NewStep], how: Merge, expected: &str) {
    match merged(before, steps, how) {
        Ok(merged) => assert_eq!(merged.text, expected),
        Err(error) => panic!("{error}\n{before}"),
    }
}

const TRAIL: &str = "\
# Keep me.
config: {id: pay}
trail:
  - step: Open the form # by hand
    recording:
      android:
        - old: {}
      ios:
        - other: {}
  # The amount is checked twice.
  - verify: It asks for an amount
    tools:
      - assert: {}
";

#[test]
fn steps_are_added_behind_the_last_one() {
    check(
        TRAIL,
        &[does("Send it", "send")],
        Merge::Append,
        &format!("{TRAIL}  - step: Send it\n    tools:\n      - send: {{}}\n"),
    );
}

#[test]
fn a_session_that_began_with_the_trail_adds_what_came_after_it() {
    let verify = step(StepKind::Verify, "It asks for an amount", NewCalls::Anywhere(vec![]));
    let steps = [does("Open the form", "open"), verify, does("Send it", "send")];
    let merged = merged(TRAIL, &steps, Merge::Append).unwrap();
    assert_eq!((merged.n_added, merged.n_kept), (1, 2));
    assert!(
        merged.text.ends_with("      - assert: {}\n  - step: Send it\n    tools:\n      - send: {}\n"),
        "{}",
        merged.text
    );
    assert_eq!(super::merge(&Source::new("a", TRAIL), &[], &steps[..2], Merge::Append).unwrap().text, TRAIL);

    // The same trailhead with another text.
    let with_head = "trailhead:\n  step: Begin\n  tools:\n    - launch: {}\ntrail:\n  - step: A\n";
    let head = step(StepKind::Trailhead, "Start the app", NewCalls::Anywhere(vec![json!({"launch": {}})]));
    check(
        with_head,
        &[head, does("A", "a"), does("B", "b")],
        Merge::Append,
        &format!("{with_head}  - step: B\n    tools:\n      - b: {{}}\n"),
    );
}

#[test]
fn replaced_steps_keep_comments_and_what_other_devices_have() {
    let bound = NewCalls::Recorded { classifier: "android".into(), calls: vec![json!({"tap": {"x": 1}})] };
    let steps = [
        step(StepKind::Trailhead, "Start", NewCalls::Anywhere(vec![json!({"launch": {}})])),
        step(StepKind::Step, "Open the form", bound),
        does("Fill it", "fill"),
        step(StepKind::Verify, "It asks for an amount", NewCalls::Anywhere(vec![json!({"assert": {"text": "5"}})])),
    ];
    check(
        TRAIL,
        &steps,
        Merge::Replace,
        "\
# Keep me.
config: {id: pay}
trailhead:
  step: Start
  tools:
    - launch: {}
trail:
  - step: Open the form # by hand
    recording:
      android:
        - tap:
            x: 1
      ios:
        - other: {}
  - step: Fill it
    tools:
      - fill: {}
  # The amount is checked twice.
  - verify: It asks for an amount
    tools:
      - assert:
          text: '5'
",
    );
    let merged = merged(TRAIL, &steps[2..3], Merge::Replace).unwrap();
    assert_eq!((merged.n_added, merged.n_kept, merged.n_removed), (1, 0, 2));
    assert_eq!(
        merged.text,
        "# Keep me.\nconfig: {id: pay}\ntrail:\n  # The amount is checked twice.\n  - step: Fill it\n    tools:\n      - fill: {}\n"
    );
}

#[test]
fn a_step_that_does_what_its_tools_say_has_no_recording_for_this_device() {
    let before = "trail:\n  - step: A\n    tools:\n      - tap: {id: '5'}\n    recording:\n      android-phone: []\n      ios: []\n";
    let same = step(StepKind::Step, "A", NewCalls::Anywhere(vec![json!({"tap": {"id": 5}})]));
    let expected = "trail:\n  - step: A\n    tools:\n      - tap: {id: '5'}\n    recording:\n      ios: []\n";
    check(before, &[same], Merge::Replace, expected);
    // A step that is left to a model has nothing to replay either.
    check(before, &[step(StepKind::Step, "A", NewCalls::None)], Merge::Replace, expected);
}

#[test]
fn what_starts_the_app_stays_the_first_step_of_a_trail_without_a_trailhead() {
    let before = "trail:\n  - step: Open it # first\n    tools:\n      - launch: {}\n";
    let head = step(StepKind::Trailhead, "Open it", NewCalls::Anywhere(vec![json!({"launch": {}})]));
    let expected = format!("{before}  - step: A\n    tools:\n      - a: {{}}\n");
    for how in [Merge::Append, Merge::Replace] {
        check(before, &[head.clone(), does("A", "a")], how, &expected);
    }
}

#[test]
fn a_trail_that_cannot_take_them_says_why() {
    let error = |before: &str, steps: &[NewStep], how| merged(before, steps, how).unwrap_err().to_string();
    let head = step(StepKind::Trailhead, "Start", NewCalls::Anywhere(vec![json!({"launch": {}})]));
    let steps = [head, does("A", "a")];
    assert_eq!(error("config: {id: a}\n", &steps, Merge::Append), "a.trail.yaml has no steps to add to");
    assert_eq!(
        error("trailhead: other\ntrail:\n  - step: A\n", &steps, Merge::Replace),
        "the trailhead of a.trail.yaml is the name of a tool; write it as `step:` and `tools:` to record it"
    );
    assert!(error("- prompts:\n    - step: a\n", &steps, Merge::Append).contains("older list form"));
}
