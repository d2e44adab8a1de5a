//! Connections: kept open, closed by the other side, silent, broken.

use std::time::Duration;

use serde_json::json;
use tokio::net::TcpListener;
use trailblaze_client::{Client, Code};

use crate::fake::{Fake, Reply, done, response};

#[tokio::test]
async fn calls_share_a_connection() {
    let fake = Fake::always(200, done()).await;
    let client = fake.client();
    for _ in 0..5 {
        client.clone().tap().text("a").await.unwrap();
    }
    let meta = json!({"trailblaze": {"baseUrl": fake.address, "invocationId": "c-2"}});
    client.with_meta(&meta).unwrap().tap().text("a").await.unwrap();
    let connections: Vec<usize> = fake.requests().iter().map(|request| request.connection).collect();
    assert_eq!(connections, [1; 6]);
}

#[tokio::test]
async fn calls_at_the_same_time_do_not_wait_for_each_other() {
    // The first call is answered never, the second at once.
    let fake = Fake::start(|number, _| if number == 0 { Reply::Silence } else { Reply::Json(200, done()) }).await;
    let client = fake.client();
    let waiting = tokio::spawn(client.tap().text("a").into_future());
    while fake.requests().is_empty() {
        tokio::task::yield_now().await;
    }
    client.tap().text("b").await.unwrap();
    assert!(!waiting.is_finished());
    waiting.abort();
}

#[tokio::test]
async fn a_kept_connection_that_was_closed_is_replaced() {
    let mut fake = Fake::start(|number, _| match number {
        0 | 2 => Reply::Json(200, done()),
        // On a connection that has been used before: closed without a byte.
        1 => Reply::Last(Vec::new()),
        _ => Reply::Json(500, json!({"code": "internal"})),
    })
    .await;
    let client = fake.client();
    client.tap().text("a").await.unwrap();
    client.tap().text("b").await.unwrap();
    let requests = fake.requests();
    assert_eq!(requests.iter().map(|request| request.connection).collect::<Vec<_>>(), [1, 1, 2]);
    assert_eq!(requests[1].body, requests[2].body);
    drop(client);
    assert_eq!(fake.closed().await, 2);
}

#[tokio::test]
async fn a_connection_that_the_server_closed_while_it_was_idle_is_replaced() {
    let answer = [response(200, "application/json", done().to_string().as_bytes())].concat();
    let fake = Fake::start(move |_, _| Reply::Last(answer.clone())).await;
    let client = fake.client();
    for _ in 0..20 {
        client.tap().text("a").await.unwrap();
    }
    // Some requests may have been written to a connection that was being closed, and never arrived.
    assert_eq!(fake.requests().len(), 20);
}

#[tokio::test]
async fn a_call_that_may_have_been_carried_out_is_not_repeated() {
    let check = async |kept: bool, bytes: &'static [u8]| {
        let first = usize::from(kept);
        let fake = Fake::start(move |number, _| match number {
            0 if kept => Reply::Json(200, done()),
            _ => Reply::Last(bytes.to_vec()),
        })
        .await;
        let client = fake.client();
        if kept {
            client.tap().text("a").await.unwrap();
        }
        let error = client.tap().text("b").await.unwrap_err();
        assert_eq!(error.code(), Some(Code::Unavailable), "{error}");
        assert!(error.to_string().starts_with(&format!("the connection to {} broke: ", fake.address)), "{error}");
        assert_eq!(fake.requests().len(), first + 1, "{kept} {bytes:?}");
    };
    // A new connection was open when the request was sent.
    check(false, b"").await;
    check(false, b"HTTP/1.1 200 OK\r\n").await;
    check(false, b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{}").await;
    check(false, b"SSH-2.0-OpenSSH\r\n").await;
    // The server had begun to answer.
    check(true, b"H").await;
    check(true, b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{}").await;
}

#[tokio::test]
async fn where_nobody_listens_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = Client::new(address.to_string()).with_key("k").tap().text("a").await.unwrap_err();
    assert_eq!(error.code(), Some(Code::Unavailable));
    let text = error.to_string();
    assert!(text.starts_with(&format!("cannot connect to http://{address}: ")), "{text}");
    assert!(text.ends_with("; is Trailblaze running? (unavailable)"), "{text}");
}

#[tokio::test]
async fn localhost_is_either_family() {
    let Ok(listener) = TcpListener::bind("[::1]:0").await else { return };
    let port = listener.local_addr().unwrap().port();
    let accepted = tokio::spawn(async move { listener.accept().await.map(drop) });
    let error = Client::new(format!("localhost:{port}")).with_key("k").tap().text("a").await.unwrap_err();
    assert!(error.to_string().contains("broke"), "{error}");
    accepted.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_call_ends_at_its_deadline() {
    let mut fake = Fake::start(|_, _| Reply::Silence).await;
    let short = Duration::from_millis(500);
    let error = fake.client().tap().text("a").deadline(short).await.unwrap_err();
    assert_eq!(error.to_string(), "Tap took too long; it may have been carried out (deadline_exceeded)");
    assert_eq!(fake.closed().await, 1);
    let error = fake.client().with_timeout(short).has_text("a").await.unwrap_err();
    assert_eq!(error.code(), Some(Code::DeadlineExceeded));
    let told: Vec<String> =
        fake.requests().iter().map(|request| request.headers["connect-timeout-ms"].clone()).collect();
    assert_eq!(told, ["500", "500"]);
}

#[tokio::test]
async fn a_call_that_is_dropped_closes_its_connection() {
    let mut fake = Fake::start(|_, _| Reply::Silence).await;
    let call = tokio::spawn(fake.client().tap().text("a").into_future());
    while fake.requests().is_empty() {
        tokio::task::yield_now().await;
    }
    call.abort();
    assert_eq!(fake.closed().await, 1);
}

#[tokio::test]
async fn a_call_that_is_not_awaited_is_not_made() {
    let fake = Fake::always(200, done()).await;
    drop(fake.client().tap().text("a"));
    fake.client().tap().text("b").await.unwrap();
    assert_eq!(fake.only_request().json(), json!({"text": "b"}));
}

#[tokio::test]
async fn a_response_that_is_too_long_is_refused_before_it_is_read() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99999999999\r\n\r\n{";
    let fake = Fake::start(|_, _| Reply::Raw(head.to_vec())).await;
    let error = fake.client().tap().text("a").await.unwrap_err();
    let text = format!("the response of {} is longer than 64 MiB (resource_exhausted)", fake.address);
    assert_eq!(error.to_string(), text);
}

#[test]
fn a_client_outlives_a_runtime() {
    // Each runtime closes its connections when it ends.
    let client = Client::new("127.0.0.1:1").with_key("k");
    for _ in 0..2 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let fake = Fake::always(200, done()).await;
            let meta = json!({"trailblaze": {"baseUrl": fake.address, "invocationId": "c-1"}});
            client.with_meta(&meta).unwrap().tap().text("a").await.unwrap();
        });
    }
}
