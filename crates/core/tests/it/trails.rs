//! Trail files: the grammar, every mistake with its place, and what scalars mean.

use serde_json::{Value, json};
use trailblaze_core::engine::dispatch::{Call, dispatch};
use trailblaze_core::testing::{FakeDriver, FakeSource, TestPage, TestWiring};
use trailblaze_core::trail::{Form, StepPlan, Trail};
use trailblaze_core::yaml::Source;
use trailblaze_protocol::event::{CallOrigin, StepKind};
use trailblaze_protocol::outcome::Outcome;

/// Reads a trail, and compares its problems.
fn check(text: &str, expected: &[&str]) {
    let (trail, problems) = Trail::read(&Source::new("a", text));
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems, expected, "{text}");
    assert_eq!(trail.is_some(), expected.is_empty(), "{text}");
}

fn trail(text: &str) -> Trail {
    check(text, &[]);
    Trail::read(&Source::new("a", text)).0.unwrap()
}

#[test]
fn the_whole_grammar_is_read() {
    let trail = trail(
        "config:
  id: clock/set-alarm
  target: clock
  title: Set an alarm
  description: Sets it.
  priority: P1
  context: A clock.
  tags: [smoke, clock]
  metadata: {owner: me, ticket: 12}
  devices: {android: ANDROID_ONDEVICE_ACCESSIBILITY}
  skip: {ios: no clock, web: ''}
  memory: {time: 07:30, count: 010}
  args: {who: string, n: {type: integer, description: How many., default: 2}, fast: {type: boolean, required: false}}
trailhead:
  step: Launch the clock
  recording: {android: {clock_android_launchApp: {}}, ios: {}}
trail:
  - step: Open the alarms
    recording:
      android: [{tap: {id: alarms}}, {wait: }]
      ios: []
    maxRetries: 2
  - verify: It is listed
    recordable: false
  - step: Everywhere
    tools: [{pressBack: {}}]
",
    );
    assert_eq!((trail.id().as_str(), trail.title().as_str()), ("clock/set-alarm", "Set an alarm"));
    assert_eq!(trail.config.memory.0, [("time".into(), "07:30".into()), ("count".into(), "010".into())]);
    let head = trail.trailhead.unwrap().0;
    assert_eq!((head.kind, head.recording.get("android").unwrap().len()), (StepKind::Trailhead, 1));
    assert_eq!(head.plan(&["ios".into()]), StepPlan::Recording { classifier: "ios".into(), calls: &[] });
    let kinds: Vec<StepKind> = trail.steps.iter().map(|step| step.kind).collect();
    assert_eq!(kinds, [StepKind::Step, StepKind::Verify, StepKind::Step]);
    assert_eq!((trail.steps[0].max_retries, trail.steps[1].is_recordable), (Some(2), false));
    assert_eq!(trail.steps[1].plan(&["android".into()]), StepPlan::Model);
}

#[test]
fn a_file_may_contain_only_config() {
    check("config: {id: x}\n", &[]);
}

#[test]
fn files_that_are_not_trails_are_rejected() {
    check("", &["a:1:1: the file contains no trail"]);
    check("trail: []\n", &["a:1:1: `trail` has no steps"]);
    check("trailhead: {step: Open}\n", &["a:1:1: a trail with a trailhead needs steps: `trail` is missing"]);
    check("- step: Pay\n", &["a:1:3: a step is outside of `trail:` (write `trail:` above the steps)"]);
    check(
        "steps: [{step: Pay}]\ntrail: [{step: Pay}]\n",
        &["a:1:1: unknown key `steps` (expected one of: config, trailhead, forEach, before, trail, after)"],
    );
    check("trail: {step: Pay}\n", &["a:1:8: expected a list, found a mapping"]);
    check("trail: [{step: Pay}\n", &["a:2:1: invalid YAML: while parsing a flow sequence, expected ',' or ']'"]);
    check(
        "trail: [{step: Pay}]\ntrail: [{step: Pay}]\n",
        &["a:2:1: the key `trail` is duplicated (the first one is on line 1; remove one of them)"],
    );
}

#[test]
fn a_step_has_one_text_and_no_unknown_keys() {
    check(
        "trail:\n  - {step: Pay, verify: Paid}\n",
        &["a:2:25: a step must have either `step` or `verify`, not both (split it into two steps)"],
    );
    check("trail:\n  - recording: {android: []}\n", &["a:2:5: a step requires `step` or `verify`"]);
    check("trail:\n  - step: ' '\n", &["a:2:11: the step is empty"]);
    check(
        "trail:\n  - step: Pay\n    recordin: {android: []}\n",
        &["a:3:5: unknown key `recordin` (did you mean `recording`?)"],
    );
    check(
        "trail:\n  - step: Pay\n    android: [{tap: {}}]\n",
        &["a:3:5: `android` is next to the step (put it under `recording:`, as `recording: {android: […]}`)"],
    );
    check(
        "trail:\n  - step: Pay\n    maxRetries: -1\n",
        &["a:3:17: expected a whole number from 0 to 4294967295, found `-1`"],
    );
    check("trail:\n  - step: Pay\n    recordable: maybe\n", &["a:3:17: expected true or false, found `maybe`"]);
    check(
        "trail:\n  - Pay\n",
        &["a:2:5: expected a mapping, found a single value (A step as written: exactly one of `step` and `verify`.)"],
    );
}

