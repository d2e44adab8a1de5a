//! Steps that are optional, skipped, conditional or repeated, and those before and after a trail.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::Notify;
use trailblaze_core::callers::preflight::preflight;
use trailblaze_core::callers::replay::AttemptResult;
use trailblaze_core::record::fold;
use trailblaze_core::testing::{FakeDriver, FakeSource, Mishap, TestPage, TestSession, TestWiring, button, label};
use trailblaze_core::trail::{Trail, TrailDevice};
use trailblaze_core::yaml::Source;
use trailblaze_protocol::event::{Event, HookKind, StepChoice, Verdict};
use trailblaze_protocol::outcome::Outcome;

fn shop() -> FakeDriver {
    let pages = [
        TestPage::new("home", [button("next", "Next"), button("pay", "Pay"), label("page", "1")]),
        TestPage::new("two", [button("again", "Next"), label("page", "2")]),
        TestPage::new("three", [button("end", "End"), label("page", "3")]),
    ];
    FakeDriver::new("android/one", pages).link("next", "two").link("again", "three")
}

fn session() -> TestSession {
    TestWiring::new(shop()).open()
}

fn trail(text: &str) -> Trail {
    let (trail, problems) = Trail::read(&Source::new("a.trail.yaml", text));
    assert_eq!(problems, []);
    trail.unwrap()
}

/// How the steps ended: verdict, message, and what was decided.
fn ends(session: &TestSession) -> Vec<(Verdict, String, Option<StepChoice>)> {
    let end = |event| match event {
        Event::StepEnded { verdict, message, choice, .. } => Some((verdict, message, choice)),
        _ => None,
    };
    session.events.all().into_iter().filter_map(end).collect()
}

async fn check(text: &str, verdict: Verdict, message: &str, done: &[&str]) -> (TestSession, AttemptResult) {
    let session = session();
    let ended = session.replay(&trail(text)).await;
    assert_eq!((ended.verdict, ended.message.as_str()), (verdict, message), "{text}");
    assert_eq!(session.driver.done(), done, "{text}");
    (session, ended)
}

const TAP_NEXT: &str = "Tap on Button \"Next\"";

#[tokio::test(start_paused = true)]
async fn an_optional_step_may_fail_and_the_record_says_so() {
    let text = "trail:
  - step: Close the banner
    optional: true
    tools: [{tap: {id: banner, timeoutMs: 0}}]
  - step: Go on
    tools: [{tap: {id: next}}]
";
    let (session, ended) = check(text, Verdict::Passed, "", &[TAP_NEXT]).await;
    let ends = ends(&session);
    assert_eq!(
        (ends[0].0, ends[0].2),
        (Verdict::Failed, Some(StepChoice { is_tolerated: true, ..StepChoice::default() }))
    );
    assert_eq!((ends[1].0, ends[1].2), (Verdict::Passed, None));
    let notes: Vec<String> = session
        .events
        .all()
        .into_iter()
        .filter_map(|event| match event {
            Event::Noted { text, .. } => Some(text),
            _ => None,
        })
        .collect();
    assert!(
        notes.iter().any(|note| note.starts_with("the step is optional, so the trail goes on: `tap` failed")),
        "{notes:?}"
    );
    let recorded: Vec<usize> =
        fold::fold(&ended.attempt, &session.events.all()).iter().map(|step| step.index).collect();
    assert_eq!(recorded, [1], "a step that failed is not recorded");
}

#[tokio::test(start_paused = true)]
async fn an_optional_step_does_not_hide_a_lost_device() {
    let session = TestWiring::new(shop().with(Mishap::LostAfter(0))).open();
    let text = "trail:\n  - step: Close\n    optional: true\n    tools: [{tap: {id: next}}]\n";
    assert_eq!(session.replay(&trail(text)).await.verdict, Verdict::Errored);
}

#[tokio::test(start_paused = true)]
async fn a_lost_device_does_not_keep_the_others_from_being_put_back() {
    let lost = TestWiring::new(shop().with(Mishap::LostAfter(0))).open();
    let sound = TestWiring::new(shop()).open();
    let text = "config: {devices: {alice: android, bob: android}}
trail:
  - step: Pay
    on: alice
    tools: [{tap: {id: next}}]
after:
  - step: Put Alice back
    on: alice
    tools: [{tap: {id: next}}]
  - step: Put Bob back
    on: bob
    tools: [{tap: {id: next}}]
";
    let ended = lost.replay_beside(("alice", "bob"), &sound, &trail(text)).await;
    assert_eq!((ended.verdict, ended.is_device_lost), (Verdict::Errored, true), "{}", ended.message);
    assert!(!ended.message.contains("also failed"), "{}", ended.message);
    assert_eq!((lost.driver.done(), sound.driver.done()), (vec![], vec![TAP_NEXT.to_string()]));
    let is_told =
        |event: Event| matches!(event, Event::Noted { text, .. } if text.contains("\"Put Alice back\" was not done"));
    assert!(lost.events.all().into_iter().any(is_told));
}

