//! Finds the processes that a killed guardian leaves behind. On Linux they are reparented to this process, whatever
//! session or group they are in, and can be told apart from our own children: those are guardians, and everything else
//! that we start stays in our session.

use std::collections::BTreeSet;
use std::io;

use parking_lot::{Mutex, MutexGuard};
use rustix::process::{Pid, Signal};
use tokio::process::{Child, Command};

use crate::processes::{self, Process};

/// The guardians that this process has started and not yet waited for. Global because children belong to the whole
/// process.
static GUARDIANS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

fn guardians() -> MutexGuard<'static, BTreeSet<i32>> {
    GUARDIANS.lock()
}

/// A registered guardian, which must not be taken for an orphan.
#[derive(Debug)]
pub(crate) struct Guardian {
    pub process: Child,
    pid: i32,
}

impl Guardian {
    pub fn spawn(command: &mut Command) -> io::Result<Guardian> {
        // Held until the new process is registered; otherwise it could be taken for an orphan.
        let mut guardians = guardians();
        let process = command.spawn()?;
        let pid = process.id().map_or(0, u32::cast_signed);
        guardians.insert(pid);
        Ok(Guardian { process, pid })
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        guardians().remove(&self.pid);
    }
}

/// Makes this process a subreaper: orphans among its descendants are reparented to it.
#[cfg(target_os = "linux")]
pub(crate) fn adopt() {
    // Where that is not possible, orphans in the session of a killed guardian are still found.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn adopt() {}

/// Whether a guardian has ended, so that everything beneath it has been reparented.
pub(crate) fn is_dead(guardian: Pid) -> bool {
    let all = processes::all();
    all.iter().find(|process| process.pid == guardian.as_raw_pid()).is_none_or(|process| process.is_zombie)
}

/// The processes that a dead guardian left: everything in its session and, if we are a subreaper, everything beneath us
/// that belongs neither to us nor to another guardian.
pub(crate) fn left_by(guardian: Pid) -> Vec<Process> {
    let all = processes::all();
    let own = rustix::process::getpid().as_raw_pid();
    let own_session = all.iter().find(|process| process.pid == own).map(|process| process.session);
    let in_its_session = |process: &&Process| process.session == guardian.as_raw_pid();
    let is_orphan = |process: &&Process| match own_session.filter(|_| is_taking_in()) {
        Some(own_session) => process.parent == own && process.session != own_session,
        None => false,
    };
    let guardians = guardians();
    let roots = all.iter().filter(|process| in_its_session(process) || is_orphan(process));
    let roots: Vec<Process> = roots.filter(|process| !guardians.contains(&process.pid)).copied().collect();
    drop(guardians);
    processes::with_descendants(&all, roots)
}

#[cfg(target_os = "linux")]
fn is_taking_in() -> bool {
    rustix::process::child_subreaper().is_ok_and(|reaper| reaper.is_some())
}

#[cfg(not(target_os = "linux"))]
fn is_taking_in() -> bool {
    false
}

/// Kills processes and reaps those that have ended.
pub(crate) fn kill(left: &[Process]) {
    let own = rustix::process::getpid();
    processes::signal(left, own, Signal::KILL);
    for process in left.iter().filter(|process| process.parent == own.as_raw_pid()) {
        if let Some(pid) = Pid::from_raw(process.pid) {
            let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::NOHANG);
        }
    }
}
