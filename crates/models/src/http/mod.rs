//! One request over HTTP, within a budget, through a proxy if the environment says so.

mod connect;
mod proxy;

use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, Request, StatusCode, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use trailblaze_core::driver::{Budget, DriverError};

use connect::Connector;
pub use proxy::{ProxyError, ProxySettings};

/// How long a connection may take to open.
const CONNECT: Duration = Duration::from_secs(15);
/// The largest response that is read, in bytes.
const BODY_BYTES: usize = 16 << 20;
const USER_AGENT: HeaderValue = HeaderValue::from_static(concat!("trailblaze/", env!("CARGO_PKG_VERSION")));

/// A client for one URL. Follows no redirects, so that a key is sent nowhere else.
pub struct Http {
    url: Uri,
    headers: HeaderMap,
    client: Client<HttpsConnector<Connector>, Full<Bytes>>,
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
        if let Some(authorization) = proxy.as_ref().and_then(|proxy| proxy.authorization.clone())
            && url.scheme_str() == Some("http")
        {
            headers.insert(header::PROXY_AUTHORIZATION, authorization);
        }
        let tls = connect::tls(url.scheme_str() == Some("https"));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .wrap_connector(Connector::new(proxy, CONNECT));
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            // Shorter than what providers and their load balancers keep an idle connection for.
            .pool_idle_timeout(Duration::from_secs(30))
            .build(connector);
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
        let response = self.client.request(request).await.map_err(|error| {
            let reason = reason(&error);
            if error.is_connect() { SendError::Unreachable(reason) } else { SendError::BrokeOff(reason) }
        })?;
        let (head, body) = response.into_parts();
        let body = Limited::new(body, BODY_BYTES).collect().await.map_err(|error| {
            if error.is::<LengthLimitError>() { SendError::TooLarge } else { SendError::BrokeOff(reason(&*error)) }
        })?;
        Ok(Response { status: head.status, headers: head.headers, body: body.to_bytes() })
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
