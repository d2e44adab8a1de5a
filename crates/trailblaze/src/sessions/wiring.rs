//! The wiring: from what a project says to sessions that can be called. Here, once, and nowhere else.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use trailblaze_core::config::PlatformEntry;
use trailblaze_core::device_source::UnavailableDevice;
use trailblaze_core::driver::DriverError;
use trailblaze_core::engine::registry::{Registry, ToolScope};
use trailblaze_core::engine::session::{Session, SessionParts, SessionSource, stop_own};
use trailblaze_core::engine::source::{ReloadError, SourceError, ToolReloader};
use trailblaze_core::engine::strictness::Strictness;
use trailblaze_core::record::artifacts::{ArtifactStore, PicturePolicy};
use trailblaze_core::record::events::EventSink;
use trailblaze_core::trail::{ROW, Trail, lineage};
use trailblaze_core::values::memory::Memory;
use trailblaze_core::values::secret::Secrets;
use trailblaze_core::yaml::Severity;
use trailblaze_core::{ids, limits};
use trailblaze_drivers::provider::Machine;
use trailblaze_protocol::event::{Device, Event, Level};
use trailblaze_protocol::ids::SessionId;
use trailblaze_supervise::Supervisor;

use crate::files::runtime;
use crate::files::stamp::Stamp;
use crate::output::expected_pictures::ExpectedPictureFiles;
use crate::project::devices::{DeviceError, DeviceSpec};
use crate::project::environment::Environment;
use crate::project::loaded::Loaded;
use crate::project::models::{ModelChoiceError, all_key_variables};
use crate::project::sim::SimOptions;
use crate::servers::kept::SessionPlace;
use crate::servers::tool_servers::{Absent, Needed, ServerMode, ToolServers};
use crate::servers::transport::{declared_secrets, declared_values};
use crate::sessions::devices::{Acquired, DeviceSources, SettingError};
use crate::sessions::host::SessionHost;
use crate::sessions::hot_swap;
use crate::sessions::models::{AgentOptions, SessionModels};

/// What every session of a run shares.
pub struct Wiring {
    pub loaded: Arc<Loaded>,
    /// The target unless a trail names another.
    pub target: Option<String>,
    /// What devices need of this process, and what the command says about them.
    machine: Machine,
    pub devices: DeviceSources,
    pub secrets: Arc<Secrets>,
    pub pictures: PicturePolicy,
    pub expected_pictures: ExpectedPictureFiles,
    /// Whether sessions collect what healing needs later.
    pub is_recording: bool,
    pub strictness: Arc<Strictness>,
    pub host: SessionHost,
    pub groups: Vec<String>,
    pub prefixes: Vec<String>,
    pub models: SessionModels,
    pub servers: Arc<ToolServers>,
    /// The state of the files that the tools were loaded from.
    stamp: Stamp,
    /// Starts and owns every process of the run.
    pub supervisor: Supervisor,
    /// What was made ready and not opened yet, or could not be made ready, by device and target.
    ready: Mutex<HashMap<SessionPlace, Result<Prepared, SourceError>>>,
    /// Those that were opened and not dropped yet.
    opened: Mutex<Vec<Weak<Session>>>,
}

/// A session before its first call: its servers are at work, and its tools are known.
pub struct Prepared {
    id: SessionId,
    sources: Vec<SessionSource>,
    pub registry: Registry,
    /// Servers of which nothing is known.
    pub unknown_servers: Vec<String>,
    pub absent: Absent,
}

/// Where a session reports to.
pub struct SessionSinks {
    pub events: Arc<dyn EventSink>,
    pub artifacts: Arc<dyn ArtifactStore>,
}

