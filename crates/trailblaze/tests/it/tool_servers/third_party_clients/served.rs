//! A session that `trailblaze serve` opened.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc;

use serde_json::{Value, json};

use crate::support::{PATIENCE, Project, RunFolder, Running, skip, wait_until};

/// Whether curl is installed. If not, the test is skipped, or fails in CI.
pub fn has_curl() -> bool {
    let has_curl = Command::new("curl").arg("--version").output().is_ok();
    if !has_curl {
        skip::without_part("curl is missing: `scripts/parts` installs it");
    }
    has_curl
}

pub struct Served {
    running: Running,
    stdin: ChildStdin,
    run: RunFolder,
    pub address: String,
    pub key_file: PathBuf,
    pub session: String,
}

impl Served {
    pub fn on(project: &Project, device: &str) -> Served {
        let key_file = project.root().join(format!("{}.key", device.replace('/', "-")));
        let log = File::create(key_file.with_extension("log")).expect("a file");
        let mut command = project.command(&["serve", "--json", "--until-stdin-closes", "-d", device, "--key-file"]);
        command.arg(&key_file).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().expect("the program starts");
        let (stdin, stdout) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        let running = Running::of(child);
        let (send, line) = mpsc::channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            let _ = BufReader::new(stdout).read_line(&mut line);
            let _ = send.send(line);
        });
        let line = line.recv_timeout(PATIENCE).expect("the program says where it is");
        let shown: Value = serde_json::from_str(&line).unwrap_or_else(|error| {
            let log = std::fs::read_to_string(key_file.with_extension("log")).unwrap_or_default();
            panic!("{error} in {line:?}\n{log}")
        });
        let text = |name: &str| shown[name].as_str().unwrap_or_else(|| panic!("no {name} in {line}")).to_string();
        let (address, session) = (text("address"), text("session"));
        let run = wait_until("the session is in the events of its run", || {
            project.runs().into_iter().find(|run| run.mentions(&session) > 0)
        });
        Served { running, stdin, run, address, key_file, session }
    }

    /// What a client needs to know.
    pub fn for_client(&self) -> Value {
        let key = std::fs::read_to_string(&self.key_file).expect("a key");
        json!({"address": self.address, "key": key.trim()})
    }

    /// A request whose body is a file next to the key.
    pub fn curl(&self, method: &str, content: &str, body: &str) -> Command {
        let key = std::fs::read_to_string(&self.key_file).expect("a key");
        let mut command = Command::new("curl");
        command.args(["-sS", "--max-time", "60", "-H", &format!("Content-Type: {content}")]);
        command.args(["-H", &format!("Authorization: Bearer {}", key.trim()), "--data-binary", &format!("@{body}")]);
        command.arg(format!("{}/trailblaze.v1.{method}", self.address));
        command.current_dir(self.key_file.with_file_name(""));
        command
    }

    /// Whether the call that has these words in its arguments was cancelled.
    pub fn is_cancelled(&self, words: &str) -> bool {
        let events = self.run.text("events.jsonl");
        let mut events = events.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let Some(call) = events.find_map(|line| {
            let called = &line["event"]["called"];
            called["args"].to_string().contains(words).then(|| called["call"].clone())
        }) else {
            return false;
        };
        events.any(|line| {
            let answered = &line["event"]["answered"];
            answered["call"] == call && answered["answer"]["fault"]["message"] == "cancelled"
        })
    }

    /// Ends the session, as its user would.
    pub fn stop(self) {
        let Served { mut running, stdin, .. } = self;
        drop(stdin);
        wait_until("the session ends", || running.has_ended().then_some(()));
        assert!(running.status().success());
    }
}
