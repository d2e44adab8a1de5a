//! The phone's log, which `logcat` prints.

use std::collections::VecDeque;
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use tokio::sync::Notify;

/// How many entries are kept.
const MOST: usize = 20_000;

pub struct PhoneLog {
    entries: Mutex<Entries>,
    changed: Notify,
}

#[derive(Default)]
struct Entries {
    /// By how many milliseconds the clock is wrong.
    ahead: i64,
    kept: VecDeque<LogcatEntry>,
    /// The number of the first entry that is kept.
    first: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct LogcatEntry {
    /// Since 1970.
    pub millis: u64,
    pub pid: u32,
    pub level: char,
    pub tag: String,
    pub message: String,
}

impl PhoneLog {
    pub fn new() -> PhoneLog {
        PhoneLog { entries: Mutex::default(), changed: Notify::new() }
    }

    pub fn write(&self, pid: u32, level: char, tag: &str, message: &str) {
        let mut entries = self.entries.lock();
        let millis = entries.now();
        for line in message.lines() {
            let (tag, message) = (tag.to_string(), line.to_string());
            entries.kept.push_back(LogcatEntry { millis, pid, level, tag, message });
        }
        while entries.kept.len() > MOST {
            entries.kept.pop_front();
            entries.first += 1;
        }
        drop(entries);
        self.changed.notify_waiters();
    }

    /// What the clock of the phone says, in milliseconds since 1970.
    pub fn now(&self) -> u64 {
        self.entries.lock().now()
    }

    pub fn set_clock(&self, seconds_ahead: i64) {
        self.entries.lock().ahead = seconds_ahead.saturating_mul(1000);
    }

    pub fn clear(&self) {
        let mut entries = self.entries.lock();
        entries.first += entries.kept.len() as u64;
        entries.kept.clear();
    }

    /// The entries from a number on, and the number after the last.
    pub fn since(&self, number: u64) -> (Vec<LogcatEntry>, u64) {
        let entries = self.entries.lock();
        let skipped = usize::try_from(number.saturating_sub(entries.first)).unwrap_or(usize::MAX);
        let next = entries.first + entries.kept.len() as u64;
        (entries.kept.iter().skip(skipped).cloned().collect(), next)
    }

    /// Waits for an entry with this number or a greater one.
    pub async fn reaches(&self, number: u64) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if self.since(number).1 > number {
                return;
            }
            changed.await;
        }
    }
}

impl Entries {
    fn now(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX).saturating_add_signed(self.ahead)
    }
}

impl LogcatEntry {
    /// `11-18 04:34:20.644`, in UTC.
    pub fn time(&self) -> String {
        let (_, month, day) = date(self.millis);
        let seconds = self.millis / 1000;
        let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
        format!("{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{:03}", self.millis % 1000)
    }

    pub fn year(&self) -> u64 {
        date(self.millis).0
    }
}

/// Year, month and day.
fn date(millis: u64) -> (u64, u64, u64) {
    // Counted from March of the year 0, so that a leap day is the last of its year.
    let days = millis / 86_400_000 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_as_logcat_prints_them() {
        let entry = |millis| LogcatEntry { millis, pid: 1, level: 'I', tag: String::new(), message: String::new() };
        assert_eq!(entry(0).time(), "01-01 00:00:00.000");
        assert_eq!(entry(1_709_164_799_999).time(), "02-28 23:59:59.999");
        assert_eq!(entry(1_709_164_800_000).time(), "02-29 00:00:00.000");
        assert_eq!(entry(1_709_251_200_000).time(), "03-01 00:00:00.000");
        assert_eq!(entry(1_735_689_599_000).year(), 2024);
        assert_eq!(entry(1_735_689_600_000).year(), 2025);
    }
}
