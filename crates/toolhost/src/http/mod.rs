//! Messages over http: each is a request of its own, and what it brings back is one answer or a stream of messages.

mod exchange;
mod lost;
mod sse;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
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
use tokio::task::{AbortHandle, JoinHandle};

use crate::connection::Shared;
use crate::limits;
use crate::notification_router::lock;

pub(crate) use exchange::Post;
pub use lost::HttpError;

/// Where a server answers, and what it is sent with every request.
#[derive(Debug, Clone)]
pub struct Address {
    uri: Uri,
    headers: HeaderMap,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("its `url:` is no address: {reason} in `{url}`")]
    NoUrl { url: String, reason: String },
    #[error("its `url:` must begin with http:// or https://, not as `{url}` does")]
    NoScheme { url: String },
    #[error("`{name}` in its `headers:` is no name of a header")]
    NoHeader { name: String },
    #[error("the value of `{name}` in its `headers:` cannot be sent: it holds a line break or a control character")]
    NoValue { name: String },
}

impl Address {
    /// An address without a path means `/mcp`, where the libraries serve it; one that ends in `/` is meant as it stands.
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

    /// The place on this machine where a server listens that we started.
    pub(crate) fn of_port(port: u16) -> Address {
        let uri = format!("http://127.0.0.1:{port}/mcp").parse().expect("this is an address");
        Address { uri, headers: HeaderMap::new() }
    }

    fn shown(&self) -> String {
        // Whatever is before an @ is not for everybody to see.
        let authority = self.uri.authority().map_or("", |authority| authority.as_str());
        let host = authority.rsplit('@').next().unwrap_or_default();
        format!("{}://{host}{}", self.uri.scheme_str().unwrap_or_default(), self.uri.path())
    }
}

/// How a peer is spoken to, once that is agreed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protocol {
    pub version: String,
    /// The peer remembers nothing between requests, learns from headers what a message is, and takes a call that is hung
    /// up on as called off.
    pub is_stateless: bool,
}

/// The way to a peer that answers http.
pub struct Http {
    address: Address,
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    protocol: Mutex<Option<Protocol>>,
    /// By which the peer knows us again.
    session: Mutex<Option<HeaderValue>>,
    in_flight: Mutex<HashMap<u64, AbortHandle>>,
    /// What is being said that nobody waits for.
    notices: Mutex<Vec<JoinHandle<()>>>,
    event_stream: Mutex<Option<AbortHandle>>,
}

impl Http {
    pub fn new(address: Address) -> Http {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(limits::CONNECT));
        // Reading the system's certificates takes its time, and only https needs them.
        let tls = tls(address.uri.scheme_str() == Some("https"));
        let connector =
            HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().wrap_connector(tcp);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            // Many servers close an idle connection after 5 s; one that is being closed must not be used.
            .pool_idle_timeout(Duration::from_secs(4))
            .build(connector);
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
        *lock(&self.protocol) = Some(protocol);
    }

    fn is_stateless(&self) -> bool {
        lock(&self.protocol).as_ref().is_some_and(|protocol| protocol.is_stateless)
    }

    /// Sends one request. A server that cannot be reached is tried once more: nothing was sent yet.
    async fn send(&self, parts: &RequestParts<'_>) -> Result<Response<Incoming>, HttpError> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.client.request(self.request(parts)).await {
                Ok(response) => return Ok(response),
                Err(error) if error.is_connect() && tries == 1 => tokio::time::sleep(limits::RECONNECT_PAUSE).await,
                Err(error) if error.is_connect() => {
                    return Err(HttpError::Unreachable { url: self.address.shown(), reason: lost::reason(&error) });
                }
                Err(error) => return Err(HttpError::BrokeOff { reason: lost::reason(&error) }),
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
        if let Some(session) = &*lock(&self.session) {
            headers.insert(SESSION, session.clone());
        }
        if let Some(Ok(version)) =
            lock(&self.protocol).as_ref().map(|protocol| HeaderValue::try_from(&protocol.version))
        {
            headers.insert("mcp-protocol-version", version);
        }
        for (name, value) in &self.address.headers {
            headers.insert(name, value.clone());
        }
        request
    }

    /// Calls a request off the way that a peer which remembers nothing understands. Whether that was the way.
    pub fn cancel_stateless(&self, id: u64) -> bool {
        let is_stateless = self.is_stateless();
        if is_stateless {
            self.abort(id);
        }
        is_stateless
    }

    /// Waits for a request no more.
    pub fn abort(&self, id: u64) {
        let posting = lock(&self.in_flight).remove(&id);
        if let Some(posting) = posting {
            posting.abort();
        }
    }

    /// Opens the stream for what belongs to no request. A peer that has none is no worse for it.
    pub(crate) fn open_event_stream(&self, shared: &Arc<Shared>) {
        if !self.is_stateless() {
            let event_stream = tokio::spawn(exchange::listen(Arc::downgrade(shared))).abort_handle();
            *lock(&self.event_stream) = Some(event_stream);
        }
    }

    /// Ends the session that the peer keeps for us.
    pub async fn close(&self) {
        self.hang_up();
        // What was said last is worth hearing: that a call is called off, for one.
        let notices = std::mem::take(&mut *lock(&self.notices));
        let _ = tokio::time::timeout(limits::LAST_WORDS, futures::future::join_all(notices)).await;
        if lock(&self.session).is_none() {
            return;
        }
        let parts = RequestParts { method: Method::DELETE, body: Bytes::new(), headers: Vec::new() };
        let _ = tokio::time::timeout(limits::LAST_WORDS, self.client.request(self.request(&parts))).await;
    }

    /// Lets go of whatever is under way.
    pub fn hang_up(&self) {
        let event_stream = lock(&self.event_stream).take();
        for task in lock(&self.in_flight).drain().map(|(_, posting)| posting).chain(event_stream) {
            task.abort();
        }
    }
}

/// A request to be sent.
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
        // Certificates that cannot be read are somebody else's; a server that needs them will be told apart by its own.
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
    fn an_address_without_a_path_means_the_usual_one() {
        check("http://tools.internal:8080", "http://tools.internal:8080/mcp");
        check("http://tools.internal:8080/", "http://tools.internal:8080/");
        check("https://tools.internal/a/b?key=x", "https://tools.internal/a/b");
        check("http://[::1]:80/mcp", "http://[::1]:80/mcp");
    }

    #[test]
    fn what_is_no_address_is_refused() {
        check(
            "tools.internal:8080",
            "its `url:` must begin with http:// or https://, not as `tools.internal:8080` does",
        );
        check("ftp://tools/mcp", "its `url:` must begin with http:// or https://, not as `ftp://tools/mcp` does");
        check("http://tools/a b", "its `url:` is no address: invalid uri character in `http://tools/a b`");
    }

    #[test]
    fn a_header_that_cannot_be_sent_is_refused_without_its_value() {
        let error = Address::parse("http://x", [("a".to_string(), "top\nsecret".to_string())]).unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
    }

    #[test]
    fn credentials_in_an_address_are_not_shown() {
        check("http://ada:secret@tools/mcp", "http://tools/mcp");
    }
}
