//! A tool server on stdio as a source of tools: started, spoken to, and ended by us.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use trailblaze_core::config::Context;
use trailblaze_core::cx::Cx;
use trailblaze_core::names::Origin;
use trailblaze_core::secret::Secrets;
use trailblaze_core::source::{Listing, SourceError, ToolSource};
use trailblaze_core::tool::Contributor;
use trailblaze_protocol::event::Level;
use trailblaze_protocol::outcome::Outcome;
use trailblaze_supervise::{Child, Launch, Running, Supervisor};

use crate::client::{Agreement, Client, Disagreement, agree};
use crate::connection::{Closed, Connection, Listener, Oddity, Unanswered};
use crate::desk::{Desk, Diary, lock};
use crate::envelope::{Asked, Call, Carrier};
use crate::listing::{RawListing, interpret, refuses_context};
use crate::stderr::{Tail, capture};
use crate::{answer, limits};

/// A server that is to be started.
pub struct Spec {
    pub name: String,
    pub origin: Origin,
    pub startup: Duration,
    pub call_idle: Option<Duration>,
    /// The secrets whose values it may have.
    pub may_have: Vec<String>,
    pub context: Option<Context>,
    /// The version of the protocol that its entry pins.
    pub protocol: Option<String>,
    pub toolset: Option<String>,
    pub base_url: String,
    /// Where its stderr goes.
    pub log: Option<PathBuf>,
    pub secrets: Arc<Secrets>,
    pub diary: Arc<dyn Diary>,
}

pub struct Server {
    spec: Spec,
    supervisor: Arc<Supervisor>,
    /// Until it is started.
    launch: Mutex<Option<Launch>>,
    me: Weak<Server>,
    live: OnceLock<Live>,
    tail: Tail,
    desk: Arc<Desk>,
    raw: Mutex<RawListing>,
    /// How each tool is to be called.
    manners: Mutex<HashMap<String, Manner>>,
    death: watch::Sender<Option<SourceError>>,
    is_stopping: AtomicBool,
}

/// What there is once a server was started.
struct Live {
    child: Child,
    connection: Arc<Connection>,
    agreement: Agreement,
    stderr: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Clone, Copy)]
struct Manner {
    carrier: Carrier,
    is_delegating: bool,
}

impl Server {
    pub fn new(spec: Spec, launch: Launch, supervisor: Arc<Supervisor>) -> Arc<Server> {
        Arc::new_cyclic(|me| Server {
            desk: Arc::new(Desk::new(spec.name.clone(), Arc::clone(&spec.diary))),
            spec,
            supervisor,
            launch: Mutex::new(Some(launch)),
            me: Weak::clone(me),
            live: OnceLock::new(),
            tail: Tail::default(),
            raw: Mutex::default(),
            manners: Mutex::default(),
            death: watch::Sender::new(None),
            is_stopping: AtomicBool::new(false),
        })
    }

    /// What it listed last, word for word.
    pub fn raw_listing(&self) -> RawListing {
        lock(&self.raw).clone()
    }

    async fn begin(&self) -> Result<Live, Obstacle> {
        let launch = lock(&self.launch).take().ok_or(Obstacle::Twice)?;
        let Running { stdin, stdout, stderr, child } = self.supervisor.start(launch).await?;
        let (tail, log, secrets) = (self.tail.clone(), self.spec.log.clone(), Arc::clone(&self.spec.secrets));
        let stderr = tokio::spawn(async move { capture(stderr, tail, log.as_deref(), &secrets).await });
        let connection = Arc::new(Connection::open(stdout, stdin, Arc::clone(&self.desk) as Arc<dyn Listener>));
        let agreed = tokio::time::timeout(self.spec.startup, agree(&connection, self.spec.protocol.as_deref())).await;
        let obstacle = match agreed {
            Ok(Ok(agreement)) => {
                return Ok(Live { child, connection, agreement, stderr: Mutex::new(Some(stderr)) });
            }
            Ok(Err(Disagreement::Unanswered(Unanswered::Closed(closed)))) => self.end_of(&child, closed).await.into(),
            Ok(Err(disagreement)) => Obstacle::Disagreement(disagreement),
            Err(_) => Obstacle::Slow { what: "the opening of the protocol", limit: self.spec.startup },
        };
        child.kill().await;
        let _ = tokio::time::timeout(limits::LAST_WORDS, stderr).await;
        Err(obstacle)
    }

    /// How a server ended whose connection is closed.
    async fn end_of(&self, child: &Child, closed: Closed) -> End {
        // A pipe that closes may tell of an exit; one that broke the protocol is still there.
        if !matches!(closed, Closed::Ended | Closed::ClosedStdin | Closed::Io(_)) {
            return End::Broke(closed);
        }
        match tokio::time::timeout(limits::LAST_WORDS, child.ended()).await {
            Ok(ended) => End::Exited(ended.to_string()),
            Err(_) if closed == Closed::Ended => End::StillRunning,
            Err(_) => End::Broke(closed),
        }
    }

