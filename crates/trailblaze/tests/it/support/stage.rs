//! A project with two tool servers, one hostile and one well-behaved, and the results of running it.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use trailblaze_protocol::event::{CallResult, Event, Level};

use crate::support::lab::without_waits;
use crate::support::marked::Mark;
use crate::support::{COUNTER_APP, Project, Ran, RunFolder, Running};

const RUN: [&str; 5] = ["run", "--pictures", "off", "-d", "android/sim-1"];

/// How long a run may take on a busy machine, whatever its servers do.
const WATCHDOG: Duration = Duration::from_secs(300);

/// The call to the well-behaved server, made after the hostile one has been called.
const OTHER_TRAIL: &str = "\
trail:
  - step: Ask the other server
    tools:
      - good_act: {text: well}
  - step: Count
    tools:
      - launchApp: {packageId: com.example.counter}
      - tap: {id: add}
";

pub struct Stage {
    project: Project,
    mark: Mark,
    /// How the hostile server is started.
    command: String,
    /// Additional keys of its entry.
    keys: Vec<String>,
}

impl Stage {
    /// The hostile server behaves like this, and a trail calls its tool `rogue_act`.
    pub fn new(behaviour: &str) -> Stage {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers/hostile.py");
        let command = |behaviour: &str, prefix: &str| {
            format!("command: python3\n    args: ['{}', {behaviour}, {prefix}]", script.display())
        };
        let project = Project::empty().with("counter.app.yaml", COUNTER_APP);
        project.write("good.yaml", command("good", "good"));
        Stage { project, mark: Mark::new(), command: command(behaviour, "rogue"), keys: Vec::new() }.calls("{}")
    }

    /// Starts another program instead of the hostile server.
    pub fn program(mut self, program: &str) -> Stage {
        self.command = format!("command: {program}");
        self
    }

    /// Connects to the hostile server over HTTP instead.
    pub fn reached(mut self, url: &str) -> Stage {
        self.command = format!("transport: http\n    url: {url}");
        self
    }

    /// Adds a key to the entry of the hostile server.
    pub fn with(mut self, key: &str) -> Stage {
        self.keys.push(key.to_string());
        self
    }

    /// The arguments of each call of `rogue_act`.
    pub fn calls_each(self, arguments: &[&str]) -> Stage {
        let calls: String = arguments.iter().map(|args| format!("      - rogue_act: {args}\n")).collect();
        self.project.write("trails/a.trail.yaml", format!("trail:\n  - step: Act\n    tools:\n{calls}"));
        self
    }

    pub fn calls(self, arguments: &str) -> Stage {
        self.calls_each(&[arguments])
    }

    /// A second trail, which needs only the well-behaved server.
    pub fn then_the_other(self) -> Stage {
        self.project.write("trails/b.trail.yaml", OTHER_TRAIL);
        self
    }

    pub fn project(&self) -> &Project {
        &self.project
    }

