//! One request to WebDriverAgent.

use std::error::Error;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
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
/// Who does not answer for so long may hang; a shorter wait says nothing.
const LATE: Duration = Duration::from_secs(10);
/// How long one that may hang has to say that it does not.
const PROBE: Duration = Duration::from_secs(5);
/// How many requests in a row may stay without an answer until WebDriverAgent counts as hanging, although it says that it is ready.
const LATE_REQUESTS: u32 = 2;

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
    /// How many requests in a row had enough time, and no answer.
    late: AtomicU32,
}

impl WdaHttp {
    /// `usbmuxd` has the connections of an iPhone on a cable.
    pub fn new(address: WdaAddress, usbmuxd: &Usbmuxd) -> WdaHttp {
        let connector = WdaConnector::new(&address, usbmuxd, CONNECT);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .build(connector);
        WdaHttp { address, usbmuxd: usbmuxd.clone(), client, late: AtomicU32::new(0) }
    }

    pub fn address(&self) -> &WdaAddress {
        &self.address
    }

    /// Sends a request and returns the `value` of its answer. One that hangs is noticed, and not waited for again.
    pub async fn send(&self, budget: &Budget, request: WdaRequest) -> Result<Value, WdaError> {
        if self.late.load(Ordering::SeqCst) > 0 {
            self.probe(budget).await?;
        }
        let (doing, patience) = (request.doing(), budget.remaining());
        let answer = self.within(budget, request).await;
        match &answer {
            Err(WdaError::TimedOut { .. }) if patience >= LATE => {
                if self.late.fetch_add(1, Ordering::SeqCst) + 1 >= LATE_REQUESTS {
                    let evidence = format!("it answers `GET /status`, but not `{doing}`");
                    return Err(WdaError::Hung { address: self.address.clone(), evidence });
                }
            }
            Err(WdaError::TimedOut { .. } | WdaError::Cancelled) => {}
            _ => self.late.store(0, Ordering::SeqCst),
        }
        answer
    }

    /// Asks one that was late whether it still answers at all.
    async fn probe(&self, budget: &Budget) -> Result<(), WdaError> {
        let until = budget.deadline.min(Instant::now() + PROBE);
        let brief = Budget { deadline: until, ..budget.clone() };
        match self.within(&brief, WdaRequest::get("/status")).await {
            Err(WdaError::TimedOut { .. }) => {
                let evidence = "it accepts connections, but does not answer".to_string();
                Err(WdaError::Hung { address: self.address.clone(), evidence })
            }
            Err(error @ (WdaError::Cancelled | WdaError::Unreachable { .. })) => Err(error),
            _ => Ok(()),
        }
    }

    async fn within(&self, budget: &Budget, request: WdaRequest) -> Result<Value, WdaError> {
        let doing = request.doing();
        let started = Instant::now();
        let answer = match budget.run(&doing, self.exchange(request)).await {
            Ok(Err(error @ WdaError::Closed { .. })) => Err(self.unplugged().await.unwrap_or(error)),
            Ok(answer) => answer,
            Err(DriverError::Cancelled) => Err(WdaError::Cancelled),
            Err(_) => Err(WdaError::TimedOut { doing: doing.clone() }),
        };
        let failed = answer.as_ref().err();
        tracing::debug!(target: "trailblaze::ios", doing, took = ?started.elapsed(), error = failed.map(|error| error.to_string()));
        answer
    }

    async fn exchange(&self, request: WdaRequest) -> Result<Value, WdaError> {
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
        match Envelope::read(status, &body.to_bytes()) {
            Envelope::Value(value) => Ok(value),
            Envelope::Error { code, message } => Err(WdaError::Failed(WdaFault { code, doing, message })),
            Envelope::Foreign(what) => Err(self.not_wda(&doing, &what)),
        }
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

/// The innermost cause, which says what went wrong.
fn reason(error: &(dyn Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