#[tokio::test(start_paused = true)]
async fn a_trail_is_skipped_with_its_reason() {
    let check = async |config: &str, verdict: Verdict, message: &str| {
        let text = format!("config: {config}\ntrail: [{{step: Go on, tools: [{{tap: {{id: next}}}}]}}]\n");
        let session = TestWiring::new(shop()).open();
        let ended = session.replay(&trail(&text)).await;
        assert_eq!((ended.verdict, ended.message.as_str()), (verdict, message), "{config}");
    };
    check("{skip: the server is being moved}", Verdict::Skipped, "the server is being moved").await;
    check("{skip: {android: no reader}}", Verdict::Skipped, "no reader").await;
    check("{only: {ios: only there}}", Verdict::Skipped, "only on ios: only there").await;
    check("{only: {android: only there}, skip: {ios: not there}}", Verdict::Passed, "").await;
    let wrong = |config: &str| {
        let text = format!("config: {config}\ntrail: [{{step: Go on, on: alice, tools: []}}]\n");
        let (_, problems) = Trail::read(&Source::new("a.trail.yaml", text.as_str()));
        problems.iter().map(|problem| problem.message.clone()).collect::<Vec<_>>().join("; ")
    };
    assert!(wrong("{skip: true, devices: {alice: android}}").contains("`skip` needs a reason"));
    assert!(wrong("{only: {android: ''}, devices: {alice: android}}").contains("`only` needs a reason"));
    assert!(wrong("{only: {android: x}, devices: {alice: android}}").contains("`only` has no use"));
}

#[tokio::test(start_paused = true)]
async fn a_step_is_skipped_with_its_reason() {
    let text = "trail:
  - step: Take a picture
    skip: the camera is being replaced
    tools: [{tap: {id: nowhere}}]
  - step: Pay with a card
    skip: {android: no reader there}
    tools: [{noSuchTool: {}}]
  - step: Shake
    only: {ios: only there}
    tools: [{tap: {id: nowhere}}]
  - step: Go on
    skip: {ios: not there}
    only: {android: only there}
    tools: [{tap: {id: next}}]
";
    let (session, _) = check(text, Verdict::Passed, "", &[TAP_NEXT]).await;
    let ends: Vec<(Verdict, String)> =
        ends(&session).into_iter().map(|(verdict, message, _)| (verdict, message)).collect();
    let skipped = |reason: &str| (Verdict::Skipped, reason.to_string());
    let expected = [
        skipped("the camera is being replaced"),
        skipped("no reader there"),
        skipped("only on ios: only there"),
        (Verdict::Passed, String::new()),
    ];
    assert_eq!(ends, expected);
    let device = TrailDevice::new(None, &["android".to_string()]);
    assert_eq!(preflight(&trail(text), &session.cx().session.registry(), &device, None), []);
}

#[tokio::test(start_paused = true)]
async fn a_condition_decides_which_calls_are_made() {
    let with = |when: &str, more: &str| {
        format!("trail:\n  - step: Go on\n    when: {{{when}}}\n    tools: [{{tap: {{id: next}}}}]\n{more}")
    };
    let otherwise = "    else: [{tap: {id: pay}}]\n";
    for when in ["isVisible: {text: Pay}", "assertVisible: {text: Pay}", "assertText: {id: page, is: '1'}"] {
        let (session, _) = check(&with(when, otherwise), Verdict::Passed, "", &[TAP_NEXT]).await;
        assert_eq!(ends(&session)[0].2, Some(StepChoice { held: Some(true), ..StepChoice::default() }));
    }
    let not = Some(StepChoice { held: Some(false), ..StepChoice::default() });
    for when in ["isVisible: {text: Sold out}", "assertVisible: {text: Sold out, timeoutMs: 0}"] {
        let (session, ended) = check(&with(when, otherwise), Verdict::Passed, "", &["Tap on Button \"Pay\""]).await;
        assert_eq!(ends(&session)[0].2, not);
        assert!(
            fold::fold(&ended.attempt, &session.events.all()).is_empty(),
            "other calls are not the recording of the step"
        );
        let (session, _) = check(&with(when, ""), Verdict::Passed, "", &[]).await;
        let (verdict, message, choice) = ends(&session).remove(0);
        assert_eq!((verdict, choice), (Verdict::Skipped, not));
        assert!(message.starts_with("`when` does not hold: "), "{message}");
    }
    let text = with("getElementText: {id: page}", "");
    let why = "step 1 \"Go on\": `getElementText` failed: a condition needs true or false, and `getElementText` answered \"1\"";
    let (_, ended) = check(&text, Verdict::Failed, why, &[]).await;
    assert_eq!(ended.place.map(|place| place.line), Some(3));
}

