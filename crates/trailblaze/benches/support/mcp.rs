//! A client of MCP on stdio, as small as it can be.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    responses: Receiver<Value>,
    last: u64,
}

impl Client {
    /// Starts a server.
    pub fn start(mut command: Command) -> Client {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the server starts");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, responses) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let message: Value = serde_json::from_str(&line).unwrap_or_default();
                // Requests and notifications of the server need no answer here.
                if message.get("method").is_none() && sender.send(message).is_err() {
                    break;
                }
            }
        });
        let input = child.stdin.take();
        Client { child, input, responses, last: 0 }
    }

    /// The handshake. Returns what the server says about itself.
    pub fn initialize(&mut self) -> Value {
        let about = json!({"name": "bench", "version": "1"});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about});
        let result = self.ask("initialize", params);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        result
    }

    pub fn tools(&mut self) -> Vec<Value> {
        let result = self.ask("tools/list", json!({}));
        result["tools"].as_array().cloned().unwrap_or_default()
    }

    /// The text that a tool answers with.
    pub fn call(&mut self, tool: &str, args: Value) -> String {
        let result = self.ask("tools/call", json!({"name": tool, "arguments": args}));
        let blocks = result["content"].as_array().cloned().unwrap_or_default();
        let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        let text = texts.join("\n");
        assert!(result["isError"] != json!(true), "{tool} {args}: {text}");
        text
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}));
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let mut message = self.responses.recv_timeout(left).expect("the server answers in time");
            if message["id"] == json!(self.last) {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].take();
            }
        }
    }

    fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        let input = self.input.as_mut().expect("it is open");
        input.write_all(line.as_bytes()).and_then(|()| input.flush()).expect("the server reads");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // A server ends with its input, and takes its browser along.
        drop(self.input.take());
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
