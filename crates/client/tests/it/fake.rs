//! A server that records requests and answers as it is told, also wrongly.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use trailblaze_client::Client;

#[derive(Debug, Clone)]
pub struct Request {
    /// Counts the connections, from 1.
    pub connection: usize,
    pub path: String,
    pub headers: HashMap<String, String>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("the request is JSON")
    }
}

pub enum Reply {
    Json(u16, Value),
    /// These bytes, after which the connection stays open.
    Raw(Vec<u8>),
    /// These bytes, after which the connection is closed.
    Last(Vec<u8>),
    /// Nothing, ever.
    Silence,
}

pub struct Fake {
    pub address: String,
    requests: Arc<Mutex<Vec<Request>>>,
    closed: UnboundedReceiver<usize>,
}

impl Fake {
    /// A server that answers the requests, which are counted from 0, with what the function returns.
    pub async fn start(answer: impl Fn(usize, &Request) -> Reply + Send + Sync + 'static) -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let requests: Arc<Mutex<Vec<Request>>> = Arc::default();
        let (closed_send, closed) = unbounded_channel();
        let (answer, all) = (Arc::new(answer), Arc::clone(&requests));
        tokio::spawn(async move {
            let mut connection = 0;
            while let Ok((stream, _)) = listener.accept().await {
                connection += 1;
                tokio::spawn(serve(stream, connection, Arc::clone(&answer), Arc::clone(&all), closed_send.clone()));
            }
        });
        Fake { address, requests, closed }
    }

    /// A server that gives this answer to every request.
    pub async fn always(status: u16, answer: Value) -> Fake {
        Fake::start(move |_, _| Reply::Json(status, answer.clone())).await
    }

    pub fn client(&self) -> Client {
        Client::new(&self.address).with_key("k-1")
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().expect("no test panicked").clone()
    }

    #[track_caller]
    pub fn only_request(&self) -> Request {
        let mut requests = self.requests();
        assert_eq!(requests.len(), 1, "{requests:?}");
        requests.remove(0)
    }

    /// Waits until the client has closed a connection, and returns its number.
    pub async fn closed(&mut self) -> usize {
        self.closed.recv().await.expect("the server runs")
    }
}

async fn serve(
    mut stream: TcpStream,
    connection: usize,
    answer: Arc<impl Fn(usize, &Request) -> Reply>,
    all: Arc<Mutex<Vec<Request>>>,
    closed: UnboundedSender<usize>,
) {
    let mut received = Vec::new();
    while let Some(request) = read(&mut stream, connection, &mut received).await {
        let number = {
            let mut all = all.lock().expect("no test panicked");
            all.push(request.clone());
            all.len() - 1
        };
        match answer(number, &request) {
            Reply::Json(status, body) => {
                stream.write_all(&response(status, "application/json", body.to_string().as_bytes())).await.ok();
            }
            Reply::Raw(bytes) => drop(stream.write_all(&bytes).await),
            Reply::Last(bytes) => {
                stream.write_all(&bytes).await.ok();
                return;
            }
            Reply::Silence => {}
        }
    }
    closed.send(connection).ok();
}

async fn read(stream: &mut TcpStream, connection: usize, received: &mut Vec<u8>) -> Option<Request> {
    loop {
        if let Some(end) = received.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&received[..end]).into_owned();
            let mut lines = head.lines();
            let path = lines.next()?.split(' ').nth(1)?.to_string();
            let header =
                |line: &str| line.split_once(':').map(|(name, value)| (name.to_lowercase(), value.trim().to_string()));
            let headers: HashMap<String, String> = lines.filter_map(header).collect();
            let length: usize = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
            if received.len() >= end + 4 + length {
                let body = received[end + 4..end + 4 + length].to_vec();
                received.drain(..end + 4 + length);
                return Some(Request { connection, path, headers, body });
            }
        }
        let n_read = stream.read_buf(received).await.ok()?;
        if n_read == 0 {
            return None;
        }
    }
}

pub fn response(status: u16, kind: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

pub fn done() -> Value {
    json!({"success": true, "message": "done", "variant": ""})
}
