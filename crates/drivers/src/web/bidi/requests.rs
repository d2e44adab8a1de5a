//! Requests of pages, as the page half knows them.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::super::backend::{BrowserEvent, RequestEvent, RequestStage, TabId};
use super::{BidiSession, string};

/// How many requests may wait for their body.
const WAITING: usize = 256;
/// The longest address that an event keeps, in bytes: a data URL may be as long as a picture.
const ADDRESS: usize = 32 << 10;

/// Requests whose body is being asked for, with the events that came meanwhile.
#[derive(Default)]
pub struct HeldRequests {
    pub has_bodies: bool,
    waiting: HashMap<String, Vec<(Option<TabId>, RequestEvent)>>,
}

impl BidiSession {
    pub(super) fn network_event(&self, method: &str, params: &Value) {
        let context = string(params, "context");
        let (tab, is_empty) = {
            let known = self.known.lock();
            (known.tab_of(&context), known.empty_pages.contains(&context))
        };
        if is_empty && params.get("isBlocked").and_then(Value::as_bool) == Some(true) {
            return self.answer_empty(string(&params["request"], "request"));
        }
        if tab.is_none() && !context.is_empty() {
            return;
        }
        let Some(request) = request_event(method, params) else { return };
        // The icon of a page is the browser's request.
        if is_browsers_own(params) {
            return;
        }
        let id = request.id.clone();
        let body = params.pointer("/request/bodySize").and_then(Value::as_u64).unwrap_or(0);
        let is_sent = matches!(request.stage, RequestStage::Sent { .. });
        {
            let mut held = self.requests.lock();
            if let Some(waiting) = held.waiting.get_mut(&id) {
                return waiting.push((tab, request));
            }
            if !(is_sent && body > 0 && held.has_bodies && held.waiting.len() < WAITING) {
                drop(held);
                return self.sink.take(BrowserEvent::Request { tab, request });
            }
            held.waiting.insert(id.clone(), vec![(tab, request)]);
        }
        let Some(me) = self.me.upgrade() else { return };
        // Detached: ends when the browser has answered, or is gone.
        tokio::spawn(async move { me.add_body(id).await });
    }

    /// Answers a request that was stopped with an empty page.
    fn answer_empty(&self, request: String) {
        let Some(me) = self.me.upgrade() else { return };
        let html = json!([{"name": "content-type", "value": {"type": "string", "value": "text/html"}}]);
        let body = json!({"type": "string", "value": ""});
        let answer = json!({"request": request, "statusCode": 200, "headers": html, "body": body});
        // Detached: ends when the browser has answered, or is gone.
        tokio::spawn(async move { me.call("network.provideResponse", answer).await });
    }

    /// Asks for the body of a request, and passes on its events.
    async fn add_body(&self, id: String) {
        let data = self.call("network.getData", json!({"dataType": "request", "request": id})).await;
        let body = data.ok().map(|data| text_of(&data["bytes"])).unwrap_or_default();
        let waiting = self.requests.lock().waiting.remove(&id).unwrap_or_default();
        for (index, (tab, mut request)) in waiting.into_iter().enumerate() {
            if let (0, RequestStage::Sent { body: own, .. }) = (index, &mut request.stage) {
                body.clone_into(own);
            }
            self.sink.take(BrowserEvent::Request { tab, request });
        }
    }
}

/// Bytes that are no text are not shown.
fn text_of(bytes: &Value) -> String {
    match bytes.get("type").and_then(Value::as_str) {
        Some("string") => string(bytes, "value"),
        _ => String::new(),
    }
}

fn is_browsers_own(params: &Value) -> bool {
    let request = &params["request"];
    let is_icon = string(request, "url").ends_with("/favicon.ico");
    is_icon && string(request, "destination") == "image" && request.get("initiatorType").is_none_or(Value::is_null)
}

fn request_event(method: &str, params: &Value) -> Option<RequestEvent> {
    let request = &params["request"];
    let status = params.pointer("/response/status").and_then(Value::as_u64).filter(|status| *status > 0);
    let status = status.and_then(|status| u16::try_from(status).ok());
    let url = |value: &Value| trailblaze_core::driver::cut(&string(value, "url"), ADDRESS);
    let stage = match method {
        // What a request was redirected from has ended by its own response.
        "network.beforeRequestSent" => {
            let method = string(request, "method");
            RequestStage::Sent { method, url: url(request), body: String::new(), redirect: None }
        }
        "network.responseStarted" => RequestStage::Answered { url: url(&params["response"]), status },
        "network.responseCompleted" => RequestStage::Finished,
        "network.fetchError" => {
            let why = string(params, "errorText");
            let is_cancelled = why.contains("ABORTED");
            RequestStage::Failed { why, is_cancelled }
        }
        _ => return None,
    };
    let at = params.get("timestamp").and_then(Value::as_f64).unwrap_or_default() / 1000.0;
    Some(RequestEvent { id: string(request, "request"), at, kind: kind_of(request).to_string(), stage })
}

/// What a request is for, as Chromium names it.
fn kind_of(request: &Value) -> &'static str {
    match (string(request, "destination").as_str(), string(request, "initiatorType").as_str()) {
        ("document" | "iframe" | "frame", _) => "Document",
        ("script" | "worker" | "sharedworker" | "serviceworker", _) => "Script",
        ("style", _) => "Stylesheet",
        ("image", _) => "Image",
        ("font", _) => "Font",
        ("audio" | "video" | "track", _) => "Media",
        ("manifest", _) => "Manifest",
        (_, "xmlhttprequest") => "XHR",
        (_, "fetch") => "Fetch",
        _ => "Other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(destination: &str, initiator: &Value) -> Value {
        json!({
            "context": "c", "timestamp": 1500, "request": {
                "request": "7", "url": "http://a.test/x", "method": "POST", "destination": destination,
                "initiatorType": initiator,
            }, "response": {"url": "http://a.test/x", "status": 201}, "errorText": "NS_BINDING_ABORTED",
        })
    }

    #[test]
    fn events_of_requests_are_those_of_every_browser() {
        let fetch = params("", &json!("fetch"));
        let sent = request_event("network.beforeRequestSent", &fetch).unwrap();
        assert_eq!((sent.id.as_str(), sent.kind.as_str(), sent.at), ("7", "Fetch", 1.5));
        assert!(matches!(sent.stage, RequestStage::Sent { ref method, .. } if method == "POST"), "{sent:?}");
        let answered = request_event("network.responseStarted", &fetch).unwrap();
        assert!(matches!(answered.stage, RequestStage::Answered { status: Some(201), .. }), "{answered:?}");
        let failed = request_event("network.fetchError", &fetch).unwrap();
        assert!(matches!(failed.stage, RequestStage::Failed { is_cancelled: true, .. }), "{failed:?}");
        assert!(request_event("network.authRequired", &fetch).is_none());
        let document = request_event("network.beforeRequestSent", &params("document", &Value::Null)).unwrap();
        assert_eq!(document.kind, "Document");
    }
}
