//! The tool servers of a run, from the entries of `mcpServers:` to running servers: which ones a session has (`of_session`), how they
//! are started and shared (`starting`), and restarted when files change (`restarting`).

mod changed_entries;
mod of_session;
mod record;
mod restarting;
mod starting;
mod waiting;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::join_all;
use parking_lot::Mutex;
use tokio::sync::OnceCell;
use trailblaze_core::engine::source::SourceError;
use trailblaze_core::ids;
use trailblaze_core::record::events::EventSink;
use trailblaze_http::ProxySettings;
use trailblaze_protocol::event::{Event, Level};
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::ids::SessionId;
use trailblaze_supervise::Supervisor;
use trailblaze_toolhost::build::StaleBuild;
use trailblaze_toolhost::embedded::Programs;
use trailblaze_toolhost::launch::Runtimes;
use trailblaze_toolhost::restarts::Restarts;
use trailblaze_toolhost::server::ToolServer;

use crate::output::console::Console;
use crate::output::words::count;
use crate::project::loaded::Loaded;
use crate::servers::cache::ToolCache;
use crate::servers::cassettes::{CassetteRecording, Cassettes};
use crate::servers::entries::{Named, entries};
use crate::servers::kept::{KeptServers, SessionPlace};
use crate::servers::process::ProcessParts;
use crate::servers::server_sources::{Concerns, ServerKey};

pub use of_session::{Absent, Needed, SessionServers};
pub(crate) use record::{Record, about};
pub(crate) use restarting::Started;

/// The tool servers of a run.
pub struct ToolServers {
    root: PathBuf,
    entries: Vec<Named>,
    mode: ServerMode,
    /// Replayed in place of the servers, or recorded from them.
    cassettes: Option<Cassettes>,
    /// Whether more than one device is used, so that a server of the project may have to serve several.
    is_crowded: bool,
    /// Whether someone makes the calls one by one, and decides about each whether to go on.
    is_interactive: bool,
    supervisor: Arc<Supervisor>,
    runtimes: Runtimes,
    /// For servers that are reached at a URL.
    proxies: ProxySettings,
    /// The programs of scripts that run in this process.
    programs: Arc<Programs>,
    process: ProcessParts,
    shared: Mutex<HashMap<String, Arc<OnceCell<Arc<ToolServer>>>>>,
    restarts: Mutex<HashMap<ServerKey, Arc<Restarts>>>,
    /// Whether each server refuses the context argument; shared by all its sessions once one has found out.
    refuses_context: Mutex<HashMap<ServerKey, Arc<AtomicBool>>>,
    /// Servers that did not start, and why.
    failed: Mutex<HashMap<ServerKey, SourceError>>,
    /// The changes of entries that were last warned of, by target and by what they are about.
    changed_entries: Mutex<HashMap<Option<String>, BTreeMap<String, String>>>,
    /// Which builds are older than their sources, as they were last warned of.
    stale: Mutex<HashMap<ServerKey, StaleBuild>>,
    /// All servers that were started, as long as they are in use.
    started: Mutex<Vec<Started>>,
    /// Where servers are kept for the next run.
    kept: Option<Arc<KeptServers>>,
    /// The sessions whose servers are kept when they close.
    staying: Mutex<HashSet<SessionId>>,
    concerns: Concerns,
    /// Whether the tools of open sessions follow changes of files.
    is_following: AtomicBool,
    cache: ToolCache,
    outlets: Outlets,
}

/// Whether servers are started, taken from the cache, or left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerMode {
    Start,
    /// Use the tools that they listed when last started.
    Remember,
    /// Use no servers, because their tools are not called.
    Absent,
}

/// Where events and messages of servers are sent.
#[derive(Clone, Default)]
pub struct Outlets {
    /// A record that redacts.
    pub events: Option<Arc<dyn EventSink>>,
    pub console: Option<Arc<dyn Console>>,
    /// The run folder, which contains the logs of servers.
    pub folder: Option<PathBuf>,
}

impl ToolServers {
    pub fn new(loaded: &Loaded, mode: ServerMode, supervisor: &Supervisor, process: ProcessParts) -> ToolServers {
        ToolServers {
            root: loaded.root.clone(),
            entries: entries(loaded),
            mode,
            cassettes: None,
            is_crowded: false,
            is_interactive: false,
            supervisor: Arc::new(supervisor.clone()),
            runtimes: Runtimes::new(loaded.environment.path().to_os_string(), supervisor.clone()),
            proxies: loaded.environment.proxies(),
            programs: Arc::default(),
            process,
            shared: Mutex::default(),
            restarts: Mutex::default(),
            refuses_context: Mutex::default(),
            failed: Mutex::default(),
            changed_entries: Mutex::default(),
            stale: Mutex::default(),
            started: Mutex::default(),
            kept: None,
            staying: Mutex::default(),
            concerns: Concerns::of(loaded),
            is_following: AtomicBool::new(false),
            cache: ToolCache::new(&loaded.root),
            outlets: Outlets::default(),
        }
    }

