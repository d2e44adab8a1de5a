//! The memory of the daemon when it does nothing. Its guardian and browsers are processes of their own.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::place::{Missing, PATIENCE, Place, timed};
use crate::support::{Measure, Row};

/// After this, what a request needed is free again.
const REST: Duration = Duration::from_millis(500);

pub fn rows() -> Result<(), Missing> {
    let place = Place::new("devices: [{id: android/sim-1}]\n")?;
    let daemon = Running::start(place.own(&["daemon", "run"]));
    let pid = pid(&place);
    rows_of("no session", pid);
    timed(place.own(&["device", "connect"]));
    timed(place.own(&["snapshot"]));
    rows_of("one simulated session", pid);
    timed(place.own(&["session", "close"]));
    rows_of("its session closed", pid);
    timed(place.own(&["daemon", "stop"]));
    drop(daemon);
    Ok(())
}

fn rows_of(when: &str, pid: u64) {
    std::thread::sleep(REST);
    let Some(memory) = Memory::of(pid) else {
        println!("the memory of the daemon is only known on Linux");
        return;
    };
    let row = |kind: &str, megabytes: f64, most: Option<f64>| {
        let what = format!("idle daemon, {when}, {kind}");
        let goal = most.map(|most| format!("< {most} MB")).unwrap_or_default();
        let is_met = most.map(|most| megabytes < most);
        Row { what: &what, measured: Measure::Megabytes(megabytes), against: None, goal: &goal, is_met }.print();
    };
    row("resident", memory.resident, Some(20.0));
    row("its share (PSS)", memory.share, None);
    row("private", memory.private, None);
}

struct Memory {
    resident: f64,
    /// Each page counted by how many processes share it.
    share: f64,
    private: f64,
}

impl Memory {
    fn of(pid: u64) -> Option<Memory> {
        let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
        // Lines are such as `Rss:   18236 kB`.
        let sum = |names: &[&str]| {
            let lines = text.lines().filter_map(|line| line.split_once(':'));
            let wanted = lines.filter(|(name, _)| names.contains(name));
            let kilobytes = wanted.filter_map(|(_, rest)| rest.trim().trim_end_matches(" kB").parse::<f64>().ok());
            kilobytes.sum::<f64>() * 1024.0 / 1e6
        };
        Some(Memory {
            resident: sum(&["Rss"]),
            share: sum(&["Pss"]),
            private: sum(&["Private_Clean", "Private_Dirty", "Private_Hugetlb"]),
        })
    }
}

/// The process of the daemon, when it is ready.
fn pid(place: &Place) -> u64 {
    let end = Instant::now() + PATIENCE;
    loop {
        let text = std::fs::read_to_string(place.key_file()).unwrap_or_default();
        if let Some(pid) = serde_json::from_str::<Value>(&text).ok().and_then(|file| file["pid"].as_u64()) {
            return pid;
        }
        assert!(Instant::now() < end, "the daemon did not start");
        std::thread::sleep(Duration::from_millis(5));
    }
}

struct Running(Child);

impl Running {
    fn start(mut command: Command) -> Running {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Running(command.spawn().expect("the daemon starts"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
