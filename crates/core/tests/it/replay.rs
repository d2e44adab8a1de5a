//! A trail on a device: verdicts, retries, skips, classifiers, secrets.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use trailblaze_core::callers::preflight::preflight;
use trailblaze_core::callers::replay::AttemptResult;
use trailblaze_core::record::artifacts::PicturePolicy;
use trailblaze_core::record::fold;
use trailblaze_core::testing::{
    FakeDriver, FakeSource, Mishap, TestPage, TestSession, TestWiring, args, button, field, label,
};
use trailblaze_core::trail::{Trail, TrailDevice};
use trailblaze_core::yaml::Source;
use trailblaze_protocol::event::{Event, Failure, Moment, Plan, Verdict};
use trailblaze_protocol::geometry::Rect;
use trailblaze_protocol::outcome::{MemoryChanges, Outcome, Variant};

fn shop() -> FakeDriver {
    let pages = [
        TestPage::new("home", [button("pay", "Pay"), label("total", "12.50")]),
        TestPage::new("done", [label("message", "Thanks")]),
    ];
    FakeDriver::new("android/one", pages).link("pay", "done")
}

fn trail(text: &str) -> Trail {
    let (trail, problems) = Trail::read(&Source::new("a.trail.yaml", text));
    assert_eq!(problems, []);
    trail.unwrap()
}

/// Replays a trail, and compares the result and the actions on the device.
async fn check(session: &TestSession, text: &str, verdict: Verdict, message: &str, done: &[&str]) -> AttemptResult {
    let ended = session.replay(&trail(text)).await;
    assert_eq!((ended.verdict, ended.message.as_str()), (verdict, message));
    assert_eq!(session.driver.done(), done);
    ended
}

fn failure(session: &TestSession) -> Failure {
    let failure = session.events.all().into_iter().find_map(|event| match event {
        Event::AttemptEnded { failure, .. } => failure,
        _ => None,
    });
    *failure.unwrap()
}

fn plans(session: &TestSession) -> Vec<Plan> {
    let plan = |event| match event {
        Event::StepStarted { plan, .. } => Some(plan),
        _ => None,
    };
    session.events.all().into_iter().filter_map(plan).collect()
}

#[tokio::test(start_paused = true)]
async fn a_trail_passes_step_by_step_from_its_trailhead() {
    let session = TestWiring::new(shop()).open();
    check(
        &session,
        "trailhead:
  step: Open the shop
  recording: {android: {launchApp: {appId: com.example}}}
trail:
  - step: Pay
    recording: {android: [{tap: {id: pay}}]}
  - verify: Thanks are shown
    tools: [{assertVisible: {text: Thanks}}]
",
        Verdict::Passed,
        "",
        &["LaunchApp { app: \"com.example\", mode: Reinstall }", "Tap on Button \"Pay\""],
    )
    .await;
    let recording = || Plan::Recording { classifier: "android".into() };
    assert_eq!(plans(&session), [recording(), recording(), Plan::Authored]);
}

#[tokio::test(start_paused = true)]
async fn an_assertion_waits_for_the_expected_text() {
    let pages = [
        TestPage::new("waiting", [label("total", "…")]),
        TestPage::new("ready", [label("total", "13.00"), button("pay", "Pay")]),
    ];
    let driver = FakeDriver::new("android/one", pages).later(Duration::from_millis(2500), "ready");
    let session = TestWiring::new(driver).open();
    let text = "trail:
  - verify: The total is shown
    tools: [{assertVisible: {id: total, expectedText: '13.00'}}]
";
    check(&session, text, Verdict::Passed, "", &[]).await;
}

