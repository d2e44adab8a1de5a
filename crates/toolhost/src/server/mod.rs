//! A tool server as a source of tools, across all of its instances: started, called, restarted, replaced and stopped.
//!
//! The state is one `watch` channel ([`ServerState`]); every transition goes through `send_replace` or
//! [`ToolServer::transition`], and callers that find the server restarting wait on the channel. Locks are held only for the
//! length of a statement, except `reopening` and `renewing`, which let one task at a time reopen or replace the
//! instance.

mod calling;
mod hanging;
mod renewal;
mod rounds;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::join_all;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use trailblaze_core::config::ContextDelivery;
use trailblaze_core::engine::cx::Cx;
use trailblaze_core::engine::source::{Listing, Silence, SourceError, ToolSource};
use trailblaze_core::engine::tool::{Contributor, Tool};
use trailblaze_core::values::secret::Secrets;
use trailblaze_protocol::event::Level;
use trailblaze_protocol::outcome::Outcome;
use trailblaze_supervise::Supervisor;

use crate::cassette::Tape;
use crate::client::{HandshakeError, McpClient};
use crate::connection::{Oddity, RequestError};
use crate::death::Death;
use crate::http::HttpError;
use crate::instance::{End, InUse, Instance, InstanceStarter, InstanceTransport, SetupError};
use crate::limits;
use crate::listing::{RawListing, interpret};
use crate::notification_router::{NotificationRouter, ServerEvents};
use crate::restarts::Restarts;
use crate::spin_wait::SpinTurn;
use crate::stderr::{Excerpt, ServerLog};
use calling::CallStyle;

pub use renewal::Renewed;

/// How to start and call a server, and where to report its events.
pub struct Spec {
    pub name: String,
    pub contributor: Contributor,
    pub startup: Duration,
    pub call_idle: Option<Duration>,
    /// The secrets whose values may be sent to it.
    pub may_have: Vec<String>,
    pub context: Option<ContextDelivery>,
    /// Set once it refuses the argument that carries the context; shared by all sessions of a run.
    pub refuses_context: Arc<AtomicBool>,
    /// The protocol version that its entry pins.
    pub protocol: Option<String>,
    pub toolset: Option<String>,
    /// Whether its tools may ask a model.
    pub may_sample: bool,
    pub on_death: OnDeath,
    pub hint: StartHint,
    pub base_url: String,
    /// What its stderr is written to.
    pub log: Arc<ServerLog>,
    pub secrets: Arc<Secrets>,
    pub events: Arc<dyn ServerEvents>,
    /// Records its listings and answers, when a cassette is being recorded.
    pub tape: Option<Arc<Tape>>,
    /// Shared by all connections of the process.
    pub spin_turn: Arc<SpinTurn>,
}

/// Whether a line of a stack trace is about the inside of Node, which tells an author nothing.
fn is_frame_of_node(line: &str) -> bool {
    let line = line.trim_start();
    let place = line.strip_prefix("at ").map(|frame| frame.rsplit_once('(').map_or(frame, |(_, place)| place));
    place.is_some_and(|place| place.trim_start_matches("async ").starts_with("node:internal/"))
}

/// What to do about a server that did not start, judging by what it printed.
pub type StartHint = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What happens when a server dies. The restarts are counted, because there is a limit.
#[derive(Clone)]
pub enum OnDeath {
    /// Its session ends, because its tools may have been interrupted halfway.
    EndSession,
    /// It is restarted, and calls wait for that.
    Restart(Arc<Restarts>),
    /// The next call of one of its tools restarts it, because its caller has seen what failed.
    RestartForNextCall(Arc<Restarts>),
}

pub struct ToolServer {
    spec: Spec,
    supervisor: Arc<Supervisor>,
    transport: InstanceTransport,
    me: Weak<ToolServer>,
    state: watch::Sender<ServerState>,
    router: Arc<NotificationRouter>,
    raw: Mutex<RawListing>,
    /// How to call each tool, by name.
    styles: Mutex<HashMap<String, CallStyle>>,
    warned: Mutex<HashSet<WarnedOnce>>,
    ignores_port: Mutex<bool>,
    /// Held while a lost HTTP session is reopened.
    reopening: tokio::sync::Mutex<()>,
    /// Held while a new instance is started because files changed.
    renewing: tokio::sync::Mutex<()>,
    /// Cancels the previous [`ToolServer::renew`] when files change again.
    latest_renewal: Mutex<CancellationToken>,
    /// How many renewals are under way.
    n_renewals: watch::Sender<usize>,
    /// What was found out about calls that were given up, by tool.
    silences: Mutex<HashMap<String, Silence>>,
    /// Why the last renewal failed: the instance at work is from older files.
    outdated: Mutex<Option<SourceError>>,
    /// Cancels the task that watches the current instance.
    watching: Mutex<CancellationToken>,
    /// Tasks that wait for replaced instances to finish their calls and stop.
    retiring: Mutex<Vec<JoinHandle<()>>>,
    stopping: CancellationToken,
}

