//! A real terminal, which a small program holds for us.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use super::{PATIENCE, Project};

/// The program at a terminal.
pub struct Terminal {
    child: Child,
    keyboard: Option<ChildStdin>,
    screen: Receiver<u8>,
    /// Everything that was shown.
    pub shown: String,
    /// How much of it was looked at.
    pub seen: usize,
}

impl Terminal {
    /// Starts the program with these arguments. `variables` are added to its environment.
    pub fn open(project: &Project, args: &[&str], variables: &[(&str, &str)]) -> Terminal {
        let holder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/support/terminal.py");
        // The program's own command says where it runs and in what environment.
        let own = project.command(args);
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
        Terminal { child, keyboard, screen, shown: String::new(), seen: 0 }
    }

    /// Presses keys.
    pub fn types(&mut self, keys: &str) {
        let keyboard = self.keyboard.as_mut().expect("it is open");
        keyboard.write_all(keys.as_bytes()).and_then(|()| keyboard.flush()).expect("keys are typed");
    }

    /// Waits until this is shown, after what was waited for before.
    pub fn sees(&mut self, expected: &str) {
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

    pub fn signal(&mut self, number: u8) {
        self.types(&format!("\0{number}\n"));
    }

    /// Leaves, and tells how the program ended.
    pub fn ends(mut self) -> i32 {
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
