//! From the entries of `mcpServers:` to running servers: which ones a session has, how they are shared, and how they stop.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures::FutureExt;
use futures::future::join_all;
use parking_lot::Mutex;
use tokio::sync::OnceCell;
use trailblaze_core::config::{MultiDevice, Restart, Server as Entry};
use trailblaze_core::driver::Description;
use trailblaze_core::engine::registry::Batch;
use trailblaze_core::engine::session::SessionSource;
use trailblaze_core::engine::source::{SourceError, ToolSource};
use trailblaze_core::ids;
use trailblaze_core::names::ToolOrigin;
use trailblaze_core::record::events::EventSink;
use trailblaze_core::values::secret::Secrets;
use trailblaze_core::yaml::Millis;
use trailblaze_protocol::event::{Event, Level};
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::ids::SessionId;
use trailblaze_supervise::Supervisor;
use trailblaze_toolhost::embedded::Programs;
use trailblaze_toolhost::launch::{
    Place, Runtimes, missing_build, missing_jar, missing_module, missing_package, stale_build,
};
use trailblaze_toolhost::listing::RawListing;
use trailblaze_toolhost::notification_router::ServerEvents;
use trailblaze_toolhost::offline::Remembered;
use trailblaze_toolhost::restarts::Restarts;
use trailblaze_toolhost::server::{Renewed, Server, Spec};

use crate::files::slug;
use crate::files::stamp::Stamp;
use crate::output::console::Console;
use crate::output::words::count;
use crate::project::loaded::Loaded;
use crate::servers::cache::ToolCache;
use crate::servers::callback::NoAddress;
use crate::servers::cassettes::{Cassettes, Library, Recording};
use crate::servers::entries::{Named, entries};
use crate::servers::imports::Parts;
use crate::servers::on_demand::{FirstListing, OnDemand};
use crate::servers::process::ProcessParts;
use crate::servers::server_sources::{Concerns, Key};
use crate::servers::transport::{embedded, reach};

/// How long servers may take to start before the slow ones are reported.
const PATIENCE: Duration = Duration::from_secs(3);

/// The tool servers of a run.
pub struct ToolServers {
    root: PathBuf,
    entries: Vec<Named>,
    mode: Mode,
    /// Replayed in place of the servers, or recorded from them.
    cassettes: Option<Cassettes>,
    /// Whether more than one device is used, so that a server of the project may have to serve several.
    is_crowded: bool,
    supervisor: Arc<Supervisor>,
    runtimes: Runtimes,
    /// The programs of scripts that run in this process.
    programs: Arc<Programs>,
    process: ProcessParts,
    shared: Mutex<HashMap<String, Arc<OnceCell<Arc<Server>>>>>,
    restarts: Mutex<HashMap<Key, Arc<Restarts>>>,
    /// Whether each server refuses the context argument; shared by all its sessions once one has found out.
    refuses_context: Mutex<HashMap<Key, Arc<AtomicBool>>>,
    /// Servers that did not start, and why.
    failed: Mutex<HashMap<Key, SourceError>>,
    /// All servers that were started, as long as they are in use.
    started: Mutex<Vec<Started>>,
    concerns: Concerns,
    /// Whether the tools of open sessions follow changes of files.
    is_following: AtomicBool,
    cache: ToolCache,
    outlets: Outlets,
}

/// A server that was started.
#[derive(Clone)]
struct Started {
    key: Key,
    server: Weak<Server>,
    /// What its newest instance was started from.
    origin: Arc<Mutex<Origin>>,
}

/// The files that a server was started from.
#[derive(Clone, PartialEq)]
struct Origin {
    imported: Vec<PathBuf>,
    stamp: Stamp,
}

/// A server that a session needs.
struct Wanted<'n> {
    named: &'n Named,
    /// Whether all sessions use the same one.
    is_shared: bool,
    /// Whether it runs in this process.
    is_embedded: bool,
}

/// Whether servers are started, taken from the cache, or left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
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

/// Which servers must run before a session is used. The others are started by the first call that needs them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Needed {
    All,
    /// Those of these names.
    Some(BTreeSet<String>),
}

impl Needed {
    fn includes(&self, server: &str) -> bool {
        match self {
            Needed::All => true,
            Needed::Some(names) => names.contains(server),
        }
    }
}