/// Warnings that are given once per server.
#[derive(PartialEq, Eq, Hash)]
enum WarnedOnce {
    UnreadableRegistry,
    RefusesContext,
    MentionsContext,
    /// A tool that reported `success: false` in a call that passed.
    SuccessFalse {
        tool: String,
    },
}

#[derive(Clone)]
enum ServerState {
    New,
    Up(Arc<Instance>),
    /// It died and is being restarted.
    Restarting,
    /// It takes no more calls.
    Dead(SourceError),
}

impl ToolServer {
    pub fn new(spec: Spec, transport: InstanceTransport, supervisor: Arc<Supervisor>) -> Arc<ToolServer> {
        Arc::new_cyclic(|me| ToolServer {
            router: Arc::new(NotificationRouter::new(spec.name.clone(), Arc::clone(&spec.events), spec.may_sample)),
            spec,
            supervisor,
            transport,
            me: Weak::clone(me),
            state: watch::Sender::new(ServerState::New),
            raw: Mutex::default(),
            styles: Mutex::default(),
            warned: Mutex::default(),
            ignores_port: Mutex::default(),
            reopening: tokio::sync::Mutex::default(),
            renewing: tokio::sync::Mutex::default(),
            latest_renewal: Mutex::default(),
            n_renewals: watch::Sender::new(0),
            silences: Mutex::default(),
            outdated: Mutex::default(),
            watching: Mutex::default(),
            retiring: Mutex::default(),
            stopping: CancellationToken::new(),
        })
    }

    /// Reports the running instance as started, to another record than before.
    pub fn announce(&self) {
        if let ServerState::Up(instance) = &*self.state.borrow() {
            self.router.events.started(&self.spec.name, &instance.handshake.version);
        }
    }

    /// The last listing.
    pub fn raw_listing(&self) -> RawListing {
        self.raw.lock().clone()
    }

    async fn start_instance(&self) -> Result<Arc<Instance>, SourceError> {
        tracing::info!(target: "trailblaze::server", server = self.spec.name, "starting");
        let ToolServer { spec, supervisor, router, ignores_port, .. } = self;
        router.begin_instance();
        let stderr = Excerpt::default();
        let begun =
            InstanceStarter { spec, supervisor, router, stderr: &stderr, ignores_port }.begin(&self.transport).await;
        let mut instance = begun.map_err(|error| self.not_started(self.evidence(&error, &stderr)))?;
        let (connection, handshake) = (Arc::clone(&instance.connection), instance.handshake.clone());
        let stopping = self.stopping.clone();
        // The request stays open for as long as the connection does.
        let listening = tokio::spawn(async move {
            if let Some(listening) = (McpClient { connection: &connection, handshake: &handshake }).listen() {
                let _ = stopping.run_until_cancelled(listening.answer()).await;
            }
        });
        instance.listening = Some(AbortOnDropHandle::new(listening));
        Ok(Arc::new(instance))
    }

    /// The reason, followed by everything that helps to find its cause: noise on stdout and the last lines of stderr.
    fn evidence(&self, reason: &dyn std::fmt::Display, stderr: &Excerpt) -> String {
        // A server may repeat secrets that it was sent.
        format!("{}{}", self.spec.secrets.redact(&reason.to_string()), self.details(stderr))
    }

    fn details(&self, stderr: &Excerpt) -> String {
        let mut text = String::new();
        if let Some(noise) = self.router.noise.lock().as_deref() {
            text.push_str(&format!("; {}", Oddity::Noise(noise.to_string())));
        }
        let written: Vec<_> = stderr.shown().into_iter().filter(|line| !is_frame_of_node(line)).collect();
        if !written.is_empty() {
            text.push_str(&format!("\nits stderr:\n  {}", written.join("\n  ")));
        }
        self.spec.secrets.redact(&text).into_owned()
    }

