//! A session: one device of a run, with its tools and its event stream.

use std::any::Any;
use std::sync::{Arc, Weak};

use futures::StreamExt;
use futures::future::join_all;
use futures::stream::FuturesUnordered;
use parking_lot::{Mutex, RwLock};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use trailblaze_protocol::event::{Event, Level};
use trailblaze_protocol::ids::{AttemptId, SessionId, StepId};

use crate::driver::Driver;
use crate::engine::attempt_trace::AttemptTrace;
use crate::engine::changes::Changes;
use crate::engine::cx::{Attempt, Cx};
use crate::engine::device::Device;
use crate::engine::invocations::Invocations;
use crate::engine::registry::Registry;
use crate::engine::session_key::SessionKey;
use crate::engine::source::{ReloadError, SourceError, ToolReloader, ToolSource};
use crate::engine::strictness::Strictness;
use crate::limits;
use crate::record::artifacts::{ArtifactStore, PicturePolicy};
use crate::record::events::{EventSink, Redacted};
use crate::record::expected_pictures::ExpectedPictures;
use crate::record::feed::Feed;
use crate::values::secret::Secrets;

/// One device of a run. Top-level calls run one at a time, in the order in which they arrive.
pub struct Session {
    pub id: SessionId,
    key: SessionKey,
    pub device: Device,
    pub secrets: Arc<Secrets>,
    pub pictures: PicturePolicy,
    /// Whether the events must contain what healing needs later.
    pub is_recording: bool,
    pub strictness: Arc<Strictness>,
    /// The absolute path of the project's folder.
    pub home: String,
    pub invocations: Arc<Invocations>,
    registry: RwLock<Arc<Registry>>,
    reloader: Option<Arc<dyn ToolReloader>>,
    sources: Vec<SessionSource>,
    /// The revisions of the sources that the registry was built from.
    revisions: Mutex<Vec<u64>>,
    /// Held while announced changes are loaded. Contains the last message about them.
    catching_up: tokio::sync::Mutex<String>,
    /// Held during a reload, so that an older result never replaces a newer one.
    reloading: tokio::sync::Mutex<()>,
    /// Why the last reload failed.
    reload_error: Mutex<Option<ReloadError>>,
    events: Redacted,
    pub artifacts: Arc<dyn ArtifactStore>,
    pub expected_pictures: Arc<dyn ExpectedPictures>,
    /// The trace of the attempt that runs; `None` if it has none.
    trace: Mutex<Option<Arc<AttemptTrace>>>,
    /// The step that top-level calls from outside are made in; `None` while none are admitted.
    admitted: Mutex<Option<AdmittedStep>>,
    /// Held by the running top-level call. Fair: first come, first served.
    pub(crate) turn: tokio::sync::Mutex<()>,
    /// The tasks that watch the sources for changes, and the device for events.
    followers: Mutex<Vec<AbortOnDropHandle<()>>>,
    /// Held while the session is open.
    claim: Mutex<Option<DeviceClaim>>,
}

/// Keeps others on this machine from using a device, until it is dropped.
pub type DeviceClaim = Box<dyn Any + Send + Sync>;

/// The step that top-level calls from outside are made in.
struct AdmittedStep {
    attempt: Arc<Attempt>,
    step: StepId,
    cancel: CancellationToken,
}

/// The result of a reload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reloaded {
    pub changes: Changes,
    pub total: usize,
}

/// A running source of a session's tools.
#[derive(Clone)]
pub struct SessionSource {
    pub tools: Arc<dyn ToolSource>,
    /// Whether other sessions use it too, so that it outlives this one.
    pub is_shared: bool,
    /// The revision at which its tools were listed.
    pub revision: u64,
}

/// The parts that a session is opened with.
pub struct SessionParts {
    pub id: SessionId,
    pub driver: Arc<dyn Driver>,
    /// The claim to the device, if it is not this session's own.
    pub claim: Option<DeviceClaim>,
    pub registry: Registry,
    /// Where tools are reloaded from; `None` if they cannot be.
    pub reloader: Option<Arc<dyn ToolReloader>>,
    pub sources: Vec<SessionSource>,
    pub events: Arc<dyn EventSink>,
    pub artifacts: Arc<dyn ArtifactStore>,
    pub expected_pictures: Arc<dyn ExpectedPictures>,
    pub secrets: Arc<Secrets>,
    pub invocations: Arc<Invocations>,
    pub pictures: PicturePolicy,
    /// Whether the events must contain what healing needs later, which takes another look for each action.
    pub is_recording: bool,
    pub strictness: Arc<Strictness>,
    /// The absolute path of the project's folder.
    pub home: String,
}

/// Stops the sources that are not shared, concurrently.
pub async fn stop_own(sources: &[SessionSource]) {
    let own = sources.iter().filter(|source| !source.is_shared);
    join_all(own.map(|source| source.tools.stop())).await;
}