/// The tool servers of one session: its tool sources, and the servers that are missing.
#[derive(Default)]
pub struct SessionServers {
    members: Vec<Member>,
    /// Servers that were never started, so that their tools are not known.
    pub unknown: Vec<String>,
    pub absent: Absent,
}

/// A server of a session.
struct Member {
    source: SessionSource,
    batch: Batch,
    /// Set until it is started.
    idle: Option<Arc<OnDemand>>,
}

impl SessionServers {
    pub fn sources(&self) -> Vec<SessionSource> {
        self.members.iter().map(|member| member.source.clone()).collect()
    }

    /// The tools of the servers, as they listed them now or when last started.
    pub fn batches(&self) -> impl Iterator<Item = &Batch> {
        self.members.iter().map(|member| &member.batch).chain(&self.absent.batches)
    }
}

/// The servers of a session that did not start.
#[derive(Clone, Default)]
pub struct Absent {
    /// Why each is missing.
    pub errors: Vec<SourceError>,
    /// Those among them whose tools are unknown.
    pub unknown: Vec<SourceError>,
    /// The tools that the others listed when last started.
    pub batches: Vec<Batch>,
}

impl ToolServers {
    pub fn new(loaded: &Loaded, mode: Mode, supervisor: &Supervisor, process: ProcessParts) -> ToolServers {
        ToolServers {
            root: loaded.root.clone(),
            entries: entries(loaded),
            mode,
            cassettes: None,
            is_crowded: false,
            supervisor: Arc::new(supervisor.clone()),
            runtimes: Runtimes::new(loaded.environment.path().to_os_string(), supervisor.clone()),
            programs: Arc::default(),
            process,
            shared: Mutex::default(),
            restarts: Mutex::default(),
            refuses_context: Mutex::default(),
            failed: Mutex::default(),
            started: Mutex::default(),
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
    pub fn recording(&self) -> Option<&Recording> {
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

    /// The servers of a session. None is started yet.
    pub async fn of_session(
        self: &Arc<Self>,
        target: Option<&str>,
        session: (&SessionId, &Description),
        secrets: &Arc<Secrets>,
    ) -> Result<SessionServers, SourceError> {
        if let Some(Cassettes::Replay(library)) = &self.cassettes {
            return self.replay(target, library).await;
        }
        match self.mode {
            Mode::Start => {}
            Mode::Remember => return self.remember(target).await,
            Mode::Absent => return Ok(SessionServers::default()),
        }
        let mut session_servers = SessionServers::default();
        for named in self.of(target) {
            let idle = self.on_demand(named, session, secrets);
            let is_shared = self.wanted(named, session.1).is_shared;
            let batch = list(&*idle).await?;
            let source = SessionSource { tools: Arc::clone(&idle) as _, is_shared, revision: 0 };
            session_servers.members.push(Member { source, batch, idle: Some(idle) });
        }
        Ok(session_servers)
    }

    fn on_demand(
        self: &Arc<Self>,
        named: &Named,
        (id, device): (&SessionId, &Description),
        secrets: &Arc<Secrets>,
    ) -> Arc<OnDemand> {
        let remembered = self.cache.read(named.target.as_deref(), &named.name, &named.entry);
        let own = (Arc::clone(self), named.clone(), id.clone(), device.clone(), Arc::clone(secrets));
        let starter = move || {
            let (servers, named, id, device, secrets) = own.clone();
            async move { servers.run(&named, (&id, &device), &secrets).await }.boxed()
        };
        OnDemand::new(named.clone(), remembered, Box::new(starter))
    }

    /// Starts a server, and lists its tools.
    async fn run(
        &self,
        named: &Named,
        session: (&SessionId, &Description),
        secrets: &Arc<Secrets>,
    ) -> Result<(Arc<Server>, FirstListing), SourceError> {
        // A server that did not start is not started again for every trail.
        if let Some(error) = self.failed.lock().get(&named.key()) {
            return Err(error.clone());
        }
        let run = async {
            let wanted = self.wanted(named, session.1);
            let base_url = self.base_url(std::slice::from_ref(&wanted)).await?;
            let server = match wanted.is_shared {
                true => self.shared(&wanted, &base_url, secrets).await?,
                false => self.started(&wanted, &base_url, Some(session), secrets).await?,
            };
            let revision = server.revision();
            match server.list().await {
                Ok(listing) => Ok((server, (revision, listing))),
                Err(error) => {
                    server.stop().await;
                    Err(error)
                }
            }
        };
        let (server, first) = run.await.inspect_err(|error| {
            self.failed.lock().insert(named.key(), error.clone());
        })?;
        self.cache.keep(named.target.as_deref(), &named.name, &named.entry, &server.raw_listing());
        Ok((server, first))
    }

    /// Starts those servers of a session concurrently that are needed and not running yet. One that does not start is listed
    /// as absent, with the reason. Returns whether there were any.
    pub async fn start(&self, session_servers: &mut SessionServers, needed: &Needed) -> bool {
        let is_due = |member: &Member| member.idle.as_ref().is_some_and(|idle| needed.includes(idle.name()));
        let due: Vec<usize> =
            (0..session_servers.members.len()).filter(|n| is_due(&session_servers.members[*n])).collect();
        let idle: Vec<Arc<OnDemand>> = due.iter().filter_map(|n| session_servers.members[*n].idle.take()).collect();
        if idle.is_empty() {
            return false;
        }
        let waiting = Waiting::new(idle.iter().map(|idle| idle.named.name.clone()).collect());
        let started = idle.iter().map(async |idle| {
            let running = idle.running().await;
            let listed = match running {
                Ok(_) => list(&**idle).await,
                Err(error) => Err(error),
            };
            waiting.no_more(&idle.named.name);
            Ok((listed?, idle.revision()))
        });
        let started: Vec<Result<(Batch, u64), SourceError>> = tokio::select! {
            started = join_all(started) => started,
            () = waiting.complain(self.outlets.console.as_deref()) => unreachable!("it never returns"),
        };
        let mut lost = Vec::new();
        for ((n, idle), started) in due.into_iter().zip(idle).zip(started) {
            match started {
                Ok((batch, revision)) => {
                    let member = &mut session_servers.members[n];
                    (member.batch, member.source.revision) = (batch, revision);
                }
                Err(error) => {
                    lost.push(n);
                    self.miss(&idle.named, error, &mut session_servers.absent).await;
                }
            }
        }
        lost.into_iter().rev().for_each(|n| drop(session_servers.members.remove(n)));
        true
    }

    /// Whether the servers of a session are all started at once, because each is recorded.
    pub fn starts_all(&self) -> bool {
        self.recording().is_some()
    }

    /// The servers of a session, replayed from their cassettes. None is started.
    async fn replay(&self, target: Option<&str>, library: &Library) -> Result<SessionServers, SourceError> {
        let mut session_servers = SessionServers::default();
        for named in self.of(target) {
            match library.player(&named.key()) {
                Ok(player) => {
                    let batch = list(&**player).await?;
                    let source = SessionSource { tools: Arc::clone(player) as _, is_shared: true, revision: 0 };
                    session_servers.members.push(Member { source, batch, idle: None });
                }
                Err(no_cassette) => {
                    let (source_name, evidence) = (named.name.clone(), no_cassette.to_string());
                    let error = SourceError::NotStarted { source_name, evidence };
                    self.miss(named, error, &mut session_servers.absent).await;
                }
            }
        }
        Ok(session_servers)
    }

    /// Continues without a server: the tools it listed when last started show which trails need it.
    async fn miss(&self, named: &Named, error: SourceError, absent: &mut Absent) {
        let Named { name, entry, .. } = named;
        let remembered = self.cache.read(named.target.as_deref(), name, entry);
        let remembered = remembered
            .map(|raw| Remembered::absent(name, named.contributor(), entry.toolset.as_deref(), raw, error.clone()));
        let batch = match &remembered {
            Some(server) => list(&**server).await.ok(),
            None => None,
        };
        match batch {
            Some(batch) => absent.batches.push(batch),
            None => absent.unknown.push(error.clone()),
        }
        absent.errors.push(error);
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|named| named.name.as_str())
    }

    /// Starts one server by itself, with this version of the protocol if given, lists its tools, and stops it. Returns its
    /// tools, and its response verbatim.
    pub async fn visit(
        &self,
        name: &str,
        protocol: Option<&str>,
        session: (&SessionId, &Description),
        secrets: &Arc<Secrets>,
    ) -> Result<(Batch, RawListing), SourceError> {
        let not_started = |evidence: String| SourceError::NotStarted { source_name: name.to_string(), evidence };
        let known = self.entries.iter().find(|named| named.name == name);
        let mut named = known.cloned().ok_or_else(|| not_started("no entry names it".to_string()))?;
        named.entry.protocol = protocol.map(str::to_string).or(named.entry.protocol);
        let wanted = Wanted { is_shared: false, ..self.wanted(&named, session.1) };
        let base_url = self.base_url(std::slice::from_ref(&wanted)).await?;
        let server = self.started(&wanted, &base_url, Some(session), secrets).await?;
        let listed = list(&*server).await;
        server.stop().await;
        Ok((listed?, server.raw_listing()))
    }

    /// The tools that the servers of a session listed when last started.
    async fn remember(&self, target: Option<&str>) -> Result<SessionServers, SourceError> {
        let mut session_servers = SessionServers::default();
        for named in self.of(target) {
            let Some(raw) = self.cache.read(named.target.as_deref(), &named.name, &named.entry) else {
                session_servers.unknown.push(named.name.clone());
                continue;
            };
            let server = Remembered::new(&named.name, named.contributor(), named.entry.toolset.as_deref(), raw);
            let batch = list(&*server).await?;
            let source = SessionSource { tools: server, is_shared: true, revision: 0 };
            session_servers.members.push(Member { source, batch, idle: None });
        }
        Ok(session_servers)
    }

    /// The address that these servers call back to. Those that run in this process need none, so no port is opened for them.
    async fn base_url(&self, servers: &[Wanted<'_>]) -> Result<String, SourceError> {
        let Some(first) = servers.iter().find(|wanted| !wanted.is_embedded) else { return Ok(String::new()) };
        let not_started = |error: NoAddress| SourceError::NotStarted {
            source_name: first.named.name.clone(),
            evidence: error.to_string(),
        };
        self.process.callback.base_url().await.map_err(not_started)
    }

    fn wanted<'n>(&self, named: &'n Named, device: &Description) -> Wanted<'n> {
        let is_embedded = named.is_embedded(&device.driver);
        let is_shared = named.origin == ToolOrigin::ProjectServer
            && match named.entry.multi_device {
                // One for each session costs little there, and keeps their states apart.
                MultiDevice::Auto => self.is_crowded && !is_embedded,
                MultiDevice::Http | MultiDevice::Stdio => true,
                MultiDevice::PerDevice => false,
            };
        Wanted { named, is_shared, is_embedded }
    }

    /// The server that all sessions share: started by the first session that needs it, and restarted if it died.
    async fn shared(
        &self,
        wanted: &Wanted<'_>,
        base_url: &str,
        secrets: &Arc<Secrets>,
    ) -> Result<Arc<Server>, SourceError> {
        let known = self.shared.lock().get(&wanted.named.name).and_then(|cell| cell.get().cloned());
        if let Some(server) = known {
            server.settled().await;
        }
        let cell = {
            let mut shared = self.shared.lock();
            let cell = shared.entry(wanted.named.name.clone()).or_default();
            if cell.get().is_some_and(|server| server.death().is_some()) {
                *cell = Arc::default();
            }
            Arc::clone(cell)
        };
        cell.get_or_try_init(|| self.started(wanted, base_url, None, secrets)).await.cloned()
    }

    async fn started(
        &self,
        Wanted { named, is_embedded, .. }: &Wanted<'_>,
        base_url: &str,
        session: Option<(&SessionId, &Description)>,
        secrets: &Arc<Secrets>,
    ) -> Result<Arc<Server>, SourceError> {
        let Named { name, entry, .. } = *named;
        let place = Place { root: &self.root, base_url, session };
        if let Some(stale) = stale_build(entry, &self.root) {
            self.tell(Level::Warning, &format!("server `{name}`: {stale}"));
        }
        let reach = match is_embedded {
            true => embedded(entry, &place, secrets, &self.programs),
            false => reach(entry, &place, &self.runtimes, secrets, session.is_none()).await,
        };
        let reach = reach
            .map_err(|error| SourceError::NotStarted { source_name: name.clone(), evidence: error.to_string() })?;
        let log = log_name(name, session.map(|(id, _)| id));
        let spec = Spec {
            name: name.clone(),
            contributor: named.contributor(),
            startup: entry.startup_timeout.duration(),
            call_idle: entry.call_timeout.map(Millis::duration),
            may_have: entry.secrets.clone(),
            context: entry.context,
            refuses_context: Arc::clone(self.refuses_context.lock().entry(named.key()).or_default()),
            protocol: entry.protocol.clone(),
            toolset: entry.toolset.clone(),
            may_sample: entry.sampling,
            restarts: (entry.restart == Restart::OnFailure).then(|| self.restarts(named)),
            base_url: base_url.to_string(),
            log: self.outlets.folder.as_ref().map(|folder| folder.join(&log)),
            secrets: Arc::clone(secrets),
            events: Arc::new(Record { session: session.map(|(id, _)| id.clone()), log, outlets: self.outlets.clone() }),
            tape: self.recording().map(|recording| recording.tape(&named.key())),
            spin_turn: Arc::clone(&self.process.spin_turn),
        };
        let server = Server::new(spec, reach, Arc::clone(&self.supervisor));
        let (key, origin) = (named.key(), self.origin(&named.key()));
        server.start().await.map_err(|error| with_hint(error, entry, &self.root))?;
        let mut started = self.started.lock();
        started.retain(|started| started.server.strong_count() > 0);
        started.push(Started { key, server: Arc::downgrade(&server), origin: Arc::new(Mutex::new(origin)) });
        drop(started);
        Ok(server)
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

    /// Restarts the servers that changed files affect, concurrently, each while the old one is still running, unless they were
    /// already started from the changed files.
    pub async fn renew(&self, paths: &[PathBuf]) -> Vec<(String, Result<Renewed, SourceError>)> {
        let concerned: Vec<&Key> = paths.iter().flat_map(|path| self.concerns.servers(path)).collect();
        // A server that did not start before may start now.
        self.failed.lock().retain(|key, _| !concerned.contains(&key));
        let imports = |started: &Started| {
            let origin = started.origin.lock();
            paths.iter().any(|path| origin.imported.contains(path))
        };
        self.renew_outdated(|started| concerned.contains(&&started.key) || imports(started)).await
    }

    /// The files of a server as they are now.
    fn origin(&self, key: &Key) -> Origin {
        let entry = self.entries.iter().find(|named| named.key() == *key).map(|named| &named.entry);
        let imported = entry.map(|entry| Parts::of(&self.root, entry).imported).unwrap_or_default();
        Origin { stamp: self.concerns.stamp(key, &imported), imported }
    }

    /// The same for all servers whose files changed. Also waits for the restarts that are under way.
    pub async fn renew_all(&self) -> Vec<(String, Result<Renewed, SourceError>)> {
        self.renew_outdated(|_| true).await
    }

    async fn renew_outdated(&self, is_meant: impl Fn(&Started) -> bool) -> Vec<(String, Result<Renewed, SourceError>)> {
        let started = self.started.lock().clone();
        let at_work = started.iter().filter(|started| is_meant(started));
        let at_work: Vec<_> = at_work.filter_map(|started| Some((started, started.server.upgrade()?))).collect();
        let waiting = Waiting::new(at_work.iter().map(|(started, _)| started.key.1.clone()).collect());
        let renewed = at_work.iter().map(async |(Started { key, origin, .. }, server)| {
            let Some(restart) = self.begin_restart(key, origin) else {
                server.renewed().await;
                waiting.no_more(&key.1);
                return None;
            };
            let renewed = server.renew().await;
            restart.finish();
            waiting.no_more(&key.1);
            let renewed = renewed.transpose()?;
            let entry = self.entries.iter().find(|named| named.key() == *key).map(|named| &named.entry);
            if let (Ok(_), Some(entry)) = (&renewed, entry) {
                self.cache.keep(key.0.as_deref(), &key.1, entry, &server.raw_listing());
            }
            Some((key.1.clone(), renewed))
        });
        let renewed = tokio::select! {
            renewed = join_all(renewed) => renewed,
            () = waiting.complain(self.outlets.console.as_deref()) => unreachable!("it never returns"),
        };
        renewed.into_iter().flatten().collect()
    }

    /// `None` if the newest instance of a server was started from its files as they are now.
    fn begin_restart<'o>(&self, key: &Key, origin: &'o Mutex<Origin>) -> Option<FileRestart<'o>> {
        let mut known = origin.lock();
        if self.concerns.stamp(key, &known.imported) == known.stamp {
            return None;
        }
        let before = Some(std::mem::replace(&mut *known, self.origin(key)));
        Some(FileRestart { origin, before })
    }

