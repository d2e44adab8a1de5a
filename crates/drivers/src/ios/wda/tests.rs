//! The client against a scripted server: what it sends, and what it makes of faults.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use trailblaze_core::driver::{Budget, DriverError};

use super::fake::{FakeWda, ReceivedRequest, WdaReply, budget};
use super::{WdaAddress, WdaClient, WdaCode, WdaError};
use crate::ios::usb::Usbmuxd;

/// One that has sessions, and does what it is asked to.
fn obliging(asked: &ReceivedRequest) -> WdaReply {
    match asked.what.as_str() {
        "POST /session" => WdaReply::Value(json!({"sessionId": "A-1", "capabilities": {}})),
        _ => WdaReply::Value(Value::Null),
    }
}

async fn client(script: impl Fn(&ReceivedRequest) -> WdaReply + Send + Sync + 'static) -> (FakeWda, WdaClient) {
    let wda = FakeWda::start(script).await;
    let client = WdaClient::new(wda.address.clone(), &Usbmuxd::of_environment(None));
    (wda, client)
}

/// What a client makes of the answer to `GET /status`.
async fn status(reply: impl Fn() -> WdaReply + Send + Sync + 'static) -> Result<Value, WdaError> {
    let (_wda, client) = client(move |_| reply()).await;
    client.get(&budget(), "/status").await
}

#[tokio::test]
async fn a_session_is_made_when_it_is_needed_and_ended_once() {
    let (wda, client) = client(obliging).await;
    client.close(&budget()).await.expect("there is none");
    client.get(&budget(), "/status").await.expect("it answers");
    for _ in 0..2 {
        client.session_post(&budget(), "/wda/tap", json!({"x": 1})).await.expect("it taps");
    }
    client.close(&budget()).await.expect("it ends");
    client.close(&budget()).await.expect("it has ended");
    let expected = [
        "GET /status",
        "POST /session",
        "POST /session/A-1/wda/tap",
        "POST /session/A-1/wda/tap",
        "DELETE /session/A-1",
    ];
    assert_eq!(wda.requests(), expected);
    assert_eq!(wda.asked()[2].body, json!({"x": 1}));
    assert!(wda.asked()[1].body["capabilities"]["alwaysMatch"].is_object());
}

#[tokio::test]
async fn connections_are_kept() {
    let (wda, client) = client(obliging).await;
    for _ in 0..5 {
        client.get(&budget(), "/status").await.expect("it answers");
    }
    assert_eq!(wda.connections(), 1);
}

#[tokio::test]
async fn a_dropped_session_is_made_anew_once() {
    let made = AtomicU32::new(0);
    let (wda, client) = client(move |asked| match asked.what.as_str() {
        "POST /session" => {
            let number = made.fetch_add(1, Ordering::SeqCst) + 1;
            WdaReply::Value(json!({"sessionId": format!("S-{number}")}))
        }
        what if what.starts_with("POST /session/S-1/") => WdaReply::Error(404, "invalid session id", "it is over"),
        _ => WdaReply::Value(json!("tapped")),
    })
    .await;
    let answer = client.session_post(&budget(), "/wda/tap", json!({})).await;
    assert_eq!(answer, Ok(json!("tapped")));
    let expected = ["POST /session", "POST /session/S-1/wda/tap", "POST /session", "POST /session/S-2/wda/tap"];
    assert_eq!(wda.requests(), expected);
}

#[tokio::test]
async fn one_that_drops_every_session_is_named() {
    let (wda, client) = client(|asked| match asked.what.as_str() {
        "POST /session" => WdaReply::Value(json!({"sessionId": "S"})),
        _ => WdaReply::Error(404, "invalid session id", "it is over"),
    })
    .await;
    let error = client.session_post(&budget(), "/wda/tap", json!({})).await.expect_err("it fails");
    assert!(matches!(error, WdaError::SessionTaken { .. }), "{error:?}");
    assert_eq!(wda.requests().len(), 4, "it is not tried for ever");
    assert!(matches!(DriverError::from(error), DriverError::Lost { .. }));
}

#[tokio::test]
async fn an_id_that_would_change_the_path_is_refused() {
    let (wda, client) = client(|_| WdaReply::Value(json!({"sessionId": "../status?x"}))).await;
    let error = client.session_post(&budget(), "/wda/tap", json!({})).await.expect_err("it fails");
    assert!(matches!(error, WdaError::NotWda { .. }), "{error:?}");
    assert_eq!(wda.requests(), ["POST /session"]);
}

