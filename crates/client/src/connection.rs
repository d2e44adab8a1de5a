//! HTTP/1 connections, kept open between calls.
//!
//! A request is sent a second time only if it went over a connection that had been used before, and that connection ended without a
//! single byte of a response: then Trailblaze had closed it before the request arrived. Everything else may have been carried out.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

use crate::address::Address;
use crate::error::{Code, Error};

/// The largest response, in bytes. A screenshot of a large screen has a few MiB.
pub const RESPONSE_BYTES: usize = 64 << 20;

/// How many unused connections are kept open to one address.
const IDLE: usize = 16;

/// A request, apart from where it goes.
pub struct Outgoing {
    pub address: Arc<Address>,
    /// What the path begins with.
    pub package: &'static str,
    pub path: Cow<'static, str>,
    pub content_type: &'static str,
    pub authorization: Option<HeaderValue>,
    /// Where the call was made, if it is known to be too late.
    pub called_at: Option<HeaderValue>,
    /// What Trailblaze is told.
    pub timeout: Option<Duration>,
    pub body: Bytes,
    pub deadline: Instant,
}

/// A complete response.
pub struct Whole {
    pub status: u16,
    pub body: Bytes,
}

/// The unused connections of a client and of all that were derived from it.
#[derive(Default)]
pub struct Pool {
    idle: Mutex<HashMap<String, Vec<HttpConnection>>>,
}

struct HttpConnection {
    send: SendRequest<Full<Bytes>>,
    n_received: Arc<AtomicU64>,
}

impl Pool {
    /// Sends a request and reads the whole response.
    pub async fn exchange(&self, outgoing: &Outgoing) -> Result<Whole, Error> {
        let authority = outgoing.address.authority();
        let exchange = async {
            if let Some(mut used) = self.take(&authority).await {
                let before = used.n_received.load(Ordering::Relaxed);
                match used.send.send_request(outgoing.request()?).await {
                    Ok(response) => return self.finish(&authority, used, response).await,
                    Err(_) if used.n_received.load(Ordering::Relaxed) == before => {}
                    Err(error) => return Err(broken(&authority, &error)),
                }
            }
            let mut fresh = HttpConnection::open(&outgoing.address).await?;
            let response = fresh.send.send_request(outgoing.request()?).await;
            self.finish(&authority, fresh, response.map_err(|error| broken(&authority, &error))?).await
        };
        timeout_at(outgoing.deadline, exchange).await.unwrap_or_else(|_| Err(too_late(&outgoing.path)))
    }

    async fn finish(
        &self,
        authority: &str,
        used: HttpConnection,
        response: Response<Incoming>,
    ) -> Result<Whole, Error> {
        let status = response.status().as_u16();
        let too_long = || {
            let text = format!("the response of http://{authority} is longer than {} MiB", RESPONSE_BYTES >> 20);
            Error::api(Code::ResourceExhausted, text)
        };
        if response.body().size_hint().lower() > RESPONSE_BYTES as u64 {
            return Err(too_long());
        }
        let body = Limited::new(response.into_body(), RESPONSE_BYTES).collect().await;
        let body = body.map_err(|error| match error.downcast_ref::<LengthLimitError>() {
            Some(_) => too_long(),
            None => broken(authority, &*error),
        })?;
        let mut idle = self.idle.lock();
        let idle = idle.entry(authority.to_string()).or_default();
        if idle.len() < IDLE && !used.send.is_closed() {
            idle.push(used);
        }
        Ok(Whole { status, body: body.to_bytes() })
    }

    /// An open connection, if there is one. The one used last is the most likely to be open still.
    async fn take(&self, authority: &str) -> Option<HttpConnection> {
        loop {
            let mut taken = self.idle.lock().get_mut(authority)?.pop()?;
            // Fails if the other side, or the runtime that the connection belonged to, has closed it.
            if taken.send.ready().await.is_ok() {
                return Some(taken);
            }
        }
    }
}

/// Sends a request over a connection of its own, and returns the head of the response.
pub async fn open_stream(outgoing: &Outgoing) -> Result<Response<Incoming>, Error> {
    let open = async {
        let mut fresh = HttpConnection::open(&outgoing.address).await?;
        let response = fresh.send.send_request(outgoing.request()?).await;
        response.map_err(|error| broken(&outgoing.address.authority(), &error))
    };
    timeout_at(outgoing.deadline, open).await.unwrap_or_else(|_| Err(too_late(&outgoing.path)))
}

impl HttpConnection {
    async fn open(address: &Address) -> Result<HttpConnection, Error> {
        let mut failed = None;
        for host in address.hosts() {
            match TcpStream::connect((host, address.port)).await {
                Ok(stream) => return HttpConnection::over(stream, address).await,
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        let why = failed.map(|error| error.to_string()).unwrap_or_default();
        let text = format!("cannot connect to http://{}: {why}; is Trailblaze running?", address.authority());
        Err(Error::api(Code::Unavailable, text))
    }

    async fn over(stream: TcpStream, address: &Address) -> Result<HttpConnection, Error> {
        // Without it, a request waits until the previous one was acknowledged.
        stream.set_nodelay(true).map_err(|error| broken(&address.authority(), &error))?;
        let n_received = Arc::new(AtomicU64::new(0));
        let counted = CountedBody { stream, n_received: Arc::clone(&n_received) };
        let (send, driver) =
            handshake(TokioIo::new(counted)).await.map_err(|error| broken(&address.authority(), &error))?;
        // Detached: ends when the connection is closed or no longer used. Its errors are those of the requests.
        tokio::spawn(async move { drop(driver.await) });
        Ok(HttpConnection { send, n_received })
    }
}

impl Outgoing {
    fn request(&self) -> Result<Request<Full<Bytes>>, Error> {
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(format!("{}/{}{}", self.address.path, self.package, self.path))
            .header(HOST, self.address.authority())
            .header(CONTENT_TYPE, self.content_type)
            .header("connect-protocol-version", "1");
        if let Some(key) = &self.authorization {
            request = request.header(AUTHORIZATION, key);
        }
        if let Some(place) = &self.called_at {
            request = request.header("trailblaze-called-at", place);
        }
        if let Some(timeout) = self.timeout {
            // At most ten digits.
            request = request.header("connect-timeout-ms", timeout.as_millis().clamp(1, 9_999_999_999).to_string());
        }
        let request = request.body(Full::new(self.body.clone()));
        request.map_err(|error| Error::api(Code::InvalidArgument, format!("the request cannot be sent: {error}")))
    }
}

/// The error of a connection that broke.
pub fn broken(authority: &str, error: &(dyn std::error::Error + 'static)) -> Error {
    let causes: Vec<String> =
        std::iter::successors(Some(error), |error| error.source()).map(ToString::to_string).collect();
    let text = format!("the connection to http://{authority} broke: {}", causes.join(": "));
    Error::api(Code::Unavailable, text)
}

/// The error of a call that took longer than it may.
pub fn too_late(path: &str) -> Error {
    let method = path.rsplit('/').next().unwrap_or_default();
    Error::api(Code::DeadlineExceeded, format!("{method} took too long; it may have been carried out"))
}

/// Counts what is received.
struct CountedBody {
    stream: TcpStream,
    n_received: Arc<AtomicU64>,
}

impl AsyncRead for CountedBody {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buffer);
        self.n_received.fetch_add((buffer.filled().len() - before) as u64, Ordering::Relaxed);
        polled
    }
}

impl AsyncWrite for CountedBody {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
