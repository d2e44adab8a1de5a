//! A hub that has as many sessions as are asked for: it records what chromedriver answers in one session, and how long it takes, and answers
//! the same in every other. It has no browser.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// What a request was answered with, and after how long.
#[derive(Clone)]
struct RecordedAnswer {
    status: String,
    body: String,
    took: Duration,
}

#[derive(Default)]
struct Recorded {
    answers: HashMap<String, Vec<RecordedAnswer>>,
    /// The id of the session that is recorded.
    session: String,
    /// How often each session was asked what.
    asked: HashMap<(String, String), usize>,
}

pub struct SimulatedHub {
    pub address: String,
    recorded: Arc<Mutex<Recorded>>,
    upstream: Arc<Mutex<Option<String>>>,
    connections: Arc<AtomicUsize>,
}

impl SimulatedHub {
    /// Records the sessions at this address.
    pub fn before(upstream: &str) -> SimulatedHub {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("its address"));
        let (recorded, connections): (Arc<Mutex<Recorded>>, Arc<AtomicUsize>) = Default::default();
        let upstream = Arc::new(Mutex::new(Some(upstream.trim_start_matches("http://").to_string())));
        let hub = SimulatedHub { address, recorded, upstream, connections };
        let (recorded, upstream, connections) =
            (Arc::clone(&hub.recorded), Arc::clone(&hub.upstream), Arc::clone(&hub.connections));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                connections.fetch_add(1, Ordering::Relaxed);
                let (recorded, upstream) = (Arc::clone(&recorded), Arc::clone(&upstream));
                let serve = move || drop(serve(stream, &recorded, &upstream));
                // A thousand connections are as many threads.
                std::thread::Builder::new().stack_size(256 << 10).spawn(serve).expect("a thread");
            }
        });
        hub
    }

    /// From now on, answers by itself.
    pub fn replay(&self) {
        *self.upstream.lock().expect("no panic") = None;
        self.connections.store(0, Ordering::Relaxed);
    }

    /// How many connections were opened since then.
    pub fn n_connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// The median of what was recorded of commands.
    pub fn median_delay(&self) -> Duration {
        let recorded = self.recorded.lock().expect("no panic");
        let mut all: Vec<Duration> = recorded.answers.values().flatten().map(|answer| answer.took).collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied().unwrap_or_default()
    }
}

fn serve(stream: TcpStream, recorded: &Mutex<Recorded>, upstream: &Mutex<Option<String>>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut writer = stream.try_clone()?;
    let mut reader = BufReader::new(stream);
    static SESSIONS: AtomicUsize = AtomicUsize::new(0);
    while let Some((first, body)) = read_message(&mut reader)? {
        let mut words = first.split(' ');
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let id = path.strip_prefix("/session/").map(|rest| rest.split('/').next().unwrap_or_default().to_string());
        let id = id.unwrap_or_default();
        let key = key(method, path, &id, &body);
        let upstream = upstream.lock().expect("no panic").clone();
        let mut answer = match &upstream {
            Some(upstream) => {
                let started = Instant::now();
                let (status, body) = forward(upstream, method, path, &body)?;
                let answer = RecordedAnswer { status, body, took: started.elapsed() };
                let mut recorded = recorded.lock().expect("no panic");
                if method == "POST" && path == "/session" {
                    let made: Value = serde_json::from_str(&answer.body).unwrap_or_default();
                    recorded.session = made["value"]["sessionId"].as_str().unwrap_or_default().to_string();
                }
                recorded.answers.entry(key).or_default().push(answer.clone());
                answer
            }
            None => replayed(&mut recorded.lock().expect("no panic"), &id, key),
        };
        if upstream.is_none() {
            std::thread::sleep(answer.took);
            if method == "POST" && path == "/session" {
                let own = format!("simulated-{}", SESSIONS.fetch_add(1, Ordering::Relaxed));
                let session = recorded.lock().expect("no panic").session.clone();
                answer.body = answer.body.replace(&session, &own);
            }
        }
        let head = format!(
            "HTTP/1.1 {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            answer.status,
            answer.body.len()
        );
        writer.write_all(format!("{head}{}", answer.body).as_bytes())?;
    }
    Ok(())
}

/// The same request of each session has the same key.
fn key(method: &str, path: &str, id: &str, body: &str) -> String {
    let mut body: Value = serde_json::from_str(body).unwrap_or_default();
    // Evaluations are numbered.
    if let Some(args) = body.get_mut("args").and_then(Value::as_array_mut)
        && args.first().and_then(Value::as_str).is_some_and(|first| !id.is_empty() && first.starts_with(id))
    {
        args[0] = json!("number");
    }
    let path = if id.is_empty() { path.to_string() } else { path.replace(id, "id") };
    format!("{method} {path} {body}")
}

/// The next answer to what a session asks, or else the last one again.
fn replayed(recorded: &mut Recorded, id: &str, key: String) -> RecordedAnswer {
    let n_asked = recorded.asked.entry((id.to_string(), key.clone())).or_default();
    let index = *n_asked;
    *n_asked += 1;
    let answers = recorded.answers.get(&key);
    answers.and_then(|answers| answers.get(index).or(answers.last())).cloned().unwrap_or_else(|| {
        let message = format!("it was not recorded: {}", key.chars().take(300).collect::<String>());
        let body = json!({"value": {"error": "unknown error", "message": message, "stacktrace": ""}}).to_string();
        RecordedAnswer { status: "500 Error".to_string(), body, took: Duration::ZERO }
    })
}

fn forward(upstream: &str, method: &str, path: &str, body: &str) -> std::io::Result<(String, String)> {
    let mut stream = TcpStream::connect(upstream)?;
    let head =
        format!("{method} {path} HTTP/1.1\r\nHost: {upstream}\r\nContent-Type: application/json; charset=utf-8\r\n");
    stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())?;
    let (first, body) = read_message(&mut BufReader::new(stream))?.unwrap_or_default();
    Ok((first.split_once(' ').map_or(String::new(), |(_, status)| status.to_string()), body))
}

/// The first line and the body of a request or of an answer.
fn read_message(reader: &mut impl BufRead) -> std::io::Result<Option<(String, String)>> {
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some((first.trim().to_string(), String::from_utf8_lossy(&body).into_owned())))
}
