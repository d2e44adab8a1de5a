//! The user's own desktop under X. An X server, a window manager and a bus that the test starts are in its place; nobody sits in front of it.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use super::desk::has;
use crate::support::marked::Mark;
use crate::support::{Project, Running, is_full_tier, wait_until};

/// A desktop of somebody, with a note that is none of ours.
struct OwnDesktop {
    project: Project,
    mark: Mark,
    display: String,
    bus: String,
    processes: Vec<Running>,
}

impl OwnDesktop {
    fn start() -> OwnDesktop {
        let (project, mark) = (Project::empty(), Mark::new());
        project.write("private.txt", "a private note");
        let runtime = project.root().join("runtime");
        std::fs::create_dir(&runtime).expect("a folder");
        let bus = format!("unix:path={}", runtime.join("bus").display());
        let mut desktop = OwnDesktop { project, mark, display: String::new(), bus, processes: Vec::new() };
        let screen = ["-displayfd", "1", "-nolisten", "tcp", "-noreset", "-screen", "0", "1024x768x24"];
        let mut xvfb = desktop.command("Xvfb", &screen).stdout(Stdio::piped()).spawn().expect("an X server");
        let mut number = String::new();
        BufReader::new(xvfb.stdout.take().expect("its output")).read_line(&mut number).expect("its number");
        desktop.processes.push(Running::of(xvfb));
        desktop.display = format!(":{}", number.trim());
        let address = format!("--address={}", desktop.bus);
        desktop.spawn("dbus-daemon", &["--session", "--nofork", "--nopidfile", "--nosyslog", &address]);
        wait_until("the bus listens", || runtime.join("bus").exists().then_some(()));
        desktop.spawn("openbox", &[]);
        desktop.spawn("mousepad", &["--disable-server", "private.txt"]);
        desktop
    }

    fn command(&self, program: &str, args: &[&str]) -> Command {
        self.in_session(self.project.command_of(program, args))
    }

    fn spawn(&mut self, program: &str, args: &[&str]) {
        let mut command = self.command(program, args);
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        self.processes.push(Running::of(process));
    }

    fn in_session(&self, mut command: Command) -> Command {
        let (name, value) = self.mark.variable();
        command.env(name, value).env("DISPLAY", &self.display).env("DBUS_SESSION_BUS_ADDRESS", &self.bus);
        command.env("XDG_RUNTIME_DIR", self.project.root().join("runtime")).env("GTK_A11Y", "atspi");
        command.env("GDK_BACKEND", "x11").env("GSETTINGS_BACKEND", "memory");
        command
    }

    fn run(&self, args: &[&str]) -> crate::support::Ran {
        self.project.finish(self.in_session(self.project.command(args)))
    }

    fn editors(&self) -> usize {
        let is_editor = |line: &&String| line.contains("mousepad --disable-server") && !line.contains("__guardian");
        self.mark.alive().iter().filter(is_editor).count()
    }
}

const WRITE: &str = "\
config: {id: write, title: Write beside a private note}
trail:
  - step: See what is there
    tools:
      - waitUntilVisible: {text: a private note, timeoutMs: 150000}
  - step: Write
    tools:
      - launchApp: {packageId: /usr/bin/mousepad --disable-server}
      - inputText: {text: 'Grüße, 12 €'}
      - assertVisible: {text: 'Grüße, 12 €'}
  - verify: Only our own program is used
    tools:
      - assertNotVisible: {text: a private note}
  - step: Use its menus, its clipboard and its windows
    tools:
      - menu: {path: [Edit, Select All]}
      - pressKeys: {keys: Control+C}
      - menu: {path: [File, New]}
      - windows: {}
      - getClipboard: {}
      - close: {id: 'Untitled 2 - Mousepad'}
";

const CLEAR: &str = "\
config: {id: clear, title: Clear}
trail:
  - step: Clear what is not ours
    tools:
      - clearAppData: {packageId: mousepad}
";

/// In the full tier, because it needs a window manager.
#[test]
fn on_an_own_desktop_under_x_only_our_programs_are_used_and_nothing_else_is_touched() {
    if !is_full_tier() || !has(&["mousepad", "openbox"]) {
        return;
    }
    let desktop = OwnDesktop::start();
    desktop.project.write("trails/write.trail.yaml", WRITE);
    desktop.project.write("trails/clear.trail.yaml", CLEAR);
    let well = desktop.run(&["device", "doctor", "desktop/own"]).exits(0);
    assert!(well.stdout.contains(&format!("your desktop is X at {}", desktop.display)), "{}", well.stdout);
    let ran = desktop.run(&["run", "trails/write.trail.yaml", "-d", "desktop/own"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    desktop.project.last_run().assert_no_leftovers();
    let refused = desktop.run(&["run", "trails/clear.trail.yaml", "-d", "desktop/own"]).exits(1);
    assert!(refused.stdout.contains("the data of `mousepad` is yours and is not cleared"), "{}", refused.stdout);
    assert_eq!(desktop.editors(), 1, "the private note is still open, and ours is not: {:?}", desktop.mark.alive());
}

/// As a person sees it: what was started on their desktop is gone after a kill, and the rest is as it was.
#[test]
fn a_killed_run_on_an_own_desktop_leaves_only_what_was_there_before() {
    if !is_full_tier() || !has(&["mousepad", "openbox"]) {
        return;
    }
    let desktop = OwnDesktop::start();
    let wait = WRITE.replace("{text: 'Grüße, 12 €'}\n  - verify", "{text: Never, timeoutMs: 600000}\n  - verify");
    desktop.project.write("trails/write.trail.yaml", wait);
    let command = desktop.in_session(desktop.project.command(&["run", "-d", "desktop/own"]));
    let mut run = desktop.project.start_of(command);
    wait_until("our editor runs", || (desktop.editors() == 2).then_some(()));
    run.kill();
    wait_until("our editor ends", || (desktop.editors() == 1).then_some(()));
    assert!(desktop.mark.alive().iter().any(|line| line.contains("private.txt")));
}
