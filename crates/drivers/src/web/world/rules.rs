//! What becomes of a request that is held: which rules match it, and the responses that they make.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use trailblaze_core::driver::{
    AbortReason, BodySource, DriverError, MockedResponse, NetworkRule, RequestPattern, ResponseChange, RuleEffect,
    header, merge_json,
};

use super::super::backend_world::{HeldRequest, ResponseHead};

/// The largest file that is sent as a body.
const BODY_FILE: u64 = 64 << 20;

/// A rule with the files that it names.
pub struct ActiveRule {
    pattern: RequestPattern,
    effect: ActiveEffect,
    /// For how many more requests it is; `None` for all.
    left: Option<u64>,
}

enum ActiveEffect {
    Mock(ReadyResponse),
    Abort(AbortReason),
    Delay(Duration),
    Change(ReadyChange),
}

/// A response that is ready to be sent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadyResponse {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// What differs from the server's response.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadyChange {
    status: Option<u16>,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
    merge: Option<Value>,
}

/// What is to be done with a request, after a delay.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RuleDecision {
    pub delay: Duration,
    pub end: Option<RequestEnd>,
}

/// How a rule ends a request; without one, it goes to its server.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestEnd {
    Respond(ReadyResponse),
    Fail(AbortReason),
    Change(ReadyChange),
}

impl ActiveRule {
    /// Reads the file that the rule names, if any.
    pub fn new(rule: &NetworkRule) -> Result<ActiveRule, DriverError> {
        let effect = match &rule.effect {
            RuleEffect::Mock(MockedResponse { status, headers, body }) => {
                let (body, kind) = read(body)?;
                let mut headers = headers.clone();
                if header(&headers, "content-type").is_none() {
                    headers.push(("Content-Type".to_string(), kind));
                }
                ActiveEffect::Mock(ReadyResponse { status: *status, headers, body })
            }
            RuleEffect::Change(ResponseChange { status, headers, body, merge }) => {
                let body = body.as_ref().map(read).transpose()?.map(|(body, _)| body);
                let (status, headers, merge) = (*status, headers.clone(), merge.clone());
                ActiveEffect::Change(ReadyChange { status, headers, body, merge })
            }
            RuleEffect::Abort(reason) => ActiveEffect::Abort(*reason),
            RuleEffect::Delay(by) => ActiveEffect::Delay(*by),
        };
        Ok(ActiveRule { pattern: rule.pattern.clone(), effect, left: rule.times })
    }

    pub fn has_pattern(&self, url: &str) -> bool {
        self.pattern.url == url
    }

    /// Whether it is for a request, which is counted.
    fn takes(&mut self, method: &str, url: &str, is_counted: bool) -> bool {
        if self.left == Some(0) || !self.pattern.matches(method, url) {
            return false;
        }
        if is_counted {
            self.left = self.left.map(|left| left - 1);
        }
        true
    }
}

/// What the rules say about a request; the newest are asked first. Delays add up.
pub fn decide(rules: &mut [ActiveRule], request: &HeldRequest) -> RuleDecision {
    let mut decision = RuleDecision::default();
    // The question whether a page may send a request is answered as the request itself will be.
    let asked = asked_method(request);
    let method = asked.unwrap_or(&request.method);
    for rule in rules.iter_mut().rev() {
        if !rule.takes(method, &request.url, asked.is_none()) {
            continue;
        }
        let outcome = match &rule.effect {
            ActiveEffect::Delay(by) => {
                decision.delay += if asked.is_none() { *by } else { Duration::ZERO };
                continue;
            }
            ActiveEffect::Mock(_) if asked.is_some() => RequestEnd::Respond(permission(request)),
            ActiveEffect::Mock(response) => RequestEnd::Respond(response.clone()),
            ActiveEffect::Abort(reason) => RequestEnd::Fail(*reason),
            ActiveEffect::Change(_) if asked.is_some() => break,
            ActiveEffect::Change(change) => RequestEnd::Change(change.clone()),
        };
        decision.end = Some(outcome);
        break;
    }
    if let Some(RequestEnd::Respond(response)) = &mut decision.end {
        response.allow(request);
    }
    decision
}

