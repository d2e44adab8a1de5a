//! Messages over HTTP: each is a request of its own, and the response is one answer or a stream of messages.

mod exchange;
mod error;
mod sse;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use parking_lot::Mutex;
use tokio::task::{AbortHandle, JoinHandle};
use tokio_util::task::AbortOnDropHandle;

use crate::connection::Shared;
use crate::limits;

pub use error::HttpError;
pub(crate) use error::reason;
pub(crate) use exchange::Post;

/// The URL of a server, and the headers sent with every request.
#[derive(Debug, Clone)]
pub struct Address {
    uri: Uri,
    headers: HeaderMap,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("its `url:` is not a valid URL: {reason} in `{url}`")]
    NoUrl { url: String, reason: String },
    #[error("its `url:` must start with http:// or https://, got `{url}`")]
    NoScheme { url: String },
    #[error("`{name}` in its `headers:` is not a valid header name")]
    NoHeader { name: String },
    #[error("the value of `{name}` in its `headers:` cannot be sent: it contains a line break or a control character")]
    NoValue { name: String },
}

impl Address {
    /// A URL without a path gets `/mcp`, the default of the common libraries; one that ends in `/` is used unchanged.
    pub fn parse(url: &str, headers: impl IntoIterator<Item = (String, String)>) -> Result<Address, AddressError> {
        let Some(rest) = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://")) else {
            return Err(AddressError::NoScheme { url: url.to_string() });
        };
        let has_path = rest.contains(['/', '?']);
        let whole = if has_path { url.to_string() } else { format!("{url}/mcp") };
        let no_url = |reason: String| AddressError::NoUrl { url: url.to_string(), reason };
        let uri: Uri = whole.parse().map_err(|error: hyper::http::uri::InvalidUri| no_url(error.to_string()))?;
        if uri.host().unwrap_or_default().is_empty() {
            return Err(no_url("no host".to_string()));
        }
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let key: HeaderName = name.parse().map_err(|_| AddressError::NoHeader { name: name.clone() })?;
            let mut value =
                HeaderValue::from_bytes(value.as_bytes()).map_err(|_| AddressError::NoValue { name: name.clone() })?;
            value.set_sensitive(true);
            map.append(key, value);
        }
        Ok(Address { uri, headers: map })
    }

    /// The URL of a server that we started on a local port.
    pub(crate) fn of_port(port: u16) -> Address {
        let uri = format!("http://127.0.0.1:{port}/mcp").parse().expect("this is a URL");
        Address { uri, headers: HeaderMap::new() }
    }

    fn shown(&self) -> String {
        // Credentials before an `@` must not be shown.
        let authority = self.uri.authority().map_or("", |authority| authority.as_str());
        let host = authority.rsplit('@').next().unwrap_or_default();
        format!("{}://{host}{}", self.uri.scheme_str().unwrap_or_default(), self.uri.path())
    }
}

/// The negotiated protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protocol {
    pub version: String,
    /// The peer keeps no state between requests: headers describe each message, and closing the connection cancels a
    /// call.
    pub is_stateless: bool,
}

/// An HTTP client for one peer.
pub struct Http {
    address: Address,
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    protocol: Mutex<Option<Protocol>>,
    /// The session id that the peer assigned.
    session: Mutex<Option<HeaderValue>>,
    in_flight: Mutex<HashMap<u64, AbortHandle>>,
    /// Notifications being sent.
    notices: Mutex<Vec<JoinHandle<()>>>,
    event_stream: Mutex<Option<AbortOnDropHandle<()>>>,
}

/// A client that follows no redirects and uses no proxies.
pub(crate) fn client(is_https: bool) -> Client<HttpsConnector<HttpConnector>, Full<Bytes>> {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(limits::CONNECT));
    // Loading the system's certificates is slow, and only https needs them.
    let tls = tls(is_https);
    let connector =
        HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().wrap_connector(tcp);
    Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        // Many servers close an idle connection after 5 s; a connection about to be closed must not be reused.
        .pool_idle_timeout(Duration::from_secs(4))
        .build(connector)
}

impl Http {
    pub fn new(address: Address) -> Http {
        let client = client(address.uri.scheme_str() == Some("https"));
        Http {
            address,
            client,
            protocol: Mutex::default(),
            session: Mutex::default(),
            in_flight: Mutex::default(),
            notices: Mutex::default(),
            event_stream: Mutex::default(),
        }
    }

    pub fn use_protocol(&self, protocol: Protocol) {
        *self.protocol.lock() = Some(protocol);
    }

    fn is_stateless(&self) -> bool {
        self.protocol.lock().as_ref().is_some_and(|protocol| protocol.is_stateless)
    }

