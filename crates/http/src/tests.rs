//! Clients against a local peer, which may play the proxy.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, Uri};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::{HttpClient, ProxySettings, RequestError, RequestErrorKind, Timeouts};

const TIMEOUTS: Timeouts = Timeouts { connect: Duration::from_secs(10), idle: Duration::from_secs(4) };

/// Answers one request. Returns its address, and the head of the request in lower case.
async fn peer(answer: &'static str) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    let arrived = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.expect("a request"));
        }
        stream.write_all(answer.as_bytes()).await.expect("it is read");
        String::from_utf8(head).expect("it is text").to_lowercase()
    });
    (address, arrived)
}

/// The status of a request that carries a key, with one proxy for all hosts.
async fn get(url: &str, proxy: &str) -> Result<u16, RequestError> {
    let url: Uri = url.parse().expect("a URL");
    let proxies = ProxySettings { all: proxy.to_string(), ..ProxySettings::default() };
    let proxy = proxies.proxy_for(&url).expect("a proxy that can be used");
    let request = Request::get(&url).header("x-key", "canary").body(Full::new(Bytes::new())).expect("a request");
    HttpClient::new(&url, proxy, TIMEOUTS).request(request).await.map(|response| response.status().as_u16())
}

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

#[tokio::test]
async fn a_proxy_forwards_plain_http() {
    let (proxy, arrived) = peer(OK).await;
    assert_eq!(get("http://peer.example/a?b", &format!("http://ada:pw@{proxy}")).await, Ok(200));
    let head = arrived.await.expect("no panic");
    assert!(head.starts_with("get http://peer.example/a?b http/1.1\r\n"), "{head}");
    assert!(head.contains("proxy-authorization: basic ywrhonb3") && head.contains("x-key: canary"), "{head}");
}

#[tokio::test]
async fn a_proxy_tunnels_https_and_sees_no_key() {
    let (proxy, arrived) = peer("HTTP/1.1 403 no\r\n\r\n").await;
    let error = get("https://peer.example/a", &format!("http://ada:pw@{proxy}")).await.expect_err("it is refused");
    let reason = format!("tunnel error: unsuccessful (through the proxy {proxy})");
    assert_eq!(error, RequestError { kind: RequestErrorKind::Unreachable, reason });
    let head = arrived.await.expect("no panic");
    assert!(head.starts_with("connect peer.example:443 http/1.1\r\n"), "{head}");
    assert!(head.contains("proxy-authorization: basic ywrhonb3") && !head.contains("canary"), "{head}");
}

#[tokio::test]
async fn this_machine_is_reached_without_a_proxy() {
    let (address, arrived) = peer(OK).await;
    assert_eq!(get(&format!("http://{address}/a"), "http://ada:pw@127.0.0.1:9").await, Ok(200));
    let head = arrived.await.expect("no panic");
    assert!(head.starts_with("get /a http/1.1\r\n") && !head.contains("proxy-authorization"), "{head}");
}

#[tokio::test]
async fn what_cannot_be_reached_is_told_from_what_breaks_off() {
    let unreachable = |reason: &str| RequestError { kind: RequestErrorKind::Unreachable, reason: reason.to_string() };
    // Nothing listens on the port `discard`.
    assert_eq!(get("http://127.0.0.1:9/", "").await, Err(unreachable("connection refused")));
    for url in ["http://peer.example", "https://peer.example"] {
        let error = get(url, "http://127.0.0.1:9").await;
        assert_eq!(error, Err(unreachable("connection refused (through the proxy 127.0.0.1:9)")), "{url}");
    }
    let (address, _arrived) = peer("").await;
    let error = get(&format!("http://{address}/"), "").await.expect_err("there is no response");
    assert_eq!(error.kind, RequestErrorKind::BrokeOff, "{error}");
}
