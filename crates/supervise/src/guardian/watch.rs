//! Watches a child: what wakes the guardian, and the stages from a closed stdin to SIGKILL.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, getpid};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep_until};

use super::tell;
use crate::child::ProcessExit;
use crate::launch::{EndingSignal, Grace};
use crate::processes;
use crate::wire::{GuardianRequest, Report, WireReader, WireWriter};

/// How long SIGKILL is repeated before the remaining processes count as leaked.
pub(crate) const AFTER_KILL: Duration = Duration::from_secs(5);
/// How often processes that do not end are signalled again; an exit wakes us anyway.
const TICK: Duration = Duration::from_millis(20);

/// The signals that wake us: a descendant ended, or we are asked to end.
pub(super) struct Alarms {
    exit: tokio::signal::unix::Signal,
    term: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
}

impl Alarms {
    pub fn set() -> io::Result<Alarms> {
        Ok(Alarms {
            exit: signal(SignalKind::child())?,
            term: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }
}

/// One child and the stage of its end.
pub(super) struct ChildWatch {
    child: Pid,
    ended: Option<ProcessExit>,
    grace: Grace,
    ending: EndingSignal,
    stage: Stage,
    pub folders: Vec<PathBuf>,
    /// The number of folders added after the start.
    pub n_folders: usize,
}

#[derive(Clone, Copy)]
enum Stage {
    Running,
    /// Its stdin is closed; SIGTERM follows at this time.
    Asked(Instant),
    /// SIGTERM was sent.
    Termed(Instant),
    /// SIGKILL is sent repeatedly.
    Killed(Instant),
}

impl ChildWatch {
    pub fn new(child: Pid, grace: Grace, ending: EndingSignal, folders: Vec<PathBuf>) -> ChildWatch {
        ChildWatch { child, ended: None, grace, ending, stage: Stage::Running, folders, n_folders: 0 }
    }

    /// Returns how many processes could not be killed.
    pub async fn until_all_are_gone(
        &mut self,
        reader: &mut WireReader,
        writer: &mut WireWriter,
        alarms: &mut Alarms,
    ) -> usize {
        let mut is_connected = true;
        loop {
            let had_ended = self.ended.is_some();
            let is_empty = self.reap();
            if let (false, Some(ended)) = (had_ended, self.ended) {
                tell(writer, Report::Exited(ended)).await;
            }
            if is_empty {
                return 0;
            }
            if let Some(leaked) = self.advance() {
                return leaked;
            }
            let wake = self.wake();
            tokio::select! {
                request = reader.read(), if is_connected => match request {
                    Some(GuardianRequest::Stop(grace)) => self.ask(grace.bounded()),
                    Some(GuardianRequest::Folder(path)) => {
                        self.folders.push(path.into());
                        self.n_folders += 1;
                    }
                    Some(GuardianRequest::Start(_)) | None => {
                        is_connected = false;
                        self.ask(self.grace);
                    }
                },
                _ = alarms.exit.recv() => {}
                _ = alarms.term.recv() => self.ask(self.grace),
                _ = alarms.interrupt.recv() => self.ask(self.grace),
                _ = alarms.hangup.recv() => self.ask(self.grace),
                () = sleep_until(wake.unwrap_or_else(Instant::now)), if wake.is_some() => {}
            }
        }
    }

    /// Reaps what has ended. Returns true if nothing is left: orphans are reparented to us, so everything that lives
    /// beneath us descends from a child of ours.
    fn reap(&mut self) -> bool {
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.child => {
                    let signal = || status.terminating_signal().map(ProcessExit::Signal);
                    self.ended =
                        status.exit_status().map(ProcessExit::Code).or_else(signal).or(Some(ProcessExit::Unknown));
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

    /// Where orphans are not reparented to us, only the group is known.
    #[cfg(not(target_os = "linux"))]
    fn is_group_gone(&self) -> bool {
        rustix::process::test_kill_process_group(self.child).is_err()
    }

    /// A request to end. A later request can only bring the end forward.
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

    /// Moves on to the next stage when its time has come. Returns the number of processes left when there is none.
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
                self.signal_all(match self.ending {
                    EndingSignal::Terminate => Signal::TERM,
                    EndingSignal::Interrupt => Signal::INT,
                });
                // A stopped process would not receive it.
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

    /// When to check again without being woken.
    fn wake(&self) -> Option<Instant> {
        match self.stage {
            Stage::Running => None,
            Stage::Asked(until) | Stage::Termed(until) => Some(until),
            Stage::Killed(_) => Some(Instant::now() + TICK),
        }
    }

    fn signal_all(&self, signal: Signal) {
        // The child's pid, which is also its group's id, cannot be reused before we reap it. Elsewhere than on Linux, the
        // group is all that is known, so it is signalled even after that.
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
