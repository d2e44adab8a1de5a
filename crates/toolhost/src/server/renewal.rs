//! A server that is started anew because its files changed: the next life begins beside the one at work, and takes over
//! once its tools are known. Calls that are at work end where they began.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use trailblaze_core::engine::changes::Changes;
use trailblaze_core::engine::source::{SourceError, ToolSource};
use trailblaze_protocol::event::Level;

use super::{Server, State};
use crate::limits;
use crate::listing::RawListing;
use crate::live::{Live, Reach};
use crate::notification_router::lock;

/// What came of a server that was started anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renewed {
    pub changes: Changes,
    /// What is odd about its list, and was not before.
    pub warnings: Vec<String>,
}

impl Server {
    /// Starts it anew beside the one at work, which goes on if that fails. One that died comes back. None if there is
    /// nothing to start: it runs elsewhere, was never started, is being stopped, or is started anew once more since.
    pub async fn renew(&self) -> Result<Option<Renewed>, SourceError> {
        // The newest files count. A start from older ones is given up, however long it would hang.
        let newest = self.stopping.child_token();
        std::mem::replace(&mut *lock(&self.newest), newest.clone()).cancel();
        let _turn = self.renewing.lock().await;
        let is_elsewhere = matches!(self.reach, Reach::Url(_));
        if is_elsewhere || newest.is_cancelled() || matches!(&*self.state.borrow(), State::New) {
            return Ok(None);
        }
        // What the last one printed is no evidence against this one.
        *lock(&self.router.noise) = None;
        let Some(next) = newest.run_until_cancelled(self.next()).await else { return Ok(None) };
        let (live, raw) = next?;
        // Whoever calls holds one.
        let Some(me) = self.me.upgrade() else { return Ok(None) };
        let (old, new) = (self.interpreted(&self.raw_listing()), self.interpreted(&raw));
        let changes = Changes::between(&old.tools, &new.tools);
        let warnings = new.warnings.iter().filter(|warning| !old.warnings.contains(warning)).cloned().collect();
        // Its author has done something about its deaths.
        if let Some(restarts) = &self.spec.restarts {
            restarts.forget();
        }
        // It may be written otherwise now, and take what it refused.
        self.spec.refuses_context.store(false, Ordering::Relaxed);
        self.router.events.started(&self.spec.name, &live.handshake.version);
        let former = self.state.send_replace(State::Up(Arc::clone(&live)));
        self.learn(&new, raw);
        me.watch(live);
        if let State::Up(former) = former {
            me.retire(former);
        }
        self.router.revision.send_modify(|revision| *revision += 1);
        Ok(Some(Renewed { changes, warnings }))
    }

    /// A next life, and what it lists.
    async fn next(&self) -> Result<(Arc<Live>, RawListing), SourceError> {
        let live = self.begin().await?;
        match self.read_listing(&live).await {
            Ok(raw) => Ok((live, raw)),
            Err(obstacle) => {
                live.stop().await;
                let evidence = self.evidence(&obstacle, &live.stderr);
                Err(SourceError::NotListed { source_name: self.spec.name.clone(), evidence })
            }
        }
    }

    /// Ends a life that another one took over from, when its calls are over.
    fn retire(self: &Arc<Self>, former: Arc<Live>) {
        let (server, stopping) = (Arc::downgrade(self), self.stopping.clone());
        let router = Arc::clone(&self.router);
        let leaving = tokio::spawn(async move {
            tokio::select! {
                () = former.calls.none() => {}
                () = stopping.cancelled() => {}
                end = former.ended() => {
                    // Those who wait for its answer learn why there is none.
                    if let Some(server) = server.upgrade() {
                        let evidence = server.evidence(&end, &former.stderr);
                        let died = SourceError::Died { source_name: server.name().to_string(), evidence };
                        former.death.send_replace(Some(died));
                    }
                }
                () = tokio::time::sleep(limits::RETIREMENT) => {
                    let limit = humantime::format_duration(limits::RETIREMENT);
                    let text = format!("what it was before its files changed still had calls after {limit}, and was ended");
                    router.events.note(&router.server, Level::Warning, text);
                }
            }
            let ended = former.stop().await.unwrap_or_default();
            router.events.ended(&router.server, format!("replaced by a newer one; it {ended}"));
        });
        let mut retiring = lock(&self.retiring);
        retiring.retain(|leaving| !leaving.is_finished());
        retiring.push(leaving);
    }
}
