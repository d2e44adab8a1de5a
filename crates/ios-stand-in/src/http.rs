//! As much of HTTP as WebDriverAgent's clients need: requests with a length, and connections that are kept.

use std::io;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The most bytes in a request.
const LARGEST: usize = 16 << 20;

/// A request.
#[derive(Debug, Clone, PartialEq)]
pub struct HttpRequest {
    pub method: String,
    /// Without the query.
    pub path: String,
    pub query: Vec<(String, String)>,
    pub body: Value,
}

impl HttpRequest {
    /// A parameter of the query.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Reads requests from a connection.
pub struct RequestReader {
    pub connection: TcpStream,
    received: Vec<u8>,
}

impl RequestReader {
    pub fn new(connection: TcpStream) -> RequestReader {
        RequestReader { connection, received: Vec::new() }
    }

    /// The next request; `None` if there are no more.
    pub async fn next(&mut self) -> io::Result<Option<HttpRequest>> {
        let end = loop {
            if let Some(at) = self.received.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break at + 4;
            }
            if self.more().await? == 0 {
                return Ok(None);
            }
        };
        let head = String::from_utf8_lossy(&self.received[..end]).into_owned();
        let mut lines = head.lines();
        let mut words = lines.next().unwrap_or_default().split(' ').map(str::to_string);
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let header = |wanted: &str| {
            let named = |line: &str| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case(wanted).then(|| value.trim().to_ascii_lowercase())
            };
            head.lines().find_map(named)
        };
        let length: usize = header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
        if header("expect").as_deref() == Some("100-continue") {
            self.connection.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
        }
        let whole = end.saturating_add(length);
        while self.received.len() < whole {
            if whole > LARGEST || self.more().await? == 0 {
                return Ok(None);
            }
        }
        let body = serde_json::from_slice(&self.received[end..whole]).unwrap_or(Value::Null);
        self.received.drain(..whole);
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let query = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let query =
            query.map(|(key, value)| (key.to_string(), value.replace("%2C", ",").replace("%2c", ","))).collect();
        // WebDriverAgent takes no notice of slashes at the end.
        let path: String = path.split('/').filter(|part| !part.is_empty()).map(|part| format!("/{part}")).collect();
        Ok(Some(HttpRequest { method, path, query, body }))
    }

    async fn more(&mut self) -> io::Result<usize> {
        if self.received.len() > LARGEST {
            return Ok(0);
        }
        self.connection.read_buf(&mut self.received).await
    }

    pub async fn answer(&mut self, status: u16, kind: &str, body: &str) -> io::Result<()> {
        let head = format!(
            "HTTP/1.1 {status} {}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nServer: WebDriverAgent/1.0\r\n\r\n",
            if status == 200 { "OK" } else { "Error" },
            body.len()
        );
        self.connection.write_all(head.as_bytes()).await?;
        self.connection.write_all(body.as_bytes()).await
    }
}