impl Session {
    pub fn open(parts: SessionParts) -> Arc<Session> {
        let driver = Arc::clone(&parts.driver);
        let session = Arc::new(Session {
            id: parts.id,
            key: SessionKey::random(),
            device: Device::new(parts.driver, Arc::clone(&parts.secrets)),
            secrets: Arc::clone(&parts.secrets),
            pictures: parts.pictures,
            is_recording: parts.is_recording,
            strictness: parts.strictness,
            home: parts.home,
            claim: Mutex::new(parts.claim),
            invocations: parts.invocations,
            registry: RwLock::new(Arc::new(parts.registry)),
            reloader: parts.reloader,
            revisions: Mutex::new(parts.sources.iter().map(|source| source.revision).collect()),
            sources: parts.sources,
            catching_up: tokio::sync::Mutex::default(),
            reloading: tokio::sync::Mutex::default(),
            reload_error: Mutex::default(),
            events: Redacted::new(parts.events, Arc::clone(&parts.secrets)),
            artifacts: parts.artifacts,
            expected_pictures: parts.expected_pictures,
            trace: Mutex::default(),
            admitted: Mutex::default(),
            turn: tokio::sync::Mutex::new(()),
            followers: Mutex::default(),
        });
        session.invocations.admit(&session);
        let mut followers = Vec::new();
        if driver.events().is_some() {
            let following = tokio::spawn(follow_device(Arc::downgrade(&session), driver));
            followers.push(AbortOnDropHandle::new(following));
        }
        if !session.sources.is_empty() {
            let following = tokio::spawn(follow_sources(Arc::downgrade(&session), session.sources.clone()));
            followers.push(AbortOnDropHandle::new(following));
        }
        *session.followers.lock() = followers;
        session
    }

    /// Stops everything that only this session uses, and emits the event.
    pub async fn close(&self, message: &str) {
        self.invocations.dismiss(&self.key);
        self.followers.lock().clear();
        self.device.emit_events_of_no_call(self);
        tokio::join!(stop_own(&self.sources), self.device.close());
        // What could not be put back.
        self.device.emit_events_of_no_call(self);
        self.claim.lock().take();
        self.emit(Event::SessionClosed { session: self.id.clone(), message: message.to_string() });
    }

    /// The capability to make top-level calls in this session, for the program that opened it.
    pub fn key(&self) -> &SessionKey {
        &self.key
    }

    /// From now on, top-level calls from outside are made in this step. They are cancelled by the token.
    pub fn admit_calls(&self, attempt: &Arc<Attempt>, step: &StepId, cancel: &CancellationToken) {
        let (attempt, step, cancel) = (Arc::clone(attempt), step.clone(), cancel.clone());
        *self.admitted.lock() = Some(AdmittedStep { attempt, step, cancel });
    }

    /// Admits no more calls from outside, and waits for the one that is running, which must be cancelled.
    pub async fn end_calls(&self) {
        self.admitted.lock().take();
        let _ended = tokio::time::timeout(limits::CANCEL_GRACE, self.turn.lock()).await;
    }

    /// Begins to collect the trace of an attempt, if traces are collected.
    pub fn begin_trace(&self, attempt: &AttemptId) {
        *self.trace.lock() = self.device.begin_trace(attempt, &self.artifacts);
    }

    /// The trace of the attempt that runs.
    pub(crate) fn trace(&self) -> Option<Arc<AttemptTrace>> {
        self.trace.lock().clone()
    }

    /// Collects no more, and waits for what is being read.
    pub async fn end_trace(&self) {
        let trace = self.trace.lock().take();
        if let Some(trace) = trace {
            trace.end().await;
            trace.add_exchanges(self.device.exchanges());
        }
    }

    /// The context of a top-level call from outside; `None` if no calls are admitted.
    pub fn top_level(self: &Arc<Self>) -> Option<Cx> {
        let admitted = self.admitted.lock();
        let AdmittedStep { attempt, step, cancel } = admitted.as_ref()?;
        Some(Cx::for_step(self, attempt, step.clone(), cancel.clone()))
    }

    /// The events of the session from now on, or since they were first asked for.
    pub fn feed(&self) -> &Arc<Feed> {
        self.events.feed()
    }

