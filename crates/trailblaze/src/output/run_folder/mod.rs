//! `logs/<run>/`: events as they happen, pictures and attachments named by content. Other threads write everything, so that a
//! run waits for the disk only when their queues are full. They exist only while there is something to write.

mod encoder;
mod endings;
mod traces;
mod writer;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use sha2::{Digest, Sha256};
use trailblaze_core::ids;
use trailblaze_core::record::artifacts::{ArtifactKind, ArtifactStore, Shot};
use trailblaze_core::record::events::EventSink;
use trailblaze_core::record::trace::TraceStore;
use trailblaze_core::screen::Picture;
use trailblaze_protocol::event::{Event, Header, VERSION};
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::geometry::{Rect, Size};
use trailblaze_protocol::ids::RunId;
use trailblaze_protocol::outcome::Attachment;

use crate::files::private;
use encoder::Painter;
pub use encoder::{cover, decode, encode, pack, pack_small, picture_size, scaled, unpacked};
pub use endings::is_inert;
use traces::RunTraces;
pub use traces::{TracePolicy, trace_file};
use writer::Writer;

/// The recording of a run's only trail, or of a shell.
pub const RECORDING: &str = "recording.trail.yaml";
/// The folder of the recordings of several trails.
pub const RECORDINGS: &str = "recordings";
/// How names of trail files end.
pub const TRAIL_ENDING: &str = ".trail.yaml";

pub struct RunFolder {
    pub id: RunId,
    pub path: PathBuf,
    writer: Arc<Writer>,
    painter: Arc<Painter>,
    /// Set once it is known that traces are collected.
    traces: OnceLock<RunTraces>,
}

impl RunFolder {
    /// Creates a folder under `logs` and starts to write.
    pub fn create(logs: &Path) -> std::io::Result<Arc<RunFolder>> {
        // A clock that was never set may be before 1970, which cannot be written.
        let now = SystemTime::now().max(SystemTime::UNIX_EPOCH);
        let id = new_id(now);
        let path = logs.join(id.as_str());
        private::create_dir_all(&path)?;
        // A folder without a record is useless.
        RunFolder::start(id, path.clone(), now).inspect_err(|_| {
            let _ = std::fs::remove_dir_all(&path);
        })
    }

    fn start(id: RunId, path: PathBuf, now: SystemTime) -> std::io::Result<Arc<RunFolder>> {
        let header = Header {
            trailblaze_events: VERSION,
            run: id.clone(),
            started_at: humantime::format_rfc3339_millis(now).to_string(),
            version: env!("CARGO_PKG_VERSION").to_string(),
        };
        let mut file = private::create_new(&path.join("events.jsonl"))?;
        writeln!(file, "{}", serde_json::to_string(&header).map_err(std::io::Error::other)?)?;
        let writer = Writer::start(file);
        let painter = Painter::new(path.clone(), Arc::clone(&writer));
        Ok(Arc::new(RunFolder { id, path, writer, painter, traces: OnceLock::new() }))
    }

    /// Collects the traces of attempts from now on.
    pub fn collect_traces(&self, policy: TracePolicy) {
        if policy != TracePolicy::Off {
            self.traces.get_or_init(|| RunTraces::new(policy, self.path.clone(), Arc::clone(&self.writer)));
        }
    }

    /// Ends the record, and waits until everything is on disk.
    pub fn finish(&self, exit: Exit, leaked_processes: usize) -> Result<(), String> {
        // Pictures first: each of them still writes a line.
        let has_painted = self.painter.end();
        self.traces.get().iter().for_each(|traces| traces.finish());
        self.emit(Event::RunEnded { exit, micros: self.micros(), leaked_processes });
        self.writer.end()?;
        if has_painted { Ok(()) } else { Err("the thread that stores pictures panicked".to_string()) }
    }

    pub fn micros(&self) -> u64 {
        self.writer.micros()
    }
}

/// The name of a run: the time to the millisecond in front, so that names sort by it even if runs follow each other quickly.
pub fn new_id(now: SystemTime) -> RunId {
    let stamp = humantime::format_rfc3339_millis(now.max(SystemTime::UNIX_EPOCH)).to_string();
    let name: String = stamp.chars().filter(char::is_ascii_digit).collect();
    RunId::new(format!("{}-{}-{}{}", &name[..8], &name[8..14], &name[14..], ids::run_suffix()))
}

impl EventSink for RunFolder {
    fn emit(&self, event: Event) {
        self.writer.event(&event);
    }

    fn tell(&self, event: &Event) {
        self.writer.event(event);
    }
}

impl ArtifactStore for RunFolder {
    fn keep_picture(&self, shot: Shot) {
        self.painter.add(shot);
    }

    fn picture_file(&self, shot: &Shot) -> Option<String> {
        Some(self.path.join(encoder::file_of(shot)).display().to_string())
    }

    fn keep(&self, kind: ArtifactKind, file: &Attachment) -> String {
        let folder = match kind {
            ArtifactKind::Attachment | ArtifactKind::ModelMessage => "attachments",
            ArtifactKind::Source => "sources",
        };
        let name = format!("{folder}/{}.{}", hash(&file.bytes), endings::ending(file));
        self.writer.file(self.path.join(&name), Arc::clone(&file.bytes));
        name
    }

    fn traces(&self) -> Option<&dyn TraceStore> {
        self.traces.get().map(|traces| traces as _)
    }

    fn encode_within(&self, picture: &Picture, masks: &[Rect], screen: Size, longest: u32) -> Option<Arc<[u8]>> {
        encoder::encode_within(picture, &encoder::scaled(masks, screen, picture.size), longest).ok().map(Into::into)
    }
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes)[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn runs_sort_by_their_start_even_within_a_second() {
        let names = (0..2000).map(|ms| new_id(SystemTime::UNIX_EPOCH + Duration::from_millis(ms)));
        let names: Vec<String> = names.map(|id| id.as_str().to_string()).collect();
        assert!(names.is_sorted(), "{names:?}");
    }

    #[test]
    fn a_clock_before_1970_does_not_keep_a_run_from_starting() {
        let id = new_id(SystemTime::UNIX_EPOCH - Duration::from_secs(86_400));
        assert!(id.as_str().starts_with("19700101-000000-000"), "{id:?}");
    }
}
