//! What a tool in the engine asks Trailblaze for while it runs: what the callback and the typed API offer to one in a process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use trailblaze_core::engine::cx::Cx;
use trailblaze_core::engine::fault::Fault;
use trailblaze_core::limits;
use trailblaze_protocol::event::CallOrigin;
use trailblaze_script::{HostError, LogLine, ScriptHost};

use crate::connection::PeerListener;
use crate::notification_router::NotificationRouter;
use crate::typed;

/// The host of one call. `token` is the one of its progress.
pub struct EmbeddedCallHost {
    pub cx: Option<Cx>,
    pub router: Arc<NotificationRouter>,
    pub token: u64,
    pub n_steps: AtomicU64,
}

#[async_trait]
impl ScriptHost for EmbeddedCallHost {
    async fn ask(&self, operation: &str, mut payload: Value) -> Result<Value, HostError> {
        let text = |name: &str| payload[name].as_str().unwrap_or_default().to_string();
        match operation {
            "log" => {
                let about = json!({"progressToken": self.token, "trailblazeDoubt": payload["isDoubt"]});
                let message = json!({"level": text("level"), "data": payload["message"].take(), "_meta": about});
                self.router.notified("notifications/message", message);
                return Ok(Value::Null);
            }
            "progress" => {
                let step = self.n_steps.fetch_add(1, Ordering::Relaxed) + 1;
                let params =
                    json!({"progressToken": self.token, "progress": step, "message": payload["message"].take()});
                self.router.notified("notifications/progress", params);
                return Ok(Value::Null);
            }
            _ => {}
        }
        let cx = self.cx.clone().ok_or_else(|| HostError::Refused("the call has ended".to_string()))?;
        let answer: BoxFuture<'static, Result<Value, HostError>> = match operation {
            "call" => {
                let (tool, args) = (text("tool"), payload["args"].take());
                async move { call(&cx, &tool, args.as_object().cloned().unwrap_or_default()).await }.boxed()
            }
            "rpc" => {
                let (method, request) = (text("method"), payload["request"].take());
                async move { Ok(rpc(&cx, &method, request).await) }.boxed()
            }
            other => return Err(HostError::Refused(format!("there is no `{other}`"))),
        };
        // A task of its own: if the tool does not wait for it, it ends as any nested call does, with its caller.
        let answering = tokio::spawn(answer);
        answering.await.unwrap_or_else(|error| Err(HostError::Refused(error.to_string())))
    }

    fn log(&self, _: LogLine) {}

    fn doubt(&self, _: String) {}
}

async fn call(cx: &Cx, tool: &str, args: Map<String, Value>) -> Result<Value, HostError> {
    if cx.depth() >= limits::CALL_DEPTH {
        let text = format!("`{tool}` was not called: calls nest deeper than {}", limits::CALL_DEPTH);
        return Err(HostError::Refused(text));
    }
    let registry = cx.session.registry_with(tool).await;
    if registry.get(tool).is_none() {
        return Err(HostError::Refused(registry.explain_missing(tool).to_string()));
    }
    match cx.call(tool, args).await {
        Ok(outcome) => Ok(json!({"isError": outcome.is_error(), "text": outcome.text})),
        Err(fault @ (Fault::BadArguments { .. } | Fault::UnknownTool { .. })) => {
            Err(HostError::Refused(fault.to_string()))
        }
        Err(fault) => Ok(json!({"isError": true, "text": fault.to_string()})),
    }
}

async fn rpc(cx: &Cx, method: &str, request: Value) -> Value {
    match typed::call_json(cx, CallOrigin::Callback, method, request).await {
        Ok(response) => json!({"response": response}),
        Err(error) => json!({"error": {"code": error.code.as_str(), "message": error.message}}),
    }
}
