//! Answers the requests of clients in the daemon's own process.

use std::borrow::Borrow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use trailblaze_protocol::exit::Exit;

use super::key_file::Version;
use super::live::{Live, LogConsole, SessionDetails};
use super::projects::{self, Projects, sound};
use super::studio_access::StudioAccess;
use super::table::{Claim, Reserved, SessionTable};
use super::trails;
use crate::project::devices::{DeviceError, DeviceSpec};
use crate::project::loaded::Loaded;
use crate::servers::tool_servers::{Needed, ServerMode};
use crate::sessions::editor_schema;
use crate::sessions::interactive::{self, CommandReply, InteractiveCommand, InteractiveOptions, OpenError, Usage};
use crate::sessions::service::{
    ClientPlace, ClosedSession, DaemonStatus, DeviceInfo, DevicesRequest, OpenRequest, ProgressSink, Ran,
    ReplayRequest, Service, ServiceAnswer, ServiceError, ServiceRequest, SessionChoice, SessionInfo, StudioAddress,
    ToolboxRequest,
};
use crate::sessions::toolbox::{self, Listed};
use crate::sessions::wiring::{self, Wiring, resolve_devices};

/// The daemon's sessions, and what they share.
pub struct LocalService {
    pub(super) projects: Projects,
    log_file: PathBuf,
    pub(super) version: Version,
    pub(super) table: Arc<SessionTable>,
    /// Who may use the studio.
    pub studio_access: Arc<StudioAccess>,
    started: Instant,
    activity: Mutex<Instant>,
    n_requests: AtomicUsize,
    /// Signalled when a client asks the daemon to stop.
    pub stop: Notify,
}

impl LocalService {
    pub fn new(projects: Projects, log_file: PathBuf, version: Version) -> LocalService {
        LocalService {
            projects,
            log_file,
            version,
            table: Arc::default(),
            studio_access: Arc::default(),
            started: Instant::now(),
            activity: Mutex::new(Instant::now()),
            n_requests: AtomicUsize::new(0),
            stop: Notify::new(),
        }
    }

    /// How long nothing was asked and nothing used; `None` while a request is in flight.
    pub fn idle(&self) -> Option<Duration> {
        if self.n_requests.load(Ordering::Relaxed) > 0 {
            return None;
        }
        let own = self.activity.lock().elapsed();
        Some(self.table.all().iter().map(|live| live.idle()).fold(own, Duration::min))
    }

    /// Counts as a request until it is dropped.
    pub(super) fn count(self: &Arc<Self>) -> Counted<Arc<LocalService>> {
        Counted::new(Arc::clone(self))
    }

    /// Whether nothing is open.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// The run folders of the open sessions.
    fn run_folders(&self) -> Vec<PathBuf> {
        self.table.all().iter().map(|live| live.run_folder.clone()).collect()
    }

    /// Ends all sessions. What they recorded stays in their run folders.
    pub async fn close(&self) {
        let all = self.table.all();
        futures::future::join_all(all.iter().map(|live| live.close())).await;
    }

    /// The device that a session is opened on.
    pub(super) async fn device(&self, loaded: &Arc<Loaded>, named: Option<&str>) -> Result<DeviceSpec, ServiceError> {
        let names: Vec<String> = named.map(str::to_string).into_iter().collect();
        let names = resolve_devices(loaded, &self.projects.host, &names).await.map_err(unknown_device)?;
        let mut devices = loaded.devices(&names).map_err(unknown_device)?;
        if devices.len() == 1 {
            return Ok(devices.remove(0));
        }
        let hint = format!("choose one, such as `-d {}`", devices[0].id);
        Err(ServiceError::invalid("a session uses one device").with_hint(hint))
    }

