//! What the device of a session has said so far, for callers that ask later. The record has all of it; this keeps the newest.

use std::collections::VecDeque;

use trailblaze_protocol::device_event::{DeviceEvent, SentRequest};

use crate::values::secret::Secrets;

/// How many remarks are kept, and their longest text in characters.
const REMARKS: usize = 50;
const REMARK: usize = 400;
/// How many console lines and requests are kept.
const LINES: usize = 1000;

#[derive(Default)]
pub struct DeviceHistory {
    /// The messages that those who act on the device must know, redacted.
    remarks: VecDeque<String>,
    n_earlier_remarks: usize,
    console: VecDeque<ConsoleLine>,
    requests: VecDeque<SentRequest>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsoleLine {
    /// `log`, `warning`, `error` …
    pub kind: String,
    pub text: String,
}

impl DeviceHistory {
    pub fn add(&mut self, happened: &DeviceEvent, secrets: &Secrets) {
        match happened {
            DeviceEvent::Console { kind, text } => {
                push(&mut self.console, LINES, ConsoleLine { kind: kind.clone(), text: text.clone() });
            }
            DeviceEvent::Exception { text } => {
                push(&mut self.console, LINES, ConsoleLine { kind: "error".to_string(), text: text.clone() });
            }
            DeviceEvent::Request { url, sent, .. } => {
                let sent = sent.as_deref().cloned();
                let sent = sent.unwrap_or_else(|| SentRequest { url: url.clone(), body: String::new() });
                push(&mut self.requests, LINES, sent);
            }
            _ => {}
        }
        if happened.is_notable() {
            let text = secrets.redact(&happened.to_string()).into_owned();
            let text = match text.char_indices().nth(REMARK) {
                Some((end, _)) => format!("{}…", &text[..end]),
                None => text,
            };
            self.n_earlier_remarks += usize::from(push(&mut self.remarks, REMARKS, text));
        }
    }

    /// Forgets what pages logged and requested. Remarks stay, because they are counted.
    pub fn forget_pages(&mut self) {
        self.console.clear();
        self.requests.clear();
    }

    pub fn console(&self) -> impl Iterator<Item = &ConsoleLine> {
        self.console.iter()
    }

    pub fn requests(&self) -> impl Iterator<Item = &SentRequest> {
        self.requests.iter()
    }

    /// The remarks since there were `seen` of them.
    pub fn remarks_since(&self, seen: usize) -> Vec<String> {
        self.remarks.iter().skip(seen.saturating_sub(self.n_earlier_remarks)).cloned().collect()
    }

    pub fn n_remarks(&self) -> usize {
        self.n_earlier_remarks + self.remarks.len()
    }
}

/// Whether the oldest had to go.
fn push<T>(kept: &mut VecDeque<T>, most: usize, new: T) -> bool {
    kept.push_back(new);
    let is_full = kept.len() > most;
    if is_full {
        kept.pop_front();
    }
    is_full
}
