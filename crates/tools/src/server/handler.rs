//! The requests of a client.

// Trailblaze shows the messages that tools log, although newer versions of the protocol drop them.
#![allow(deprecated)]

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures::FutureExt;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListResourcesResult,
    ListToolsResult, LoggingLevel, LoggingMessageNotificationParam, MetaObject, NotificationMetaObject,
    PaginatedRequestParams, ProgressNotificationParam, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Resource, ResourceContents, ServerCapabilities, ServerConfig, SetLevelRequestParams,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use trailblaze_protocol::event::Level;
use trailblaze_protocol::outcome::MemoryChanges;

use super::invoked::{Invoked, NOTICES, Notice};
use super::{LAST_MOMENT, ServedToolset, listing};
use crate::context::ToolContext;
use crate::error::{ToolError, ToolResult};
use crate::output::Output;
use crate::place::{LateReport, WatchedCall};
use crate::toolset::Toolset;

/// One connection of a client; over HTTP, one request.
pub struct Handler {
    served: Arc<ServedToolset>,
}

const LEVELS: [LoggingLevel; 8] = [
    LoggingLevel::Debug,
    LoggingLevel::Info,
    LoggingLevel::Notice,
    LoggingLevel::Warning,
    LoggingLevel::Error,
    LoggingLevel::Critical,
    LoggingLevel::Alert,
    LoggingLevel::Emergency,
];

impl Handler {
    pub fn new(served: &Arc<ServedToolset>) -> Handler {
        Handler { served: Arc::clone(served) }
    }

