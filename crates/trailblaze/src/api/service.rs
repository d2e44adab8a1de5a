//! The requests of clients of the daemon: `POST /daemon` with the daemon's key. The response is one JSON object a line: progress,
//! signs of life, and at the end the answer or the error.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request as HttpRequest, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::stream::unfold;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::body;
use crate::sessions::service::generated::Studio;
use crate::sessions::service::{Entrance, ProgressSink, Service, ServiceAnswer, ServiceError, ServiceRequest};

/// The path of the endpoint.
pub const PATH: &str = "/daemon";
/// The largest request, in bytes.
const REQUEST_BYTES: usize = 4 << 20;
/// How many lines wait for a client to read them.
const WAITING_LINES: usize = 4096;
/// How often a client that waits gets a sign of life.
pub const ALIVE_EVERY: Duration = Duration::from_secs(5);

/// How long a client may take to close its connection while the daemon is ending.
const TO_HANG_UP: Duration = Duration::from_secs(1);

/// One line of a response.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ServiceLine {
    Progress(String),
    ToolOutput(String),
    Alive,
    Answer(Box<ServiceAnswer>),
    Error(ServiceError),
}

/// The service that the listener offers, and the key that its clients present.
#[derive(Clone)]
pub struct Offered {
    pub service: Arc<dyn Service>,
    pub key: Arc<str>,
    pub studio: Arc<dyn Studio>,
    /// Who may use the studio.
    pub entrance: Arc<dyn Entrance>,
    /// What sessions of clients without variables of their own get.
    pub variables: BTreeMap<String, String>,
    pub in_flight: Arc<InFlight>,
}

/// Counts the requests in flight, so that a daemon that ends can finish them.
pub struct InFlight {
    count: watch::Sender<usize>,
    is_ending: AtomicBool,
}

impl Default for InFlight {
    fn default() -> InFlight {
        InFlight { count: watch::Sender::new(0), is_ending: AtomicBool::new(false) }
    }
}

impl InFlight {
    /// Counts a request until its response was sent. `None` if the daemon is ending.
    fn enter(self: &Arc<Self>) -> Option<EnteredRequest> {
        self.count.send_modify(|count| *count += 1);
        let entered = EnteredRequest(Arc::clone(self));
        // In this order, so that either this sees the end coming or the end sees this request.
        (!self.is_ending.load(Ordering::SeqCst)).then_some(entered)
    }

    /// Refuses further requests, and waits for those in flight.
    pub async fn finish(&self) {
        self.is_ending.store(true, Ordering::SeqCst);
        let _ = self.count.subscribe().wait_for(|count| *count == 0).await;
    }
}

struct EnteredRequest(Arc<InFlight>);

impl Drop for EnteredRequest {
    fn drop(&mut self) {
        self.0.count.send_modify(|count| *count -= 1);
    }
}

impl Offered {
    /// Whether a request presents the key. Compares digests, so that the time it takes says nothing about the key.
    pub fn admits(&self, headers: &HeaderMap) -> bool {
        let presented = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let presented = presented.and_then(|value| value.split_once(' '));
        presented.is_some_and(|(scheme, key)| {
            scheme.eq_ignore_ascii_case("bearer")
                && Sha256::digest(key.trim().as_bytes()) == Sha256::digest(self.key.as_bytes())
        })
    }

    /// Lets requests with the key pass.
    pub async fn check(State(offered): State<Offered>, request: HttpRequest, next: Next) -> Response {
        match offered.admits(request.headers()) {
            true => next.run(request).await,
            false => Offered::refuse(),
        }
    }

    /// The response to a request without the key.
    pub fn refuse() -> Response {
        let error = ServiceError::invalid("the request needs the daemon's key: `Authorization: Bearer KEY`");
        (StatusCode::UNAUTHORIZED, axum::Json(ServiceLine::Error(error))).into_response()
    }
}

pub async fn request(State(offered): State<Offered>, request: HttpRequest) -> Response {
    if !offered.admits(request.headers()) {
        return Offered::refuse();
    }
    let Some(entered) = offered.in_flight.enter() else {
        return refused(StatusCode::SERVICE_UNAVAILABLE, "the daemon is ending".to_string());
    };
    let bytes = match body::read(request.into_body(), REQUEST_BYTES).await {
        Ok(bytes) => bytes,
        Err(error) => return refused(StatusCode::PAYLOAD_TOO_LARGE, error.to_string()),
    };
    let request: ServiceRequest = match serde_json::from_slice(&bytes) {
        Ok(request) => request,
        Err(error) => return refused(StatusCode::BAD_REQUEST, format!("not a request: {error}")),
    };
    let (lines, receiver) = mpsc::channel(WAITING_LINES);
    let cancel = CancellationToken::new();
    let task = cancel.clone();
    // Detached: a client that goes away cancels its request, which cleans up and then ends.
    tokio::spawn(async move {
        let progress = ReplyLines { lines: lines.clone(), n_dropped: AtomicUsize::new(0) };
        let answer = offered.service.request(request, &progress, &task).await;
        let n_dropped = progress.n_dropped.into_inner();
        if n_dropped > 0 {
            let text = format!("{n_dropped} further lines of tools are not shown here; the record of the run has them");
            let _ = lines.send(ServiceLine::Progress(text)).await;
        }
        let line = match answer {
            Ok(answer) => ServiceLine::Answer(Box::new(answer)),
            Err(error) => ServiceLine::Error(error),
        };
        let _ = lines.send(line).await;
    });
    let streaming = Streaming { lines: receiver, _cancels: cancel.drop_guard(), entered };
    let stream = unfold(streaming, |mut streaming| async move {
        let line = match tokio::time::timeout(ALIVE_EVERY, streaming.lines.recv()).await {
            Ok(Some(line)) => line,
            Ok(None) => {
                // The process must not end before the client has received the answer; then the client closes the connection.
                if streaming.entered.0.is_ending.load(Ordering::SeqCst) {
                    let _ = tokio::time::timeout(TO_HANG_UP, std::future::pending::<()>()).await;
                }
                return None;
            }
            Err(_) => ServiceLine::Alive,
        };
        let mut bytes = serde_json::to_vec(&line).unwrap_or_default();
        bytes.push(b'\n');
        Some((Ok::<Bytes, std::convert::Infallible>(bytes.into()), streaming))
    });
    ([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(stream)).into_response()
}

/// A response under way. If the client goes away, its request is cancelled.
struct Streaming {
    lines: mpsc::Receiver<ServiceLine>,
    _cancels: DropGuard,
    entered: EnteredRequest,
}

struct ReplyLines {
    lines: mpsc::Sender<ServiceLine>,
    /// The lines of tools that were not read in time.
    n_dropped: AtomicUsize,
}

impl ProgressSink for ReplyLines {
    fn say(&self, text: &str) {
        // Progress that is not read in time is dropped.
        let _ = self.lines.try_send(ServiceLine::Progress(text.to_string()));
    }

    fn tool_output(&self, text: &str) {
        if self.lines.try_send(ServiceLine::ToolOutput(text.to_string())).is_err() {
            self.n_dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn tool_output_dropped(&self, n_lines: usize) {
        self.n_dropped.fetch_add(n_lines, Ordering::Relaxed);
    }
}

fn refused(status: StatusCode, message: String) -> Response {
    (status, axum::Json(ServiceLine::Error(ServiceError::invalid(message)))).into_response()
}
