//! The requests of pages with their headers and bodies, as far as they are kept.

use std::collections::VecDeque;

use serde_json::{Map, Value, json};
use trailblaze_core::driver::{
    ExchangeBody, ExchangeQuery, ExchangeResponse, ExchangeSide, NetworkExchange, cut, has_json,
};

use super::super::backend_world::{ResponseHead, TrafficEvent, TrafficStage};

/// How many exchanges are kept, and in a HAR file.
const KEPT: usize = 1000;
const KEPT_IN_HAR: usize = 10_000;
/// The longest body that is kept, in bytes, and how much all of them may have.
const BODY: usize = 256 << 10;
const BODIES: usize = 8 << 20;
/// The same for a HAR file.
const BODY_IN_HAR: usize = 16 << 20;
const BODIES_IN_HAR: usize = 128 << 20;
/// The longest address, and the longest header, in bytes.
const ADDRESS: usize = 16 << 10;
const HEADER: usize = 8 << 10;
/// How many remarks about requests wait for these.
const MARKS: usize = 100;

#[derive(Default)]
pub struct ExchangeLog {
    all: VecDeque<LoggedExchange>,
    /// What rules did to requests that have not been reported yet, by their id.
    marks: VecDeque<(String, String)>,
    n_bytes: usize,
    is_recording: bool,
}

struct LoggedExchange {
    id: String,
    /// In seconds of the browser's clock.
    at: f64,
    exchange: NetworkExchange,
    /// Whether its body is about to come.
    awaits_body: bool,
    is_over: bool,
    /// Whether a search has returned its request, and its response.
    is_request_found: bool,
    is_response_found: bool,
    /// Whether it was sent since a HAR file is being recorded.
    is_recorded: bool,
}

/// A body that is to be got from the browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyWanted {
    id: String,
    pub body_id: String,
    number: u64,
}

/// An exchange that a search has found.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundExchange {
    pub text: String,
    pub value: Value,
}

impl ExchangeLog {
    pub fn take(&mut self, event: TrafficEvent, number: Option<u64>, is_recording: bool) -> Option<BodyWanted> {
        let TrafficEvent { id, body_id, at, stage } = event;
        match stage {
            TrafficStage::Sent { sent_at, method, url, kind, headers, body, redirect } => {
                if let Some(head) = redirect
                    && let Some(before) = self.known(&id)
                {
                    before.exchange.response = Some(response(head));
                    before.end(at);
                }
                let mark = self.marks.iter().position(|(of, _)| *of == id).and_then(|at| self.marks.remove(at));
                let kept = Some(body).filter(|body| !body.is_empty());
                let exchange = NetworkExchange {
                    request: number.unwrap_or_default(),
                    method,
                    url: cut(&url, ADDRESS),
                    kind: kind.to_lowercase(),
                    sent_at,
                    request_headers: shortened(headers),
                    request_body: kept.and_then(|body| ExchangeBody::of(body.into_bytes(), BODY)),
                    rule: mark.map(|(_, rule)| rule),
                    ..NetworkExchange::default()
                };
                self.push(LoggedExchange {
                    id,
                    at,
                    exchange,
                    awaits_body: false,
                    is_over: false,
                    is_request_found: false,
                    is_response_found: false,
                    is_recorded: is_recording,
                });
                None
            }
            TrafficStage::Answered(head) => {
                self.known(&id)?.exchange.response = Some(response(head));
                None
            }
            TrafficStage::Finished { n_bytes } => {
                let is_full = self.n_bytes >= if self.is_recording { BODIES_IN_HAR } else { BODIES };
                let known = self.known(&id)?;
                known.end(at);
                let is_text = matches!(known.exchange.kind.as_str(), "document" | "xhr" | "fetch");
                let longest = if known.is_recorded { BODY_IN_HAR } else { BODY };
                let is_wanted = known.exchange.response.is_some()
                    && (known.is_recorded || is_text)
                    && n_bytes <= longest as u64
                    && !is_full;
                known.awaits_body = is_wanted;
                let number = known.exchange.request;
                is_wanted.then_some(BodyWanted { id, body_id, number })
            }
            TrafficStage::Failed { why } => {
                let known = self.known(&id)?;
                known.exchange.failure = Some(why);
                known.end(at);
                None
            }
        }
    }

