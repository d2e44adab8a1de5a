//! The order of calls within a session, isolation between sessions, and callbacks.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::join_all;
use serde_json::json;
use trailblaze_core::engine::cx::Cx;
use trailblaze_core::engine::fault::Fault;
use trailblaze_core::engine::invocations::{Invocations, NoChain, Refused};
use trailblaze_core::engine::session_key::SessionKey;
use trailblaze_core::testing::{FakeDriver, FakeSource, TestPage, TestSession, TestWiring, args, button};
use trailblaze_protocol::ids::{CallId, DeviceId, SessionId};
use trailblaze_protocol::outcome::{MemoryChanges, Outcome};

fn device(id: &str) -> FakeDriver {
    FakeDriver::new(id, [TestPage::new("home", [button("pay", "Pay")])])
}

/// Two sessions of one run. They only share the calls in flight.
fn two_sessions(source: impl Fn() -> FakeSource) -> (TestSession, TestSession) {
    let invocations = Arc::new(Invocations::default());
    let open = |id: &str| {
        let mut wiring = TestWiring::new(device(id)).with(source().batch());
        wiring.invocations = Arc::clone(&invocations);
        wiring.open()
    };
    (open("android/one"), open("android/two"))
}

/// A source whose tool `whoAmI` stores the id of its own call in the slot.
fn telling(slot: &Arc<Mutex<Option<CallId>>>) -> FakeSource {
    let slot = Arc::clone(slot);
    FakeSource::new("acme").tool("whoAmI", move |cx, _| {
        *slot.lock().unwrap() = cx.call_id().cloned();
        async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Outcome::default()
        }
    })
}

/// Looks up a call in flight with a session and a device to cross-check.
fn check(test: &TestSession, call: &CallId, session: &SessionId, device: &str, expected: Result<(), &str>) {
    let found = test.inner.invocations.find(call, Some(session), Some(&DeviceId::new(device)));
    assert_eq!(found.map(|_| ()).map_err(|refused| refused.to_string()), expected.map_err(str::to_string));
}

#[tokio::test(start_paused = true)]
async fn a_session_is_found_by_its_key_until_it_is_closed() {
    let (one, two) = two_sessions(|| FakeSource::new("acme"));
    let invocations = &one.inner.invocations;
    let found = |key: &SessionKey| invocations.session(key).map(|session| session.id.clone());
    let presented = |key: &SessionKey| SessionKey::presented(key.expose());
    let (first, second) = (presented(one.inner.key()), presented(two.inner.key()));
    assert_eq!((found(&first), found(&second)), (Some(one.inner.id.clone()), Some(two.inner.id.clone())));
    assert_eq!(found(&SessionKey::presented(one.inner.id.as_str())), None, "an id is not a key");
    one.inner.close("").await;
    assert_eq!((found(&first), found(&second)), (None, Some(two.inner.id.clone())));
    let events = format!("{:?} {first:?}", two.events.all());
    assert!(!events.contains(second.expose()) && !events.contains(first.expose()), "a key is in no record");
}

#[tokio::test(start_paused = true)]
async fn a_caller_without_an_id_belongs_to_the_only_chain_of_foreign_calls() {
    type Chain = Result<Option<CallId>, NoChain>;
    type Seen = Arc<Mutex<Vec<(Option<CallId>, Chain)>>>;
    fn chain(cx: &Cx) -> Chain {
        cx.session.invocations.single_chain().map(|cx| cx.call_id().cloned())
    }
    let seen: Seen = Arc::default();
    let note = {
        let seen = Arc::clone(&seen);
        move |cx: &Cx| seen.lock().unwrap().push((cx.call_id().cloned(), chain(cx)))
    };
    let source = || {
        let (inner, outer) = (note.clone(), note.clone());
        FakeSource::new("acme")
            .tool("inner", move |cx, _| {
                inner(&cx);
                async {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    Outcome::default()
                }
            })
            .tool("twice", |cx, _| async move {
                let (first, second) =
                    tokio::join!(cx.call("inner", args(json!({}))), cx.call("inner", args(json!({}))));
                first.and(second).unwrap()
            })
            .tool("outer", move |cx, _| {
                let outer = outer.clone();
                async move {
                    let answer = cx.call("inner", args(json!({}))).await.unwrap();
                    outer(&cx);
                    answer
                }
            })
    };
    let (one, two) = two_sessions(source);
    one.call("outer", json!({})).await.unwrap();
    assert_eq!(seen.lock().unwrap().pop().unwrap().1, Err(NoChain::Sessions));
    two.inner.close("").await;
    seen.lock().unwrap().clear();

    assert_eq!(one.inner.invocations.single_chain().err(), Some(NoChain::NoCall));
    one.call("outer", json!({})).await.unwrap();
    for (own, found) in seen.lock().unwrap().drain(..) {
        assert_eq!(found, Ok(own), "the innermost of a tool and its callbacks");
    }
    one.call("twice", json!({})).await.unwrap();
    let last = seen.lock().unwrap().pop().unwrap().1;
    assert_eq!(last, Err(NoChain::Several));
}

#[tokio::test(start_paused = true)]
async fn top_level_calls_are_first_in_first_out() {
    // Earlier calls take longer.
    let source = FakeSource::new("acme").tool("work", |cx, args| async move {
        let n = args["n"].as_u64().unwrap();
        tokio::time::sleep(Duration::from_secs(20 - n)).await;
        cx.call("inputText", trailblaze_core::testing::args(json!({"text": n.to_string(), "hideKeyboardAfter": false})))
            .await
            .unwrap()
    });
    let session = TestWiring::new(device("android/one")).with(source.batch()).open();
    join_all((0..10).map(|n| session.call("work", json!({"n": n})))).await;
    let expected: Vec<String> = (0..10).map(|n| format!("InputText {{ text: \"{n}\" }}")).collect();
    assert_eq!(session.driver.done(), expected);
}

