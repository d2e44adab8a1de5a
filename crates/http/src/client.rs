//! A client for one peer.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::{Request, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use crate::connect::{Connector, tls};
use crate::error::RequestError;
use crate::proxy::Proxy;

/// What requests say about who sends them.
pub const USER_AGENT: HeaderValue = HeaderValue::from_static(concat!("trailblaze/", env!("CARGO_PKG_VERSION")));

#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// How long a connection may take to open.
    pub connect: Duration,
    /// How long a connection is kept for the next request. Shorter than the peer keeps it: one that is about to be closed must not
    /// be used again.
    pub idle: Duration,
}

/// Sends requests to one peer, over connections that are kept open. Follows no redirects, so that credentials are sent nowhere else.
pub struct HttpClient {
    client: Client<HttpsConnector<Connector>, Full<Bytes>>,
    /// For a proxy that forwards requests. One that opens a tunnel gets it when that is opened.
    proxy_authorization: Option<HeaderValue>,
}

impl HttpClient {
    /// A client for the host of a URL, through the proxy that was found for this URL.
    pub fn new(url: &Uri, proxy: Option<Proxy>, timeouts: Timeouts) -> HttpClient {
        let is_https = url.scheme_str() == Some("https");
        let proxy_authorization = proxy.as_ref().and_then(|proxy| proxy.authorization.clone()).filter(|_| !is_https);
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls(is_https))
            .https_or_http()
            .enable_http1()
            .wrap_connector(Connector::new(proxy, timeouts.connect));
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(timeouts.idle)
            .build(connector);
        HttpClient { client, proxy_authorization }
    }

    /// Sends a request and returns its response, whose body is still to be read.
    pub async fn request(&self, mut request: Request<Full<Bytes>>) -> Result<Response<Incoming>, RequestError> {
        if let Some(authorization) = &self.proxy_authorization {
            request.headers_mut().insert(header::PROXY_AUTHORIZATION, authorization.clone());
        }
        Ok(self.client.request(request).await?)
    }
}