    /// Reports something about the tools, on the screen and in the record.
    pub fn tell(&self, level: Level, text: &str) {
        match (&self.outlets.console, level) {
            (Some(console), Level::Warning | Level::Error) => console.warn(text),
            (Some(console), _) => console.say(text),
            (None, _) => {}
        }
        if let Some(events) = &self.outlets.events {
            events.emit(Event::Noted { about: None, level, text: text.to_string() });
        }
    }

    /// How often a server has died, over all its sessions.
    fn restarts(&self, named: &Named) -> Arc<Restarts> {
        Arc::clone(self.restarts.lock().entry(named.key()).or_default())
    }

    /// Stops the servers that no session owns.
    pub async fn close(&self) {
        let shared: Vec<Arc<Server>> = self.shared.lock().drain().filter_map(|(_, cell)| cell.get().cloned()).collect();
        join_all(shared.iter().map(|server| server.stop())).await;
        drop(shared);
        // A server that was abandoned during its start may still be stopping.
        self.supervisor.settled().await;
    }
}

async fn list(source: &dyn ToolSource) -> Result<Batch, SourceError> {
    Ok(source.list().await?.batch(source.contributor()))
}

/// Why a server did not start, with a hint if there is one.
fn with_hint(error: SourceError, entry: &Entry, root: &Path) -> SourceError {
    match error {
        SourceError::NotStarted { source_name, mut evidence } => {
            let command = entry.command.as_deref().unwrap_or_default();
            let script = entry.script.as_ref().map(|script| root.join(script));
            let hint = missing_module(command, root, &evidence)
                .or_else(|| missing_jar(root, &evidence))
                .or_else(|| missing_build(entry, root))
                .or_else(|| missing_package(&script?, &evidence));
            if let Some(hint) = hint {
                evidence.push_str(&format!("\nhint: {hint}"));
            }
            SourceError::NotStarted { source_name, evidence }
        }
        error => error,
    }
}

