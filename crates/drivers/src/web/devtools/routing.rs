//! Holds requests, answers them, and hands over bodies.

use async_trait::async_trait;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use trailblaze_core::driver::AbortReason;

use super::super::backend::{BackendError, BrowserEvent, Routing};
use super::super::backend_world::{
    CredentialsQuestion, HeldRequest, RequestAnswer, ResponseHead, TrafficEvent, TrafficStage,
};
use super::{DevTools, SessionId, string};

/// Between the parts of an id: the session, and the id in it.
const SEPARATOR: char = '|';

/// The commands that have requests of a session held, or not any more.
pub fn commands(is_on: bool) -> Vec<(&'static str, Value)> {
    let bypass = ("Network.setBypassServiceWorker", json!({"bypass": is_on}));
    match is_on {
        true => vec![bypass, ("Fetch.enable", json!({"handleAuthRequests": true}))],
        false => vec![("Fetch.disable", json!({})), bypass],
    }
}

fn place_of(id: &str) -> Result<(&str, &str), BackendError> {
    id.split_once(SEPARATOR).ok_or_else(|| BackendError::Refused(format!("there is no request `{id}`")))
}

fn error_of(reason: AbortReason) -> &'static str {
    match reason {
        AbortReason::Failed => "Failed",
        AbortReason::Refused => "ConnectionRefused",
        AbortReason::Reset => "ConnectionReset",
        AbortReason::TimedOut => "TimedOut",
        AbortReason::NameNotResolved => "NameNotResolved",
        AbortReason::Offline => "InternetDisconnected",
        AbortReason::Blocked => "BlockedByClient",
    }
}

#[async_trait]
impl Routing for DevTools {
    async fn hold(&self, is_on: bool) -> Result<(), BackendError> {
        if std::mem::replace(&mut self.page_conditions.lock().holds_requests, is_on) == is_on {
            return Ok(());
        }
        self.tell_sessions(&commands(is_on)).await
    }

    async fn answer(&self, held: &str, answer: RequestAnswer) -> Result<(), BackendError> {
        let (session, id) = place_of(held)?;
        let with_credentials =
            |response: Value| ("Fetch.continueWithAuth", json!({"requestId": id, "authChallengeResponse": response}));
        let (method, params) = match answer {
            RequestAnswer::Continue { holds_response: false } => ("Fetch.continueRequest", json!({"requestId": id})),
            RequestAnswer::Continue { holds_response: true } => {
                ("Fetch.continueRequest", json!({"requestId": id, "interceptResponse": true}))
            }
            RequestAnswer::Respond { status, headers, body } => {
                // A header that has several lines is sent several times, as cookies are.
                let lines = |(name, value): &(String, String)| -> Vec<Value> {
                    value.split('\n').map(|line| json!({"name": name, "value": line})).collect()
                };
                let headers: Vec<Value> = headers.iter().flat_map(lines).collect();
                let body = BASE64_STANDARD.encode(body);
                let params = json!({"requestId": id, "responseCode": status, "responseHeaders": headers, "body": body});
                ("Fetch.fulfillRequest", params)
            }
            RequestAnswer::Fail(reason) => {
                ("Fetch.failRequest", json!({"requestId": id, "errorReason": error_of(reason)}))
            }
            RequestAnswer::Credentials { username, password } => {
                let response = "ProvideCredentials";
                with_credentials(json!({"response": response, "username": username, "password": password}))
            }
            RequestAnswer::NoCredentials => with_credentials(json!({"response": "CancelAuth"})),
        };
        self.call_session(session, method, params).await.map(drop)
    }

    async fn held_body(&self, held: &str) -> Result<Vec<u8>, BackendError> {
        let (session, id) = place_of(held)?;
        body_of(&self.call_session(session, "Fetch.getResponseBody", json!({"requestId": id})).await?)
    }

    async fn body(&self, traffic: &str) -> Result<Vec<u8>, BackendError> {
        let (session, id) = place_of(traffic)?;
        body_of(&self.call_session(session, "Network.getResponseBody", json!({"requestId": id})).await?)
    }
}

fn body_of(answer: &Value) -> Result<Vec<u8>, BackendError> {
    let body = answer.get("body").and_then(Value::as_str).unwrap_or_default();
    match answer.get("base64Encoded").and_then(Value::as_bool).unwrap_or(false) {
        true => BASE64_STANDARD.decode(body).map_err(|error| BackendError::Refused(error.to_string())),
        false => Ok(body.as_bytes().to_vec()),
    }
}

