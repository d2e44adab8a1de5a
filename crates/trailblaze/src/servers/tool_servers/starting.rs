//! Starts a server: for one session, or for all that share it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use trailblaze_core::config::{MultiDevice, Restart};
use trailblaze_core::driver::DeviceDescription;
use trailblaze_core::engine::registry::Batch;
use trailblaze_core::engine::source::{SourceError, ToolSource};
use trailblaze_core::ids;
use trailblaze_core::names::ToolOrigin;
use trailblaze_core::values::secret::Secrets;
use trailblaze_core::yaml::Millis;
use trailblaze_protocol::event::Level;
use trailblaze_protocol::ids::SessionId;
use trailblaze_toolhost::build::ServerBuild;
use trailblaze_toolhost::http::AddressError;
use trailblaze_toolhost::launch::{LaunchError, LaunchPlace, missing_package};
use trailblaze_toolhost::listing::RawListing;
use trailblaze_toolhost::notification_router::ServerEvents;
use trailblaze_toolhost::python::missing_module;
use trailblaze_toolhost::server::{OnDeath, Spec, ToolServer};

use super::record::{RecordPlace, about};
use super::restarting::Started;
use super::{ServerMode, ToolServers};
use crate::files::slug;
use crate::servers::callback::NoAddress;
use crate::servers::cassettes::Cassettes;
use crate::servers::entries::Named;
use crate::servers::kept::{Attached, Kept};
use crate::servers::on_demand::FirstListing;
use crate::servers::server_sources::ServerKey;
use crate::servers::transport::{NoReach, embedded, reach};

/// A server that a session needs.
pub(super) struct NeededServer<'n> {
    named: &'n Named,
    /// Whether all sessions use the same one.
    pub is_shared: bool,
    /// Whether it runs in this process.
    is_embedded: bool,
}

impl ToolServers {
    /// Starts a server, and lists its tools.
    pub(super) async fn run(
        &self,
        named: &Named,
        session: (&SessionId, &DeviceDescription),
        secrets: &Arc<Secrets>,
    ) -> Result<(Arc<ToolServer>, FirstListing), SourceError> {
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
        let (server, first) = run.await.inspect_err(|error| self.note_failure(named, error))?;
        self.cache.keep(named.target.as_deref(), &named.name, &named.entry, &server.raw_listing());
        Ok((server, first))
    }

    /// Starts one server by itself, with this version of the protocol if given, lists its tools, and stops it. Returns its
    /// tools, and its response verbatim.
    pub async fn visit(
        &self,
        name: &str,
        protocol: Option<&str>,
        session: (&SessionId, &DeviceDescription),
        secrets: &Arc<Secrets>,
    ) -> Result<(Batch, RawListing), SourceError> {
        let not_started = |evidence: String| SourceError::NotStarted { source_name: name.to_string(), evidence };
        let known = self.entries.iter().find(|named| named.name == name);
        let mut named = known.cloned().ok_or_else(|| not_started("no entry names it".to_string()))?;
        named.entry.protocol = protocol.map(str::to_string).or(named.entry.protocol);
        let wanted = NeededServer { is_shared: false, ..self.wanted(&named, session.1) };
        let base_url = self.base_url(std::slice::from_ref(&wanted)).await?;
        let server = self.started(&wanted, &base_url, Some(session), secrets).await?;
        let listed = list(&*server).await;
        server.stop().await;
        Ok((listed?, server.raw_listing()))
    }