    /// The current registry. A call pins the one it starts with.
    pub fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.registry.read())
    }

    /// The registry to look this tool up in. If the tool is missing, first starts the sources whose tools are not known, and
    /// loads the changes that sources have announced but that are not loaded yet.
    pub async fn registry_with(&self, tool: &str) -> Arc<Registry> {
        let registry = self.registry();
        if registry.get(tool).is_some() {
            return registry;
        }
        join_all(self.sources.iter().map(|source| source.tools.wake())).await;
        if self.announced().is_some() {
            self.catch_up().await;
        }
        // Another task may have caught up in the meantime.
        self.registry()
    }

    /// A source whose tools may have changed since they were loaded.
    fn announced(&self) -> Option<&SessionSource> {
        let seen = self.revisions.lock();
        let mut sources = self.sources.iter().zip(seen.iter());
        sources.find(|(source, seen)| source.tools.revision() > **seen).map(|(source, _)| source)
    }

    /// Reloads if a source has announced changes that are not loaded yet, and emits a note.
    pub async fn catch_up(&self) {
        let mut last = self.catching_up.lock().await;
        let Some(name) = self.announced().map(|source| source.tools.name()) else { return };
        let (level, text) = match self.reload().await {
            Ok(reloaded) => (Level::Info, format!("the tools of server `{name}` changed: {reloaded}")),
            Err(error) => {
                (Level::Warning, format!("the tools of server `{name}` changed but could not be reloaded: {error}"))
            }
        };
        if text != *last {
            self.emit(Event::note(None, level, text.clone()));
            *last = text;
        }
    }

    /// Starts those sources concurrently that are needed and idle, and loads their tools. One that does not start is
    /// unavailable from now on.
    pub async fn start_sources(&self, is_needed: impl Fn(&str) -> bool) {
        let idle = self.sources.iter().filter(|source| source.tools.is_idle() && is_needed(source.tools.name()));
        join_all(idle.map(|source| source.tools.start())).await;
        if self.announced().is_some() {
            self.catch_up().await;
        }
    }

    /// Waits until every source that may have died either has, or has not.
    pub async fn settled(&self) {
        join_all(self.sources.iter().map(|source| source.tools.settled())).await;
    }

    /// Fails if a vital source has died: the session cannot be trusted any more.
    pub fn check_alive(&self) -> Result<(), SourceError> {
        let mut vital = self.sources.iter().filter(|source| source.tools.is_vital());
        vital.find_map(|source| source.tools.death()).map_or(Ok(()), Err)
    }

    /// Loads what changed on disk, if the session follows changes or `is_asked`, so that the next call uses it.
    pub async fn refresh(&self, is_asked: bool) -> Result<(), ReloadError> {
        match &self.reloader {
            Some(reloader) => reloader.refresh(self, is_asked).await,
            None => Ok(()),
        }
    }

    /// Replaces the registry with a newly loaded one. Calls in flight keep the old one.
    pub async fn reload(&self) -> Result<Reloaded, ReloadError> {
        let reloader = self.reloader.as_ref().ok_or(ReloadError::Nothing)?;
        let _turn = self.reloading.lock().await;
        let old = self.registry();
        let revisions = self.sources.iter().map(|source| source.tools.revision()).collect();
        let new = reloader.registry(old.generation + 1).await;
        let seen = || *self.revisions.lock() = revisions;
        *self.reload_error.lock() = new.as_ref().err().cloned();
        let new = match new {
            Ok(new) => new,
            Err(error) => {
                // A failed reload is not retried until a source announces another change.
                seen();
                return Err(error);
            }
        };
        let changes = Changes::between(old.tools().map(AsRef::as_ref), new.tools().map(AsRef::as_ref));
        let reloaded = Reloaded { changes, total: new.len() };
        self.replace_registry(new);
        // Only now, so that a task that sees no announcement finds everything in the registry.
        seen();
        Ok(reloaded)
    }

    /// Why the last reload failed; `None` if the tools are up to date.
    pub fn reload_error(&self) -> Option<ReloadError> {
        self.reload_error.lock().clone()
    }

    pub fn replace_registry(&self, registry: Registry) {
        *self.registry.write() = Arc::new(registry);
    }

    pub fn emit(&self, event: Event) {
        self.events.emit(event);
    }
}

impl std::fmt::Display for Reloaded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Changes { added, removed, changed } = &self.changes;
        let words = |names: &[String]| if names.is_empty() { "none".to_string() } else { names.join(", ") };
        write!(f, "added: {}; removed: {}; ", words(added), words(removed))?;
        if !changed.is_empty() {
            let changed: Vec<String> = changed.iter().map(ToString::to_string).collect();
            write!(f, "changed: {}; ", changed.join(", "))?;
        }
        write!(f, "{} in total", self.total)
    }
}

/// Emits what the device says and does between calls. During a call, the call does.
async fn follow_device(session: Weak<Session>, driver: Arc<dyn Driver>) {
    let Some(events) = driver.events() else { return };
    loop {
        events.any().await;
        let Some(session) = session.upgrade() else { return };
        let _turn = session.turn.lock().await;
        session.device.emit_events_of_no_call(&session);
    }
}

/// Reloads the tools whenever a source announces changes.
async fn follow_sources(session: Weak<Session>, sources: Vec<SessionSource>) {
    let next = |source: SessionSource| async move {
        source.tools.changes(source.revision).await;
        source
    };
    let mut changes: FuturesUnordered<_> = sources.into_iter().map(next).collect();
    while let Some(mut source) = changes.next().await {
        let Some(session) = session.upgrade() else { return };
        source.revision = source.tools.revision();
        session.catch_up().await;
        drop(session);
        // Limits how often a source that never stops changing causes a reload.
        tokio::time::sleep(limits::RELOAD_PAUSE).await;
        changes.push(next(source));
    }
}
