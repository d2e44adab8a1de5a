//! A web server that remembers what it was asked.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use parking_lot::Mutex;

/// What a server answers: the status with its text, further headers, and the body.
pub struct Answer {
    pub status: &'static str,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
}

impl Answer {
    pub fn html(body: &str) -> Answer {
        Answer { status: "200 OK", headers: vec![("Content-Type", "text/html".into())], body: body.into() }
    }

    pub fn json(body: &str) -> Answer {
        Answer { status: "200 OK", headers: vec![("Content-Type", "application/json".into())], body: body.into() }
    }

    pub fn with(mut self, name: &'static str, value: &str) -> Answer {
        self.headers.push((name, value.to_string()));
        self
    }

    pub fn status(self, status: &'static str) -> Answer {
        Answer { status, ..self }
    }
}

/// Runs until the tests end.
pub struct NetServer {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl NetServer {
    /// Answers requests, given as their whole text.
    pub fn start(answer: impl Fn(&str) -> Answer + Send + 'static) -> NetServer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = Arc::clone(&asked);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let Some(request) = read(&mut stream) else { continue };
                log.lock().push(request.lines().next().unwrap_or_default().to_string());
                let Answer { status, headers, body } = answer(&request);
                let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
                let length = body.len();
                let _ = write!(
                    stream,
                    "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
                );
            }
        });
        NetServer { port, asked }
    }

    /// Its origin.
    pub fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The same server under another name, which is another origin.
    pub fn other_origin(&self) -> String {
        format!("http://localhost:{}", self.port)
    }

    /// How many requests it got whose first line contains this.
    pub fn count(&self, part: &str) -> usize {
        self.asked.lock().iter().filter(|line| line.contains(part)).count()
    }
}

/// A request with its body.
fn read(stream: &mut TcpStream) -> Option<String> {
    let mut text = Vec::new();
    let mut part = [0; 4096];
    loop {
        let n = stream.read(&mut part).ok().filter(|n| *n > 0)?;
        text.extend_from_slice(&part[..n]);
        let so_far = String::from_utf8_lossy(&text).into_owned();
        let Some((head, body)) = so_far.split_once("\r\n\r\n") else { continue };
        let length =
            head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
        if body.len() >= length.unwrap_or(0_usize) {
            return Some(so_far);
        }
    }
}
