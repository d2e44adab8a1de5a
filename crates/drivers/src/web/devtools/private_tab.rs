//! Tabs of our own that nobody sees, in which documents of any origin are open: all that they ask for is answered by us.

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::super::backend::{BackendError, OriginStorage, TabId};
use super::cdp::{Cdp, CdpListener};
use super::{DevTools, SessionId, scripts, string};

/// What each of their requests is answered with.
const DOCUMENT: &str = "<!doctype html><title>Trailblaze</title>";

#[derive(Default)]
pub struct PrivateTabs {
    /// Held while one is opened, so that it is known before it is adopted.
    opening: tokio::sync::Mutex<()>,
    known: Arc<Mutex<KnownPrivateTabs>>,
}

#[derive(Default)]
struct KnownPrivateTabs {
    tabs: HashSet<TabId>,
    sessions: HashSet<SessionId>,
}

impl PrivateTabs {
    /// Whether a new tab is one of ours.
    pub async fn has(&self, tab: &str) -> bool {
        let _opening = self.opening.lock().await;
        self.known.lock().tabs.contains(tab)
    }

    pub fn is_session(&self, session: &str) -> bool {
        self.known.lock().sessions.contains(session)
    }
}

/// Closes its tab when it is dropped.
struct PrivateTab {
    cdp: Arc<Cdp>,
    known: Arc<Mutex<KnownPrivateTabs>>,
    tab: TabId,
    session: SessionId,
}

impl Drop for PrivateTab {
    fn drop(&mut self) {
        self.known.lock().sessions.remove(&self.session);
        self.cdp.forget(&self.session);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (cdp, known, tab) = (Arc::clone(&self.cdp), Arc::clone(&self.known), std::mem::take(&mut self.tab));
        // Detached: ends when the browser has closed the tab, or is gone.
        runtime.spawn(async move {
            let _ = cdp.call(None, "Target.closeTarget", json!({"targetId": tab})).await;
            known.lock().tabs.remove(&tab);
        });
    }
}

impl DevTools {
    /// Evaluates an expression in an empty document of an origin.
    async fn evaluate_in_origin(&self, origin: &str, expression: &str) -> Result<Value, BackendError> {
        let mut private = PrivateTab {
            cdp: Arc::clone(&self.browser.cdp),
            known: Arc::clone(&self.private.known),
            tab: TabId::new(),
            session: SessionId::new(),
        };
        {
            let _opening = self.private.opening.lock().await;
            let context = self.known.lock().context.clone();
            let params = json!({"url": "about:blank", "browserContextId": context, "background": true});
            private.tab = string(&self.call("Target.createTarget", params).await?, "targetId");
            private.known.lock().tabs.insert(private.tab.clone());
        }
        let attached = self.call("Target.attachToTarget", json!({"targetId": private.tab, "flatten": true})).await?;
        private.session = string(&attached, "sessionId");
        private.known.lock().sessions.insert(private.session.clone());
        if let Some(me) = self.me.upgrade() {
            self.browser.cdp.listen(&private.session, &(me as Arc<dyn CdpListener>));
        }
        self.call_session(&private.session, "Fetch.enable", json!({})).await?;
        let opened = self.call_session(&private.session, "Page.navigate", json!({"url": format!("{origin}/")})).await?;
        if let Some(why) = opened.get("errorText").and_then(Value::as_str) {
            return Err(BackendError::Refused(format!("no document of {origin} could be opened: {why}")));
        }
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        scripts::value_of(&self.call_session(&private.session, "Runtime.evaluate", params).await?)
    }

    /// Answers a request of one of these tabs.
    pub(super) fn answer_privately(&self, session: &str, params: &Value) {
        let answer = json!({
            "requestId": params["requestId"], "responseCode": 200, "body": BASE64_STANDARD.encode(DOCUMENT),
            "responseHeaders": [{"name": "Content-Type", "value": "text/html"}],
        });
        let (cdp, session) = (Arc::clone(&self.browser.cdp), session.to_string());
        // Detached: ends when the browser has taken the answer, or is gone.
        tokio::spawn(async move { cdp.call(Some(&session), "Fetch.fulfillRequest", answer).await });
    }
}

#[async_trait]
impl OriginStorage for DevTools {
    async fn local_storage(&self, origin: &str) -> Result<Vec<(String, String)>, BackendError> {
        let items = self.evaluate_in_origin(origin, "Object.entries(localStorage)").await?;
        let pair = |pair: &Value| Some((pair.get(0)?.as_str()?.to_string(), pair.get(1)?.as_str()?.to_string()));
        Ok(items.as_array().into_iter().flatten().filter_map(pair).collect())
    }

    async fn set_local_storage(&self, origin: &str, items: &[(String, Option<String>)]) -> Result<(), BackendError> {
        let script = format!(
            "for (const [key, value] of {}) value === null ? localStorage.removeItem(key) : localStorage.setItem(key, value)",
            json!(items)
        );
        self.evaluate_in_origin(origin, &script).await.map(drop)
    }
}
