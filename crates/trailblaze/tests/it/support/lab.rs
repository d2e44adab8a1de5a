//! A project with real tool servers: the fixtures of this folder, run by the runtimes that `scripts/parts` installs.

use std::cell::RefCell;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use trailblaze_protocol::event::{CallResult, Event, Level};
use trailblaze_protocol::outcome::Outcome;

use crate::support::marked::Mark;
use crate::support::{COUNTER_APP, Project, Ran, RunFolder, repository, skip};

/// How long a command may take on a busy machine.
const WATCHDOG: Duration = Duration::from_secs(300);

/// A soak test does everything a hundred times.
fn watchdog() -> Duration {
    if crate::support::is_full_tier() { WATCHDOG * 20 } else { WATCHDOG }
}

/// Our own packages for TypeScript.
const SDKS: &str = "sdks/typescript";

/// The runtime for scripts. Nothing else is on the PATH.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runtime {
    Bun,
    /// Node, with tsx in `node_modules`.
    Tsx,
    /// Node, with tsx only on the PATH.
    TsxOnPath,
    /// A Node that runs TypeScript without a loader, and no tsx.
    Node,
    Nothing,
}

pub struct Lab {
    pub project: Project,
    mark: Mark,
    variables: RefCell<Vec<(String, String)>>,
}

impl Lab {
    /// A lab with Bun. `None` if the parts are missing, which skips the test locally and fails it in CI.
    pub fn new() -> Option<Lab> {
        Lab::under(Runtime::Bun)
    }