    pub(super) async fn open(
        &self,
        request: OpenRequest,
        progress: &dyn ProgressSink,
    ) -> Result<SessionInfo, ServiceError> {
        let loaded = self.projects.load(&request.client)?;
        sound(&loaded)?;
        let limits = projects::agent_limits(&loaded, &request.secrets, &request.allowed_secrets)?;
        if let Some(name) = request.name.as_deref().filter(|name| !is_session_name(name)) {
            let text = format!("`{name}` is not the name of a session");
            return Err(ServiceError::invalid(text).with_hint("use up to 64 letters, digits, `-`, `_`, `.` and `/`"));
        }
        // A session that is named and open decides about the device.
        let named = request.name.as_deref().filter(|_| request.device.is_none());
        let wanted = named.and_then(|name| self.table.device_of(&loaded.root, name)).or_else(|| request.device.clone());
        let device = self.device(&loaded, wanted.as_deref()).await?;
        let device_id = device.id.to_string();
        let mut took_over = None;
        loop {
            match self.table.claim(&loaded.root, &device_id, &request).await? {
                Claim::Existing(live) | Claim::Taken(live) if request.takes_over => {
                    progress.say(&format!("ending session `{}`, which uses {device_id}", live.name));
                    took_over = Some(self.close_session(&live).await?);
                }
                Claim::Existing(live) => {
                    if let Some(lost) = live.lost() {
                        let hint = "open the device again with `trailblaze device connect --take-over`; the steps stay in \
                                    the run folder";
                        let text = format!("session `{}` is open, but {lost}", live.name);
                        return Err(ServiceError::environment(text).with_hint(hint));
                    }
                    unless_opened_otherwise(&live, &request)?;
                    return Ok(live.info(false));
                }
                Claim::Taken(live) => return Err(taken(&device_id, &live)),
                Claim::New(reserved) => {
                    progress.say(&format!("opening {device_id}"));
                    let info = self.open_new(&loaded, device, request, &limits, reserved).await?;
                    return Ok(SessionInfo { took_over, ..info });
                }
            }
        }
    }

    /// Opens a session for commands.
    async fn open_to_use(&self, request: OpenRequest, progress: &dyn ProgressSink) -> Result<Arc<Live>, ServiceError> {
        let info = self.open(request, progress).await?;
        if info.is_new {
            progress.say(&format!("opened session `{}`; `trailblaze session close` ends it", info.name));
        }
        self.table.find(&SessionChoice { name: Some(info.name), project: Some(info.project), device: None }).await
    }

    async fn open_new(
        &self,
        loaded: &Arc<Loaded>,
        device: DeviceSpec,
        request: OpenRequest,
        limits: &[(String, Vec<String>)],
        reserved: Reserved,
    ) -> Result<SessionInfo, ServiceError> {
        let opened = self.open_reserved(loaded, device, request, limits, &reserved.name).await;
        match opened {
            Ok(live) => {
                tracing::info!(target: "trailblaze::daemon", session = live.name, device = %live.device, "opened");
                reserved.opened(&live);
                Ok(live.info(true))
            }
            Err(error) => {
                reserved.failed(&error);
                Err(error)
            }
        }
    }

    async fn open_reserved(
        &self,
        loaded: &Arc<Loaded>,
        device: DeviceSpec,
        request: OpenRequest,
        limits: &[(String, Vec<String>)],
        name: &str,
    ) -> Result<Arc<Live>, ServiceError> {
        let secrets = wiring::secrets(loaded, &request.secrets);
        let secrets = secrets.map_err(|error| ServiceError::invalid(error.to_string()))?;
        limits.iter().for_each(|(name, origins)| secrets.limit(name, origins));
        self.projects.log.hide(&secrets);
        let logs = match &request.logs {
            Some(logs) => loaded.environment.absolute(logs),
            None => loaded.root.join("logs"),
        };
        let console = Arc::new(LogConsole::new(name));
        console.hide(&secrets);
        let about = SessionDetails {
            name: name.to_string(),
            device: device.id.clone(),
            platform: device.platform.to_string(),
            project: loaded.root.clone(),
            logs: logs.clone(),
            request: request.clone(),
            console: Arc::clone(&console),
        };
        let options = InteractiveOptions {
            usage: Usage::Daemon,
            device,
            is_headed: request.is_headed,
            target: request.target,
            memory: request.memory,
            secrets,
            agent: request.agent,
            cassette: request.cassette,
            sim: request.sim,
            logs,
            current_dir: request.client.current_dir,
            command: request.client.command,
        };
        let mut opened = interactive::open(loaded, &self.projects.host, options, console).await.map_err(not_opened)?;
        self.projects.log.hide(&opened.wiring.secrets);
        about.console.hide(&opened.wiring.secrets);
        if about.request.follows_person
            && let Err(CommandReply::Failed { message, exit }) = opened
                .session
                .follow_person(
                    about.request.asserts_what_appears,
                    about.request.ends_in_window,
                    &CancellationToken::new(),
                )
                .await
        {
            opened.close(exit, false).await;
            return Err(ServiceError::new(exit, message));
        }
        let (loaded, host) = (Arc::clone(loaded), self.projects.host.clone());
        // Detached: a session does not wait for it. Starts no servers, and ends when the file is written.
        tokio::spawn(async move { editor_schema::refresh(&loaded, &host).await });
        Ok(Live::start(opened, about))
    }

