//! A tool server as a source of tools: brought to life, spoken to, and taken leave of.

mod calling;
mod renewal;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::join_all;
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use trailblaze_core::config::Context;
use trailblaze_core::engine::cx::Cx;
use trailblaze_core::engine::source::{Listing, SourceError, ToolSource};
use trailblaze_core::engine::tool::{Contributor, Tool};
use trailblaze_core::names::ToolOrigin;
use trailblaze_core::values::secret::Secrets;
use trailblaze_protocol::event::Level;
use trailblaze_protocol::outcome::Outcome;
use trailblaze_supervise::Supervisor;

use crate::cassette::Tape;
use crate::client::{Client, Disagreement};
use crate::connection::{Oddity, Unanswered};
use crate::desk::{Desk, Diary, lock};
use crate::http::Lost;
use crate::limits;
use crate::listing::{RawListing, interpret};
use crate::live::{Held, Live, Obstacle, Reach, Starter};
use crate::restarts::Restarts;
use crate::stderr::Excerpt;
use calling::CallStyle;

pub use renewal::Renewed;

/// A server that is to be started.
pub struct Spec {
    pub name: String,
    pub origin: ToolOrigin,
    pub startup: Duration,
    pub call_idle: Option<Duration>,
    /// The secrets whose values it may have.
    pub may_have: Vec<String>,
    pub context: Option<Context>,
    /// Set when it refuses the argument that carries the context; shared by all sessions of a run.
    pub refuses_context: Arc<AtomicBool>,
    /// The version of the protocol that its entry pins.
    pub protocol: Option<String>,
    pub toolset: Option<String>,
    /// Counts its deaths, if it is to be started again after one.
    pub restarts: Option<Arc<Restarts>>,
    pub base_url: String,
    /// Where its stderr goes.
    pub log: Option<PathBuf>,
    pub secrets: Arc<Secrets>,
    pub diary: Arc<dyn Diary>,
    /// Keeps what it lists and answers, if that is wanted.
    pub tape: Option<Arc<Tape>>,
}

pub struct Server {
    spec: Spec,
    supervisor: Arc<Supervisor>,
    reach: Reach,
    me: Weak<Server>,
    state: watch::Sender<State>,
    desk: Arc<Desk>,
    raw: Mutex<RawListing>,
    /// How each tool is to be called.
    styles: Mutex<HashMap<String, CallStyle>>,
    said: Mutex<HashSet<SaidOnce>>,
    is_deaf: Mutex<bool>,
    /// Held while a session that the server forgot is opened anew.
    reopening: tokio::sync::Mutex<()>,
    /// Held while it is started anew.
    renewing: tokio::sync::Mutex<()>,
    /// Ends the start from files that changed again.
    newest: Mutex<CancellationToken>,
    /// Ends the watch over the life at work.
    watching: Mutex<CancellationToken>,
    /// Lives that another took over from, as they end.
    retiring: Mutex<Vec<JoinHandle<()>>>,
    stopping: CancellationToken,
}

/// What is said of a server once, however often it happens.
#[derive(PartialEq, Eq, Hash)]
enum SaidOnce {
    UnreadableRegistry,
    RefusesContext,
    MentionsContext,
    /// A tool that said that it failed and did not fail.
    SuccessFalse {
        tool: String,
    },
}

#[derive(Clone)]
enum State {
    New,
    Up(Arc<Live>),
    /// It died, and is being started again.
    Coming,
    /// It can carry out no more calls.
    Gone(SourceError),
}

impl Server {
    pub fn new(spec: Spec, reach: Reach, supervisor: Arc<Supervisor>) -> Arc<Server> {
        Arc::new_cyclic(|me| Server {
            desk: Arc::new(Desk::new(spec.name.clone(), Arc::clone(&spec.diary))),
            spec,
            supervisor,
            reach,
            me: Weak::clone(me),
            state: watch::Sender::new(State::New),
            raw: Mutex::default(),
            styles: Mutex::default(),
            said: Mutex::default(),
            is_deaf: Mutex::default(),
            reopening: tokio::sync::Mutex::default(),
            renewing: tokio::sync::Mutex::default(),
            newest: Mutex::default(),
            watching: Mutex::default(),
            retiring: Mutex::default(),
            stopping: CancellationToken::new(),
        })
    }

    /// What it listed last, word for word.
    pub fn raw_listing(&self) -> RawListing {
        lock(&self.raw).clone()
    }