    /// The program, ready to run the project.
    pub fn command(&self, args: &[&str]) -> Command {
        let keys: String = self.keys.iter().map(|key| format!("    {key}\n")).collect();
        let good = self.project.read("good.yaml");
        self.project.write(
            "trailblaze.yaml",
            format!(
                "sim:\n  apps: [counter.app.yaml]\nmcpServers:\n  good:\n    {good}\n  rogue:\n    {}\n{keys}",
                self.command
            ),
        );
        let mut command = self.project.command(args);
        command.envs([self.mark.variable()]).env("HOSTILE_PLACE", self.project.root());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts a run without waiting for it.
    pub fn start(&self) -> Running {
        Running::of(self.command(&RUN).spawn().expect("the program starts"))
    }

    /// Runs the trails. In any case, the run must end by itself, be complete in its folder, and leave no process
    /// running.
    #[track_caller]
    pub fn play(self, code: i32) -> Played {
        let ran = self.finish(self.command(&RUN));
        self.judge(ran.exits(code), code)
    }

    /// Runs the trails, however they end.
    #[track_caller]
    pub fn play_to_any_end(self) -> Played {
        let ran = self.finish(self.command(&RUN));
        let code = ran.code.expect("the run ends by itself");
        self.judge(ran, code)
    }

    /// Runs a command, which must end in time.
    #[track_caller]
    pub fn finish(&self, mut command: Command) -> Ran {
        let child = command.spawn().expect("the program starts");
        let pid = Pid::from_child(&child);
        let (over, is_over) = mpsc::channel::<()>();
        let watchdog = std::thread::spawn(move || {
            if is_over.recv_timeout(WATCHDOG) == Err(mpsc::RecvTimeoutError::Timeout) {
                let _ = kill_process(pid, Signal::KILL);
            }
        });
        let output = child.wait_with_output().expect("the program ends");
        drop(over);
        watchdog.join().expect("the command ends in time");
        without_waits(self.project.ran(output))
    }

    /// Checks that no process of this stage is left.
    #[track_caller]
    pub fn assert_none_left(&self) {
        self.mark.assert_none_left();
    }

    #[track_caller]
    pub fn judge(self, ran: Ran, code: i32) -> Played {
        self.assert_none_left();
        let run = self.project.last_run();
        run.assert_finished(code);
        run.assert_calls_have_parents();
        assert_eq!(run.summary()["leakedProcesses"], 0);
        Played { _stage: self, ran, run }
    }
}

/// Makes an attempt that waits for a limit of a server to pass. What must happen before that may take longer on a busy
/// machine: then the attempt returns `None`, and is made again with a higher limit.
#[track_caller]
pub fn with_a_limit<T>(attempt: impl FnMut(&str) -> Option<T>) -> T {
    ["1s", "8s", "50s"].into_iter().find_map(attempt).expect("the highest limit is enough")
}

/// A finished run.
pub struct Played {
    /// Keeps the folder of the run.
    _stage: Stage,
    pub ran: Ran,
    pub run: RunFolder,
}

impl Played {
    /// What the user sees, without progress and the path of the report.
    pub fn said(&self) -> String {
        let is_told = |line: &&str| !["✓", "✗", "Report: ", "waiting for "].iter().any(|word| line.starts_with(word));
        let lines = self.ran.stderr.lines().chain(self.ran.stdout.trim_start().lines()).filter(is_told);
        let text = lines.collect::<Vec<_>>().join("\n");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers/hostile.py");
        self.ran.normal(&text.replace(&script.display().to_string(), "[server]"))
    }

    /// Checks that the second trail passed, which needs the well-behaved server.
    #[track_caller]
    pub fn assert_the_other_went_on(&self) {
        assert_eq!(self.run.text("recordings/trails-b.trail.yaml"), OTHER_TRAIL);
        assert!(self.run.calls().iter().any(|call| call.tool == "good_act"));
    }

    /// Checks that nothing was called: the problem was found beforehand.
    #[track_caller]
    pub fn assert_nothing_called(&self) {
        assert_eq!(self.run.calls().len(), 0);
    }

    /// The answers to the calls of a tool.
    pub fn answers(&self, tool: &str) -> Vec<String> {
        let mut calls = Vec::new();
        let mut answers = Vec::new();
        for event in self.run.events() {
            match event {
                Event::Called(called) if called.tool == tool => calls.push(called.call.clone()),
                Event::Answered { call, answer, .. } if calls.contains(&call) => answers.push(match answer {
                    CallResult::Outcome(outcome) => outcome.text,
                    CallResult::Fault { message, .. } => message,
                }),
                _ => {}
            }
        }
        answers
    }

    /// The notes, each with its level.
    pub fn notes(&self) -> String {
        let note = |event: Event| match event {
            Event::Noted { level, text, .. } => Some(format!("{}: {text}", word(level))),
            _ => None,
        };
        self.run.events().into_iter().filter_map(note).collect::<Vec<_>>().join("\n")
    }

    /// The stderr of the hostile server, from all its instances.
    pub fn log(&self) -> String {
        let files = crate::support::files(&self.run.path.join("servers"));
        let is_rogue =
            |path: &std::path::PathBuf| path.file_name().unwrap_or_default().to_string_lossy().starts_with("rogue");
        let read = |path| std::fs::read_to_string(path).expect("the log is text");
        files.into_iter().filter(is_rogue).map(read).collect()
    }
}

fn word(level: Level) -> &'static str {
    match level {
        Level::Debug => "debug",
        Level::Info => "info",
        Level::Warning => "warning",
        Level::Error => "error",
    }
}
