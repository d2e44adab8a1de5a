//! Recorded effects of custom tools: replaying without the tools, and verifying the tools.

use proptest::prelude::*;
use serde_json::{Value, json};
use trailblaze_core::callers::recorded_effects::{Custom, RecordedEffects, recorded_effects};
use trailblaze_core::record::effects::{CallEffects, Effect, entries, fold};
use trailblaze_core::testing::{FakeDriver, FakeSource, TestPage, TestSession, TestWiring, args, button, field};
use trailblaze_core::trail::{Trail, TrailDevice};
use trailblaze_core::yaml::decode;
use trailblaze_core::yaml::{Entries, Problem, Problems, Source, block};
use trailblaze_protocol::event::{Event, Verdict};
use trailblaze_protocol::ids::AttemptId;
use trailblaze_protocol::outcome::{MemoryChanges, Outcome};

const TRAIL: &str = "\
trailhead: {step: Open, tools: [{pay: {to: Ada}}]}
trail:
  - step: Pay
    tools: [{tap: {id: help}}, {pay: {to: Grace}}, {inputText: {text: 'paid {{paid}}'}}]
";

fn shop() -> FakeDriver {
    FakeDriver::new(
        "android/one",
        [TestPage::new("home", [field("name"), button("pay", "Pay"), button("help", "Help")])],
    )
}

/// `pay` gets the share from another tool, types it, tries something that fails, and stores a value in memory.
fn acme(button: &'static str) -> FakeSource {
    let share = MemoryChanges { set: args(json!({"share": 12.5})), ..MemoryChanges::default() };
    FakeSource::new("acme").answering("share", Outcome { memory: share, ..Outcome::default() }).tool(
        "pay",
        move |cx, given| async move {
            for (tool, arguments) in [
                ("share", json!({})),
                ("isVisible", json!({"id": "pay"})),
                ("inputText", json!({"text": "{{share}} for {{PIN}}"})),
                ("tap", json!({"id": "nobody"})),
                ("tap", json!({ "id": button })),
            ] {
                cx.call(tool, args(arguments)).await.expect("the call can be made");
            }
            let memory = MemoryChanges { set: args(json!({"paid": given["to"]})), deleted: vec!["share".into()] };
            Outcome { memory, ..Outcome::success("paid") }
        },
    )
}

fn trail(text: &str) -> Trail {
    let (trail, problems) = Trail::read(&Source::new("a.trail.yaml", text));
    assert_eq!(problems, []);
    trail.expect("a trail")
}

fn session(source: Option<FakeSource>) -> TestSession {
    let wiring = TestWiring::new(shop()).secret("PIN", "canary-4711");
    source.into_iter().fold(wiring, |wiring, source| wiring.with(source.batch())).open()
}

fn phone() -> TrailDevice {
    TrailDevice::new(None, &["android".into(), "phone".into()])
}

fn did(session: &TestSession, attempt: &AttemptId) -> Vec<Vec<Effect>> {
    fold(attempt, &session.events.all()).into_iter().flat_map(|step| step.made).filter_map(|call| call.did).collect()
}

/// The stored effects of an attempt, as text.
fn kept(session: &TestSession, attempt: &AttemptId) -> String {
    let entries = entries(&trail(TRAIL), &phone(), &fold(attempt, &session.events.all()));
    block(&json!({"android": entries}), 0)
}

fn read(session: &TestSession, trail: &Trail, kept: &str) -> Result<RecordedEffects, Vec<Problem>> {
    let source = Source::new("a.effects.yaml", kept);
    let mut problems = Problems::new(&source);
    let kept: Entries<Vec<CallEffects>> = decode(&source, &mut problems).expect("effects");
    let entries = kept.get("android").map_or(&[][..], Vec::as_slice);
    recorded_effects(trail, &session.inner.registry(), &phone(), (&source, entries))
}

#[tokio::test(start_paused = true)]
async fn effects_replay_without_their_tools() {
    let one = session(Some(acme("pay")));
    let recorded = one.replay(&trail(TRAIL)).await;
    assert_eq!((recorded.verdict, recorded.message.as_str()), (Verdict::Passed, ""));
    let kept = kept(&one, &recorded.attempt);
    assert!(kept.contains("text: '{{share}} for {{PIN}}'") && !kept.contains("canary"), "{kept}");

    let two = session(None);
    let effects = read(&two, &trail(TRAIL), &kept).expect("it can be played");
    let played = two.replay_with(&trail(TRAIL), Custom::Play(&effects)).await;
    assert_eq!((played.verdict, played.message.as_str()), (Verdict::Passed, ""));
    assert_eq!(two.driver.done(), one.driver.done(), "the device was touched in the same way");
    assert!(two.driver.done().iter().any(|done| done.contains("12.5 for canary-4711")));
    assert!(two.driver.done().iter().any(|done| done.contains("paid Grace")));
    assert_eq!(did(&two, &played.attempt), did(&one, &recorded.attempt), "and so says the record");
}