    /// The same, to be written to a file: a server that may have a secret may also list it.
    pub fn redacted_listing(&self) -> RawListing {
        let mut raw = self.raw_listing();
        raw.tools.iter_mut().for_each(|tool| self.spec.secrets.redact_value(tool));
        raw.registry.iter_mut().for_each(|registry| self.spec.secrets.redact_in_place(registry));
        raw
    }

    async fn begin(&self) -> Result<Arc<Live>, SourceError> {
        let Server { spec, supervisor, desk, is_deaf, .. } = self;
        let stderr = Excerpt::default();
        let begun = Starter { spec, supervisor, desk, stderr: &stderr, is_deaf }.begin(&self.reach).await;
        let live = Arc::new(begun.map_err(|obstacle| self.not_started(self.evidence(&obstacle, &stderr)))?);
        let (connection, agreement) = (Arc::clone(&live.connection), live.agreement.clone());
        let stopping = self.stopping.clone();
        // Stays open as long as the connection does.
        tokio::spawn(async move {
            if let Some(listening) = (Client { connection: &connection, agreement: &agreement }).listen() {
                let _ = stopping.run_until_cancelled(listening.answer()).await;
            }
        });
        Ok(live)
    }

    /// The reason, with all that helps to find its cause.
    fn evidence(&self, reason: &dyn std::fmt::Display, stderr: &Excerpt) -> String {
        let mut text = reason.to_string();
        if let Some(noise) = lock(&self.desk.noise).as_deref() {
            text.push_str(&format!("; {}", Oddity::Noise(noise.to_string())));
        }
        let written = stderr.shown();
        if !written.is_empty() {
            text.push_str(&format!("\nits stderr:\n  {}", written.join("\n  ")));
        }
        // A server may repeat what it was sent.
        self.spec.secrets.redact(&text).into_owned()
    }

    fn not_started(&self, evidence: String) -> SourceError {
        SourceError::NotStarted { source_name: self.spec.name.clone(), evidence }
    }

    /// Waits for the end of a server that is at work, makes it known, and starts it again if it is to be. Whoever was
    /// watched before is not any more.
    fn watch(self: &Arc<Self>, mut live: Arc<Live>) {
        // A server that nobody holds any more ends by itself, and nobody wants to know.
        let (server, watching) = (Arc::downgrade(self), self.stopping.child_token());
        std::mem::replace(&mut *lock(&self.watching), watching.clone()).cancel();
        tokio::spawn(async move {
            loop {
                let Some(end) = watching.run_until_cancelled(live.ended()).await else { return };
                let Some(server) = server.upgrade() else { return };
                let evidence = server.evidence(&end, &live.stderr);
                let died = SourceError::Died { source_name: server.spec.name.clone(), evidence };
                let is_at_work = |state: &State| matches!(state, State::Up(up) if Arc::ptr_eq(up, &live));
                // Whoever took over from it speaks of its end.
                if is_at_work(&server.state.borrow()) {
                    server.desk.diary.ended(&server.spec.name, died.to_string());
                }
                let Some(restarts) = server.spec.restarts.as_deref() else {
                    server.turn(is_at_work, State::Gone(died.clone()));
                    live.death.send_replace(Some(died));
                    return;
                };
                // Counted before anybody hears of it, and may end the session over it.
                let pause = restarts.after_death();
                let is_awaited = server.turn(is_at_work, State::Coming);
                live.death.send_replace(Some(died.clone()));
                if !is_awaited {
                    return;
                }
                let is_coming = |state: &State| matches!(state, State::Coming);
                match watching.run_until_cancelled(server.revived(restarts, pause, died)).await {
                    None => return,
                    Some(Err(gone)) => {
                        server.desk.diary.note(&server.spec.name, Level::Warning, Restarts::verdict());
                        server.turn(is_coming, State::Gone(gone));
                        return;
                    }
                    Some(Ok(next)) => live = next,
                }
                server.desk.diary.started(&server.spec.name, &live.agreement.version);
                if !server.turn(is_coming, State::Up(Arc::clone(&live))) {
                    let ended = live.stop().await.unwrap_or_default();
                    server.desk.diary.ended(&server.spec.name, format!("not needed any more; it {ended}"));
                    return;
                }
                // It may be another one by now.
                server.desk.revision.send_modify(|revision| *revision += 1);
                if server.stopping.is_cancelled() {
                    live.stop().await;
                }
            }
        });
    }

    /// Changes the state, unless somebody else did.
    fn turn(&self, is_as_expected: impl FnOnce(&State) -> bool, next: State) -> bool {
        self.state.send_if_modified(|state| {
            let is_as_expected = is_as_expected(state);
            if is_as_expected {
                *state = next;
            }
            is_as_expected
        })
    }