    fn push(&mut self, new: LoggedExchange) {
        let most = if self.is_recording { KEPT_IN_HAR } else { KEPT };
        while self.all.len() >= most {
            if let Some(old) = self.all.pop_front() {
                self.n_bytes = self.n_bytes.saturating_sub(n_bytes(&old.exchange));
            }
        }
        self.n_bytes += n_bytes(&new.exchange);
        self.all.push_back(new);
    }

    fn known(&mut self, id: &str) -> Option<&mut LoggedExchange> {
        self.all.iter_mut().rev().find(|known| known.id == id)
    }

    pub fn keep_body(&mut self, wanted: &BodyWanted, body: Option<Vec<u8>>) {
        let is_it = |known: &&mut LoggedExchange| known.id == wanted.id && known.exchange.request == wanted.number;
        let Some(known) = self.all.iter_mut().rev().find(is_it) else { return };
        known.awaits_body = false;
        let longest = if known.is_recorded { BODY_IN_HAR } else { BODY };
        let body = body.and_then(|body| ExchangeBody::of(body, longest));
        self.n_bytes += body.as_ref().map_or(0, ExchangeBody::n_bytes);
        if let Some(response) = &mut known.exchange.response {
            response.body = body;
        }
    }

    /// Notes what a rule did to a request, which may not have been reported yet.
    pub fn mark(&mut self, id: &str, rule: String) {
        if let Some(known) = self.known(id).filter(|known| !known.is_over) {
            known.exchange.rule = Some(rule);
            return;
        }
        if self.marks.len() == MARKS {
            self.marks.pop_front();
        }
        self.marks.push_back((id.to_string(), rule));
    }

    /// Finds the oldest exchange that no search has found, or says what there was.
    pub fn find(&mut self, query: &ExchangeQuery) -> Result<FoundExchange, String> {
        let mut near: Option<(usize, String)> = None;
        let mut n_others = 0;
        for (index, known) in self.all.iter().enumerate() {
            let exchange = &known.exchange;
            let is_found = match query.side {
                ExchangeSide::Request => known.is_request_found,
                ExchangeSide::Response => known.is_response_found,
            };
            if is_found || !query.pattern.matches(&exchange.method, &exchange.url) {
                n_others += 1;
                continue;
            }
            match differs(known, query) {
                None => {
                    let known = &mut self.all[index];
                    match query.side {
                        ExchangeSide::Request => known.is_request_found = true,
                        ExchangeSide::Response => known.is_response_found = true,
                    }
                    return Ok(found(&known.exchange, query.side));
                }
                Some(why) => near = Some((index, why)),
            }
        }
        Err(match near {
            Some((index, why)) => format!("{}: {why}", line(&self.all[index].exchange)),
            None if n_others == 0 => "no request at all".to_string(),
            None => {
                let newest: Vec<String> = self.all.iter().rev().take(3).map(|known| line(&known.exchange)).collect();
                format!(
                    "{n_others} other requests, or ones that were found before; the newest are {}",
                    newest.join(", ")
                )
            }
        })
    }

    pub fn all(&self) -> Vec<NetworkExchange> {
        self.all.iter().map(|known| known.exchange.clone()).collect()
    }

    pub fn forget(&mut self) {
        *self = ExchangeLog::default();
    }

    pub fn begin_recording(&mut self) {
        self.is_recording = true;
    }

    pub fn awaits_bodies(&self) -> bool {
        self.all.iter().any(|known| known.is_recorded && (known.awaits_body || !known.is_over))
    }

    /// The exchanges since recording began.
    pub fn end_recording(&mut self) -> Vec<NetworkExchange> {
        self.is_recording = false;
        let recorded = self.all.iter().filter(|known| known.is_recorded).map(|known| known.exchange.clone()).collect();
        self.all.iter_mut().for_each(|known| known.is_recorded = false);
        // What is too large for anything else is let go.
        if self.n_bytes > BODIES || self.all.len() > KEPT {
            self.forget();
        }
        recorded
    }
}

