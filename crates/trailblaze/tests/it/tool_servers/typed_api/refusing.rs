//! What bad input gets: an answer, within bounds, and a server that stays up.

use std::io::{Read, Write};
use std::net::TcpStream;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::{BodyExt, Full};
use hyper::{Request, StatusCode, header};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};

use super::cases::project;
use super::served::Served;
use super::wire::{Caller, Protocol, frame};
use crate::support::{PATIENCE, Project};

const TAP: &str = "trailblaze.v1.TrailblazeCommands/Tap";
const HAS_TEXT: &str = "trailblaze.v1.TrailblazeCommands/HasText";

struct Server {
    project: Project,
    served: Served,
}

impl Server {
    fn start() -> Server {
        let project = project();
        let served = Served::on(&project, "android/sim-1");
        Server { project, served }
    }

    fn caller(&self, protocol: Protocol) -> Caller {
        Caller::of(&self.served, protocol)
    }

    /// Checks that it still answers, and ends normally.
    async fn ends_well(self) {
        let answer = self.caller(Protocol::Grpc).call("TrailblazeCommands/HasText", json!({"text": "x"})).await;
        assert!(answer.is_ok(), "{answer:?}");
        self.served.end(&self.project).exits(0);
    }
}

async fn post(caller: &Caller, path: &str, body: impl Into<Bytes>) -> (StatusCode, Value) {
    let response = caller.send(path, body.into()).await;
    let status = response.status();
    let bytes = response.into_body().collect().await.expect("a body").to_bytes();
    (status, serde_json::from_slice(&bytes).unwrap_or_else(|_| String::from_utf8_lossy(&bytes).into_owned().into()))
}

