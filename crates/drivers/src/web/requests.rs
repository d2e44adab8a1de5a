//! The requests that the pages of a device have made.

use std::collections::VecDeque;

use serde_json::{Value, json};
use trailblaze_core::driver::NetworkRequest;

use super::backend::{RequestEvent, RequestStage};
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
    all: VecDeque<LoggedRequest>,
    last_number: u64,
}

struct LoggedRequest {
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
    pub fn take(&mut self, event: &RequestEvent) {
        let RequestEvent { id, at, kind, stage } = event;
        match stage {
            RequestStage::Sent { method, url, body, redirect } => {
                if let Some(status) = redirect {
                    self.change(id, |request| {
                        request.status = *status;
                        request.end(*at);
                    });
                }
                self.last_number += 1;
                if self.all.len() == KEPT {
                    self.all.pop_front();
                }
                self.all.push_back(LoggedRequest {
                    id: id.clone(),
                    number: self.last_number,
                    method: method.clone(),
                    url: cut(url, KEPT_ADDRESS),
                    body: body.chars().take(BODY).collect(),
                    kind: kind.to_lowercase(),
                    status: None,
                    failure: None,
                    sent_at: *at,
                    micros: None,
                });
            }
            RequestStage::Answered { status, .. } => self.change(id, |request| request.status = *status),
            RequestStage::Finished => self.change(id, |request| request.end(*at)),
            RequestStage::Failed { why, .. } => self.change(id, |request| {
                request.failure = Some(why.clone());
                request.end(*at);
            }),
        }
    }

    fn change(&mut self, id: &str, change: impl FnOnce(&mut LoggedRequest)) {
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
        let mut newer: Vec<&LoggedRequest> = self.all.iter().filter(|request| request.number > number).collect();
        newer.sort_unstable_by_key(|request| request.number);
        newer.split_off(newer.len().saturating_sub(LISTED)).into_iter().map(LoggedRequest::listed).collect()
    }

    /// Forgets all. Numbers go on, so that a reader misses nothing.
    pub fn clear(&mut self) {
        self.all.clear();
    }

    pub fn json(&self) -> Vec<Value> {
        let json =
            |request: &LoggedRequest| json!({"method": request.method, "url": request.url, "body": request.body});
        self.all.iter().map(json).collect()
    }
}

impl LoggedRequest {
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

    fn take(requests: &mut Requests, id: &str, events: Vec<(f64, RequestStage)>) {
        for (at, stage) in events {
            requests.take(&RequestEvent { id: id.to_string(), at, kind: "Fetch".to_string(), stage });
        }
    }

    fn sent(url: &str, at: f64, redirect: Option<Option<u16>>) -> (f64, RequestStage) {
        (at, RequestStage::Sent { method: "GET".to_string(), url: url.to_string(), body: String::new(), redirect })
    }

    #[test]
    fn a_request_that_ends_is_listed_again() {
        let mut requests = Requests::default();
        take(&mut requests, "1", vec![sent("http://a/", 1.0, None)]);
        take(&mut requests, "2", vec![sent("http://b/", 1.0, None)]);
        let last = requests.after(0).last().map_or(0, |request| request.number);
        assert_eq!(requests.after(last), []);
        let answered = RequestStage::Answered { url: "http://a/".to_string(), status: Some(404) };
        take(&mut requests, "1", vec![(1.1, answered), (1.25, RequestStage::Finished)]);
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
        take(&mut requests, "1", vec![sent("http://a/", 1.0, None), sent("http://b/", 2.0, Some(Some(302)))]);
        let rows: Vec<_> = requests.after(0).into_iter().map(|one| (one.url, one.status, one.micros)).collect();
        assert_eq!(rows, [("http://a/".into(), Some(302), Some(1_000_000)), ("http://b/".into(), None, None)]);
    }

    #[test]
    fn only_the_newest_requests_with_short_addresses_are_listed() {
        let mut requests = Requests::default();
        for id in 0..1500 {
            let url = format!("data:{}", "é".repeat(5000));
            take(&mut requests, &id.to_string(), vec![sent(&url, 1.0, None)]);
        }
        let listed = requests.after(0);
        assert_eq!((listed.len(), listed[0].number, listed[499].number), (500, 1001, 1500));
        assert!(listed[0].url.len() <= 2048 && listed[0].url.ends_with("é…"), "{}", listed[0].url);
        assert_eq!(requests.json().len(), 1000);
    }
}