    /// Sends one request. Retries once if the peer cannot have read it: the connection failed, or the peer reset it before it answered,
    /// which happens to a connection that is closed while there is something to read.
    async fn send(&self, parts: &RequestParts<'_>) -> Result<Response<Incoming>, HttpError> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.client.request(self.request(parts)).await {
                Ok(response) => return Ok(response),
                Err(error) if (error.is_connect() || error::is_reset(&error)) && tries == 1 => {
                    tokio::time::sleep(limits::RECONNECT_PAUSE).await;
                }
                Err(error) if error.is_connect() => {
                    return Err(HttpError::Unreachable { url: self.address.shown(), reason: error::reason(&error) });
                }
                Err(error) => return Err(HttpError::BrokeOff { reason: error::reason(&error) }),
            }
        }
    }

    fn request(&self, parts: &RequestParts<'_>) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(parts.body.clone()));
        *request.method_mut() = parts.method.clone();
        *request.uri_mut() = self.address.uri.clone();
        let headers = request.headers_mut();
        headers.insert(header::USER_AGENT, USER_AGENT);
        if parts.method == Method::POST {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let accept = if parts.method == Method::GET { STREAM } else { "application/json, text/event-stream" };
        headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
        for (name, value) in &parts.headers {
            if let (Ok(name), Ok(value)) = (HeaderName::try_from(*name), HeaderValue::try_from(value)) {
                headers.insert(name, value);
            }
        }
        if let Some(session) = &*self.session.lock() {
            headers.insert(SESSION, session.clone());
        }
        if let Some(Ok(version)) =
            self.protocol.lock().as_ref().map(|protocol| HeaderValue::try_from(&protocol.version))
        {
            headers.insert("mcp-protocol-version", version);
        }
        for (name, value) in &self.address.headers {
            headers.insert(name, value.clone());
        }
        request
    }

    /// Cancels a request by closing its connection, if the peer is stateless. Returns whether it is.
    pub fn cancel_stateless(&self, id: u64) -> bool {
        let is_stateless = self.is_stateless();
        if is_stateless {
            self.abort(id);
        }
        is_stateless
    }

    /// Stops waiting for a request.
    pub fn abort(&self, id: u64) {
        let posting = self.in_flight.lock().remove(&id);
        if let Some(posting) = posting {
            posting.abort();
        }
    }

    /// Opens the stream for messages that belong to no request. The peer need not offer one.
    pub(crate) fn open_event_stream(&self, shared: &Arc<Shared>) {
        if !self.is_stateless() {
            let event_stream = tokio::spawn(exchange::listen(Arc::downgrade(shared)));
            *self.event_stream.lock() = Some(AbortOnDropHandle::new(event_stream));
        }
    }

    /// Ends the session that the peer keeps for us.
    pub async fn close(&self) {
        self.hang_up();
        // The last messages matter, such as the cancellation of a call.
        let notices = std::mem::take(&mut *self.notices.lock());
        let _ = tokio::time::timeout(limits::END_GRACE, futures::future::join_all(notices)).await;
        if self.session.lock().is_none() {
            return;
        }
        let parts = RequestParts { method: Method::DELETE, body: Bytes::new(), headers: Vec::new() };
        let _ = tokio::time::timeout(limits::END_GRACE, self.client.request(self.request(&parts))).await;
    }

    /// Aborts all requests in flight.
    pub fn hang_up(&self) {
        drop(self.event_stream.lock().take());
        self.in_flight.lock().drain().for_each(|(_, posting)| posting.abort());
    }
}

/// A request to send.
struct RequestParts<'a> {
    method: Method,
    body: Bytes,
    headers: Vec<(&'a str, String)>,
}

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const USER_AGENT: HeaderValue = HeaderValue::from_static(concat!("trailblaze/", env!("CARGO_PKG_VERSION")));
const STREAM: &str = "text/event-stream";

fn tls(is_needed: bool) -> rustls::ClientConfig {
    let mut roots = rustls::RootCertStore::empty();
    if is_needed {
        // Certificates that cannot be parsed are skipped; a server that needs one fails with its own error.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has the versions that are the default")
        .with_root_certificates(roots)
        .with_no_client_auth()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, expected: &str) {
        let shown = Address::parse(url, []).map(|address| address.shown());
        assert_eq!(shown.unwrap_or_else(|error| error.to_string()), expected);
    }

    #[test]
    fn a_url_without_a_path_gets_the_usual_one() {
        check("http://tools.internal:8080", "http://tools.internal:8080/mcp");
        check("http://tools.internal:8080/", "http://tools.internal:8080/");
        check("https://tools.internal/a/b?key=x", "https://tools.internal/a/b");
        check("http://[::1]:80/mcp", "http://[::1]:80/mcp");
    }

    #[test]
    fn an_invalid_url_is_refused() {
        check("tools.internal:8080", "its `url:` must start with http:// or https://, got `tools.internal:8080`");
        check("ftp://tools/mcp", "its `url:` must start with http:// or https://, got `ftp://tools/mcp`");
        check("http://tools/a b", "its `url:` is not a valid URL: invalid uri character in `http://tools/a b`");
    }

    #[test]
    fn a_header_that_cannot_be_sent_is_refused_without_its_value() {
        let error = Address::parse("http://x", [("a".to_string(), "top\nsecret".to_string())]).unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
    }

    #[test]
    fn credentials_in_a_url_are_not_shown() {
        check("http://ada:secret@tools/mcp", "http://tools/mcp");
    }
}