impl Wiring {
    pub fn new(loaded: &Arc<Loaded>, host: &SessionHost, target: Option<String>) -> Wiring {
        let variables = loaded.environment.variables();
        let variables: HashMap<OsString, OsString> =
            variables.map(|(name, value)| (name.to_os_string(), value.to_os_string())).collect();
        let supervisor = Supervisor::new().in_environment(variables.clone());
        let of_agents = loaded.project.secrets.0.iter().map(|(name, _)| name.clone());
        let withheld = declared_secrets(loaded).into_iter().chain(all_key_variables(loaded)).chain(of_agents);
        supervisor.withhold(withheld.map(Into::into));
        let secrets = Arc::new(Secrets::new(declared_values(loaded)));
        let is_root = rustix::process::geteuid().is_root();
        let machine = Machine { is_root, ..Machine::new(supervisor.clone(), Arc::new(variables)) };
        let devices = device_sources(loaded, &machine).expect("nothing was set that could be wrong");
        Wiring {
            loaded: Arc::clone(loaded),
            target: target.or_else(|| loaded.project.target.as_ref().map(|target| target.value.clone())),
            machine,
            devices,
            secrets,
            pictures: PicturePolicy::Off,
            expected_pictures: ExpectedPictureFiles::new(&loaded.root, false),
            is_recording: false,
            strictness: Arc::new(Strictness::new(loaded.project.strict_results)),
            host: host.clone(),
            groups: Vec::new(),
            prefixes: Vec::new(),
            models: SessionModels::none(),
            servers: ToolServers::new(loaded, ServerMode::Start, &supervisor, host.process.clone()).into(),
            stamp: loaded.tool_stamp(None),
            supervisor,
            ready: Mutex::default(),
            opened: Mutex::default(),
        }
    }

    /// The target that sessions use unless a trail names another must be one of the project.
    pub fn check_target(&self) -> Result<(), UnknownTarget> {
        let Some(id) = &self.target else { return Ok(()) };
        let unknown = |near: Option<&str>| UnknownTarget { id: id.clone(), near: near.map(String::from) };
        self.loaded.target(id).map(drop).map_err(unknown)
    }

    /// Uses the chosen model.
    pub fn use_model(&mut self, options: &AgentOptions) -> Result<(), ModelChoiceError> {
        self.groups.clone_from(&options.groups);
        // What is wrong with the files is reported first.
        if self.loaded.has_errors() {
            return Ok(());
        }
        self.prefixes.clone_from(&options.prefixes);
        self.models = SessionModels::resolve(&self.loaded, options)?;
        Ok(())
    }

    /// Uses these secrets. Their variables are kept from child processes that do not list them.
    pub fn use_secrets(&mut self, secrets: Arc<Secrets>) {
        self.supervisor.withhold(secrets.names().into_iter().map(Into::into));
        self.secrets = secrets;
    }

    /// Uses devices as the command wants them: with or without windows, and with these changes to simulated ones.
    pub fn set_up_devices(&mut self, is_headed: bool, sim: &SimOptions) -> Result<(), SettingError> {
        self.machine.is_headed = is_headed;
        self.machine.sim_settings.clone_from(&sim.settings);
        self.machine.seed = sim.seed.unwrap_or_else(random_seed);
        self.devices = device_sources(&self.loaded, &self.machine)?;
        Ok(())
    }

    /// What jitter, drift and faults of simulated devices are drawn from.
    pub fn seed(&self) -> u64 {
        self.machine.seed
    }

    /// Whether the seed decides what devices do.
    pub fn uses_seed(&self) -> bool {
        self.loaded.providers.use_seed(&self.machine)
    }

    /// The project's tool servers, for [`Wiring::servers`].
    pub fn tool_servers(&self, mode: ServerMode) -> ToolServers {
        ToolServers::new(&self.loaded, mode, &self.supervisor, self.host.process.clone())
    }

    /// The tools of the project's files that a session on this device has; those of servers are not among them.
    pub fn file_registry(&self, device: &DeviceSpec, target: Option<&str>) -> Registry {
        Registry::build(1, &self.loaded.batches, &self.scope(device, target))
    }

    /// Which tools a session on this device may have, and is offered.
    pub fn scope(&self, device: &DeviceSpec, target: Option<&str>) -> ToolScope {
        scope(&self.loaded, device, target, &self.groups, &self.prefixes)
    }