#[tokio::test(start_paused = true)]
async fn a_condition_that_held_leaves_the_recording_of_its_step() {
    let text = "trail:
  - step: Go on
    when: {isVisible: {text: Pay}}
    tools: [{tap: {id: next}}]
";
    let (session, ended) = check(text, Verdict::Passed, "", &[TAP_NEXT]).await;
    let recorded = fold::fold(&ended.attempt, &session.events.all());
    assert_eq!(recorded[0].calls, [json!({"tap": {"id": "next"}})]);
}

#[tokio::test(start_paused = true)]
async fn a_step_repeats_until_a_check_holds() {
    let until = |until: &str, times: u32| {
        format!(
            "trail:\n  - step: Go to the end\n    repeat: {{until: {{{until}}}, times: {times}}}\n    tools: [{{tap: {{text: Next}}}}]\n"
        )
    };
    let (session, ended) = check(&until("isVisible: {text: End}", 5), Verdict::Passed, "", &[TAP_NEXT, TAP_NEXT]).await;
    assert_eq!(ends(&session)[0].2, Some(StepChoice { rounds: Some(2), ..StepChoice::default() }));
    assert!(fold::fold(&ended.attempt, &session.events.all()).is_empty());
    let (session, _) = check(&until("isVisible: {text: Pay}", 5), Verdict::Passed, "", &[]).await;
    assert_eq!(ends(&session)[0].2, Some(StepChoice { rounds: Some(0), ..StepChoice::default() }));
    let message =
        "step 1 \"Go to the end\": `until` does not hold after 1 round: `isVisible {text: End}` answered false";
    let (_, ended) = check(&until("isVisible: {text: End}", 1), Verdict::Failed, message, &[TAP_NEXT]).await;
    assert_eq!(ended.place.map(|place| place.line), Some(3));
}

#[tokio::test(start_paused = true)]
async fn steps_before_and_after_a_trail_are_carried_out_in_order() {
    let text = "before:
  - step: Remember who
    tools: [{remember: {variable: id, value: next}}]
trailhead:
  step: Start
  tools: [{tap: {id: '{{id}}'}}]
trail:
  - step: Go on
    tools: [{tap: {id: again}}]
after:
  - step: End
    tools: [{tap: {id: end}}]
";
    let (session, ended) = check(text, Verdict::Passed, "", &[TAP_NEXT, TAP_NEXT, "Tap on Button \"End\""]).await;
    let hooks: Vec<(usize, Option<HookKind>)> = session
        .events
        .all()
        .into_iter()
        .filter_map(|event| match event {
            Event::StepStarted { index, hook, .. } => Some((index, hook)),
            _ => None,
        })
        .collect();
    assert_eq!(hooks, [(2, Some(HookKind::Before)), (0, None), (1, None), (3, Some(HookKind::After))]);
    assert_eq!(ended.verdict, Verdict::Passed);
}

#[tokio::test(start_paused = true)]
async fn what_is_after_a_trail_is_done_however_it_ended() {
    let text = "trail:
  - verify: It says so
    tools: [{assertVisible: {text: Nowhere, timeoutMs: 0}}]
after:
  - step: Clean up one
    tools: [{tap: {id: gone, timeoutMs: 0}}]
  - step: Clean up two
    tools: [{tap: {id: next}}]
";
    let session = session();
    let ended = session.replay(&trail(text)).await;
    assert_eq!((ended.verdict, session.driver.done()), (Verdict::Failed, vec![TAP_NEXT.to_string()]));
    assert!(ended.message.starts_with("step 1 \"It says so\": `assertVisible` failed"), "{}", ended.message);
    assert!(
        ended.message.contains("\nalso failed:\n  step 1 of `after` \"Clean up one\": `tap` failed"),
        "{}",
        ended.message
    );
    let failure = session.events.all().into_iter().find_map(|event| match event {
        Event::AttemptEnded { failure, .. } => failure,
        _ => None,
    });
    let failure = failure.expect("a failure");
    assert!(failure.message.contains("\nalso failed:\n  step 1 of `after` \"Clean up one\""), "{}", failure.message);
    let lines: Vec<_> = failure.parts.iter().map(|part| part.place.as_ref().map(|place| place.line)).collect();
    assert_eq!(lines, [Some(3), Some(6)]);
    let passing = text.replace("Nowhere", "Pay");
    let ended = TestWiring::new(shop()).open().replay(&trail(&passing)).await;
    assert_eq!(ended.verdict, Verdict::Failed);
    assert!(ended.message.starts_with("step 1 of `after` \"Clean up one\": `tap` failed"), "{}", ended.message);
}

