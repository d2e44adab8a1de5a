//! A real Chromium, driven over its debugging pipe: messages of JSON, each ended by a NUL.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

/// How long a browser may take to answer anything before it is killed.
const PATIENCE: Duration = Duration::from_secs(120);

/// One browser with one tab. It ends with this value.
pub struct Browser {
    process: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    /// Events that came while an answer was awaited.
    events: VecDeque<Value>,
    session: Option<String>,
    n_sent: u64,
    /// What the page complained about.
    pub errors: Vec<String>,
    _home: TempDir,
}

impl Browser {
    pub fn start(program: &Path) -> Browser {
        let home = tempfile::tempdir().expect("a temporary folder");
        let mut command = Command::new("sh");
        // The pipe is the descriptors 3 and 4, which the shell makes of its input and output.
        command.args(["-c", r#"exec "$@" 3<&0 4>&1 </dev/null >/dev/null"#, "sh"]).arg(program);
        command.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
        ]);
        command.args(["--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars"]);
        command.args(["--remote-debugging-pipe", "--window-size=1280,900"]);
        command.arg(format!("--user-data-dir={}", home.path().display()));
        command.env("HOME", home.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // A group of its own, so that all of its processes can be ended.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut process = command.spawn().expect("a shell starts");
        let input = process.stdin.take().expect("its input is ours");
        let output = process.stdout.take().expect("its output is ours");
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut message = Vec::new();
            while output.read_until(0, &mut message).is_ok_and(|len| len > 0) {
                message.pop();
                let Ok(value) = serde_json::from_slice(&message) else { break };
                if sender.send(value).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let mut browser = Browser {
            process,
            input,
            messages,
            events: VecDeque::new(),
            session: None,
            n_sent: 0,
            errors: Vec::new(),
            _home: home,
        };
        let tab = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let tab = browser.call("Target.attachToTarget", json!({"targetId": tab["targetId"], "flatten": true}));
        browser.session = tab["sessionId"].as_str().map(String::from);
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Opens a file and waits until it is loaded.
    pub fn open(&mut self, file: &Path) {
        self.events.clear();
        let answer = self.call("Page.navigate", json!({"url": format!("file://{}", file.display())}));
        assert_eq!(answer["errorText"], Value::Null, "{}", file.display());
        let deadline = Instant::now() + PATIENCE;
        loop {
            while let Some(event) = self.events.pop_front() {
                if event["method"] == "Page.loadEventFired" {
                    return;
                }
            }
            let message = self.receive(deadline, "the page to load");
            self.events.push_back(message);
        }
    }

    /// The value of an expression, awaited if it is a promise. It must not throw.
    pub fn eval(&mut self, expression: &str) -> Value {
        let args = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let answer = self.call("Runtime.evaluate", args);
        assert_eq!(answer["exceptionDetails"], Value::Null, "{expression}");
        answer["result"]["value"].clone()
    }

    pub fn resize(&mut self, width: u32, height: u32) {
        let args = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.call("Emulation.setDeviceMetricsOverride", args);
    }

    pub fn prefer(&mut self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// Leaves a picture of the page in the folder that TRAILBLAZE_TEST_SHOTS names, for people to look at.
    pub fn shoot(&mut self, name: &str) {
        let Some(folder) = std::env::var_os("TRAILBLAZE_TEST_SHOTS") else { return };
        self.eval("pictures().then(() => true)");
        let answer = self.call("Page.captureScreenshot", json!({"format": "png"}));
        let picture = STANDARD.decode(answer["data"].as_str().unwrap_or_default()).expect("it is in base 64");
        std::fs::write(Path::new(&folder).join(format!("{name}.png")), picture).expect("the folder is there");
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        self.n_sent += 1;
        let mut message = json!({"id": self.n_sent, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = serde_json::to_vec(&message).expect("a message is JSON");
        bytes.push(0);
        self.input.write_all(&bytes).expect("the browser reads");
        let deadline = Instant::now() + PATIENCE;
        loop {
            let message = self.receive(deadline, method);
            if message["id"] == self.n_sent {
                assert_eq!(message["error"], Value::Null, "{method}");
                return message["result"].clone();
            }
            self.events.push_back(message);
        }
    }

    fn receive(&mut self, deadline: Instant, what: &str) -> Value {
        let message = match self.messages.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => panic!("the browser took too long: {what}"),
            Err(RecvTimeoutError::Disconnected) => panic!("the browser is gone: {what}"),
        };
        let params = &message["params"];
        match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => self.errors.push(params["exceptionDetails"].to_string()),
            Some("Runtime.consoleAPICalled") if params["type"] == "error" => {
                self.errors.push(params["args"].to_string())
            }
            Some("Log.entryAdded") if params["entry"]["level"] == "error" => {
                self.errors.push(params["entry"].to_string())
            }
            _ => {}
        }
        message
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let group = format!("-{}", self.process.id());
        // It holds nothing worth saving, and must be gone whatever state it is in.
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        let _ = self.process.wait();
    }
}