    pub(super) async fn close_session(&self, live: &Arc<Live>) -> Result<ClosedSession, ServiceError> {
        let closed = live.close().await;
        self.table.remove(live);
        closed
    }

    pub(super) async fn replay(
        &self,
        request: ReplayRequest,
        progress: &dyn ProgressSink,
        cancel: &CancellationToken,
    ) -> Result<ServiceAnswer, ServiceError> {
        let live = self.table.find(&request.session).await?;
        let stretch = (request.from, request.to);
        match &request.device {
            Some(device) if *device != live.device.as_str() => {
                let text = live.trail(stretch).await?;
                let client = ClientPlace { project: Some(live.project.clone()), ..request.client };
                trails::run_text(&self.projects, &live, &text, device, client, progress, cancel).await
            }
            _ => match live.replay(stretch, cancel).await? {
                CommandReply::Done { text, value } => {
                    Ok(ServiceAnswer::Ran(Ran { exit: Exit::Passed, text, summary: value, report: None }))
                }
                CommandReply::Failed { message, exit } => {
                    Ok(ServiceAnswer::Ran(Ran { exit, text: message, summary: serde_json::Value::Null, report: None }))
                }
            },
        }
    }

    pub(super) async fn devices(&self, request: &DevicesRequest) -> Result<Vec<DeviceInfo>, ServiceError> {
        let loaded = self.projects.load(&request.client)?;
        sound(&loaded)?;
        let wiring = Wiring::new(&loaded, &self.projects.host, None);
        let mut devices = loaded.all_devices().map_err(|error| ServiceError::invalid(error.to_string()))?;
        let open = self.table.all();
        // A session may use a device that the project does not list.
        for name in open.iter().filter(|live| live.project == loaded.root).map(|live| live.device.to_string()) {
            if !devices.iter().any(|device| device.id.as_str() == name) {
                devices.extend(loaded.devices(&[name]).unwrap_or_default());
            }
        }
        if loaded.project.devices.is_empty() {
            let found = wiring.devices.discover().await.into_iter().filter(|found| !found.id.is_simulated());
            let others: Vec<_> = found.filter(|found| !devices.iter().any(|device| device.id == found.id)).collect();
            devices.extend(others);
        }
        let row = |device: &DeviceSpec| {
            let holds = |live: &&Arc<Live>| live.project == loaded.root && live.device == device.id;
            DeviceInfo {
                id: device.id.to_string(),
                platform: device.platform.to_string(),
                driver: device.driver.to_string(),
                summary: device.summary.clone(),
                width: device.size.width,
                height: device.size.height,
                sessions: open.iter().filter(holds).map(|live| live.name.clone()).collect(),
            }
        };
        Ok(devices.iter().map(row).collect())
    }

    async fn toolbox(
        &self,
        request: &ToolboxRequest,
        cancel: &CancellationToken,
    ) -> Result<ServiceAnswer, ServiceError> {
        match self.table.find(&request.session).await {
            Ok(live) => {
                let command = match &request.tool {
                    _ if request.has_schemas => InteractiveCommand::AllTools,
                    Some(tool) => InteractiveCommand::Describe { tool: tool.clone() },
                    None => InteractiveCommand::Tools { search: request.search.clone() },
                };
                match live.execute(vec![command], None, cancel).await?.pop() {
                    Some(CommandReply::Done { text, value }) => Ok(ServiceAnswer::Toolbox(Listed { text, value })),
                    Some(CommandReply::Failed { message, exit }) => Err(ServiceError::new(exit, message)),
                    None => Err(ServiceError::new(Exit::Bug, "no reply")),
                }
            }
            // A list for a client that will name a session later.
            Err(error) if request.session.name.is_none() && (error.is_no_session || request.has_schemas) => {
                let loaded = self.projects.load(&request.client)?;
                sound(&loaded)?;
                let named: Vec<String> = request.session.device.iter().cloned().collect();
                let devices = loaded.devices(&named).map_err(unknown_device)?;
                Ok(ServiceAnswer::Toolbox(self.tools_without_session(&loaded, devices, request).await?))
            }
            Err(error) => Err(error),
        }
    }

