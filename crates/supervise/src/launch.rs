//! What to start, what a start gives, and why one can fail.

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
    /// A path, or a name that is looked for on the child's `PATH`. A relative path starts at `dir`.
    pub program: OsString,
    pub args: Vec<OsString>,
    pub dir: PathBuf,
    /// Set on top of our own environment, after `drop_env`.
    pub set_env: Vec<(OsString, OsString)>,
    pub drop_env: Vec<OsString>,
    /// Variables that it may have although they are withheld from children.
    pub may_have: Vec<OsString>,
    /// Absolute paths of folders that belong to the child: removed when it is gone, or could not be started.
    pub folders: Vec<PathBuf>,
    /// What the child finds open besides its standard streams, by number from 3 on.
    pub fds: Vec<(i32, OwnedFd)>,
    pub grace: Grace,
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
        }
    }

    /// The same once more, without open files: those can be given away only once.
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
        }
    }
}

/// How long a child that is to end may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grace {
    /// From the request, which its closed stdin tells the child, to SIGTERM.
    pub after_stdin: Duration,
    /// From SIGTERM to SIGKILL.
    pub after_term: Duration,
}

impl Grace {
    /// SIGKILL at once.
    pub(crate) const NONE: Grace = Grace { after_stdin: Duration::ZERO, after_term: Duration::ZERO };
    const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

    /// Times that can be added to a clock without a thought.
    pub(crate) fn bounded(self) -> Grace {
        Grace { after_stdin: self.after_stdin.min(Grace::LONGEST), after_term: self.after_term.min(Grace::LONGEST) }
    }
}

impl Default for Grace {
    fn default() -> Grace {
        Grace { after_stdin: Duration::from_secs(5), after_term: Duration::from_secs(2) }
    }
}

/// A child that was started. Who stops it drops `stdin` first: that is how a well-behaved child learns of it.
#[derive(Debug)]
pub struct Running {
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
    pub child: Child,
}

/// Why there is no child.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("there is no folder `{}` to start `{program}` in", dir.display())]
    NoFolder { program: String, dir: PathBuf },
    #[error("there is no program `{program}`")]
    NotFound { program: String },
    #[error("`{program}` is there, but the interpreter that its first line names is not")]
    NoInterpreter { program: String },
    #[error("`{program}` may not be executed: permission denied")]
    NotPermitted { program: String },
    #[error("cannot start the guardian of `{program}`: {fault}")]
    Guardian { program: String, fault: GuardianFault },
    #[error("cannot start `{program}`: {source}")]
    Other { program: String, source: io::Error },
}

/// What is wrong with the process between us and the child.
#[derive(Debug, thiserror::Error)]
pub enum GuardianFault {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("it ended before the program was started")]
    Ended,
    #[error("it did not answer within {} s", .0.as_secs())]
    Silent(Duration),
}
