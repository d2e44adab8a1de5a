//! A local server that answers like a provider: it checks each request the way the real one does, refuses it in the real one's
//! words, and otherwise sends the next prepared answer.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use trailblaze_core::config::ProviderKind;
use trailblaze_core::model::{Model, ModelError};
use trailblaze_http::ProxySettings;
use trailblaze_models::{Endpoint, Secret, Settings, open};

pub const KEY: &str = "sk-canary-0123456789";

#[derive(Clone)]
pub struct Prepared {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
    /// The length that is announced, if it is not that of the body.
    pub announced: Option<usize>,
}

pub fn ok(body: Value) -> Prepared {
    status(200, body)
}

pub fn status(status: u16, body: Value) -> Prepared {
    text(status, &body.to_string())
}

pub fn text(status: u16, body: &str) -> Prepared {
    Prepared { status, headers: Vec::new(), body: body.to_string(), announced: None }
}

impl Prepared {
    pub fn with(mut self, name: &'static str, value: &str) -> Prepared {
        self.headers.push((name, value.to_string()));
        self
    }
}

/// A request that arrived.
#[derive(Clone, Debug)]
pub struct Arrived {
    /// The first line and the headers, in lower case.
    pub head: String,
    pub body: Value,
}

pub struct Server {
    pub url: String,
    arrived: Arc<Mutex<Vec<Arrived>>>,
}

type Check = fn(&Arrived) -> Option<Prepared>;

impl Server {
    /// Sends the answers in order, the last one again and again. Without any, it never answers.
    pub async fn start(check: Check, answers: impl IntoIterator<Item = Prepared>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let arrived: Arc<Mutex<Vec<Arrived>>> = Arc::default();
        let answers: Arc<Mutex<VecDeque<Prepared>>> = Arc::new(Mutex::new(answers.into_iter().collect()));
        let server = Server { url, arrived: Arc::clone(&arrived) };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, check, Arc::clone(&arrived), Arc::clone(&answers)));
            }
        });
        server
    }

    pub fn endpoint(&self, kind: ProviderKind) -> Endpoint {
        Endpoint {
            kind,
            base_url: self.url.clone(),
            path: None,
            headers: Vec::new(),
            in_headers: Vec::new(),
            key: Some(Secret(KEY.to_string())),
            key_variable: Some("TEST_API_KEY".to_string()),
            proxies: ProxySettings::default(),
        }
    }

    pub fn model(&self, kind: ProviderKind) -> Arc<dyn Model> {
        self.model_with(kind, Settings::unlisted(kind.name(), "m-1"))
    }

    pub fn model_with(&self, kind: ProviderKind, settings: Settings) -> Arc<dyn Model> {
        open(&self.endpoint(kind), settings).unwrap_or_else(|error: ModelError| panic!("{error}"))
    }

    pub fn arrived(&self) -> Vec<Arrived> {
        self.arrived.lock().expect("no panic").clone()
    }

    /// The body of the only request.
    pub fn body(&self) -> Value {
        let arrived = self.arrived();
        assert_eq!(arrived.len(), 1, "one request");
        arrived[0].body.clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    check: Check,
    arrived: Arc<Mutex<Vec<Arrived>>>,
    answers: Arc<Mutex<VecDeque<Prepared>>>,
) {
    while let Some(request) = read(&mut stream).await {
        let refusal = check(&request);
        arrived.lock().expect("no panic").push(request);
        let prepared = refusal.or_else(|| {
            let mut answers = answers.lock().expect("no panic");
            if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() }
        });
        let Some(prepared) = prepared else { return std::future::pending().await };
        let length = prepared.announced.unwrap_or(prepared.body.len());
        let mut head = format!("HTTP/1.1 {} x\r\ncontent-length: {length}\r\n", prepared.status);
        for (name, value) in &prepared.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let sent = stream.write_all(format!("{head}\r\n{}", prepared.body).as_bytes()).await;
        if sent.is_err() || prepared.announced.is_some() {
            return;
        }
    }
}

async fn read(stream: &mut TcpStream) -> Option<Arrived> {
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
            if bytes.len() >= end + 4 + length.unwrap_or(0) {
                let body = serde_json::from_slice(&bytes[end + 4..]).unwrap_or(Value::Null);
                return Some(Arrived { head, body });
            }
        }
        match stream.read(&mut buffer).await {
            Ok(n) if n > 0 => bytes.extend_from_slice(&buffer[..n]),
            _ => return None,
        }
    }
}