#[tokio::test(start_paused = true)]
async fn what_is_after_a_trail_is_done_also_when_it_was_cancelled() {
    let started = Arc::new(Notify::new());
    let hangs = Arc::clone(&started);
    let hanging = FakeSource::new("acme").tool("hang", move |cx, _| {
        let hangs = Arc::clone(&hangs);
        async move {
            hangs.notify_one();
            cx.cancel.cancelled().await;
            Outcome::failed("was cancelled")
        }
    });
    let text = "trail:
  - step: Hang
    tools: [{hang: {}}]
  - step: Never reached
    tools: [{tap: {id: pay}}]
after:
  - step: Clean up
    tools: [{tap: {id: next}}]
";
    let session = TestWiring::new(shop()).with(hanging.batch()).open();
    let trail = trail(text);
    let cancel = async {
        started.notified().await;
        session.cancel.cancel();
    };
    let (ended, ()) = tokio::join!(session.replay(&trail), cancel);
    assert!(matches!(ended.verdict, Verdict::Cancelled | Verdict::Failed), "{ended:?}");
    assert_eq!(session.driver.done(), [TAP_NEXT]);
}

#[test]
fn what_a_step_cannot_be_is_said_at_its_place() {
    for (step, message) in [
        ("skip: ''", "`skip` needs a reason"),
        ("skip: true", "`skip` needs a reason"),
        ("skip: {}", "`skip` needs a reason"),
        ("only: {ios: ' '}", "`only` needs a reason"),
        ("else: [{tap: {id: a}}]", "`else` needs `when`"),
        ("repeat: {until: {isVisible: {id: a}}, times: 0}", "`times` must be from 1 to 1000, not 0"),
        ("repeat: {until: {isVisible: {id: a}}}", "`times` is missing"),
        ("repeat: {until: {isVisible: {id: a}}, times: 3}", "a step that repeats needs calls"),
        ("when: [{isVisible: {id: a}}]", "a call must be written as"),
    ] {
        let (_, problems) = Trail::read(&Source::new("a", format!("trail:\n  - step: Pay\n    {step}\n")));
        assert!(problems.iter().any(|problem| problem.to_string().contains(message)), "{step}: {problems:?}");
    }
    let (_, problems) = Trail::read(&Source::new("a", "trail:\n  - verify: Paid\n    optional: true\n"));
    assert!(problems[0].to_string().contains("a `verify` that may fail checks nothing"), "{}", problems[0]);
    let (_, problems) = Trail::read(&Source::new("a", "trail:\n  - step: Pay\nafter:\n  - step: Clean up\n"));
    assert!(problems[0].to_string().contains("a step of `before` or `after` needs `tools`"), "{}", problems[0]);
}

#[tokio::test(start_paused = true)]
async fn the_calls_of_conditions_and_of_what_is_before_and_after_are_checked_before_a_run() {
    let session = session();
    let problems = |text: &str| {
        let device = TrailDevice::new(None, &["android".to_string()]);
        preflight(&trail(text), &session.cx().session.registry(), &device, None)
    };
    let step = |more: &str| format!("trail:\n  - step: Pay\n    tools: []\n    {more}\n");
    assert!(
        problems(&step("when: {tap: {id: pay}}"))[0]
            .message
            .contains("a condition asks or checks something, and `tap` acts")
    );
    for text in [
        step("when: {nowhere: {}}"),
        step("when: {isVisible: {id: a}}\n    else: [{nowhere: {}}]"),
        step("repeat: {until: {nowhere: {}}, times: 3}"),
        format!("before: [{{step: a, tools: [{{nowhere: {{}}}}]}}]\n{}", step("")),
        format!("after: [{{step: a, tools: [{{nowhere: {{}}}}]}}]\n{}", step("")),
    ] {
        assert!(problems(&text).iter().any(|problem| problem.message.contains("nowhere")), "{text}");
    }
}