#[tokio::test]
async fn the_code_words_decide_what_kind_of_error_it_is() {
    let driver_error = async |status, code| {
        let (_wda, client) = client(move |_| WdaReply::Error(status, code, "because\n of  this")).await;
        DriverError::from(client.get(&budget(), "/x").await.expect_err("it fails"))
    };
    let text = "`GET /x` failed in WebDriverAgent (stale element reference): because of this";
    assert_eq!(driver_error(404, "stale element reference").await, DriverError::Evaded { how: text.to_string() });
    assert!(matches!(driver_error(400, "invalid coordinates").await, DriverError::Evaded { .. }));
    assert!(matches!(driver_error(408, "timeout").await, DriverError::TimedOut { .. }));
    assert!(matches!(driver_error(500, "unable to capture screen").await, DriverError::Refused { .. }));
    let DriverError::Refused { reason } = driver_error(404, "unknown command").await else { panic!("it is refused") };
    assert!(reason.ends_with("a newer WebDriverAgent may know it"), "{reason}");
    assert!(matches!(driver_error(500, "no such cookie").await, DriverError::Refused { .. }));
}

#[tokio::test]
async fn what_is_not_web_driver_agent_is_quoted() {
    let error = status(|| WdaReply::html(500, "<html><h1>Bad gateway</h1></html>")).await.expect_err("it fails");
    let text = error.to_string();
    assert!(
        text.contains("is not WebDriverAgent: `GET /status` returned status 500 and `<html><h1>Bad gateway"),
        "{text}"
    );
    assert!(matches!(DriverError::from(error), DriverError::Refused { .. }));
    let error = status(|| WdaReply::Bytes(b"SSH-2.0-OpenSSH_9.6\r\n\r\n".to_vec())).await.expect_err("it fails");
    assert!(matches!(error, WdaError::Closed { .. }), "{error:?}");
}

#[tokio::test]
async fn an_answer_that_is_cut_off_is_no_answer() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"value\": ";
    let error = status(move || WdaReply::Bytes(head.as_bytes().to_vec())).await.expect_err("it fails");
    assert!(matches!(error, WdaError::Closed { .. }), "{error:?}");
    assert!(matches!(DriverError::from(error), DriverError::Lost { .. }));
}

#[tokio::test]
async fn an_answer_is_bounded() {
    let (_wda, client) = client(|_| WdaReply::Value(json!("x".repeat(2 << 20)))).await;
    let error = client.get(&budget(), "/status").await.expect_err("it is too large");
    assert!(matches!(error, WdaError::TooLarge { .. }), "{error:?}");
    client.get_tree(&budget(), "/source").await.expect("a tree may be larger");
}

#[tokio::test]
async fn nobody_at_the_address_is_named() {
    let port = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.expect("a port").local_addr().expect("it").port();
    let address = WdaAddress::parse("wda", &format!("http://127.0.0.1:{port}")).expect("an address");
    let error = WdaClient::new(address.clone(), &Usbmuxd::of_environment(None))
        .get(&budget(), "/status")
        .await
        .expect_err("nobody is there");
    let text = error.to_string();
    assert!(text.starts_with(&format!("no WebDriverAgent answers at {address}: ")), "{text}");
    assert!(matches!(error.clone().not_started(), DriverError::NotStarted { .. }));
    assert!(matches!(DriverError::from(error), DriverError::Lost { .. }));
}

#[tokio::test]
async fn a_request_that_is_cancelled_ends() {
    let (_wda, client) = client(|_| WdaReply::Silence).await;
    let budget = budget();
    budget.cancel.cancel();
    assert_eq!(client.get(&budget, "/status").await, Err(WdaError::Cancelled));
}

/// With a clock that jumps to the next deadline when nothing else happens.
#[tokio::test(start_paused = true)]
async fn one_that_hangs_is_named_and_not_waited_for_again() {
    let (wda, client) = client(|_| WdaReply::Silence).await;
    let error = client.get(&budget(), "/source").await.expect_err("it hangs");
    assert_eq!(error, WdaError::TimedOut { doing: "GET /source".to_string() });
    let error = client.get(&budget(), "/source").await.expect_err("it still hangs");
    assert!(matches!(&error, WdaError::Hung { .. }), "{error:?}");
    assert_eq!(wda.requests(), ["GET /source", "GET /status"], "it is not asked for another tree");
    assert!(matches!(DriverError::from(error), DriverError::Lost { .. }));
}

#[tokio::test(start_paused = true)]
async fn one_that_only_says_that_it_is_ready_hangs_as_well() {
    let (_wda, client) = client(|asked| match asked.what.as_str() {
        "GET /status" => WdaReply::Value(json!({"ready": true})),
        _ => WdaReply::Silence,
    })
    .await;
    let first = client.get(&budget(), "/source").await.expect_err("it hangs");
    assert!(matches!(first, WdaError::TimedOut { .. }), "{first:?}");
    let second = client.get(&budget(), "/source").await.expect_err("it hangs");
    assert!(
        second.to_string().contains("hangs: it answers `GET /status`, but has not answered `GET /source` for 6"),
        "{second}"
    );
}

