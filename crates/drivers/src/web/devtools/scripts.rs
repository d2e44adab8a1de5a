//! Scripts in pages: what runs in each document, a user's script, and scripts that do not end.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use super::super::backend::{BackendError, ExecutionWorld};
use super::cdp::Cdp;
use super::{DevTools, SessionId, WORLD};

/// How long a page that is to be left may be busy.
const BUSY: Duration = Duration::from_secs(2);
/// How long a page may be busy with a script that was given up.
const MOMENT: Duration = Duration::from_millis(300);
/// How long the browser may take to stop a script.
const STOPPING: Duration = Duration::from_secs(1);

/// The command that runs a script in the present documents of a session and in all later ones.
pub fn preload(world: ExecutionWorld, script: &str) -> (&'static str, Value) {
    let mut params = json!({"source": script, "runImmediately": true});
    if world == ExecutionWorld::Isolated {
        params["worldName"] = WORLD.into();
    }
    ("Page.addScriptToEvaluateOnNewDocument", params)
}

/// Runs a user's script in the page's own world.
pub async fn run(devtools: &DevTools, session: &str, script: &str) -> Result<Value, BackendError> {
    let params = json!({"expression": script, "awaitPromise": true, "userGesture": true, "replMode": true});
    let cdp = Arc::clone(&devtools.browser.cdp);
    let mut running = RunningScript { cdp, session: session.to_string(), has_ended: false };
    let mut answer = devtools.call_session(session, "Runtime.evaluate", params).await?;
    // With `replMode`, a promise that is the value of the script is not awaited.
    let object = answer.pointer("/result/objectId").filter(|_| answer.get("exceptionDetails").is_none()).cloned();
    if let Some(object) = object {
        let itself = "function() { return this }";
        let params =
            json!({"objectId": object, "functionDeclaration": itself, "returnByValue": true, "awaitPromise": true});
        answer = devtools.call_session(session, "Runtime.callFunctionOn", params).await?;
        devtools.call_session(session, "Runtime.releaseObject", json!({"objectId": object})).await?;
    }
    running.has_ended = true;
    value_of(&answer)
}

/// A script that is being evaluated; stopped when nothing waits for it any more.
struct RunningScript {
    cdp: Arc<Cdp>,
    session: SessionId,
    has_ended: bool,
}

impl Drop for RunningScript {
    fn drop(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if self.has_ended {
            return;
        }
        let (cdp, session) = (Arc::clone(&self.cdp), std::mem::take(&mut self.session));
        // Detached: stops what nothing waits for any more. Ends after `MOMENT` and `STOPPING` at the latest.
        runtime.spawn(async move {
            // One that only waits for something keeps nothing busy, and another script would be stopped in its place.
            if !answers(&cdp, &session, MOMENT).await {
                stop(&cdp, &session).await;
            }
        });
    }
}

/// Stops the scripts of a page that is busy; false if that does not help.
pub async fn interrupt(cdp: &Cdp, session: &str) -> bool {
    answers(cdp, session, BUSY).await || stop(cdp, session).await && answers(cdp, session, BUSY).await
}

/// Whether the scripts of a page leave it time to answer. A page that refuses to is not busy.
async fn answers(cdp: &Cdp, session: &str, within: Duration) -> bool {
    timeout(within, cdp.call(Some(session), "Runtime.evaluate", json!({"expression": "1"}))).await.is_ok()
}

/// Stops the script that is running.
async fn stop(cdp: &Cdp, session: &str) -> bool {
    timeout(STOPPING, cdp.call(Some(session), "Runtime.terminateExecution", json!({}))).await.is_ok()
}

pub fn value_of(answer: &Value) -> Result<Value, BackendError> {
    if let Some(thrown) = answer.get("exceptionDetails") {
        let text = thrown.pointer("/exception/description").or_else(|| thrown.get("text"));
        let text = text.and_then(Value::as_str).unwrap_or("an error without a message");
        return Err(BackendError::Threw(text.lines().next().unwrap_or_default().to_string()));
    }
    Ok(answer.pointer("/result/value").cloned().unwrap_or_default())
}