    /// How an instance has ended.
    fn death_of(&self, instance: &Instance, end: &End) -> Death {
        Death {
            server: self.spec.name.clone(),
            reason: self.spec.secrets.redact(&end.to_string()).into_owned(),
            is_exit: matches!(end, End::Exited(_)),
            details: self.details(&instance.stderr),
        }
    }

    fn not_started(&self, mut evidence: String) -> SourceError {
        if let Some(hint) = (self.spec.hint)(&evidence) {
            evidence.push_str(&format!("\nhint: {hint}"));
        }
        SourceError::NotStarted { source_name: self.spec.name.clone(), evidence }
    }

    /// Waits for the instance to end, reports that, and restarts it if the server is configured to be restarted.
    /// Replaces the previous watch.
    fn watch(self: &Arc<Self>, mut instance: Arc<Instance>) {
        // Once the last handle is dropped, the server is stopped and its end is not reported.
        let (server, watching) = (Arc::downgrade(self), self.stopping.child_token());
        std::mem::replace(&mut *self.watching.lock(), watching.clone()).cancel();
        // Detached: may have an instance to stop. Ends when `watching` is cancelled, or the last instance has ended.
        tokio::spawn(async move {
            loop {
                let Some(end) = watching.run_until_cancelled(instance.ended()).await else { return };
                // It may have been stopped, and have ended, before this task ran again.
                if watching.is_cancelled() {
                    return;
                }
                let Some(server) = server.upgrade() else { return };
                let death = server.death_of(&instance, &end);
                let died = death.error();
                let is_at_work =
                    |state: &ServerState| matches!(state, ServerState::Up(up) if Arc::ptr_eq(up, &instance));
                // If the instance was replaced, `retire` reports its end.
                if is_at_work(&server.state.borrow()) {
                    server.router.events.ended(&server.spec.name, died.to_string());
                }
                let OnDeath::Restart(restarts) = &server.spec.on_death else {
                    server.transition(is_at_work, ServerState::Dead(died));
                    instance.death.send_replace(Some(death));
                    return;
                };
                // Counted before the death is visible, because a session that sees it may check the count.
                let pause = restarts.after_death();
                let is_awaited = server.transition(is_at_work, ServerState::Restarting);
                instance.death.send_replace(Some(death));
                if !is_awaited {
                    return;
                }
                let is_restarting = |state: &ServerState| matches!(state, ServerState::Restarting);
                match watching.run_until_cancelled(server.restart(restarts, pause, died)).await {
                    None => return,
                    Some(Err(gone)) => {
                        server.router.events.note(&server.spec.name, Level::Warning, Restarts::verdict());
                        server.transition(is_restarting, ServerState::Dead(gone));
                        return;
                    }
                    Some(Ok(next)) => instance = next,
                }
                server.router.events.started(&server.spec.name, &instance.handshake.version);
                if !server.transition(is_restarting, ServerState::Up(Arc::clone(&instance))) {
                    let ended = instance.stop().await.unwrap_or_default();
                    server.router.events.ended(&server.spec.name, format!("no longer needed; it {ended}"));
                    return;
                }
                // The new instance may list different tools.
                server.router.revision.send_modify(|revision| *revision += 1);
                if server.stopping.is_cancelled() {
                    instance.stop().await;
                }
            }
        });
    }

    /// Moves to the next state if the current state is the expected one. Returns whether it did.
    fn transition(&self, is_as_expected: impl FnOnce(&ServerState) -> bool, next: ServerState) -> bool {
        self.state.send_if_modified(|state| {
            let is_as_expected = is_as_expected(state);
            if is_as_expected {
                *state = next;
            }
            is_as_expected
        })
    }

    /// Restarts the server, with growing pauses, until it starts or the limit is reached.
    async fn restart(
        &self,
        restarts: &Restarts,
        mut pause: Option<Duration>,
        mut last: SourceError,
    ) -> Result<Arc<Instance>, SourceError> {
        while let Some(time) = pause {
            tokio::time::sleep(time).await;
            match self.start_instance().await {
                Ok(instance) => return Ok(instance),
                Err(error) => last = error,
            }
            pause = restarts.after_death();
        }
        let evidence = format!("{}; last error: {}", Restarts::verdict(), last.evidence());
        Err(SourceError::Died { source_name: self.spec.name.clone(), evidence })
    }

