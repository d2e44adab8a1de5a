//! `dispatch`: the events of a call, and how calls fail.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use trailblaze_core::engine::dispatch::{Call, dispatch};
use trailblaze_core::engine::fault::Fault;
use trailblaze_core::limits;
use trailblaze_core::testing::{FakeDriver, FakeSource, Mishap, TestPage, TestSession, TestWiring, args, button};
use trailblaze_core::trail::Trail;
use trailblaze_core::yaml::Source;
use trailblaze_protocol::device_event::DeviceEvent;
use trailblaze_protocol::event::{CallOrigin, Event};
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::outcome::{Outcome, Variant};

/// The failure of a tool that is silent for too long.
const SILENT: &str =
    "`sleep` did not answer in time: server `acme` was silent for 2m; raise `callTimeout:` of its entry to allow more";

fn phone() -> FakeDriver {
    FakeDriver::new("android/one", [TestPage::new("home", [button("pay", "Pay")])])
}

fn session(source: FakeSource) -> TestSession {
    TestWiring::new(phone()).with(source.batch()).open()
}

/// A tool that returns its arguments.
fn echo(source: FakeSource) -> FakeSource {
    source.tool("echo", |_, args| async move { Outcome::success(Value::Object(args).to_string()) })
}

/// Makes one call, and compares the result and the recorded calls.
async fn check(session: &TestSession, tool: &str, arguments: Value, answer: Result<&str, &str>, calls: &[&str]) {
    let given = session.call(tool, arguments).await;
    let text = given.map(|outcome| outcome.text).map_err(|fault| fault.to_string());
    assert_eq!(text, answer.map(str::to_string).map_err(str::to_string));
    assert_eq!(session.events.calls(), calls);
}