#[tokio::test(start_paused = true)]
async fn a_false_assertion_fails_the_trail_with_what_was_expected_and_seen() {
    let session = TestWiring::new(shop()).open();
    let text = "trail:
  - verify: The total is shown
    tools: [{assertVisible: {id: total, expectedText: '13.00'}}]
  - step: Pay
    tools: [{tap: {id: pay}}]
";
    let saw = "expected id \"total\" with the text \"13.00\", saw the text \"12.50\"";
    let message = format!("step 1 \"The total is shown\": `assertVisible` failed: {saw}");
    check(&session, text, Verdict::Failed, &message, &[]).await;
    let failure = failure(&session);
    assert_eq!(
        (failure.tool.as_deref(), failure.expected.as_deref(), failure.saw.as_deref(), failure.message.as_str()),
        (Some("assertVisible"), Some("id \"total\" with the text \"13.00\""), Some("the text \"12.50\""), saw)
    );
    assert!(failure.step.is_some_and(|step| step.as_str().ends_with("/0.1")));
    let called = session.events.all().into_iter().find_map(|event| match event {
        Event::Called(called) => Some(called.call.clone()),
        _ => None,
    });
    assert!(called.is_some() && failure.call == called, "{called:?}");
}

#[tokio::test(start_paused = true)]
async fn a_step_is_retried_with_its_original_memory_and_only_the_last_try_is_recorded() {
    let tries = AtomicUsize::new(0);
    let source = FakeSource::new("acme").tool("flaky", move |cx, _| {
        let n = tries.fetch_add(1, Ordering::Relaxed);
        async move {
            assert_eq!(*cx.attempt.memory().values(), args(json!({"before": "x", "n": "first"})));
            if n < 2 { Outcome::failed(format!("try {n}")) } else { Outcome::default() }
        }
    });
    let text = "trail:
  - step: Prepare
    tools: [{remember: {variable: before, value: x}}, {remember: {variable: n, value: first}}]
  - step: Try
    tools: [{flaky: {}}, {remember: {variable: n, value: 'again'}}]
    maxRetries: 2
";
    let session = TestWiring::new(shop()).with(source.batch()).open();
    let ended = check(&session, text, Verdict::Passed, "", &[]).await;
    assert_eq!(
        session.events.warnings(),
        [
            "try 1 of 3 failed, retrying: step 2 \"Try\": `flaky` failed: try 0",
            "try 2 of 3 failed, retrying: step 2 \"Try\": `flaky` failed: try 1"
        ]
    );
    let steps = fold::fold(&ended.attempt, &session.events.all());
    let calls: Vec<Value> = steps.into_iter().flat_map(|step| step.calls).collect();
    assert_eq!(calls[2..], [json!({"flaky": {}}), json!({"remember": {"variable": "n", "value": "again"}})]);
}

#[tokio::test(start_paused = true)]
async fn memory_changes_of_a_failed_try_are_discarded() {
    let tries = AtomicUsize::new(0);
    let source = FakeSource::new("acme")
        .answering(
            "learn",
            Outcome { memory: MemoryChanges { set: args(json!({"seen": 1})), deleted: vec![] }, ..Outcome::default() },
        )
        .tool("flaky", move |_, _| {
            let n = tries.fetch_add(1, Ordering::Relaxed);
            async move { if n == 0 { Outcome::failed("no") } else { Outcome::default() } }
        });
    let text = "trail:
  - step: Try
    tools: [{assertNotEquals: {actual: '{{seen}}', expected: '1'}}, {learn: {}}, {flaky: {}}]
    maxRetries: 1
";
    check(&TestWiring::new(shop()).with(source.batch()).open(), text, Verdict::Passed, "", &[]).await;
}

