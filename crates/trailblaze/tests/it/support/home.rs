//! A project whose commands share a daemon of their own.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::support::marked::Mark;
use crate::support::{Project, Ran, wait_until};

pub struct Home {
    pub project: Project,
    pub mark: Mark,
    runtime: tempfile::TempDir,
}

impl Home {
    pub fn new(project: Project) -> Home {
        Home { project, mark: Mark::new(), runtime: tempfile::tempdir().expect("a folder") }
    }

    pub fn counter() -> Home {
        Home::new(Project::counter())
    }

    /// The program with a daemon that belongs to this test.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.project.command(args);
        command.env_remove("TRAILBLAZE_FRESH").env("XDG_RUNTIME_DIR", self.runtime.path());
        // Chromium keeps its profile here.
        command.env("TMPDIR", self.runtime.path());
        command.envs([self.mark.variable()]);
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        self.project.finish(self.command(args))
    }

    pub fn run_with(&self, args: &[&str], variables: &[(&str, &str)]) -> Ran {
        let mut command = self.command(args);
        command.envs(variables.iter().copied());
        self.project.finish(command)
    }

    /// Waits until the session has begun a call of this tool.
    pub fn wait_for_call(&self, tool: &str) {
        let called = format!(r#""tool":"{tool}""#);
        wait_until("the call has begun", || (self.project.runs().last()?.mentions(&called) > 0).then_some(()));
    }

    pub fn folder(&self) -> PathBuf {
        self.runtime.path().join("trailblaze")
    }

    /// What is in the key file.
    pub fn key_file(&self) -> Value {
        let name = format!("{}.daemon.json", "trailblaze");
        let text = std::fs::read_to_string(self.folder().join(name)).expect("the daemon runs");
        serde_json::from_str(&text).expect("JSON")
    }

    pub fn pid(&self) -> u64 {
        self.key_file()["pid"].as_u64().expect("a number")
    }

    /// Files besides those of the daemon itself: what a browser or server left.
    pub fn leftovers(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.runtime.path()).expect("a folder").flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        // The desktop's own settings, which Chromium reads, are shared by all programs.
        names.filter(|name| name != "trailblaze" && name != "dconf").collect()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = self.command(&["daemon", "stop"]).output();
    }
}

pub fn kill(pid: u64) {
    // It may have ended with its parent.
    let _ = Command::new("sh").args(["-c", &format!("kill -9 {pid} 2>/dev/null")]).status().expect("a shell");
}