#[tokio::test(start_paused = true)]
async fn every_call_is_recorded_with_its_parent_and_origin() {
    let source = FakeSource::new("acme").tool("login", |cx, _| async move {
        cx.call("isVisible", args(json!({"id": "pay"}))).await.unwrap();
        cx.call("tap", args(json!({"id": "pay"}))).await.unwrap();
        Outcome::delegating(vec![serde_json::from_value(json!({"tool": "eraseText"})).unwrap()])
    });
    let session = session(source);
    check(
        &session,
        "login",
        json!({"who": "Ada"}),
        Ok(""),
        &[
            r#"login {"who":"Ada"} step: ok"#,
            r#"  isVisible {"id":"pay"} callback: ok"#,
            r#"  tap {"id":"pay"} callback: ok"#,
            r#"  eraseText {} delegate: ok"#,
            r#"    maestro {"commands":[{"eraseText":{"charactersToErase":null}}]} expansion: ok"#,
        ],
    )
    .await;
    assert_eq!(session.driver.done(), ["Tap on Button \"Pay\"", "EraseText { count: None }"]);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_tool_is_the_callers_mistake_and_a_similar_one_is_suggested() {
    check(
        &session(FakeSource::new("acme")),
        "tapp",
        json!({}),
        Err("unknown tool `tapp`; did you mean `tap`?"),
        &["tapp {} step: exit 3: unknown tool `tapp`; did you mean `tap`?"],
    )
    .await;
    let filtered = FakeSource::new("acme")
        .answering("swipeLeft", Outcome::default())
        .marked(|tool| tool.supported_platforms = vec![trailblaze_protocol::driver::Platform::Ios]);
    let message = "`swipeLeft` is unsupported on android; server acme offers it, but it is for ios, not android";
    check(
        &session(filtered),
        "swipeLeft",
        json!({}),
        Err(message),
        &[&format!("swipeLeft {{}} step: exit 3: {message}")],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn invalid_arguments_are_rejected_before_the_tool_runs() {
    let session = session(FakeSource::new("acme"));
    let message = "`inputText`: missing argument `text`; unknown argument `txt`; did you mean `text`?";
    check(
        &session,
        "inputText",
        json!({"txt": "Ada"}),
        Err(message),
        &[&format!("inputText {{\"txt\":\"Ada\"}} step: exit 3: {message}")],
    )
    .await;
    assert_eq!(session.driver.done(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn null_for_an_optional_argument_counts_as_omitted() {
    let session = session(FakeSource::new("acme"));
    check(
        &session,
        "tap",
        json!({"id": "pay", "index": null, "longPress": null}),
        Ok("tap on Button \"Pay\""),
        &[r#"tap {"id":"pay","index":null,"longPress":null} step: ok"#],
    )
    .await;
    let missing = session.call("inputText", json!({"text": null})).await.unwrap_err();
    assert_eq!(missing.to_string(), "`inputText`: `text`: null is not of type \"string\"");
}

#[tokio::test(start_paused = true)]
async fn a_wrong_call_in_a_file_is_reported_with_its_place() {
    let text =
        "trail:\n  - step: Pay\n    tools:\n      - tapp: {}\n      - tap: {index: one}\n      - tap: {idd: pay}\n";
    let (trail, problems) = Trail::read(&Source::new("a.trail.yaml", text));
    assert_eq!(problems, []);
    let calls = trail.unwrap().steps[0].tools.clone().unwrap();
    let session = session(FakeSource::new("acme"));
    let mut messages = Vec::new();
    for call in &calls {
        let fault = dispatch(&session.cx(), Call::written(call, CallOrigin::Step)).await.unwrap_err();
        assert_eq!(fault.exit(), Exit::Invalid);
        messages.push(fault.to_string());
    }
    assert_eq!(
        messages,
        [
            "a.trail.yaml:4:9: unknown tool `tapp`; did you mean `tap`?",
            "a.trail.yaml:5:22: `one` is not a whole number",
            "a.trail.yaml:6:9: `tap`: unknown argument `idd`; did you mean `id`?",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn the_record_keeps_templates_and_the_tool_gets_values() {
    let session = TestWiring::new(phone())
        .with(echo(FakeSource::new("acme")).taking(json!({"properties": {"count": {"type": "integer"}}})).batch())
        .remembering(json!({"who": "Ada", "n": "5"}))
        .open();
    check(
        &session,
        "echo",
        json!({"count": "{{n}}", "text": "Hi ${who}"}),
        Ok(r#"{"count":5,"text":"Hi Ada"}"#),
        &[r#"echo {"count":"{{n}}","text":"Hi ${who}"} step: ok"#],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_unknown_token_is_kept_with_one_warning() {
    let session = session(echo(FakeSource::new("acme")));
    for _ in 0..2 {
        assert_eq!(session.call("echo", json!({"a": "{{nobody}}!"})).await.unwrap().text, r#"{"a":"{{nobody}}!"}"#);
    }
    assert_eq!(
        session.events.warnings(),
        ["`{{nobody}}` is unknown: no value is remembered under that name; it is left unchanged"]
    );
}

#[tokio::test(start_paused = true)]
async fn an_undeclared_argument_of_the_trail_is_a_mistake() {
    let message = "`echo`: `{{args.who}}` refers to an argument that the trail does not declare";
    check(
        &session(echo(FakeSource::new("acme"))),
        "echo",
        json!({"a": "{{args.who}}"}),
        Err(message),
        &[&format!("echo {{\"a\":\"{{{{args.who}}}}\"}} step: exit 3: {message}")],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_a_bug_and_the_session_continues() {
    let session = session(FakeSource::new("acme").panicking("explode", "index 3 of 2"));
    let message = "this is a bug in Trailblaze: `explode` panicked: index 3 of 2";
    check(&session, "explode", json!({}), Err(message), &[&format!("explode {{}} step: exit 70: {message}")]).await;
    assert!(!session.call("tap", json!({"id": "pay"})).await.unwrap().is_error());
}

#[tokio::test(start_paused = true)]
async fn a_silent_tool_fails_after_the_idle_limit() {
    let session = session(FakeSource::new("acme").hanging("sleep"));
    let started = Instant::now();
    check(&session, "sleep", json!({}), Ok(SILENT), &[&format!("sleep {{}} step: failed: {SILENT}")]).await;
    assert_eq!(started.elapsed(), limits::CALL_IDLE);
    let notes = session.events.all().into_iter().filter_map(|event| match event {
        Event::Noted { text, .. } => Some(text),
        _ => None,
    });
    assert_eq!(notes.collect::<Vec<_>>(), ["silent for 30s; it is stopped after 2m of silence"]);
}

#[tokio::test(start_paused = true)]
async fn progress_renews_the_limit_up_to_the_hard_cap() {
    let source = FakeSource::new("acme")
        .tool("work", |cx, args| async move {
            for _ in 0..args["minutes"].as_u64().unwrap() {
                tokio::time::sleep(Duration::from_secs(60)).await;
                cx.progress("still at it");
            }
            Outcome::success("done")
        })
        .tool("ask", |cx, _| async move {
            for _ in 0..5 {
                tokio::time::sleep(Duration::from_secs(100)).await;
                cx.call("hasText", args(json!({"text": "Pay"}))).await.unwrap();
            }
            Outcome::success("done")
        });
    let session = session(source);
    let started = Instant::now();
    assert_eq!(session.call("work", json!({"minutes": 9})).await.unwrap(), Outcome::success("done"));
    assert_eq!(session.call("ask", json!({})).await.unwrap(), Outcome::success("done"));
    assert_eq!(started.elapsed(), Duration::from_secs(540 + 500));
    let started = Instant::now();
    assert_eq!(
        session.call("work", json!({"minutes": 11})).await.unwrap(),
        Outcome::failed("`work` did not answer in time: it took longer than 10m in total")
    );
    assert_eq!(started.elapsed(), limits::CALL_TOTAL);
}

#[tokio::test(start_paused = true)]
async fn the_result_of_a_nested_call_renews_the_idle_limit() {
    let source = FakeSource::new("acme").hanging("sleep").tool("patient", |cx, _| async move {
        let answer = cx.call("sleep", args(json!({}))).await.unwrap();
        tokio::time::sleep(Duration::from_secs(60)).await;
        Outcome::success(format!("it said: {}", answer.text))
    });
    check(
        &session(source),
        "patient",
        json!({}),
        Ok(&format!("it said: {SILENT}")),
        &["patient {} step: ok", &format!("  sleep {{}} callback: failed: {SILENT}")],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn cancelling_ends_a_call_and_its_nested_calls_after_a_grace_period() {
    let source = FakeSource::new("acme").hanging("sleep").calling("outer", "sleep", json!({}));
    let session = session(source);
    let cancel = session.cancel.clone();
    let started = Instant::now();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    });
    assert_eq!(session.call("outer", json!({})).await, Err(Fault::Cancelled));
    assert_eq!(started.elapsed(), Duration::from_secs(1) + limits::CANCEL_GRACE);
    assert_eq!(session.events.calls(), ["outer {} step: exit 2: cancelled", "  sleep {} callback: exit 2: cancelled"]);
    assert_eq!(session.call("tap", json!({"id": "pay"})).await, Err(Fault::Cancelled));
}

#[tokio::test(start_paused = true)]
async fn a_queued_call_does_not_run_once_it_is_cancelled() {
    let session = session(echo(FakeSource::new("acme")).hanging("sleep"));
    let (first, second) = (session.call("sleep", json!({})), session.call("echo", json!({})));
    let cancel = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        session.cancel.cancel();
    };
    let (first, second, ()) = tokio::join!(first, second, cancel);
    assert_eq!((first, second), (Err(Fault::Cancelled), Err(Fault::Cancelled)));
    assert_eq!(session.events.calls(), ["sleep {} step: exit 2: cancelled"]);
}

#[tokio::test(start_paused = true)]
async fn failures_of_the_environment_keep_their_exit_code() {
    let lost = TestWiring::new(phone().with(Mishap::LostAfter(0))).open();
    let message = "the device was lost: the cable was pulled";
    check(&lost, "pressBack", json!({}), Err(message), &[&format!("pressBack {{}} step: exit 2: {message}")]).await;
    let silent = TestWiring::new(phone().with(Mishap::Hangs)).open();
    let message = "the device did not answer in time: pressKey";
    check(&silent, "pressBack", json!({}), Err(message), &[&format!("pressBack {{}} step: exit 2: {message}")]).await;
    let refusing = TestWiring::new(phone().with(Mishap::Refuses("the screen is locked".into()))).open();
    check(
        &refusing,
        "pressBack",
        json!({}),
        Ok("the screen is locked"),
        &["pressBack {} step: failed: the screen is locked"],
    )
    .await;
    let message = "server `acme` died: exit code 3";
    check(
        &session(FakeSource::new("acme").dying("die", "exit code 3")),
        "die",
        json!({}),
        Err(message),
        &[&format!("die {{}} step: exit 2: {message}")],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_element_that_appears_later_is_waited_for() {
    let pages = [TestPage::new("empty", []), TestPage::new("home", [button("pay", "Pay")])];
    let driver = FakeDriver::new("android/one", pages).later(Duration::from_secs(3), "home");
    let session = TestWiring::new(driver).open();
    let started = Instant::now();
    assert_eq!(session.call("isVisible", json!({"id": "pay"})).await.unwrap(), Outcome::value("false", json!(false)));
    assert!(!session.call("tap", json!({"id": "pay"})).await.unwrap().is_error());
    assert_eq!(started.elapsed(), Duration::from_secs(3));
    let missing = session.call("assertVisible", json!({"text": "Thanks"})).await.unwrap();
    assert_eq!(missing.variant, Variant::AssertionFailed);
    assert_eq!(started.elapsed(), Duration::from_secs(8));
}

#[tokio::test(start_paused = true)]
async fn a_secret_is_valid_wherever_a_text_is() {
    let schema = json!({"properties": {
        "pin": {"type": "string", "pattern": "^[0-9]{4}$", "maxLength": 4}, "n": {"type": "integer"}
    }});
    let source = echo(FakeSource::new("acme")).taking(schema);
    let session = TestWiring::new(phone()).with(source.batch()).secret("PIN", "4711").open();
    assert_eq!(session.call("echo", json!({"pin": "{{PIN}}"})).await.unwrap().text, r#"{"pin":"{{PIN}}"}"#);
    for arguments in [json!({"pin": "{{KEY}}"}), json!({"n": "{{PIN}}"})] {
        assert_eq!(session.call("echo", arguments).await.unwrap_err().exit(), Exit::Invalid);
    }
}

#[tokio::test(start_paused = true)]
async fn the_result_of_a_cancelled_tool_that_ends_by_itself_is_recorded() {
    let source = FakeSource::new("acme").tool("careful", |cx, _| async move {
        cx.cancel.cancelled().await;
        tokio::time::sleep(limits::CANCEL_GRACE / 2).await;
        Outcome::failed("stopped half way")
    });
    let session = session(source);
    let cancel = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        session.cancel.cancel();
    };
    let careful =
        check(&session, "careful", json!({}), Ok("stopped half way"), &["careful {} step: failed: stopped half way"]);
    tokio::join!(careful, cancel);
}

#[tokio::test(start_paused = true)]
async fn concurrent_nested_calls_all_reach_the_device() {
    let source = FakeSource::new("acme").tool("many", |cx, _| async move {
        let tap = || cx.call("tap", args(json!({"id": "pay"})));
        let answers = futures::future::join_all((0..20).map(|_| tap())).await;
        Outcome::success(
            answers.iter().filter(|answer| answer.as_ref().is_ok_and(|done| !done.is_error())).count().to_string(),
        )
    });
    let session = session(source);
    assert_eq!(session.call("many", json!({})).await.unwrap().text, "20");
    assert_eq!(session.driver.done(), vec!["Tap on Button \"Pay\""; 20]);
}

#[tokio::test(start_paused = true)]
async fn a_failure_says_what_is_in_the_way_of_the_app() {
    let crash = || DeviceEvent::Crash { why: "the app crashed:\nFATAL EXCEPTION: main".to_string() };
    let dialog = || DeviceEvent::SystemDialog { text: "a dialog asks for a permission".to_string() };
    let session = TestWiring::new(phone().saying(crash()).saying(dialog())).open();
    let tap = async |text: &str| session.call("tap", json!({"text": text, "timeoutMs": 1})).await.unwrap();
    let failed = tap("Nowhere").await;
    assert!(
        failed.text.ends_with("\nthe app crashed:\nFATAL EXCEPTION: main\na dialog asks for a permission"),
        "{failed:?}"
    );
    // The dialog came with the call before. The app is as dead as it was.
    let again = tap("Nowhere").await;
    assert!(again.text.ends_with("\nthe app crashed:\nFATAL EXCEPTION: main"), "{again:?}");
    assert!(!tap("Pay").await.text.contains("crashed"));
    let launched = session.call("launchApp", json!({"packageId": "a"})).await.unwrap();
    assert!(!launched.is_error(), "{launched:?}");
    assert!(!tap("Nowhere").await.text.contains("crashed"), "it was started anew");
}

#[tokio::test(start_paused = true)]
async fn arguments_for_phones_are_checked_before_the_device_is_asked() {
    let session = TestWiring::new(phone()).open();
    for (tool, args, said) in [
        (
            "mobile_setLocation",
            json!({"latitude": 91, "longitude": 0}),
            "`latitude` must be between -90 and 90, got 91",
        ),
        ("mobile_setLocale", json!({"locale": "de; reboot", "appId": "a"}), "must be a language tag such as de-DE"),
        ("mobile_setLocale", json!({"locale": "de-DE"}), "no app: pass `appId`"),
        ("mobile_startRecording", json!({"limitInSeconds": 0}), "`limitInSeconds` must be between 1 and 180, got 0"),
        ("mobile_drag", json!({"text": "Pay"}), "pass one place to drop it"),
        ("mobile_drag", json!({"toText": "Pay"}), "no element: pass `text` or `id`"),
    ] {
        let outcome = session.call(tool, args).await.unwrap();
        assert!(outcome.is_error() && outcome.text.contains(said), "{tool}: {outcome:?}");
    }
}