#[tokio::test(start_paused = true)]
async fn nested_calls_never_queue_behind_the_running_call() {
    let source = FakeSource::new("acme")
        .tool("outer", |cx, _| async move {
            // The queued call must not run between these two.
            cx.call("inner", args(json!({}))).await.unwrap();
            cx.call("pressBack", args(json!({}))).await.unwrap()
        })
        .delegating("inner", &[("tap", json!({"id": "pay"}))]);
    let session = TestWiring::new(device("android/one")).with(source.batch()).open();
    let (outer, waiting) = tokio::join!(session.call("outer", json!({})), session.call("pressHome", json!({})));
    assert!(!outer.unwrap().is_error() && !waiting.unwrap().is_error());
    assert_eq!(session.driver.done(), ["Tap on Button \"Pay\"", "PressKey { key: Back }", "PressKey { key: Home }"]);
}

#[tokio::test(start_paused = true)]
async fn two_sessions_share_neither_device_nor_memory() {
    let source = || {
        FakeSource::new("acme").tool("work", |cx, arguments| async move {
            let text = arguments["text"].as_str().unwrap().to_string();
            let n = text.len() as u64 % 3;
            tokio::time::sleep(Duration::from_millis(n)).await;
            let typed = json!({"text": text, "hideKeyboardAfter": false});
            cx.call("inputText", args(typed)).await.unwrap();
            let set = args(json!({"last": text, "device": cx.session.device.description().id}));
            Outcome { memory: MemoryChanges { set, deleted: vec![] }, ..Outcome::default() }
        })
    };
    let (one, two) = two_sessions(source);
    let calls = |name: &'static str, to: Arc<TestSession>| async move {
        let calls = (0..50).map(|n| {
            let to = Arc::clone(&to);
            async move { to.call("work", json!({"text": format!("{name}{n}")})).await.unwrap() }
        });
        join_all(calls).await
    };
    let (one, two) = (Arc::new(one), Arc::new(two));
    tokio::join!(calls("one", Arc::clone(&one)), calls("two", Arc::clone(&two)));
    for (name, session) in [("one", one), ("two", two)] {
        let expected: Vec<String> = (0..50).map(|n| format!("InputText {{ text: \"{name}{n}\" }}")).collect();
        assert_eq!(session.driver.done(), expected);
        let remembered = json!({"last": format!("{name}49"), "device": format!("android/{name}")});
        assert_eq!(*session.attempt.memory().values(), args(remembered));
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_in_flight_is_found_by_its_id_and_only_with_its_own_session_and_device() {
    let slot = Arc::new(Mutex::new(None));
    let (one, two) = two_sessions(|| telling(&slot));
    let look = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let call = slot.lock().unwrap().clone().unwrap();
        check(&two, &call, &one.inner.id, "android/one", Ok(()));
        check(
            &one,
            &call,
            &two.inner.id,
            "android/one",
            Err(&format!("The invocation {call} belongs to another session.")),
        );
        check(
            &one,
            &call,
            &one.inner.id,
            "android/two",
            Err(&format!("The invocation {call} belongs to another device.")),
        );
        let unknown = CallId::new("c-guessed");
        check(
            &one,
            &unknown,
            &one.inner.id,
            "android/one",
            Err("Unknown invocation ID: c-guessed. The tool call may have completed or timed out."),
        );
        let parent = one.inner.invocations.find(&call, None, None).unwrap();
        parent.call("tap", args(json!({"id": "pay"}))).await.unwrap();
    };
    let (answer, ()) = tokio::join!(one.call("whoAmI", json!({})), look);
    assert!(!answer.unwrap().is_error());
    assert_eq!(one.events.calls(), ["whoAmI {} step: ok", r#"  tap {"id":"pay"} callback: ok"#]);
    assert_eq!((one.driver.done().len(), two.driver.done().len()), (1, 0));
    let call = slot.lock().unwrap().clone().unwrap();
    assert_eq!(one.inner.invocations.find(&call, None, None).err(), Some(Refused::Unknown(call)));
}

#[tokio::test(start_paused = true)]
async fn an_id_is_invalid_however_the_call_ended() {
    let source = FakeSource::new("acme")
        .answering("succeed", Outcome::default())
        .answering("fail", Outcome::failed("no"))
        .panicking("explode", "boom")
        .dying("die", "exit code 3")
        .hanging("sleep")
        .calling("nest", "sleep", json!({}));
    let session = TestWiring::new(device("android/one")).with(source.batch()).open();
    for tool in ["succeed", "fail", "explode", "die", "nobody", "sleep", "nest"] {
        let _ = session.call(tool, json!({})).await;
        assert!(session.inner.invocations.is_empty(), "{tool}");
    }
    // The future is dropped.
    let gave_up = tokio::time::timeout(Duration::from_secs(1), session.call("nest", json!({}))).await;
    assert!(gave_up.is_err() && session.inner.invocations.is_empty());
    let cancel = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(session.inner.invocations.len(), 2);
        session.cancel.cancel();
    };
    let (answer, ()) = tokio::join!(session.call("nest", json!({})), cancel);
    assert_eq!(answer, Err(Fault::Cancelled));
    assert!(session.inner.invocations.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_late_callback_is_refused() {
    let slot = Arc::new(Mutex::new(None));
    let session = TestWiring::new(device("android/one")).with(telling(&slot).batch()).open();
    session.call("whoAmI", json!({})).await.unwrap();
    let call = slot.lock().unwrap().clone().unwrap();
    let message = format!("Unknown invocation ID: {call}. The tool call may have completed or timed out.");
    check(&session, &call, &session.inner.id, "android/one", Err(&message));
}