impl LoggedExchange {
    fn end(&mut self, at: f64) {
        self.exchange.millis = Some(((at - self.at).max(0.0)) * 1000.0);
        self.is_over = true;
    }
}

fn n_bytes(exchange: &NetworkExchange) -> usize {
    let response = exchange.response.as_ref().and_then(|response| response.body.as_ref());
    exchange.request_body.iter().chain(response).map(ExchangeBody::n_bytes).sum()
}

fn shortened(headers: Vec<(String, String)>) -> Vec<(String, String)> {
    headers.into_iter().map(|(name, value)| (name, cut(&value, HEADER))).collect()
}

fn response(head: ResponseHead) -> ExchangeResponse {
    let ResponseHead { status, status_text, headers, mime } = head;
    ExchangeResponse { status, status_text, headers: shortened(headers), mime, body: None }
}

/// What is not as it is searched for, in an exchange whose address is.
fn differs(known: &LoggedExchange, query: &ExchangeQuery) -> Option<String> {
    let exchange = &known.exchange;
    let body = match query.side {
        ExchangeSide::Request => exchange.request_body.as_ref(),
        ExchangeSide::Response => {
            let Some(response) = &exchange.response else {
                return Some(exchange.failure.clone().unwrap_or_else(|| "no answer yet".to_string()));
            };
            if let Some(status) = query.status.filter(|status| *status != response.status) {
                return Some(format!("its status is {}, not {status}", response.status));
            }
            if !known.is_over || known.awaits_body {
                return Some("its body has not come yet".to_string());
            }
            response.body.as_ref()
        }
    };
    if query.contains.is_none() && query.json.is_none() {
        return None;
    }
    let Some(body) = body else { return Some("it has no body that was kept".to_string()) };
    let Some(text) = body.text() else { return Some("its body is too long, or no text".to_string()) };
    if let Some(wanted) = query.contains.as_ref().filter(|wanted| !text.contains(wanted.as_str())) {
        return Some(format!("its body does not contain \"{wanted}\": {}", cut(text, 300)));
    }
    let wanted = query.json.as_ref()?;
    match serde_json::from_str::<Value>(text) {
        Ok(value) if has_json(&value, wanted) => None,
        Ok(_) => Some(format!("its body has other values: {}", cut(text, 300))),
        Err(_) => Some(format!("its body is no JSON: {}", cut(text, 300))),
    }
}

/// An exchange in one line: `POST https://shop.example/pay → 201`.
fn line(exchange: &NetworkExchange) -> String {
    let NetworkExchange { method, url, response, failure, .. } = exchange;
    let end = match (response, failure) {
        (_, Some(why)) => format!(" → {why}"),
        (Some(response), None) => format!(" → {}", response.status),
        (None, None) => String::new(),
    };
    format!("{method} {}{end}", cut(url, 200))
}

fn found(exchange: &NetworkExchange, side: ExchangeSide) -> FoundExchange {
    let of = |headers: &[(String, String)]| -> Map<String, Value> {
        headers.iter().map(|(name, value)| (name.to_lowercase(), Value::from(value.as_str()))).collect()
    };
    let as_value = |body: Option<&ExchangeBody>| match body.and_then(ExchangeBody::text) {
        Some(text) => serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)),
        None => Value::Null,
    };
    let mut value = json!({
        "request": exchange.request, "method": exchange.method, "url": exchange.url, "kind": exchange.kind,
    });
    match (side, &exchange.response) {
        (ExchangeSide::Response, Some(response)) => {
            value["status"] = response.status.into();
            value["headers"] = of(&response.headers).into();
            value["body"] = as_value(response.body.as_ref());
        }
        _ => {
            value["headers"] = of(&exchange.request_headers).into();
            value["body"] = as_value(exchange.request_body.as_ref());
        }
    }
    FoundExchange { text: line(exchange), value }
}

