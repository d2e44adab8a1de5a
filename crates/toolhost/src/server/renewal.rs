//! Replaces a server whose files changed: a new instance starts next to the running one and takes over once its tools
//! are known. Calls in flight finish on the instance that they started on. A server that died is replaced for the next call.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::watch;
use trailblaze_core::engine::changes::Changes;
use trailblaze_core::engine::cx::Cx;
use trailblaze_core::engine::source::{SourceError, ToolSource};
use trailblaze_protocol::event::Level;
use trailblaze_protocol::outcome::Outcome;

use super::{OnDeath, ServerState, ToolServer};
use crate::instance::{Instance, InstanceTransport};
use crate::limits;
use crate::listing::RawListing;
use crate::restarts::Restarts;

/// A renewal in progress, which ends when this is dropped.
struct UnderWay<'s>(&'s watch::Sender<usize>);

impl UnderWay<'_> {
    fn begin(n_renewals: &watch::Sender<usize>) -> UnderWay<'_> {
        n_renewals.send_modify(|n| *n += 1);
        UnderWay(n_renewals)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|n| *n -= 1);
    }
}

/// The result of replacing a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renewed {
    pub changes: Changes,
    /// Warnings about the new listing that the old one did not have.
    pub warnings: Vec<String>,
}

impl ToolServer {
    /// Starts a new instance next to the running one. A dead server comes back. Calls wait for the new instance; if it does
    /// not start, they fail with the reason until a later `renew` succeeds. Returns `None` if there is nothing to start: the
    /// server runs elsewhere, was never started, is stopping, or a later `renew` superseded this one. `failed` is called before
    /// the calls that wait for it fail.
    pub async fn renew(&self, failed: impl FnOnce(&SourceError)) -> Result<Option<Renewed>, SourceError> {
        let _under_way = UnderWay::begin(&self.n_renewals);
        let renewed = self.replace().await;
        match &renewed {
            Ok(None) => {}
            Ok(Some(_)) => *self.outdated.lock() = None,
            Err(error) => {
                *self.outdated.lock() = Some(error.clone());
                failed(error);
            }
        }
        renewed
    }

    /// Returns once no renewal is under way.
    pub async fn renewed(&self) {
        // Cannot fail: the sender lives as long as `self`.
        let _ = self.n_renewals.subscribe().wait_for(|n| *n == 0).await;
    }

    /// Waits for the instance from the newest files. Fails if it could not be started.
    pub(super) async fn up_to_date(&self) -> Result<(), Outcome> {
        if *self.n_renewals.borrow() > 0 {
            self.renewed().await;
        }
        match &*self.outdated.lock() {
            None => Ok(()),
            Some(error) => {
                let (name, why) = (&self.spec.name, error.evidence());
                self.spec.events.explained(name);
                Err(Outcome::failed(format!("server `{name}` changed, and its new version cannot be used: {why}")))
            }
        }
    }

    async fn replace(&self) -> Result<Option<Renewed>, SourceError> {
        // Only the newest files count: cancels a start from older ones, even one that hangs.
        let newest = self.stopping.child_token();
        std::mem::replace(&mut *self.latest_renewal.lock(), newest.clone()).cancel();
        let _turn = self.renewing.lock().await;
        let is_elsewhere = matches!(self.transport, InstanceTransport::Url(_));
        if is_elsewhere || newest.is_cancelled() || matches!(&*self.state.borrow(), ServerState::New) {
            return Ok(None);
        }
        let Some(next) = newest.run_until_cancelled(self.next()).await else { return Ok(None) };
        let (instance, raw) = next?;
        // The files changed, so earlier deaths do not count.
        if let OnDeath::Restart(restarts) | OnDeath::RestartForNextCall(restarts) = &self.spec.on_death {
            restarts.forget();
        }
        Ok(self.take_over(instance, raw))
    }

    /// Whether its last renewal failed, so that its tools fail.
    pub fn is_outdated(&self) -> bool {
        self.outdated.lock().is_some()
    }

    /// Whether it must be made ready before it can be called.
    pub(super) fn is_unready(&self) -> bool {
        self.is_outdated() || self.death().is_some() || self.is_being_checked()
    }

