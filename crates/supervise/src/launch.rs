//! What to start, the result of a start, and why one can fail.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use crate::child::Child;

/// A program to start.
#[derive(Debug)]
pub struct Launch {
    /// A path, or a name to look up on the child's `PATH`. A relative path starts at `dir`.
    pub program: OsString,
    pub args: Vec<OsString>,
    pub dir: PathBuf,
    /// Added to our own environment, after `drop_env`.
    pub set_env: Vec<(OsString, OsString)>,
    pub drop_env: Vec<OsString>,
    /// Variables that the child may have although they are withheld from other children.
    pub may_have: Vec<OsString>,
    /// Absolute paths of folders that belong to the child: removed when it is gone or could not be started.
    pub folders: Vec<PathBuf>,
    /// Files that are open in the child besides its standard streams, numbered from 3.
    pub fds: Vec<(i32, OwnedFd)>,
    pub grace: Grace,
    pub ending: EndingSignal,
}

impl Launch {
    /// The program without arguments, in our own environment.
    pub fn new(program: impl Into<OsString>, dir: impl Into<PathBuf>) -> Launch {
        Launch {
            program: program.into(),
            args: Vec::new(),
            dir: dir.into(),
            set_env: Vec::new(),
            drop_env: Vec::new(),
            may_have: Vec::new(),
            folders: Vec::new(),
            fds: Vec::new(),
            grace: Grace::default(),
            ending: EndingSignal::default(),
        }
    }

    /// A copy without the open files, which can be passed on only once.
    pub fn again(&self) -> Launch {
        Launch {
            program: self.program.clone(),
            args: self.args.clone(),
            dir: self.dir.clone(),
            set_env: self.set_env.clone(),
            drop_env: self.drop_env.clone(),
            may_have: self.may_have.clone(),
            folders: self.folders.clone(),
            fds: Vec::new(),
            grace: self.grace,
            ending: self.ending,
        }
    }
}

/// The signal by which a child, and what it started, is asked to end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndingSignal {
    /// SIGTERM.
    #[default]
    Terminate,
    /// SIGINT: for a program that finishes its work only when somebody presses Ctrl-C.
    Interrupt,
}

/// How long a child may take to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grace {
    /// From the closing of its stdin to SIGTERM.
    pub after_stdin: Duration,
    /// From SIGTERM to SIGKILL.
    pub after_term: Duration,
}

impl Grace {
    /// SIGKILL immediately.
    pub(crate) const NONE: Grace = Grace { after_stdin: Duration::ZERO, after_term: Duration::ZERO };
    const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

    /// Clamps the times, so that adding them to a clock cannot overflow.
    pub(crate) fn bounded(self) -> Grace {
        Grace { after_stdin: self.after_stdin.min(Grace::LONGEST), after_term: self.after_term.min(Grace::LONGEST) }
    }
}

impl Default for Grace {
    fn default() -> Grace {
        Grace { after_stdin: Duration::from_secs(5), after_term: Duration::from_secs(2) }
    }
}

/// A started child. Drop `stdin` before stopping it: that is how a well-behaved child learns that it should exit.
#[derive(Debug)]
pub struct Running {
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
    pub child: Child,
}

/// Why a program could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("there is no folder `{}` to start `{program}` in", dir.display())]
    NoFolder { program: String, dir: PathBuf },
    #[error("there is no program `{program}`")]
    NotFound { program: String },
    #[error("the interpreter named in the first line of `{program}` does not exist")]
    NoInterpreter { program: String },
    #[error("`{program}` cannot be executed: permission denied")]
    NotPermitted { program: String },
    #[error("cannot start the guardian of `{program}`: {fault}")]
    Guardian { program: String, fault: GuardianFault },
    #[error("cannot start `{program}`: {source}")]
    Other { program: String, source: io::Error },
}

/// What went wrong with the guardian, the process between us and the child.
#[derive(Debug, thiserror::Error)]
pub enum GuardianFault {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("it ended before the program was started")]
    Ended,
    #[error("it did not answer within {} s", .0.as_secs())]
    Silent(Duration),
}