    /// Makes a session ready with all of its servers, or not at all.
    pub async fn prepare_whole(&self, device: &DeviceSpec, target: Option<&str>) -> Result<Prepared, SourceError> {
        let prepared = self.prepare(device, target, |_| Needed::All).await?;
        match prepared.absent.errors.first().cloned() {
            None => Ok(prepared),
            Some(error) => {
                prepared.discard().await;
                Err(error)
            }
        }
    }

    /// Makes a session ready: starts the servers that are needed, judging by the tools that are known so far, and asks for
    /// their tools. It does without those that do not start.
    pub async fn prepare(
        &self,
        device: &DeviceSpec,
        target: Option<&str>,
        needed: impl Fn(&Registry) -> Needed,
    ) -> Result<Prepared, SourceError> {
        let id = self.servers.session_id(&prepared_key(device, target));
        let scope = self.scope(device, target);
        let mut servers = self.servers.of_session(target, (&id, &device.description()), &self.secrets).await?;
        let registry = loop {
            let mut registry = Registry::build(1, self.loaded.batches.iter().chain(servers.batches()), &scope);
            registry.is_partial = !servers.unknown.is_empty() || self.loaded.has_unread_servers();
            registry.absent = servers.absent.unknown.clone();
            let needed = if self.servers.starts_all() { Needed::All } else { needed(&registry) };
            // A server may list other tools than when last started, so the others may be needed now.
            if !self.servers.start(&mut servers, &needed).await {
                break registry;
            }
        };
        let sources = servers.sources();
        Ok(Prepared { id, sources, registry, unknown_servers: servers.unknown, absent: servers.absent })
    }

    /// Keeps a session that was made ready until it is opened; or why it could not be, for all that want it.
    pub fn keep(&self, device: &DeviceSpec, target: Option<&str>, prepared: Result<Prepared, SourceError>) {
        self.ready.lock().insert(prepared_key(device, target), prepared);
    }

    /// Opens a session with all of its servers, and tells the record.
    pub async fn open_whole(
        &self,
        device: &DeviceSpec,
        target: Option<&str>,
        sinks: SessionSinks,
    ) -> Result<Arc<Session>, NotOpened> {
        let prepared = self.prepare_whole(device, target).await;
        self.opened_or_not(prepared, device, target, sinks).await
    }

    /// Opens a session, made ready before or now, and tells the record. It does without servers that do not start.
    pub async fn open(
        &self,
        device: &DeviceSpec,
        target: Option<&str>,
        sinks: SessionSinks,
    ) -> Result<Arc<Session>, NotOpened> {
        let kept = self.ready.lock().remove(&prepared_key(device, target));
        let prepared = match kept {
            Some(kept) => kept,
            // What its trails need was started when they were checked, and the rest is started by the calls that need it.
            None => self.prepare(device, target, |_| Needed::Some(BTreeSet::new())).await,
        };
        self.opened_or_not(prepared, device, target, sinks).await
    }

    async fn opened_or_not(
        &self,
        prepared: Result<Prepared, SourceError>,
        device: &DeviceSpec,
        target: Option<&str>,
        sinks: SessionSinks,
    ) -> Result<Arc<Session>, NotOpened> {
        let error = match prepared {
            Ok(prepared) => match self.devices.acquire(device).await {
                Ok(acquired) => return Ok(self.opened(prepared, acquired, (device, target), sinks)),
                Err(error) => {
                    prepared.discard().await;
                    NotOpenedError::Device(error)
                }
            },
            Err(error) => NotOpenedError::Server(error),
        };
        let unavailable = DriverError::NotStarted { evidence: error.to_string() };
        let driver = Arc::new(UnavailableDevice::new(device, unavailable));
        let acquired = Acquired { driver, claim: None };
        let session = self.opened(self.bare(device, target), acquired, (device, target), sinks);
        Err(NotOpened { session, error })
    }

    /// A session without its servers, for the record of why there is no other.
    fn bare(&self, device: &DeviceSpec, target: Option<&str>) -> Prepared {
        let registry = self.file_registry(device, target);
        let (sources, unknown_servers, absent) = (Vec::new(), Vec::new(), Absent::default());
        Prepared { id: ids::session(), sources, registry, unknown_servers, absent }
    }

