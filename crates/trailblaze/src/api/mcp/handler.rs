//! The requests of a client: lists, calls with progress and cancellation, and messages if the client asks for them.

// Clients of the older generation ask for messages by `logging/setLevel`.
#![allow(deprecated)]

use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::FutureExt;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, Implementation, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, LoggingLevel, LoggingMessageNotificationParam, PaginatedRequestParams,
    ProgressNotificationParam, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
    SetLevelRequestParams,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;
use tokio::sync::mpsc;
use trailblaze_protocol::exit::Exit;

use super::answer::{self, McpCallError, McpCallResult};
use super::calls::McpRequest;
use super::{McpServer, Offering, flat, resources, tools};
use crate::sessions::service::ProgressSink;

/// How long a cancelled call has to end.
const LAST_MOMENT: Duration = Duration::from_secs(2);
/// How many lines of progress may wait to be sent; more are dropped.
const LINES: usize = 64;
/// How long clients may keep a list that never changes, in milliseconds.
const FOREVER_MS: u64 = 3_600_000;

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
/// The position beyond all levels: the client did not ask for messages.
pub const NO_LOGS: usize = LEVELS.len();

fn position(level: LoggingLevel) -> usize {
    LEVELS.iter().position(|known| *known == level).unwrap_or_default()
}

struct MessageLines(mpsc::Sender<String>);

impl ProgressSink for MessageLines {
    fn say(&self, text: &str) {
        // Progress is for people who wait; a line that does not fit is not worth waiting for.
        let _ = self.0.try_send(text.to_string());
    }
}

impl McpServer {
    /// Does something for a client, tells it what goes on, and stops soon if the client cancels.
    async fn attend<T>(
        &self,
        cx: &RequestContext<RoleServer>,
        work: impl AsyncFnOnce(McpRequest<'_>) -> Result<T, McpCallError>,
    ) -> Result<T, McpCallError> {
        let (sender, mut lines) = mpsc::channel(LINES);
        let work = async {
            let progress = MessageLines(sender);
            let client = McpRequest { server: &self.0, progress: &progress, cancel: &cx.ct };
            let done = AssertUnwindSafe(work(client)).catch_unwind().await;
            done.unwrap_or_else(|_| {
                Err(McpCallError::of_exit(Exit::Bug, "the call panicked; the log has the details".to_string()))
            })
        };
        let tell = async {
            let mut n_told = 0.0;
            while let Some(line) = lines.recv().await {
                n_told += 1.0;
                self.tell(cx, line, n_told).await;
            }
        };
        let cancelled = async {
            cx.ct.cancelled().await;
            tokio::time::sleep(LAST_MOMENT).await;
        };
        tokio::select! {
            (done, ()) = async { tokio::join!(work, tell) } => done,
            () = cancelled => Err(McpCallError::failed("cancelled")),
        }
    }

    /// Sends a line as progress and as a message, as far as the client asked for them.
    async fn tell(&self, cx: &RequestContext<RoleServer>, line: String, n_told: f64) {
        if let Some(token) = cx.meta.get_progress_token() {
            let mut progress = ProgressNotificationParam::new(token, n_told);
            progress.message = Some(line.clone());
            let _ = cx.peer.notify_progress(progress).await;
        }
        let lowest = match cx.meta.log_level() {
            Some(level) => position(level),
            None => self.0.lowest.load(Ordering::Relaxed),
        };
        if position(LoggingLevel::Info) >= lowest {
            let mut message = LoggingMessageNotificationParam::new(LoggingLevel::Info, line.into());
            message.logger = Some("trailblaze".to_string());
            let _ = cx.peer.notify_logging_message(message).await;
        }
    }
}

/// The error of a request that is not a call, for which there are no failures.
fn error(error: McpCallError) -> ErrorData {
    match error {
        McpCallError::Failed(message) => ErrorData::invalid_params(message, None),
        McpCallError::Broken(error) => error,
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().enable_logging().build();
        let about = Implementation::new("trailblaze", env!("CARGO_PKG_VERSION"));
        let mut config = ServerConfig::new(capabilities).with_server_info(about);
        config.instructions = Some(match self.0.options.offering {
            Offering::Standard => tools::INSTRUCTIONS.to_string(),
            Offering::Flat => flat::INSTRUCTIONS.to_string(),
        });
        config
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        match self.0.options.offering {
            Offering::Standard => Ok(ListToolsResult::with_all_items(tools::standard())
                .with_ttl_ms(FOREVER_MS)
                .with_cache_scope(CacheScope::Public)),
            Offering::Flat => {
                let tools = self.attend(&cx, async |client| flat::list(&client).await).await.map_err(error)?;
                Ok(ListToolsResult::with_all_items(tools).with_ttl_ms(0).with_cache_scope(CacheScope::Private))
            }
        }
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let args = request.arguments.unwrap_or_default();
        let called: McpCallResult = self
            .attend(&cx, async |client| match self.0.options.offering {
                Offering::Standard => client.call(&request.name, args).await,
                Offering::Flat => flat::call(&client, &request.name, args).await,
            })
            .await;
        answer::result(called).map(Into::into)
    }

    async fn set_level(&self, request: SetLevelRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.0.lowest.store(position(request.level), Ordering::Relaxed);
        Ok(())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resources = self.attend(&cx, async |client| Ok(resources::list(&client).await)).await.map_err(error)?;
        Ok(ListResourcesResult::with_all_items(resources).with_ttl_ms(0).with_cache_scope(CacheScope::Private))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates())
            .with_ttl_ms(FOREVER_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = self.attend(&cx, async |client| resources::read(&client, &request.uri).await).await;
        let result = read.map_err(|failed| match failed {
            McpCallError::Failed(message) => ErrorData::resource_not_found(message, Some(json!({"uri": request.uri}))),
            McpCallError::Broken(error) => error,
        })?;
        Ok(result.into())
    }
}
