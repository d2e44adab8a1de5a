//! The browser that the devices of a run share.

use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;
use trailblaze_core::driver::{Budget, DriverError};
use trailblaze_supervise::Supervisor;

use super::super::backend::{Backend, BrowserConnector, Setup};
use super::browser::{Browser, BrowserOptions};
use super::{DevTools, memory};

/// How long a context may take to be created.
const OPENING: Duration = Duration::from_secs(10);

/// The browser shared by all devices of a run, started by the first that needs it, and again if it ended.
pub struct Browsers {
    me: Weak<Browsers>,
    options: BrowserOptions,
    supervisor: Supervisor,
    started: tokio::sync::Mutex<Option<Arc<Browser>>>,
}

impl Browsers {
    pub fn new(options: BrowserOptions, supervisor: Supervisor) -> Arc<Browsers> {
        let started = tokio::sync::Mutex::default();
        Arc::new_cyclic(|me| Browsers { me: me.clone(), options, supervisor, started })
    }

    async fn browser(&self) -> Result<Arc<Browser>, DriverError> {
        let mut started = self.started.lock().await;
        if let Some(browser) = started.as_ref().filter(|browser| browser.end().is_none()) {
            return Ok(Arc::clone(browser));
        }
        let browser = Browser::start(&self.options, &self.supervisor).await;
        let browser = Arc::new(browser.map_err(|error| DriverError::NotStarted { evidence: error.to_string() })?);
        memory::limit(&browser, self.options.memory_limit.unwrap_or(memory::MOST_BYTES));
        *started = Some(Arc::clone(&browser));
        Ok(browser)
    }

    /// Ends a browser that cannot be used any more, so that the next device gets another one.
    pub(super) async fn give_up(&self, browser: &Arc<Browser>) {
        let mut started = self.started.lock().await;
        if started.as_ref().is_some_and(|known| Arc::ptr_eq(known, browser)) {
            *started = None;
        }
        browser.kill().await;
    }

    /// Stops the browser, if it was started.
    pub async fn close(&self) {
        let started = self.started.lock().await.take();
        if let Some(browser) = started {
            browser.close().await;
        }
    }
}

#[async_trait]
impl BrowserConnector for Browsers {
    fn name(&self) -> &'static str {
        "Chromium"
    }

    async fn open(&self, setup: Setup, budget: &Budget) -> Result<Arc<dyn Backend>, DriverError> {
        let browser = self.browser().await?;
        let budget = Budget { deadline: budget.deadline.min(Instant::now() + OPENING), ..budget.clone() };
        let opened = budget.run("a new context", DevTools::open(browser, self.me.clone(), setup)).await?;
        match opened {
            Ok(devtools) => Ok(devtools),
            Err(error) => Err(DriverError::NotStarted { evidence: format!("no tab could be opened: {error}") }),
        }
    }
}
