//! One request to WebDriverAgent.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::time::Instant;
use trailblaze_core::driver::{Budget, DriverError};

use super::address::WdaAddress;
use super::connect::WdaConnector;
use super::envelope::Envelope;
use super::error::{WdaError, WdaFault};
use crate::ios::usb::{MuxError, Usbmuxd};

/// How long a connection may take to open.
const CONNECT: Duration = Duration::from_secs(5);
/// How long a connection is kept for the next request.
const IDLE: Duration = Duration::from_secs(30);
/// A WebDriverAgent that does not answer for so long may hang; a shorter wait says nothing.
const LATE: Duration = Duration::from_secs(10);
/// How long one that may hang has to show that it does not.
const PROBE: Duration = Duration::from_secs(5);
/// How long one that answers nothing counts as slow. WebDriverAgent does one thing at a time, so that the tree of a large screen keeps it
/// from answering anything else.
const SLOW: Duration = Duration::from_secs(60);

/// The most bytes in an answer.
pub const SMALL: usize = 1 << 20;
pub const TREE: usize = 64 << 20;
pub const PICTURE: usize = 128 << 20;

/// A request: what is sent where, and how large its answer may be.
#[derive(Debug, Clone)]
pub struct WdaRequest {
    pub method: Method,
    /// Begins with a slash.
    pub path: String,
    /// The path for messages, without ids and arguments.
    pub shown: String,
    pub body: Option<Value>,
    pub limit: usize,
}

impl WdaRequest {
    pub fn get(path: &str) -> WdaRequest {
        let shown = path.split('?').next().unwrap_or_default().to_string();
        WdaRequest { method: Method::GET, path: path.to_string(), shown, body: None, limit: SMALL }
    }

    pub fn post(path: &str, body: Value) -> WdaRequest {
        WdaRequest { method: Method::POST, body: Some(body), ..WdaRequest::get(path) }
    }

    pub fn delete(path: &str) -> WdaRequest {
        WdaRequest { method: Method::DELETE, ..WdaRequest::get(path) }
    }

    pub fn limit(self, limit: usize) -> WdaRequest {
        WdaRequest { limit, ..self }
    }

    fn doing(&self) -> String {
        format!("{} {}", self.method, self.shown)
    }
}

/// Sends requests over connections that are kept open.
pub struct WdaHttp {
    address: WdaAddress,
    usbmuxd: Usbmuxd,
    client: Client<WdaConnector, Full<Bytes>>,
    /// The last request that had enough time, and no answer.
    late: Mutex<Option<LateRequest>>,
    /// The requests that are sent and not answered, oldest first.
    unanswered: Mutex<Vec<Arc<str>>>,
}

#[derive(Debug, Clone)]
struct LateRequest {
    doing: String,
    since: Instant,
    /// How long it was waited for.
    patience: Duration,
    /// Whether something else was answered since then.
    is_past: bool,
}

impl WdaHttp {
    /// `usbmuxd` has the connections of an iPhone on a cable.
    pub fn new(address: WdaAddress, usbmuxd: &Usbmuxd) -> WdaHttp {
        let connector = WdaConnector::new(&address, usbmuxd, CONNECT);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .build(connector);
        WdaHttp { address, usbmuxd: usbmuxd.clone(), client, late: Mutex::default(), unanswered: Mutex::default() }
    }

    pub fn address(&self) -> &WdaAddress {
        &self.address
    }

    /// Sends a request and returns the `value` of its answer. One that is slow or hangs is noticed, and not waited for again.
    pub async fn send(&self, budget: &Budget, request: WdaRequest) -> Result<Value, WdaError> {
        let late = self.late.lock().clone();
        if let Some(late) = late.as_ref().filter(|late| !late.is_past) {
            self.probe(budget, late).await?;
        }
        let (doing, since, patience) = (request.doing(), Instant::now(), budget.remaining());
        let again = late.filter(|late| late.doing == doing);
        // It is waited for as long as before only if there is more time than then.
        let answer = match &again {
            Some(late) if patience <= late.patience => self.within(&within(budget, PROBE), request).await,
            _ => self.within(budget, request).await,
        };
        match (&answer, again) {
            (Err(WdaError::TimedOut { .. }), Some(late)) if patience >= PROBE => {
                let seconds = late.since.elapsed().as_secs();
                let evidence = format!("it answers `GET /status`, but has not answered `{doing}` for {seconds} s");
                return Err(WdaError::Hung { address: self.address.clone(), evidence });
            }
            (Err(WdaError::TimedOut { doing }), None) if patience >= LATE => {
                *self.late.lock() = Some(LateRequest { doing: doing.clone(), since, patience, is_past: false });
            }
            (Err(WdaError::TimedOut { .. } | WdaError::Cancelled), _) => {}
            _ => self.answered(&doing),
        }
        answer
    }

    /// Notes that a request was answered.
    fn answered(&self, doing: &str) {
        let mut late = self.late.lock();
        late.take_if(|late| late.doing == doing);
        if let Some(late) = late.as_mut() {
            late.is_past = true;
        }
    }

