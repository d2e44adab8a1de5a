//! Recording calls of an interactive session into a trail that replays on another device.

use serde_json::{Value, json};
use trailblaze_core::callers::preflight::preflight;
use trailblaze_core::record::fold::{RecordedStep, fold};
use trailblaze_core::testing::{FakeDriver, FakeSource, Page, TestSession, Wiring, button, field, label};
use trailblaze_core::trail::{Slot, StepCalls, Trail, lineage, save};
use trailblaze_core::yaml::Source;
use trailblaze_protocol::event::{Event, Line, Parsed, Plan, StepKind, Verdict};
use trailblaze_protocol::ids::StepId;
use trailblaze_protocol::outcome::Outcome;

fn shop(id: &str) -> FakeDriver {
    let pages = [
        Page::new("home", [field("name"), button("pay", "Pay"), button("", "Help")]),
        Page::new("done", [label("message", "Thanks")]),
    ];
    FakeDriver::new(id, pages).link("pay", "done")
}

/// A session in which an interactive step has started.
fn prompt(source: FakeSource) -> TestSession {
    let wiring = Wiring::new(shop("android/one")).with(source.batch()).secret("PIN", "canary-4711");
    let session = wiring.remembering(json!({"who": "Ada"})).open();
    session.inner.emit(Event::StepStarted {
        step: StepId::new("step"),
        attempt: session.attempt.id.clone(),
        index: 0,
        kind: StepKind::Step,
        text: "Do it".into(),
        plan: Plan::Interactive,
    });
    session
}

async fn reference(session: &TestSession, text: &str) -> Value {
    let screen = session.call("captureScreen", json!({})).await.unwrap().structured.unwrap();
    find(&screen["root"], &|element| element["text"] == text).unwrap()["ref"].clone()
}

fn find<'a>(element: &'a Value, is_wanted: &dyn Fn(&Value) -> bool) -> Option<&'a Value> {
    if is_wanted(element) {
        return Some(element);
    }
    element["children"].as_array()?.iter().find_map(|child| find(child, is_wanted))
}