    /// The reason, with all that helps to find its cause.
    fn evidence(&self, reason: &dyn std::fmt::Display) -> String {
        let mut text = reason.to_string();
        if let Some(noise) = lock(&self.desk.noise).as_deref() {
            text.push_str(&format!("; {}", Oddity::Noise(noise.to_string())));
        }
        let last = self.tail.last(12);
        if !last.is_empty() {
            text.push_str(&format!("\nits last words on stderr:\n  {}", last.join("\n  ")));
        }
        text
    }

    /// Waits for the end of a server that is at work, and makes it known.
    fn watch(self: &Arc<Self>) {
        // A server that nobody holds any more ends by itself, and nobody wants to know.
        let server = Arc::downgrade(self);
        let Some(connection) = self.live.get().map(|live| Arc::clone(&live.connection)) else { return };
        tokio::spawn(async move {
            let closed = connection.wait_closed().await;
            let Some(server) = server.upgrade() else { return };
            let Some(live) = server.live.get() else { return };
            if server.is_stopping.load(Ordering::Relaxed) {
                return;
            }
            let end = server.end_of(&live.child, closed).await;
            if !matches!(end, End::Exited(_)) {
                live.child.kill().await;
            }
            server.stderr_ends().await;
            let evidence = server.evidence(&end);
            let died = SourceError::Died { source_name: server.spec.name.clone(), evidence };
            server.desk.diary.ended(&server.spec.name, died.to_string());
            server.death.send_replace(Some(died));
        });
    }

    async fn stderr_ends(&self) {
        let capture = self.live.get().and_then(|live| lock(&live.stderr).take());
        if let Some(capture) = capture {
            let _ = tokio::time::timeout(limits::LAST_WORDS, capture).await;
        }
    }

    fn live(&self) -> Result<&Live, SourceError> {
        self.live.get().ok_or_else(|| SourceError::NotStarted {
            source_name: self.spec.name.clone(),
            evidence: "nobody started it".to_string(),
        })
    }

    fn client(&self) -> Result<Client<'_>, SourceError> {
        let live = self.live()?;
        Ok(Client { connection: &live.connection, agreement: &live.agreement })
    }

    async fn read_listing(&self) -> Result<RawListing, Obstacle> {
        let client = self.client().map_err(|_| Disagreement::from(Unanswered::Closed(Closed::Ended)))?;
        let until = tokio::time::Instant::now() + self.spec.startup;
        let slow = |what| Obstacle::Slow { what, limit: self.spec.startup };
        let tools = tokio::time::timeout_at(until, client.tools()).await.map_err(|_| slow("`tools/list`"))??;
        let registry = tokio::time::timeout_at(until, client.registry()).await;
        let registry = registry.map_err(|_| slow("`resources/read` of its registry"))?.map_err(Disagreement::from)?;
        Ok(RawListing { tools, registry })
    }

    /// What a connection that closed under a call means.
    async fn died(&self, closed: Closed) -> SourceError {
        let mut death = self.death.subscribe();
        let known = tokio::time::timeout(limits::LAST_WORDS * 4, death.wait_for(Option::is_some)).await;
        let known = known.ok().and_then(Result::ok).and_then(|death| death.clone());
        let evidence = || self.evidence(&closed);
        known.unwrap_or_else(|| SourceError::Died { source_name: self.spec.name.clone(), evidence: evidence() })
    }

    fn manner(&self, tool: &str) -> Manner {
        let known = lock(&self.manners).get(tool).copied();
        known.unwrap_or(Manner { carrier: Carrier::Meta, is_delegating: false })
    }
}

#[async_trait]
impl ToolSource for Server {
    fn name(&self) -> &str {
        &self.spec.name
    }

    fn contributor(&self) -> Contributor {
        Contributor { label: Arc::from(format!("server {}", self.spec.name)), origin: self.spec.origin }
    }

    async fn start(&self) -> Result<(), SourceError> {
        let live = self.begin().await.map_err(|obstacle| SourceError::NotStarted {
            source_name: self.spec.name.clone(),
            evidence: self.evidence(&obstacle),
        })?;
        self.desk.diary.started(&self.spec.name, &live.agreement.version);
        let connection = Arc::clone(&live.connection);
        let agreement = live.agreement.clone();
        let _ = self.live.set(live);
        if let Some(me) = self.me.upgrade() {
            me.watch();
        }
        // Stays open as long as the connection does.
        tokio::spawn(async move {
            if let Some(listening) = (Client { connection: &connection, agreement: &agreement }).listen() {
                let _ = listening.answer().await;
            }
        });
        Ok(())
    }

