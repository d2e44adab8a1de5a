//! The process between us and one child. It starts the child, watches it and us, and ends everything beneath itself when
//! either is gone. It never outlives that work.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use command_fds::{CommandFdExt, FdMapping};
use rustix::process::{Pid, Signal, WaitOptions, getpid, setsid};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep_until, timeout};

use crate::child::Ended;
use crate::folders;
use crate::launch::Grace;
use crate::processes;
use crate::wire::{self, Ear, GUARDIAN, Mouth, Report, Request, Start};

/// How long SIGKILL is repeated before what remains counts as leaked.
pub(crate) const AFTER_KILL: Duration = Duration::from_secs(5);
/// How often what does not end is signalled again; an exit wakes us anyway.
const TICK: Duration = Duration::from_millis(20);
const SAY: Duration = Duration::from_secs(1);

/// Does the work of a guardian if this process was started as one. To be called before anything else in `main`: the
/// program starts itself again for every child.
pub fn guardian_main() -> Option<ExitCode> {
    let is_guardian = std::env::args_os().nth(1).is_some_and(|argument| argument == GUARDIAN);
    is_guardian.then(|| match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // For a person who tries it by hand; otherwise this goes nowhere, and the other side sees us end.
            let _ = writeln!(io::stderr(), "error: `{GUARDIAN}` is for Trailblaze itself: {error}");
            ExitCode::from(3)
        }
    })
}

fn run() -> io::Result<()> {
    // Everything here is about this process: a session that no Ctrl-C and no signal to our group reaches.
    let _ = setsid();
    let _ = become_reaper();
    let control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let files = wire::receive_files(&control)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(guard(control, files));
    // A folder that takes forever must not keep us.
    runtime.shutdown_background();
    result
}

/// What our descendants leave behind comes to us and not to the first process of the system. The name keeps a
/// `killall -9` of our program from ending the guardians with it.
#[cfg(target_os = "linux")]
fn become_reaper() -> io::Result<()> {
    rustix::process::set_child_subreaper(Some(getpid()))?;
    Ok(rustix::thread::set_name(c"guardian")?)
}

#[cfg(not(target_os = "linux"))]
fn become_reaper() -> io::Result<()> {
    Ok(())
}

async fn guard(control: UnixStream, files: Vec<OwnedFd>) -> io::Result<()> {
    let (mut ear, mut mouth) = wire::talk(control)?;
    let Some(Request::Start(start)) = ear.hear().await else { return Ok(()) };
    let mut exits = signal(SignalKind::child())?;
    let folders: Vec<PathBuf> = start.folders.iter().map(PathBuf::from).collect();
    let grace = start.grace.bounded();
    let started = launch(start, files);
    // The child's folder is not ours to keep busy.
    let _ = std::env::set_current_dir("/");
    match started {
        Ok(child) => {
            let pid = child.as_raw_pid().unsigned_abs();
            tell(&mut mouth, Report::Started { pid }).await;
            let mut watch = Watch { child, ended: None, grace, stage: Stage::Running, folders, n_folders: 0 };
            let leaked = watch.until_all_are_gone(&mut ear, &mut mouth, &mut exits).await?;
            folders::remove_all(watch.folders).await;
            tell(&mut mouth, Report::Done { leaked, folders: watch.n_folders }).await;
        }
        Err(error) => {
            folders::remove_all(folders).await;
            tell(&mut mouth, Report::Failed { code: error.raw_os_error(), text: error.to_string() }).await;
        }
    }
    Ok(())
}