    /// The address that these servers call back to. Those that run in this process need none, so no port is opened for them.
    async fn base_url(&self, servers: &[NeededServer<'_>]) -> Result<String, SourceError> {
        let Some(first) = servers.iter().find(|wanted| !wanted.is_embedded) else { return Ok(String::new()) };
        let not_started = |error: NoAddress| SourceError::NotStarted {
            source_name: first.named.name.clone(),
            evidence: error.to_string(),
        };
        self.process.callback.base_url().await.map_err(not_started)
    }

    pub(super) fn wanted<'n>(&self, named: &'n Named, device: &DeviceDescription) -> NeededServer<'n> {
        let is_embedded = named.is_embedded(&device.driver);
        let is_shared = named.origin == ToolOrigin::ProjectServer
            && match named.entry.multi_device {
                // One for each session costs little there, and keeps their states apart.
                MultiDevice::Auto => self.is_crowded && !is_embedded,
                MultiDevice::Http | MultiDevice::Stdio => true,
                MultiDevice::PerDevice => false,
            };
        NeededServer { named, is_shared, is_embedded }
    }

    /// The server that all sessions share: started by the first session that needs it, and restarted if it died.
    async fn shared(
        &self,
        wanted: &NeededServer<'_>,
        base_url: &str,
        secrets: &Arc<Secrets>,
    ) -> Result<Arc<ToolServer>, SourceError> {
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
        let start = async || {
            // Another session may have tried while this one waited for its turn.
            if let Some(error) = self.failed.lock().get(&wanted.named.key()) {
                return Err(error.clone());
            }
            let started = self.started(wanted, base_url, None, secrets).await;
            started.inspect_err(|error| self.note_failure(wanted.named, error))
        };
        cell.get_or_try_init(start).await.cloned()
    }

    fn note_failure(&self, named: &Named, error: &SourceError) {
        self.failed.lock().insert(named.key(), error.clone());
    }

    async fn started(
        &self,
        NeededServer { named, is_embedded, .. }: &NeededServer<'_>,
        base_url: &str,
        session: Option<(&SessionId, &DeviceDescription)>,
        secrets: &Arc<Secrets>,
    ) -> Result<Arc<ToolServer>, SourceError> {
        let Named { name, entry, .. } = *named;
        let place = LaunchPlace { root: &self.root, base_url, session };
        self.warn_of_stale_build(named);
        let id = session.map(|(id, _)| id);
        let terms = format!("{entry:?} {base_url} {is_embedded}");
        let (key, origin) = ((named.key(), id.cloned()), self.origin(&named.key()));
        if let Some(kept) = &self.kept
            && let Some(Kept { server, started }) = kept.take(&key, &terms, &origin).await
        {
            self.attach(&started.attached, name, id);
            server.announce();
            self.note_started(started);
            return Ok(server);
        }
        let reach = match is_embedded {
            true => embedded(entry, &place, secrets, &self.programs),
            false => reach(entry, &place, &self.runtimes, secrets, &self.proxies, session.is_none()).await,
        };
        let reach = reach.map_err(|error| self.unreachable(named, &error))?;
        let attached = Attached::default();
        self.attach(&attached, name, id);
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
            on_death: self.on_death(named),
            hint: Box::new(hints((*named).clone(), self.root.clone(), self.runtimes.path().to_os_string())),
            base_url: base_url.to_string(),
            log: Arc::clone(&attached.log),
            secrets: Arc::clone(secrets),
            events: Arc::clone(&attached.record) as _,
            tape: self.recording().map(|recording| recording.tape(&named.key())),
            spin_turn: Arc::clone(&self.process.spin_turn),
        };
        let server = ToolServer::new(spec, reach, Arc::clone(&self.supervisor));
        server.start().await?;
        let (supervisor, origin) = (Arc::clone(&self.supervisor), Arc::new(Mutex::new(origin)));
        self.note_started(Started { key: key.0, server: Arc::downgrade(&server), origin, terms, attached, supervisor });
        Ok(server)
    }

    /// The error of a server whose entry does not lead to it, with where that is.
    fn unreachable(&self, named: &Named, error: &NoReach) -> SourceError {
        let place = match error {
            NoReach::Launch(LaunchError::NoScript { path } | LaunchError::NoScriptKind { path }) => {
                Some(("script", path.as_str()))
            }
            NoReach::Address(AddressError::NoUrl { .. } | AddressError::NoScheme { .. }) => {
                named.entry.url.as_deref().map(|url| ("url", url))
            }
            NoReach::Launch(_) | NoReach::Address(_) | NoReach::NoSecret { .. } => None,
        };
        let hint = place.map(|(key, value)| format!("\nhint: correct `{key}` {}", named.at(key, value)));
        let evidence = format!("{error}{}", hint.unwrap_or_default());
        SourceError::NotStarted { source_name: named.name.clone(), evidence }
    }

    /// Warns of servers that are running and that were built before their sources changed. Each warning is given once.
    pub fn warn_of_stale_builds(&self) {
        let started = self.started.lock().clone();
        let running: Vec<ServerKey> =
            started.into_iter().filter(|one| one.server.strong_count() > 0).map(|one| one.key).collect();
        self.entries
            .iter()
            .filter(|named| running.contains(&named.key()))
            .for_each(|named| self.warn_of_stale_build(named));
    }

    /// The same of all servers that may be started, so that nobody first waits for a call.
    pub fn warn_of_all_stale_builds(&self) {
        let is_used = self.mode != ServerMode::Absent && !matches!(self.cassettes, Some(Cassettes::Replay(_)));
        self.entries.iter().filter(|_| is_used).for_each(|named| self.warn_of_stale_build(named));
    }

    fn warn_of_stale_build(&self, named: &Named) {
        let build = ServerBuild::of(&named.entry, &self.root);
        let stale = build.and_then(|build| Some((build.stale()?, named.build_advice(&build))));
        let Some((stale, advice)) = stale else { return drop(self.stale.lock().remove(&named.key())) };
        if self.stale.lock().insert(named.key(), stale.clone()).is_none_or(|told| told != stale) {
            let about = about(&named.name);
            self.tell(&about, Level::Warning, &format!("{about}: {}; {advice}", stale.what));
        }
    }

    /// Sends what a server reports and prints to the record and the folder of this run.
    fn attach(&self, attached: &Attached, name: &str, session: Option<&SessionId>) {
        let log = log_name(name, session);
        attached.log.move_to(self.outlets.folder.as_ref().map(|folder| folder.join(&log)).as_deref());
        attached.record.move_to(RecordPlace { session: session.cloned(), log, outlets: self.outlets.clone() });
    }

    fn note_started(&self, new: Started) {
        let mut started = self.started.lock();
        started.retain(|started| started.server.strong_count() > 0);
        started.push(new);
    }

    /// Stops a server whose session has ended, or whose run if `session` is `None`, unless it is kept for the next run.
    pub(super) async fn end(&self, server: &Arc<ToolServer>, session: Option<&SessionId>) {
        let is_kept = session.is_none_or(|id| self.staying.lock().contains(id));
        let is_it = |started: &&Started| started.server.as_ptr() == Arc::as_ptr(server);
        let started = self.started.lock().iter().find(is_it).cloned();
        match (&self.kept, started) {
            (Some(kept), Some(started)) if is_kept && server.death().is_none() && !server.is_outdated() => {
                // What it does from now on is not part of this run.
                let Attached { record, log } = &started.attached;
                record.ended(&started.key.1, "kept for the next run".to_string());
                record.move_to(RecordPlace::default());
                log.move_to(None);
                let key = (started.key.clone(), session.cloned());
                kept.keep(key, Kept { server: Arc::clone(server), started }).await;
            }
            _ => server.stop().await,
        }
    }

    pub(super) fn on_death(&self, named: &Named) -> OnDeath {
        // Counted over all its sessions.
        let restarts = || Arc::clone(self.restarts.lock().entry(named.key()).or_default());
        match named.entry.restart {
            Restart::OnFailure => OnDeath::Restart(restarts()),
            Restart::Never if self.is_interactive => OnDeath::RestartForNextCall(restarts()),
            Restart::Never => OnDeath::EndSession,
        }
    }
}

pub(super) async fn list(source: &dyn ToolSource) -> Result<Batch, SourceError> {
    Ok(source.list().await?.batch(source.contributor()))
}

/// What to do about a server that did not start, judging by what it printed and by its entry.
fn hints(named: Named, root: PathBuf, path: OsString) -> impl Fn(&str) -> Option<String> {
    move |said| {
        let command = named.entry.command.as_deref().unwrap_or_default();
        let script = || named.entry.script.as_ref().map(|script| root.join(script));
        let build = || {
            let build = ServerBuild::of(&named.entry, &root)?;
            Some(format!("{}; {}", build.missing()?, named.build_advice(&build)))
        };
        missing_module(command, &root, &path, said)
            .or_else(build)
            .or_else(|| named.correction(&root, &path))
            .or_else(|| missing_package(&script()?, said))
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
