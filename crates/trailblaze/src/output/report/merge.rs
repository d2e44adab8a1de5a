//! Merges run folders into a new one: the shards of a run, or a run and its rerun.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs, io};

use serde_json::Value;
use trailblaze_protocol::event::{Event, Header, Level, Line, Parsed, VERSION};
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::ids::RunId;

use super::merge_files::{Recordings, copy_by_content};
use super::model::{EVENTS, ReadError, RunRecord};
use crate::files::private;

#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("`{}` and `{}` are the same run", first.display(), second.display())]
    Twice { first: PathBuf, second: PathBuf },
    #[error("`{}` already contains a run", folder.display())]
    Taken { folder: PathBuf },
    #[error("`{name}` in `{}` differs from that of another run", folder.display())]
    Differs { folder: PathBuf, name: String },
    #[error("cannot write `{}`: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot read `{}`: {source}", path.display())]
    Files { path: PathBuf, source: io::Error },
}

/// The result of a merge.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// The worst of all, and at least [`Exit::Environment`] if a run did not finish.
    pub exit: Exit,
    /// Why the merged run counts as unfinished: one reason per incomplete run.
    pub unfinished: Vec<String>,
    pub runs: Vec<RunRecord>,
}

/// Merges `folders` into the new folder `into`. `command` is recorded as the merged run's command.
pub fn merge(folders: &[PathBuf], into: &Path, id: RunId, command: Vec<String>) -> Result<Merged, MergeError> {
    let parts = read(folders)?;
    if into.join(EVENTS).exists() {
        return Err(MergeError::Taken { folder: into.to_path_buf() });
    }
    let wrote = |path: &Path, result: io::Result<()>| {
        result.map_err(|source| MergeError::Write { path: path.to_path_buf(), source })
    };
    wrote(into, private::create_dir_all(into))?;
    let mut recordings = Recordings::default();
    for part in &parts {
        copy_by_content(part.folder, into)?;
        recordings.copy(part.folder, &part.run, into)?;
    }
    let unfinished: Vec<String> = parts.iter().filter_map(ReportPart::why_unfinished).collect();
    let ended = parts.iter().filter_map(|part| part.run.end).map(|end| end.exit).fold(Exit::Passed, Exit::worst);
    let exit = if unfinished.is_empty() { ended } else { ended.worst(Exit::Environment) };
    let text = lines(&parts, id, command, &unfinished, exit);
    // Written last: a folder that contains events is complete.
    let path = into.join(EVENTS);
    wrote(&path, private::write(&path, text))?;
    Ok(Merged { exit, unfinished, runs: parts.into_iter().map(|part| part.run).collect() })
}

/// One of the runs.
struct ReportPart<'a> {
    folder: &'a Path,
    bytes: Vec<u8>,
    run: RunRecord,
    /// When it started, if it says so.
    started: Option<SystemTime>,
    /// Microseconds from the start of the first run to that of this one.
    later: u64,
}

impl ReportPart<'_> {
    fn why_unfinished(&self) -> Option<String> {
        let folder = self.folder.display();
        match (self.run.end, self.run.unread.torn) {
            (None, _) => Some(format!("the run in `{folder}` did not finish")),
            (Some(_), 0) => None,
            (Some(_), _) => Some(format!("the events in `{folder}` are damaged")),
        }
    }
}

fn read(folders: &[PathBuf]) -> Result<Vec<ReportPart<'_>>, MergeError> {
    let mut parts: Vec<ReportPart<'_>> = Vec::new();
    for folder in folders {
        let path = folder.join(EVENTS);
        let bytes = fs::read(&path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => ReadError::NoEvents { folder: folder.clone() },
            _ => ReadError::Io { path, source },
        })?;
        let run = RunRecord::from_bytes(&bytes);
        if let Some(first) = parts.iter().find(|part| is_same_run(part, folder, &run)) {
            return Err(MergeError::Twice { first: first.folder.to_path_buf(), second: folder.clone() });
        }
        let started = run.header.as_ref().and_then(|header| humantime::parse_rfc3339_weak(&header.started_at).ok());
        parts.push(ReportPart { folder, bytes, run, started, later: 0 });
    }
    let first = parts.iter().filter_map(|part| part.started).min();
    for part in &mut parts {
        let later = part.started.zip(first).and_then(|(started, first)| started.duration_since(first).ok());
        part.later = later.map_or(0, micros);
    }
    Ok(parts)
}