/// The method that a page asks to be allowed.
pub fn asked_method(request: &HeldRequest) -> Option<&str> {
    if request.method != "OPTIONS" {
        return None;
    }
    header(&request.headers, "access-control-request-method")
}

/// Allows a page to send what it asks for.
pub fn permission(request: &HeldRequest) -> ReadyResponse {
    let mut headers =
        vec![("Access-Control-Allow-Methods".to_string(), asked_method(request).unwrap_or("*").to_string())];
    if let Some(asked) = header(&request.headers, "access-control-request-headers") {
        headers.push(("Access-Control-Allow-Headers".to_string(), asked.to_string()));
    }
    ReadyResponse { status: 204, headers, body: Vec::new() }
}

impl ReadyResponse {
    /// Lets a page of another origin read it, unless it says itself who may.
    pub fn allow(&mut self, request: &HeldRequest) {
        let Some(origin) = header(&request.headers, "origin") else { return };
        if header(&self.headers, "access-control-allow-origin").is_none() {
            self.headers.push(("Access-Control-Allow-Origin".to_string(), origin.to_string()));
            self.headers.push(("Access-Control-Allow-Credentials".to_string(), "true".to_string()));
        }
    }
}

impl ReadyChange {
    /// Whether the body of the response is needed.
    pub fn needs_body(&self) -> bool {
        self.body.is_none()
    }

    /// The response of a server with the change; why not, if its body cannot be changed.
    pub fn apply(&self, head: &ResponseHead, body: Vec<u8>) -> Result<ReadyResponse, String> {
        let mut body = self.body.clone().unwrap_or(body);
        if let Some(patch) = &self.merge {
            let mut value: Value =
                serde_json::from_slice(&body).map_err(|error| format!("its body is no JSON: {error}"))?;
            merge_json(&mut value, patch);
            body = value.to_string().into_bytes();
        }
        // Those of the changed headers, and those that described how the body came.
        let is_kept = |(name, _): &&(String, String)| {
            let is_of_body = ["content-length", "content-encoding", "transfer-encoding"];
            header(&self.headers, name).is_none() && !is_of_body.iter().any(|own| name.eq_ignore_ascii_case(own))
        };
        let headers = head.headers.iter().filter(is_kept).chain(&self.headers).cloned().collect();
        Ok(ReadyResponse { status: self.status.unwrap_or(head.status), headers, body })
    }
}

/// A body, and what it contains.
fn read(source: &BodySource) -> Result<(Vec<u8>, String), DriverError> {
    Ok(match source {
        BodySource::Json(value) => (value.to_string().into_bytes(), "application/json".to_string()),
        BodySource::Text(text) => {
            let kind = if text.trim_start().starts_with('<') { "text/html" } else { "text/plain" };
            (text.clone().into_bytes(), format!("{kind}; charset=utf-8"))
        }
        BodySource::File(file) => {
            let wrong = |why: String| DriverError::Refused {
                reason: format!(
                    "the body of the response cannot be read from `{file}`: {why}; `file` is relative to the trail"
                ),
            };
            let length = std::fs::metadata(file).map_err(|error| wrong(error.to_string()))?.len();
            if length > BODY_FILE {
                return Err(wrong(format!("it has {length} bytes, and at most {BODY_FILE} are sent")));
            }
            let body = std::fs::read(file).map_err(|error| wrong(error.to_string()))?;
            (body, kind_of(Path::new(file)).to_string())
        }
    })
}

