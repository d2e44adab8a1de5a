//! A tool server that is started by the first call that needs it. Until then, its tools are those that it listed when last
//! started.

use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio::sync::{OnceCell, watch};
use trailblaze_core::engine::cx::Cx;
use trailblaze_core::engine::source::{Listing, SourceError, ToolSource};
use trailblaze_core::engine::tool::Contributor;
use trailblaze_core::yaml::Millis;
use trailblaze_protocol::outcome::Outcome;
use trailblaze_toolhost::limits;
use trailblaze_toolhost::listing::{RawListing, interpret};
use trailblaze_toolhost::server::{OnDeath, ToolServer};

use crate::servers::entries::Named;

/// Starts the server and lists its tools.
pub(crate) type ServerStarter =
    Box<dyn Fn() -> BoxFuture<'static, Result<(Arc<ToolServer>, FirstListing), SourceError>> + Send + Sync>;

/// Ends the server with its session.
pub(crate) type Ender = Box<dyn Fn(Arc<ToolServer>) -> BoxFuture<'static, ()> + Send + Sync>;

/// What a server listed when it was started, at this revision. It is not asked again for the same list.
pub(crate) type FirstListing = (u64, Listing);

pub(crate) struct OnDemand {
    pub named: Named,
    /// The tools that it listed when last started; `None` if it never was.
    remembered: Option<RawListing>,
    on_death: OnDeath,
    starter: ServerStarter,
    ender: Ender,
    server: OnceCell<Arc<ToolServer>>,
    first: Mutex<Option<FirstListing>>,
    phase: watch::Sender<Phase>,
    me: Weak<OnDemand>,
}

#[derive(Debug, Clone, PartialEq)]
enum Phase {
    Idle,
    /// It runs, and listed what is remembered.
    AsRemembered,
    /// It runs, and listed other tools.
    Different,
    Failed(SourceError),
}

impl OnDemand {
    pub fn new(
        named: Named,
        remembered: Option<RawListing>,
        on_death: OnDeath,
        (starter, ender): (ServerStarter, Ender),
    ) -> Arc<OnDemand> {
        let (server, phase) = (OnceCell::new(), watch::Sender::new(Phase::Idle));
        let first = Mutex::default();
        Arc::new_cyclic(|me| {
            let me = Weak::clone(me);
            OnDemand { named, remembered, on_death, starter, ender, server, first, phase, me }
        })
    }

    /// Whether nothing is known about its tools until it is started.
    pub fn is_unknown(&self) -> bool {
        self.remembered.is_none()
    }

    /// The running server, which is started if it is not running.
    pub async fn running(&self) -> Result<&Arc<ToolServer>, SourceError> {
        let start = || async {
            let (server, first) = (self.starter)().await?;
            *self.first.lock() = Some(first);
            Ok(server)
        };
        let started: Result<_, SourceError> = self.server.get_or_try_init(start).await;
        self.phase.send_if_modified(|phase| {
            let next = match (&*phase, &started) {
                (Phase::Idle, Err(error)) => Phase::Failed(error.clone()),
                (Phase::Idle, Ok(server)) if Some(server.raw_listing()) == self.remembered => Phase::AsRemembered,
                (Phase::Idle | Phase::Failed(_), Ok(_)) => Phase::Different,
                _ => return false,
            };
            *phase = next;
            true
        });
        started
    }

    /// The same for a call, whose time does not begin before the server is running. The start has a limit of its own.
    async fn running_for(&self, cx: &Cx) -> Result<&Arc<ToolServer>, SourceError> {
        let running = self.running();
        tokio::pin!(running);
        loop {
            tokio::select! {
                biased;
                running = &mut running => return running,
                () = tokio::time::sleep(limits::CALL_RENEWAL) => cx.renew(),
            }
        }
    }

    /// How often its tools may have changed because it was started.
    fn own_revision(&self) -> u64 {
        match &*self.phase.borrow() {
            Phase::Idle | Phase::AsRemembered => 0,
            Phase::Failed(_) => 1,
            Phase::Different => 2,
        }
    }
}

#[async_trait]
impl ToolSource for OnDemand {
    fn name(&self) -> &str {
        &self.named.name
    }

    fn contributor(&self) -> Contributor {
        self.named.contributor()
    }

    async fn start(&self) -> Result<(), SourceError> {
        self.running().await.map(drop)
    }

    async fn list(&self) -> Result<Listing, SourceError> {
        if let Some(server) = self.server.get() {
            let first = self.first.lock().take();
            return match first {
                Some((revision, listing)) if revision == server.revision() => Ok(listing),
                _ => server.list().await,
            };
        }
        let (Some(raw), Some(me)) = (&self.remembered, self.me.upgrade()) else {
            return match &*self.phase.borrow() {
                Phase::Failed(error) => Err(error.clone()),
                _ => Ok(Listing::default()),
            };
        };
        let me: Arc<dyn ToolSource> = me;
        Ok(interpret(raw, &self.contributor(), self.named.entry.toolset.as_deref(), &me))
    }

    async fn call(&self, cx: &Cx, tool: &str, args: &Map<String, Value>) -> Result<Outcome, SourceError> {
        self.running_for(cx).await?.call(cx, tool, args).await
    }

    fn call_idle(&self) -> Option<Duration> {
        self.named.entry.call_timeout.map(Millis::duration)
    }

    fn secrets(&self) -> &[String] {
        &self.named.entry.secrets
    }

    fn may_sample(&self) -> bool {
        self.named.entry.sampling
    }

    async fn settled(&self) {
        if let Some(server) = self.server.get() {
            server.settled().await;
        }
    }

    fn death(&self) -> Option<SourceError> {
        self.server.get()?.death()
    }

    fn unavailable(&self) -> Option<SourceError> {
        match &*self.phase.borrow() {
            Phase::Failed(error) => Some(error.clone()),
            _ => self.death(),
        }
    }

    fn is_vital(&self) -> bool {
        matches!(self.on_death, OnDeath::EndSession)
    }

    fn is_idle(&self) -> bool {
        self.server.get().is_none()
    }

    async fn wake(&self) {
        if self.is_unknown() && self.is_idle() {
            // Its failure is reported with the tools that it might have.
            let _ = self.running().await;
        }
    }

    fn revision(&self) -> u64 {
        self.own_revision() + self.server.get().map_or(0, |server| server.revision())
    }

    async fn changes(&self, since: u64) {
        let mut phase = self.phase.subscribe();
        while self.revision() <= since {
            match self.server.get() {
                Some(server) if *phase.borrow_and_update() != Phase::Idle => {
                    server.changes(since.saturating_sub(self.own_revision())).await;
                }
                // Cannot fail: the sender lives as long as `self`.
                _ => drop(phase.changed().await),
            }
        }
    }

    async fn stop(&self) {
        if let Some(server) = self.server.get() {
            (self.ender)(Arc::clone(server)).await;
        }
    }
}
