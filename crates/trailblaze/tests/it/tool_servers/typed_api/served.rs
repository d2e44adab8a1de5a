//! A session that is served to other programs.

use std::io::{BufRead, BufReader};
use std::process::{ChildStdin, Stdio};

use serde_json::Value;

use crate::support::{Project, Ran, Running};

/// `trailblaze serve` on a device. It ends with its standard input.
pub struct Served {
    pub address: String,
    pub key: String,
    pub key_file: String,
    pub session: String,
    running: Running,
    stdin: Option<ChildStdin>,
}

impl Served {
    pub fn on(project: &Project, device: &str) -> Served {
        Served::with(project, &["-d", device])
    }

    pub fn with(project: &Project, args: &[&str]) -> Served {
        let mut command = project.command(&["serve", "--json", "--until-stdin-closes"]);
        command.args(args).env("XDG_RUNTIME_DIR", project.root());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let stdin = child.stdin.take();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().expect("its output is piped"));
        output.read_line(&mut line).expect("it prints a line");
        let running = Running::of(child);
        let Ok(ready) = serde_json::from_str::<Value>(&line) else {
            panic!("{line:?}: {:?}", project.ended(running));
        };
        let text = |name: &str| ready[name].as_str().expect("a text").to_string();
        let key = std::fs::read_to_string(text("keyFile")).expect("the key file").trim().to_string();
        let (address, session) = (text("address"), text("session"));
        Served { address, key, key_file: text("keyFile"), session, running, stdin }
    }

    /// `127.0.0.1:port`.
    pub fn host(&self) -> &str {
        self.address.strip_prefix("http://").expect("http")
    }

    /// Kills it, so that it cannot clean up.
    pub fn kill(mut self) {
        self.running.kill();
        self.running.status();
    }

    /// Ends it, and waits.
    pub fn end(mut self, project: &Project) -> Ran {
        self.stdin.take();
        project.ended(self.running)
    }
}