    fn opened(
        &self,
        prepared: Prepared,
        acquired: Acquired,
        (device, target): (&DeviceSpec, Option<&str>),
        sinks: SessionSinks,
    ) -> Arc<Session> {
        let reloader = ProjectTools {
            root: self.loaded.root.clone(),
            environment: Arc::clone(&self.loaded.environment),
            device: device.clone(),
            target: target.map(str::to_string),
            groups: self.groups.clone(),
            prefixes: self.prefixes.clone(),
            sources: prepared.sources.clone(),
            absent: prepared.absent,
            servers: Arc::clone(&self.servers),
            stamp: Mutex::new(self.stamp.clone()),
        };
        let events = match self.servers.recording() {
            Some(recording) => recording.observed(sinks.events),
            None => sinks.events,
        };
        let session = Session::open(SessionParts {
            id: prepared.id,
            driver: acquired.driver,
            claim: acquired.claim,
            registry: prepared.registry,
            reloader: Some(Arc::new(reloader)),
            sources: prepared.sources,
            events,
            artifacts: sinks.artifacts,
            expected_pictures: Arc::new(self.expected_pictures.clone()),
            secrets: Arc::clone(&self.secrets),
            invocations: Arc::clone(&self.host.invocations),
            pictures: self.pictures,
            is_recording: self.is_recording,
            strictness: Arc::clone(&self.strictness),
            home: self.loaded.root.display().to_string(),
        });
        let mut opened = self.opened.lock();
        opened.retain(|session| session.strong_count() > 0);
        opened.push(Arc::downgrade(&session));
        drop(opened);
        let description = session.device.description();
        session.emit(Event::SessionOpened {
            session: session.id.clone(),
            device: Device {
                id: description.id.clone(),
                platform: description.platform,
                driver: description.driver.clone(),
                size: description.size,
                classifiers: description.classifiers.clone(),
            },
            target: target.map(str::to_string),
            agent_mode: self.loaded.project.agent_mode,
            tools: session.registry().len(),
        });
        for warning in &session.registry().warnings {
            session.emit(Event::note(None, Level::Warning, warning.clone()));
        }
        session
    }

    /// The sessions that are open.
    pub fn sessions(&self) -> Vec<Arc<Session>> {
        let opened = self.opened.lock();
        opened.iter().filter_map(Weak::upgrade).collect()
    }

    /// Keeps the servers of a session that is about to close for the next run, if there may be one.
    pub fn keep_servers(&self, session: &Session, device: &DeviceSpec, target: Option<&str>) {
        self.servers.keep_session(prepared_key(device, target), &session.id);
    }

    /// Ends what was made ready and never opened, and what all sessions shared.
    pub async fn close(&self) {
        let ready: Vec<Prepared> = self.ready.lock().drain().filter_map(|(_, prepared)| prepared.ok()).collect();
        futures::future::join_all(ready.into_iter().map(Prepared::discard)).await;
        tokio::join!(self.servers.close(), self.devices.close());
    }

    /// The target of a trail.
    pub fn target_of<'t>(&'t self, trail: &'t Trail) -> Option<&'t str> {
        let own = trail.config.target.as_ref().map(|target| target.value.as_str());
        own.or(self.target.as_deref())
    }

    /// The device as a trail wants it: with the driver that the trail pins for it.
    pub fn device_for(&self, trail: &Trail, device: &DeviceSpec) -> DeviceSpec {
        let lineage = lineage(&device.classifiers);
        let pinned = lineage.iter().find_map(|classifier| trail.config.devices.drivers.get(classifier));
        DeviceSpec { driver: pinned.cloned().unwrap_or_else(|| device.driver.clone()), ..device.clone() }
    }

    /// The app under test on a device.
    pub fn app_id(&self, device: &DeviceSpec, target: Option<&str>) -> Option<&str> {
        let target = target.and_then(|id| self.loaded.target(id).ok())?;
        target.on(device.platform)?.app_ids.first().map(|app| app.as_str())
    }

