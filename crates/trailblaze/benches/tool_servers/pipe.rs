//! The least that a call can be: a line written to the server, and a line read.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::stage::Script;

pub struct Pipe {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    line: Vec<u8>,
}

impl Pipe {
    pub fn open(script: &Script) -> Pipe {
        let mut command = Command::new(&script.program);
        command.arg(script.path("server.ts")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the server starts");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
        let mut pipe = Pipe { child, stdin, stdout, line: Vec::new() };
        let about = json!({"name": "bench", "version": "1.0.0"});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about});
        pipe.ask(&line(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})));
        pipe.say(&line(&json!({"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}})));
        pipe
    }

    /// How long each of these calls takes.
    pub fn calls(&mut self, n_calls: usize, params: &Value) -> Vec<Duration> {
        let mut params = params.clone();
        params["name"] = "bench_echo".into();
        let request = line(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}));
        let call = |_| {
            let started = Instant::now();
            self.ask(&request);
            let time = started.elapsed();
            let answer: Value = serde_json::from_slice(&self.line).expect("the server answers in JSON");
            assert_eq!(answer["result"]["content"][0]["text"], "hello");
            time
        };
        (0..n_calls).map(call).collect()
    }

    fn ask(&mut self, line: &[u8]) {
        self.say(line);
        self.line.clear();
        self.stdout.read_until(b'\n', &mut self.line).expect("the server answers");
    }

    fn say(&mut self, line: &[u8]) {
        self.stdin.as_mut().expect("stdin is open").write_all(line).expect("the server listens");
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.stdin.take();
        let _ = self.child.wait();
    }
}

fn line(message: &Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}
