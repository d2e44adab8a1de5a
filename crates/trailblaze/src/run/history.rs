//! The history of a project's runs, in `.trailblaze/history.json`: how long trails take and which failed last.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use trailblaze_core::trail::{Trail, lineage};
use trailblaze_protocol::event::Verdict;
use trailblaze_protocol::exit::Exit;

use crate::output::report::model::{AttemptRecord, AttemptState, RunRecord};
use crate::run::job::{Done, Job};

const FILE: &str = ".trailblaze/history.json";

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct History {
    /// Milliseconds, by trail path, row and platform: `trails/pay.trail.yaml android`, `trails/pay.trail.yaml[2] android`.
    pub durations: BTreeMap<String, u64>,
    /// The keys of trails that failed in the last run that ran them.
    pub failed: BTreeSet<String>,
}

/// The key of a trail on a platform, or of one row of it.
pub fn key(path: &str, row: Option<u32>, platform: &str) -> String {
    let row = row.map(|row| format!("[{row}]")).unwrap_or_default();
    format!("{path}{row} {platform}")
}

/// The same of a trail that was read.
pub fn key_of(trail: &Trail, platform: &str) -> String {
    key(&trail.source.path, trail.row.as_ref().map(|row| row.number), platform)
}

impl History {
    /// Reads the history. One that cannot be read counts as empty: it only helps to balance runs.
    pub fn read(root: &Path) -> History {
        let text = std::fs::read_to_string(root.join(FILE)).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    pub fn write(&self, root: &Path) -> std::io::Result<()> {
        let path = root.join(FILE);
        let text = serde_json::to_string_pretty(self).map_err(std::io::Error::other)?;
        crate::files::write_private(root, &path, format!("{text}\n"))
    }

    /// Adds a run: the key of each trail, how many milliseconds it took, and whether it failed. A trail may have run
    /// several times, and on several kinds of devices of its platform; it failed if any of these runs failed.
    pub fn note(&mut self, mut trails: Vec<(String, u64, bool)>) {
        trails.sort_by_key(|(_, _, has_failed)| *has_failed);
        for (key, millis, has_failed) in trails {
            // The average of old and new, so that one slow run soon loses its weight.
            let known = self.durations.entry(key.clone()).or_insert(millis);
            *known = (*known + millis) / 2;
            match has_failed {
                true => self.failed.insert(key),
                false => self.failed.remove(&key),
            };
        }
    }

    /// Notes how long the trails of a run took and which failed, for shards and `--last-failed`.
    pub fn note_done(root: &Path, jobs: &[Job], done: &[Done]) -> Result<(), NotNoted> {
        let mut history = History::read(root);
        let over = done.iter().filter(|done| !matches!(done.verdict, Verdict::Cancelled | Verdict::Skipped));
        let noted = over.map(|done| {
            let platform = done.on.first().and_then(|on| on.device.platform()).unwrap_or_default();
            let key = key_of(&jobs[done.job].trail, platform);
            (key, done.millis, done.verdict.exit() != Exit::Passed)
        });
        history.note(noted.collect());
        history.write(root).map_err(|source| NotNoted { file: file(root), source })
    }

    /// Adds the trails of this project that a run contains. Returns whether there were any.
    pub fn note_run(&mut self, root: &Path, run: &RunRecord) -> bool {
        let noted = |tries: Vec<&AttemptRecord>| {
            let last = tries.last().filter(|last| root.join(&last.trail.path).is_file())?;
            let session = run.sessions.iter().find(|session| session.id == last.session)?;
            let platform = lineage(&session.device.classifiers).pop()?;
            let is_over =
                !matches!(last.state(), AttemptState::Cancelled | AttemptState::Skipped | AttemptState::Unfinished);
            is_over.then(|| {
                (key(&last.trail.path, last.trail.row, &platform), last.micros() / 1000, last.state().is_bad())
            })
        };
        let trails: Vec<_> = run.tries().into_iter().filter_map(noted).collect();
        let has_any = !trails.is_empty();
        self.note(trails);
        has_any
    }

    /// How long a trail is expected to take; the median if it is unknown.
    pub fn expected(&self, key: &str) -> u64 {
        self.durations.get(key).copied().unwrap_or_else(|| {
            let mut all: Vec<u64> = self.durations.values().copied().collect();
            all.sort_unstable();
            all.get(all.len() / 2).copied().unwrap_or(1000)
        })
    }
}

/// The history of a project could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {source}", file.display())]
pub struct NotNoted {
    file: PathBuf,
    source: std::io::Error,
}

/// One shard of a run that is split over several machines: `2/5`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// From 1.
    pub index: usize,
    pub count: usize,
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parsed = text
            .split_once('/')
            .and_then(|(index, count)| Some(Shard { index: index.parse().ok()?, count: count.parse().ok()? }));
        match parsed {
            Some(shard) if shard.index >= 1 && shard.index <= shard.count => Ok(shard),
            _ => Err("expected a shard such as 2/5, the second of five".to_string()),
        }
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl Shard {
    /// The items of this shard, by index: the longest first, each assigned to the least loaded shard. Every machine
    /// computes the same result from the same history.
    pub fn of(self, durations: &[u64]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..durations.len()).collect();
        order.sort_by_key(|index| (std::cmp::Reverse(durations[*index]), *index));
        let mut loads = vec![(0u64, Vec::new()); self.count];
        for index in order {
            let least = (0..self.count).min_by_key(|shard| (loads[*shard].0, *shard)).unwrap_or(0);
            // An item of no duration still counts.
            loads[least].0 += durations[index].max(1);
            loads[least].1.push(index);
        }
        let mut own = std::mem::take(&mut loads[self.index - 1].1);
        own.sort_unstable();
        own
    }
}

/// The path of a project's history file.
pub fn file(root: &Path) -> PathBuf {
    root.join(FILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_balanced_whole_and_without_overlap() {
        let durations = [900, 100, 100, 100, 100, 100, 100, 100, 100, 100];
        let first = Shard { index: 1, count: 2 }.of(&durations);
        let second = Shard { index: 2, count: 2 }.of(&durations);
        assert_eq!(first, [0]);
        assert_eq!(second, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let mut all: Vec<usize> = (1..=7).flat_map(|index| Shard { index, count: 7 }.of(&durations)).collect();
        all.sort_unstable();
        assert_eq!(all, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn a_shard_is_written_as_a_fraction() {
        assert_eq!("2/5".parse(), Ok(Shard { index: 2, count: 5 }));
        for text in ["0/5", "6/5", "1", "a/b", "1/0", ""] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }

    #[test]
    fn durations_and_failures_are_kept_and_unknown_ones_are_guessed() {
        let folder = tempfile::tempdir().unwrap();
        let mut history = History::read(folder.path());
        assert_eq!(history.expected("a"), 1000);
        let ran = |key: &str, millis: u64, has_failed: bool| (key.to_string(), millis, has_failed);
        history.note(vec![ran("a", 400, true), ran("b", 100, false)]);
        history.note(vec![ran("c", 700, true), ran("a", 200, false), ran("c", 700, false)]);
        history.write(folder.path()).unwrap();
        let read = History::read(folder.path());
        assert_eq!(read, history);
        assert_eq!((read.expected("a"), read.expected("new")), (300, 300));
        assert_eq!(read.failed.iter().collect::<Vec<_>>(), ["c"]);
    }
}
