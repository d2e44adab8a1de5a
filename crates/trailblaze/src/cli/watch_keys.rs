//! The keys of `run --watch`, which say what runs next. They are read only between runs: during a run, the terminal belongs to it.

use std::io::{IsTerminal, Stdin, stdin};
use std::os::fd::AsFd;

use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr};
use tokio::io::unix::AsyncFd;

use crate::output::print;

/// What a person wants to happen next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchKey {
    All,
    Failed,
    /// The trails whose titles or paths contain this.
    Pattern(String),
    Again,
    /// The same again, writing expected pictures.
    UpdateSnapshots,
    Quit,
}

/// What the keys do, on one line.
pub const LEGEND: &str = "a: all trails, f: those that failed, p: by title or path, Enter: the same again, \
                          u: the same with --update-snapshots, q: quit";

/// A terminal that gives each key at once and does not show it. It is as it was once this is dropped.
pub struct Keyboard {
    input: AsyncFd<Stdin>,
    before: Termios,
    /// What was read and not used yet.
    pending: Vec<u8>,
    /// Whether the terminal shows a line that is being typed.
    is_typing: bool,
}

impl Keyboard {
    /// `None` if nobody can press keys: there is no terminal, or another program has it.
    pub fn open() -> Option<Keyboard> {
        let input = stdin();
        if !input.is_terminal() || !std::io::stderr().is_terminal() {
            return None;
        }
        // To change the terminal in the background would stop the program.
        tcgetpgrp(input.as_fd()).ok().filter(|group| *group == getpgrp())?;
        let before = tcgetattr(input.as_fd()).ok()?;
        #[expect(
            deprecated,
            reason = "what replaces it is unsafe, for inputs that can be closed; this one is never closed"
        )]
        let input = AsyncFd::new(input).ok()?;
        let mut keys = before.clone();
        // Ctrl-C still interrupts.
        keys.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        keys.special_codes[SpecialCodeIndex::VMIN] = 1;
        keys.special_codes[SpecialCodeIndex::VTIME] = 0;
        // What was typed during the run was not meant for this.
        tcsetattr(input.get_ref().as_fd(), OptionalActions::Flush, &keys).ok()?;
        Some(Keyboard { input, before, pending: Vec::new(), is_typing: false })
    }

    /// The next key that means something. Never returns if the terminal is gone: a signal tells of that.
    pub async fn next(&mut self) -> WatchKey {
        loop {
            match self.byte().await {
                b'a' | b'A' => return WatchKey::All,
                b'f' | b'F' => return WatchKey::Failed,
                b'q' | b'Q' | END => return WatchKey::Quit,
                b'\r' | b'\n' => return WatchKey::Again,
                b'u' | b'U' => return WatchKey::UpdateSnapshots,
                b'p' | b'P' => {
                    if let Some(pattern) = self.pattern().await {
                        return WatchKey::Pattern(pattern);
                    }
                }
                ESCAPE => self.pending.clear(),
                _ => {}
            }
        }
    }

    /// Lets a person type a part of a title or a path. `None` if they changed their mind.
    async fn pattern(&mut self) -> Option<String> {
        let mut typed: Vec<u8> = Vec::new();
        self.is_typing = true;
        loop {
            let shown = String::from_utf8_lossy(&typed).into_owned();
            print::typed_line(Some(&format!("title or path: {}", print::one_line(&shown))));
            match self.byte().await {
                b'\r' | b'\n' => {
                    print::say("");
                    self.is_typing = false;
                    let pattern = shown.trim().to_string();
                    return (!pattern.is_empty()).then_some(pattern);
                }
                ESCAPE | END => {
                    // An arrow key is an escape with more behind it.
                    self.pending.clear();
                    self.clear_line();
                    return None;
                }
                BACKSPACE | DELETE => {
                    typed =
                        shown.chars().take(shown.chars().count().saturating_sub(1)).collect::<String>().into_bytes();
                }
                byte if byte >= b' ' => typed.push(byte),
                _ => {}
            }
        }
    }

    /// Removes a line that is being typed from the terminal.
    pub fn clear_line(&mut self) {
        if std::mem::take(&mut self.is_typing) {
            print::typed_line(None);
        }
    }

    async fn byte(&mut self) -> u8 {
        while self.pending.is_empty() {
            let Ok(mut ready) = self.input.readable().await else { return std::future::pending().await };
            let mut read = [0; 64];
            match rustix::io::read(ready.get_inner().as_fd(), &mut read) {
                Ok(0) => return std::future::pending().await,
                Ok(count) => self.pending.extend(&read[..count]),
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => ready.clear_ready(),
                Err(_) => return std::future::pending().await,
            }
            // It may have no more to read, and a read would then wait.
            ready.clear_ready();
        }
        self.pending.remove(0)
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        self.clear_line();
        let _ = tcsetattr(self.input.get_ref().as_fd(), OptionalActions::Now, &self.before);
    }
}

const END: u8 = 0x04;
const BACKSPACE: u8 = 0x08;
const ESCAPE: u8 = 0x1b;
const DELETE: u8 = 0x7f;