#[tokio::test(start_paused = true)]
async fn a_retry_does_not_repeat_earlier_warnings() {
    let text = "trail:
  - step: Try
    tools: [{assertEquals: {actual: '{{nobody}}', expected: x}}]
    maxRetries: 1
";
    let session = TestWiring::new(shop()).open();
    session.replay(&trail(text)).await;
    let unknown = session.events.warnings().into_iter().filter(|text| text.starts_with("`{{nobody}}` is unknown"));
    assert_eq!(unknown.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_fatal_error_is_not_retried() {
    let source = FakeSource::new("acme").answering("die", Outcome::error(Variant::FatalError, "no account"));
    let text = "trail:\n  - step: Try\n    tools: [{die: {}}]\n    maxRetries: 3\n";
    let session = TestWiring::new(shop()).with(source.batch()).open();
    check(&session, text, Verdict::Failed, "step 1 \"Try\": `die` failed: no account", &[]).await;
    assert_eq!(session.events.calls().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_trail_is_skipped_on_the_devices_it_lists() {
    let text = |reason: &str| {
        format!(
            "config:\n  skip: {{android: {reason}, android-phone: 'no camera'}}\ntrail:\n  - step: Pay\n    tools: [{{tap: {{id: pay}}}}]\n"
        )
    };
    check(&TestWiring::new(shop()).open(), &text("broken"), Verdict::Skipped, "no camera", &[]).await;
    let blank = text("broken").replace("'no camera'", "' '");
    check(&TestWiring::new(shop()).open(), &blank, Verdict::Passed, "", &["Tap on Button \"Pay\""]).await;
}

#[tokio::test(start_paused = true)]
async fn the_most_specific_classifier_is_replayed_and_an_empty_list_does_nothing() {
    let text = "trail:
  - step: Pay
    recording:
      android: [{pressBack: {}}]
      android-phone: [{tap: {id: pay}}]
      android-tablet: [{pressHome: {}}]
  - step: Wait
    recording: {android: [], ios: [{pressBack: {}}]}
";
    let session = TestWiring::new(shop()).open();
    check(&session, text, Verdict::Passed, "", &["Tap on Button \"Pay\""]).await;
    let recording = |classifier: &str| Plan::Recording { classifier: classifier.into() };
    assert_eq!(plans(&session), [recording("android-phone"), recording("android")]);
}

#[tokio::test(start_paused = true)]
async fn a_step_without_a_recording_needs_a_model_and_preflight_reports_it() {
    let text = "trail:
  - step: Pay
    recording: {android: [{tap: {id: pay}}]}
  - step: Judge the colours
    recording: {ios: []}
";
    let session = TestWiring::new(shop()).open();
    let phone = TrailDevice::new(None, &["android".into(), "phone".into()]);
    let problems: Vec<String> = preflight(&trail(text), &session.inner.registry(), &phone, Some("choose one"))
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        problems,
        [
            "a.trail.yaml:4:11: the step needs a model: it has no `tools` and no recording for android-phone (choose one; or record the step once in `trailblaze shell`, or write its `tools:`)"
        ]
    );
    let message = "step 2 \"Judge the colours\": it has no recording for this device, and no model is configured";
    check(&session, text, Verdict::Invalid, message, &["Tap on Button \"Pay\""]).await;
}

#[tokio::test(start_paused = true)]
async fn preflight_finds_unknown_tools_and_wrong_arguments_of_this_device_only() {
    let text = "trail:
  - step: Pay
    recording:
      android: [{tapp: {}}, {tap: {index: first}}, {inputText: {}}, {tap: {index: '{{n}}', id: x}}]
      ios: [{nobody: {}}]
";
    let session = TestWiring::new(shop()).open();
    let problems: Vec<String> =
        preflight(&trail(text), &session.inner.registry(), &TrailDevice::new(None, &["android".into()]), None)
            .iter()
            .map(ToString::to_string)
            .collect();
    assert_eq!(
        problems,
        [
            "a.trail.yaml:4:18: unknown tool `tapp` (did you mean `tap`?)",
            "a.trail.yaml:4:43: `first` is not a whole number",
            "a.trail.yaml:4:53: `inputText` is missing the argument `text`",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_lost_device_is_an_error_of_the_environment() {
    let text =
        "trail:\n  - step: Pay\n    tools: [{pressBack: {}}, {pressBack: {}}, {pressHome: {}}]\n    maxRetries: 5\n";
    let session = TestWiring::new(shop().with(Mishap::LostAfter(1))).open();
    let message = "step 1 \"Pay\": the device was lost: the cable was pulled";
    check(&session, text, Verdict::Errored, message, &["PressKey { key: Back }"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_trail_ends_as_cancelled() {
    let session = TestWiring::new(shop()).open();
    let text = "trail:\n  - step: Wait\n    tools: [{wait: {timeToWaitInSeconds: 60}}]\n  - step: Pay\n    tools: [{tap: {id: pay}}]\n";
    let cancel = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        session.cancel.cancel();
    };
    tokio::join!(check(&session, text, Verdict::Cancelled, "step 1 \"Wait\": cancelled", &[]), cancel);
}

#[tokio::test(start_paused = true)]
async fn screenshots_are_taken_according_to_the_policy() {
    let text = "trail:\n  - step: Fail\n    tools: [{tap: {id: pay}}, {assertVisible: {id: pay}}]\n";
    for (policy, expected) in [
        (PicturePolicy::Off, &[][..]),
        (PicturePolicy::Failure, &[Moment::Failure]),
        (PicturePolicy::Step, &[Moment::Before, Moment::Failure]),
        (PicturePolicy::Action, &[Moment::Before, Moment::Before, Moment::Failure]),
    ] {
        let mut wiring = TestWiring::new(shop());
        wiring.pictures = policy;
        let session = wiring.open();
        assert_eq!(session.replay(&trail(text)).await.verdict, Verdict::Failed);
        assert_eq!(session.events.shots().iter().map(|shot| shot.moment).collect::<Vec<_>>(), expected, "{policy:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_secret_only_reaches_the_device() {
    // The digits may also occur in times and coordinates.
    for canary in ["canary-4711-value", "1000000", "8000"] {
        let source = FakeSource::new("acme").tool("echo", |cx, args| async move {
            let given = Value::Object(args);
            let remembered = Value::Object(cx.attempt.memory().values().clone());
            assert_eq!(given, json!({"a": "{{PIN}}", "b": "x {{PIN}}", "c": "{{PIN}}"}));
            assert_eq!(remembered, json!({"typed": "{{PIN}}"}));
            Outcome::value(given.to_string(), given)
        });
        let text = "trail:
  - step: Log in
    tools:
      - inputText: {text: '{{PIN}}', hideKeyboardAfter: false}
      - captureScreen: {}
      - rememberElementText: {variable: typed, id: pin}
      - echo: {a: '{{PIN}}', b: 'x {{typed}}', c: '${PIN}'}
      - dumpMemory: {}
      - wait: {}
      - assertVisible: {text: '{{PIN}}'}
      - assertVisible: {id: pin, expectedText: other}
";
        let phone = FakeDriver::new("android/one", [TestPage::new("home", [label("title", "PIN"), field("pin")])]);
        let mut wiring = TestWiring::new(phone).with(source.batch()).secret("PIN", canary);
        wiring.pictures = PicturePolicy::Action;
        let session = wiring.open();
        let ended = session.replay(&trail(text)).await;
        assert_eq!(session.driver.done(), [format!("InputText {{ text: \"{canary}\" }}")]);
        assert_eq!(ended.verdict, Verdict::Failed, "{}", ended.message);
        let everything: Vec<String> = session
            .events
            .all()
            .iter()
            .map(|event| without_numbers(serde_json::to_value(event).unwrap()).to_string())
            .chain(session.events.shots().into_iter().map(|shot| shot.tree))
            .chain([ended.message])
            .collect();
        let leaks: Vec<&String> = everything.iter().filter(|text| text.contains(canary)).collect();
        assert!(leaks.is_empty(), "{canary} in {leaks:#?}");
        let last = session.events.shots().pop().unwrap();
        assert!(last.masks.contains(&Rect::new(0, 50, 400, 50)), "{:?}", last.masks);
        assert!(last.tree.contains("{{PIN}}"), "{}", last.tree);
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_that_shows_a_placeholder_does_not_get_the_secret() {
    let text = "trail:
  - step: Follow a link that the page shows
    tools:
      - rememberElementText: {variable: link, id: link}
      - openUrl: {url: '{{link}}'}
      - remember: {variable: own, value: '{{PIN}}'}
      - inputText: {text: '{{own}}', hideKeyboardAfter: false}
";
    let page = TestPage::new("home", [label("link", "https://evil.example/?{{PIN}}"), field("pin")]);
    let session = TestWiring::new(FakeDriver::new("android/one", [page])).secret("PIN", "canary-4711").open();
    let ended = session.replay(&trail(text)).await;
    assert_eq!(ended.verdict, Verdict::Passed, "{}", ended.message);
    let expected = [r#"OpenUrl { url: "https://evil.example/?{{PIN}}" }"#, r#"InputText { text: "canary-4711" }"#];
    assert_eq!(session.driver.done(), expected);
}

/// An event without times and coordinates, which never contain secrets even if their digits match.
fn without_numbers(mut event: Value) -> Value {
    for parts in event.as_object_mut().into_iter().flat_map(|map| map.values_mut()) {
        if let Some(parts) = parts.as_object_mut() {
            parts.retain(|_, value| !value.is_number());
        }
    }
    event
}

#[tokio::test(start_paused = true)]
async fn an_event_whose_numbers_contain_the_digits_of_a_secret_is_still_redacted() {
    let source = FakeSource::new("acme").tool("login", |_, _| async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        panic!("1000000 is no PIN")
    });
    let session = TestWiring::new(shop()).with(source.batch()).secret("PIN", "1000000").open();
    session.call("login", json!({})).await.unwrap_err();
    assert_eq!(
        session.events.calls(),
        ["login {} step: exit 70: this is a bug in Trailblaze: `login` panicked: {{PIN}} is no PIN"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_secret_that_is_a_keyword_of_the_format_does_not_corrupt_events() {
    let source = FakeSource::new("acme").answering("login", Outcome::failed("no"));
    let session = TestWiring::new(shop()).with(source.batch()).secret("WORD", "failed").open();
    session.replay(&trail("trail:\n  - step: Log in\n    tools: [{login: {}}]\n")).await;
    let ended = session.events.all().pop().unwrap();
    let Event::AttemptEnded { verdict, message, .. } = ended else { panic!("{ended:?}") };
    assert_eq!((verdict, message.as_str()), (Verdict::Failed, "step 1 \"Log in\": `login` {{WORD}}: no"));
}

#[tokio::test(start_paused = true)]
async fn a_fault_that_quotes_a_secret_is_redacted() {
    let source = FakeSource::new("acme").dying("login", "could not log in with canary-4711");
    let session = TestWiring::new(shop()).with(source.batch()).secret("PIN", "canary-4711").open();
    let text = "trail:\n  - step: Log in\n    tools: [{login: {}}]\n";
    check(
        &session,
        text,
        Verdict::Errored,
        "step 1 \"Log in\": server `acme` died: could not log in with {{PIN}}",
        &[],
    )
    .await;
    assert!(!session.events.text().contains("canary"));
}

#[tokio::test(start_paused = true)]
async fn a_soft_check_that_fails_lets_the_trail_go_on_and_fail_at_its_end() {
    let session = TestWiring::new(shop()).open();
    let text = "trail:
  - verify: The total is shown
    tools:
      - assertText: {id: total, is: '13.00', timeoutMs: 0}
        soft: true
      - assertVisible: {text: Pay}
        soft: true
  - step: Pay
    tools: [{tap: {id: pay}}]
  - verify: The shop says thanks
    tools:
      - {assertText: {id: message, contains: Bye, timeoutMs: 0}, soft: true}
";
    let one = "step 1 \"The total is shown\": `assertText` failed: expected TextView \"12.50\" with the text \"13.00\", saw \"12.50\"";
    let other = "step 3 \"The shop says thanks\": `assertText` failed: expected TextView \"Thanks\" with a text \
                 containing \"Bye\", saw \"Thanks\"";
    let message = format!("2 checks failed:\n  {one}\n    at a.trail.yaml:4:9\n  {other}\n    at a.trail.yaml:12:10");
    let ended = check(&session, text, Verdict::Failed, &message, &["Tap on Button \"Pay\""]).await;
    let without_places = format!("2 checks failed:\n  {one}\n  {other}");
    assert_eq!((ended.failure, ended.place.map(|place| place.line)), (without_places, Some(4)));
    let failure = failure(&session);
    let lines: Vec<_> = failure.parts.iter().map(|part| part.place.as_ref().unwrap().line).collect();
    assert_eq!((lines, failure.parts[1].saw.as_deref()), (vec![4, 12], Some("\"Thanks\"")));
    let verdicts: Vec<Verdict> = session
        .events
        .all()
        .into_iter()
        .filter_map(|event| match event {
            Event::StepEnded { verdict, .. } => Some(verdict),
            _ => None,
        })
        .collect();
    assert_eq!(verdicts, [Verdict::Failed, Verdict::Passed, Verdict::Failed]);
}

#[tokio::test(start_paused = true)]
async fn a_failure_after_soft_checks_tells_of_both() {
    let session = TestWiring::new(shop()).open();
    let text = "trail:
  - verify: The total is shown
    tools:
      - assertText: {id: total, is: '13.00', timeoutMs: 0}
        soft: true
  - verify: Thanks are shown
    tools: [{assertVisible: {text: Thanks, timeoutMs: 0}}]
  - step: Pay
    tools: [{tap: {id: pay}}]
";
    let soft = "step 1 \"The total is shown\": `assertText` failed: expected TextView \"12.50\" with the text \"13.00\", saw \"12.50\"";
    let ended = session.replay(&trail(text)).await;
    assert_eq!(ended.verdict, Verdict::Failed);
    assert!(ended.message.starts_with("step 2 \"Thanks are shown\": `assertVisible` failed"), "{}", ended.message);
    assert!(
        ended.message.ends_with(&format!("\nalso failed:\n  {soft}\n    at a.trail.yaml:4:9")),
        "{}",
        ended.message
    );
    assert_eq!(failure(&session).parts.len(), 2);
    assert!(session.driver.done().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_soft_check_is_retried_with_its_step_and_recorded_as_soft() {
    let text = "trail:
  - verify: The total is shown
    maxRetries: 1
    tools:
      - assertText: {id: total, is: '13.00', timeoutMs: 0}
        soft: true
      - wait: {timeToWaitInSeconds: 3}
";
    let pages = [TestPage::new("now", [label("total", "…")]), TestPage::new("later", [label("total", "13.00")])];
    let driver = FakeDriver::new("android/one", pages).later(Duration::from_secs(2), "later");
    let session = TestWiring::new(driver).open();
    let ended = check(&session, text, Verdict::Passed, "", &[]).await;
    let recorded = fold::fold(&ended.attempt, &session.events.all());
    let call = json!({"assertText": {"id": "total", "is": "13.00", "timeoutMs": 0}, "soft": true});
    assert_eq!(recorded[0].calls[0], call);
}

#[tokio::test(start_paused = true)]
async fn soft_is_only_for_checks() {
    let session = TestWiring::new(shop()).open();
    let problems = |text: &str| {
        let device = TrailDevice::new(None, &["android".to_string()]);
        preflight(&trail(text), &session.cx().session.registry(), &device, None)
    };
    let found = problems("trail:\n  - step: Pay\n    tools: [{tap: {id: pay}, soft: true}]\n");
    assert_eq!(found[0].message, "`soft:` is for checks, and `tap` is none");
    assert_eq!(problems("trail:\n  - step: Pay\n    tools: [{assertVisible: {id: pay}, soft: true}]\n"), []);
    let (_, wrong) =
        Trail::read(&Source::new("a", "trail:\n  - step: Pay\n    tools: [{assertVisible: {id: pay}, soft: maybe}]\n"));
    assert!(wrong[0].to_string().contains("maybe"), "{}", wrong[0]);
}
