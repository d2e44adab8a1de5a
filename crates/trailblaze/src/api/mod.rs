//! The process's HTTP listener, on this machine's loopback addresses: the guard, the callback endpoint and the typed API. It only
//! translates requests into calls of the engine.

mod admission;
mod body;
mod callback;
mod caller;
mod connections;
mod guard;
pub mod mcp;
mod peer;
mod rpc;
pub mod service;
mod studio;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::post;
use connectrpc::Dispatcher;
use rmcp::ServerHandler;
use tokio::net::TcpListener;
use tokio::sync::OnceCell;
use tokio::task::AbortHandle;
use trailblaze_core::engine::invocations::Invocations;
use trailblaze_protocol::callback::PATH;

use crate::servers::callback::{CallbackAddress, NoAddress};
use crate::sessions::service::ClientPlace;
use admission::HostNames;
use body::MESSAGE_BYTES;
use caller::Callers;
use connections::Connections;
use mcp::{McpOptions, McpServer};
use rpc::Rpc;
use service::Offered;

/// The default port.
pub const PORT: u16 = 52525;

/// The process's only listener, on the loopback addresses of this machine. It is opened when its address is first needed,
/// and closed when it is dropped.
pub struct ApiListener {
    invocations: Arc<Invocations>,
    /// The port that must be opened; by default, the default port or any free one.
    port: Option<u16>,
    open: OnceCell<OpenListener>,
    /// What clients of the daemon ask for; only the daemon has it.
    offered: OnceLock<Offered>,
}

#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    #[error("port {port} is taken ({source}); without `--port`, a free one is used")]
    Taken { port: u16, source: std::io::Error },
    #[error("cannot open a port on 127.0.0.1: {0}")]
    NoPort(std::io::Error),
}

impl ApiListener {
    pub fn new(invocations: Arc<Invocations>, port: Option<u16>) -> Arc<ApiListener> {
        Arc::new(ApiListener { invocations, port, open: OnceCell::new(), offered: OnceLock::new() })
    }

    /// Also answers the requests of the daemon's clients. Must be called before the listener is opened.
    pub fn offer(&self, offered: Offered) {
        let _ = self.offered.set(offered);
    }
}

#[async_trait]
impl CallbackAddress for ApiListener {
    async fn base_url(&self) -> Result<String, NoAddress> {
        let open =
            self.open.get_or_try_init(|| OpenListener::open(&self.invocations, self.port, self.offered.get())).await;
        open.map(|open| format!("http://127.0.0.1:{}", open.port)).map_err(|error| NoAddress(error.to_string()))
    }

    async fn close(&self) {
        if let Some(open) = self.open.get() {
            open.tasks.iter().for_each(AbortHandle::abort);
            open.connections.close().await;
        }
    }
}

/// An open port. Dropping it closes the port.
struct OpenListener {
    port: u16,
    connections: Arc<Connections>,
    tasks: Vec<AbortHandle>,
}

impl OpenListener {
    async fn open(
        invocations: &Arc<Invocations>,
        asked: Option<u16>,
        offered: Option<&Offered>,
    ) -> Result<OpenListener, ListenError> {
        let listener = match asked {
            Some(port) => {
                bind(Ipv4Addr::LOCALHOST.into(), port).await.map_err(|source| ListenError::Taken { port, source })?
            }
            None => match bind(Ipv4Addr::LOCALHOST.into(), PORT).await {
                Ok(listener) => listener,
                Err(_) => bind(Ipv4Addr::LOCALHOST.into(), 0).await.map_err(ListenError::NoPort)?,
            },
        };
        let port = listener.local_addr().map_err(ListenError::NoPort)?.port();
        let app = router(Arc::clone(invocations), port, offered);
        let connections = Connections::new(offered.is_some());
        let mut tasks = vec![serve(&connections, listener, app.clone())];
        // `localhost` may resolve to either family. The address that tools are given is the IPv4 one, which is always open.
        if let Ok(listener) = bind(Ipv6Addr::LOCALHOST.into(), port).await {
            tasks.push(serve(&connections, listener, app));
        }
        Ok(OpenListener { port, connections, tasks })
    }
}

impl Drop for OpenListener {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

async fn bind(address: IpAddr, port: u16) -> std::io::Result<TcpListener> {
    TcpListener::bind(SocketAddr::new(address, port)).await
}

fn serve(connections: &Arc<Connections>, listener: TcpListener, app: Router) -> AbortHandle {
    tokio::spawn(Arc::clone(connections).serve(listener, app)).abort_handle()
}

fn router(invocations: Arc<Invocations>, port: u16, offered: Option<&Offered>) -> Router {
    let callers = Callers { invocations, our_port: port, is_daemon: offered.is_some() };
    let mut routes = Router::new().route(PATH, post(callback::callback)).with_state(callers.clone());
    if let Some(offered) = offered {
        routes = routes.merge(Router::new().route(service::PATH, post(service::request)).with_state(offered.clone()));
        let place = ClientPlace { variables: offered.variables.clone(), ..ClientPlace::default() };
        let mcp = McpServer::new(Arc::clone(&offered.service), McpOptions { place, ..McpOptions::default() });
        routes = routes.merge(studio::routes(offered.clone(), port));
        routes = routes.merge(mcp.route().layer(from_fn_with_state(offered.clone(), Offered::check)));
    }
    guarded(routes.merge(rpc::routes(Rpc(callers), MESSAGE_BYTES)), port)
}

/// The guard runs first, in one place, before anything is read.
fn guarded(routes: Router, port: u16) -> Router {
    routes.layer(from_fn_with_state(HostNames::at(port), guard::guard))
}

/// Serves an MCP server on a free port, as the listener serves ours, but without a key. The conformance suite of MCP tests the
/// protocol this way. Returns the port.
pub async fn serve_mcp<H: ServerHandler + Clone>(handler: H) -> std::io::Result<u16> {
    let listener = bind(Ipv4Addr::LOCALHOST.into(), 0).await?;
    let port = listener.local_addr()?.port();
    serve(&Connections::new(false), listener, guarded(mcp::route_of(handler), port));
    Ok(port)
}

/// Serves other methods on a free port, as the listener serves those of the contract. The conformance suite of Connect tests the
/// protocols this way. Returns the port.
pub async fn serve_methods<D: Dispatcher>(dispatcher: D, message_bytes: usize) -> std::io::Result<u16> {
    let listener = bind(Ipv4Addr::LOCALHOST.into(), 0).await?;
    let port = listener.local_addr()?.port();
    serve(&Connections::new(false), listener, guarded(rpc::routes(dispatcher, message_bytes), port));
    Ok(port)
}