fn kind_of(file: &Path) -> &'static str {
    let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    match ending.as_str() {
        "json" | "map" => "application/json",
        "html" | "htm" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "txt" | "md" => "text/plain; charset=utf-8",
        "csv" => "text/csv; charset=utf-8",
        "xml" => "application/xml",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "pdf" => "application/pdf",
        "woff2" => "font/woff2",
        "wasm" => "application/wasm",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rule(url: &str, method: Option<&str>, effect: RuleEffect, times: Option<u64>) -> ActiveRule {
        let pattern = RequestPattern { url: url.into(), method: method.map(str::to_string) };
        ActiveRule::new(&NetworkRule { pattern, effect, times }).expect("a rule")
    }

    fn mock(status: u16) -> RuleEffect {
        RuleEffect::Mock(MockedResponse { status, headers: Vec::new(), body: BodySource::Json(json!([1])) })
    }

    fn request(method: &str, url: &str) -> HeldRequest {
        HeldRequest { method: method.into(), url: url.into(), ..HeldRequest::default() }
    }

    fn status(decision: &RuleDecision) -> Option<u16> {
        match &decision.end {
            Some(RequestEnd::Respond(response)) => Some(response.status),
            _ => None,
        }
    }

    #[test]
    fn the_newest_rule_that_matches_decides_as_often_as_it_may() {
        let second = Duration::from_secs(1);
        let mut rules = [
            rule("/api", None, mock(200), None),
            rule("/api", None, RuleEffect::Delay(second), None),
            rule("/api/pay", Some("POST"), mock(503), Some(1)),
        ];
        let pay = request("POST", "http://a/api/pay");
        let first = decide(&mut rules, &pay);
        assert_eq!((status(&first), first.delay), (Some(503), Duration::ZERO));
        let next = decide(&mut rules, &pay);
        assert_eq!((status(&next), next.delay), (Some(200), second));
        assert_eq!(decide(&mut rules, &request("GET", "http://a/")), RuleDecision::default());
    }

    #[test]
    fn a_page_of_another_origin_is_allowed_to_ask_and_to_read() {
        let mut rules = [rule("/api", Some("PUT"), mock(200), Some(1))];
        let mut question = request("OPTIONS", "http://b/api");
        for (name, value) in [("Origin", "http://a"), ("Access-Control-Request-Method", "PUT")] {
            question.headers.push((name.into(), value.into()));
        }
        let allowed = decide(&mut rules, &question);
        assert_eq!(status(&allowed), Some(204));
        let mut put = request("PUT", "http://b/api");
        put.headers.push(("origin".into(), "http://a".into()));
        let Some(RequestEnd::Respond(response)) = decide(&mut rules, &put).end else { panic!("it is answered") };
        assert_eq!(header(&response.headers, "access-control-allow-origin"), Some("http://a"));
        assert_eq!(header(&response.headers, "content-type"), Some("application/json"));
    }

    #[test]
    fn a_changed_response_keeps_what_is_not_changed() {
        let change = ResponseChange {
            headers: vec![("X-Own".into(), "1".into())],
            merge: Some(json!({"user": {"name": null, "role": "admin"}})),
            ..ResponseChange::default()
        };
        let effect = rule("/api", None, RuleEffect::Change(change), None).effect;
        let ActiveEffect::Change(change) = effect else { panic!("a change") };
        let headers = [("Content-Encoding", "gzip"), ("x-own", "0"), ("X-Kept", "2")];
        let headers = headers.map(|(name, value)| (name.to_string(), value.to_string())).to_vec();
        let head = ResponseHead { status: 201, headers, ..ResponseHead::default() };
        let changed = change.apply(&head, br#"{"id": 1, "user": {"name": "Ada"}}"#.to_vec()).unwrap();
        assert_eq!(changed.status, 201);
        assert_eq!(
            serde_json::from_slice::<Value>(&changed.body).unwrap(),
            json!({"id": 1, "user": {"role": "admin"}})
        );
        let pairs: Vec<_> = changed.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(pairs, [("X-Kept", "2"), ("X-Own", "1")]);
        assert!(change.apply(&head, b"<p>".to_vec()).unwrap_err().contains("no JSON"));
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let effect = RuleEffect::Mock(MockedResponse {
            status: 200,
            headers: Vec::new(),
            body: BodySource::File("/nowhere/a.json".into()),
        });
        let pattern = RequestPattern { url: "*".into(), method: None };
        let Err(error) = ActiveRule::new(&NetworkRule { pattern, effect, times: None }) else { panic!("it is absent") };
        assert!(error.to_string().contains("cannot be read from `/nowhere/a.json`"), "{error}");
    }
}
