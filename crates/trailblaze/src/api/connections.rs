//! Accepts connections. One that is not used cannot keep others out: it is closed after a while, and earlier if there are many.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::ConnectInfo;
use hyper::Request;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tower_service::Service;

use super::peer::is_other_user;

/// How many connections are open at the same time, at most.
const CONNECTIONS: usize = 512;
/// How long a connection may be without a request: from its start, or from the end of the last response.
const IDLE: Duration = Duration::from_secs(120);
/// How long to wait before the next try if there is no room for a connection.
const RETRY: Duration = Duration::from_millis(50);

/// How long responses may take to end when the process ends.
const CLOSING: Duration = Duration::from_secs(5);

/// The open connections of a process.
pub struct Connections {
    most: usize,
    permits: Arc<Semaphore>,
    /// Cancelled when the process ends.
    closing: CancellationToken,
    idle_limit: Duration,
    /// Whether those of other users are closed at once. A tool server of a run may be of another user, and prove by its id that it
    /// is one.
    is_own_only: bool,
    /// Those without a request, in the order in which they came to rest, and how they are told to close.
    idle: Mutex<BTreeMap<u64, Arc<Notify>>>,
    last_rest: AtomicU64,
}

impl Connections {
    pub fn new(is_own_only: bool) -> Arc<Connections> {
        Connections::limited(CONNECTIONS, IDLE, is_own_only)
    }

    fn limited(most: usize, idle_limit: Duration, is_own_only: bool) -> Arc<Connections> {
        let permits = Arc::new(Semaphore::new(most));
        let (closing, idle, last_rest) = (CancellationToken::new(), Mutex::default(), AtomicU64::new(0));
        Arc::new(Connections { most, permits, closing, idle_limit, is_own_only, idle, last_rest })
    }

    /// Closes all connections once their responses have ended, such as streams of events. Does not wait for long.
    pub async fn close(&self) {
        self.closing.cancel();
        let all = self.permits.acquire_many(u32::try_from(self.most).unwrap_or(u32::MAX));
        let _ = tokio::time::timeout(CLOSING, all).await;
    }

    /// Serves what connects to a listener, forever.
    pub async fn serve(self: Arc<Self>, listener: TcpListener, app: Router) {
        let our_port = listener.local_addr().map_or(0, |address| address.port());
        loop {
            let (stream, peer) = match listener.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Usually, too many files are open.
                    tracing::warn!(target: "trailblaze::daemon", "cannot accept a connection: {error}");
                    self.close_one();
                    tokio::time::sleep(RETRY).await;
                    continue;
                }
            };
            if self.is_own_only && is_other_user(peer, our_port) {
                continue;
            }
            let permit = self.permit().await;
            let (connections, app) = (Arc::clone(&self), app.clone());
            // Detached: ends when the connection is closed or not used. `close` waits for it, by its permit.
            tokio::spawn(async move {
                connections.carry(stream, peer, app).await;
                drop(permit);
            });
        }
    }

    /// Waits for room, which the connection makes that has been without a request for longest.
    async fn permit(&self) -> OwnedSemaphorePermit {
        loop {
            if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
                return permit;
            }
            self.close_one();
            let room = Arc::clone(&self.permits).acquire_owned();
            if let Ok(permit) = tokio::time::timeout(RETRY, room).await {
                return permit.expect("the semaphore is never closed");
            }
        }
    }

    fn close_one(&self) {
        if let Some((_, told)) = self.idle.lock().pop_first() {
            told.notify_one();
        }
    }

    async fn carry(&self, stream: TcpStream, peer: SocketAddr, app: Router) {
        // Without it, a small response waits for the acknowledgement of the previous one.
        let _ = stream.set_nodelay(true);
        let (n_requests, mut requests) = watch::channel(0);
        let service = service_fn(move |mut request: Request<Incoming>| {
            let in_progress = InProgress::new(&n_requests);
            request.extensions_mut().insert(ConnectInfo(peer));
            let response = app.clone().call(request);
            async move {
                let response = response.await?;
                Ok::<_, Infallible>(response.map(|body| ResponseBody { body, _in_progress: in_progress }))
            }
        });
        let mut builder = Builder::new(TokioExecutor::new());
        builder.http2().enable_connect_protocol();
        let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
        tokio::pin!(connection);
        tokio::select! {
            _ = &mut connection => return,
            () = self.unused(&mut requests) => return,
            () = self.closing.cancelled() => {}
        }
        connection.as_mut().graceful_shutdown();
        let _ = connection.await;
    }

    /// Returns when a connection has been without a request for too long, or must make room.
    async fn unused(&self, requests: &mut watch::Receiver<usize>) {
        while requests.wait_for(|n| *n == 0).await.is_ok() {
            let rest = self.rest();
            tokio::select! {
                () = tokio::time::sleep(self.idle_limit) => return,
                () = rest.told.notified() => return,
                _ = requests.changed() => {}
            }
        }
    }

    fn rest(&self) -> Rest<'_> {
        let (number, told) = (self.last_rest.fetch_add(1, Ordering::Relaxed), Arc::new(Notify::new()));
        self.idle.lock().insert(number, Arc::clone(&told));
        Rest { connections: self, number, told }
    }
}

