//! How soon a change of a page is seen: from the frame in which the page changed until the studio has a picture of it.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::place::{Missing, Place};
use crate::support::{Measure, Row, quantile};

/// Changes its color now and then, and tells the server in the same frame.
const PAGE: &str = "<!doctype html><title>Changing</title><body><h1 id=n>0</h1><script>
let n = 0;
setInterval(() => requestAnimationFrame(() => {
  n += 1;
  document.body.style.background = n % 2 ? '#246' : '#eee';
  document.getElementById('n').textContent = n;
  fetch('/changed');
}), 400);
</script>";

/// A server with one page, which notes when it is told of a change.
pub struct Server {
    pub address: String,
    changes: Receiver<Instant>,
}

impl Server {
    pub fn start(page: String) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}/", listener.local_addr().expect("an address"));
        let (sender, changes) = mpsc::channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (page, sender) = (page.clone(), sender.clone());
                std::thread::spawn(move || {
                    let mut reader = BufReader::new(stream.try_clone().expect("a handle"));
                    let mut stream = stream;
                    loop {
                        let mut line = String::new();
                        if reader.read_line(&mut line).is_err() || line.is_empty() {
                            return;
                        }
                        if line.starts_with("GET /changed") {
                            let _ = sender.send(Instant::now());
                        }
                        let mut header = String::new();
                        while reader.read_line(&mut header).is_ok_and(|_| !header.trim().is_empty()) {
                            header.clear();
                        }
                        let body = if line.starts_with("GET / ") { page.as_str() } else { "" };
                        let head = format!(
                            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n",
                            body.len()
                        );
                        if stream.write_all(format!("{head}{body}").as_bytes()).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Server { address, changes }
    }
}

pub fn rows(place: &Place) -> Result<(), Missing> {
    let server = Server::start(PAGE.to_string());
    let (page, session) = crate::open(place, &server.address);
    let mut stream = page.watch("screen", &session);
    stream.until("the page", |screen| screen.get("picture").is_some());
    let mut pictures = Vec::new();
    let end = Instant::now() + Duration::from_secs(15);
    while Instant::now() < end {
        let update = stream.next().expect("an update");
        if update["picture"] != "" {
            pictures.push(Instant::now());
        }
    }
    let changes: Vec<Instant> = server.changes.try_iter().collect();
    // The first picture after each change.
    let mut times: Vec<Duration> = changes
        .iter()
        .filter_map(|change| pictures.iter().find(|picture| *picture > change).map(|picture| *picture - *change))
        .filter(|time| *time < Duration::from_millis(400))
        .collect();
    let n_times = times.len();
    let shot = || {
        let started = Instant::now();
        page.call(
            "CallStudioTool",
            json!({"session": session, "tool": "captureScreen", "arguments": {"picture": true}}),
        );
        started.elapsed()
    };
    let mut shots: Vec<Duration> = (0..10).map(|_| shot()).collect();
    let shot = Some(Measure::Time(quantile(&mut shots, 0.5)));
    let row = |what: &str, time: Duration| {
        let is_met = Some(time <= Duration::from_millis(100));
        Row { what, measured: Measure::Time(time), against: shot, goal: "≤ 100 ms", is_met }.print();
    };
    row(&format!("a change is seen, median of {n_times}; against a screenshot"), quantile(&mut times, 0.5));
    row("the same, 95 of 100 within", quantile(&mut times, 0.95));
    Ok(())
}