    /// What an attempt remembers from the start. The command line wins over the trail.
    pub fn memory(
        &self,
        wanted: (&DeviceSpec, Option<&str>),
        trail: Option<&Trail>,
        given: &[(String, String)],
        args: Map<String, Value>,
    ) -> Memory {
        let (device, target) = wanted;
        let mut values = Map::new();
        if let Some(app) = self.app_id(device, target) {
            values.insert("target.appId".into(), app.into());
        }
        let own = trail.into_iter().flat_map(|trail| &trail.config.memory.0);
        for (name, value) in own.chain(given) {
            values.insert(name.clone(), value.as_str().into());
        }
        let row = trail.and_then(|trail| trail.row.as_ref());
        values.extend(row.map(|row| (ROW.to_string(), row.remembered())));
        Memory::new(values, args)
    }
}

/// The devices of a command, where a platform stands for its only device.
pub async fn resolve_devices(
    loaded: &Arc<Loaded>,
    host: &SessionHost,
    names: &[String],
) -> Result<Vec<String>, DeviceError> {
    if names.iter().all(|name| name.contains('/')) {
        return Ok(names.to_vec());
    }
    let wiring = Wiring::new(loaded, host, None);
    let resolved = wiring.devices.resolve(loaded, names).await;
    wiring.close().await;
    resolved
}

impl Prepared {
    /// Ends what would have been the session's own, and gives what is left of it: the tools that it would have had.
    pub async fn discard(self) -> Registry {
        stop_own(&self.sources).await;
        self.registry
    }
}

/// A session whose device or servers could not be had: fit to say so in the record, and for nothing else.
pub struct NotOpened {
    pub session: Arc<Session>,
    pub error: NotOpenedError,
}

/// Why a session could not be opened.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NotOpenedError {
    #[error(transparent)]
    Device(DriverError),
    #[error(transparent)]
    Server(SourceError),
}

fn random_seed() -> u64 {
    let mut bytes = [0; 8];
    // Without a source of random numbers, the default seed is as good as any.
    let _ = getrandom::fill(&mut bytes);
    // Six digits are easy to type again.
    u64::from_le_bytes(bytes) % 1_000_000
}

fn device_sources(loaded: &Loaded, machine: &Machine) -> Result<DeviceSources, SettingError> {
    let environment = &loaded.environment;
    let locks = runtime::folder(environment.text("XDG_RUNTIME_DIR"), environment.text("TMPDIR"));
    let holder = format!("process {} for the project `{}`", std::process::id(), loaded.root.display());
    DeviceSources::open(&loaded.providers, machine, locks, holder)
}

fn prepared_key(device: &DeviceSpec, target: Option<&str>) -> SessionPlace {
    (device.id.to_string(), device.driver.to_string(), target.map(str::to_string))
}

fn scope(
    loaded: &Loaded,
    device: &DeviceSpec,
    target: Option<&str>,
    groups: &[String],
    prefixes: &[String],
) -> ToolScope {
    let target = target.and_then(|id| loaded.target(id).ok());
    let entry = target.and_then(|target| target.on(device.platform)).cloned();
    // Those of the command line replace those of the target.
    let or_own = |given: &[String], own: fn(&PlatformEntry) -> &Vec<String>| match given {
        [] => entry.as_ref().map(own).cloned().unwrap_or_default(),
        given => given.to_vec(),
    };
    ToolScope {
        platform: device.platform,
        driver: device.driver.clone(),
        agent_mode: loaded.project.agent_mode,
        toolsets: loaded.toolsets.clone(),
        groups: or_own(groups, |entry| &entry.groups),
        prefixes: or_own(prefixes, |entry| &entry.prefixes),
        target: entry,
        reserved_prefixes: loaded.project.reserved_prefixes.clone(),
    }
}

/// The tools of a project's files, and of the servers that are at work.
struct ProjectTools {
    root: PathBuf,
    environment: Arc<Environment>,
    device: DeviceSpec,
    target: Option<String>,
    groups: Vec<String>,
    prefixes: Vec<String>,
    sources: Vec<SessionSource>,
    absent: Absent,
    servers: Arc<ToolServers>,
    /// The state of the files that the tools were loaded from.
    stamp: Mutex<Stamp>,
}

