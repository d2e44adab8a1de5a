//! Lists processes and signals them. Linux lists them in `/proc`; elsewhere only groups can be signalled.

use std::collections::BTreeSet;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// A process that has not been reaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub pid: i32,
    pub parent: i32,
    pub group: i32,
    pub session: i32,
    /// Its first thread has ended; others may still run, so it is signalled like any other.
    pub is_zombie: bool,
}

#[cfg(target_os = "linux")]
pub(crate) fn all() -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let numbers = names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    // A process may end while we read; then its file cannot be read.
    let lines = numbers.filter_map(|pid| std::fs::read(format!("/proc/{pid}/stat")).ok());
    lines.filter_map(|line| parse(&String::from_utf8_lossy(&line))).collect()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn all() -> Vec<Process> {
    Vec::new()
}

/// Parses a line of `/proc/<pid>/stat`. The name may contain anything, including brackets and spaces.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
fn parse(line: &str) -> Option<Process> {
    let pid = line.split(' ').next()?.parse().ok()?;
    let mut fields = line.rsplit_once(')')?.1.split_whitespace();
    let is_zombie = matches!(fields.next()?, "Z" | "X" | "x");
    let mut number = || fields.next()?.parse::<i32>().ok();
    Some(Process { pid, parent: number()?, group: number()?, session: number()?, is_zombie })
}

/// All descendants of a process in this snapshot. One that is being reparented at this moment may be missing.
pub(crate) fn beneath(ancestor: Pid) -> Vec<Process> {
    let all = all();
    let children = all.iter().filter(|process| process.parent == ancestor.as_raw_pid()).copied().collect();
    with_descendants(&all, children)
}

/// The processes and all their descendants.
pub(crate) fn with_descendants(all: &[Process], roots: Vec<Process>) -> Vec<Process> {
    let mut known: BTreeSet<i32> = roots.iter().map(|process| process.pid).collect();
    let mut found = roots;
    loop {
        let before = found.len();
        for process in all {
            if known.contains(&process.parent) && known.insert(process.pid) {
                found.push(*process);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// How many of them are still running.
pub(crate) fn count_living(processes: &[Process]) -> usize {
    processes.iter().filter(|process| !process.is_zombie).count()
}

/// Signals processes by group, so that one that forks at this moment cannot escape the signal. Members of the group of
/// `spared`, the guardian's, are signalled one by one.
pub(crate) fn signal(processes: &[Process], spared: Pid, signal: Signal) {
    let spared = spared.as_raw_pid();
    let groups: BTreeSet<i32> = processes.iter().map(|process| process.group).collect();
    // Signalling group 1 would signal every process.
    for group in groups.into_iter().filter(|group| *group > 1 && *group != spared).filter_map(Pid::from_raw) {
        let _ = kill_process_group(group, signal);
    }
    let alone = processes.iter().filter(|process| process.group == spared && process.pid != spared);
    for pid in alone.filter_map(|process| Pid::from_raw(process.pid)) {
        let _ = kill_process(pid, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_is_parsed() {
        let process = parse("42 (a) S (b)) S 7 42 40 0 -1 4194560").expect("a process");
        assert_eq!(process, Process { pid: 42, parent: 7, group: 42, session: 40, is_zombie: false });
    }

    #[test]
    fn a_zombie_is_not_counted_as_running() {
        let zombie = parse("42 (sh) Z 7 42 40 0 -1 4194560").expect("a process");
        assert_eq!(count_living(&[zombie]), 0);
    }
}
