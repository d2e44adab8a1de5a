//! Pages whose scripts do not end: stopped when a script of ours is given up, or when another page is to be opened.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, timeout};
use trailblaze_core::driver::{Budget, DriverError};
use trailblaze_protocol::event::Level;

use super::devtools::cdp::Cdp;
use super::page::Page;

/// How long a page that is to be left may be busy.
const BUSY: Duration = Duration::from_secs(2);
/// How long a page may be busy with a script that was given up.
const MOMENT: Duration = Duration::from_millis(300);
/// How long the browser may take to stop a script, or to end a page.
const STOPPING: Duration = Duration::from_secs(1);

impl Page {
    /// Makes sure that the tab in front can go to another page: one whose scripts do not end would keep it. They are stopped;
    /// if that does not help, the process of the page is ended, and if that does not, the tab is replaced.
    pub async fn revive(&self, budget: &Budget) -> Result<(), DriverError> {
        let session = self.session()?;
        let cdp = &self.browser.cdp;
        let is_alive = budget.run("the page to answer", async {
            answers(cdp, &session, BUSY).await || stop(cdp, &session).await && answers(cdp, &session, BUSY).await
        });
        if self.is_crashed() || is_alive.await? {
            return Ok(());
        }
        self.shared.bump(|state| {
            let url = state.front().map(|tab| tab.url.clone()).unwrap_or_default();
            state.tell(Level::Warning, &format!("{url} did not give way to another page, so its process was ended"));
        });
        // The command itself is never answered.
        let crash = cdp.call(Some(&session), "Page.crash", json!({}));
        let has_crashed = async {
            let until = Instant::now() + STOPPING;
            self.wait(budget, until, |state| state.front().is_none_or(|tab| tab.is_crashed)).await
        };
        let has_crashed = tokio::select! {
            has_crashed = has_crashed => has_crashed?,
            _ = crash => self.is_crashed(),
        };
        if has_crashed { Ok(()) } else { self.replace_tab(budget).await }
    }

    async fn replace_tab(&self, budget: &Budget) -> Result<(), DriverError> {
        let old = self.shared.state().front.clone();
        self.new_tab(budget).await?;
        let close = self.browser.cdp.call(None, "Target.closeTarget", json!({"targetId": old}));
        let _ = timeout(STOPPING, close).await;
        self.shared.bump(|state| state.close_tab(&old));
        Ok(())
    }

    fn is_crashed(&self) -> bool {
        self.shared.state().front().is_some_and(|tab| tab.is_crashed)
    }
}

/// A script that is being evaluated; stopped when nothing waits for it any more.
pub struct Running {
    pub cdp: Arc<Cdp>,
    pub session: String,
    pub has_ended: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if self.has_ended {
            return;
        }
        let (cdp, session) = (Arc::clone(&self.cdp), std::mem::take(&mut self.session));
        runtime.spawn(async move {
            // One that only waits for something keeps nothing busy, and another script would be stopped in its place.
            if !answers(&cdp, &session, MOMENT).await {
                stop(&cdp, &session).await;
            }
        });
    }
}

/// Whether the scripts of a page leave it time to answer. A page that refuses to is not busy.
async fn answers(cdp: &Cdp, session: &str, within: Duration) -> bool {
    timeout(within, cdp.call(Some(session), "Runtime.evaluate", json!({"expression": "1"}))).await.is_ok()
}

/// Stops the script that is running.
async fn stop(cdp: &Cdp, session: &str) -> bool {
    timeout(STOPPING, cdp.call(Some(session), "Runtime.terminateExecution", json!({}))).await.is_ok()
}
