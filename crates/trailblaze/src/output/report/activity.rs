//! What a device said and did by itself during an attempt, for the page: a request and its response are one entry.

use std::collections::HashMap;

use serde::Serialize;
use trailblaze_protocol::device_event::DeviceEvent;
use trailblaze_protocol::event::Level;

use super::clip::clip;
use super::model::DeviceRecord;

/// Bytes of one text.
const LONGEST: usize = 4 << 10;

/// Something that the device said or did by itself.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ActivityView {
    /// Microseconds since the run started.
    pub at: u64,
    /// When it ended; `null` if that is not known, or if it took no time.
    pub until: Option<u64>,
    pub kind: ActivityKind,
    pub level: Level,
    pub text: String,
    /// Whether it may be why a check fails shortly after it.
    pub is_trouble: bool,
    /// The request. Absent for others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exchange: Option<ExchangeView>,
}

/// What sort of activity it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ActivityKind {
    Console,
    Exception,
    Request,
    Dialog,
    Download,
    Navigation,
    Crash,
    Log,
}

/// A request and its response.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExchangeView {
    /// Its number, by which the trace has its headers and bodies.
    pub request: u64,
    pub method: String,
    pub url: String,
    /// `null` if there was no answer.
    pub status: Option<u16>,
    /// What it is for: `document`, `fetch`, `image` …
    pub kind: String,
    /// How long it took; `null` if it did not end.
    pub micros: Option<u64>,
    /// Why it failed; `null` if it did not.
    pub failure: Option<String>,
}

pub fn activity(events: &[DeviceRecord]) -> Vec<ActivityView> {
    let mut all: Vec<ActivityView> = Vec::new();
    // The places of requests that have not ended, by number.
    let mut open: HashMap<u64, usize> = HashMap::new();
    for DeviceRecord { at, happened } in events {
        let place = match happened {
            DeviceEvent::Request { request, .. } => {
                open.insert(*request, all.len());
                None
            }
            DeviceEvent::Response { request, .. } => open.remove(request),
            _ => None,
        };
        let ended = view(*at, happened);
        match place {
            Some(place) => all[place] = ActivityView { at: all[place].at, until: Some(*at), ..ended },
            None => all.push(ended),
        }
    }
    all
}

fn view(at: u64, happened: &DeviceEvent) -> ActivityView {
    let short = |text: &str| clip(text, LONGEST).into_owned();
    let (kind, exchange) = match happened {
        DeviceEvent::Console { .. } => (ActivityKind::Console, None),
        DeviceEvent::Exception { .. } => (ActivityKind::Exception, None),
        DeviceEvent::Request { request, method, url, kind, .. } => {
            let request = *request;
            let (method, url, kind) = (method.clone(), short(url), kind.clone());
            let exchange = ExchangeView { request, method, url, status: None, kind, micros: None, failure: None };
            (ActivityKind::Request, Some(exchange))
        }
        DeviceEvent::Response { request, method, url, kind, status, failure, micros } => {
            let request = *request;
            let (method, url, kind) = (method.clone(), short(url), kind.clone());
            let failure = failure.as_deref().map(short);
            let exchange = ExchangeView { request, method, url, status: *status, kind, micros: *micros, failure };
            (ActivityKind::Request, Some(exchange))
        }
        DeviceEvent::Dialog { .. } | DeviceEvent::SystemDialog { .. } => (ActivityKind::Dialog, None),
        DeviceEvent::Download { .. } => (ActivityKind::Download, None),
        DeviceEvent::Navigation { .. } => (ActivityKind::Navigation, None),
        DeviceEvent::Crash { .. } => (ActivityKind::Crash, None),
        _ => (ActivityKind::Log, None),
    };
    ActivityView {
        at,
        until: None,
        kind,
        level: happened.level(),
        text: short(&happened.to_string()),
        is_trouble: happened.is_trouble(),
        exchange,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_and_its_response_are_one_entry_and_an_open_one_stays() {
        let (method, kind) = ("GET".to_string(), "fetch".to_string());
        let request = |request| DeviceEvent::Request {
            request,
            method: method.clone(),
            url: format!("http://shop/{request}"),
            kind: kind.clone(),
            sent: None,
        };
        let response = DeviceEvent::Response {
            request: 1,
            method: method.clone(),
            url: "http://shop/1".to_string(),
            kind: kind.clone(),
            status: Some(404),
            failure: None,
            micros: Some(5),
        };
        let console = DeviceEvent::Console { kind: "error".to_string(), text: "no".to_string() };
        let events: Vec<DeviceRecord> = [request(1), request(2), console, response]
            .into_iter()
            .zip(10..)
            .map(|(happened, at)| DeviceRecord { at, happened })
            .collect();
        let all = activity(&events);
        let seen: Vec<_> = all.iter().map(|one| (one.at, one.until, one.kind, one.is_trouble)).collect();
        assert_eq!(
            seen,
            [
                (10, Some(13), ActivityKind::Request, true),
                (11, None, ActivityKind::Request, false),
                (12, None, ActivityKind::Console, true)
            ]
        );
        assert_eq!(all[0].exchange.as_ref().and_then(|exchange| exchange.status), Some(404));
    }
}
