//! The server on a port of this machine, so that one process serves several devices.

use std::convert::Infallible;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use http_body_util::combinators::BoxBody;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::tower::StreamableHttpServerConfig;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::handler::Handler;
use super::{ServedToolset, ServerError};

const PATH: &str = "/mcp";
/// The largest request, in bytes.
const REQUEST_BYTES: usize = 32 << 20;

type Service = StreamableHttpService<Handler, LocalSessionManager>;

pub async fn serve(served: &Arc<ServedToolset>, address: SocketAddr) -> Result<(), ServerError> {
    let failed = |error: std::io::Error| ServerError::Io(format!("cannot listen on {address}: {error}"));
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let _ = writeln!(std::io::stderr(), "listening on http://{address}{PATH}");
    let service = {
        let served = Arc::clone(served);
        // Without sessions, what a tool says is sent with its answer, and a client that disconnects cancels its call.
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .enforce_origin_validation()
            .with_max_request_body_bytes(REQUEST_BYTES);
        Arc::new(Service::new(move || Ok(Handler::new(&served)), Arc::default(), config))
    };
    // If it was started by hand or by a service manager, it may have no stdin.
    let is_started_by_trailblaze = std::env::var_os("TRAILBLAZE_BASE_URL").is_some();
    let ends = async move {
        if !is_started_by_trailblaze {
            return std::future::pending().await;
        }
        let mut byte = [0];
        while tokio::io::stdin().read(&mut byte).await.is_ok_and(|n_read| n_read > 0) {}
    };
    let accepts = async {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                // A connection that cannot be accepted does not end the server.
                accepted = listener.accept() => if let Ok((stream, _)) = accepted {
                    connections.spawn(connection(stream, Arc::clone(&service)));
                },
                Some(_) = connections.join_next() => {}
            }
        }
    };
    tokio::select! {
        () = ends => Ok(()),
        () = accepts => Ok(()),
    }
}

async fn connection(stream: TcpStream, service: Arc<Service>) {
    // Without it, a response waits until the previous one was acknowledged.
    let _ = stream.set_nodelay(true);
    let handle = service_fn(move |request: Request<Incoming>| {
        let service = Arc::clone(&service);
        async move {
            if request.uri().path() != PATH {
                let text = format!("tools are served at {PATH}");
                let mut response = Response::new(BoxBody::new(Full::new(Bytes::from(text))));
                *response.status_mut() = StatusCode::NOT_FOUND;
                return Ok::<_, Infallible>(response);
            }
            Ok(service.handle(request).await)
        }
    });
    // A connection that breaks off is the client's business.
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), handle).await;
}