/// Compares the recording of the step, from the events and from their JSON.
fn check(session: &TestSession, calls: &[Value], needs_model: &[&str]) -> RecordedStep {
    let events = session.events.all();
    let steps = fold(&session.attempt.id, &events);
    assert_eq!((steps[0].calls.as_slice(), &steps[0].needs_model[..]), (calls, &owned(needs_model)[..]));
    let lines = events.into_iter().map(|event| serde_json::to_string(&Line { at: 0, event }).unwrap());
    let read: Vec<Event> = lines
        .map(|line| match Line::parse(&line) {
            Parsed::Line(line) => line.event,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(fold(&session.attempt.id, &read), steps);
    steps[0].clone()
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

#[tokio::test(start_paused = true)]
async fn an_interactive_session_replays_on_another_device() {
    let one = prompt(FakeSource::new("acme"));
    let calls = [
        ("tap", json!({"id": "name"})),
        ("inputText", json!({"text": "0123", "hideKeyboardAfter": false})),
        ("eraseText", json!({"charactersToErase": 1})),
        ("inputText", json!({"text": "no {{who}}: {{PIN}}"})),
        ("tap", json!({"ref": reference(&one, "Help").await})),
        ("isVisible", json!({"id": "pay"})),
        ("tap", json!({"id": "nobody"})),
        ("tap", json!({"ref": reference(&one, "Pay").await})),
        ("assertVisible", json!({"text": "Thanks"})),
    ];
    for (tool, arguments) in calls {
        one.call(tool, arguments).await.unwrap();
    }
    let recorded = [
        json!({"tap": {"id": "name"}}),
        json!({"inputText": {"text": "0123", "hideKeyboardAfter": false}}),
        json!({"eraseText": {"charactersToErase": 1}}),
        json!({"inputText": {"text": "no {{who}}: {{PIN}}"}}),
        json!({"tap": {"text": "Help"}}),
        json!({"tap": {"id": "pay"}}),
        json!({"assertVisible": {"text": "Thanks"}}),
    ];
    let step = check(&one, &recorded, &[]);

    let before =
        "config: {memory: {who: Ada}} # kept\ntrail:\n  - step: Buy it # at once\n  - step: Wait\n    tools: []\n";
    let source = Source::new("buy.trail.yaml", before);
    let slot = StepCalls { slot: Slot::Step(step.index), calls: step.calls };
    let saved = save(&source, "android-phone", &[slot]).unwrap();
    assert!(saved.starts_with("config: {memory: {who: Ada}} # kept\ntrail:\n  - step: Buy it # at once\n"), "{saved}");
    assert!(saved.ends_with("  - step: Wait\n    tools: []\n"), "{saved}");
    assert!(!saved.contains("canary"), "{saved}");

    let (trail, problems) = Trail::read(&Source::new("buy.trail.yaml", saved));
    assert_eq!(problems, []);
    let trail = trail.unwrap();
    let two = Wiring::new(shop("android/two")).secret("PIN", "canary-4711").open();
    let lineage = lineage(&["android".into(), "phone".into()]);
    assert_eq!(preflight(&trail, &two.inner.registry(), &lineage, None), []);
    let ended = two.replay(&trail).await;
    assert_eq!((ended.verdict, ended.message.as_str()), (Verdict::Passed, ""));
    assert_eq!(two.driver.done(), one.driver.done());
    assert!(two.driver.done().iter().any(|done| done.contains("canary-4711")));
}

#[tokio::test(start_paused = true)]
async fn a_custom_tool_is_recorded_by_its_own_call_and_a_delegating_one_by_its_delegates() {
    let source = FakeSource::new("acme")
        .calling("login", "tap", json!({"id": "name"}))
        .delegating("checkout", &[("asks", json!({})), ("pressBack", json!({}))])
        .delegating("asks", &[("tap", json!({"text": "Help"}))]);
    let session = prompt(source);
    session.call("login", json!({"who": "{{who}}"})).await.unwrap();
    session.call("checkout", json!({})).await.unwrap();
    check(
        &session,
        &[json!({"login": {"who": "{{who}}"}}), json!({"tap": {"text": "Help"}}), json!({"pressBack": {}})],
        &[],
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_that_cannot_be_recorded_makes_the_step_need_a_model() {
    let source = FakeSource::new("acme")
        .calling("judge", "tap", json!({"id": "name"}))
        .marked(|tool| tool.is_recordable = false)
        .answering("dismiss", Outcome::delegating(vec![]))
        .marked(|tool| (tool.is_recordable, tool.is_delegating) = (false, true));
    let session = prompt(source);
    session.call("dismiss", json!({})).await.unwrap();
    session.call("judge", json!({})).await.unwrap();
    check(&session, &[], &["judge"]);
}

#[tokio::test(start_paused = true)]
async fn a_typed_secret_is_recorded_as_its_placeholder() {
    let session = prompt(FakeSource::new("acme"));
    session.call("inputText", json!({"text": "canary-4711"})).await.unwrap();
    check(&session, &[json!({"inputText": {"text": "{{PIN}}"}})], &[]);
    assert_eq!(session.driver.done()[0], "InputText { text: \"canary-4711\" }");
}

#[tokio::test(start_paused = true)]
async fn a_stale_ref_is_a_failure() {
    let session = prompt(FakeSource::new("acme"));
    let pay = reference(&session, "Pay").await;
    session.call("tap", json!({"id": "pay"})).await.unwrap();
    let outcome = session.call("tap", json!({"ref": pay})).await.unwrap();
    let reference = pay.as_str().unwrap();
    assert_eq!(outcome, Outcome::failed(format!("ref {reference} is no longer on the screen; take a new snapshot")));
    check(&session, &[json!({"tap": {"id": "pay"}})], &[]);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_records_its_trailhead_apart_from_its_steps() {
    let text =
        "trailhead: {step: Open, tools: [{pressHome: {}}]}\ntrail:\n  - step: Pay\n    tools: [{tap: {id: pay}}]\n";
    let (trail, _) = Trail::read(&Source::new("a.trail.yaml", text));
    let session = Wiring::new(shop("android/one")).open();
    let ended = session.replay(&trail.unwrap()).await;
    let steps = fold(&ended.attempt, &session.events.all());
    let steps: Vec<_> = steps.into_iter().map(|step| (step.index, step.kind, step.calls)).collect();
    assert_eq!(
        steps,
        [
            (0, StepKind::Trailhead, vec![json!({"pressHome": {}})]),
            (1, StepKind::Step, vec![json!({"tap": {"id": "pay"}})]),
        ]
    );
}