#[async_trait]
impl ToolReloader for ProjectTools {
    async fn registry(&self, generation: u64) -> Result<Registry, ReloadError> {
        // Taken before the files are read, so that what is written meanwhile is read by the next call.
        let before = Stamp::of(self.stamp.lock().paths().cloned());
        let loaded =
            Loaded::read(&self.root, &self.environment).map_err(|error| ReloadError::Files(error.to_string()))?;
        let stamp = loaded.tool_stamp(Some(&self.stamp.lock())).as_of(&before);
        // Before the new state counts, so that a call which finds nothing to reload comes after the warning.
        self.servers.warn_of_changed_entries(&loaded, self.target.as_deref());
        *self.stamp.lock() = stamp;
        let mut batches = loaded.batches.clone();
        let (mut unknown, mut is_partial) = (self.absent.unknown.clone(), false);
        for source in &self.sources {
            match source.tools.list().await {
                Ok(listing) => {
                    // One that was never started has no list.
                    is_partial |= source.tools.is_idle() && listing.tools.is_empty();
                    batches.push(listing.batch(source.tools.contributor()));
                }
                Err(error) if source.tools.is_idle() => unknown.push(error),
                Err(error) => return Err(error.into()),
            }
        }
        batches.extend(self.absent.batches.iter().cloned());
        let scope = scope(&loaded, &self.device, self.target.as_deref(), &self.groups, &self.prefixes);
        let mut registry = Registry::build(generation, &batches, &scope);
        registry.is_partial = is_partial;
        registry.absent = unknown;
        let problems = loaded.problems.iter().cloned().chain(loaded.tool_problems(&registry));
        let errors: Vec<String> =
            problems.filter(|problem| problem.severity == Severity::Error).map(|problem| problem.to_string()).collect();
        match errors.is_empty() {
            true => Ok(registry),
            false => Err(ReloadError::Files(errors.join("\n"))),
        }
    }

    async fn refresh(&self, session: &Session, is_asked: bool) -> Result<(), ReloadError> {
        if !is_asked && !self.servers.is_following() {
            return Ok(());
        }
        let is_outdated = self.stamp.lock().is_outdated();
        let renewed = hot_swap::catch_up(&self.servers, session, (is_outdated, is_asked)).await;
        match session.reload_error() {
            Some(error @ ReloadError::Files(_)) => Err(error),
            // A call of one of its tools says so itself.
            _ if !is_asked => Ok(()),
            _ => Ok(renewed?),
        }
    }
}

/// Reads secrets from the environment: those that were asked for, and those that the headers of servers name.
pub fn secrets(loaded: &Loaded, names: &[String]) -> Result<Arc<Secrets>, SecretError> {
    let read = |name: &String| match loaded.environment.text(name) {
        Some(value) if value.trim().chars().count() < limits::SECRET_CHARS => {
            Err(SecretError::TooShort { name: name.clone() })
        }
        Some(value) if value.chars().count() > limits::LONGEST_SECRET_CHARS => {
            Err(SecretError::TooLong { name: name.clone() })
        }
        Some(value) => Ok((name.clone(), value.to_string())),
        None => Err(SecretError::Unset { name: name.clone() }),
    };
    let mut secrets = names.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    secrets.extend(declared_values(loaded).into_iter().filter(|(name, _)| !names.contains(name)));
    let secrets = Secrets::new(secrets);
    for (name, origins) in loaded.project.secrets.0.iter().filter(|(_, origins)| !origins.is_empty()) {
        secrets.limit(name, origins);
    }
    Ok(Arc::new(secrets))
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown target `{id}`")]
pub struct UnknownTarget {
    pub id: String,
    /// The target that was probably meant.
    pub near: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    #[error("the secret `{name}` is not in the environment")]
    Unset { name: String },
    #[error(
        "the secret `{name}` is shorter than {} characters, so it could not be kept out of the record",
        limits::SECRET_CHARS
    )]
    TooShort { name: String },
    #[error("the secret `{name}` is longer than {} characters", limits::LONGEST_SECRET_CHARS)]
    TooLong { name: String },
}