    pub fn with_outlets(mut self, outlets: Outlets) -> ToolServers {
        self.outlets = outlets;
        self
    }

    pub fn with_cassettes(mut self, cassettes: Option<Cassettes>) -> ToolServers {
        self.cassettes = cassettes;
        self
    }

    /// The cassettes being recorded from the servers.
    pub fn recording(&self) -> Option<&CassetteRecording> {
        match &self.cassettes {
            Some(Cassettes::Record(recording)) => Some(recording),
            _ => None,
        }
    }

    /// Writes the cassettes that were recorded. An incomplete recording does not replace a complete one.
    pub fn save_cassettes(&self, is_cancelled: bool, console: &dyn Console) -> Exit {
        let Some(recording) = self.recording() else { return Exit::Passed };
        if is_cancelled {
            console.warn("the run was cancelled, so its cassettes were not saved");
            return Exit::Passed;
        }
        let mut exit = Exit::Passed;
        for saved in recording.save(&self.root) {
            match saved {
                Ok(saved) => {
                    let calls = count(saved.n_calls, "call");
                    console.say(&format!("saved {calls} to server `{}` in {}", saved.server, saved.file));
                }
                Err(error) => {
                    console.error(&format!("the cassette was not saved: {error}"));
                    exit = Exit::Environment;
                }
            }
        }
        exit
    }

    pub fn for_devices(mut self, n_devices: usize) -> ToolServers {
        self.is_crowded = n_devices > 1;
        self
    }

    /// Uses servers of earlier runs, and keeps its own for later ones.
    pub fn keeping(mut self, kept: Option<Arc<KeptServers>>) -> ToolServers {
        // The processes of this run have ended when it ends; those that are kept have not.
        if kept.is_some() {
            self.supervisor = Arc::new(self.supervisor.apart());
        }
        self.kept = kept;
        self
    }

    /// The id of a new session in this place.
    pub fn session_id(&self, place: &SessionPlace) -> SessionId {
        let kept = self.kept.as_ref().and_then(|kept| kept.take_session(place));
        kept.unwrap_or_else(ids::session)
    }

    /// Keeps the servers of a session for the next run, when it closes.
    pub fn keep_session(&self, place: SessionPlace, id: &SessionId) {
        if let Some(kept) = &self.kept {
            self.staying.lock().insert(id.clone());
            kept.keep_session(place, id);
        }
    }

    /// For sessions in which a person or an agent makes the calls: a server that dies does not end them.
    pub fn interactive(mut self) -> ToolServers {
        self.is_interactive = true;
        self
    }

    pub fn has_any(&self) -> bool {
        !self.entries.is_empty()
    }

    /// Whether sessions of this target have servers.
    pub fn any(&self, target: Option<&str>) -> bool {
        self.of(target).next().is_some()
    }

    fn of<'a>(&'a self, target: Option<&'a str>) -> impl Iterator<Item = &'a Named> {
        self.entries.iter().filter(move |named| named.target.is_none() || named.target.as_deref() == target)
    }

    /// Whether the servers of a session are all started at once, because each is recorded.
    pub fn starts_all(&self) -> bool {
        self.recording().is_some()
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|named| named.name.as_str())
    }

    pub fn concerns(&self) -> &Concerns {
        &self.concerns
    }

    /// From now on, the tools of open sessions follow changes of files.
    pub fn follow_changes(&self) {
        self.is_following.store(true, Ordering::Relaxed);
    }

    pub fn is_following(&self) -> bool {
        self.is_following.load(Ordering::Relaxed)
    }

    /// Reports something about the tools, on the screen and in the record.
    pub fn tell(&self, about: &str, level: Level, text: &str) {
        match (&self.outlets.console, level) {
            (Some(console), Level::Warning | Level::Error) => console.warn_about(about, text),
            (Some(console), _) => console.say(text),
            (None, _) => {}
        }
        if let Some(events) = &self.outlets.events {
            events.emit(Event::note(None, level, text.to_string()));
        }
    }

    /// Earlier warnings about it no longer hold.
    pub fn settle(&self, about: &str) {
        self.outlets.console.iter().for_each(|console| console.settle(about));
    }

    /// Stops the servers that no session owns.
    pub async fn close(&self) {
        let shared: Vec<Arc<ToolServer>> =
            self.shared.lock().drain().filter_map(|(_, cell)| cell.get().cloned()).collect();
        join_all(shared.iter().map(|server| self.end(server, None))).await;
        drop(shared);
        // A server that was abandoned during its start may still be stopping.
        if self.kept.is_none() {
            self.supervisor.settled().await;
        }
    }
}
