//! What Chromium has beyond what every browser has.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::time::timeout;
use trailblaze_core::driver::DisplayedText;

use super::super::backend::{
    BackendError, BrowserEvents, Contexts, DragStep, ExecutionWorld, Interception, IsolatedWorld, OldContext,
    PageLayout, Realm, Screencasting, ScriptScope, Storage, TabHistory,
};
use super::super::input::Spot;
use super::{DevTools, SessionId, WORLD, layout, new_context, place_of, realm, scripts};

/// How long a context may take to end.
const ENDING: Duration = Duration::from_secs(10);
/// The quality of pictures, and their largest width and height.
const QUALITY: u32 = 75;
const LARGEST: u32 = 1920;

#[async_trait]
impl IsolatedWorld for DevTools {
    async fn add_script(
        &self,
        scope: ScriptScope<'_>,
        world: ExecutionWorld,
        script: &str,
    ) -> Result<(), BackendError> {
        let (method, params) = scripts::preload(world, script);
        let sessions: Vec<SessionId> = match scope {
            ScriptScope::Tab(tab) => vec![self.session(tab)?],
            ScriptScope::Session => {
                let mut known = self.known.lock();
                let script = (world, script.to_string());
                if !known.scripts.contains(&script) {
                    known.scripts.push(script);
                }
                known.sessions.keys().cloned().collect()
            }
        };
        for session in sessions {
            match self.call_session(&session, method, params.clone()).await {
                // A session that has ended meanwhile needs nothing.
                Ok(_) => {}
                Err(BackendError::Refused(_)) if scope == ScriptScope::Session => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn make_realm(&self, frame: &str) -> Result<Realm, BackendError> {
        let session = self.known.lock().frames.get(frame).map(|place| place.session.clone());
        let session = session.ok_or_else(|| BackendError::Refused("the frame is gone".to_string()))?;
        let params = json!({"frameId": frame, "worldName": WORLD});
        let made = self.call_session(&session, "Page.createIsolatedWorld", params).await?;
        let world = made.get("executionContextId").and_then(Value::as_i64);
        world
            .map(|world| realm(&session, world))
            .ok_or_else(|| BackendError::Refused("no world was created".to_string()))
    }

    async fn open_root(&self, realm: &Realm, host: &str, function: &str) -> Result<bool, BackendError> {
        let (session, world) = place_of(realm)?;
        let to = |method: &'static str, params: Value| self.call_session(session, method, params);
        let host = to("Runtime.evaluate", json!({"expression": host, "contextId": world})).await?;
        let Some(host) = host.pointer("/result/objectId") else { return Ok(false) };
        let about = to("DOM.describeNode", json!({"objectId": host, "depth": 1, "pierce": true})).await?;
        let roots = about.pointer("/node/shadowRoots").and_then(Value::as_array);
        let root = roots.into_iter().flatten().find(|root| root["shadowRootType"] == "closed");
        let Some(root) = root.and_then(|root| root.get("backendNodeId")) else { return Ok(false) };
        let params = json!({"backendNodeId": root, "executionContextId": world});
        let root = to("DOM.resolveNode", params).await?;
        let params = json!({
            "objectId": host, "arguments": [{"objectId": root["object"]["objectId"]}], "functionDeclaration": function,
        });
        to("Runtime.callFunctionOn", params).await?;
        Ok(true)
    }

    async fn file_path(&self, realm: &Realm, file: &str) -> Result<Option<String>, BackendError> {
        let (session, world) = place_of(realm)?;
        let params = json!({"expression": file, "contextId": world});
        let file = self.call_session(session, "Runtime.evaluate", params).await?;
        let Some(file) = file.pointer("/result/objectId") else { return Ok(None) };
        let about = self.call_session(session, "DOM.getFileInfo", json!({"objectId": file})).await?;
        Ok(about["path"].as_str().filter(|path| !path.is_empty()).map(str::to_string))
    }
}

#[async_trait]
impl Interception for DevTools {
    async fn intercept_drags(&self, tab: &str, is_on: bool) -> Result<(), BackendError> {
        self.call_tab(tab, "Input.setInterceptDrags", json!({"enabled": is_on})).await.map(drop)
    }

    async fn drag(&self, tab: &str, step: DragStep, at: Spot, data: &Value) -> Result<(), BackendError> {
        let kind = match step {
            DragStep::Enter => "dragEnter",
            DragStep::Over => "dragOver",
            DragStep::Drop => "drop",
        };
        let event = json!({"type": kind, "x": at.x, "y": at.y, "data": data});
        self.call_tab(tab, "Input.dispatchDragEvent", event).await.map(drop)
    }

    async fn intercept_choosers(&self, tab: &str, is_on: bool) -> Result<(), BackendError> {
        self.call_tab(tab, "Page.setInterceptFileChooserDialog", json!({"enabled": is_on})).await.map(drop)
    }

    async fn choose_files(&self, chooser: &Value, files: &[String]) -> Result<(), BackendError> {
        let session = chooser.get("session").and_then(Value::as_str).unwrap_or_default();
        let params = json!({"files": files, "backendNodeId": chooser["node"]});
        self.call_session(session, "DOM.setFileInputFiles", params).await.map(drop)
    }

    async fn set_offline(&self, tab: &str, is_offline: bool) -> Result<(), BackendError> {
        let conditions = json!({"offline": is_offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1});
        self.call_tab(tab, "Network.emulateNetworkConditions", conditions).await.map(drop)
    }
}

#[async_trait]
impl BrowserEvents for DevTools {
    async fn answer_dialog(&self, dialog: &str, accept: bool, text: &str) -> Result<(), BackendError> {
        let answer = json!({"accept": accept, "promptText": text});
        self.call_session(dialog, "Page.handleJavaScriptDialog", answer).await.map(drop)
    }

    fn is_new_dialog(&self, dialog: &str) -> bool {
        self.browser.is_new_dialog(dialog)
    }

    async fn crash(&self, tab: &str) -> Result<(), BackendError> {
        self.call_tab(tab, "Page.crash", json!({})).await.map(drop)
    }

    async fn history(&self, tab: &str) -> Result<TabHistory, BackendError> {
        let history = self.call_tab(tab, "Page.getNavigationHistory", json!({})).await?;
        let index = history.get("currentIndex").and_then(Value::as_i64).unwrap_or(0);
        let entries = history.get("entries").and_then(Value::as_array).into_iter().flatten();
        let entries = entries.filter_map(|entry| entry.get("id").and_then(Value::as_i64)).collect();
        Ok(TabHistory { index, entries })
    }
}

#[async_trait]
impl Contexts for DevTools {
    async fn begin(&self) -> Result<OldContext, BackendError> {
        let context = new_context(&self.browser).await?;
        let mut known = self.known.lock();
        let id = std::mem::replace(&mut known.context, context);
        known.emulation = self.start.clone();
        let tabs = known.tabs.iter().map(|known| known.tab.clone()).collect();
        Ok(OldContext { id, tabs })
    }

    fn end(&self, old: OldContext) {
        old.tabs.iter().for_each(|tab| self.forget(tab));
        let cdp = std::sync::Arc::clone(&self.browser.cdp);
        // Detached: the context ends even if the device is closed meanwhile, after `ENDING` at the latest.
        tokio::spawn(async move {
            let dispose = cdp.call(None, "Target.disposeBrowserContext", json!({"browserContextId": old.id}));
            timeout(ENDING, dispose).await
        });
    }
}

#[async_trait]
impl Storage for DevTools {
    async fn cookies(&self, tab: &str) -> Result<Vec<Value>, BackendError> {
        let kept = self.call_tab(tab, "Network.getAllCookies", json!({})).await?;
        let cookie = |cookie: &Value| {
            json!({
                "name": cookie["name"], "value": cookie["value"], "domain": cookie["domain"], "path": cookie["path"],
                "expires": cookie["expires"], "httpOnly": cookie["httpOnly"], "secure": cookie["secure"],
                "sameSite": cookie.get("sameSite").cloned().unwrap_or_else(|| "Lax".into()),
            })
        };
        Ok(kept.get("cookies").and_then(Value::as_array).into_iter().flatten().map(cookie).collect())
    }

    async fn set_cookies(&self, tab: &str, cookies: &[Value]) -> Result<(), BackendError> {
        self.call_tab(tab, "Network.setCookies", json!({"cookies": cookies})).await.map(drop)
    }

    async fn clear(&self, tab: &str, origin: Option<&str>) -> Result<(), BackendError> {
        self.call_tab(tab, "Network.clearBrowserCookies", json!({})).await?;
        if let Some(origin) = origin {
            let params = json!({"origin": origin, "storageTypes": "all"});
            self.call_tab(tab, "Storage.clearDataForOrigin", params).await?;
        }
        Ok(())
    }
}

#[async_trait]
impl PageLayout for DevTools {
    async fn displayed_texts(&self, tab: &str) -> Result<Vec<DisplayedText>, BackendError> {
        layout::displayed(self, tab).await
    }
}

#[async_trait]
impl Screencasting for DevTools {
    async fn start(&self, tab: &str) -> Result<(), BackendError> {
        let params = json!({"format": "jpeg", "quality": QUALITY, "maxWidth": LARGEST, "maxHeight": LARGEST});
        self.call_tab(tab, "Page.startScreencast", params).await.map(drop)
    }

    async fn stop(&self, tab: &str) -> Result<(), BackendError> {
        self.call_tab(tab, "Page.stopScreencast", json!({})).await.map(drop)
    }
}