    async fn list(&self) -> Result<Listing, SourceError> {
        let not_listed = |evidence: String| SourceError::NotListed { source_name: self.spec.name.clone(), evidence };
        let raw = match self.read_listing().await {
            Ok(raw) => raw,
            Err(Obstacle::Disagreement(Disagreement::Unanswered(Unanswered::Closed(closed)))) => {
                return Err(self.died(closed).await);
            }
            Err(obstacle) => return Err(not_listed(self.evidence(&obstacle))),
        };
        let Some(me) = self.me.upgrade() else { return Ok(Listing::default()) };
        let me: Arc<dyn ToolSource> = me;
        let listing = interpret(&raw, &self.contributor(), self.spec.toolset.as_deref(), &me);
        let name = |raw: &'_ Value| Some(raw.get("name")?.as_str()?.to_string());
        let strict: HashSet<String> = raw.tools.iter().filter(|raw| refuses_context(raw)).filter_map(name).collect();
        let mut manners = HashMap::new();
        for tool in &listing.tools {
            let carrier = match self.spec.context {
                Some(Context::Both) => Carrier::ArgumentsAndMeta,
                Some(Context::Meta) => Carrier::Meta,
                None if strict.contains(&tool.name) => Carrier::Meta,
                None => Carrier::ArgumentsAndMeta,
            };
            manners.insert(tool.name.clone(), Manner { carrier, is_delegating: tool.is_delegating });
        }
        *lock(&self.manners) = manners;
        *lock(&self.raw) = raw;
        Ok(listing)
    }

    async fn call(&self, cx: &Cx, tool: &str, args: &Map<String, Value>) -> Result<Outcome, SourceError> {
        let client = self.client()?;
        let manner = self.manner(tool);
        let at_desk = self.desk.enter(cx);
        let request = client.call(Call::new(&Asked {
            cx,
            memory: &cx.attempt.memory(),
            tool,
            args,
            carrier: manner.carrier,
            base_url: &self.spec.base_url,
            progress_token: at_desk.token,
        }));
        let mut calling_off =
            CallingOff { connection: client.connection, desk: &self.desk, id: request.id, is_over: false };
        let answer = request.answer();
        tokio::pin!(answer);
        let answered = tokio::select! {
            biased;
            answered = &mut answer => answered,
            () = cx.cancel.cancelled() => {
                // The handler may want to tidy up; whoever cancelled decides how long to wait for it.
                calling_off.tell("cancelled");
                (&mut answer).await
            }
        };
        calling_off.is_over = true;
        match answered {
            Ok(value) => Ok(answer::outcome(value, manner.is_delegating)),
            Err(Unanswered::Refused(error)) => Ok(Outcome::failed(error.message)),
            Err(Unanswered::Closed(closed)) => Err(self.died(closed).await),
        }
    }

    fn call_idle(&self) -> Option<Duration> {
        self.spec.call_idle
    }

    fn secrets(&self) -> &[String] {
        &self.spec.may_have
    }

    fn death(&self) -> Option<SourceError> {
        self.death.borrow().clone()
    }

    fn revision(&self) -> u64 {
        *self.desk.revision.borrow()
    }

    async fn changes(&self, since: u64) {
        // The desk lives as long as this server, so that waiting cannot fail.
        let _ = self.desk.revision.subscribe().wait_for(|revision| *revision > since).await;
    }

    async fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
        let Some(live) = self.live.get() else { return };
        live.connection.hang_up();
        let stopped = live.child.stop().await;
        self.stderr_ends().await;
        if self.death().is_none() {
            self.desk.diary.ended(&self.spec.name, stopped.ended.to_string());
        }
    }
}

/// Tells the server, when a call is given up, that nobody waits for it any more.
struct CallingOff<'a> {
    connection: &'a Connection,
    desk: &'a Desk,
    id: u64,
    is_over: bool,
}

impl CallingOff<'_> {
    fn tell(&mut self, reason: &str) {
        self.is_over = true;
        self.connection.notify("notifications/cancelled", &json!({"requestId": self.id, "reason": reason}));
    }
}

impl Drop for CallingOff<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            if self.connection.has_backlog() {
                let text = "it does not read its stdin, so the call never reached it whole".to_string();
                self.desk.diary.note(&self.desk.server, Level::Warning, text);
            }
            self.tell("the caller gave up");
        }
    }
}

/// What kept a server from starting.
#[derive(Debug, thiserror::Error)]
enum Obstacle {
    #[error("it was started before")]
    Twice,
    #[error("{}", not_started(.0))]
    Start(#[from] trailblaze_supervise::StartError),
    #[error("{}", ended_early(.0))]
    End(#[from] End),
    #[error(transparent)]
    Disagreement(#[from] Disagreement),
    #[error(
        "it did not answer {what} within {}; `startupTimeout:` of its entry allows more",
        humantime::format_duration(*limit)
    )]
    Slow { what: &'static str, limit: Duration },
}

fn not_started(error: &trailblaze_supervise::StartError) -> String {
    match error {
        trailblaze_supervise::StartError::NotFound { program } if !program.contains('/') => format!("{error} on PATH"),
        error => error.to_string(),
    }
}

fn ended_early(end: &End) -> String {
    match end {
        End::Exited(_) => format!("{end} before it answered"),
        end => end.to_string(),
    }
}

/// How a server came to its end.
#[derive(Debug, thiserror::Error)]
enum End {
    #[error("it {0}")]
    Exited(String),
    #[error("it closed its stdout but went on running, and was ended")]
    StillRunning,
    #[error("{0}; it was ended")]
    Broke(Closed),
}