#[cfg(test)]
mod tests {
    use trailblaze_core::driver::RequestPattern;

    use super::*;

    fn event(id: &str, at: f64, stage: TrafficStage) -> TrafficEvent {
        TrafficEvent { id: id.into(), body_id: format!("s|{id}"), at, stage }
    }

    fn sent(url: &str, body: &str) -> TrafficStage {
        let (method, kind) = ("POST".into(), "Fetch".into());
        TrafficStage::Sent {
            sent_at: 0.0,
            method,
            url: url.into(),
            kind,
            headers: vec![],
            body: body.into(),
            redirect: None,
        }
    }

    fn answered(status: u16) -> TrafficStage {
        TrafficStage::Answered(ResponseHead { status, ..ResponseHead::default() })
    }

    fn query(side: ExchangeSide, json: Option<Value>) -> ExchangeQuery {
        let pattern = RequestPattern { url: "/pay".into(), method: None };
        ExchangeQuery { pattern, side, status: None, contains: None, json }
    }

    #[test]
    fn an_exchange_is_found_once_for_its_request_and_once_for_its_response() {
        let mut log = ExchangeLog::default();
        assert_eq!(log.find(&query(ExchangeSide::Request, None)).unwrap_err(), "no request at all");
        log.take(event("1", 1.0, sent("http://a/pay", "{\"n\": 1}")), Some(1), false);
        log.take(event("2", 1.0, sent("http://a/pay", "{\"n\": 2}")), Some(2), false);
        let second = query(ExchangeSide::Request, Some(json!({"n": 2})));
        assert_eq!(log.find(&second).unwrap().value["request"], 2);
        let why = log.find(&second).unwrap_err();
        assert_eq!(why, "POST http://a/pay: its body has other values: {\"n\": 1}");
        let response = query(ExchangeSide::Response, Some(json!({"id": 7})));
        assert!(log.find(&response).unwrap_err().ends_with("no answer yet"));
        log.take(event("1", 1.5, answered(201)), None, false);
        let wanted = log.take(event("1", 1.5, TrafficStage::Finished { n_bytes: 9 }), None, false).expect("a body");
        assert!(log.find(&query(ExchangeSide::Response, None)).is_err(), "its body may be asked for");
        log.keep_body(&wanted, Some(b"{\"id\": 7}".to_vec()));
        let found = log.find(&response).unwrap();
        assert_eq!((found.value["body"]["id"].clone(), found.text.as_str()), (json!(7), "POST http://a/pay → 201"));
        assert_eq!(log.all()[0].millis, Some(500.0));
    }

    #[test]
    fn a_redirect_ends_one_exchange_and_begins_another() {
        let mut log = ExchangeLog::default();
        log.take(event("1", 1.0, sent("http://a/pay", "")), Some(1), false);
        let redirect = Some(ResponseHead { status: 302, ..ResponseHead::default() });
        let again = match sent("http://a/paid", "") {
            TrafficStage::Sent { sent_at, method, url, kind, headers, body, .. } => {
                TrafficStage::Sent { sent_at, method, url, kind, headers, body, redirect }
            }
            _ => unreachable!("it was sent"),
        };
        log.take(event("1", 2.0, again), Some(2), false);
        let all = log.all();
        assert_eq!(all.iter().map(|known| known.url.as_str()).collect::<Vec<_>>(), ["http://a/pay", "http://a/paid"]);
        assert_eq!(all[0].response.as_ref().map(|response| response.status), Some(302));
    }

    #[test]
    fn only_the_newest_exchanges_are_kept() {
        let mut log = ExchangeLog::default();
        for id in 0..1500_u64 {
            log.take(event(&id.to_string(), 1.0, sent("http://a/pay", "0123456789")), Some(id), false);
        }
        assert_eq!((log.all.len(), log.n_bytes), (1000, 10_000));
        let found = log.find(&query(ExchangeSide::Request, None)).unwrap();
        assert_eq!(found.value["request"], 500);
    }
}