#[tokio::test]
async fn bodies_that_are_no_message_are_refused_and_named() {
    let server = Server::start();
    let json = server.caller(Protocol::ConnectJson);
    for (body, message) in [
        ("{", "the message is not JSON: EOF while parsing an object at line 1 column 1"),
        ("[]", "the message must be a JSON object, got an array"),
        (r#"{"text": 5}"#, "`text` must be a text, got 5"),
        (r#"{"x": 1.5}"#, "`x` must be a 32-bit integer, got 1.5"),
        (r#"{"x": 3000000000}"#, "`x` must be a 32-bit integer, got 3000000000"),
        (r#"{"longPress": "yes"}"#, "`longPress` must be true or false, got \"yes\""),
    ] {
        let (status, answer) = post(&json, TAP, body).await;
        assert_eq!((status.as_u16(), &answer), (400, &json!({"code": "invalid_argument", "message": message})));
    }
    let deep = format!(r#"{{"name": "dumpMemory", "args": {{"a": {}1{}}}}}"#, "[".repeat(200), "]".repeat(200));
    let (status, answer) = post(&json, "trailblaze.v1.TrailblazeSession/CallTool", deep).await;
    assert_eq!((status.as_u16(), &answer["code"]), (400, &json!("invalid_argument")), "{answer}");

    let binary = server.caller(Protocol::ConnectBinary);
    for body in [
        &b"\x0a"[..],
        b"\x0a\x05x",
        b"\x0a\x02\xff\xff",
        b"\x08\x01",
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\x00",
    ] {
        let (status, answer) = post(&binary, TAP, body.to_vec()).await;
        assert_eq!((status.as_u16(), &answer["code"]), (400, &json!("invalid_argument")), "{body:?}: {answer}");
    }
    // Random bytes must get an answer, whatever it is.
    let mut seed = 7u32;
    for _ in 0..100 {
        let body: Vec<u8> = std::iter::repeat_with(|| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 24) as u8
        })
        .take(40)
        .collect();
        let (status, answer) = post(&binary, HAS_TEXT, body).await;
        assert!(matches!(status.as_u16(), 200 | 400), "{status} {answer}");
    }
    server.ends_well().await;
}

#[tokio::test]
async fn unknown_fields_are_ignored_and_unknown_words_are_named() {
    let server = Server::start();
    let json = server.caller(Protocol::ConnectJson);
    let (status, answer) = post(&json, HAS_TEXT, r#"{"text": "x", "future": {"a": [1]}}"#).await;
    assert_eq!((status.as_u16(), answer), (200, json!({"value": false})));
    let binary = server.caller(Protocol::ConnectBinary);
    // The text, then an unknown field of each wire type.
    let body = b"\x0a\x01x\xf8\x01\x05\xfa\x01\x02ab\xf9\x01\0\0\0\0\0\0\0\0\xfd\x01\0\0\0\0";
    assert_eq!(post(&binary, HAS_TEXT, body.to_vec()).await.0, 200);
    let (status, answer) = post(&binary, "trailblaze.v1.MaestroCommands/Swipe", b"\x08\x63".to_vec()).await;
    let message = "`direction` must be one of UP, DOWN, LEFT, RIGHT, got `99`";
    assert_eq!((status.as_u16(), answer), (400, json!({"code": "invalid_argument", "message": message})));
    server.ends_well().await;
}

#[tokio::test]
async fn other_content_types_methods_and_paths_lead_nowhere() {
    let server = Server::start();
    let caller = |content_type| Caller { content_type: Some(content_type), ..server.caller(Protocol::ConnectJson) };
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/xml"] {
        let (status, answer) = post(&caller(kind), TAP, "{}").await;
        let message = answer["message"].as_str().unwrap_or_default();
        let is_explained =
            message.contains("application/json, application/proto") && message.ends_with(&format!("; got `{kind}`"));
        assert!(status == 415 && answer["code"] == "unknown" && is_explained, "{kind}: {status} {answer}");
    }
    let json = server.caller(Protocol::ConnectJson);
    let (status, answer) = post(&json, "trailblaze.v1.TrailblazeCommands/Fly", "{}").await;
    let message = "method not found: trailblaze.v1.TrailblazeCommands/Fly";
    assert_eq!((status.as_u16(), answer), (404, json!({"code": "unimplemented", "message": message})));
    assert_eq!(post(&json, "trailblaze.v2.TrailblazeCommands/Tap", "{}").await.0.as_u16() / 100, 4);
    let stream = caller("application/connect+json");
    let response = stream.send(TAP, frame(b"{}").into()).await;
    assert!(response.status().is_client_error() || response.status() == 200, "{}", response.status());
    server.ends_well().await;
}

#[tokio::test]
async fn pages_and_other_hosts_are_refused_over_both_versions_of_http() {
    let server = Server::start();
    for protocol in [Protocol::ConnectJson, Protocol::Grpc] {
        let evil = Caller { headers: vec![("origin", "https://evil.example".into())], ..server.caller(protocol) };
        let (code, message) = evil.call("TrailblazeCommands/HasText", json!({"text": "x"})).await.expect_err("refused");
        let page = "web pages may not call; this request comes from the page `https://evil.example`";
        assert_eq!((code.as_str(), message.as_str()), ("permission_denied", page), "{protocol:?}");
    }
    // What a browser would send after DNS rebinding.
    let stream = tokio::net::TcpStream::connect(server.served.host()).await.expect("it listens");
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.expect("HTTP/2");
    tokio::spawn(connection);
    let request = Request::post(format!("http://evil.example/{HAS_TEXT}"))
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::AUTHORIZATION, format!("Bearer {}", server.served.key))
        .body(Full::new(Bytes::from_static(b"{\"text\": \"x\"}")))
        .expect("a request");
    assert_eq!(sender.send_request(request).await.expect("a response").status(), 403);
    server.ends_well().await;
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect("it is written");
    encoder.finish().expect("it ends")
}

#[tokio::test]
async fn packed_requests_are_unpacked_up_to_a_limit() {
    let server = Server::start();
    let packed = Caller { headers: vec![("content-encoding", "gzip".into())], ..server.caller(Protocol::ConnectJson) };
    let (status, answer) = post(&packed, HAS_TEXT, gzip(br#"{"text": "x"}"#)).await;
    assert_eq!((status.as_u16(), answer), (200, json!({"value": false})));
    let bomb = gzip(&vec![b' '; 8 << 20]);
    assert!(bomb.len() < 1 << 14);
    let (status, answer) = post(&packed, HAS_TEXT, bomb).await;
    assert_eq!((status.as_u16(), &answer["code"]), (429, &json!("resource_exhausted")), "{answer}");
    let (status, answer) = post(&packed, HAS_TEXT, "not packed at all").await;
    assert_eq!((status.as_u16(), &answer["code"]), (400, &json!("invalid_argument")), "{answer}");
    let other = Caller { headers: vec![("content-encoding", "zstd".into())], ..packed };
    assert_eq!(post(&other, HAS_TEXT, "x").await.1["code"], "unimplemented");
    server.ends_well().await;
}

#[tokio::test]
async fn requests_and_headers_that_are_too_large_are_refused() {
    let server = Server::start();
    let json = server.caller(Protocol::ConnectJson);
    let (status, answer) = post(&json, HAS_TEXT, format!(r#"{{"text": "{}"}}"#, "x".repeat(1 << 20))).await;
    assert_eq!((status.as_u16(), &answer["code"]), (429, &json!("resource_exhausted")), "{answer}");
    for protocol in [Protocol::ConnectJson, Protocol::Grpc] {
        let large = Caller { headers: vec![("x-large", "x".repeat(1 << 20))], ..server.caller(protocol) };
        match large.try_send(HAS_TEXT, Bytes::from_static(b"{}")).await {
            Ok(response) => assert_eq!(response.status(), 431, "{protocol:?}"),
            // It may hang up instead, at any point.
            Err(error) => assert!(!error.is_timeout(), "{error}"),
        }
    }
    server.ends_well().await;
}

#[tokio::test]
async fn many_streams_and_readers_that_never_read_cost_little() {
    let server = Server::start();
    let n_streams = if crate::support::is_full_tier() { 1000 } else { 200 };
    let stream = tokio::net::TcpStream::connect(server.served.host()).await.expect("it listens");
    let (sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.expect("HTTP/2");
    tokio::spawn(connection);
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..n_streams {
        let request = Request::post(format!("{}/{HAS_TEXT}", server.served.address))
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::AUTHORIZATION, format!("Bearer {}", server.served.key))
            .body(Full::new(Bytes::from_static(b"{\"text\": \"x\"}")))
            .expect("a request");
        let mut sender = sender.clone();
        calls.spawn(async move { sender.send_request(request).await.map(|response| response.status()) });
    }
    while let Some(called) = calls.join_next().await {
        assert_eq!(called.expect("no panic").expect("an answer"), 200);
    }
    // Readers that ask for screens and events and never read an answer.
    let request = |path: &str, kind: &str, body: &[u8]| {
        let head = format!(
            "POST /{path} HTTP/1.1\r\nHost: {}\r\nContent-Type: {kind}\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n",
            server.served.host(),
            server.served.key,
            body.len()
        );
        [head.as_bytes(), body].concat()
    };
    let mut deaf = Vec::new();
    for _ in 0..20 {
        let mut stream = TcpStream::connect(server.served.host()).expect("it listens");
        stream.set_write_timeout(Some(PATIENCE)).expect("a timeout");
        let screen =
            request("trailblaze.v1.TrailblazeCommands/CaptureScreen", "application/json", b"{\"picture\": true}");
        let events = request("trailblaze.v1.TrailblazeSession/WatchEvents", "application/connect+json", &frame(b"{}"));
        let _ = stream.write_all(&screen);
        let _ = stream.write_all(&events);
        deaf.push(stream);
    }
    // A request that never ends holds nothing up.
    let mut stuck = TcpStream::connect(server.served.host()).expect("it listens");
    stuck
        .write_all(
            format!("POST /{TAP} HTTP/1.1\r\nHost: {}\r\nContent-Length: 100\r\n\r\n{{", server.served.host())
                .as_bytes(),
        )
        .expect("it is taken");
    server.ends_well().await;
    drop(deaf);
}

#[tokio::test]
async fn streams_that_are_reset_at_once_do_not_stop_the_server() {
    let server = Server::start();
    let mut stream = TcpStream::connect(server.served.host()).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream.set_write_timeout(Some(PATIENCE)).expect("a timeout");
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    bytes.extend(h2_frame(4, 0, 0, &[]));
    for number in 0..2000u32 {
        let id = number * 2 + 1;
        // `:method: POST`, `:scheme: http`, `:path: /`, from the static table.
        bytes.extend(h2_frame(1, 0x4, id, &[0x83, 0x86, 0x84]));
        bytes.extend(h2_frame(3, 0, id, &8u32.to_be_bytes()));
    }
    // It may hang up at any point.
    let _ = stream.write_all(&bytes);
    let mut answer = [0; 1024];
    let _ = stream.read(&mut answer);
    server.ends_well().await;
}

fn h2_frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a short frame").to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

#[tokio::test]
async fn a_deadline_ends_the_call_on_the_device() {
    let server = Server::start();
    for (protocol, name, value) in [
        (Protocol::ConnectJson, "connect-timeout-ms", "300"),
        (Protocol::Grpc, "grpc-timeout", "300m"),
        (Protocol::GrpcWeb, "grpc-timeout", "300m"),
    ] {
        let caller = Caller { headers: vec![(name, value.into())], ..server.caller(protocol) };
        let waiting = caller.call("TrailblazeCommands/WaitUntilVisible", json!({"text": "Never", "timeoutMs": 60_000}));
        let (code, _) = waiting.await.expect_err("too late");
        assert_eq!(code, "deadline_exceeded", "{protocol:?}");
    }
    // Calls on a device are ordered, so this one would wait for the others if they still ran.
    server.ends_well().await;
}
