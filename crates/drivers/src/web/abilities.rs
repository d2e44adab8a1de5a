//! What a browser can do beyond its screen.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use trailblaze_core::driver::{
    ActionOutput, AppControl, Browse, BrowserControl, Budget, ClipboardControl, DriverError, LaunchMode, NetworkControl,
};

use super::act::Actor;
use super::acting::{Acting, ActingGuard};
use super::browse::{browse, restart};
use super::driver::Web;
use super::page::Page;

impl Web {
    /// The page, once it has settled. What happens until the guard is dropped is our doing.
    pub(super) async fn settled(&self, budget: &Budget) -> Result<(Arc<Page>, ActingGuard), DriverError> {
        let page = self.page(budget).await?;
        page.use_session();
        page.settle(&Budget { wait: None, ..budget.clone() }).await?;
        let acting = Acting::begin(&page.shared);
        page.touch();
        Ok((page, acting))
    }
}

/// An app is a site.
#[async_trait]
impl AppControl for Web {
    async fn launch(&self, budget: &Budget, app: &str, mode: LaunchMode) -> Result<(), DriverError> {
        if mode == LaunchMode::Reinstall {
            let page = self.page(budget).await?;
            let _acting = Acting::begin(&page.shared);
            self.start_over(Arc::clone(&page), budget).await?;
        }
        let (page, _acting) = self.settled(budget).await?;
        let actor = Actor { page: &page, budget };
        if mode == LaunchMode::ForceRestart {
            restart(&actor).await?;
        }
        actor.go(app).await
    }

    async fn stop(&self, budget: &Budget, _: &str) -> Result<(), DriverError> {
        self.open_url(budget, "about:blank").await
    }

    async fn clear_data(&self, budget: &Budget, app: &str) -> Result<(), DriverError> {
        let (page, _acting) = self.settled(budget).await?;
        Actor { page: &page, budget }.forget(app).await
    }

    async fn open_url(&self, budget: &Budget, url: &str) -> Result<(), DriverError> {
        let (page, _acting) = self.settled(budget).await?;
        Actor { page: &page, budget }.go(url).await
    }
}

/// The clipboard is our own: the system's belongs to the user.
#[async_trait]
impl ClipboardControl for Web {
    async fn set(&self, _: &Budget, text: &str) -> Result<(), DriverError> {
        *self.clipboard.lock() = text.to_string();
        Ok(())
    }

    async fn paste(&self, budget: &Budget) -> Result<(), DriverError> {
        let (page, _acting) = self.settled(budget).await?;
        let text = self.clipboard.lock().clone();
        Actor { page: &page, budget }.insert(&text).await
    }
}

#[async_trait]
impl NetworkControl for Web {
    async fn set_connected(&self, budget: &Budget, is_connected: bool) -> Result<(), DriverError> {
        let (page, _acting) = self.settled(budget).await?;
        if let Some(page_conditions) = page.backend.page_conditions() {
            let change =
                self.world.change_conditions(page_conditions, |conditions| conditions.is_offline = !is_connected);
            return page.call(budget, "the network", change).await;
        }
        let (network, tab) = (page.interception("setNetwork")?, page.front()?);
        self.world.note_offline(&tab);
        page.call(budget, "the network", network.set_offline(&tab, !is_connected)).await
    }
}

#[async_trait]
impl BrowserControl for Web {
    async fn browse(&self, budget: &Budget, command: &Browse) -> Result<ActionOutput, DriverError> {
        let (page, _acting) = self.settled(budget).await?;
        browse(&Actor { page: &page, budget }, command).await
    }

    fn reports_pages(&self) -> bool {
        self.opened().is_none_or(|page| !page.is_polled())
    }

    async fn evaluate(&self, budget: &Budget, script: &str) -> Result<Value, DriverError> {
        let (page, _acting) = self.settled(budget).await?;
        page.run_script(budget, script).await
    }
}
