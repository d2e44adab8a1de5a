//! One tab in a context of its own: where its document is, whether it is loading, and the world beside the page's scripts in
//! which the walker lives.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::Instant;
use trailblaze_core::driver::{Budget, DriverError};
use trailblaze_core::screen::SnapshotId;

use super::browser::Browser;
use super::cdp::{CdpError, Listener};

const WALKER: &str = include_str!("walker.js");
const WORLD: &str = "trailblaze";
const BINDING: &str = "trailblazeChanged";
/// How long a look waits for a document that is being loaded. What never loads is looked at as it is.
const LOADING: Duration = Duration::from_secs(10);

pub struct Tab {
    pub browser: Arc<Browser>,
    context: String,
    session: String,
    heard: Arc<Heard>,
}

/// What the tab told since it was opened.
struct Heard {
    browser: Arc<Browser>,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    session: String,
    main_frame: String,
    /// Counts everything that may have changed what is seen.
    version: u64,
    is_loading: bool,
    /// The world of the walker in the main frame's document.
    world: Option<i64>,
    is_crashed: bool,
}

impl Tab {
    pub async fn open(browser: Arc<Browser>, size: (u32, u32)) -> Result<Tab, CdpError> {
        let cdp = &browser.cdp;
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_string();
        let made = cdp.call(None, "Target.createBrowserContext", json!({"disposeOnDetach": true})).await?;
        let context = text(&made, "browserContextId");
        let params = json!({"url": "about:blank", "browserContextId": context, "width": size.0, "height": size.1});
        let target = text(&cdp.call(None, "Target.createTarget", params).await?, "targetId");
        let params = json!({"targetId": target, "flatten": true});
        let session = text(&cdp.call(None, "Target.attachToTarget", params).await?, "sessionId");
        let heard = Arc::new(Heard {
            browser: Arc::clone(&browser),
            state: Mutex::new(State { session: session.clone(), version: 1, ..State::default() }),
            changed: Notify::new(),
        });
        let listener: Arc<dyn Listener> = Arc::clone(&heard) as Arc<dyn Listener>;
        cdp.listen(&session, &listener);
        let tab = Tab { browser: Arc::clone(&browser), context, session, heard };
        let tree = tab.call("Page.getFrameTree", json!({})).await?;
        let main_frame = tree.pointer("/frameTree/frame/id").and_then(Value::as_str).unwrap_or_default().to_string();
        tab.heard.state().main_frame = main_frame;
        let metrics = json!({"width": size.0, "height": size.1, "deviceScaleFactor": 1, "mobile": false});
        tab.call("Emulation.setDeviceMetricsOverride", metrics).await?;
        tab.call("Page.enable", json!({})).await?;
        tab.call("Runtime.enable", json!({})).await?;
        tab.call("Runtime.addBinding", json!({"name": BINDING, "executionContextName": WORLD})).await?;
        let script = json!({"source": WALKER, "worldName": WORLD, "runImmediately": true});
        tab.call("Page.addScriptToEvaluateOnNewDocument", script).await?;
        Ok(tab)
    }

    pub async fn call(&self, method: &str, params: Value) -> Result<Value, CdpError> {
        self.browser.cdp.call(Some(&self.session), method, params).await
    }

    /// A command within a budget, with the words of the engine for what goes wrong.
    pub async fn command(&self, budget: &Budget, method: &str, params: Value) -> Result<Value, DriverError> {
        budget.run(method, self.call(method, params)).await?.map_err(|error| self.wrong(error))
    }

    pub fn wrong(&self, error: CdpError) -> DriverError {
        if self.heard.state().is_crashed {
            return DriverError::Lost { evidence: "the page crashed".to_string() };
        }
        match self.browser.end() {
            Some(evidence) => DriverError::Lost { evidence },
            None if error == CdpError::Gone => DriverError::Lost { evidence: error.to_string() },
            None => DriverError::Refused { reason: error.to_string() },
        }
    }

    /// Waits until the document that is being loaded is there, but not for ever.
    pub async fn settle(&self, budget: &Budget) -> Result<(), DriverError> {
        let until = budget.deadline.min(Instant::now() + LOADING);
        self.wait(budget, until, |state| state.is_crashed || !state.is_loading && state.world.is_some()).await?;
        if self.heard.state().is_crashed {
            return Err(DriverError::Lost { evidence: "the page crashed".to_string() });
        }
        match self.browser.end() {
            Some(evidence) => Err(DriverError::Lost { evidence }),
            None => Ok(()),
        }
    }

    /// Waits until something holds of what was heard, or the time is up.
    async fn wait(&self, budget: &Budget, until: Instant, holds: impl Fn(&State) -> bool) -> Result<(), DriverError> {
        loop {
            let changed = self.heard.changed.notified();
            tokio::pin!(changed);
            // Enlisted before the look, so that no change between look and wait is missed.
            changed.as_mut().enable();
            if holds(&self.heard.state()) {
                return Ok(());
            }
            tokio::select! {
                biased;
                () = budget.cancel.cancelled() => return Err(DriverError::Cancelled),
                () = changed => {}
                () = tokio::time::sleep_until(until) => return Ok(()),
            }
        }
    }