#[tokio::test(start_paused = true)]
async fn a_failed_effect_fails_the_call_and_is_named() {
    let session = session(None);
    let entry = |id: &str| json!({"call": {"pay": {"to": "Ada"}}, "did": [{"tap": {"id": id}}]});
    let grace = json!({"call": {"pay": {"to": "Grace"}}, "did": []});
    let kept = block(&json!({"android": [entry("nobody"), grace]}), 0);
    let effects = read(&session, &trail(TRAIL), &kept).expect("it can be played");
    let ended = session.replay_with(&trail(TRAIL), Custom::Play(&effects)).await;
    assert_eq!(ended.verdict, Verdict::Failed);
    assert!(
        ended.message.starts_with("trailhead \"Open\": `pay` failed: its effect `tap` failed: "),
        "{}",
        ended.message
    );
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_differs_from_its_recording_fails_the_trail_with_every_difference() {
    let one = session(Some(acme("pay")));
    let recorded = one.replay(&trail(TRAIL)).await;
    let kept = kept(&one, &recorded.attempt);
    let verify = async |source: FakeSource| {
        let session = session(Some(source));
        let effects = read(&session, &trail(TRAIL), &kept).expect("it can be compared");
        let ended = session.replay_with(&trail(TRAIL), Custom::Verify(&effects, &*session.events)).await;
        (ended.verdict, ended.message, session.events.warnings().len())
    };
    assert_eq!(verify(acme("pay")).await, (Verdict::Passed, String::new(), 0));
    let (verdict, message, n_warnings) = verify(acme("help")).await;
    assert_eq!((verdict, n_warnings), (Verdict::Failed, 2));
    let told = |place: &str, to: &str| {
        let lines = [
            "    memory: {set: {share: 12.5}}".to_string(),
            "    inputText: {text: '{{share}} for {{PIN}}'}".to_string(),
            "  - tap: {id: pay}".to_string(),
            "  + tap: {id: help}".to_string(),
            format!("    memory: {{set: {{paid: {to}}}, deleted: [share]}}"),
        ];
        format!("{place}: `pay` behaved differently from its recording:\n{}", lines.join("\n"))
    };
    assert_eq!(message, [told("trailhead", "Ada"), told("step 1", "Grace")].join("\n"));
}

#[tokio::test(start_paused = true)]
async fn differences_are_reported_even_if_another_step_fails() {
    let one = session(Some(acme("pay")));
    let recorded = one.replay(&trail(TRAIL)).await;
    let kept = kept(&one, &recorded.attempt);
    let two = session(Some(acme("pay")));
    let fails = trail(&TRAIL.replace("tap: {id: help}", "tap: {id: nobody}"));
    let effects =
        read(&two, &fails, &kept.replace("- tap:\n          id: pay", "- pressBack: {}")).expect("it can be compared");
    let ended = two.replay_with(&fails, Custom::Verify(&effects, &*two.events)).await;
    assert_eq!(ended.verdict, Verdict::Failed);
    let (first, rest) = ended.message.split_once('\n').expect("both are told");
    assert!(first.starts_with("step 1 \"Pay\": `tap` failed: "), "{first}");
    assert!(rest.starts_with("trailhead: `pay` behaved differently from its recording:\n"), "{rest}");
    assert!(rest.contains("  - pressBack: {}\n  + tap: {id: pay}"), "{rest}");
}

#[tokio::test(start_paused = true)]
async fn only_the_last_try_of_a_step_is_compared() {
    let text = "trail:\n  - step: Pay\n    maxRetries: 1\n    tools: [{fickle: {}}, {tap: {id: pay}}]\n";
    let fickle = || {
        let n_calls = std::sync::atomic::AtomicUsize::new(0);
        FakeSource::new("acme").tool("fickle", move |cx, _| {
            let is_first = n_calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0;
            async move {
                cx.call("tap", args(json!({"id": if is_first { "help" } else { "pay" }}))).await.expect("a call");
                if is_first { Outcome::failed("not yet") } else { Outcome::default() }
            }
        })
    };
    let session = session(Some(fickle()));
    let kept = block(&json!({"android": [{"call": {"fickle": {}}, "did": [{"tap": {"id": "pay"}}]}]}), 0);
    let effects = read(&session, &trail(text), &kept).expect("it can be compared");
    let ended = session.replay_with(&trail(text), Custom::Verify(&effects, &*session.events)).await;
    assert_eq!((ended.verdict, ended.message.as_str()), (Verdict::Passed, ""));
}

#[tokio::test(start_paused = true)]
async fn effects_that_do_not_match_the_trail_are_rejected() {
    let session = session(None);
    let entry = |to: &str, did: Value| json!({"call": {"pay": {"to": to}}, "did": did});
    let check = |entries: Value, expected: &[&str]| {
        let problems = read(&session, &trail(TRAIL), &block(&json!({"android": entries}), 0)).expect_err("refused");
        let told: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
        assert_eq!(told, expected);
    };
    let missing = "no effects of `pay` are recorded for android-phone";
    check(json!([]), &[missing, missing]);
    let stale = "the effects of `pay` are out of date: the trail's call has changed since they were recorded";
    check(
        json!([entry("Grace", json!([])), entry("Ada", json!([]))]),
        &[stale, "the effects are out of date: the trail no longer calls `pay` here"],
    );
    check(json!([entry("Ada", json!([]))]), &[stale]);
    let gone = "the effects are out of date: the trail no longer calls `pay` here";
    check(json!([entry("Ada", json!([])), entry("Grace", json!([])), entry("Bob", json!([]))]), &[gone]);
    check(
        json!([entry("Ada", json!([{"acme_x": {}}, {"inputText": {}}])), entry("Grace", json!([]))]),
        &[
            "`acme_x` is not a built-in tool of this device, and effects can only call built-in tools",
            "an effect cannot be played: `inputText`: missing argument `text`",
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_must_always_be_run_has_no_effects() {
    let source = FakeSource::new("acme")
        .calling("judge", "tap", json!({"id": "pay"}))
        .marked(|tool| tool.is_recordable = false)
        .delegating("flow", &[("tap", json!({"id": "help"}))])
        .marked(|tool| (tool.is_recordable, tool.is_delegating) = (false, true));
    let session = session(Some(source));
    let text = "trail:\n  - step: Go\n    recordable: false\n    tools: [{judge: {}}, {flow: {}}]\n";
    let ended = session.replay(&trail(text)).await;
    let steps = fold(&ended.attempt, &session.events.all());
    let entries = entries(&trail(text), &phone(), &steps);
    assert_eq!(entries, [json!({"call": {"flow": {}}, "did": [{"tap": {"id": "help"}}]})]);
    assert!(session.events.all().iter().any(|event| matches!(event, Event::Called(called) if called.is_custom)));
}

fn any_effects() -> impl Strategy<Value = Vec<Effect>> {
    let call = |tool: &str, args_: Value| Effect::Call { tool: tool.to_string(), args: args(args_) };
    let name = prop::sample::select(vec!["a", "b", "no", "x: y"]);
    let value = prop_oneof![
        ".{0,8}".prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        Just(json!([null, {"k": 1.5}]))
    ];
    let set = prop::collection::vec((name.clone(), value), 1..3);
    let effect = prop_oneof![
        Just(call("tap", json!({"id": "pay"}))),
        Just(call("assertVisible", json!({"text": "Help"}))),
        "[a-z {}$]{0,8}".prop_map(move |text| call("inputText", json!({ "text": text }))),
        name.clone().prop_map(move |name| call("remember", json!({"variable": name, "value": "{{a}}!"}))),
        (set, prop::collection::vec(name, 0..2)).prop_map(|(set, deleted)| {
            let set = set.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
            Effect::Memory(MemoryChanges { set, deleted: deleted.into_iter().map(String::from).collect() })
        }),
    ];
    // Consecutive memory changes are merged.
    prop::collection::vec(effect, 0..8).prop_map(|mut effects| {
        effects.dedup_by(|a, b| matches!((a, b), (Effect::Memory(_), Effect::Memory(_))));
        effects
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    /// Effects that are written, read and played result in the same effects.
    #[test]
    fn the_effects_of_a_replay_are_the_effects(effects in any_effects()) {
        let written: Vec<Value> = effects.iter().map(Effect::json).collect();
        let text = "trail:\n  - step: Pay\n    tools: [{pay: {}}]\n";
        let kept = block(&json!({"android": [{"call": {"pay": {}}, "did": written}]}), 0);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let (ended, played) = runtime.block_on(async {
            let session = session(None);
            let effects = read(&session, &trail(text), &kept).expect("it can be played");
            let ended = session.replay_with(&trail(text), Custom::Play(&effects)).await;
            let played = did(&session, &ended.attempt);
            (ended, played)
        });
        prop_assert_eq!((ended.verdict, ended.message.as_str()), (Verdict::Passed, ""));
        prop_assert_eq!(played, vec![effects]);
    }
}
