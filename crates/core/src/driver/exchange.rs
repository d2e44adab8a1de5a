//! What the pages of a browser sent and what they got, with headers and bodies.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

/// A request and its response. Bounded by the driver; with values of secrets, until the engine has removed them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NetworkExchange {
    /// The number that the device events of the request and its response have.
    pub request: u64,
    pub method: String,
    pub url: String,
    /// What it is for: `document`, `fetch`, `image` …
    pub kind: String,
    /// When it was sent, in milliseconds since 1970.
    pub sent_at: f64,
    /// How long it took, in milliseconds; `None` while it is not over.
    pub millis: Option<f64>,
    pub request_headers: Vec<(String, String)>,
    pub request_body: Option<ExchangeBody>,
    /// `None` if there was no answer.
    pub response: Option<ExchangeResponse>,
    /// Why it failed.
    pub failure: Option<String>,
    /// What a rule of the trail did to it: `mocked`, `aborted`, `delayed`, `changed`, `answered from shop.har`.
    pub rule: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct ExchangeResponse {
    pub status: u16,
    pub status_text: String,
    pub headers: Vec<(String, String)>,
    pub mime: String,
    /// `None` if it was not kept: it is too large, or the browser does not have it any more.
    pub body: Option<ExchangeBody>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ExchangeBody {
    Text {
        text: String,
        /// Whether the rest of it was left out.
        is_cut: bool,
    },
    Bytes(Vec<u8>),
}

impl ExchangeBody {
    /// A body as text if it is one, and no longer than `longest` bytes. `None` if it is no text and longer.
    pub fn of(bytes: Vec<u8>, longest: usize) -> Option<ExchangeBody> {
        match String::from_utf8(bytes) {
            Ok(text) if text.contains('\0') => ExchangeBody::of_bytes(text.into_bytes(), longest),
            Ok(mut text) => {
                let is_cut = text.len() > longest;
                text.truncate(text.floor_char_boundary(longest));
                Some(ExchangeBody::Text { text, is_cut })
            }
            Err(error) => ExchangeBody::of_bytes(error.into_bytes(), longest),
        }
    }

    fn of_bytes(bytes: Vec<u8>, longest: usize) -> Option<ExchangeBody> {
        (bytes.len() <= longest).then_some(ExchangeBody::Bytes(bytes))
    }

    /// The whole text.
    pub fn text(&self) -> Option<&str> {
        match self {
            ExchangeBody::Text { text, is_cut: false } => Some(text),
            ExchangeBody::Text { is_cut: true, .. } | ExchangeBody::Bytes(_) => None,
        }
    }

    pub fn n_bytes(&self) -> usize {
        match self {
            ExchangeBody::Text { text, .. } => text.len(),
            ExchangeBody::Bytes(bytes) => bytes.len(),
        }
    }
}

/// Headers whose values let somebody in. Their values are never written.
const PRIVATE: [&str; 5] = ["authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key"];

/// What is written in place of such a value.
pub const REMOVED: &str = "[removed]";

impl NetworkExchange {
    /// Removes what lets somebody in, and what `redact` removes from any other text.
    pub fn redact(&mut self, redact: &dyn Fn(&mut String)) {
        redact(&mut self.url);
        self.failure.iter_mut().for_each(redact);
        redact_headers(&mut self.request_headers, redact);
        self.request_body.iter_mut().for_each(|body| redact_body(body, redact));
        if let Some(response) = &mut self.response {
            redact(&mut response.status_text);
            redact_headers(&mut response.headers, redact);
            response.body.iter_mut().for_each(|body| redact_body(body, redact));
        }
    }

    /// An entry of a HAR file, version 1.2. The fields `_request`, `_kind`, `_failure`, `_rule` and `_cut` are our own.
    pub fn har_entry(&self) -> Value {
        let headers = |headers: &[(String, String)]| -> Vec<Value> {
            headers.iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
        };
        let mut request = json!({
            "method": self.method, "url": self.url, "httpVersion": "HTTP/1.1", "cookies": [],
            "headers": headers(&self.request_headers), "queryString": query_of(&self.url), "headersSize": -1,
            "bodySize": self.request_body.as_ref().map_or(0, ExchangeBody::n_bytes),
        });
        if let Some(ExchangeBody::Text { text, is_cut }) = &self.request_body {
            let kind = header(&self.request_headers, "content-type").unwrap_or_default();
            request["postData"] = json!({"mimeType": kind, "text": text});
            if *is_cut {
                request["postData"]["_cut"] = true.into();
            }
        }
        let none = ExchangeResponse::default();
        let response = self.response.as_ref().unwrap_or(&none);
        let mut content = json!({
            "size": response.body.as_ref().map_or(0, ExchangeBody::n_bytes), "mimeType": response.mime,
        });
        match &response.body {
            Some(ExchangeBody::Text { text, is_cut }) => {
                content["text"] = text.as_str().into();
                if *is_cut {
                    content["_cut"] = true.into();
                }
            }
            Some(ExchangeBody::Bytes(bytes)) => {
                content["text"] = BASE64_STANDARD.encode(bytes).into();
                content["encoding"] = "base64".into();
            }
            None => {}
        }
        let millis = self.millis.unwrap_or(0.0);
        let mut entry = json!({
            "startedDateTime": date_time(self.sent_at),
            "time": millis,
            "request": request,
            "response": {
                "status": response.status, "statusText": response.status_text, "httpVersion": "HTTP/1.1", "cookies": [],
                "headers": headers(&response.headers), "content": content,
                "redirectURL": header(&response.headers, "location").unwrap_or_default(), "headersSize": -1, "bodySize": -1,
            },
            "cache": {},
            "timings": {"send": 0, "wait": millis, "receive": 0},
            "_request": self.request,
            "_kind": self.kind,
        });
        if let Some(failure) = &self.failure {
            entry["_failure"] = failure.as_str().into();
        }
        if let Some(rule) = &self.rule {
            entry["_rule"] = rule.as_str().into();
        }
        entry
    }
}

/// The value of a header, whatever the case of its name.
pub fn header<'h>(headers: &'h [(String, String)], name: &str) -> Option<&'h str> {
    headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// Exchanges as a HAR file.