    /// Asks one that was late whether it still answers at all.
    async fn probe(&self, budget: &Budget, late: &LateRequest) -> Result<(), WdaError> {
        let (address, seconds) = (self.address.clone(), late.since.elapsed().as_secs());
        match self.within(&within(budget, PROBE), WdaRequest::get("/status")).await {
            Err(WdaError::TimedOut { .. }) if late.since.elapsed() < SLOW => {
                Err(WdaError::Busy { address, doing: late.doing.clone(), seconds })
            }
            Err(WdaError::TimedOut { .. }) => {
                let evidence = format!("it accepts connections, but has answered nothing for {seconds} s");
                Err(WdaError::Hung { address, evidence })
            }
            Err(error @ (WdaError::Cancelled | WdaError::Unreachable { .. })) => Err(error),
            _ => {
                self.answered("GET /status");
                Ok(())
            }
        }
    }

    async fn within(&self, budget: &Budget, request: WdaRequest) -> Result<Value, WdaError> {
        let doing = request.doing();
        let started = Instant::now();
        let unanswered = PendingWdaRequest::add(&self.unanswered, &doing);
        let answer = match budget.run(&doing, self.exchange(request)).await {
            Ok(Err(error @ WdaError::Closed { .. })) => Err(self.unplugged().await.unwrap_or(error)),
            Ok(answer) => answer,
            Err(DriverError::Cancelled) => Err(WdaError::Cancelled),
            // It does one thing at a time, so that this is what the others wait for.
            Err(_) => Err(WdaError::TimedOut { doing: unanswered.first() }),
        };
        drop(unanswered);
        let failed = answer.as_ref().err();
        tracing::debug!(target: "trailblaze::ios", doing, took = ?started.elapsed(), error = failed.map(|error| error.to_string()));
        answer
    }

    /// What is no answer of WebDriverAgent may be that of a proxy that lost it for a moment, so that a query is sent once more.
    async fn exchange(&self, request: WdaRequest) -> Result<Value, WdaError> {
        let (doing, is_query) = (request.doing(), request.method == Method::GET);
        let answer = match self.ask(request.clone()).await? {
            (500.., Envelope::Foreign(_)) if is_query => self.ask(request).await?,
            answer => answer,
        };
        match answer.1 {
            Envelope::Value(value) => Ok(value),
            Envelope::Error { code, message } => Err(WdaError::Failed(WdaFault { code, doing, message })),
            Envelope::Foreign(what) => Err(self.not_wda(&doing, &what)),
        }
    }

    /// The status and the envelope of an answer.
    async fn ask(&self, request: WdaRequest) -> Result<(u16, Envelope), WdaError> {
        let (doing, limit) = (request.doing(), request.limit);
        let body = request.body.map(|body| body.to_string()).unwrap_or_default();
        let mut sent = Request::new(Full::new(Bytes::from(body)));
        let uri = self.address.url(&request.path).parse();
        *sent.uri_mut() = uri.map_err(|_| self.not_wda(&doing, "an id that is no part of an address"))?;
        *sent.method_mut() = request.method;
        sent.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let response = self.client.request(sent).await.map_err(|error| match error.is_connect() {
            true => WdaError::Unreachable { address: self.address.clone(), why: reason(&error) },
            false => self.closed(&doing, &error),
        })?;
        let status = response.status().as_u16();
        let body = Limited::new(response.into_body(), limit).collect().await.map_err(|error| match error
            .is::<LengthLimitError>(
        ) {
            true => WdaError::TooLarge { doing: doing.clone(), limit },
            false => self.closed(&doing, &*error),
        })?;
        Ok((status, Envelope::read(status, &body.to_bytes())))
    }

    /// That the cable of a connection that ended was pulled out, if that is so.
    async fn unplugged(&self) -> Option<WdaError> {
        let port = self.address.cabled()?;
        let attached = tokio::time::timeout(CONNECT, self.usbmuxd.attached()).await.ok()?.ok()?;
        if attached.iter().any(|device| device.has_udid(&port.udid)) {
            return None;
        }
        let why = MuxError::NotAttached { attached: attached.into_iter().map(|device| device.udid).collect() };
        Some(WdaError::Unreachable { address: self.address.clone(), why: why.to_string() })
    }

    fn closed(&self, doing: &str, error: &(dyn Error + 'static)) -> WdaError {
        WdaError::Closed { address: self.address.clone(), doing: doing.to_string(), why: reason(error) }
    }

    pub(super) fn not_wda(&self, doing: &str, what: &str) -> WdaError {
        WdaError::NotWda { address: self.address.clone(), doing: doing.to_string(), what: what.to_string() }
    }
}

/// A request that waits for its answer; it no longer does when this is dropped.
struct PendingWdaRequest<'a> {
    all: &'a Mutex<Vec<Arc<str>>>,
    doing: Arc<str>,
}

impl<'a> PendingWdaRequest<'a> {
    fn add(all: &'a Mutex<Vec<Arc<str>>>, doing: &str) -> PendingWdaRequest<'a> {
        let doing: Arc<str> = doing.into();
        all.lock().push(Arc::clone(&doing));
        PendingWdaRequest { all, doing }
    }

    /// The oldest of all.
    fn first(&self) -> String {
        self.all.lock().first().unwrap_or(&self.doing).to_string()
    }
}

impl Drop for PendingWdaRequest<'_> {
    fn drop(&mut self) {
        self.all.lock().retain(|doing| !Arc::ptr_eq(doing, &self.doing));
    }
}

/// A budget that ends no later than after a time.
fn within(budget: &Budget, time: Duration) -> Budget {
    Budget { deadline: budget.deadline.min(Instant::now() + time), ..budget.clone() }
}

/// The innermost cause, which says what went wrong.
fn reason(error: &(dyn Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
