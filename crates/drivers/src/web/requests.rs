//! The requests that the pages of a device make, as events of the device.

use std::collections::VecDeque;

use trailblaze_core::driver::cut;
use trailblaze_protocol::device_event::{DeviceEvent, SentRequest};

use super::backend::{RequestEvent, RequestStage};

/// How many requests are known while they wait for their response.
const KEPT: usize = 1000;
/// The longest address in the record, in bytes.
const ADDRESS: usize = 2048;
/// The longest address for checks, in bytes, and the longest body, in characters.
const WHOLE_ADDRESS: usize = 16 << 10;
const BODY: usize = 4096;

/// The newest requests, in the order in which they were made.
#[derive(Default)]
pub struct RequestLog {
    all: VecDeque<LoggedRequest>,
    last_number: u64,
}

struct LoggedRequest {
    id: String,
    number: u64,
    method: String,
    url: String,
    kind: String,
    status: Option<u16>,
    /// When it was sent, in seconds of the browser's clock.
    sent_at: f64,
    has_ended: bool,
}

impl RequestLog {
    /// Takes an event of the browser. Returns what others learn from it.
    pub fn take(&mut self, event: &RequestEvent) -> Vec<DeviceEvent> {
        let RequestEvent { id, at, kind, stage } = event;
        match stage {
            RequestStage::Sent { method, url, body, redirect } => {
                let redirected = redirect.and_then(|status| {
                    let request = self.known(id)?;
                    request.status = status;
                    request.end(*at, None)
                });
                self.last_number += 1;
                if self.all.len() == KEPT {
                    self.all.pop_front();
                }
                let request = LoggedRequest {
                    id: id.clone(),
                    number: self.last_number,
                    method: method.clone(),
                    url: cut(url, ADDRESS),
                    kind: kind.to_lowercase(),
                    status: None,
                    sent_at: *at,
                    has_ended: false,
                };
                let whole = SentRequest { url: cut(url, WHOLE_ADDRESS), body: body.chars().take(BODY).collect() };
                let sent = DeviceEvent::Request {
                    request: request.number,
                    method: request.method.clone(),
                    url: request.url.clone(),
                    kind: request.kind.clone(),
                    sent: Some(Box::new(whole)),
                };
                self.all.push_back(request);
                redirected.into_iter().chain([sent]).collect()
            }
            RequestStage::Answered { status, .. } => {
                if let Some(request) = self.known(id) {
                    request.status = *status;
                }
                Vec::new()
            }
            RequestStage::Finished => self.known(id).and_then(|request| request.end(*at, None)).into_iter().collect(),
            RequestStage::Failed { why, is_cancelled } => {
                let failure = (!is_cancelled).then(|| why.clone());
                self.known(id).and_then(|request| request.end(*at, failure)).into_iter().collect()
            }
        }
    }

    /// The number of the newest request with this id.
    pub fn number_of(&self, id: &str) -> Option<u64> {
        self.all.iter().rev().find(|request| request.id == id).map(|request| request.number)
    }

    fn known(&mut self, id: &str) -> Option<&mut LoggedRequest> {
        self.all.iter_mut().rev().find(|request| request.id == id)
    }
}

impl LoggedRequest {
    /// `None` if it had ended before.
    fn end(&mut self, at: f64, failure: Option<String>) -> Option<DeviceEvent> {
        (!std::mem::replace(&mut self.has_ended, true)).then(|| DeviceEvent::Response {
            request: self.number,
            method: self.method.clone(),
            url: self.url.clone(),
            kind: self.kind.clone(),
            status: self.status,
            failure,
            micros: Some(((at - self.sent_at).max(0.0) * 1e6) as u64),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(requests: &mut RequestLog, id: &str, events: Vec<(f64, RequestStage)>) -> Vec<DeviceEvent> {
        let event = |(at, stage)| RequestEvent { id: id.to_string(), at, kind: "Fetch".to_string(), stage };
        events.into_iter().flat_map(|stage| requests.take(&event(stage))).collect()
    }

    fn sent(url: &str, at: f64, redirect: Option<Option<u16>>) -> (f64, RequestStage) {
        (at, RequestStage::Sent { method: "GET".to_string(), url: url.to_string(), body: String::new(), redirect })
    }

    fn request(request: u64, url: &str) -> DeviceEvent {
        let sent = Some(Box::new(SentRequest { url: url.into(), body: String::new() }));
        DeviceEvent::Request { request, method: "GET".into(), url: url.into(), kind: "fetch".into(), sent }
    }

    fn response(request: u64, url: &str, status: Option<u16>, failure: Option<&str>, micros: u64) -> DeviceEvent {
        let (failure, micros) = (failure.map(str::to_string), Some(micros));
        DeviceEvent::Response {
            request,
            method: "GET".into(),
            url: url.into(),
            kind: "fetch".into(),
            status,
            failure,
            micros,
        }
    }

    #[test]
    fn a_request_is_told_when_it_is_sent_and_when_it_ends() {
        let mut requests = RequestLog::default();
        assert_eq!(take(&mut requests, "1", vec![sent("http://a/", 1.0, None)]), [request(1, "http://a/")]);
        assert_eq!(take(&mut requests, "2", vec![sent("http://b/", 1.0, None)]), [request(2, "http://b/")]);
        let answered = RequestStage::Answered { url: "http://a/".to_string(), status: Some(404) };
        let ended = take(&mut requests, "1", vec![(1.1, answered), (1.25, RequestStage::Finished)]);
        assert_eq!(ended, [response(1, "http://a/", Some(404), None, 250_000)]);
        let failed = |is_cancelled| (1.5, RequestStage::Failed { why: "gone".to_string(), is_cancelled });
        assert_eq!(
            take(&mut requests, "2", vec![failed(false)]),
            [response(2, "http://b/", None, Some("gone"), 500_000)]
        );
        assert_eq!(take(&mut requests, "2", vec![failed(false)]), [], "it ends once");
        take(&mut requests, "3", vec![sent("http://c/", 1.0, None)]);
        assert_eq!(take(&mut requests, "3", vec![failed(true)]), [response(3, "http://c/", None, None, 500_000)]);
    }

    #[test]
    fn a_redirect_ends_one_request_and_begins_another() {
        let mut requests = RequestLog::default();
        let told =
            take(&mut requests, "1", vec![sent("http://a/", 1.0, None), sent("http://b/", 2.0, Some(Some(302)))]);
        let ended = response(1, "http://a/", Some(302), None, 1_000_000);
        assert_eq!(told, [request(1, "http://a/"), ended, request(2, "http://b/")]);
    }

    #[test]
    fn only_the_newest_requests_are_kept_and_addresses_are_cut() {
        let mut requests = RequestLog::default();
        let url = format!("data:{}", "é".repeat(5000));
        for id in 0..1500 {
            let told = take(&mut requests, &id.to_string(), vec![sent(&url, 1.0, None)]);
            let DeviceEvent::Request { url, sent: Some(sent), .. } = &told[0] else { panic!("{told:?}") };
            assert!(url.len() <= 2048 && url.ends_with("é…"), "{url}");
            assert_eq!(sent.url.len(), 5 + 10_000, "checks see all of it");
        }
        assert_eq!(requests.all.len(), 1000);
    }
}
