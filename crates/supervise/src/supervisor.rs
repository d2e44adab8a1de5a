//! Starts children, each with its guardian, and counts the processes that could not be killed.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::RwLock;
use rustix::process::Pid;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use crate::child::{Child, ChildEnd};
use crate::folders;
use crate::guardian_handle::{self, GuardianHandle};
use crate::launch::{GuardianFault, Launch, Running, StartError};
use crate::orphans::{self, Guardian};
use crate::wire::{self, GUARDIAN, GuardianRequest, MOST_FILES, Report, StartRequest};

/// How long a guardian may take to start the program.
const TO_START: Duration = Duration::from_secs(30);
/// How long to wait for children that are ending: longer than any of them should take.
const TO_SETTLE: Duration = Duration::from_secs(30);
/// The highest file descriptor that can be passed to a child.
const HIGHEST: i32 = 63;

/// Starts children. Cheap to clone; clones share their counts.
#[derive(Clone, Debug)]
pub struct Supervisor {
    guardian: PathBuf,
    leaked: Arc<AtomicUsize>,
    /// How many children have not ended.
    at_work: Arc<watch::Sender<usize>>,
    /// Variables that are withheld from children unless they are allowed to have them.
    withheld: Arc<RwLock<Vec<OsString>>>,
    /// The environment that children inherit; `None` for our own.
    environment: Option<Arc<[(OsString, OsString)]>>,
}

impl Supervisor {
    /// Uses this program for guardians: its `main` must call [`crate::guardian_main`] before anything else. Also makes
    /// this process the one that adopts what a killed guardian leaves behind.
    pub fn new() -> Supervisor {
        orphans::adopt();
        // The link refers to the running program even if its file has been replaced.
        #[cfg(target_os = "linux")]
        let guardian = PathBuf::from("/proc/self/exe");
        #[cfg(not(target_os = "linux"))]
        let guardian = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("trailblaze"));
        Supervisor::with_guardian(guardian)
    }

    /// Uses another program for guardians; it must call [`crate::guardian_main`].
    pub fn with_guardian(program: impl Into<PathBuf>) -> Supervisor {
        Supervisor {
            guardian: program.into(),
            leaked: Arc::default(),
            at_work: Arc::new(watch::Sender::new(0)),
            withheld: Arc::default(),
            environment: None,
        }
    }

    /// The program of the guardians, which is normally this one: for those who start it again for something else.
    pub fn own_program(&self) -> &Path {
        &self.guardian
    }

    /// Gives children these variables instead of those of this process.
    pub fn in_environment(self, variables: impl IntoIterator<Item = (OsString, OsString)>) -> Supervisor {
        Supervisor { environment: Some(variables.into_iter().collect()), ..self }
    }

    /// Another one with the same settings, which counts its own children.
    pub fn apart(&self) -> Supervisor {
        Supervisor { leaked: Arc::default(), at_work: Arc::new(watch::Sender::new(0)), ..self.clone() }
    }

    /// Withholds environment variables from all children started from now on, except those that are allowed to have
    /// them. On Linux, other processes of this user cannot read them from this process either.
    pub fn withhold(&self, names: impl IntoIterator<Item = OsString>) {
        let mut withheld = self.withheld.write();
        withheld.extend(names);
        withheld.sort();
        withheld.dedup();
        if withheld.iter().any(|name| std::env::var_os(name).is_some()) {
            hide_process();
        }
    }

    /// The number of processes that could not be killed, over all children.
    pub fn leaked(&self) -> usize {
        self.leaked.load(Ordering::Relaxed)
    }

    /// Waits until every child has ended, including those without a handle. Only then is the number of leaked processes
    /// final.
    pub async fn settled(&self) {
        let mut at_work = self.at_work.subscribe();
        let _ = timeout(TO_SETTLE, at_work.wait_for(|n| *n == 0)).await;
    }

    /// Starts a program. If this future is dropped, the program is stopped.
    pub async fn start(&self, launch: Launch) -> Result<Running, StartError> {
        let folders = launch.folders.clone();
        let result = self.try_start(launch).await;
        if result.is_err() {
            folders::remove_all(folders).await;
        }
        result
    }

    async fn try_start(&self, launch: Launch) -> Result<Running, StartError> {
        let program = launch.program.to_string_lossy().into_owned();
        tracing::debug!(target: "trailblaze::process", program, dir = %launch.dir.display(), "starting");
        let dir = std::path::absolute(&launch.dir).unwrap_or_else(|_| launch.dir.clone());
        if !dir.is_dir() {
            return Err(StartError::NoFolder { program, dir: launch.dir });
        }
        check(&launch).map_err(|source| StartError::Other { program: program.clone(), source })?;
        let grace = launch.grace.bounded();
        let name = program.clone();
        let at_fault = move |fault: GuardianFault| StartError::Guardian { program: name, fault };

        let (mut handle, stdio) = match self.spawn(&launch, &program) {
            Ok(started) => started,
            Err(error) => return Err(at_fault(error.into())),
        };
        let request = GuardianRequest::Start(StartRequest {
            program: launch.program.clone(),
            args: launch.args,
            dir: dir.clone().into_os_string(),
            set_env: launch.set_env,
            drop_env: launch.drop_env,
            folders: launch.folders.iter().map(|folder| folder.clone().into_os_string()).collect(),
            numbers: launch.fds.iter().map(|(number, _)| *number).collect(),
            grace,
            ending: launch.ending,
        });
        // Our copies must be closed; otherwise the other side would never see the end of a stream.
        drop(launch.fds);
        let answer = timeout(TO_START, async {
            handle.writer.as_mut()?.write(&request).await.ok()?;
            handle.reader.read().await
        });
        match answer.await {
            Ok(Some(Report::Started { pid })) => {
                // A child is told to stop a few times at most.
                let (orders, heard) = mpsc::unbounded_channel();
                let (told, fate) = watch::channel(ChildEnd::default());
                let child = Child { pid, grace, orders, fate };
                handle.child = Pid::from_raw(pid.cast_signed());
                handle.folders = launch.folders;
                let at_work = AtWork::new(&self.at_work);
                // Detached: stops the child when its last handle is dropped, and ends with it. `settled` waits for that.
                tokio::spawn(async move {
                    guardian_handle::follow(handle, grace, heard, told).await;
                    drop(at_work);
                });
                let (stdin, stdout, stderr) = stdio;
                Ok(Running { stdin, stdout, stderr, child })
            }
            Ok(Some(Report::Failed { code, text })) => {
                let source = code.map_or_else(|| io::Error::other(text), io::Error::from_raw_os_error);
                handle.wait_for_exit().await;
                Err(explain(program, &dir, source))
            }
            Ok(_) => {
                handle.give_up().await;
                Err(at_fault(GuardianFault::Ended))
            }
            Err(_) => {
                handle.give_up().await;
                Err(at_fault(GuardianFault::Silent(TO_START)))
            }
        }
    }

    /// Starts the guardian and passes it the child's ends of the streams.
    fn spawn(&self, launch: &Launch, shown: &str) -> io::Result<(GuardianHandle, Stdio3)> {
        let (ours, theirs) = UnixStream::pair()?;
        let (stdin, to_child) = io::pipe()?;
        let (from_child, stdout) = io::pipe()?;
        let (from_child_too, stderr) = io::pipe()?;
        let mut files = vec![stdin.as_fd(), stdout.as_fd(), stderr.as_fd()];
        files.extend(launch.fds.iter().map(|(_, file)| file.as_fd()));
        wire::send_files(&ours, &files)?;

        let to_child = std::process::ChildStdin::from(OwnedFd::from(to_child));
        let from_child = std::process::ChildStdout::from(OwnedFd::from(from_child));
        let from_child_too = std::process::ChildStderr::from(OwnedFd::from(from_child_too));
        let stdio = (
            ChildStdin::from_std(to_child)?,
            ChildStdout::from_std(from_child)?,
            ChildStderr::from_std(from_child_too)?,
        );
        let (reader, writer) = wire::split(ours)?;
        let mut command = Command::new(&self.guardian);
        // The rest of the command line is for people who read a list of processes.
        command.arg0("trailblaze").arg(GUARDIAN).arg(shown.replace('\0', ""));
        command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(environment) = &self.environment {
            command.env_clear().envs(environment.iter().map(|(name, value)| (name, value)));
        }
        for name in self.withheld.read().iter() {
            if !launch.may_have.contains(name) {
                command.env_remove(name);
            }
        }
        let guardian = Guardian::spawn(&mut command)?;
        let leaked = Arc::clone(&self.leaked);
        Ok((GuardianHandle { guardian, child: None, reader, writer: Some(writer), folders: Vec::new(), leaked }, stdio))
    }
}

