//! Events and devices, as they arrive.

use std::time::Duration;

use futures::StreamExt;
use serde_json::{Value, json};
use trailblaze_client::Code;

use crate::fake::{Fake, Reply, response};

fn envelope(flags: u8, message: &[u8]) -> Vec<u8> {
    [&[flags][..], &(message.len() as u32).to_be_bytes(), message].concat()
}

fn message(message: Value) -> Vec<u8> {
    envelope(0, message.to_string().as_bytes())
}

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/connect+json\r\ntransfer-encoding: chunked\r\n\r\n";

/// A response whose body arrives in pieces of this many bytes, and then goes on.
fn in_pieces(body: &[u8], length: usize) -> Vec<u8> {
    let mut bytes = HEAD.as_bytes().to_vec();
    for piece in body.chunks(length) {
        bytes.extend(format!("{:x}\r\n", piece.len()).bytes().chain(piece.iter().copied()).chain(*b"\r\n"));
    }
    bytes
}

fn whole(body: &[u8]) -> Vec<u8> {
    [in_pieces(body, 1000), b"0\r\n\r\n".to_vec()].concat()
}

fn event(number: i32) -> Value {
    json!({"number": number, "type": "called", "json": "{}"})
}

#[tokio::test]
async fn events_arrive_one_by_one() {
    for length in [1, 3, 1000] {
        let body = [message(event(4)), message(event(5)), envelope(2, b"{}")].concat();
        let fake =
            Fake::start(move |_, _| Reply::Raw([in_pieces(&body, length), b"0\r\n\r\n".to_vec()].concat())).await;
        let mut events = fake.client().watch_events().after(3).await.unwrap();
        let first = events.next().await.unwrap().unwrap();
        assert_eq!((first.number, first.kind.as_str(), first.json.as_str()), (4, "called", "{}"));
        assert_eq!(events.next().await.unwrap().unwrap().number, 5);
        assert!(events.next().await.is_none());
        assert!(events.next().await.is_none());
        let request = fake.only_request();
        assert_eq!(request.path, "/trailblaze.v1.TrailblazeSession/WatchEvents");
        assert_eq!(request.headers["content-type"], "application/connect+json");
        assert_eq!(request.headers["authorization"], "Bearer k-1");
        assert_eq!(request.body, message(json!({"after": 3})));
    }
}

#[tokio::test]
async fn they_are_a_stream() {
    let body = [message(json!({"number": 1, "devices": [{"id": "a"}]})), envelope(2, b"{}")].concat();
    let fake = Fake::start(move |_, _| Reply::Raw(whole(&body))).await;
    let lists: Vec<_> = fake.client().watch_devices().await.unwrap().collect().await;
    assert_eq!(lists.len(), 1);
    assert_eq!(lists[0].as_ref().unwrap().devices[0].id, "a");
}

#[tokio::test]
async fn a_message_arrives_before_the_next_one_is_sent() {
    let mut fake = Fake::start(|_, _| Reply::Raw(in_pieces(&message(event(1)), 1000))).await;
    let mut events = fake.client().watch_events().await.unwrap();
    assert_eq!(events.next().await.unwrap().unwrap().number, 1);
    // The server sends nothing more, so the client must close the connection.
    drop(events);
    assert_eq!(fake.closed().await, 1);
}

#[tokio::test]
async fn a_stream_ends_with_its_error() {
    let check = async |body: Vec<u8>, code: Code, text: &str| {
        let fake = Fake::start(move |_, _| Reply::Last(body.clone())).await;
        let mut events = fake.client().watch_events().await.unwrap();
        assert_eq!(events.next().await.unwrap().unwrap().number, 1);
        let error = events.next().await.unwrap().unwrap_err();
        assert_eq!(error.code(), Some(code), "{error}");
        assert!(error.to_string().contains(text), "{error}");
        assert!(events.next().await.is_none());
    };
    let after = |rest: Vec<u8>| whole(&[message(event(1)), rest].concat());
    let slow = json!({"error": {"code": "out_of_range", "message": "continue after 1"}});
    check(after(envelope(2, slow.to_string().as_bytes())), Code::OutOfRange, "continue after 1").await;
    check(after(envelope(2, b"?")), Code::Internal, "the end of the stream is not a JSON object").await;
    check(after(envelope(0, b"{")), Code::Internal, "a message of the stream is not valid").await;
    check(after(envelope(1, b"gzip")), Code::Internal, "is compressed").await;
    check(after(vec![0, 0xff, 0xff, 0xff, 0xff]), Code::ResourceExhausted, "longer than 64 MiB").await;
    check(after(Vec::new()), Code::Unavailable, "ended the stream without its last message").await;
    check(after(vec![0, 0, 0]), Code::Unavailable, "ended the stream without its last message").await;
    check(in_pieces(&message(event(1)), 1000), Code::Unavailable, "broke").await;
}

#[tokio::test]
async fn a_stream_that_cannot_be_opened_is_an_error() {
    let check = async |status: u16, kind: &'static str, body: &'static [u8], code: Code, text: &str| {
        let fake = Fake::start(move |_, _| Reply::Raw(response(status, kind, body))).await;
        let error = fake.client().watch_events().await.unwrap_err();
        assert_eq!(error.code(), Some(code), "{error}");
        assert!(error.to_string().contains(text), "{error}");
    };
    let refused = br#"{"code": "permission_denied", "message": "no"}"#;
    check(403, "application/json", refused, Code::PermissionDenied, "no").await;
    check(502, "text/html", b"<html>", Code::Unavailable, "HTTP status 502: `<html>`").await;
    check(200, "text/html", b"<html>", Code::Internal, "answered with text/html instead of a stream: `<html>`").await;
}

#[tokio::test]
async fn a_stream_can_be_followed_for_a_limited_time() {
    let mut fake = Fake::start(|_, _| Reply::Raw(in_pieces(&message(event(1)), 1000))).await;
    // The client's timeout is about opening it.
    let client = fake.client().with_timeout(Duration::from_secs(60));
    let mut events = client.watch_events().deadline(Duration::from_millis(500)).await.unwrap();
    assert_eq!(events.next().await.unwrap().unwrap().number, 1);
    let error = events.next().await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "the time to follow the stream is over (deadline_exceeded)");
    assert_eq!(fake.closed().await, 1);
    assert_eq!(fake.only_request().headers["connect-timeout-ms"], "500");
}

#[tokio::test]
async fn a_stream_that_does_not_open_ends_at_the_deadline() {
    let fake = Fake::start(|_, _| Reply::Silence).await;
    let error = fake.client().with_timeout(Duration::from_millis(500)).watch_events().await.unwrap_err();
    assert_eq!(error.code(), Some(Code::DeadlineExceeded));
    assert!(!fake.only_request().headers.contains_key("connect-timeout-ms"));
}
