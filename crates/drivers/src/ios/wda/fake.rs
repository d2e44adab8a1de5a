//! A scripted server for tests, which answers over HTTP as WebDriverAgent does, or otherwise.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_core::driver::Budget;

use super::WdaAddress;

/// What the server does with a request.
pub enum WdaReply {
    /// A value in the envelope.
    Value(Value),
    /// A code word in the envelope, with its status.
    Error(u16, &'static str, &'static str),
    /// These bytes as they are, and then the end of the connection.
    Bytes(Vec<u8>),
    /// Nothing, until the client closes.
    Silence,
}

impl WdaReply {
    /// A body that is not JSON.
    pub fn html(status: u16, body: &str) -> WdaReply {
        let head =
            format!("HTTP/1.1 {status} Oops\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n", body.len());
        WdaReply::Bytes(format!("{head}{body}").into_bytes())
    }
}

/// A request that the server got.
#[derive(Debug, Clone, PartialEq)]
pub struct ReceivedRequest {
    /// Such as `POST /session`.
    pub what: String,
    pub body: Value,
}

type Script = dyn Fn(&ReceivedRequest) -> WdaReply + Send + Sync;

/// The server. It ends with the test.
pub struct FakeWda {
    pub address: WdaAddress,
    shared: Arc<Shared>,
}

struct Shared {
    script: Box<Script>,
    asked: Mutex<Vec<ReceivedRequest>>,
    connections: Mutex<u32>,
}

pub fn budget() -> Budget {
    Budget::new(Instant::now() + std::time::Duration::from_secs(60), CancellationToken::new())
}

impl FakeWda {
    pub async fn start(script: impl Fn(&ReceivedRequest) -> WdaReply + Send + Sync + 'static) -> FakeWda {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let port = listener.local_addr().expect("its address").port();
        let shared =
            Arc::new(Shared { script: Box::new(script), asked: Mutex::default(), connections: Mutex::default() });
        let serving = Arc::clone(&shared);
        // Detached: ends with the runtime of its test.
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                *serving.connections.lock() += 1;
                let serving = Arc::clone(&serving);
                // Detached: ends when its connection does.
                tokio::spawn(async move { serving.converse(connection).await });
            }
        });
        let address = WdaAddress::parse("wda", &format!("http://127.0.0.1:{port}")).expect("an address");
        FakeWda { address, shared }
    }

    /// The requests so far.
    pub fn asked(&self) -> Vec<ReceivedRequest> {
        self.shared.asked.lock().clone()
    }

    /// What the requests so far were, without their bodies.
    pub fn requests(&self) -> Vec<String> {
        self.asked().into_iter().map(|asked| asked.what).collect()
    }

    pub fn connections(&self) -> u32 {
        *self.shared.connections.lock()
    }
}

impl Shared {
    async fn converse(&self, mut connection: TcpStream) {
        let mut received = Vec::new();
        while let Some(asked) = next_request(&mut connection, &mut received).await {
            self.asked.lock().push(asked.clone());
            let (bytes, is_last) = match (self.script)(&asked) {
                WdaReply::Value(value) => (answer(200, &json!({"value": value, "sessionId": null})), false),
                WdaReply::Error(status, code, message) => {
                    let value = json!({"error": code, "message": message, "traceback": ""});
                    (answer(status, &json!({"value": value, "sessionId": null})), false)
                }
                WdaReply::Bytes(bytes) => (bytes, true),
                WdaReply::Silence => {
                    let mut rest = [0; 1];
                    let _ = connection.read(&mut rest).await;
                    return;
                }
            };
            if connection.write_all(&bytes).await.is_err() || is_last {
                return;
            }
        }
    }
}

fn answer(status: u16, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    format!(
        "HTTP/1.1 {status} Said\r\nContent-Type: application/json;charset=UTF-8\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

async fn next_request(connection: &mut TcpStream, received: &mut Vec<u8>) -> Option<ReceivedRequest> {
    let end = loop {
        if let Some(at) = received.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            break at + 4;
        }
        if connection.read_buf(received).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&received[..end]).into_owned();
    let mut lines = head.lines();
    let mut words = lines.next()?.split(' ');
    let what = format!("{} {}", words.next()?, words.next()?);
    let length = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    let whole = end + length.unwrap_or(0);
    while received.len() < whole {
        if connection.read_buf(received).await.ok()? == 0 {
            return None;
        }
    }
    let body = serde_json::from_slice(&received[end..whole]).unwrap_or(Value::Null);
    received.drain(..whole);
    Some(ReceivedRequest { what, body })
}