    /// The running instance. Waits while the server is restarting; the caller bounds the wait.
    async fn instance(&self) -> Result<InUse, SourceError> {
        self.checked().await;
        // Marked as in use while the state is borrowed, so that a replacement waits for this call.
        if let ServerState::Up(instance) = &*self.state.borrow() {
            return Ok(InUse::new(instance));
        }
        let mut state = self.state.subscribe();
        // Cannot fail: the sender lives as long as `self`.
        let state = state.wait_for(|state| !matches!(state, ServerState::Restarting)).await;
        match state.as_deref() {
            Ok(ServerState::Up(instance)) => Ok(InUse::new(instance)),
            Ok(ServerState::Dead(died)) => Err(died.clone()),
            _ => Err(self.not_started("it was never started".to_string())),
        }
    }

    /// Opens a new HTTP session with a server that lost ours, unless another call already has.
    async fn reopen(&self, forgotten: &Arc<Instance>) -> Result<(), SourceError> {
        let _turn = self.reopening.lock().await;
        if matches!(&*self.state.borrow(), ServerState::Up(instance) if !Arc::ptr_eq(instance, forgotten)) {
            return Ok(());
        }
        // A server that we started loses a session only by dying.
        if forgotten.child.is_some() {
            return Err(self.not_answered(&HttpError::SessionGone));
        }
        let instance = self.start_instance().await.map_err(|error| self.not_answered(&error.evidence()))?;
        self.router.events.started(&self.spec.name, &instance.handshake.version);
        self.state.send_replace(ServerState::Up(instance));
        // The new session may list different tools.
        self.router.revision.send_modify(|revision| *revision += 1);
        Ok(())
    }

    fn not_answered(&self, why: &dyn std::fmt::Display) -> SourceError {
        let evidence = self.spec.secrets.redact(&why.to_string()).into_owned();
        SourceError::NotAnswered { source_name: self.spec.name.clone(), evidence }
    }

    async fn read_listing(&self, instance: &Instance) -> Result<RawListing, SetupError> {
        let client = McpClient { connection: &instance.connection, handshake: &instance.handshake };
        let until = tokio::time::Instant::now() + self.spec.startup;
        let slow = |what| SetupError::Slow { what, limit: self.spec.startup };
        let tools = tokio::time::timeout_at(until, client.tools()).await.map_err(|_| slow("`tools/list`"))??;
        let registry = tokio::time::timeout_at(until, client.registry()).await;
        let registry = registry.map_err(|_| slow("`resources/read` of its registry"))?.map_err(HandshakeError::from)?;
        let registry = registry.unwrap_or_else(|error| {
            let text = format!("its `trailblaze://registry` could not be read and is ignored: {error}");
            self.warn_once(WarnedOnce::UnreadableRegistry, text);
            None
        });
        let mut raw = RawListing { tools, registry };
        raw.redact(&self.spec.secrets);
        Ok(raw)
    }

    fn warn_once(&self, about: WarnedOnce, text: String) {
        if self.warned.lock().insert(about) {
            self.router.events.note(&self.spec.name, Level::Warning, text);
        }
    }

    /// Turns a request error into a source error: a server that turns out to be dead is reported as dead, by what `told` makes of it.
    async fn explain(
        &self,
        instance: &Instance,
        error: &RequestError,
        told: impl FnOnce(&Death) -> SourceError,
    ) -> SourceError {
        let mut death = instance.death.subscribe();
        let patience = match (error, &instance.child) {
            (RequestError::Closed(_), _) => limits::END_GRACE * 4,
            // A process that we started may have exited without our having noticed yet.
            (_, Some(_)) => limits::END_GRACE,
            (_, None) => return self.not_answered(error),
        };
        let known = tokio::time::timeout(patience, death.wait_for(Option::is_some)).await;
        match known.ok().and_then(Result::ok).and_then(|death| death.clone()) {
            Some(death) => told(&death),
            None if matches!(error, RequestError::Closed(_)) => SourceError::Died {
                source_name: self.spec.name.clone(),
                evidence: self.evidence(error, &instance.stderr),
            },
            None => self.not_answered(error),
        }
    }

    fn interpreted(&self, raw: &RawListing) -> Listing {
        let Some(me) = self.me.upgrade() else { return Listing::default() };
        let me: Arc<dyn ToolSource> = me;
        interpret(raw, &self.contributor(), self.spec.toolset.as_deref(), &me)
    }

    /// Keeps a listing, and how each of its tools is called.
    fn keep_listing(&self, listing: &Listing, raw: RawListing) {
        let name = |raw: &'_ Value| raw.get("name").and_then(Value::as_str).map(str::to_string);
        let listed: HashMap<String, &Value> = raw.tools.iter().filter_map(|raw| Some((name(raw)?, raw))).collect();
        let style = |tool: &Tool| (tool.name.clone(), CallStyle::of(tool, listed.get(&tool.name).copied()));
        let styles = listing.tools.iter().map(style).collect();
        if let Some(tape) = &self.spec.tape {
            tape.listed(&raw);
        }
        *self.styles.lock() = styles;
        *self.raw.lock() = raw;
    }
}