    async fn call(
        &self,
        toolset: &dyn Toolset,
        request: CallToolRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> CallToolResult {
        let meta = Value::Object(cx.meta.0.0.clone());
        let is_for_trailblaze = meta["trailblaze"].is_object();
        let (notices, mut queue) = mpsc::channel(NOTICES);
        let doubts = notices.clone();
        let invoked = Invoked::new(&self.served.client, meta, notices, cx.ct.clone());
        let mut args = request.arguments.unwrap_or_default();
        // What Trailblaze adds to arguments is in `_meta` too.
        args.retain(|name, _| !name.starts_with("_trailblaze"));
        let report = self.late_report(&request.name, &cx);
        let tool = async {
            let context = ToolContext::new(Arc::new(invoked));
            let watched = WatchedCall::begin(&request.name, report);
            let called = watched.run(toolset.call(&request.name, &context, args));
            let answer = match AssertUnwindSafe(called).catch_unwind().await {
                Ok(answer) => answer,
                Err(panic) => Err(ToolError::panicked(&request.name, &*panic)),
            };
            // Lets tasks begin that the tool has just started.
            tokio::task::yield_now().await;
            let answer = answer.and_then(|output| context.take_mistake().map_or(Ok(output), Err));
            let answer = watched.end(answer);
            if answer.is_ok() {
                for doubt in context.take_doubts(&request.name) {
                    let _ = doubts.send(Notice::Doubt(doubt)).await;
                }
            }
            // Otherwise `forward` would not end.
            drop(doubts);
            (answer, context.take_memory_changes())
        };
        let forward = async {
            let mut step = 0.0;
            while let Some(notice) = queue.recv().await {
                step += 1.0;
                self.tell(&request.name, notice, step, &cx).await;
            }
        };
        let cancelled = async {
            cx.ct.cancelled().await;
            tokio::time::sleep(LAST_MOMENT).await;
        };
        tokio::select! {
            ((answer, changes), ()) = async { tokio::join!(tool, forward) } => result(answer, &changes, is_for_trailblaze),
            () = cancelled => result(Err(ToolError::failed("cancelled")), &MemoryChanges::default(), true),
        }
    }

    /// Sends what has failed after the call that had started it.
    fn late_report(&self, tool: &str, cx: &RequestContext<RoleServer>) -> LateReport {
        let (tool, peer, runtime) = (tool.to_string(), cx.peer.clone(), tokio::runtime::Handle::current());
        let call = Value::Object(cx.meta.0.0.clone())["trailblaze"]["invocationId"].as_str().map(str::to_string);
        Arc::new(move |text, is_its| {
            let meta = match call.as_ref().filter(|_| is_its) {
                Some(call) => ("trailblazeFailedCall", json!(call)),
                None => (DOUBT, json!(true)),
            };
            let message = message(&tool, LoggingLevel::Error, text, Map::from_iter([(meta.0.to_string(), meta.1)]));
            let peer = peer.clone();
            // Detached: one message, which is lost if the client is gone.
            runtime.spawn(async move { drop(peer.notify_logging_message(message).await) });
        })
    }

    /// Sends what a tool says. A message that cannot be sent does not fail the call.
    async fn tell(&self, tool: &str, notice: Notice, step: f64, cx: &RequestContext<RoleServer>) {
        // The protocol has no place for the call that a message belongs to, and several may be in progress.
        let token = || cx.meta.get_progress_token().map(|token| ("progressToken".to_string(), json!(token)));
        let _ = match notice {
            Notice::Log(level, text) => {
                let level = match level {
                    Level::Debug => LoggingLevel::Debug,
                    Level::Info => LoggingLevel::Info,
                    Level::Warning => LoggingLevel::Warning,
                    Level::Error => LoggingLevel::Error,
                };
                if position(level) < self.served.lowest.load(Ordering::Relaxed) {
                    return;
                }
                cx.peer.notify_logging_message(message(tool, level, text, Map::from_iter(token()))).await
            }
            Notice::Doubt(text) => {
                let meta = Map::from_iter(token().into_iter().chain([(DOUBT.to_string(), json!(true))]));
                cx.peer.notify_logging_message(message(tool, LoggingLevel::Warning, text, meta)).await
            }
            Notice::Progress(text) => {
                let Some(token) = cx.meta.get_progress_token() else { return };
                let mut progress = ProgressNotificationParam::new(token, step);
                progress.message = Some(text);
                cx.peer.notify_progress(progress).await
            }
        };
    }
}

/// Marks a message that says that a tool may not have done what it says, although it passes.
const DOUBT: &str = "trailblazeDoubt";

fn message(tool: &str, level: LoggingLevel, text: String, meta: Map<String, Value>) -> LoggingMessageNotificationParam {
    let mut message = LoggingMessageNotificationParam::new(level, text.into());
    message.logger = Some(tool.to_string());
    message.meta = (!meta.is_empty()).then(|| NotificationMetaObject::from(meta));
    message
}

fn position(level: LoggingLevel) -> usize {
    LEVELS.iter().position(|known| *known == level).unwrap_or_default()
}

/// The result of a tool as Trailblaze reads it; for other clients, structured content is always an object.
fn result(answer: ToolResult, changes: &MemoryChanges, is_for_trailblaze: bool) -> CallToolResult {
    let own = |entries: Value| Some(MetaObject(Map::from_iter([("trailblaze".to_string(), entries)])));
    let output = match answer {
        Ok(output) => output,
        Err(error) => {
            let mut result = CallToolResult::error(vec![ContentBlock::text(error.to_string())]);
            result.meta = own(json!({"variant": error.variant().name()}));
            return result;
        }
    };
    let mut result = CallToolResult::success(vec![ContentBlock::text(output.shown_text())]);
    result.structured_content = structured(output, is_for_trailblaze);
    if !changes.is_empty() {
        result.meta = own(json!({"memoryDelta": changes.set, "memoryDeletions": changes.deleted}));
    }
    result
}

fn structured(output: Output, is_for_trailblaze: bool) -> Option<Value> {
    let delegates = (!output.delegates.is_empty()).then(|| json!(output.delegates));
    match (output.value, delegates) {
        (Some(Value::Object(mut fields)), delegates) => {
            fields.extend(delegates.map(|delegates| ("_trailblaze_delegates".to_string(), delegates)));
            Some(fields.into())
        }
        (_, Some(delegates)) => Some(json!({"_trailblaze_delegates": delegates})),
        (Some(value), None) if is_for_trailblaze => Some(value),
        (Some(value), None) => Some(json!({"result": value})),
        (None, None) => None,
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().enable_logging().build();
        let about = Implementation::new(self.served.name.clone(), self.served.version.clone());
        let mut config = ServerConfig::new(capabilities).with_server_info(about);
        config.instructions = self.served.instructions.clone();
        config
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(listing::tools(&self.served)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(toolset) = self.served.toolsets.get(&*request.name).cloned() else {
            return Err(ErrorData::invalid_params(format!("unknown tool `{}`", request.name), None));
        };
        Ok(self.call(&*toolset, request, cx).await.into())
    }

    async fn set_level(&self, request: SetLevelRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.served.lowest.store(position(request.level), Ordering::Relaxed);
        Ok(())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let registry = Resource::new(listing::REGISTRY, listing::REGISTRY).with_mime_type("application/json");
        Ok(ListResourcesResult::with_all_items(vec![registry]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != listing::REGISTRY {
            return Err(ErrorData::resource_not_found(format!("unknown resource `{}`", request.uri), None));
        }
        let text = listing::registry(&self.served).to_string();
        let contents = ResourceContents::text(text, listing::REGISTRY).with_mime_type("application/json");
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}
