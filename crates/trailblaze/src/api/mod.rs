//! The server on this machine's loopback that tools call back to.

mod callback;
mod guard;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::routing::post;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;
use trailblaze_core::engine::invocations::Invocations;
use trailblaze_protocol::callback::PATH;

use guard::Names;

/// The port that is taken unless another is asked for.
pub const PORT: u16 = 52525;

/// Answers as long as it lives.
pub struct LoopbackServer {
    port: u16,
    tasks: Vec<AbortHandle>,
}

#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error("port {port} is taken: {source}")]
    Taken { port: u16, source: std::io::Error },
    #[error("no port can be opened on 127.0.0.1: {0}")]
    NoPort(std::io::Error),
}

impl LoopbackServer {
    /// Opens the port that was asked for; else the usual one, or any that is free.
    pub async fn start(invocations: Arc<Invocations>, asked: Option<u16>) -> Result<LoopbackServer, ServerError> {
        let listener = match asked {
            Some(port) => {
                bind(Ipv4Addr::LOCALHOST.into(), port).await.map_err(|source| ServerError::Taken { port, source })?
            }
            None => match bind(Ipv4Addr::LOCALHOST.into(), PORT).await {
                Ok(listener) => listener,
                Err(_) => bind(Ipv4Addr::LOCALHOST.into(), 0).await.map_err(ServerError::NoPort)?,
            },
        };
        let port = listener.local_addr().map_err(ServerError::NoPort)?.port();
        let app = router(invocations, port);
        let mut tasks = vec![serve(listener, app.clone())];
        // Whoever says `localhost` may mean either family. The address that we hand out is the one that surely answers.
        if let Ok(listener) = bind(Ipv6Addr::LOCALHOST.into(), port).await {
            tasks.push(serve(listener, app));
        }
        Ok(LoopbackServer { port, tasks })
    }

    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for LoopbackServer {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

async fn bind(address: IpAddr, port: u16) -> std::io::Result<TcpListener> {
    TcpListener::bind(SocketAddr::new(address, port)).await
}

fn serve(listener: TcpListener, app: Router) -> AbortHandle {
    let service = app.into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(async move { axum::serve(listener, service).await }).abort_handle()
}

/// Every way in. Who may come in at all is decided in one place, before anything is read.
fn router(invocations: Arc<Invocations>, port: u16) -> Router {
    let guarded = axum::middleware::from_fn_with_state(Names::at(port), guard::guard);
    Router::new().route(PATH, post(callback::callback)).layer(guarded).with_state(invocations)
}
