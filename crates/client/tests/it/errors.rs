//! What is not a success becomes an error that says what is wrong.

use serde_json::{Value, json};
use trailblaze_client::{Client, Code, Error};

use crate::fake::{Fake, Reply, response};

#[tokio::test]
async fn an_action_that_failed_is_an_error() {
    let fake =
        Fake::always(200, json!({"success": false, "message": "no such text", "variant": "ExceptionThrown"})).await;
    let failed = Error::ActionFailed { message: "no such text".into(), variant: "ExceptionThrown".into() };
    assert_eq!(fake.client().tap().text("a").await, Err(failed.clone()));
    assert_eq!((failed.to_string().as_str(), failed.code()), ("no such text", None));
    // Also if it would return something.
    assert_eq!(fake.client().playwright().unwrap().evaluate_js("a").await, Err(failed.clone()));
    assert_eq!(fake.client().maestro().unwrap().adb_shell("a").await, Err(failed));
    let asserted = Error::AssertionFailed { message: "no such text".into(), variant: "ExceptionThrown".into() };
    assert_eq!(fake.client().assert_visible().text("a").await, Err(asserted.clone()));
    assert_eq!(fake.client().wait_until_visible("a", 1).await, Err(asserted));
}

#[tokio::test]
async fn a_tool_that_failed_is_an_error_of_its_kind() {
    let check = async |answer: Value, expected: Error| {
        let fake = Fake::always(200, answer).await;
        assert_eq!(fake.client().call_tool("check", json!({})).await, Err(expected));
    };
    let asserted = json!({"success": false, "message": "not paid", "variant": "AssertionFailed"});
    check(asserted, Error::AssertionFailed { message: "not paid".into(), variant: "AssertionFailed".into() }).await;
    // Zeros may be left out.
    check(json!({}), Error::ActionFailed { message: "it failed".into(), variant: String::new() }).await;
}

#[tokio::test]
async fn every_code_is_understood() {
    for code in Code::ALL {
        let fake = Fake::always(500, json!({"code": code.as_str(), "message": "why", "details": []})).await;
        let error = fake.client().has_text("a").await.unwrap_err();
        assert_eq!(error, Error::Api { code: *code, message: "why".into() });
        assert_eq!(error.to_string(), format!("why ({code})"));
        assert_eq!(error.code(), Some(*code));
    }
    assert_eq!(Code::ALL.len(), 16);
    let fake = Fake::always(418, json!({"code": "teapot"})).await;
    let unknown = Error::Api { code: Code::Unknown, message: "teapot".into() };
    assert_eq!(fake.client().has_text("a").await, Err(unknown));
}

#[tokio::test]
async fn an_answer_that_is_not_from_trailblaze_says_so() {
    let check = async |status: u16, body: &'static [u8], code: Code, text: &str| {
        let fake = Fake::start(move |_, _| Reply::Raw(response(status, "text/html", body))).await;
        let error = fake.client().tap().text("a").await.unwrap_err();
        assert_eq!(error.code(), Some(code), "{error}");
        assert!(error.to_string().contains(text), "{error}");
    };
    check(502, b"<html>", Code::Unavailable, "answered with HTTP status 502: `<html>`; is Trailblaze listening").await;
    check(404, b"", Code::Unimplemented, "answered with HTTP status 404: empty;").await;
    check(401, b"{", Code::Unauthenticated, "HTTP status 401: `{`").await;
    check(403, b"[1]", Code::PermissionDenied, "HTTP status 403: `[1]`").await;
    check(302, b"{\"code\": 1}", Code::Unknown, "HTTP status 302").await;
    check(200, b"<html>", Code::Internal, "the response is not a JSON object: `<html>`").await;
    check(200, b"[true]", Code::Internal, "the response is not a JSON object: `[true]`").await;
    check(200, b"{} {}", Code::Internal, "the response is not valid: ").await;
    check(200, b"{\"success\": \"yes\"}", Code::Internal, "the response is not valid: ").await;
    check(200, b"{\"message\": \"\xff\"}", Code::Internal, "the response is not valid: ").await;
}

#[tokio::test]
async fn a_deep_answer_is_refused() {
    let body = format!("{{\"value\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let fake = Fake::start(move |_, _| Reply::Raw(response(200, "application/json", body.as_bytes()))).await;
    let error = fake.client().playwright().unwrap().evaluate_js("1").await.unwrap_err();
    assert_eq!(error.to_string(), "the response is nested deeper than 256 (resource_exhausted)");
}

#[tokio::test]
async fn what_cannot_be_sent_is_refused_before_anything_is_sent() {
    let fake = Fake::always(200, json!({})).await;
    for key in ["", "  ", "a\nb", "a\u{7f}"] {
        let error = Client::new(&fake.address).with_key(key).has_text("a").await.unwrap_err();
        assert_eq!(error.code(), Some(Code::InvalidArgument), "{key:?}");
        assert!(error.to_string().contains("not a session key"), "{error}");
    }
    let error = Client::new("https://localhost:1").with_key("k").has_text("a").await.unwrap_err();
    assert!(error.to_string().contains("only http is supported"), "{error}");
    assert_eq!(fake.requests().len(), 0);
}
