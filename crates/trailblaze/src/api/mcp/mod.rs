//! The MCP server for outer agents, over stdio and HTTP, in both generations of the protocol. It translates requests into those of
//! the port `Service` and knows nothing of how they are carried out.

mod answer;
mod arguments;
mod calls;
mod flat;
mod handler;
mod resources;
mod tools;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use axum::Router;
use parking_lot::Mutex;
use rmcp::service::ServerInitializeError;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::tower::StreamableHttpServerConfig;
use rmcp::{ServerHandler, ServiceExt};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::sessions::service::{ClientPlace, Service};
pub use calls::at;
use handler::NO_LOGS;

/// Where the server is on the listener.
pub const PATH: &str = "/mcp";

/// The largest request over HTTP, in bytes.
const REQUEST_BYTES: usize = 4 << 20;

/// Which tools clients are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Offering {
    /// A fixed list of a few tools; all others are called through `act`.
    #[default]
    Standard,
    /// The tools of the project under their own names.
    Flat,
}

/// What a server is started with.
#[derive(Debug, Clone, Default)]
pub struct McpOptions {
    /// Where the client is. Over HTTP, clients have no folder: they name the project when they open a session.
    pub place: ClientPlace,
    pub offering: Offering,
    /// The session that calls are for if they name none.
    pub session: Option<String>,
    /// The device and target of sessions that are opened without naming one.
    pub device: Option<String>,
    pub target: Option<String>,
    /// The secrets that the agent may name besides those of the project, with the origins of pages that they are for.
    pub allowed_secrets: Vec<(String, Vec<String>)>,
}

/// The server of one connection, or of one request over HTTP.
pub struct McpServer(Inner);

/// A clone has the same service and options, and knows nothing of what another client asked for.
impl Clone for McpServer {
    fn clone(&self) -> McpServer {
        McpServer::new(Arc::clone(&self.0.service), self.0.options.clone())
    }
}

struct Inner {
    service: Arc<dyn Service>,
    options: McpOptions,
    /// The position of the lowest level of messages that the client asked for.
    lowest: AtomicUsize,
    /// The names that were last offered, if tools are offered under their own names.
    offered: Mutex<Vec<String>>,
    /// The secrets that sessions were opened with, which runs of their trails need too.
    secrets: Mutex<BTreeSet<String>>,
}

/// The connection to the client broke.
#[derive(Debug, thiserror::Error)]
#[error("the connection to the MCP client broke: {0}")]
pub struct ConnectionError(String);

impl McpServer {
    pub fn new(service: Arc<dyn Service>, options: McpOptions) -> McpServer {
        let lowest = AtomicUsize::new(NO_LOGS);
        McpServer(Inner { service, options, lowest, offered: Mutex::default(), secrets: Mutex::default() })
    }

    /// Serves the client on stdin and stdout, until stdin is closed. Calls in flight are then cancelled.
    pub async fn serve_stdio(self) -> Result<(), ConnectionError> {
        let (reader, writer) = rmcp::transport::stdio();
        self.serve_on(reader, writer).await
    }

    /// Serves a client of lines of JSON, until its side is closed.
    pub async fn serve_on<R, W>(self, reader: R, writer: W) -> Result<(), ConnectionError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let broken = |error: String| ConnectionError(error);
        let running = match self.serve((reader, writer)).await {
            Ok(running) => running,
            // The client came and went without a request.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(broken(error.to_string())),
        };
        running.waiting().await.map(drop).map_err(|error| broken(error.to_string()))
    }

    /// The route on the listener. The caller must put checks of peer, Host, Origin and key in front of it.
    pub fn route(self) -> Router {
        route_of(self)
    }
}

/// The route of a handler, with the settings of ours.
pub(super) fn route_of<H: ServerHandler + Clone>(handler: H) -> Router {
    // Without sessions of the protocol, nothing is kept between requests, and a client that disconnects cancels its call.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_max_request_body_bytes(REQUEST_BYTES);
    let sessions: Arc<LocalSessionManager> = Arc::default();
    Router::new().route_service(PATH, StreamableHttpService::new(move || Ok(handler.clone()), sessions, config))
}
