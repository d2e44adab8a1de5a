//! A handle to a child process: how it ended, and how to stop it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, watch};

use crate::folders;
use crate::launch::Grace;

/// A child and everything that it started. Dropping the last handle stops it like [`Child::stop`].
#[derive(Clone, Debug)]
pub struct Child {
    pub(crate) pid: u32,
    pub(crate) grace: Grace,
    pub(crate) orders: mpsc::UnboundedSender<Order>,
    pub(crate) fate: watch::Receiver<ChildEnd>,
}

/// Orders from handles to the task that manages the child.
#[derive(Debug)]
pub(crate) enum Order {
    Stop(Grace),
    Folder(PathBuf),
}

/// What is known about the child's end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChildEnd {
    pub ended: Option<ProcessExit>,
    pub stopped: Option<Stopped>,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessExit {
    Code(i32),
    Signal(i32),
    /// Not observed: its guardian was killed.
    Unknown,
}

/// The child and everything beneath it are gone, except for the leaked processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    pub ended: ProcessExit,
    /// The number of processes that could not be killed.
    pub leaked: usize,
}

impl Child {
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// How the child itself ended, if it has.
    pub fn exited(&self) -> Option<ProcessExit> {
        self.fate.borrow().ended
    }

    /// Waits until the child itself has ended. Processes that it left behind are being stopped at that point.
    pub async fn ended(&self) -> ProcessExit {
        let mut fate = self.fate.clone();
        match fate.wait_for(|fate| fate.ended.is_some()).await {
            Ok(fate) => fate.ended.unwrap_or(ProcessExit::Unknown),
            Err(_) => ProcessExit::Unknown,
        }
    }

    /// Stops the child and everything that it started: closes stdin, then sends SIGTERM, then SIGKILL. Waits until all
    /// of them are gone. May be called any number of times; the earliest requested end applies.
    pub async fn stop(&self) -> Stopped {
        self.stop_within(self.grace).await
    }

    /// Like [`Child::stop`], but sends SIGTERM immediately: for a child that does not read its stdin.
    pub async fn terminate(&self) -> Stopped {
        self.stop_within(Grace { after_stdin: Duration::ZERO, ..self.grace }).await
    }

    /// Kills the child and everything that it started with SIGKILL.
    pub async fn kill(&self) -> Stopped {
        self.stop_within(Grace::NONE).await
    }

    async fn stop_within(&self, grace: Grace) -> Stopped {
        // A closed channel means that it has already ended.
        let _ = self.orders.send(Order::Stop(grace));
        let mut fate = self.fate.clone();
        match fate.wait_for(|fate| fate.stopped.is_some()).await {
            Ok(fate) => fate.stopped,
            // The runtime is shutting down. The guardian has seen the socket close and finishes by itself.
            Err(_) => None,
        }
        .unwrap_or_else(|| Stopped { ended: self.exited().unwrap_or(ProcessExit::Unknown), leaked: 0 })
    }

    /// Hands a folder to the child: it is removed when the child is gone. The path must be absolute.
    pub fn own_folder(&self, path: &Path) {
        if self.orders.send(Order::Folder(path.to_path_buf())).is_err() {
            folders::remove(path);
        }
    }
}

impl fmt::Display for ProcessExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProcessExit::Code(code) => write!(f, "exited with code {code}"),
            ProcessExit::Signal(number) => match signal_name(*number) {
                Some(name) => write!(f, "was killed by signal {number} ({name})"),
                None => write!(f, "was killed by signal {number}"),
            },
            ProcessExit::Unknown => write!(f, "ended in an unknown way"),
        }
    }
}

/// Signals that have the same number on every Unix.
fn signal_name(number: i32) -> Option<&'static str> {
    Some(match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        _ => return None,
    })
}
