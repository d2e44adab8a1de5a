//! A shell as a person has it: in a real terminal, which a small program holds for us.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use crate::support::{PATIENCE, Project};

const LAUNCH: &str = "launchApp packageId=com.example.counter";
const PROMPT: &str = "trailblaze> ";
const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";
const UP: &str = "\x1b[A";

/// A shell at a terminal.
struct Terminal {
    child: Child,
    keyboard: Option<ChildStdin>,
    screen: Receiver<u8>,
    /// Everything that was shown.
    shown: String,
    /// How much of it was looked at.
    seen: usize,
}

impl Terminal {
    fn open(project: &Project, args: &[&str]) -> Terminal {
        Terminal::open_with(project, args, &[])
    }

    fn open_with(project: &Project, args: &[&str], variables: &[(&str, &str)]) -> Terminal {
        let holder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/command_line/shell/terminal.py");
        // The program's own command says where it runs and in what environment.
        let own = project.command(&[&["shell", "-d", "android/sim-1"], args].concat());
        let mut command = Command::new("python3");
        command.arg(holder).arg(own.get_program()).args(own.get_args()).current_dir(project.root()).env_clear();
        command.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("TERM", "xterm").envs(variables.iter().copied());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a terminal opens");
        let (send, screen) = channel();
        let mut stdout = child.stdout.take().expect("its screen is ours");
        std::thread::spawn(move || {
            let mut byte = [0];
            while stdout.read_exact(&mut byte).is_ok() && send.send(byte[0]).is_ok() {}
        });
        let keyboard = child.stdin.take();
        let mut terminal = Terminal { child, keyboard, screen, shown: String::new(), seen: 0 };
        terminal.sees(PROMPT);
        terminal
    }

    fn types(&mut self, keys: &str) {
        let keyboard = self.keyboard.as_mut().expect("it is open");
        keyboard.write_all(keys.as_bytes()).and_then(|()| keyboard.flush()).expect("keys are typed");
    }

    /// Types a line, and waits until what it comes to is shown and the next line is asked for.
    fn says(&mut self, line: &str, expected: &str) {
        self.types(&format!("{line}\r"));
        self.sees(expected);
        self.sees(PROMPT);
    }

    /// Waits until this is shown, after what was waited for before.
    fn sees(&mut self, expected: &str) {
        let mut bytes = Vec::new();
        loop {
            if let Some(at) = self.shown[self.seen..].find(expected) {
                self.seen += at + expected.len();
                return;
            }
            match self.screen.recv_timeout(PATIENCE) {
                Ok(byte) => bytes.push(byte),
                Err(_) => panic!("`{expected}` is not shown in\n{}", self.shown),
            }
            if let Ok(text) = std::str::from_utf8(&bytes) {
                self.shown.push_str(text);
                bytes.clear();
            }
        }
    }

    fn signal(&mut self, number: u8) {
        self.types(&format!("\0{number}\n"));
    }

