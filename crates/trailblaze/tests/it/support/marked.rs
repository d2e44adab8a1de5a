//! Finds the processes of one test by an environment variable that only they have.

use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use super::PATIENCE;

const NAME: &str = "TRAILBLAZE_TEST_MARK";

pub struct Mark(String);

impl Mark {
    pub fn new() -> Mark {
        Mark(format!("{:016x}", chance()))
    }

    pub fn variable(&self) -> (OsString, OsString) {
        (NAME.into(), (&self.0).into())
    }

    /// All live processes with the mark, as they appear in a process list.
    pub fn alive(&self) -> Vec<String> {
        let wanted = format!("{NAME}={}\0", self.0);
        let entries = std::fs::read_dir("/proc").expect("there is a /proc").flatten();
        let found = entries.filter(|entry| {
            // A process that has ended has no environment, and one of another user cannot be read.
            let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            environment.windows(wanted.len()).any(|part| part == wanted.as_bytes())
        });
        let read = |entry: &std::fs::DirEntry, name: &str| {
            let text = std::fs::read(entry.path().join(name)).unwrap_or_default();
            String::from_utf8_lossy(&text).replace('\0', " ")
        };
        found.map(|entry| format!("{} {}", read(&entry, "stat"), read(&entry, "cmdline"))).collect()
    }

    #[track_caller]
    pub fn assert_none_left(&self) {
        assert_eq!(self.alive(), Vec::<String>::new());
    }

    pub async fn wait_until_none_left(&self) {
        let until = Instant::now() + PATIENCE;
        while !self.alive().is_empty() && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.assert_none_left();
    }

    pub fn wait_until_none_left_blocking(&self) {
        let until = Instant::now() + PATIENCE;
        while !self.alive().is_empty() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
        }
        self.assert_none_left();
    }
}

#[derive(Debug)]
pub struct Stat {
    pub parent: i32,
    pub group: i32,
    pub session: i32,
}

pub fn stat(pid: u32) -> Stat {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("the process is there");
    let mut fields = stat.rsplit_once(')').expect("a name in brackets").1.split_whitespace().skip(1);
    let mut number = || fields.next().and_then(|text| text.parse().ok()).expect("a number");
    Stat { parent: number(), group: number(), session: number() }
}

pub fn chance() -> u64 {
    RandomState::new().hash_one(0)
}