    /// Starts it again, after a pause that grows, until it works or is given up.
    async fn revived(
        &self,
        restarts: &Restarts,
        mut pause: Option<Duration>,
        mut last: SourceError,
    ) -> Result<Arc<Live>, SourceError> {
        while let Some(time) = pause {
            tokio::time::sleep(time).await;
            match self.begin().await {
                Ok(live) => return Ok(live),
                Err(error) => last = error,
            }
            pause = restarts.after_death();
        }
        let evidence = format!("{}; the last time: {}", Restarts::verdict(), last.evidence());
        Err(SourceError::Died { source_name: self.spec.name.clone(), evidence })
    }

    /// The server at work. One that is being started again is waited for, as long as the caller likes.
    async fn live(&self) -> Result<Held, SourceError> {
        // Held while the state is looked at: whoever takes over from it waits for whoever holds it.
        if let State::Up(live) = &*self.state.borrow() {
            return Ok(Held::new(live));
        }
        let mut state = self.state.subscribe();
        // The state lives as long as this server, so that waiting cannot fail.
        let state = state.wait_for(|state| !matches!(state, State::Coming)).await;
        match state.as_deref() {
            Ok(State::Up(live)) => Ok(Held::new(live)),
            Ok(State::Gone(died)) => Err(died.clone()),
            _ => Err(self.not_started("nobody started it".to_string())),
        }
    }

    /// Opens a session anew with a server over http that forgot the one it had, unless somebody did already.
    async fn reopen(&self, forgetful: &Arc<Live>) -> Result<(), SourceError> {
        let _turn = self.reopening.lock().await;
        if matches!(&*self.state.borrow(), State::Up(live) if !Arc::ptr_eq(live, forgetful)) {
            return Ok(());
        }
        // What we start does not forget us: it would have died.
        if forgetful.child.is_some() {
            return Err(self.not_answered(&Lost::SessionGone));
        }
        let live = self.begin().await.map_err(|error| self.not_answered(&error.evidence()))?;
        self.desk.diary.started(&self.spec.name, &live.agreement.version);
        self.state.send_replace(State::Up(live));
        // It may be another one by now.
        self.desk.revision.send_modify(|revision| *revision += 1);
        Ok(())
    }

    fn not_answered(&self, why: &dyn std::fmt::Display) -> SourceError {
        let evidence = self.spec.secrets.redact(&why.to_string()).into_owned();
        SourceError::NotAnswered { source_name: self.spec.name.clone(), evidence }
    }

    async fn read_listing(&self, live: &Live) -> Result<RawListing, Obstacle> {
        let client = Client { connection: &live.connection, agreement: &live.agreement };
        let until = tokio::time::Instant::now() + self.spec.startup;
        let slow = |what| Obstacle::Slow { what, limit: self.spec.startup };
        let tools = tokio::time::timeout_at(until, client.tools()).await.map_err(|_| slow("`tools/list`"))??;
        let registry = tokio::time::timeout_at(until, client.registry()).await;
        let registry = registry.map_err(|_| slow("`resources/read` of its registry"))?.map_err(Disagreement::from)?;
        let registry = registry.unwrap_or_else(|error| {
            let text = format!("its `trailblaze://registry` could not be read, and counts as absent: {error}");
            self.warn_once(SaidOnce::UnreadableRegistry, text);
            None
        });
        Ok(RawListing { tools, registry })
    }

    fn warn_once(&self, about: SaidOnce, text: String) {
        if lock(&self.said).insert(about) {
            self.desk.diary.note(&self.spec.name, Level::Warning, text);
        }
    }

    /// What it means that a call got no answer.
    async fn unanswered(&self, live: &Live, unanswered: &Unanswered) -> SourceError {
        let mut death = live.death.subscribe();
        let patience = match (unanswered, &live.child) {
            (Unanswered::Closed(_), _) => limits::LAST_WORDS * 4,
            // One that we started may be gone, and we not know it yet.
            (_, Some(_)) => limits::LAST_WORDS,
            (_, None) => return self.not_answered(unanswered),
        };
        let known = tokio::time::timeout(patience, death.wait_for(Option::is_some)).await;
        match known.ok().and_then(Result::ok).and_then(|death| death.clone()) {
            Some(died) => died,
            None if matches!(unanswered, Unanswered::Closed(_)) => SourceError::Died {
                source_name: self.spec.name.clone(),
                evidence: self.evidence(unanswered, &live.stderr),
            },
            None => self.not_answered(unanswered),
        }
    }

