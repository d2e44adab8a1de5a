//! Requests to WebDriverAgent, with the session that some of them need.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use trailblaze_core::driver::{Budget, DriverError};

use super::address::WdaAddress;
use super::error::{WdaCode, WdaError};
use super::http::{PICTURE, TREE, WdaHttp, WdaRequest};
use crate::ios::usb::Usbmuxd;

/// The longest id of a session or an element.
const ID: usize = 200;
/// How long WebDriverAgent waits by itself for an app that does not rest, in seconds. The engine waits for what it needs.
const IDLE_WAIT: f64 = 1.0;

/// Is told of sessions, so that they can be ended if this program no longer can.
#[async_trait]
pub trait SessionKeeper: Send + Sync {
    /// A session is about to be made.
    async fn will_begin(&self, budget: &Budget);
    /// It was made, with this id.
    async fn has_begun(&self, budget: &Budget, id: &str);
}

/// One WebDriverAgent. Its session is created when it is needed, and created again once if it was dropped.
pub struct WdaClient {
    http: WdaHttp,
    session: Mutex<Option<String>>,
    keeper: Option<Arc<dyn SessionKeeper>>,
}

impl WdaClient {
    /// `usbmuxd` has the connections of an iPhone on a cable.
    pub fn new(address: WdaAddress, usbmuxd: &Usbmuxd) -> WdaClient {
        WdaClient { http: WdaHttp::new(address, usbmuxd), session: Mutex::default(), keeper: None }
    }

    /// The same, which tells somebody of its sessions.
    pub fn kept_by(self, keeper: Arc<dyn SessionKeeper>) -> WdaClient {
        WdaClient { keeper: Some(keeper), ..self }
    }

    pub fn address(&self) -> &WdaAddress {
        self.http.address()
    }

    /// Asks for something that needs no session.
    pub async fn get(&self, budget: &Budget, path: &str) -> Result<Value, WdaError> {
        self.http.send(budget, WdaRequest::get(path)).await
    }

    /// The tree of the screen.
    pub async fn get_tree(&self, budget: &Budget, path: &str) -> Result<Value, WdaError> {
        self.http.send(budget, WdaRequest::get(path).limit(TREE)).await
    }

    /// The picture of the screen.
    pub async fn get_picture(&self, budget: &Budget) -> Result<Value, WdaError> {
        self.http.send(budget, WdaRequest::get("/screenshot").limit(PICTURE)).await
    }

    /// Does something that needs no session.
    pub async fn post(&self, budget: &Budget, path: &str, body: Value) -> Result<Value, WdaError> {
        self.http.send(budget, WdaRequest::post(path, body)).await
    }

    /// Ends something that needs no session.
    pub async fn delete(&self, budget: &Budget, path: &str) -> Result<Value, WdaError> {
        self.http.send(budget, WdaRequest::delete(path)).await
    }

    /// Asks for something of the session.
    pub async fn session_get(&self, budget: &Budget, route: &str) -> Result<Value, WdaError> {
        self.in_session(budget, WdaRequest::get(route)).await
    }

    /// Does something in the session.
    pub async fn session_post(&self, budget: &Budget, route: &str, body: Value) -> Result<Value, WdaError> {
        self.in_session(budget, WdaRequest::post(route, body)).await
    }

    /// Does something with an element that an answer named. The id is left out of messages.
    pub async fn element_post(
        &self,
        budget: &Budget,
        element: &str,
        what: &str,
        body: Value,
    ) -> Result<Value, WdaError> {
        let request = WdaRequest::post(&format!("/element/{element}/{what}"), body);
        let shown = format!("/element/…/{what}");
        self.in_session(budget, WdaRequest { shown, ..request }).await
    }

    /// The element that has the keyboard's focus, if there is one.
    pub async fn focused_element(&self, budget: &Budget) -> Result<Option<String>, WdaError> {
        const ROUTE: &str = "/element/active";
        let found = match self.session_get(budget, ROUTE).await {
            Err(error) if error.code() == Some(&WdaCode::NoSuchElement) => return Ok(None),
            found => found?,
        };
        self.element_id(&found).map(Some)
    }

    /// The id of an element in an answer.
    pub fn element_id(&self, element: &Value) -> Result<String, WdaError> {
        let keys = ["element-6066-11e4-a52e-4f735466cecf", "ELEMENT"];
        let id = keys.iter().find_map(|key| element.get(key)).and_then(Value::as_str);
        self.checked_id("/element", id)
    }

