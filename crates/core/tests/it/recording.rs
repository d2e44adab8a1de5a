//! Recording calls of an interactive session into a trail that replays on another device.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use trailblaze_core::callers::preflight::preflight;
use trailblaze_core::record::fold::{RecordedStep, fold};
use trailblaze_core::testing::{FakeDriver, FakeSource, TestPage, TestSession, TestWiring, args, button, field, label};
use trailblaze_core::trail::{Slot, StepCalls, Trail, TrailDevice, save};
use trailblaze_core::yaml::Source;
use trailblaze_protocol::event::{Event, Line, Parsed, Plan, StepKind, ToolKind, Verdict};
use trailblaze_protocol::ids::StepId;
use trailblaze_protocol::outcome::{Delegate, MemoryChanges, Outcome};

fn shop(id: &str) -> FakeDriver {
    let pages = [
        TestPage::new("home", [field("name"), button("pay", "Pay"), button("", "Help")]),
        TestPage::new("done", [label("message", "Thanks")]),
    ];
    FakeDriver::new(id, pages).link("pay", "done")
}

/// A session in which an interactive step has started.
fn prompt(source: FakeSource) -> TestSession {
    let wiring = TestWiring::new(shop("android/one")).with(source.batch()).secret("PIN", "canary-4711");
    let session = wiring.remembering(json!({"who": "Ada"})).open();
    session.inner.emit(Event::StepStarted {
        step: StepId::new("step"),
        attempt: session.attempt.id.clone(),
        index: 0,
        kind: StepKind::Step,
        text: "Do it".into(),
        plan: Plan::Interactive,
        role: None,
        hook: None,
        heading: None,
        place: None,
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
    let two = TestWiring::new(shop("android/two")).secret("PIN", "canary-4711").open();
    let phone = TrailDevice::new(None, &["android".into(), "phone".into()]);
    assert_eq!(preflight(&trail, &two.inner.registry(), &phone, None), []);
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
    let session = TestWiring::new(shop("android/one")).open();
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

#[tokio::test(start_paused = true)]
async fn the_result_of_a_call_is_remembered_recorded_and_played() {
    let acme = || {
        FakeSource::new("acme")
            .answering("order", Outcome::value("ordered", json!({"id": 7, "lines": [{"text": "Pay"}]})))
            .answering("code", Outcome::success("4711"))
    };
    let text = "trail:\n  - step: Order\n    tools:\n      - order: {}\n        as: order\n      - {as: code, code: {}}\n      \
                - isVisible: {id: pay}\n        as: payable\n      - inputText: {text: '{{order.id}} {{code}} {{payable}}'}\n      \
                - tap: {text: '{{order.lines.0.text}}'}\n";
    let (trail, problems) = Trail::read(&Source::new("a.trail.yaml", text));
    assert_eq!(problems, []);
    let trail = trail.unwrap();
    let session = TestWiring::new(shop("android/one")).with(acme().batch()).open();
    let ended = session.replay(&trail).await;
    assert_eq!((ended.verdict, ended.message.as_str()), (Verdict::Passed, ""));
    assert!(session.driver.done()[0].contains("7 4711 true"), "{:?}", session.driver.done());

    let steps = fold(&ended.attempt, &session.events.all());
    assert_eq!(
        steps[0].calls[..3],
        [
            json!({"order": {}, "as": "order"}),
            json!({"code": {}, "as": "code"}),
            json!({"isVisible": {"id": "pay"}, "as": "payable"})
        ]
    );
    let slot = StepCalls { slot: Slot::Step(0), calls: steps[0].calls.clone() };
    let saved = save(&Source::new("a.trail.yaml", "trail:\n  - step: Order\n"), "android", &[slot]).unwrap();
    let (again, problems) = Trail::read(&Source::new("a.trail.yaml", saved.clone()));
    assert_eq!(problems, [], "{saved}");
    let two = TestWiring::new(shop("android/two")).with(acme().batch()).open();
    assert_eq!(two.replay(&again.unwrap()).await.verdict, Verdict::Passed);
    assert_eq!(two.driver.done(), session.driver.done());
}

#[test]
fn a_result_needs_a_name_and_a_call_only_one_tool() {
    let message = |call: &str| {
        let text = format!("trail:\n  - step: Order\n    tools: [{call}]\n");
        let (_, problems) = Trail::read(&Source::new("a.trail.yaml", text));
        problems.first().map(|problem| problem.message.clone()).unwrap_or_default()
    };
    assert_eq!(
        message("{order: {}, as: the order}"),
        "`as:` needs a name for the result: letters, digits and _, not `the order`"
    );
    assert_eq!(message("{order: {}, as: [a]}"), "`as:` needs a name for the result: letters, digits and _, not a list");
    assert!(message("{order: {}, tap: {}}").ends_with("found 2 keys"), "{}", message("{order: {}, tap: {}}"));
    assert!(message("{order: {}, tap: {}, as: a}").ends_with("found 3 keys"));
}

/// What a tool does: calls that it makes itself, values that it remembers, and calls that it returns.
#[derive(Debug, Clone)]
struct Does {
    mark: Mark,
    calls: Vec<(String, Value)>,
    remembers: Vec<(String, i32)>,
    delegates: Vec<(String, Value)>,
}

#[derive(Debug, Clone, Copy)]
enum Mark {
    None,
    Query,
    Delegating,
}

/// A tool that uses tools with greater numbers.
fn any_tool(number: usize) -> impl Strategy<Value = Does> {
    let call = prop_oneof![
        Just(("tap".to_string(), json!({"text": "Help"}))),
        "[a-c]".prop_map(|name| ("inputText".to_string(), json!({"text": format!("<{{{{{name}}}}}>")}))),
        "[a-c]".prop_map(|name| ("remember".to_string(), json!({"variable": name, "value": "text"}))),
        Just(("isVisible".to_string(), json!({"id": "pay"}))),
        (number + 1..=N_TOOLS).prop_map(|other| (format!("tool{}", other.min(N_TOOLS - 1)), json!({}))),
    ];
    // The last tool calls no other.
    let call = call.prop_filter("calls a later tool", move |(tool, _)| *tool != format!("tool{number}"));
    let mark = prop_oneof![Just(Mark::None), Just(Mark::Query), Just(Mark::Delegating)];
    let calls = prop::collection::vec(call.clone(), 0..3);
    let remembers = prop::collection::vec(("[a-c]", 0..9i32), 0..2);
    (mark, calls, remembers, prop::collection::vec(call, 0..3)).prop_map(|(mark, calls, remembers, delegates)| Does {
        mark,
        calls,
        remembers,
        delegates,
    })
}

const N_TOOLS: usize = 4;

fn source_of(tools: &[Does]) -> FakeSource {
    tools.iter().enumerate().fold(FakeSource::new("acme"), |source, (number, does)| {
        let Does { mark, calls, remembers, delegates } = does.clone();
        let set: Map<String, Value> = remembers.into_iter().map(|(name, value)| (name, value.into())).collect();
        let delegates: Vec<Delegate> =
            delegates.into_iter().map(|(tool, given)| Delegate { tool, args: args(given) }).collect();
        let source = source.tool(&format!("tool{number}"), move |cx, _| {
            let (calls, set, delegates) = (calls.clone(), set.clone(), delegates.clone());
            async move {
                for (tool, given) in calls {
                    if let Err(fault) = cx.call(&tool, args(given)).await {
                        return Outcome::failed(fault.to_string());
                    }
                }
                Outcome { memory: MemoryChanges { set, deleted: Vec::new() }, ..Outcome::delegating(delegates) }
            }
        });
        source.marked(match mark {
            Mark::None => |_| {},
            Mark::Query => |tool| tool.kind = ToolKind::Query,
            Mark::Delegating => |tool| (tool.is_recordable, tool.is_delegating) = (false, true),
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 8))]

    /// What a session records leads to the same memory and the same actions when it is replayed.
    #[test]
    fn a_replay_leaves_what_the_session_left(
        first in any_tool(0), second in any_tool(1), third in any_tool(2), fourth in any_tool(3)
    ) {
        let tools = [first, second, third, fourth];
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let one = prompt(source_of(&tools));
            for name in ["a", "b", "c"] {
                one.call("remember", json!({"variable": name, "value": "unset"})).await.unwrap();
            }
            let outcome = one.call("tool0", json!({})).await.unwrap();
            prop_assume!(!outcome.is_error());
            let steps = fold(&one.attempt.id, &one.events.all());
            prop_assert_eq!(&steps[0].needs_model, &Vec::<String>::new());

            let two = prompt(source_of(&tools));
            for call in &steps[0].calls {
                let (tool, given) = call.as_object().unwrap().iter().next().unwrap();
                let outcome = two.call(tool, given.clone()).await.unwrap();
                prop_assert!(!outcome.is_error(), "{} failed: {}", call, outcome.text);
            }
            let memory = |session: &TestSession| session.attempt.memory().values().clone();
            prop_assert_eq!(memory(&two), memory(&one), "{:?}", steps[0].calls);
            prop_assert_eq!(two.driver.done(), one.driver.done(), "{:?}", steps[0].calls);
            Ok(())
        })?;
    }
}