    fn interpreted(&self, raw: &RawListing) -> Listing {
        let Some(me) = self.me.upgrade() else { return Listing::default() };
        let me: Arc<dyn ToolSource> = me;
        interpret(raw, &self.contributor(), self.spec.toolset.as_deref(), &me)
    }

    /// Keeps what it listed, and how its tools are to be called.
    fn learn(&self, listing: &Listing, raw: RawListing) {
        let name = |raw: &'_ Value| raw.get("name").and_then(Value::as_str).map(str::to_string);
        let listed: HashMap<String, &Value> = raw.tools.iter().filter_map(|raw| Some((name(raw)?, raw))).collect();
        let style = |tool: &Tool| (tool.name.clone(), CallStyle::of(tool, listed.get(&tool.name).copied()));
        let styles = listing.tools.iter().map(style).collect();
        if let Some(tape) = &self.spec.tape {
            tape.listed(&raw, &self.spec.secrets);
        }
        *lock(&self.styles) = styles;
        *lock(&self.raw) = raw;
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
        if !matches!(&*self.state.borrow(), State::New) {
            return Err(self.not_started(Obstacle::Twice.to_string()));
        }
        if self.spec.restarts.as_ref().is_some_and(|restarts| restarts.are_exhausted()) {
            return Err(self.not_started(Restarts::verdict()));
        }
        let live = self.begin().await?;
        self.desk.diary.started(&self.spec.name, &live.agreement.version);
        self.state.send_replace(State::Up(Arc::clone(&live)));
        if let Some(me) = self.me.upgrade() {
            me.watch(live);
        }
        Ok(())
    }

    async fn list(&self) -> Result<Listing, SourceError> {
        // One that was given up is known by what it listed: its tools are there, and say why they cannot be called.
        if !self.is_vital() && self.death().is_some() {
            return Ok(self.interpreted(&self.raw_listing()));
        }
        let mut live = self.live().await?;
        let mut read = self.read_listing(&live).await;
        if matches!(&read, Err(Obstacle::Disagreement(Disagreement::Unanswered(Unanswered::Lost(Lost::SessionGone))))) {
            self.reopen(live.live()).await?;
            live = self.live().await?;
            read = self.read_listing(&live).await;
        }
        let raw = match read {
            Ok(raw) => raw,
            Err(Obstacle::Disagreement(Disagreement::Unanswered(closed @ Unanswered::Closed(_)))) => {
                return Err(self.unanswered(&live, &closed).await);
            }
            Err(obstacle) => {
                let evidence = self.evidence(&obstacle, &live.stderr);
                return Err(SourceError::NotListed { source_name: self.spec.name.clone(), evidence });
            }
        };
        let listing = self.interpreted(&raw);
        // Another one may have taken over, and knows better.
        if matches!(&*self.state.borrow(), State::Up(up) if Arc::ptr_eq(up, live.live())) {
            self.learn(&listing, raw);
        }
        Ok(listing)
    }

    async fn call(&self, cx: &Cx, tool: &str, args: &Map<String, Value>) -> Result<Outcome, SourceError> {
        self.carry_out(cx, tool, args).await
    }

    fn call_idle(&self) -> Option<Duration> {
        self.spec.call_idle
    }

    fn secrets(&self) -> &[String] {
        &self.spec.may_have
    }

    fn death(&self) -> Option<SourceError> {
        match &*self.state.borrow() {
            State::Gone(died) => Some(died.clone()),
            _ => None,
        }
    }

    fn is_vital(&self) -> bool {
        self.spec.restarts.is_none()
    }

    fn revision(&self) -> u64 {
        *self.desk.revision.borrow()
    }

    async fn changes(&self, since: u64) {
        // The desk lives as long as this server, so that waiting cannot fail.
        let _ = self.desk.revision.subscribe().wait_for(|revision| *revision > since).await;
    }

    async fn stop(&self) {
        self.stopping.cancel();
        // Who was about to take over has done so by now, or never will.
        let _turn = self.renewing.lock().await;
        let retiring = std::mem::take(&mut *lock(&self.retiring));
        let at_work = async {
            let State::Up(live) = self.state.borrow().clone() else { return };
            let ended = live.stop().await.unwrap_or_else(|| "taken leave of".to_string());
            self.desk.diary.ended(&self.spec.name, ended);
        };
        tokio::join!(at_work, join_all(retiring));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopping.cancel();
    }
}