/// Starts the child in a group of its own. No end of its streams stays with us, so that both sides see the other close.
fn launch(start: Start, files: Vec<OwnedFd>) -> io::Result<Pid> {
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
        // The numbers must be in use here already: otherwise one of them may be given to the pipe through which a failed
        // start is reported, and be overwritten.
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

/// One child, and how far its end has come.
struct Watch {
    child: Pid,
    ended: Option<Ended>,
    grace: Grace,
    stage: Stage,
    folders: Vec<PathBuf>,
    /// How many of the folders were given after the start.
    n_folders: usize,
}

#[derive(Clone, Copy)]
enum Stage {
    Running,
    /// Its stdin is closed; it has until then.
    Asked(Instant),
    /// SIGTERM was sent.
    Termed(Instant),
    /// SIGKILL is sent again and again.
    Killed(Instant),
}

impl Watch {
    /// Returns how many processes could not be ended.
    async fn until_all_are_gone(
        &mut self,
        ear: &mut Ear,
        mouth: &mut Mouth,
        exits: &mut tokio::signal::unix::Signal,
    ) -> io::Result<usize> {
        let mut term = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut hangup = signal(SignalKind::hangup())?;
        let mut is_heard = true;
        loop {
            let had_ended = self.ended.is_some();
            let is_empty = self.reap();
            if let (false, Some(ended)) = (had_ended, self.ended) {
                tell(mouth, Report::Exited(ended)).await;
            }
            if is_empty {
                return Ok(0);
            }
            if let Some(leaked) = self.advance() {
                return Ok(leaked);
            }
            let wake = self.wake();
            tokio::select! {
                request = ear.hear(), if is_heard => match request {
                    Some(Request::Stop(grace)) => self.ask(grace.bounded()),
                    Some(Request::Folder(path)) => {
                        self.folders.push(path.into());
                        self.n_folders += 1;
                    }
                    Some(Request::Start(_)) | None => {
                        is_heard = false;
                        self.ask(self.grace);
                    }
                },
                _ = exits.recv() => {}
                _ = term.recv() => self.ask(self.grace),
                _ = interrupt.recv() => self.ask(self.grace),
                _ = hangup.recv() => self.ask(self.grace),
                () = sleep_until(wake.unwrap_or_else(Instant::now)), if wake.is_some() => {}
            }
        }
    }

    /// Takes in what has ended. True if nothing is left: whatever lives beneath us hangs on a child of ours, since orphans
    /// come to us.
    fn reap(&mut self) -> bool {
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.child => {
                    let signal = || status.terminating_signal().map(Ended::Signal);
                    self.ended = status.exit_status().map(Ended::Code).or_else(signal).or(Some(Ended::Unknown));
                }
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => return false,
                Err(_) => return self.is_group_gone(),
            }
        }
    }

    #[cfg(target_os = "linux")]
    fn is_group_gone(&self) -> bool {
        true
    }

    /// Without orphans that come to us, the group is all that we know of.
    #[cfg(not(target_os = "linux"))]
    fn is_group_gone(&self) -> bool {
        rustix::process::test_kill_process_group(self.child).is_err()
    }

    /// A request to end. A second one can only bring the end nearer.
    fn ask(&mut self, grace: Grace) {
        let now = Instant::now();
        self.grace.after_term = self.grace.after_term.min(grace.after_term);
        self.stage = match self.stage {
            Stage::Running => Stage::Asked(now + grace.after_stdin),
            Stage::Asked(until) => Stage::Asked(until.min(now + grace.after_stdin)),
            Stage::Termed(until) => Stage::Termed(until.min(now + grace.after_term)),
            Stage::Killed(until) => Stage::Killed(until),
        };
    }

    /// Goes on to the next stage when its time has come. Returns how many are left when there is none.
    fn advance(&mut self) -> Option<usize> {
        let now = Instant::now();
        let is_time = match self.stage {
            Stage::Running => self.ended.is_some(),
            Stage::Asked(until) => self.ended.is_some() || now >= until,
            Stage::Termed(_) | Stage::Killed(_) => false,
        };
        if is_time {
            self.stage = Stage::Termed(now + self.grace.after_term);
            if !self.grace.after_term.is_zero() {
                self.signal_all(Signal::TERM);
                // What is stopped would not hear it.
                self.signal_all(Signal::CONT);
            }
        }
        if matches!(self.stage, Stage::Termed(until) if now >= until) {
            self.stage = Stage::Killed(now + AFTER_KILL);
        }
        if let Stage::Killed(until) = self.stage {
            if now >= until {
                return Some(processes::count_living(&processes::beneath(getpid())).max(1));
            }
            self.signal_all(Signal::KILL);
        }
        None
    }

    /// When to look again without being woken.
    fn wake(&self) -> Option<Instant> {
        match self.stage {
            Stage::Running => None,
            Stage::Asked(until) | Stage::Termed(until) => Some(until),
            Stage::Killed(_) => Some(Instant::now() + TICK),
        }
    }

    fn signal_all(&self, signal: Signal) {
        // Its number is its own, and its group's, until we reap it, or as long as the group is all that we know of.
        if self.ended.is_none() || cfg!(not(target_os = "linux")) {
            let _ = rustix::process::kill_process_group(self.child, signal);
        }
        let mut found = processes::beneath(getpid());
        if self.ended.is_none() {
            found.retain(|process| process.group != self.child.as_raw_pid());
        }
        processes::signal(&found, getpid(), signal);
    }
}

/// Says something to the other side, if there still is one.
async fn tell(mouth: &mut Mouth, report: Report) {
    let _ = timeout(SAY, mouth.say(&report)).await;
}