/// A connection without a request, while it exists.
struct Rest<'a> {
    connections: &'a Connections,
    number: u64,
    told: Arc<Notify>,
}

impl Drop for Rest<'_> {
    fn drop(&mut self) {
        self.connections.idle.lock().remove(&self.number);
    }
}

/// A request from its head to the end of its response.
struct InProgress(watch::Sender<usize>);

impl InProgress {
    fn new(n_requests: &watch::Sender<usize>) -> InProgress {
        n_requests.send_modify(|n| *n += 1);
        InProgress(n_requests.clone())
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        self.0.send_modify(|n| *n -= 1);
    }
}

struct ResponseBody {
    body: Body,
    _in_progress: InProgress,
}

impl HttpBody for ResponseBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const REQUEST: &[u8] = b"GET /slow HTTP/1.1\r\nhost: x\r\n\r\n";
    const HOUR: Duration = Duration::from_secs(3600);

    /// A server whose answers come when `release` says so.
    async fn served(most: usize, idle_limit: Duration) -> (SocketAddr, Arc<Notify>) {
        let release = Arc::new(Notify::new());
        let held = Arc::clone(&release);
        let slow = move || {
            let held = Arc::clone(&held);
            async move {
                held.notified().await;
                "done"
            }
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(
            Connections::limited(most, idle_limit, false).serve(listener, Router::new().route("/slow", get(slow))),
        );
        (address, release)
    }

    async fn closed(stream: &mut TcpStream) {
        let mut rest = Vec::new();
        let _ = tokio::time::timeout(HOUR, stream.read_to_end(&mut rest)).await.expect("it is closed");
        assert_eq!(rest, b"");
    }

    async fn answer(stream: &mut TcpStream) -> String {
        let mut bytes = Vec::new();
        while !bytes.ends_with(b"done") {
            assert_ne!(stream.read_buf(&mut bytes).await.unwrap(), 0, "it was closed");
        }
        String::from_utf8(bytes).unwrap()
    }

    #[tokio::test]
    async fn a_connection_without_a_request_is_closed_and_one_with_a_request_is_not() {
        let (address, release) = served(16, Duration::from_millis(50)).await;
        let mut busy = TcpStream::connect(address).await.unwrap();
        busy.write_all(REQUEST).await.unwrap();
        // Nothing at all, the beginning of each protocol, and a head without an end.
        for sent in [&b""[..], b"P", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET /slow HTTP/1.1\r\nhost: x\r\n"] {
            let mut idle = TcpStream::connect(address).await.unwrap();
            idle.write_all(sent).await.unwrap();
            let mut rest = Vec::new();
            let _ = tokio::time::timeout(HOUR, idle.read_to_end(&mut rest)).await.expect("it is closed");
        }
        release.notify_one();
        assert!(answer(&mut busy).await.starts_with("HTTP/1.1 200"), "it took longer than others may be idle");
        closed(&mut busy).await;
    }

    #[tokio::test]
    async fn responses_end_before_their_connections_are_closed() {
        let release = Arc::new(Notify::new());
        let asked = Arc::new(Notify::new());
        let (held, is_asked) = (Arc::clone(&release), Arc::clone(&asked));
        let slow = move || async move {
            is_asked.notify_one();
            held.notified().await;
            "done"
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Connections::limited(2, HOUR, false);
        tokio::spawn(Arc::clone(&connections).serve(listener, Router::new().route("/slow", get(slow))));
        let mut idle = TcpStream::connect(address).await.unwrap();
        let mut busy = TcpStream::connect(address).await.unwrap();
        busy.write_all(REQUEST).await.unwrap();
        asked.notified().await;
        let closing = tokio::spawn(async move { connections.close().await });
        closed(&mut idle).await;
        release.notify_one();
        answer(&mut busy).await;
        closed(&mut busy).await;
        closing.await.unwrap();
    }

    #[tokio::test]
    async fn the_connection_that_was_idle_for_longest_makes_room() {
        let (address, release) = served(2, HOUR).await;
        let mut busy = TcpStream::connect(address).await.unwrap();
        busy.write_all(REQUEST).await.unwrap();
        let mut idle = TcpStream::connect(address).await.unwrap();
        for _ in 0..8 {
            let next = TcpStream::connect(address).await.unwrap();
            closed(&mut idle).await;
            idle = next;
        }
        release.notify_one();
        answer(&mut busy).await;
        idle.write_all(REQUEST).await.unwrap();
        release.notify_one();
        answer(&mut idle).await;
    }
}