    /// The tools that sessions on these devices would have, as far as they are known without starting tool servers.
    async fn tools_without_session(
        &self,
        loaded: &Arc<Loaded>,
        devices: Vec<DeviceSpec>,
        request: &ToolboxRequest,
    ) -> Result<Listed, ServiceError> {
        let mut wiring = Wiring::new(loaded, &self.projects.host, None);
        wiring.servers = wiring.tool_servers(ServerMode::Remember).into();
        let target = wiring.target.clone();
        let mut registries = Vec::new();
        let mut failed = None;
        for device in &devices {
            match wiring.prepare(device, target.as_deref(), |_| Needed::All).await {
                Ok(prepared) => registries.push(prepared.discard().await),
                Err(error) => failed = Some(ServiceError::environment(error.to_string())),
            }
        }
        wiring.close().await;
        if let Some(error) = failed.filter(|_| registries.is_empty()) {
            return Err(error);
        }
        let Some(tool) = request.tool.as_ref().filter(|_| !request.has_schemas) else {
            let listed = registries.iter().map(|registry| match request.has_schemas {
                true => toolbox::all(registry),
                false => toolbox::list(registry, request.search.as_deref()),
            });
            return Ok(listed.fold(Listed::default(), Listed::joined));
        };
        let mut found = registries.iter().map(|registry| toolbox::describe(registry, tool)).collect::<Vec<_>>();
        let first = found.iter().position(Result::is_ok).unwrap_or_default();
        found.swap_remove(first).map_err(|missing| ServiceError::invalid(missing.to_string()))
    }

    async fn status(&self) -> DaemonStatus {
        DaemonStatus {
            version: self.version.0.clone(),
            pid: std::process::id(),
            address: self.projects.host.process.callback.base_url().await.unwrap_or_default(),
            log: self.log_file.clone(),
            age_seconds: self.started.elapsed().as_secs(),
            sessions: self.table.all().iter().map(|live| live.info(false)).collect(),
        }
    }
}

#[async_trait]
impl Service for LocalService {
    async fn request(
        &self,
        request: ServiceRequest,
        progress: &dyn ProgressSink,
        cancel: &CancellationToken,
    ) -> Result<ServiceAnswer, ServiceError> {
        let _counted = Counted::new(self);
        match request {
            ServiceRequest::Open(request) => tokio::select! {
                opened = self.open(*request, progress) => Ok(ServiceAnswer::Session(Box::new(opened?))),
                () = cancel.cancelled() => Err(ServiceError::environment("cancelled")),
            },
            ServiceRequest::Execute(request) => {
                let live = match (self.table.find(&request.session).await, request.opening) {
                    (Err(error), Some(opening)) if error.is_no_session => tokio::select! {
                        opened = self.open_to_use(*opening, progress) => opened?,
                        () = cancel.cancelled() => return Err(ServiceError::environment("cancelled")),
                    },
                    (found, _) => found?,
                };
                let current_dir = request.current_dir.or_else(|| Some(live.request.client.current_dir.clone()));
                let mut said = live.tool_output();
                let executing = live.execute(request.commands, current_dir, cancel);
                tokio::pin!(executing);
                let replies = loop {
                    tokio::select! {
                        biased;
                        Some(text) = said.lines.recv() => progress.tool_output(&text),
                        replies = &mut executing => break replies,
                    }
                };
                while let Ok(text) = said.lines.try_recv() {
                    progress.tool_output(&text);
                }
                progress.tool_output_dropped(said.n_dropped());
                // Also those of this request; what was mended since it was noticed is not among them.
                live.notices().iter().for_each(|notice| progress.say(notice));
                Ok(ServiceAnswer::Replies(replies?))
            }
            ServiceRequest::Sessions => {
                Ok(ServiceAnswer::Sessions(self.table.all().iter().map(|live| live.info(false)).collect()))
            }
            ServiceRequest::Close { session } => {
                let live = self.table.find(&session).await?;
                Ok(ServiceAnswer::Closed(self.close_session(&live).await?))
            }
            ServiceRequest::Replay(request) => self.replay(request, progress, cancel).await,
            ServiceRequest::Access { session } => {
                let live = self.table.find(&session).await?;
                let address = self.projects.host.process.callback.base_url().await;
                let address = address.map_err(|error| ServiceError::environment(error.to_string()))?;
                Ok(ServiceAnswer::Access(live.access(&address)))
            }
            ServiceRequest::Devices(request) => Ok(ServiceAnswer::Devices(self.devices(&request).await?)),
            ServiceRequest::Toolbox(request) => self.toolbox(&request, cancel).await,
            ServiceRequest::Run(request) => trails::run(&self.projects, *request, progress, cancel).await,
            ServiceRequest::Check(request) => trails::check(&self.projects, request).await,
            ServiceRequest::Edit(request) => trails::edit(&self.projects, &request),
            ServiceRequest::Report(request) => trails::report(&self.projects, &self.run_folders(), &request),
            ServiceRequest::Studio(request) => {
                let loaded = self.projects.load(&request.client)?;
                let (workspace, key) = self.studio_access.open(request.client, &loaded.root, request.device);
                let address = self.projects.host.process.callback.base_url().await;
                let address = address.map_err(|error| ServiceError::environment(error.to_string()))?;
                Ok(ServiceAnswer::Studio(StudioAddress { address: format!("{address}/studio/"), workspace, key }))
            }
            ServiceRequest::Status => Ok(ServiceAnswer::Status(self.status().await)),
            ServiceRequest::Stop => {
                self.stop.notify_one();
                Ok(ServiceAnswer::Stopping)
            }
        }
    }
}

