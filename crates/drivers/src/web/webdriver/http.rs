//! One request to a WebDriver endpoint, over connections that are kept open.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, StatusCode, Uri};
use serde_json::Value;
use tokio::time::{Instant, timeout};
use trailblaze_core::driver::cut;
use trailblaze_http::{HttpClient, ProxySettings, RequestErrorKind, Timeouts, USER_AGENT};

use super::error::{EndpointError, first_line};

/// Endpoints keep connections for 60 seconds and more.
const TIMEOUTS: Timeouts = Timeouts { connect: Duration::from_secs(10), idle: Duration::from_secs(20) };
/// The most bytes in an answer: the picture of a large screen.
const LARGEST: usize = 128 << 20;
/// An endpoint that has not answered for so long is asked whether it answers at all, and how long it has to say so.
const LATE: Duration = Duration::from_secs(15);
const PROBE: Duration = Duration::from_secs(5);
/// What answers in place of an endpoint may be gone a moment later. How often, and the first pause.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_millis(250);

/// A WebDriver endpoint, and what is sent with each request.
#[derive(Clone, PartialEq)]
pub struct EndpointAddress {
    /// Without a slash at its end, and without credentials.
    url: String,
    headers: HeaderMap,
}

/// Headers may contain a key.
impl std::fmt::Debug for EndpointAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EndpointAddress").field("url", &self.url).finish_non_exhaustive()
    }
}

/// Who we are for the endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndpointKey {
    Basic { user: String, password: String },
    Bearer(String),
}

impl EndpointAddress {
    /// Reads the URL of an endpoint. Credentials in it, before an `@`, are those of basic authentication.
    pub fn parse(
        text: &str,
        key: Option<&EndpointKey>,
        headers: &[(String, String)],
    ) -> Result<EndpointAddress, String> {
        let address = EndpointAddress::read(text.trim_end_matches('/'), key, headers)?;
        match address.url.contains(['?', '#']) {
            true => Err("it needs a host, and no query".to_string()),
            false => Ok(address),
        }
    }

    /// Reads the URL of a file, which may have a query.
    pub fn with_query(text: &str) -> Result<EndpointAddress, String> {
        EndpointAddress::read(text.split('#').next().unwrap_or_default(), None, &[])
    }

    fn read(text: &str, key: Option<&EndpointKey>, headers: &[(String, String)]) -> Result<EndpointAddress, String> {
        let (scheme, rest) = text.split_once("://").unwrap_or_default();
        if !matches!(scheme, "http" | "https") {
            return Err("it must start with http:// or https://".to_string());
        }
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let (inline, host) = match authority.rsplit_once('@') {
            Some((inline, host)) => (Some(inline), host),
            None => (None, authority),
        };
        let url = format!("{scheme}://{host}{path}");
        let uri: Result<Uri, _> = url.parse();
        match uri {
            Ok(uri) if uri.host().is_some_and(|host| !host.is_empty()) => {}
            Ok(_) => return Err("it needs a host".to_string()),
            Err(error) => return Err(error.to_string()),
        }
        let inline = inline.map(|inline| {
            let (user, password) = inline.split_once(':').unwrap_or((inline, ""));
            EndpointKey::Basic { user: user.to_string(), password: password.to_string() }
        });
        let authorization = key.cloned().or(inline).map(|key| match key {
            EndpointKey::Basic { user, password } => {
                format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")))
            }
            EndpointKey::Bearer(token) => format!("Bearer {token}"),
        });
        let mut map = HeaderMap::new();
        let all = headers.iter().map(|(name, value)| (name.as_str(), value.clone()));
        for (name, value) in all.chain(authorization.map(|value| ("authorization", value))) {
            let name: HeaderName = name.parse().map_err(|_| format!("`{name}` is not the name of a header"))?;
            let mut value = HeaderValue::from_str(&value).map_err(|_| {
                format!("the value of the header `{name}` has a line break or another control character")
            })?;
            value.set_sensitive(true);
            map.insert(name, value);
        }
        Ok(EndpointAddress { url, headers: map })
    }

    /// For messages.
    pub fn shown(&self) -> &str {
        &self.url
    }

    pub fn header_map(&self) -> HeaderMap {
        self.headers.clone()
    }

    /// The headers as text, for a process of ours that ends sessions.
    pub fn headers(&self) -> Vec<(String, String)> {
        let text =
            |(name, value): (&HeaderName, &HeaderValue)| Some((name.to_string(), value.to_str().ok()?.to_string()));
        self.headers.iter().filter_map(text).collect()
    }
}