#[async_trait]
impl ToolSource for ToolServer {
    fn name(&self) -> &str {
        &self.spec.name
    }

    fn contributor(&self) -> Contributor {
        self.spec.contributor.clone()
    }

    async fn start(&self) -> Result<(), SourceError> {
        if !matches!(&*self.state.borrow(), ServerState::New) {
            return Err(self.not_started(SetupError::Twice.to_string()));
        }
        if matches!(&self.spec.on_death, OnDeath::Restart(restarts) if restarts.are_exhausted()) {
            return Err(self.not_started(Restarts::verdict()));
        }
        let instance = self.start_instance().await?;
        self.router.events.started(&self.spec.name, &instance.handshake.version);
        self.state.send_replace(ServerState::Up(Arc::clone(&instance)));
        if let Some(me) = self.me.upgrade() {
            me.watch(instance);
        }
        Ok(())
    }

    async fn list(&self) -> Result<Listing, SourceError> {
        // A server that is not restarted any more keeps its listing; its tools report why they cannot be called.
        if !self.is_vital() && self.death().is_some() {
            return Ok(self.interpreted(&self.raw_listing()));
        }
        let mut instance = self.instance().await?;
        let mut read = self.read_listing(&instance).await;
        if matches!(
            &read,
            Err(SetupError::Handshake(HandshakeError::Request(RequestError::Http(HttpError::SessionGone))))
        ) {
            self.reopen(instance.instance()).await?;
            instance = self.instance().await?;
            read = self.read_listing(&instance).await;
        }
        let raw = match read {
            Ok(raw) => raw,
            Err(SetupError::Handshake(HandshakeError::Request(closed @ RequestError::Closed(_)))) => {
                return Err(self.explain(&instance, &closed, Death::error).await);
            }
            Err(error) => {
                let evidence = self.evidence(&error, &instance.stderr);
                return Err(SourceError::NotListed { source_name: self.spec.name.clone(), evidence });
            }
        };
        let listing = self.interpreted(&raw);
        // If the instance was replaced meanwhile, the newer listing counts.
        if matches!(&*self.state.borrow(), ServerState::Up(up) if Arc::ptr_eq(up, instance.instance())) {
            self.keep_listing(&listing, raw);
        }
        Ok(listing)
    }

    async fn call(&self, cx: &Cx, tool: &str, args: &Map<String, Value>) -> Result<Outcome, SourceError> {
        self.make_call(cx, tool, args).await
    }

    fn call_idle(&self) -> Option<Duration> {
        self.spec.call_idle
    }

    fn secrets(&self) -> &[String] {
        &self.spec.may_have
    }

    fn may_sample(&self) -> bool {
        self.spec.may_sample
    }

    async fn settled(&self) {
        self.checked().await;
    }

    fn silence(&self, tool: &str) -> Silence {
        self.silences.lock().remove(tool).unwrap_or(Silence::Unknown)
    }

    fn death(&self) -> Option<SourceError> {
        match &*self.state.borrow() {
            ServerState::Dead(died) => Some(died.clone()),
            _ => None,
        }
    }

    fn is_vital(&self) -> bool {
        matches!(self.spec.on_death, OnDeath::EndSession)
    }

    fn revision(&self) -> u64 {
        *self.router.revision.borrow()
    }

    async fn changes(&self, since: u64) {
        // Cannot fail: the sender lives as long as `self`.
        let _ = self.router.revision.subscribe().wait_for(|revision| *revision > since).await;
    }

    async fn stop(&self) {
        self.stopping.cancel();
        // A renewal in progress has either finished or been cancelled once this lock is taken.
        let _turn = self.renewing.lock().await;
        let retiring = std::mem::take(&mut *self.retiring.lock());
        let at_work = async {
            let ServerState::Up(instance) = self.state.borrow().clone() else { return };
            let ended = instance.stop().await.unwrap_or_else(|| "disconnected".to_string());
            self.router.events.ended(&self.spec.name, ended);
        };
        tokio::join!(at_work, join_all(retiring));
    }
}

impl Drop for ToolServer {
    fn drop(&mut self) {
        self.stopping.cancel();
    }
}