#[tokio::test(start_paused = true)]
async fn one_that_answers_nothing_for_less_than_a_minute_counts_as_slow() {
    let is_slow = Arc::new(AtomicBool::new(true));
    let slow = Arc::clone(&is_slow);
    let (wda, client) = client(move |_| match slow.load(Ordering::SeqCst) {
        true => WdaReply::Silence,
        false => WdaReply::Value(json!("a tree")),
    })
    .await;
    let limited = |seconds| Budget { deadline: Instant::now() + Duration::from_secs(seconds), ..budget() };
    let first = client.get(&limited(30), "/source").await.expect_err("it takes too long");
    assert!(matches!(first, WdaError::TimedOut { .. }), "{first:?}");
    let second = client.get(&limited(30), "/source").await.expect_err("it still takes too long");
    let text = second.to_string();
    assert!(text.contains("is slow: it has worked on `GET /source` for 30 s"), "{text}");
    assert!(matches!(DriverError::from(second), DriverError::TimedOut { .. }));
    assert_eq!(wda.requests(), ["GET /source", "GET /status"], "it is not asked for another tree");
    is_slow.store(false, Ordering::SeqCst);
    assert_eq!(client.get(&limited(30), "/source").await, Ok(json!("a tree")), "it is used again once it answers");
}

#[tokio::test(start_paused = true)]
async fn one_that_was_late_is_waited_for_again_if_there_is_more_time() {
    let n_trees = AtomicU32::new(0);
    let (wda, client) = client(move |asked| match asked.what.as_str() {
        "GET /source" if n_trees.fetch_add(1, Ordering::SeqCst) == 0 => WdaReply::Silence,
        _ => WdaReply::Value(json!("an answer")),
    })
    .await;
    let limited = |seconds| Budget { deadline: Instant::now() + Duration::from_secs(seconds), ..budget() };
    client.get(&limited(12), "/source").await.expect_err("it takes too long");
    assert_eq!(client.get(&limited(60), "/source").await, Ok(json!("an answer")));
    assert_eq!(wda.requests(), ["GET /source", "GET /status", "GET /source"]);
}

#[tokio::test]
async fn a_query_that_a_proxy_failed_is_sent_once_more_and_a_command_is_not() {
    let html = || WdaReply::html(500, "<html><h1>502 Bad Gateway</h1></html>");
    let n_queries = AtomicU32::new(0);
    let (wda, client) = client(move |asked| match asked.what.as_str() {
        "GET /status" if n_queries.fetch_add(1, Ordering::SeqCst) > 0 => WdaReply::Value(json!("ready")),
        _ => html(),
    })
    .await;
    assert_eq!(client.get(&budget(), "/status").await, Ok(json!("ready")));
    let error = client.post(&budget(), "/wda/lock", json!({})).await.expect_err("it fails");
    assert!(matches!(error, WdaError::NotWda { .. }), "{error:?}");
    client.get(&budget(), "/source").await.expect_err("it fails again");
    let sent = ["GET /status", "GET /status", "POST /wda/lock", "GET /source", "GET /source"];
    assert_eq!(wda.requests(), sent);
}

#[tokio::test(start_paused = true)]
async fn a_short_budget_says_nothing_about_the_device() {
    let (wda, client) = client(|_| WdaReply::Silence).await;
    for _ in 0..3 {
        let brief = Budget { deadline: Instant::now() + Duration::from_secs(1), ..budget() };
        let error = client.get(&brief, "/source").await.expect_err("it takes too long");
        assert!(matches!(error, WdaError::TimedOut { .. }), "{error:?}");
    }
    assert!(wda.requests().iter().all(|what| what == "GET /source"));
}

#[tokio::test]
async fn the_focused_element_is_found_by_either_key() {
    let focused = async |reply: fn() -> WdaReply| {
        let (_wda, client) = client(move |asked| match asked.what.as_str() {
            "POST /session" => WdaReply::Value(json!({"sessionId": "S"})),
            _ => reply(),
        })
        .await;
        client.focused_element(&budget()).await
    };
    let w3c = || WdaReply::Value(json!({"element-6066-11e4-a52e-4f735466cecf": "5D00-1"}));
    assert_eq!(focused(w3c).await, Ok(Some("5D00-1".to_string())));
    assert_eq!(focused(|| WdaReply::Value(json!({"ELEMENT": "7"}))).await, Ok(Some("7".to_string())));
    assert_eq!(focused(|| WdaReply::Error(404, "no such element", "")).await, Ok(None));
    let error = focused(|| WdaReply::Error(500, "unknown error", "")).await.expect_err("it fails");
    assert_eq!(error.code(), Some(&WdaCode::UnknownError));
}