    /// Asks for something of an element that an answer named. The id is left out of messages.
    pub async fn element_get(&self, budget: &Budget, element: &str, what: &str) -> Result<Value, WdaError> {
        let request = WdaRequest::get(&format!("/element/{element}/{what}"));
        let shown = format!("/element/…/{what}");
        self.in_session(budget, WdaRequest { shown, ..request }).await
    }

    /// Ends the session, if there is one.
    pub async fn close(&self, budget: &Budget) -> Result<(), WdaError> {
        let Some(id) = self.session(budget).await?.take() else { return Ok(()) };
        self.end_session(budget, &id).await
    }

    /// Makes a session, which ends the one that there is, and ends it.
    pub async fn replace_session(&self, budget: &Budget) -> Result<(), WdaError> {
        self.session_id(budget).await?;
        self.close(budget).await
    }

    /// Ends a session. One that is gone is no error.
    pub async fn end_session(&self, budget: &Budget, id: &str) -> Result<(), WdaError> {
        let request = WdaRequest::delete(&format!("/session/{id}"));
        let request = WdaRequest { shown: "/session".to_string(), ..request };
        match self.http.send(budget, request).await {
            Err(error) if error.code() == Some(&WdaCode::InvalidSessionId) => Ok(()),
            ended => ended.map(drop),
        }
    }

    async fn in_session(&self, budget: &Budget, request: WdaRequest) -> Result<Value, WdaError> {
        let id = self.session_id(budget).await?;
        match self.send_in(budget, &id, request.clone()).await {
            Err(error) if error.code() == Some(&WdaCode::InvalidSessionId) => {
                self.forget(budget, &id).await?;
                tracing::debug!(target: "trailblaze::ios", "the session was dropped; another is made");
                let id = self.session_id(budget).await?;
                match self.send_in(budget, &id, request).await {
                    Err(error) if error.code() == Some(&WdaCode::InvalidSessionId) => {
                        Err(WdaError::SessionTaken { address: self.address().clone() })
                    }
                    answer => answer,
                }
            }
            answer => answer,
        }
    }

    async fn send_in(&self, budget: &Budget, id: &str, request: WdaRequest) -> Result<Value, WdaError> {
        let path = format!("/session/{id}{}", request.path);
        self.http.send(budget, WdaRequest { path, ..request }).await
    }

    async fn session_id(&self, budget: &Budget) -> Result<String, WdaError> {
        let mut session = self.session(budget).await?;
        if let Some(id) = session.as_ref() {
            return Ok(id.clone());
        }
        // No app: the session follows the one that is in front.
        let wanted = json!({"waitForIdleTimeout": IDLE_WAIT});
        let body = json!({"capabilities": {"alwaysMatch": wanted, "firstMatch": [{}]}});
        if let Some(keeper) = &self.keeper {
            keeper.will_begin(budget).await;
        }
        let made = self.http.send(budget, WdaRequest::post("/session", body)).await?;
        let id = self.checked_id("/session", made.get("sessionId").and_then(Value::as_str))?;
        if let Some(keeper) = &self.keeper {
            keeper.has_begun(budget, &id).await;
        }
        *session = Some(id.clone());
        Ok(id)
    }

    /// Forgets a session that is no more, unless another was made meanwhile.
    async fn forget(&self, budget: &Budget, id: &str) -> Result<(), WdaError> {
        let mut session = self.session(budget).await?;
        if session.as_deref() == Some(id) {
            *session = None;
        }
        Ok(())
    }

    async fn session(&self, budget: &Budget) -> Result<tokio::sync::MutexGuard<'_, Option<String>>, WdaError> {
        let doing = "a session";
        budget.run(doing, self.session.lock()).await.map_err(|error| match error {
            DriverError::Cancelled => WdaError::Cancelled,
            _ => WdaError::TimedOut { doing: doing.to_string() },
        })
    }

    /// An id from outside becomes part of a path, so that it must not be able to change it.
    fn checked_id(&self, doing: &str, id: Option<&str>) -> Result<String, WdaError> {
        let is_valid = |id: &&str| {
            !id.is_empty() && id.len() <= ID && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        match id.filter(is_valid) {
            Some(id) => Ok(id.to_string()),
            None => Err(self.http.not_wda(doing, "no id")),
        }
    }
}