    /// Makes it ready for a call: starts one that died again, if that is allowed, and a new version that did not start once more,
    /// because what it lacked, such as a package, may be there by now. The time of the call does not begin before that.
    pub(super) async fn recover(&self, cx: &Cx) -> Result<(), SourceError> {
        let recovering = async {
            // One that hung in an earlier call is dead after this.
            self.checked().await;
            if self.is_outdated() && *self.n_renewals.borrow() == 0 {
                // The call itself fails with the reason.
                let _ = self.renew(|_| {}).await;
            }
            self.revive().await
        };
        tokio::pin!(recovering);
        loop {
            tokio::select! {
                biased;
                recovered = &mut recovering => return recovered,
                () = tokio::time::sleep(limits::CALL_RENEWAL) => cx.renew(),
            }
        }
    }

    /// Starts a server that died again, for a call that needs it, unless it died too often.
    async fn revive(&self) -> Result<(), SourceError> {
        let OnDeath::RestartForNextCall(restarts) = &self.spec.on_death else { return Ok(()) };
        if self.death().is_none() {
            return Ok(());
        }
        let _turn = self.renewing.lock().await;
        // Another call, or a change of its files, may have started it meanwhile.
        let Some(died) = self.death() else { return Ok(()) };
        if restarts.are_exhausted() {
            let evidence = format!("{} until its files change; last error: {}", Restarts::verdict(), died.evidence());
            return Err(SourceError::Died { source_name: self.spec.name.clone(), evidence });
        }
        restarts.after_death();
        let Some(next) = self.stopping.run_until_cancelled(self.next()).await else { return Err(died) };
        let (instance, raw) = next?;
        self.take_over(instance, raw);
        let text = "it died, and was started again for this call; what it kept in memory is lost";
        self.router.events.note(&self.spec.name, Level::Warning, text.to_string());
        Ok(())
    }

    /// Makes this instance the one at work.
    fn take_over(&self, instance: Arc<Instance>, raw: RawListing) -> Option<Renewed> {
        // Cannot fail: the caller holds a handle.
        let me = self.me.upgrade()?;
        let (old, new) = (self.interpreted(&self.raw_listing()), self.interpreted(&raw));
        let changes = Changes::between(&old.tools, &new.tools);
        let warnings = new.warnings.iter().filter(|warning| !old.warnings.contains(warning)).cloned().collect();
        // The new version may accept the context argument.
        self.spec.refuses_context.store(false, Ordering::Relaxed);
        self.router.events.started(&self.spec.name, &instance.handshake.version);
        let former = self.state.send_replace(ServerState::Up(Arc::clone(&instance)));
        self.keep_listing(&new, raw);
        me.watch(instance);
        if let ServerState::Up(former) = former {
            me.retire(former);
        }
        self.router.revision.send_modify(|revision| *revision += 1);
        Some(Renewed { changes, warnings })
    }

    /// Starts an instance and reads its listing.
    async fn next(&self) -> Result<(Arc<Instance>, RawListing), SourceError> {
        let instance = self.start_instance().await?;
        match self.read_listing(&instance).await {
            Ok(raw) => Ok((instance, raw)),
            Err(error) => {
                instance.stop().await;
                let evidence = self.evidence(&error, &instance.stderr);
                Err(SourceError::NotListed { source_name: self.spec.name.clone(), evidence })
            }
        }
    }

    /// Stops a replaced instance when its calls have finished.
    fn retire(self: &Arc<Self>, former: Arc<Instance>) {
        let (server, stopping) = (Arc::downgrade(self), self.stopping.clone());
        let router = Arc::clone(&self.router);
        let leaving = tokio::spawn(async move {
            tokio::select! {
                () = former.calls.none() => {}
                () = stopping.cancelled() => {}
                end = former.ended() => {
                    // Callers that wait for its answers get the reason.
                    if let Some(server) = server.upgrade() {
                        former.death.send_replace(Some(server.death_of(&former, &end)));
                    }
                }
                () = tokio::time::sleep(limits::RETIREMENT) => {
                    let limit = humantime::format_duration(limits::RETIREMENT);
                    let text = format!("the instance from before its files changed still had calls after {limit} and was killed");
                    router.events.note(&router.server, Level::Warning, text);
                }
            }
            let ended = former.stop().await.unwrap_or_default();
            router.events.ended(&router.server, format!("replaced by a newer one; it {ended}"));
        });
        let mut retiring = self.retiring.lock();
        retiring.retain(|leaving| !leaving.is_finished());
        retiring.push(leaving);
    }
}
