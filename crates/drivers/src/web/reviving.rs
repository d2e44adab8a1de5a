//! Pages whose scripts do not end, when another page is to be opened.

use std::time::Duration;

use tokio::time::{Instant, timeout};
use trailblaze_core::driver::{Budget, DriverError};
use trailblaze_protocol::device_event::DeviceEvent;
use trailblaze_protocol::event::Level;

use super::page::Page;

/// How long the browser may take to end a page.
const STOPPING: Duration = Duration::from_secs(1);

impl Page {
    /// Makes sure that the tab in front can go to another page: one whose scripts do not end would keep it. They are stopped;
    /// if that does not help, the process of the page is ended, and if that does not, the tab is replaced.
    pub async fn revive(&self, budget: &Budget) -> Result<(), DriverError> {
        let tab = self.front()?;
        let is_alive = budget.run("the page to answer", self.backend.interrupt(&tab));
        if self.is_crashed() || is_alive.await? {
            return Ok(());
        }
        self.shared.bump(|state| {
            let url = state.front().map(|tab| tab.url.clone()).unwrap_or_default();
            let text = format!("{url} did not give way to another page, so its process was ended");
            state.events.add(DeviceEvent::Log { level: Level::Warning, text });
        });
        let crash = self.crash(&tab);
        let has_crashed = async {
            let until = Instant::now() + STOPPING;
            self.wait(budget, until, |state| state.front().is_none_or(|tab| tab.is_crashed)).await
        };
        let has_crashed = tokio::select! {
            has_crashed = has_crashed => has_crashed?,
            () = crash => self.is_crashed(),
        };
        if has_crashed { Ok(()) } else { self.replace_tab(budget).await }
    }

    async fn replace_tab(&self, budget: &Budget) -> Result<(), DriverError> {
        let old = self.shared.state().front.clone();
        self.new_tab(budget).await?;
        let _ = timeout(STOPPING, self.backend.close_tab(&old)).await;
        self.shared.bump(|state| state.close_tab(&old));
        Ok(())
    }

    fn is_crashed(&self) -> bool {
        self.shared.state().front().is_some_and(|tab| tab.is_crashed)
    }
}