/// Counts a request while it is in flight.
pub struct Counted<S: Borrow<LocalService>>(S);

impl<S: Borrow<LocalService>> Counted<S> {
    fn new(service: S) -> Counted<S> {
        service.borrow().n_requests.fetch_add(1, Ordering::Relaxed);
        Counted(service)
    }
}

impl<S: Borrow<LocalService>> Drop for Counted<S> {
    fn drop(&mut self) {
        let service = self.0.borrow();
        *service.activity.lock() = Instant::now();
        service.n_requests.fetch_sub(1, Ordering::Relaxed);
    }
}

fn unknown_device(error: DeviceError) -> ServiceError {
    ServiceError::invalid(error.to_string()).with_hint("`trailblaze device list` lists the devices")
}

/// Names are typed in shells and shown in lists.
fn is_session_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    (1..=64).contains(&name.len()) && name.chars().all(is_plain)
}

fn taken(device: &str, live: &Live) -> ServiceError {
    let info = live.info(false);
    let text = format!(
        "{device} is used by session `{}`, opened by `{}` in `{}`, last used {} ago",
        info.name,
        info.opened_by,
        info.opened_in.display(),
        humantime::format_duration(Duration::from_secs(info.idle_seconds)),
    );
    let hint = format!(
        "use that session (`--session {0}`), end it (`trailblaze session close {0}`), or take the device over with \
         `trailblaze device connect -d {device} --take-over`",
        info.name
    );
    ServiceError::invalid(text).with_hint(hint)
}

/// An open session keeps what it was opened with.
fn unless_opened_otherwise(live: &Live, wanted: &OpenRequest) -> Result<(), ServiceError> {
    let has = &live.request;
    let empty = OpenRequest::default();
    let differs = [
        ("this `--target`", wanted.target != empty.target && wanted.target != live.target),
        ("this `--headed`", wanted.is_headed && !has.is_headed),
        ("recording what is done in its window", wanted.follows_person && !has.follows_person),
        ("this `--memory`", wanted.memory != empty.memory && wanted.memory != has.memory),
        ("this `--secret`", wanted.secrets.iter().any(|name| !has.secrets.contains(name))),
        ("this `--model` or its options", wanted.agent != empty.agent && wanted.agent != has.agent),
        ("this `--cassette`", wanted.cassette.is_some() && wanted.cassette != has.cassette),
        ("this `--sim` or `--seed`", wanted.sim != empty.sim && wanted.sim != has.sim),
        ("this `--logs`", wanted.logs.is_some() && wanted.logs != has.logs),
    ];
    let Some((option, _)) = differs.iter().find(|(_, differs)| *differs) else { return Ok(()) };
    let text = format!("session `{}` is open already, without {option}", live.name);
    let hint = format!("end it first with `trailblaze session close {}`", live.name);
    Err(ServiceError::invalid(text).with_hint(hint))
}

fn not_opened(error: OpenError) -> ServiceError {
    match &error {
        OpenError::Invalid(problems) => {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            ServiceError::invalid(problems.join("\n"))
        }
        OpenError::Target(_) | OpenError::Model(_) | OpenError::Sim(_) => ServiceError::invalid(error.to_string()),
        OpenError::Folder { .. } | OpenError::NotOpened(_) => ServiceError::environment(error.to_string()),
    }
}
