//! Sessions at one endpoint, for one device.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::sync::{Mutex, Semaphore};
use tokio::time::Instant;
use trailblaze_core::driver::{Budget, DriverError};
use trailblaze_core::limits;
use trailblaze_http::ProxySettings;

use super::super::backend::{Backend, BrowserConnector, Setup};
use super::artifacts::SessionArtifacts;
use super::backend::{SessionOwner, WebDriverBackend};
use super::dialogs::WarnedDialogs;
use super::endings::SessionEndings;
use super::http::WebDriverHttp;
use super::new_session::new_session;
use super::session::WebDriverSession;
use super::settings::{EXPLAINING, EndpointSettings};

pub struct WebDriverConnector {
    http: Arc<WebDriverHttp>,
    capabilities: Value,
    endings: Arc<SessionEndings>,
    warned: Arc<WarnedDialogs>,
    session_wait: Duration,
    artifacts: Option<Arc<SessionArtifacts>>,
    /// A session that was made before it is needed, so that waiting for it is no part of a step.
    ready: Mutex<Option<WebDriverSession>>,
}

impl WebDriverConnector {
    pub fn new(
        settings: &EndpointSettings,
        session_wait: Duration,
        proxies: &ProxySettings,
        endings: Arc<SessionEndings>,
        artifact_permits: &Arc<Semaphore>,
    ) -> Result<WebDriverConnector, DriverError> {
        let http = WebDriverHttp::new(settings.address.clone(), proxies)
            .map_err(|evidence| DriverError::NotStarted { evidence })?;
        let (warned, ready) = Default::default();
        let capabilities = wanted(&settings.capabilities);
        let artifacts = SessionArtifacts::new(&settings.artifacts, &settings.address, proxies, artifact_permits);
        Ok(WebDriverConnector { http, capabilities, endings, warned, session_wait, artifacts, ready })
    }

    /// Makes the first session.
    pub async fn prepare(&self, budget: &Budget) -> Result<(), DriverError> {
        let session = self.begin(budget).await?;
        *self.ready.lock().await = Some(session);
        Ok(())
    }

    /// Ends a little earlier than the budget, so that it can be said what was waited for.
    async fn begin(&self, budget: &Budget) -> Result<WebDriverSession, DriverError> {
        let most = self.session_wait.min(budget.remaining().saturating_sub(EXPLAINING));
        let budget = &Budget { deadline: Instant::now() + most, ..budget.clone() };
        new_session(&self.http, &self.capabilities, Some(&self.endings), budget).await
    }
}

/// What is asked of every session, unless the project asks for something else.
fn wanted(own: &Value) -> Value {
    let mut wanted = json!({
        // The page half waits for the rest of a document, and for no longer than it wants to.
        "pageLoadStrategy": "eager",
        "unhandledPromptBehavior": "ignore",
        "timeouts": {"pageLoad": 14_000, "script": 60_000, "implicit": 0},
    });
    if let (Some(wanted), Some(own)) = (wanted.as_object_mut(), own.as_object()) {
        wanted.extend(own.iter().map(|(name, value)| (name.clone(), value.clone())));
    }
    wanted
}

#[async_trait]
impl BrowserConnector for WebDriverConnector {
    fn name(&self) -> &'static str {
        "a browser behind WebDriver"
    }

    fn opening_limit(&self) -> Duration {
        self.session_wait + limits::DRIVER_COMMAND
    }

    fn has_few_sessions(&self) -> bool {
        true
    }

    async fn open(&self, setup: Setup, budget: &Budget) -> Result<Arc<dyn Backend>, DriverError> {
        let ready = self.ready.lock().await.take();
        let session = match ready {
            Some(session) => session,
            None => self.begin(budget).await?,
        };
        let owner = Arc::clone(&self.endings) as _;
        let backend = WebDriverBackend::new(Arc::new(session), setup, Arc::clone(&self.warned), owner);
        Ok(Arc::new(backend.keeping(self.artifacts.clone())))
    }

    async fn close(&self) {
        if let Some(session) = self.ready.lock().await.take() {
            let _ = session.close().await;
            self.endings.has_ended(&session.id).await;
        }
    }
}