    pub fn under(runtime: Runtime) -> Option<Lab> {
        let parts = parts()?;
        let project =
            Project::empty().with("counter.app.yaml", COUNTER_APP).with("package.json", r#"{"type": "module"}"#);
        let packages = parts.join("node/node_modules");
        let bin = project.root().join("bin");
        std::fs::create_dir(&bin).expect("a folder");
        let put = |name: &str, program: &str| symlink(packages.join(program), bin.join(name)).expect("a link");
        match runtime {
            Runtime::Bun => put("bun", ".bin/bun"),
            Runtime::Nothing => {}
            Runtime::TsxOnPath => {
                put("node", "node/bin/node");
                put("tsx", ".bin/tsx");
            }
            Runtime::Tsx | Runtime::Node => put("node", "node/bin/node"),
        }
        let own = project.root().join("node_modules");
        std::fs::create_dir_all(own.join("@trailblaze")).expect("a folder");
        let has_tsx = matches!(runtime, Runtime::Bun | Runtime::Tsx);
        for name in ["@modelcontextprotocol", "zod"].into_iter().chain(has_tsx.then_some("tsx")) {
            symlink(packages.join(name), own.join(name)).expect("a link");
        }
        for name in ["client", "scripting"] {
            let package = repository().join(SDKS).join(name).canonicalize().expect("it is there");
            symlink(package, own.join("@trailblaze").join(name)).expect("a link");
        }
        let lab = Lab { project, mark: Mark::new(), variables: RefCell::default() };
        lab.configured("");
        Some(lab)
    }

    /// Copies an example of the repository over the project.
    pub fn example(&self, name: &str) -> &Lab {
        copy(&repository().join("examples").join(name), self.project.root());
        self
    }

    /// Writes `trailblaze.yaml`, after what every lab has in it.
    pub fn configured(&self, text: &str) -> &Lab {
        self.project.write("trailblaze.yaml", format!("sim:\n  apps: [counter.app.yaml]\n{text}"));
        self
    }

    /// A target `fixture` with these entries of `mcp_servers:`, each written as a list item.
    pub fn target(&self, servers: &[&str]) -> &Lab {
        let servers: String = servers.iter().map(|entry| format!("  - {entry}\n")).collect();
        let text = format!("id: fixture\nmcp_servers:\n{servers}");
        self.with("trailblaze-config/targets/fixture.yaml", &text)
    }

    /// Copies a fixture into `tools/`.
    pub fn fixture(&self, name: &str) -> &Lab {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers").join(name);
        let text = std::fs::read_to_string(&from).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
        self.with(&format!("tools/{name}"), &text)
    }

    pub fn with(&self, path: &str, text: &str) -> &Lab {
        self.project.write(path, text);
        self
    }

    /// Sets a variable for the program and, by inheritance, for its servers.
    pub fn env(&self, name: &str, value: impl Into<String>) -> &Lab {
        self.variables.borrow_mut().push((name.to_string(), value.into()));
        self
    }

    /// A trail with one step that makes these calls.
    pub fn calls(&self, calls: &[&str]) -> &Lab {
        let calls: String = calls.iter().map(|call| format!("      - {call}\n")).collect();
        self.with("trails/a.trail.yaml", &format!("trail:\n  - step: Go\n    tools:\n{calls}"))
    }

    pub fn path(&self, name: &str) -> String {
        self.project.root().join(name).display().to_string()
    }

    /// The program, with only the runtime on its PATH.
    pub fn command(&self, args: &[&str]) -> Command {
        self.program(env!("CARGO_BIN_EXE_trailblaze"), args)
    }

    /// Another program, in the same environment.
    pub fn program(&self, program: impl AsRef<Path>, args: &[&str]) -> Command {
        let mut command = Command::new(program.as_ref());
        command.args(args).current_dir(self.project.root()).env_clear().env("HOME", self.project.root().join("home"));
        command.env("TRAILBLAZE_FRESH", "1");
        command.env("PATH", self.project.root().join("bin")).envs([self.mark.variable()]);
        command.envs(self.variables.borrow().iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// The processes of this lab, as they appear in a process list.
    pub fn alive(&self) -> Vec<String> {
        self.mark.alive()
    }

    #[track_caller]
    pub fn assert_none_left(&self) {
        self.mark.assert_none_left();
    }

    /// Runs a command, which must end in time and leave no process behind.
    #[track_caller]
    pub fn go(&self, args: &[&str]) -> Ran {
        self.finish(self.command(args))
    }

    #[track_caller]
    pub fn finish(&self, mut command: Command) -> Ran {
        let child = command.spawn().expect("the program starts");
        let pid = Pid::from_child(&child);
        let (over, is_over) = mpsc::channel::<()>();
        let watchdog = std::thread::spawn(move || {
            if is_over.recv_timeout(watchdog()) == Err(mpsc::RecvTimeoutError::Timeout) {
                let _ = kill_process(pid, Signal::KILL);
            }
        });
        let output = child.wait_with_output().expect("the program ends");
        drop(over);
        watchdog.join().expect("the command ends in time");
        self.mark.assert_none_left();
        without_waits(self.project.ran(output))
    }

    /// Runs the trails, and loads the run folder.
    #[track_caller]
    pub fn run(&self, args: &[&str], code: i32) -> Played {
        let ran = self.go(&[&["run", "--pictures", "off"], args].concat()).exits(code);
        let run = self.project.last_run();
        run.assert_finished(code);
        run.assert_calls_have_parents();
        assert_eq!(run.summary()["leakedProcesses"], 0);
        Played { ran, run }
    }

    /// The names of the tools that models are offered, or of all tools.
    pub fn offered(&self, args: &[&str]) -> Vec<String> {
        let toolbox = self.go(&[&["toolbox", "--json"], args].concat()).exits(0).json();
        let tools = toolbox[0]["tools"].as_array().expect("a list of tools").iter();
        tools.map(|tool| tool["name"].as_str().expect("a name").to_string()).collect()
    }
}

/// A finished run.
pub struct Played {
    pub ran: Ran,
    pub run: RunFolder,
}

impl Played {
    /// The outcomes of all calls of a tool, in the order of the answers.
    pub fn outcomes(&self, tool: &str) -> Vec<Outcome> {
        let mut calls = Vec::new();
        let mut outcomes = Vec::new();
        for event in self.run.events() {
            match event {
                Event::Called(called) if called.tool == tool => calls.push(called.call.clone()),
                Event::Answered { call, answer, .. } if calls.contains(&call) => match answer {
                    CallResult::Outcome(outcome) => outcomes.push(*outcome),
                    CallResult::Fault { message, .. } => panic!("`{tool}` could not be called: {message}"),
                },
                _ => {}
            }
        }
        outcomes
    }

    pub fn texts(&self, tool: &str) -> Vec<String> {
        self.outcomes(tool).into_iter().map(|outcome| outcome.text).collect()
    }

    /// The structured value of the only call of a tool.
    #[track_caller]
    pub fn structured(&self, tool: &str) -> Value {
        let mut outcomes = self.outcomes(tool);
        assert_eq!(outcomes.len(), 1, "`{tool}` was called once");
        outcomes.remove(0).structured.expect("a structured value")
    }

    pub fn notes(&self) -> Vec<(Level, String)> {
        let note = |event: Event| match event {
            Event::Noted { level, text, .. } => Some((level, text)),
            _ => None,
        };
        self.run.events().into_iter().filter_map(note).collect()
    }

    /// Everything in the log of a server, from all its instances.
    pub fn log(&self, server: &str) -> String {
        let is_its = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().starts_with(server);
        let read = |path| std::fs::read_to_string(path).expect("the log is text");
        crate::support::files(&self.run.path.join("servers")).into_iter().filter(is_its).map(read).collect()
    }
}

/// The answers to the calls of a run, by tool.
pub fn texts(run: &RunFolder) -> Value {
    let mut tools = std::collections::HashMap::new();
    let mut texts = serde_json::Map::new();
    for event in run.events() {
        match event {
            Event::Called(called) => drop(tools.insert(called.call.clone(), called.tool.clone())),
            Event::Answered { call, answer, .. } => {
                let text = match answer {
                    CallResult::Outcome(outcome) => outcome.text,
                    CallResult::Fault { message, .. } => message,
                };
                let of = texts.entry(&tools[&call]).or_insert_with(|| Value::Array(Vec::new()));
                of.as_array_mut().expect("a list").push(text.into());
            }
            _ => {}
        }
    }
    texts.into()
}

/// Removes the lines about servers that are slow to start, which appear only on a busy machine.
pub fn without_waits(mut ran: Ran) -> Ran {
    let is_wait = |line: &str| line.starts_with("waiting for ") && line.contains(" to start (");
    ran.stderr = ran.stderr.split_inclusive('\n').filter(|line| !is_wait(line)).collect();
    ran
}

/// Copies source files, and nothing that was built or installed.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display())) {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default();
        match name.to_str() {
            Some("node_modules" | "logs" | ".trailblaze" | ".venv") => {}
            _ if path.is_dir() => copy(&path, &to.join(name)),
            _ => {
                std::fs::copy(&path, to.join(name)).expect("a copy");
            }
        }
    }
}

/// The folder into which `scripts/parts` installs.
pub fn parts() -> Option<PathBuf> {
    let folder = repository().join(".parts");
    let is_whole = ["node/stamp", "python/stamp"].iter().all(|part| folder.join(part).is_file());
    if is_whole
        && ["client", "scripting"].iter().all(|name| repository().join(SDKS).join(name).join("dist/stamp").is_file())
    {
        return Some(folder.canonicalize().expect("it is there"));
    }
    skip::without_part("the runtimes and libraries of tool servers are missing: `scripts/parts` installs them");
    None
}

/// The entry of a Python server that is a fixture in `tools/`.
pub fn python(name: &str) -> String {
    python_of("python", name)
}

/// Like [`python`], with FastMCP 2.
pub fn python_with_fastmcp_2(name: &str) -> Option<String> {
    if repository().join(".parts/fastmcp2/stamp").is_file() {
        return Some(python_of("fastmcp2", name));
    }
    skip::without_part("FastMCP 2 is missing: `scripts/parts` installs it");
    None
}

fn python_of(environment: &str, name: &str) -> String {
    let python = repository().join(format!(".parts/{environment}/bin/python")).display().to_string();
    format!("{{name: {name}, command: '{python}', args: [tools/{name}.py]}}")
}