/// Sends requests to one endpoint. Shared by all sessions there.
pub struct WebDriverHttp {
    address: EndpointAddress,
    client: HttpClient,
}

/// A request whose answer is the `value` of a W3C response.
#[derive(Debug, Clone)]
pub struct WebDriverRequest {
    pub method: Method,
    pub path: String,
    /// The path for messages, without ids.
    pub shown: String,
    pub body: Option<Value>,
    /// Whether sending it twice does no more than sending it once.
    pub is_repeatable: bool,
}

impl WebDriverRequest {
    fn doing(&self) -> String {
        format!("{} {}", self.method, self.shown)
    }
}

impl WebDriverHttp {
    pub fn new(address: EndpointAddress, proxies: &ProxySettings) -> Result<Arc<WebDriverHttp>, String> {
        let uri: Uri = address.url.parse().map_err(|_| format!("`{}` is not a URL", address.url))?;
        let proxy = proxies.proxy_for(&uri).map_err(|error| error.to_string())?;
        let client = HttpClient::new(&uri, proxy, TIMEOUTS);
        Ok(Arc::new(WebDriverHttp { address, client }))
    }

    pub fn address(&self) -> &EndpointAddress {
        &self.address
    }

    /// Sends a request, again if it is repeatable and something between us and the endpoint failed. One that hangs is noticed.
    pub async fn send(&self, request: WebDriverRequest) -> Result<Value, EndpointError> {
        let mut pause = PAUSE;
        for _ in 1..TRIES {
            match self.send_once(request.clone()).await {
                Err(error) if error.is_passing() && request.is_repeatable => {
                    tokio::time::sleep(pause).await;
                    pause *= 2;
                }
                answered => return answered,
            }
        }
        self.send_once(request).await
    }

    async fn send_once(&self, request: WebDriverRequest) -> Result<Value, EndpointError> {
        let (doing, started) = (request.doing(), Instant::now());
        let exchange = self.exchange(request);
        tokio::pin!(exchange);
        let answer = loop {
            if let Ok(answer) = timeout(LATE, &mut exchange).await {
                break answer;
            }
            let status = WebDriverRequest {
                method: Method::GET,
                path: "/status".to_string(),
                shown: "/status".to_string(),
                body: None,
                is_repeatable: true,
            };
            if timeout(PROBE, self.exchange(status)).await.is_err() {
                let (address, seconds) = (self.address.url.clone(), started.elapsed().as_secs());
                break Err(EndpointError::Hangs { address, doing: doing.clone(), seconds });
            }
        };
        let error = answer.as_ref().err().map(ToString::to_string);
        tracing::debug!(target: "trailblaze::webdriver", doing, took = ?started.elapsed(), error);
        answer
    }

    async fn exchange(&self, request: WebDriverRequest) -> Result<Value, EndpointError> {
        let (doing, address) = (request.doing(), self.address.url.clone());
        let body = request.body.map(|body| body.to_string()).unwrap_or_default();
        let mut sent = Request::new(Full::new(Bytes::from(body)));
        let uri = format!("{address}{}", request.path).parse();
        *sent.uri_mut() = uri.map_err(|_| self.foreign(&doing, "an id that is no part of an address"))?;
        *sent.method_mut() = request.method;
        *sent.headers_mut() = self.address.headers.clone();
        // Some endpoints refuse JSON whose encoding is not said.
        let json = HeaderValue::from_static("application/json; charset=utf-8");
        sent.headers_mut().insert(header::CONTENT_TYPE, json);
        sent.headers_mut().insert(header::USER_AGENT, USER_AGENT);
        let response = self.client.request(sent).await.map_err(|error| match error.kind {
            RequestErrorKind::Unreachable => {
                EndpointError::Unreachable { address: address.clone(), why: error.reason.clone() }
            }
            _ => EndpointError::BrokeOff { address: address.clone(), doing: doing.clone(), why: error.reason.clone() },
        })?;
        let status = response.status();
        let body = Limited::new(response.into_body(), LARGEST)
            .collect()
            .await
            .map_err(|error| EndpointError::BrokeOff { address, doing: doing.clone(), why: error.to_string() })?;
        self.read(status, &body.to_bytes(), &doing)
    }

