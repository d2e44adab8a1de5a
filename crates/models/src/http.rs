//! One request over HTTP, within a budget, through a proxy if the environment says so.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, Request, StatusCode, Uri};
use trailblaze_core::driver::{Budget, DriverError};
use trailblaze_http::{HttpClient, ProxyError, ProxySettings, RequestErrorKind, Timeouts, USER_AGENT, reason};

/// Providers and their load balancers keep an idle connection for longer than this.
const TIMEOUTS: Timeouts = Timeouts { connect: Duration::from_secs(15), idle: Duration::from_secs(30) };
/// The largest response that is read, in bytes.
const BODY_BYTES: usize = 16 << 20;

/// A client for one URL.
pub struct Http {
    url: Uri,
    headers: HeaderMap,
    client: HttpClient,
}

pub struct Response {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// Why there is no response.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    #[error("cannot be reached: {0}")]
    Unreachable(String),
    #[error("closed the connection: {0}")]
    BrokeOff(String),
    #[error("sent more than {BODY_BYTES} bytes")]
    TooLarge,
    #[error("did not answer in time")]
    TimedOut,
    #[error("cancelled")]
    Cancelled,
}

impl Http {
    pub fn new(url: Uri, mut headers: HeaderMap, proxies: &ProxySettings) -> Result<Http, ProxyError> {
        let proxy = proxies.proxy_for(&url)?;
        let client = HttpClient::new(&url, proxy, TIMEOUTS);
        headers.insert(header::USER_AGENT, USER_AGENT);
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        Ok(Http { url, headers, client })
    }

    /// The URL without credentials and query, for messages.
    pub fn shown(&self) -> String {
        let host = self.url.host().unwrap_or_default();
        let port = self.url.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}://{host}{port}{}", self.url.scheme_str().unwrap_or_default(), self.url.path())
    }

    pub async fn post(&self, budget: &Budget, body: Bytes) -> Result<Response, SendError> {
        match budget.run("the model", self.exchange(body)).await {
            Ok(answer) => answer,
            Err(DriverError::Cancelled) => Err(SendError::Cancelled),
            Err(_) => Err(SendError::TimedOut),
        }
    }

    async fn exchange(&self, body: Bytes) -> Result<Response, SendError> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.url.clone();
        *request.headers_mut() = self.headers.clone();
        let response = self.client.request(request).await.map_err(|error| match error.kind {
            RequestErrorKind::Unreachable => SendError::Unreachable(error.reason),
            RequestErrorKind::Reset | RequestErrorKind::BrokeOff => SendError::BrokeOff(error.reason),
        })?;
        let (head, body) = response.into_parts();
        let body = Limited::new(body, BODY_BYTES).collect().await.map_err(|error| {
            if error.is::<LengthLimitError>() { SendError::TooLarge } else { SendError::BrokeOff(reason(&*error)) }
        })?;
        Ok(Response { status: head.status, headers: head.headers, body: body.to_bytes() })
    }
}
