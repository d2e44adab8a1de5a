//! Opening connections: directly, through a tunnel, or to a proxy that forwards plain HTTP.

use std::error::Error;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;

use crate::error::reason;
use crate::proxy::Proxy;

#[derive(Clone)]
pub struct Connector {
    tcp: HttpConnector,
    proxy: Option<Proxy>,
}

impl Connector {
    pub fn new(proxy: Option<Proxy>, timeout: Duration) -> Connector {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(timeout));
        Connector { tcp, proxy }
    }
}

type BoxError = Box<dyn Error + Send + Sync>;

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Stream, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.tcp.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let (mut tcp, proxy) = (self.tcp.clone(), self.proxy.clone());
        Box::pin(async move {
            let Some(proxy) = proxy else { return Ok(Stream { io: tcp.call(to).await?, is_forwarded: false }) };
            let shown = proxy.shown();
            let failed = |error: &(dyn Error + 'static)| ProxyFailed { proxy: shown, reason: reason(error) };
            if to.scheme_str() != Some("https") {
                let io = tcp.call(proxy.uri).await.map_err(|error| failed(&error))?;
                return Ok(Stream { io, is_forwarded: true });
            }
            let mut tunnel = Tunnel::new(proxy.uri, tcp);
            if let Some(authorization) = proxy.authorization {
                tunnel = tunnel.with_auth(authorization);
            }
            let io = tunnel.call(to).await.map_err(|error| failed(&error))?;
            Ok(Stream { io, is_forwarded: false })
        })
    }
}

/// The peer may be well: it is the way to it that is closed.
#[derive(Debug, thiserror::Error)]
#[error("{reason} (through the proxy {proxy})")]
struct ProxyFailed {
    proxy: String,
    reason: String,
}

/// A connection that tells hyper whether a proxy forwards its requests, which then need a full URL.
pub struct Stream {
    io: TokioIo<TcpStream>,
    is_forwarded: bool,
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        self.io.connected().proxy(self.is_forwarded)
    }
}

impl Read for Stream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, to: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, to)
    }
}

impl Write for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, slices)
    }
}

/// TLS with the certificates that the system trusts. Loading them is slow, so it is left out where they are not needed.
pub fn tls(is_needed: bool) -> rustls::ClientConfig {
    let mut roots = rustls::RootCertStore::empty();
    if is_needed {
        // Certificates that cannot be parsed are skipped; a peer that needs one fails with its own error.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has the versions that are the default")
        .with_root_certificates(roots)
        .with_no_client_auth()
}