/// Hides what this process has in memory and in its environment from other processes of the same user, as far as the system can:
/// on Linux, no core dumps, no debuggers, and `/proc` belongs to root.
#[cfg(target_os = "linux")]
pub fn hide_process() {
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

#[cfg(not(target_os = "linux"))]
pub fn hide_process() {}

/// Counts a child until it is dropped.
struct AtWork(Arc<watch::Sender<usize>>);

impl AtWork {
    fn new(at_work: &Arc<watch::Sender<usize>>) -> AtWork {
        at_work.send_modify(|n| *n += 1);
        AtWork(Arc::clone(at_work))
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.send_modify(|n| *n -= 1);
    }
}

type Stdio3 = (ChildStdin, ChildStdout, ChildStderr);

impl Default for Supervisor {
    fn default() -> Supervisor {
        Supervisor::new()
    }
}

/// Checks for mistakes that would fail in an obscure way in the guardian.
fn check(launch: &Launch) -> io::Result<()> {
    let refuse = |text: String| Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    if launch.fds.len() + 3 > MOST_FILES {
        return refuse(format!("at most {} files can be passed to it", MOST_FILES - 3));
    }
    for (index, (number, _)) in launch.fds.iter().enumerate() {
        if !(3..=HIGHEST).contains(number) || launch.fds[..index].iter().any(|(other, _)| other == number) {
            return refuse(format!("a file cannot be passed to it as number {number}"));
        }
    }
    match launch.folders.iter().find(|folder| !folder.is_absolute()) {
        Some(folder) => refuse(format!("its folder `{}` is not an absolute path", folder.display())),
        None => Ok(()),
    }
}

fn explain(program: String, dir: &Path, source: io::Error) -> StartError {
    match source.kind() {
        io::ErrorKind::NotFound if program.contains('/') && dir.join(&program).exists() => {
            StartError::NoInterpreter { program }
        }
        io::ErrorKind::NotFound => StartError::NotFound { program },
        io::ErrorKind::PermissionDenied => StartError::NotPermitted { program },
        _ => StartError::Other { program, source },
    }
}
