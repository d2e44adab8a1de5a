//! Where devices get their Firefox from.

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use futures::future::join_all;
use parking_lot::Mutex;
use trailblaze_core::driver::{Budget, DriverError};
use trailblaze_supervise::Supervisor;

use super::super::backend::{Backend, BrowserConnector, Setup};
use super::super::bidi::{BidiBrowser, BidiSession};
use super::browser::{Firefox, FirefoxOptions};

/// Starts a Firefox for each device.
pub struct FirefoxConnector {
    options: FirefoxOptions,
    supervisor: Supervisor,
    started: Mutex<Vec<Weak<Firefox>>>,
}

impl FirefoxConnector {
    pub fn new(options: FirefoxOptions, supervisor: Supervisor) -> FirefoxConnector {
        FirefoxConnector { options, supervisor, started: Mutex::default() }
    }

    /// Stops those that still run.
    pub async fn close(&self) {
        let started = std::mem::take(&mut *self.started.lock());
        let running: Vec<Arc<Firefox>> = started.iter().filter_map(Weak::upgrade).collect();
        join_all(running.iter().map(|firefox| firefox.stop())).await;
    }
}

#[async_trait]
impl BrowserConnector for FirefoxConnector {
    fn name(&self) -> &'static str {
        "Firefox"
    }

    async fn open(&self, setup: Setup, budget: &Budget) -> Result<Arc<dyn Backend>, DriverError> {
        let start = Firefox::start(&self.options, &setup.emulation, &self.supervisor);
        let firefox = budget.run("Firefox to start", start).await?;
        let firefox = Arc::new(firefox.map_err(|error| DriverError::NotStarted { evidence: error.to_string() })?);
        {
            let mut started = self.started.lock();
            started.retain(|known| known.strong_count() > 0);
            started.push(Arc::downgrade(&firefox));
        }
        let connection = Arc::clone(&firefox.connection);
        let session = BidiSession::open(connection, firefox as Arc<dyn BidiBrowser>, setup);
        let opened = budget.run("a session of Firefox", session).await?;
        match opened {
            Ok(session) => Ok(session),
            Err(error) => Err(DriverError::NotStarted { evidence: format!("Firefox began no session: {error}") }),
        }
    }
}
