//! A project with an app, a recording in progress, and the hand of the person who is recorded.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::support::hand::{Hand, after_the_driver, free_port};
use crate::support::lab::{Lab, Runtime};
use crate::support::{Ran, Running, chromium, wait_until};

/// The server of an app. It does not outlive its test.
pub struct Server {
    child: Child,
    pub address: String,
}

impl Server {
    /// Starts a script that prints its address.
    fn start(lab: &Lab, script: &str) -> Server {
        let mut command = Command::new(lab.project.root().join("bin/node"));
        command.args([script, "0"]).current_dir(lab.project.root());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the server starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("its output is ours")).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("listening on ").map(str::to_string);
        let address = address.unwrap_or_else(|| panic!("the server told no address: `{line}`"));
        Server { child, address }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub struct Stage {
    pub lab: Lab,
    pub server: Server,
    runtime: tempfile::TempDir,
    port: u16,
}

impl Stage {
    /// `None` if the parts are missing.
    pub fn open(example: &str, script: &str) -> Option<Stage> {
        Stage::with_pages(example, script, &[])
    }

    /// The same with more pages in the shop: their names, and what they consist of.
    pub fn with_pages(example: &str, script: &str, pages: &[(&str, &str)]) -> Option<Stage> {
        let lab = Lab::under(Runtime::Node)?;
        chromium::find()?;
        lab.example(example);
        for (name, html) in pages {
            // Pages of frames have no header.
            lab.project.write(&format!("pages/{name}.html"), format!("<!-- Frame: {name} -->\n{html}"));
        }
        let server = Server::start(&lab, script);
        let port = free_port();
        let stage = Stage { lab, server, runtime: tempfile::tempdir().expect("a folder"), port };
        Some(stage)
    }

    /// The program, with a daemon that belongs to this test.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.lab.project.command(args);
        command.env_remove("TRAILBLAZE_FRESH").env("XDG_RUNTIME_DIR", self.runtime.path());
        command.env("TMPDIR", self.runtime.path());
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        self.lab.project.finish(self.command(args))
    }

    pub fn run_with(&self, args: &[&str], variables: &[(&str, &str)]) -> Ran {
        let mut command = self.command(args);
        command.envs(variables.iter().copied());
        self.lab.project.finish(command)
    }

    /// Starts a recording of a page of the app, or of another one by its whole address.
    pub async fn record(&self, page: &str, args: &[&str]) -> (Running, Hand) {
        let port = self.port;
        let config =
            format!("devices: [{{id: web/chromium}}]\nbrowser: {{args: ['--remote-debugging-port={port}']}}\n");
        let url = if page.contains("://") { page.to_string() } else { format!("{}{page}", self.server.address) };
        let running = self.record_on(&config, &[&["--headless", "--url", &url], args].concat(), &[]);
        let hand = Hand::connect(port).await;
        hand.recorded_tab(&url).await;
        after_the_driver().await;
        (running, hand)
    }

    /// Starts a recording in a project with this configuration, and waits until it records.
    pub fn record_on(&self, config: &str, args: &[&str], variables: &[(&str, &str)]) -> Running {
        self.lab.project.write("trailblaze.yaml", config);
        let mut command = self.command(&[&["record", "--json"], args].concat());
        command.envs(variables.iter().copied());
        let talk = self.runtime.path().join("talk");
        command.stdout(Stdio::piped()).stderr(File::create(&talk).expect("a file"));
        let mut running = Running::of(command.spawn().expect("the program starts"));
        tokio::task::block_in_place(|| {
            wait_until("it records", || {
                let talk = std::fs::read_to_string(&talk).expect("a file");
                assert!(!running.has_ended(), "it ended: {talk}");
                talk.contains("Recording what you do").then_some(())
            })
        });
        running
    }

    /// Writes a page of the project. Returns its address.
    pub fn page(&self, name: &str, html: &str) -> String {
        self.lab.project.write(name, html);
        format!("file://{}", self.lab.project.root().join(name).display())
    }

    /// Runs a recorded trail, and checks that an element says the same at its end as when it was recorded.
    pub fn replays_to(&self, trail: &str, id: &str, text: &str) {
        let saved = self.lab.project.read(trail);
        let check = format!(
            "  - verify: The same has happened\n    tools:\n      - assertVisible:\n          id: {id}\n          expectedText: {}\n",
            serde_json::json!(text)
        );
        self.lab.project.write(trail, format!("{saved}{check}"));
        let ran = self.run(&["run", trail]);
        assert_eq!(ran.code, Some(0), "{}\n{}\n{saved}", ran.stdout, ran.stderr);
    }

    /// Waits until there is a step with this text.
    pub fn until_recorded(&self, text: &str) {
        self.until(&format!("`{text}` is recorded"), |steps| steps.iter().any(|step| step == text));
    }

    /// Waits for certain steps.
    pub fn until(&self, what: &str, fits: impl Fn(&[String]) -> bool) {
        let texts = || {
            let shown = self.run(&["session", "show", "--json"]).exits(0).json();
            let steps = shown["answer"].as_array().unwrap_or_else(|| panic!("no list: {shown}"));
            steps.iter().map(|step| step["text"].as_str().unwrap_or_default().to_string()).collect::<Vec<_>>()
        };
        tokio::task::block_in_place(|| wait_until(what, || fits(&texts()).then_some(())));
    }

    /// Ends a recording with Ctrl-C. Returns what it says.
    pub fn end(&self, running: Running) -> Value {
        running.interrupt();
        self.ended(running)
    }

    /// Waits for a recording that ends by itself.
    pub fn ended(&self, running: Running) -> Value {
        let ran = tokio::task::block_in_place(|| self.lab.project.ended(running)).exits(0);
        self.lab.project.write("trailblaze.yaml", chromium::devices("[{id: web/chromium}]"));
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}\n{}", ran.stdout, ran.stderr))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = self.command(&["daemon", "stop"]).output();
    }
}

/// The words of the steps.
pub fn words(recorded: &Value) -> Vec<String> {
    let steps = recorded["steps"].as_array().cloned().unwrap_or_default();
    steps.iter().map(|step| step["text"].as_str().unwrap_or_default().to_string()).collect()
}
