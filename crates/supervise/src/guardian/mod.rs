//! The process between us and one child. It starts the child, watches both, and kills everything beneath it when either
//! is gone. It exits when that is done.

mod watch;

pub(crate) use watch::AFTER_KILL;

use std::collections::VecDeque;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use command_fds::{CommandFdExt, FdMapping};
use rustix::process::{Pid, setsid};
use tokio::time::timeout;

use crate::folders;
use crate::wire::{self, GUARDIAN, GuardianRequest, Report, StartRequest, WireWriter};
use watch::{Alarms, ChildWatch};

/// How long the other side may take to send the start request, and to receive a report.
const TO_READ: Duration = Duration::from_secs(30);
const TO_WRITE: Duration = Duration::from_secs(1);

/// Runs as a guardian if this process was started as one. Must be called before anything else in `main`, because the
/// program starts itself again for every child.
pub fn guardian_main() -> Option<ExitCode> {
    let is_guardian = std::env::args_os().nth(1).is_some_and(|argument| argument == GUARDIAN);
    is_guardian.then(|| match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // For someone who tries it by hand; normally stderr is closed, and the other side sees us exit.
            let _ = writeln!(io::stderr(), "error: `{GUARDIAN}` is for Trailblaze itself: {error}");
            ExitCode::from(3)
        }
    })
}

fn run() -> io::Result<()> {
    // Moves this process into its own session, so that neither Ctrl-C nor a signal to our group reaches it.
    let _ = setsid();
    let _ = become_reaper();
    let control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let files = wire::receive_files(&control)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(guard(control, files));
    // A folder that takes too long to remove must not keep this process alive.
    runtime.shutdown_background();
    result
}

/// Orphans among our descendants are reparented to us instead of init. The process name keeps `killall -9` of our
/// program from killing the guardians too.
#[cfg(target_os = "linux")]
fn become_reaper() -> io::Result<()> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    Ok(rustix::thread::set_name(c"guardian")?)
}

#[cfg(not(target_os = "linux"))]
fn become_reaper() -> io::Result<()> {
    Ok(())
}

async fn guard(control: UnixStream, files: Vec<OwnedFd>) -> io::Result<()> {
    let (mut reader, mut writer) = wire::split(control)?;
    let Ok(Some(GuardianRequest::Start(start))) = timeout(TO_READ, reader.read()).await else { return Ok(()) };
    // Nothing may fail after the child has started.
    let mut alarms = Alarms::set()?;
    let folders: Vec<PathBuf> = start.folders.iter().map(PathBuf::from).collect();
    let (grace, ending) = (start.grace.bounded(), start.ending);
    let started = launch(start, files);
    // Leaves the child's folder, so that it is not kept busy.
    let _ = std::env::set_current_dir("/");
    match started {
        Ok(child) => {
            let pid = child.as_raw_pid().unsigned_abs();
            tell(&mut writer, Report::Started { pid }).await;
            let mut watch = ChildWatch::new(child, grace, ending, folders);
            let leaked = watch.until_all_are_gone(&mut reader, &mut writer, &mut alarms).await;
            folders::remove_all(watch.folders).await;
            tell(&mut writer, Report::Done { leaked, folders: watch.n_folders }).await;
        }
        Err(error) => {
            folders::remove_all(folders).await;
            tell(&mut writer, Report::Failed { code: error.raw_os_error(), text: error.to_string() }).await;
        }
    }
    Ok(())
}

/// Starts the child in its own process group. Keeps no end of its streams, so that both sides see the other close.
fn launch(start: StartRequest, files: Vec<OwnedFd>) -> io::Result<Pid> {
    let mut files = VecDeque::from(files);
    let mut next = || files.pop_front().ok_or_else(|| io::Error::other("not all open files arrived"));
    let mut command = Command::new(&start.program);
    command.args(&start.args).current_dir(&start.dir).process_group(0);
    command.stdin(Stdio::from(next()?)).stdout(Stdio::from(next()?)).stderr(Stdio::from(next()?));
    for name in &start.drop_env {
        command.env_remove(name);
    }
    command.envs(start.set_env.iter().map(|(name, value)| (name, value)));
    let mut placeholders = Vec::new();
    if let Some(highest) = start.numbers.iter().max() {
        // The descriptors must be in use here already; otherwise the pipe that reports a failed start may get one of
        // them and be overwritten.
        let null = OwnedFd::from(std::fs::File::open("/dev/null")?);
        while placeholders.last().is_none_or(|last: &OwnedFd| last.as_raw_fd() <= *highest) {
            placeholders.push(null.try_clone()?);
        }
        let mut mappings = Vec::new();
        for number in &start.numbers {
            mappings.push(FdMapping { parent_fd: next()?, child_fd: *number });
        }
        command.fd_mappings(mappings).map_err(io::Error::other)?;
    }
    let child = command.spawn()?;
    Pid::from_raw(child.id().cast_signed()).ok_or_else(|| io::Error::other("a process without a number"))
}

/// Sends a report, if the other side still exists.
async fn tell(writer: &mut WireWriter, report: Report) {
    let _ = timeout(TO_WRITE, writer.write(&report)).await;
}