#[test]
fn a_step_that_is_not_recordable_has_no_recording() {
    check(
        "trail:\n  - step: Pay\n    recordable: false\n    recording: {android: [{tap: {}}]}\n",
        &["a:4:16: a step that is not recordable has a recording (remove `recordable: false` or the recording)"],
    );
    check("trail:\n  - step: Pay\n    recordable: false\n    recording: {android: []}\n", &[]);
}

#[test]
fn a_call_is_one_tool_with_a_mapping() {
    let with = |call: &str| format!("trail:\n  - step: Pay\n    recording:\n      android:\n        - {call}\n");
    check(
        &with("tap"),
        &["a:5:11: a call must be written as `toolName: {arguments}`, with one tool per item; found a single value"],
    );
    check(
        &with("{tap: {}, wait: {}}"),
        &["a:5:11: a call must be written as `toolName: {arguments}`, with one tool per item; found 2 keys"],
    );
    check(
        &with("tap: pay"),
        &["a:5:16: the arguments of `tap` must be a mapping, not a single value (write `tap: {name: value}`)"],
    );
    check(
        &with("tap: [pay]"),
        &["a:5:16: the arguments of `tap` must be a mapping, not a list (write `tap: {name: value}`)"],
    );
    check(
        "trail:\n  - step: Pay\n    recording: {android: {tap: {}}}\n",
        &["a:3:26: expected a list, found a mapping"],
    );
    check("trail:\n  - step: Pay\n    recording: [{tap: {}}]\n", &["a:3:16: expected a mapping, found a list"]);
}

#[test]
fn a_trailhead_is_a_step_with_at_most_one_call() {
    let with = |head: &str| format!("trailhead: {head}\ntrail: [{{step: Pay}}]\n");
    check(
        &with("{step: Open, recording: {android: [{tap: {}}]}}"),
        &["a:1:46: a trailhead records one call, not a list (write `classifier: {toolName: {…}}`)"],
    );
    check(
        &with("{step: Open, recording: {android: {tap: {}, wait: {}}}}"),
        &["a:1:46: a call must be written as `toolName: {arguments}`, with one tool per item; found 2 keys"],
    );
    check(
        &with("{verify: Open}"),
        &[
            "a:1:13: unknown key `verify` (expected one of: step, recording, tools, recordable, maxRetries, on)",
            "a:1:12: `step` is missing",
        ],
    );
    check(&with("{recording: {android: {tap: {}}}}"), &["a:1:12: `step` is missing"]);
    check(&with("{step: ' '}"), &["a:1:19: the step is empty"]);
    check(&with("{step: Open, recordable: false}"), &[]);
    check(
        &with("{step: Open, recordable: false, recording: {android: {tap: {}}}}"),
        &["a:1:55: a step that is not recordable has a recording (remove `recordable: false` or the recording)"],
    );
}

#[test]
fn config_has_known_keys_with_valid_values() {
    let with = |config: &str| format!("config: {config}\ntrail: [{{step: Pay}}]\n");
    check(&with("{idd: x}"), &["a:1:10: unknown key `idd` (did you mean `id`?)"]);
    check(
        &with("{platform: android}"),
        &[
            "a:1:10: unknown key `platform` (expected one of: id, target, title, description, priority, tags, devices, skip, only, memory, args, groups, prefixes, dialogs, storageState, context, metadata)",
        ],
    );
    check(
        &with("{devices: {android: NOKIA}}"),
        &[
            "a:1:29: unknown driver `NOKIA` (expected one of: android-ondevice-accessibility, android-ondevice-instrumentation, android-host, revyl-android, ios-host, ios-axe, revyl-ios, playwright-native, playwright-electron, desktop-atspi, compose, webdriver, sim)",
        ],
    );
    check(&with("{tags: smoke}"), &["a:1:16: expected a list, found a single value"]);
    check(&with("{memory: {a: [1]}}"), &["a:1:22: `a` must be a single value, not a list"]);
    check(
        &with("{args: {n: float}}"),
        &["a:1:20: unknown value `float` (expected one of: string, integer, boolean, array, object)"],
    );
    check(&with("{args: {n: {type: integer, default: many}}}"), &["a:1:45: `many` is not a whole number"]);
    check(
        &with("{args: {'2nd': string, a-b: string, _ok1: string}}"),
        &[
            "a:1:17: `2nd` is not a valid argument name; use letters, digits and _",
            "a:1:32: `a-b` is not a valid argument name; use letters, digits and _",
        ],
    );
}