/// A copy of a folder is the same run, and so is the folder by another path.
fn is_same_run(part: &ReportPart<'_>, folder: &Path, run: &RunRecord) -> bool {
    let is_same_place = part.folder.canonicalize().ok() == folder.canonicalize().ok();
    let name = |run: &RunRecord| run.header.as_ref().map(|header| header.run.clone());
    is_same_place || name(run).is_some_and(|name_of_run| name(&part.run) == Some(name_of_run))
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// The merged event file. Lines keep their order within a run, and runs are interleaved by time.
fn lines(parts: &[ReportPart<'_>], id: RunId, command: Vec<String>, unfinished: &[String], exit: Exit) -> Vec<u8> {
    let first = parts.iter().min_by_key(|part| (part.started.is_none(), part.later));
    let started_at = first.and_then(|part| part.run.header.as_ref()).map(|header| header.started_at.clone());
    let format = parts.iter().filter_map(|part| part.run.header.as_ref()).map(|header| header.trailblaze_events).max();
    let header = Header {
        trailblaze_events: format.unwrap_or(VERSION),
        run: id,
        started_at: started_at.unwrap_or_default(),
        version: env!("CARGO_PKG_VERSION").to_string(),
    };
    let mut text = json(&header);
    let starts = || parts.iter().filter_map(|part| part.run.start.as_ref());
    let start = Event::RunStarted {
        command,
        project: starts().next().map(|start| start.project.clone()).unwrap_or_default(),
        seed: starts().next().map(|start| start.seed).unwrap_or_default(),
        trails: starts().map(|start| start.trails).sum(),
        shard: None,
    };
    text.extend(json(&Line { at: 0, event: start }));

    let mut woven: Vec<(u64, Vec<u8>)> = parts.iter().flat_map(shifted).collect();
    woven.sort_by_key(|(at, _)| *at);
    text.extend(woven.into_iter().flat_map(|(_, line)| line));

    let ends = parts.iter().map(|part| part.run.micros().saturating_add(part.later));
    let micros = ends.max().unwrap_or_default();
    for why in unfinished {
        let event = Event::note(None, Level::Warning, why.clone());
        text.extend(json(&Line { at: micros, event }));
    }
    let leaked_processes = parts.iter().filter_map(|part| part.run.end).map(|end| end.leaked_processes).sum();
    if unfinished.is_empty() {
        text.extend(json(&Line { at: micros, event: Event::RunEnded { exit, micros, leaked_processes } }));
    }
    text
}

/// The lines of a run without its start and end, each with its sort time. Sort times never decrease, so a late line keeps
/// its place.
fn shifted(part: &ReportPart<'_>) -> Vec<(u64, Vec<u8>)> {
    let mut lines = Vec::new();
    let mut latest = part.later;
    let has_header = part.run.header.is_some();
    for line in part.bytes.split(|byte| *byte == b'\n').skip(usize::from(has_header)) {
        let text = String::from_utf8_lossy(line);
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        let line = match Line::parse(text) {
            Parsed::Line(line) if matches!(line.event, Event::RunStarted { .. } | Event::RunEnded { .. }) => continue,
            Parsed::Line(mut line) => {
                line.at = line.at.saturating_add(part.later);
                latest = latest.max(line.at);
                json(&line)
            }
            Parsed::Unknown(mut value) => {
                if let Some(at) = value.get("at").and_then(Value::as_u64) {
                    value["at"] = at.saturating_add(part.later).into();
                }
                json(&value)
            }
            Parsed::Torn => [text.as_bytes(), b"\n"].concat(),
        };
        lines.push((latest, line));
    }
    lines
}

fn json(value: &impl serde::Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(value).expect("events have string keys only");
    line.push(b'\n');
    line
}