    /// Leaves, and tells how the program ended.
    fn ends(mut self) -> i32 {
        self.sees("[terminal restored]");
        self.child.wait().expect("it ends").code().unwrap_or(-1)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It takes the program in its terminal with it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn ctrl_c_cancels_the_call_and_not_the_shell() {
    let project = Project::counter();
    let mut terminal = Terminal::open(&project, &[]);
    terminal.says(LAUNCH, "done");
    terminal.types("waitUntilVisible text=Nowhere timeoutMs=300000\r");
    crate::support::wait_until("the call is made", || {
        (project.last_run().mentions("\"waitUntilVisible\"") == 1).then_some(())
    });
    terminal.types(CTRL_C);
    terminal.sees("cancelled");
    terminal.sees(PROMPT);
    // At the prompt it throws the line away.
    terminal.types("tap id=nonsense");
    terminal.types(CTRL_C);
    terminal.sees(PROMPT);
    terminal.says("tap id=add", "tap on Button");
    terminal.types(CTRL_D);
    terminal.sees("The steps were not saved as a trail; they are recorded in ");
    assert_eq!(terminal.ends(), 0);
    let run = project.last_run();
    run.assert_finished(0);
    run.assert_calls_have_parents();
    assert!(run.text("recording.trail.yaml").contains("id: add"), "nothing is lost");
}

#[test]
fn a_call_that_failed_is_not_listed_as_passed() {
    let project = Project::counter();
    let mut terminal = Terminal::open(&project, &[]);
    terminal.says("assertVisible text=Nowhere timeoutMs=10", "nothing on the screen has the text");
    terminal.says("nonsense", "unknown tool");
    terminal.types("quit\r");
    assert_eq!(terminal.ends(), 0, "a person tries things");
    let listed = project.run(&["runs", "list"]).exits(0).stdout;
    assert!(
        listed.contains(" UTC, ") && listed.contains("  failed ") && listed.contains("0 of 1 trail passed, 1 failed"),
        "{listed}"
    );
    project.last_run().assert_finished(1);
}

#[test]
fn lines_are_edited_completed_and_remembered() {
    let project = Project::counter();
    let mut terminal = Terminal::open(&project, &[]);
    // Tab completes the tool and its argument; the cursor goes back over what is wrong.
    terminal.types("launchA\tpack\tcom.example.countr\x1b[De\r");
    terminal.sees("done");
    terminal.sees(PROMPT);
    terminal.says("snapshot", "Add one");
    terminal.says(&format!("{UP}{UP}"), "done");
    terminal.types("quit\r");
    terminal.ends();
    let calls = project.last_run().calls();
    assert!(calls.iter().all(|call| call.args["packageId"] == "com.example.counter"), "{calls:?}");
    assert_eq!(calls.len(), 2);

    // Another shell goes on from there.
    let mut terminal = Terminal::open(&project, &[]);
    terminal.types(&format!("{UP}{UP}"));
    terminal.sees("launchApp packageId=com.example.counter");
    terminal.says("", "done");
    terminal.types(CTRL_D);
    terminal.ends();
}

#[test]
fn the_history_is_private_and_has_no_secrets() {
    let project = Project::counter();
    let mut terminal = Terminal::open_with(&project, &["--secret", "PIN"], &[("PIN", "canary-52a1f0")]);
    terminal.says("inputText text=canary-52a1f0", "");
    terminal.says("inputText text=\"can\"'ary-52a1f0'", "");
    terminal.says(" memory", "");
    terminal.types("quit\r");
    terminal.ends();
    let path = "home/.local/state/trailblaze/shell-history";
    assert_eq!(project.read(path), "inputText text={{PIN}}\nquit\n");
    let mode = std::fs::metadata(project.root().join(path)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_shell_that_is_told_to_end_leaves_the_terminal_as_it_was() {
    let project = Project::counter();
    let mut terminal = Terminal::open(&project, &[]);
    terminal.says(LAUNCH, "done");
    terminal.types("tap id=ad");
    terminal.signal(15);
    assert_eq!(terminal.ends(), 2);
    let run = project.last_run();
    run.assert_finished(2);
    assert!(run.has("recording.trail.yaml"));
}

#[test]
fn what_is_said_meanwhile_does_not_tear_the_line_apart() {
    let project = Project::counter();
    std::fs::create_dir_all(project.root().join("trailblaze-config/tools")).unwrap();
    let mut terminal = Terminal::open(&project, &["--watch"]);
    terminal.types("isVisible id=ad");
    terminal.sees("isVisible id=ad");
    let tool = "id: later\ndescription: Waits.\nparameters: []\ntools:\n  - wait: {timeToWaitInSeconds: 0.01}\n";
    project.write("trailblaze-config/tools/later.yaml", tool);
    terminal.sees("later");
    terminal.sees("trailblaze> isVisible id=ad");
    terminal.says("d", "false");
    terminal.types(CTRL_D);
    terminal.ends();
}
