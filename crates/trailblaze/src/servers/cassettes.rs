//! The cassettes of a project, `cassettes/<server>.cassette.yaml`: the tool lists and answers of its servers, recorded by
//! one run and replayed in place of the servers by others.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use trailblaze_core::record::events::EventSink;
use trailblaze_core::yaml::{Millis, Problem, ReadBackError};
use trailblaze_protocol::event::Event;
use trailblaze_toolhost::cassette::{CallbackListener, Cassette, Player, ReplayedServer, Tape};

use crate::files::{slug, unlike, write_in_project};
use crate::project::loaded::Loaded;
use crate::project::source::read_source;
use crate::servers::entries::{Named, entries};
use crate::servers::server_sources::ServerKey;

const FOLDER: &str = "cassettes";

/// Whether to record cassettes or replay them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CassetteMode {
    /// The servers are started, and their tool lists and answers are recorded
    Record,
    /// No server is started: cassettes answer instead, and repeat the callbacks of the tools
    Replay,
}

/// The cassettes of a run.
pub enum Cassettes {
    Record(CassetteRecording),
    Replay(Library),
}

/// The existing cassettes, by server.
pub struct Library {
    players: HashMap<ServerKey, Arc<Player>>,
    files: HashMap<ServerKey, String>,
}

/// The recordings in progress.
pub struct CassetteRecording {
    files: HashMap<ServerKey, String>,
    listener: Arc<CallbackListener>,
    tapes: Mutex<Vec<(ServerKey, Arc<Tape>)>>,
}

/// A cassette that was written, or was already up to date.
pub struct Saved {
    pub server: String,
    pub file: String,
    pub n_calls: usize,
}

/// A server that cannot be replayed.
#[derive(Debug, thiserror::Error)]
#[error("there is no cassette `{file}` to replay\nhint: record it with --cassette record")]
pub struct NoCassette {
    file: String,
}

#[derive(Debug, thiserror::Error)]
pub enum NotSaved {
    #[error("cannot write `{file}`: {source}")]
    Write { file: String, source: std::io::Error },
    #[error("cannot write `{file}`: {source}")]
    Unfit { file: String, source: ReadBackError },
}

impl Cassettes {
    /// Prepares the requested use. To replay, reads the cassettes, which must be valid.
    pub fn open(wanted: CassetteMode, loaded: &Loaded) -> Result<Cassettes, Vec<Problem>> {
        let named = entries(loaded);
        let files = files(&named);
        if wanted == CassetteMode::Record {
            return Ok(Cassettes::Record(CassetteRecording {
                files,
                listener: Arc::default(),
                tapes: Mutex::default(),
            }));
        }
        let (mut players, mut problems) = (HashMap::new(), Vec::new());
        for named in &named {
            let file = &files[&named.key()];
            let path = loaded.root.join(file);
            if !path.exists() {
                continue;
            }
            let Some(source) = read_source(&loaded.root, &path, &mut problems) else { continue };
            match Cassette::read(&source) {
                Ok(cassette) => drop(players.insert(named.key(), Player::new(role(named, file), cassette))),
                Err(found) => problems.extend(found),
            }
        }
        match problems.is_empty() {
            true => Ok(Cassettes::Replay(Library { players, files })),
            false => Err(problems),
        }
    }
}

fn role(named: &Named, file: &str) -> ReplayedServer {
    ReplayedServer {
        name: named.name.clone(),
        contributor: named.contributor(),
        toolset: named.entry.toolset.clone(),
        call_idle: named.entry.call_timeout.map(Millis::duration),
        may_have: named.entry.secrets.clone(),
        file: file.to_string(),
    }
}

/// The path of each server's cassette, relative to the project's folder.
fn files(named: &[Named]) -> HashMap<ServerKey, String> {
    let mut taken = HashSet::new();
    let file = |named: &Named| {
        let target = named.target.as_deref().map(|target| format!("{}.", slug(target))).unwrap_or_default();
        let name = unlike(&mut taken, format!("{target}{}", slug(&named.name)));
        (named.key(), format!("{FOLDER}/{name}.cassette.yaml"))
    };
    named.iter().map(file).collect()
}

impl Library {
    /// The cassette of a server, or why there is none.
    pub fn player(&self, key: &ServerKey) -> Result<&Arc<Player>, NoCassette> {
        let file = || self.files.get(key).map(String::as_str).unwrap_or(FOLDER).to_string();
        self.players.get(key).ok_or_else(|| NoCassette { file: file() })
    }
}

impl CassetteRecording {
    /// The recorder of a server, shared by all its sessions.
    pub fn tape(&self, key: &ServerKey) -> Arc<Tape> {
        let mut tapes = self.tapes.lock();
        if let Some((_, tape)) = tapes.iter().find(|(known, _)| known == key) {
            return Arc::clone(tape);
        }
        let tape = Arc::new(Tape::new(&self.listener));
        tapes.push((key.clone(), Arc::clone(&tape)));
        tape
    }

    /// The event sink of a session whose calls are to be observed.
    pub fn observed(&self, events: Arc<dyn EventSink>) -> Arc<dyn EventSink> {
        Arc::new(ObservedEvents { events, listener: Arc::clone(&self.listener) })
    }

    /// Writes the cassettes of the servers that were used. Calls that were not made this time are kept from earlier runs.
    pub fn save(&self, root: &Path) -> Vec<Result<Saved, NotSaved>> {
        let tapes = self.tapes.lock();
        let mut saved: Vec<_> = tapes.iter().filter_map(|(key, tape)| self.save_one(root, key, tape)).collect();
        saved.sort_by_key(|saved| saved.as_ref().map(|saved| saved.file.clone()).unwrap_or_default());
        saved
    }

    fn save_one(&self, root: &Path, key: &ServerKey, tape: &Tape) -> Option<Result<Saved, NotSaved>> {
        let file = self.files.get(key)?.clone();
        let (path, mut cassette) = (root.join(&file), tape.cassette());
        let (is_blank, n_calls) = (cassette == Cassette::default(), cassette.calls.len());
        if is_blank || cassette.calls.is_empty() && path.exists() {
            return None;
        }
        // Other trails need the old answers; a cassette that can no longer be read is useless to them.
        let earlier = read_source(root, &path, &mut Vec::new()).and_then(|source| Cassette::read(&source).ok());
        if let Some(earlier) = earlier {
            cassette.keep_from(earlier);
        }
        let text = match cassette.text(&key.1) {
            Ok(text) => text,
            Err(source) => return Some(Err(NotSaved::Unfit { file, source })),
        };
        let is_the_same = std::fs::read_to_string(&path).is_ok_and(|old| old == text);
        let written = match is_the_same {
            true => Ok(()),
            false => write_in_project(root, &path, text),
        };
        Some(match written {
            Ok(()) => Ok(Saved { server: key.1.clone(), file, n_calls }),
            Err(source) => Err(NotSaved::Write { file, source }),
        })
    }
}

/// Shows each event to the callback listener, then passes it on to the record.
struct ObservedEvents {
    events: Arc<dyn EventSink>,
    listener: Arc<CallbackListener>,
}

impl EventSink for ObservedEvents {
    fn emit(&self, event: Event) {
        self.listener.on_event(&event);
        self.events.emit(event);
    }
}
