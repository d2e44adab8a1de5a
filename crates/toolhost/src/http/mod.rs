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
use parking_lot::Mutex;
use tokio::task::{AbortHandle, JoinHandle};
use tokio_util::task::AbortOnDropHandle;
use trailblaze_http::{HttpClient, Proxy, ProxyError, ProxySettings, RequestErrorKind, Timeouts, USER_AGENT};

use crate::connection::Shared;
use crate::limits;

pub use error::HttpError;
pub(crate) use exchange::Post;

/// Many servers close an idle connection after 5 s.
pub(crate) const TIMEOUTS: Timeouts = Timeouts { connect: limits::CONNECT, idle: Duration::from_secs(4) };

/// The URL of a server, the headers sent with every request, and the proxy on the way.
#[derive(Debug, Clone)]
pub struct Address {
    uri: Uri,
    headers: HeaderMap,
    proxy: Option<Proxy>,
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
    #[error("{0}; see HTTPS_PROXY, HTTP_PROXY and ALL_PROXY, or name its host in NO_PROXY to reach it directly")]
    Proxy(#[from] ProxyError),
}

impl Address {
    /// A URL without a path gets `/mcp`, the default of the common libraries; one that ends in `/` is used unchanged.
    pub fn parse(
        url: &str,
        headers: impl IntoIterator<Item = (String, String)>,
        proxies: &ProxySettings,
    ) -> Result<Address, AddressError> {
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
        let uri = without_credentials(uri);
        Ok(Address { proxy: proxies.proxy_for(&uri)?, uri, headers: map })
    }

    /// The URL of a server that we started on a local port.
    pub(crate) fn of_port(port: u16) -> Address {
        let uri = format!("http://127.0.0.1:{port}/mcp").parse().expect("this is a URL");
        Address { uri, headers: HeaderMap::new(), proxy: None }
    }

    /// The URL without its query, which may contain a key.
    fn shown(&self) -> String {
        let authority = self.uri.authority().map_or("", |authority| authority.as_str());
        format!("{}://{authority}{}", self.uri.scheme_str().unwrap_or_default(), self.uri.path())
    }
}

/// Credentials before an `@` are not used, and neither a message nor a proxy may get them.
fn without_credentials(uri: Uri) -> Uri {
    let mut parts = uri.clone().into_parts();
    let host = parts.authority.as_ref().and_then(|authority| authority.as_str().rsplit('@').next()?.parse().ok());
    parts.authority = host;
    Uri::from_parts(parts).unwrap_or(uri)
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
    client: HttpClient,
    protocol: Mutex<Option<Protocol>>,
    /// The session id that the peer assigned.
    session: Mutex<Option<HeaderValue>>,
    in_flight: Mutex<HashMap<u64, AbortHandle>>,
    /// Notifications being sent.
    notices: Mutex<Vec<JoinHandle<()>>>,
    event_stream: Mutex<Option<AbortOnDropHandle<()>>>,
}

impl Http {
    pub fn new(address: Address) -> Http {
        let client = HttpClient::new(&address.uri, address.proxy.clone(), TIMEOUTS);
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
            let error = match self.client.request(self.request(parts)).await {
                Ok(response) => return Ok(response),
                Err(error) => error,
            };
            match error.kind {
                RequestErrorKind::Unreachable | RequestErrorKind::Reset if tries == 1 => {
                    tokio::time::sleep(limits::RECONNECT_PAUSE).await;
                }
                RequestErrorKind::Unreachable => {
                    return Err(HttpError::Unreachable { url: self.address.shown(), reason: error.reason });
                }
                RequestErrorKind::Reset | RequestErrorKind::BrokeOff => {
                    return Err(HttpError::BrokeOff { reason: error.reason });
                }
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
const STREAM: &str = "text/event-stream";

#[cfg(test)]
mod tests {
    use hyper::StatusCode;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    #[track_caller]
    fn check(url: &str, expected: &str) {
        let shown = Address::parse(url, [], &ProxySettings::default()).map(|address| address.shown());
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
        let headers = [("a".to_string(), "top\nsecret".to_string())];
        let error = Address::parse("http://x", headers, &ProxySettings::default()).unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
    }

    #[test]
    fn credentials_in_a_url_are_not_shown() {
        check("http://ada:secret@tools/mcp", "http://tools/mcp");
    }

    #[test]
    fn a_proxy_of_another_kind_is_refused_for_servers_elsewhere() {
        let proxies = ProxySettings { all: "socks5://ada:pw@proxy:1080".into(), ..ProxySettings::default() };
        let error = Address::parse("https://tools.example", [], &proxies).expect_err("not supported").to_string();
        assert!(error.contains("`socks5://`; see HTTPS_PROXY") && !error.contains("pw"), "{error}");
        assert!(Address::parse("http://localhost:8080", [], &proxies).is_ok());
    }

    #[tokio::test]
    async fn a_proxy_of_the_environment_is_used() {
        let proxy = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = proxy.local_addr().expect("an address").port();
        let arrived = tokio::spawn(async move {
            let (mut stream, _) = proxy.accept().await.expect("a connection");
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.expect("a request"));
            }
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.expect("it is read");
            String::from_utf8(head).expect("it is text").to_lowercase()
        });
        let http = format!("http://ada:pw@127.0.0.1:{port}");
        let proxies = ProxySettings { http, ..ProxySettings::default() };
        let headers = [("x-key".to_string(), "canary".to_string())];
        let address = Address::parse("http://user:secret@tools.example/mcp?key=x", headers, &proxies).expect("valid");
        let parts = RequestParts { method: Method::GET, body: Bytes::new(), headers: Vec::new() };
        let response = Http::new(address).send(&parts).await.expect("a response");
        assert_eq!(response.status(), StatusCode::OK);
        let head = arrived.await.expect("no panic");
        assert!(head.starts_with("get http://tools.example/mcp?key=x http/1.1\r\n"), "{head}");
        assert!(head.contains("x-key: canary") && head.contains("proxy-authorization: basic ywrhonb3"), "{head}");
        assert!(!head.contains("secret"), "{head}");
    }
}
