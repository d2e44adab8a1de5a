//! The requests that the pages of a device have made.

use std::collections::VecDeque;

use serde_json::{Value, json};
use trailblaze_core::driver::NetworkRequest;

use super::state::cut;

/// How many requests are kept, and how many of them are listed.
const KEPT: usize = 1000;
const LISTED: usize = 500;
/// The longest request body that is kept.
const BODY: usize = 4096;
/// The longest address that is kept, and that is listed, in bytes.
const KEPT_ADDRESS: usize = 16 << 10;
const ADDRESS: usize = 2048;

/// The newest requests, in the order in which they were made.
#[derive(Default)]
pub struct Requests {
    all: VecDeque<Request>,
    last_number: u64,
}

struct Request {
    id: String,
    number: u64,
    method: String,
    url: String,
    body: String,
    kind: String,
    status: Option<u16>,
    failure: Option<String>,
    /// When it was sent, in seconds of the browser's clock.
    sent_at: f64,
    micros: Option<u64>,
}

impl Requests {
    /// Takes an event of the browser.
    pub fn told(&mut self, method: &str, params: &Value) {
        let text = |pointer: &str| params.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let at = params.get("timestamp").and_then(Value::as_f64).unwrap_or_default();
        let status = |pointer: &str| {
            let status = params.pointer(pointer).and_then(Value::as_u64).filter(|status| *status > 0);
            status.and_then(|status| u16::try_from(status).ok())
        };
        let id = text("/requestId");
        match method {
            "Network.requestWillBeSent" => {
                // A redirect has the id of the request that it answers.
                if params.get("redirectResponse").is_some() {
                    self.change(id, |request| {
                        request.status = status("/redirectResponse/status");
                        request.end(at);
                    });
                }
                self.last_number += 1;
                if self.all.len() == KEPT {
                    self.all.pop_front();
                }
                self.all.push_back(Request {
                    id: id.to_string(),
                    number: self.last_number,
                    method: text("/request/method").to_string(),
                    url: cut(text("/request/url"), KEPT_ADDRESS),
                    body: text("/request/postData").chars().take(BODY).collect(),
                    kind: text("/type").to_lowercase(),
                    status: None,
                    failure: None,
                    sent_at: at,
                    micros: None,
                });
            }
            "Network.responseReceived" => self.change(id, |request| request.status = status("/response/status")),
            "Network.loadingFinished" => self.change(id, |request| request.end(at)),
            "Network.loadingFailed" => self.change(id, |request| {
                request.failure = Some(text("/errorText").to_string());
                request.end(at);
            }),
            _ => {}
        }
    }

    fn change(&mut self, id: &str, change: impl FnOnce(&mut Request)) {
        let Some(request) = self.all.iter_mut().rev().find(|request| request.id == id) else { return };
        self.last_number += 1;
        request.number = self.last_number;
        change(request);
    }

    pub fn url_of(&self, id: &str) -> Option<&str> {
        self.all.iter().rev().find(|request| request.id == id).map(|request| request.url.as_str())
    }

    /// Those with a greater number, in the order of their numbers.
    pub fn after(&self, number: u64) -> Vec<NetworkRequest> {
        let mut newer: Vec<&Request> = self.all.iter().filter(|request| request.number > number).collect();
        newer.sort_unstable_by_key(|request| request.number);
        newer.split_off(newer.len().saturating_sub(LISTED)).into_iter().map(Request::listed).collect()
    }

    /// Forgets all. Numbers go on, so that a reader misses nothing.
    pub fn clear(&mut self) {
        self.all.clear();
    }

    pub fn json(&self) -> Vec<Value> {
        let json = |request: &Request| json!({"method": request.method, "url": request.url, "body": request.body});
        self.all.iter().map(json).collect()
    }
}

impl Request {
    fn end(&mut self, at: f64) {
        self.micros = Some(((at - self.sent_at).max(0.0) * 1e6) as u64);
    }

    fn listed(&self) -> NetworkRequest {
        NetworkRequest {
            number: self.number,
            method: self.method.clone(),
            url: cut(&self.url, ADDRESS),
            kind: self.kind.clone(),
            status: self.status,
            failure: self.failure.clone(),
            micros: self.micros,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(requests: &mut Requests, id: &str, rest: &[(&str, Value)]) {
        for (method, params) in rest {
            let mut params = params.clone();
            params["requestId"] = id.into();
            requests.told(&format!("Network.{method}"), &params);
        }
    }

    fn sent(url: &str, at: f64) -> (&'static str, Value) {
        ("requestWillBeSent", json!({"request": {"method": "GET", "url": url}, "type": "Fetch", "timestamp": at}))
    }

    #[test]
    fn a_request_that_ends_is_listed_again() {
        let mut requests = Requests::default();
        told(&mut requests, "1", &[sent("http://a/", 1.0)]);
        told(&mut requests, "2", &[sent("http://b/", 1.0)]);
        let last = requests.after(0).last().map_or(0, |request| request.number);
        assert_eq!(requests.after(last), []);
        told(&mut requests, "1", &[("responseReceived", json!({"response": {"status": 404}}))]);
        told(&mut requests, "1", &[("loadingFinished", json!({"timestamp": 1.25}))]);
        let expected = NetworkRequest {
            number: 4,
            method: "GET".into(),
            url: "http://a/".into(),
            kind: "fetch".into(),
            status: Some(404),
            failure: None,
            micros: Some(250_000),
        };
        assert_eq!(requests.after(last), [expected]);
    }

    #[test]
    fn a_redirect_ends_one_request_and_begins_another() {
        let mut requests = Requests::default();
        let (method, mut redirect) = sent("http://b/", 2.0);
        redirect["redirectResponse"] = json!({"status": 302});
        told(&mut requests, "1", &[sent("http://a/", 1.0), (method, redirect)]);
        let rows: Vec<_> = requests.after(0).into_iter().map(|one| (one.url, one.status, one.micros)).collect();
        assert_eq!(rows, [("http://a/".into(), Some(302), Some(1_000_000)), ("http://b/".into(), None, None)]);
    }

    #[test]
    fn only_the_newest_requests_with_short_addresses_are_listed() {
        let mut requests = Requests::default();
        for id in 0..1500 {
            told(&mut requests, &id.to_string(), &[sent(&format!("data:{}", "é".repeat(5000)), 1.0)]);
        }
        let listed = requests.after(0);
        assert_eq!((listed.len(), listed[0].number, listed[499].number), (500, 1001, 1500));
        assert!(listed[0].url.len() <= 2048 && listed[0].url.ends_with("é…"), "{}", listed[0].url);
        assert_eq!(requests.json().len(), 1000);
    }
}