    /// Evaluates an expression beside the page's scripts. A document that goes away meanwhile is followed to the next.
    pub async fn ask(&self, budget: &Budget, expression: &str) -> Result<Value, DriverError> {
        loop {
            self.settle(budget).await?;
            let Some(world) = self.heard.state().world else {
                return Err(DriverError::TimedOut { what: "the page to load".to_string() });
            };
            let params =
                json!({"expression": expression, "contextId": world, "returnByValue": true, "awaitPromise": true});
            let answer = budget.run("the page to answer", self.call("Runtime.evaluate", params)).await?;
            match answer {
                Ok(answer) => return value_of(&answer),
                // The world went with its document.
                Err(CdpError::Refused { .. }) if self.heard.state().world != Some(world) => {}
                Err(CdpError::Refused { message, .. }) if message.contains("navigated or closed") => {
                    self.heard.forget(world);
                }
                Err(error) => return Err(self.wrong(error)),
            }
        }
    }

    /// Evaluates a script of the user among the page's own.
    pub async fn evaluate(&self, budget: &Budget, script: &str) -> Result<Value, DriverError> {
        self.settle(budget).await?;
        let params = json!({
            "expression": script, "returnByValue": true, "awaitPromise": true, "userGesture": true, "replMode": true,
        });
        value_of(&self.command(budget, "Runtime.evaluate", params).await?)
    }

    pub fn version(&self) -> SnapshotId {
        SnapshotId(self.heard.state().version)
    }

    /// Something was done that may change what is seen, though nothing was told yet.
    pub fn touch(&self) {
        self.heard.bump(|_| {});
    }

    /// A document is on its way, though the browser did not say so yet.
    pub fn expect_document(&self) {
        self.heard.bump(|state| state.is_loading = true);
    }

    pub async fn changed(&self, budget: &Budget, since: SnapshotId) -> Result<(), DriverError> {
        self.wait(budget, budget.deadline, |state| SnapshotId(state.version) != since).await
    }

    pub async fn close(&self) {
        let dispose =
            self.browser.cdp.call(None, "Target.disposeBrowserContext", json!({"browserContextId": self.context}));
        let _ = tokio::time::timeout(Duration::from_secs(2), dispose).await;
    }
}

impl Heard {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn bump(&self, change: impl FnOnce(&mut State)) {
        {
            let mut state = self.state();
            change(&mut state);
            state.version += 1;
        }
        self.changed.notify_waiters();
    }

    fn forget(&self, world: i64) {
        self.bump(|state| state.world = state.world.filter(|known| *known != world));
    }

    /// A dialog stops the page until it is answered, so it is, at once.
    fn answer_dialog(&self) {
        let session = self.state().session.clone();
        let browser = Arc::clone(&self.browser);
        tokio::spawn(async move {
            let params = json!({"accept": true});
            let _ = browser.cdp.call(Some(&session), "Page.handleJavaScriptDialog", params).await;
        });
    }
}

impl Listener for Heard {
    fn told(&self, method: &str, params: &Value) {
        let text = |pointer: &str| params.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        match method {
            "Runtime.bindingCalled" if text("/name") == BINDING => self.bump(|_| {}),
            "Runtime.executionContextCreated" if text("/context/name") == WORLD => {
                let frame = text("/context/auxData/frameId");
                let id = params.pointer("/context/id").and_then(Value::as_i64);
                self.bump(|state| {
                    if state.main_frame == frame {
                        state.world = id;
                    }
                });
            }
            "Runtime.executionContextDestroyed" => {
                if let Some(id) = params.get("executionContextId").and_then(Value::as_i64) {
                    self.forget(id);
                }
            }
            "Runtime.executionContextsCleared" => self.bump(|state| state.world = None),
            "Page.frameStartedLoading" | "Page.frameStartedNavigating" => {
                let frame = text("/frameId");
                self.bump(|state| state.is_loading |= state.main_frame == frame);
            }
            "Page.frameNavigated" if params.pointer("/frame/parentId").is_none() => {
                let frame = text("/frame/id").to_string();
                self.bump(|state| state.main_frame = frame);
            }
            "Page.frameStoppedLoading" => {
                let frame = text("/frameId");
                self.bump(|state| state.is_loading &= state.main_frame != frame);
            }
            // What comes after, such as pictures, is not waited for.
            "Page.domContentEventFired" => self.bump(|state| state.is_loading = false),
            "Page.navigatedWithinDocument" => self.bump(|state| state.is_loading = false),
            "Page.javascriptDialogOpening" => self.answer_dialog(),
            "Inspector.targetCrashed" => self.bump(|state| state.is_crashed = true),
            _ => {}
        }
    }
}

fn value_of(answer: &Value) -> Result<Value, DriverError> {
    if let Some(thrown) = answer.get("exceptionDetails") {
        let text = thrown.pointer("/exception/description").or_else(|| thrown.get("text"));
        let text = text.and_then(Value::as_str).unwrap_or("an error without words");
        let reason = format!("the script threw: {}", text.lines().next().unwrap_or_default());
        return Err(DriverError::Refused { reason });
    }
    Ok(answer.pointer("/result/value").cloned().unwrap_or_default())
}