#[test]
fn all_problems_are_reported_together() {
    check(
        "config: {idd: x}
trailhead: {step: Open, recording: {android: [{tap: {}}]}}
trail:
  - {step: Pay, verify: Paid}
  - step: Pay
    maxRetries: many
  - step: Pay
    recording: {android: [tap]}
",
        &[
            "a:1:10: unknown key `idd` (did you mean `id`?)",
            "a:2:46: a trailhead records one call, not a list (write `classifier: {toolName: {…}}`)",
            "a:4:25: a step must have either `step` or `verify`, not both (split it into two steps)",
            "a:6:17: expected a whole number from 0 to 4294967295, found `many`",
            "a:8:27: a call must be written as `toolName: {arguments}`, with one tool per item; found a single value",
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn a_text_parameter_gets_the_raw_text() {
    let text = r#"trail:
  - step: Type
    tools:
      - echo: {text: '0123'}
      - echo: {text: no}
      - echo: {text: 010}
      - echo: {text: 1_000}
      - echo: {text: 12}
      - echo: {text: 1.50}
      - echo: {text: true}
      - echo: {text: 2026-01-02}
      - echo: {text: "a\tb"}
      - echo: {n: 12, b: true}
"#;
    let echo =
        FakeSource::new("acme").tool("echo", |_, args| async move { Outcome::value("", Value::Object(args)) }).taking(
            json!({"properties": {"text": {"type": "string"}, "n": {"type": "integer"}, "b": {"type": "boolean"}}}),
        );
    let session =
        TestWiring::new(FakeDriver::new("android/one", [TestPage::new("home", [])])).with(echo.batch()).open();
    let mut got = Vec::new();
    for call in trail(text).steps[0].tools.as_deref().unwrap() {
        got.extend(dispatch(&session.cx(), Call::written(call, CallOrigin::Step)).await.unwrap().structured);
    }
    let texts = ["0123", "no", "010", "1_000", "12", "1.50", "true", "2026-01-02", "a\tb"];
    let mut expected: Vec<Value> = texts.iter().map(|text| json!({"text": text})).collect();
    expected.push(json!({"n": 12, "b": true}));
    assert_eq!(got, expected);
}

#[test]
fn the_older_list_form_is_read() {
    let trail = trail(
        "- config: {id: pay, platform: ios, driver: IOS_HOST, skip: broken, priority: P1, source: {type: HANDWRITTEN}}
- trailhead: {tools: [launchApp: {appId: x}], maxRetries: 1}
- prompts:
    - step: Pay
      recording: {tools: [{tap: {id: pay}}, {unknown: }]}
    - verify: Paid
      recordable: false
    - step: Nothing
      recording: {tools: []}
- tools: [{back: {}}, {wait: {}}]
",
    );
    assert_eq!(trail.form, Form::List);
    assert_eq!(trail.config.skip_reason(&["ios".into()]).as_deref(), Some("broken"));
    assert_eq!(trail.config.devices.drivers.get("ios").map(|driver| driver.as_str()), Some("ios-host"));
    assert_eq!(trail.config.metadata.0, [("source".to_string(), "HANDWRITTEN".to_string())]);
    let steps: Vec<_> = trail.trailhead.iter().map(|head| &head.0).chain(&trail.steps).collect();
    let said: Vec<_> = steps.iter().map(|step| (step.kind, step.text.value.as_str())).collect();
    assert_eq!(
        said,
        [
            (StepKind::Trailhead, "launchApp"),
            (StepKind::Step, "Pay"),
            (StepKind::Verify, "Paid"),
            (StepKind::Step, "Nothing"),
            (StepKind::Step, "back, wait"),
        ]
    );
    // A recording of this form applies to every device.
    let n_calls = |step: &trailblaze_core::trail::Step| match step.plan(&["android".into()]) {
        StepPlan::Authored(calls) => Some(calls.len()),
        _ => None,
    };
    assert_eq!(steps.into_iter().map(n_calls).collect::<Vec<_>>(), [Some(1), Some(2), None, Some(0), Some(2)]);
}

#[test]
fn mistakes_in_the_older_list_form_are_reported_with_their_places() {
    check(
        "- prompts:
    - {step: a, recording: {}}
    - {step: a, verify: b}
    - {step: c, recordable: false, recording: {tools: [tap: {}]}}
- config: {platform: fridge}
- trailhead: {}
- maestro: []
",
        &[
            "a:2:28: `tools` is missing",
            "a:3:25: a step must have either `step` or `verify`, not both (split it into two steps)",
            "a:4:47: a step that is not recordable has a recording (remove `recordable: false` or the recording)",
            "a:5:3: `config` must occur only once, as the first item",
            "a:5:22: unknown platform `fridge` (expected one of: android, ios, web, desktop)",
            "a:6:3: `trailhead` must occur only once, before `prompts` and `tools`",
            "a:6:14: a trailhead requires `step` or `tools`",
            "a:7:3: unknown item `maestro` (expected one of: config, trailhead, prompts, tools)",
        ],
    );
    check("- trailhead: go\n", &["a:1:1: a trail with a trailhead needs steps: `prompts` is missing"]);
    check("- prompts: []\n", &["a:1:12: `prompts` has no steps"]);
    check("[]\n", &["a:1:1: the file contains no trail"]);
}
