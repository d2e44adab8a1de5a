//! How much memory a child and everything that it started use. Known on Linux only.

use rustix::process::{Pid, Signal, kill_process};

use crate::child::Child;
use crate::processes;

/// A process of a child, and its own memory: what it shares with others, such as its program, does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessMemory {
    pub pid: u32,
    pub bytes: u64,
    /// Its command line.
    pub command: String,
}

impl Child {
    /// The memory of the child and of everything that it started; empty where it is not known. Reads files.
    pub fn memory(&self) -> Vec<ProcessMemory> {
        let all = processes::all();
        let is_own = |process: &&processes::Process| u32::try_from(process.pid) == Ok(self.pid);
        let own = all.iter().filter(is_own).copied().collect();
        processes::with_descendants(&all, own).iter().filter_map(|process| memory_of(process.pid)).collect()
    }

    /// Kills one process that the child started, if it still is one.
    pub fn kill_one(&self, pid: u32) {
        let is_its = self.memory().iter().any(|process| process.pid == pid);
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).filter(|_| is_its);
        if let Some(pid) = pid {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

fn memory_of(pid: i32) -> Option<ProcessMemory> {
    let pages = std::fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let mut pages = pages.split(' ').skip(1).map_while(|number| number.parse::<u64>().ok());
    let (resident, shared) = (pages.next()?, pages.next()?);
    let page = u64::try_from(rustix::param::page_size()).ok()?;
    let command = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let command = String::from_utf8_lossy(&command).replace('\0', " ");
    Some(ProcessMemory { pid: u32::try_from(pid).ok()?, bytes: resident.saturating_sub(shared) * page, command })
}