impl DevTools {
    /// Sends commands to all sessions. One that has ended meanwhile needs nothing.
    pub(super) async fn tell_sessions(&self, commands: &[(&'static str, Value)]) -> Result<(), BackendError> {
        let sessions: Vec<SessionId> = self.known.lock().sessions.keys().cloned().collect();
        for session in sessions {
            match self.call_all(&session, commands.to_vec()).await {
                Ok(()) => {}
                Err(BackendError::Refused(_)) if !self.known.lock().sessions.contains_key(&session) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// A request is held, or a server asks who is there.
    pub(super) fn fetch_event(&self, session: &str, method: &str, params: &Value) {
        if self.private.is_session(session) {
            return self.answer_privately(session, params);
        }
        let text = |pointer: &str| params.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let id = format!("{session}{SEPARATOR}{}", text("/requestId"));
        match method {
            "Fetch.requestPaused" => {
                let status = params.get("responseStatusCode").and_then(Value::as_u64);
                let response = status.and_then(|status| u16::try_from(status).ok()).map(|status| ResponseHead {
                    status,
                    status_text: text("/responseStatusText").to_string(),
                    headers: pairs(&params["responseHeaders"]),
                    mime: String::new(),
                });
                self.sink.take(BrowserEvent::Held(HeldRequest {
                    id,
                    traffic: text("/networkId").to_string(),
                    method: text("/request/method").to_string(),
                    url: text("/request/url").to_string(),
                    headers: pairs(&params["request"]["headers"]),
                    body: text("/request/postData").to_string(),
                    response,
                }));
            }
            "Fetch.authRequired" => self.sink.take(BrowserEvent::CredentialsAsked(CredentialsQuestion {
                id,
                origin: text("/authChallenge/origin").to_string(),
                is_proxy: text("/authChallenge/source") == "Proxy",
            })),
            _ => {}
        }
    }

    /// Reports what else is known about a request.
    pub(super) fn traffic(&self, session: &str, method: &str, params: &Value) {
        let text = |pointer: &str| params.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let stage = match method {
            // The address is the content.
            "Network.requestWillBeSent" if text("/request/url").starts_with("data:") => return,
            "Network.requestWillBeSent" => TrafficStage::Sent {
                sent_at: params.get("wallTime").and_then(Value::as_f64).unwrap_or_default() * 1000.0,
                method: text("/request/method").to_string(),
                url: text("/request/url").to_string(),
                kind: text("/type").to_string(),
                headers: pairs(&params["request"]["headers"]),
                body: text("/request/postData").to_string(),
                redirect: params.get("redirectResponse").map(head),
            },
            "Network.responseReceived" => TrafficStage::Answered(head(&params["response"])),
            "Network.loadingFinished" => {
                let n_bytes = params.get("encodedDataLength").and_then(Value::as_f64).unwrap_or_default();
                TrafficStage::Finished { n_bytes: n_bytes.max(0.0) as u64 }
            }
            "Network.loadingFailed" => TrafficStage::Failed { why: text("/errorText").to_string() },
            _ => return,
        };
        let id = text("/requestId").to_string();
        let at = params.get("timestamp").and_then(Value::as_f64).unwrap_or_default();
        let body_id = format!("{session}{SEPARATOR}{id}");
        self.sink.take(BrowserEvent::Traffic(TrafficEvent { id, body_id, at, stage }));
    }
}

fn head(response: &Value) -> ResponseHead {
    let status = response.get("status").and_then(Value::as_u64).and_then(|status| u16::try_from(status).ok());
    ResponseHead {
        status: status.unwrap_or_default(),
        status_text: string(response, "statusText"),
        headers: pairs(&response["headers"]),
        mime: string(response, "mimeType"),
    }
}

/// Headers, which come as an object or as a list.
fn pairs(headers: &Value) -> Vec<(String, String)> {
    match headers {
        Value::Object(map) => {
            let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
            map.iter().map(|(name, value)| (name.clone(), text(value))).collect()
        }
        Value::Array(list) => list.iter().map(|pair| (string(pair, "name"), string(pair, "value"))).collect(),
        _ => Vec::new(),
    }
}