    fn read(&self, status: StatusCode, body: &[u8], doing: &str) -> Result<Value, EndpointError> {
        let mut answer: Option<Value> = serde_json::from_slice(body).ok();
        let value = answer.as_mut().and_then(|answer| answer.get_mut("value")).map(Value::take);
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_string);
        match value {
            Some(value) if status.is_success() => Ok(value),
            Some(value) if value.get("error").is_some() => {
                let code = text(&value, "error").unwrap_or_default();
                let message = text(&value, "message").unwrap_or_default();
                let message = cut(first_line(&code, &message), MESSAGE);
                let alert = value.pointer("/data/text").and_then(Value::as_str).map(str::to_string);
                Err(EndpointError::Failed { code, doing: doing.to_string(), message, alert })
            }
            _ if matches!(status.as_u16(), 401 | 403 | 407) => {
                Err(EndpointError::Unauthorized { address: self.address.url.clone(), status: status.as_u16() })
            }
            _ => Err(self.foreign_answer(status, body, doing)),
        }
    }

    /// What is no answer of WebDriver.
    fn foreign_answer(&self, status: StatusCode, body: &[u8], doing: &str) -> EndpointError {
        let text = String::from_utf8_lossy(body);
        let lower = text.to_ascii_lowercase();
        let title = lower.find("<title>").and_then(|from| {
            let to = lower[from..].find("</title>")?;
            text.get(from + "<title>".len()..from + to)
        });
        let what = match title {
            Some(title) => format!("the page \"{}\"", cut(title.trim(), SHORT)),
            None if text.trim().is_empty() => "nothing".to_string(),
            None if lower.contains("<html") => "a web page".to_string(),
            None => format!("`{}`", cut(text.lines().next().unwrap_or_default().trim(), SHORT)),
        };
        let what = format!("{} and {what}", status.as_u16());
        if matches!(status.as_u16(), 429 | 502 | 503 | 504) {
            let address = self.address.url.clone();
            return EndpointError::Unavailable { address, doing: doing.to_string(), what };
        }
        self.foreign(doing, &what)
    }

    fn foreign(&self, doing: &str, what: &str) -> EndpointError {
        let address = self.address.url.clone();
        EndpointError::NotWebDriver { address, doing: doing.to_string(), what: what.to_string() }
    }
}

/// The longest message and the longest quote of something else, in bytes.
const MESSAGE: usize = 500;
const SHORT: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_keeps_credentials_out_of_sight() {
        let address = EndpointAddress::parse("https://ada:pw@hub.example/wd/hub/", None, &[]).unwrap();
        assert_eq!(address.shown(), "https://hub.example/wd/hub");
        assert_eq!(address.headers(), [("authorization".to_string(), "Basic YWRhOnB3".to_string())]);
        assert!(!format!("{address:?}").contains("pw"));
        let key = EndpointKey::Bearer("secret".to_string());
        let address = EndpointAddress::parse("http://hub:4444", Some(&key), &[]).unwrap();
        assert_eq!(address.headers(), [("authorization".to_string(), "Bearer secret".to_string())]);
        for wrong in ["hub:4444", "ftp://hub", "http://", "http://hub/?a=b", "http://ex ample"] {
            assert!(EndpointAddress::parse(wrong, None, &[]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_no_answer_of_webdriver_is_quoted() {
        let address = EndpointAddress::parse("http://127.0.0.1:1", None, &[]).unwrap();
        let http = WebDriverHttp::new(address, &ProxySettings::default()).unwrap();
        let read = |status: u16, body: &str| {
            let status = StatusCode::from_u16(status).unwrap();
            http.read(status, body.as_bytes(), "GET /status").map_err(|error| error.to_string())
        };
        assert_eq!(read(200, r#"{"value": {"ready": true}}"#), Ok(serde_json::json!({"ready": true})));
        let html = read(200, "<html><head><title> Sign in </title>").unwrap_err();
        assert!(html.contains("is no WebDriver endpoint") && html.contains("200 and the page \"Sign in\""), "{html}");
        let busy = read(503, "upstream connect error").unwrap_err();
        assert!(busy.contains("is not available") && busy.contains("`upstream connect error`"), "{busy}");
        assert!(read(401, "").unwrap_err().contains("refuses our credentials with 401"));
        let failed = read(404, r#"{"value": {"error": "no such window", "message": "no such window: gone\nat x"}}"#);
        assert_eq!(failed.unwrap_err(), "`GET /status` failed: no such window: gone");
    }
}