pub fn har(exchanges: &[NetworkExchange]) -> Value {
    let entries: Vec<Value> = exchanges.iter().map(NetworkExchange::har_entry).collect();
    let creator = json!({"name": "Trailblaze", "version": env!("CARGO_PKG_VERSION")});
    json!({"log": {"version": "1.2", "creator": creator, "pages": [], "entries": entries}})
}

fn redact_headers(headers: &mut [(String, String)], redact: &dyn Fn(&mut String)) {
    for (name, value) in headers {
        let is_private = PRIVATE.iter().any(|private| name.eq_ignore_ascii_case(private));
        match (is_private, name.eq_ignore_ascii_case("set-cookie")) {
            // Which cookies are set, and for how long, is no secret.
            (_, true) => *value = value.lines().map(without_value).collect::<Vec<_>>().join("\n"),
            (true, false) => *value = REMOVED.to_string(),
            (false, false) => redact(value),
        }
    }
}

fn without_value(cookie: &str) -> String {
    let (pair, rest) = cookie.split_once(';').unwrap_or((cookie, ""));
    let name = pair.split_once('=').map_or("", |(name, _)| name);
    let rest = if rest.is_empty() { String::new() } else { format!(";{rest}") };
    format!("{name}={REMOVED}{rest}")
}

fn redact_body(body: &mut ExchangeBody, redact: &dyn Fn(&mut String)) {
    match body {
        ExchangeBody::Text { text, .. } => redact(text),
        // Text that is not valid may still contain a secret.
        ExchangeBody::Bytes(bytes) => {
            let mut text = String::from_utf8_lossy(bytes).into_owned();
            let before = text.clone();
            redact(&mut text);
            if text != before {
                *body = ExchangeBody::Text { text, is_cut: false };
            }
        }
    }
}

fn query_of(url: &str) -> Vec<Value> {
    let query = url.split_once('?').map_or("", |(_, query)| query.split('#').next().unwrap_or_default());
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.map(|(name, value)| json!({"name": name, "value": value})).collect()
}

/// Milliseconds since 1970 as HAR files have them: `2026-01-31T08:15:00.250Z`.
fn date_time(millis: f64) -> String {
    let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs_f64((millis / 1000.0).clamp(0.0, 1e11));
    humantime::format_rfc3339_millis(at).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange() -> NetworkExchange {
        let pairs = |pairs: &[(&str, &str)]| pairs.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
        NetworkExchange {
            request: 3,
            method: "POST".into(),
            url: "https://shop.test/pay?code=4711&n=1".into(),
            kind: "fetch".into(),
            sent_at: 1_769_847_300_250.0,
            millis: Some(12.5),
            request_headers: pairs(&[("Content-Type", "application/json"), ("Authorization", "Bearer abc")]),
            request_body: ExchangeBody::of(b"{\"pin\":\"4711\"}".to_vec(), 100),
            response: Some(ExchangeResponse {
                status: 302,
                status_text: "Found".into(),
                headers: pairs(&[("Set-Cookie", "sid=abc; Path=/\nlang=de"), ("Location", "/paid"), ("x-pin", "4711")]),
                mime: "text/plain".into(),
                body: ExchangeBody::of(b"paid with \xff 4711".to_vec(), 100),
            }),
            failure: None,
            rule: Some("delayed".into()),
        }
    }

    #[test]
    fn what_lets_somebody_in_is_removed_from_headers_cookies_and_bodies() {
        let mut exchange = exchange();
        exchange.redact(&|text| *text = text.replace("4711", "{{PIN}}"));
        let written = exchange.har_entry().to_string();
        for removed in ["4711", "abc", "=de"] {
            assert!(!written.contains(removed), "{removed} in {written}");
        }
        for kept in ["sid=[removed]; Path=/", "lang=[removed]", "code={{PIN}}&n=1", "paid with", "application/json"] {
            assert!(written.contains(kept), "{kept} in {written}");
        }
    }

    #[test]
    fn an_exchange_is_an_entry_of_a_har_file() {
        let har = har(&[exchange()]);
        let entry = &har["log"]["entries"][0];
        assert_eq!(entry["startedDateTime"], "2026-01-31T08:15:00.250Z");
        assert_eq!(entry["request"]["queryString"][1], json!({"name": "n", "value": "1"}));
        assert_eq!(entry["request"]["postData"]["mimeType"], "application/json");
        assert_eq!(entry["response"]["redirectURL"], "/paid");
        assert_eq!(entry["response"]["content"]["encoding"], "base64");
        assert_eq!(entry["_rule"], "delayed");
    }

    #[test]
    fn a_long_text_is_cut_and_long_bytes_are_left_out() {
        let body = ExchangeBody::of("é".repeat(10).into_bytes(), 5).unwrap();
        assert_eq!(body, ExchangeBody::Text { text: "éé".into(), is_cut: true });
        assert_eq!(body.text(), None);
        assert_eq!(ExchangeBody::of(vec![0; 10], 5), None);
    }
}
