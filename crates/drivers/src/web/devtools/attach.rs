//! Connects to a browser that is already running, or to a page in another program, over its WebSocket.

use std::time::Duration;

use futures::{Sink, SinkExt, Stream, StreamExt};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

/// How long connecting to the browser may take.
const REACHING: Duration = Duration::from_secs(10);
/// The most bytes read of its answer to a request such as `/json/version`.
const ABOUT: u64 = 1 << 20;
/// The largest message. Large enough for a tall picture.
const MESSAGE: usize = 256 << 20;

/// The host that a program is told which is asked over a stream: it answers no others.
const LOCAL: &str = "localhost";

/// A connection to a program with DevTools, however it was made.
pub trait DevToolsStream: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> DevToolsStream for T {}

/// A stream of messages, each terminated by a zero byte, like the pipe of a browser that we start.
pub async fn attach(address: &str) -> Result<DuplexStream, String> {
    tokio::time::timeout(REACHING, reach(address))
        .await
        .unwrap_or_else(|_| Err("it did not answer in time".to_string()))
}

async fn reach(address: &str) -> Result<DuplexStream, String> {
    let url = match address.strip_prefix("http://") {
        Some(host) => web_socket_of(host.trim_end_matches('/')).await?,
        None if address.starts_with("ws://") => address.to_string(),
        None => return Err("the address must start with http:// or ws://".to_string()),
    };
    let connected = tokio_tungstenite::connect_async_with_config(&url, Some(config()), true).await;
    let (socket, _) = connected.map_err(|error| error.to_string())?;
    Ok(messages(socket))
}

/// Connects to a WebSocket over a stream that is open already.
pub async fn attach_over(stream: impl DevToolsStream, path: &str) -> Result<DuplexStream, String> {
    let url = format!("ws://{LOCAL}{path}");
    let connect = tokio_tungstenite::client_async_with_config(&url, stream, Some(config()));
    match tokio::time::timeout(REACHING, connect).await {
        Ok(connected) => connected.map(|(socket, _)| messages(socket)).map_err(|error| error.to_string()),
        Err(_) => Err("it did not answer in time".to_string()),
    }
}

fn config() -> WebSocketConfig {
    WebSocketConfig::default().max_message_size(Some(MESSAGE)).max_frame_size(Some(MESSAGE))
}

fn messages(socket: WebSocketStream<impl DevToolsStream>) -> DuplexStream {
    let (to_browser, from_browser) = socket.split();
    let (ours, theirs) = tokio::io::duplex(64 << 10);
    let (outgoing, incoming) = tokio::io::split(theirs);
    // Detached: ends when the browser closes its end or we drop ours, and closes the other one.
    tokio::spawn(async move {
        tokio::select! {
            () = receive(from_browser, incoming) => {}
            () = send(outgoing, to_browser) => {}
        }
    });
    ours
}

async fn receive<E>(
    mut browser: impl Stream<Item = Result<Message, E>> + Unpin,
    mut incoming: impl AsyncWrite + Unpin,
) {
    while let Some(Ok(message)) = browser.next().await {
        let Message::Text(text) = message else { continue };
        if incoming.write_all(text.as_bytes()).await.is_err() || incoming.write_all(&[0]).await.is_err() {
            return;
        }
    }
}

async fn send(mut outgoing: impl AsyncRead + Unpin, mut browser: impl Sink<Message> + Unpin) {
    let mut waiting = Vec::new();
    while let Ok(1..) = outgoing.read_buf(&mut waiting).await {
        while let Some(end) = waiting.iter().position(|byte| *byte == 0) {
            let message: Vec<u8> = waiting.drain(..=end).collect();
            let text = String::from_utf8_lossy(&message[..end]).into_owned();
            if browser.send(Message::text(text)).await.is_err() {
                return;
            }
        }
    }
    let _ = browser.close().await;
}

/// Asks the browser for the URL of its WebSocket.
async fn web_socket_of(host: &str) -> Result<String, String> {
    let stream = TcpStream::connect(host).await.map_err(|error| error.to_string())?;
    let about = ask(stream, host, "/json/version").await?;
    let url = about.get("webSocketDebuggerUrl").and_then(Value::as_str);
    url.map(str::to_string).ok_or_else(|| "it did not return a WebSocket URL".to_string())
}

/// Asks over a stream that is open already.
pub async fn ask_over(stream: impl DevToolsStream, path: &str) -> Result<Value, String> {
    let asked = tokio::time::timeout(REACHING, ask(stream, LOCAL, path)).await;
    asked.unwrap_or_else(|_| Err("it did not answer in time".to_string()))
}

/// What it answers to a request: JSON.
async fn ask(mut stream: impl DevToolsStream, host: &str, path: &str) -> Result<Value, String> {
    let words = |error: std::io::Error| error.to_string();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.map_err(words)?;
    let mut answer = Vec::new();
    let mut limited = stream.take(ABOUT);
    // The browser may keep the connection open; its answer is one JSON value.
    loop {
        let n = limited.read_buf(&mut answer).await.map_err(words)?;
        let text = String::from_utf8_lossy(&answer);
        let body = text.split_once("\r\n\r\n").map(|(_, body)| body.trim());
        if let Some(value) = body.and_then(|body| serde_json::from_str::<Value>(body).ok()) {
            return Ok(value);
        }
        if n == 0 {
            return Err("it is not a browser with DevTools enabled".to_string());
        }
    }
}