/// The log file for a server's stderr, relative to the run folder.
fn log_name(server: &str, session: Option<&SessionId>) -> String {
    let name = slug(server);
    match session {
        // The whole id would grant access; its beginning is enough to distinguish sessions.
        Some(session) => format!("servers/{name}-{}.log", session.as_str().get(2..8).unwrap_or_default()),
        None => format!("servers/{name}-{}.log", ids::run_suffix()),
    }
}

/// A restart because files changed. If it is dropped before it has finished, the next one begins anew.
struct FileRestart<'o> {
    origin: &'o Mutex<Origin>,
    before: Option<Origin>,
}

impl FileRestart<'_> {
    fn finish(mut self) {
        self.before = None;
    }
}

impl Drop for FileRestart<'_> {
    fn drop(&mut self) {
        if let Some(before) = self.before.take() {
            *self.origin.lock() = before;
        }
    }
}

/// The servers that are being waited for.
struct Waiting(Mutex<Vec<String>>);

impl Waiting {
    fn new(names: Vec<String>) -> Waiting {
        Waiting(Mutex::new(names))
    }

    fn no_more(&self, name: &str) {
        self.0.lock().retain(|waiting| waiting != name);
    }

    /// Reports slow servers at intervals. Never returns.
    async fn complain(&self, console: Option<&dyn Console>) {
        let started = tokio::time::Instant::now();
        let mut pause = PATIENCE;
        loop {
            tokio::time::sleep(pause).await;
            pause *= 2;
            let names: Vec<String> = self.0.lock().iter().map(|name| format!("`{name}`")).collect();
            if let Some(console) = console.filter(|_| !names.is_empty()) {
                let seconds = started.elapsed().as_secs();
                console.say(&format!("waiting for {} to start ({seconds} s)", names.join(", ")));
            }
        }
    }
}

/// Records the life cycle of a server.
struct Record {
    session: Option<SessionId>,
    log: String,
    outlets: Outlets,
}

impl Record {
    fn emit(&self, event: Event) {
        if let Some(events) = &self.outlets.events {
            events.emit(event);
        }
    }
}

impl ServerEvents for Record {
    fn note(&self, server: &str, level: Level, text: String) {
        let text = format!("server `{server}`: {text}");
        if let (Level::Warning | Level::Error, Some(console)) = (level, &self.outlets.console) {
            console.warn(&text);
        }
        self.emit(Event::Noted { about: None, level, text });
    }

    fn started(&self, server: &str, version: &str) {
        self.emit(Event::ServerStarted {
            server: server.to_string(),
            session: self.session.clone(),
            protocol: version.to_string(),
            log: self.log.clone(),
        });
    }

    fn ended(&self, server: &str, message: String) {
        self.emit(Event::ServerEnded { server: server.to_string(), session: self.session.clone(), message });
    }
}
