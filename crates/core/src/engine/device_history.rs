//! What the device of a session has said so far, for callers that ask later. The record has all of it; this keeps the newest.

use std::collections::VecDeque;

use trailblaze_protocol::device_event::{DeviceEvent, SentRequest};

use crate::values::secret::Secrets;

/// How many remarks are kept, and their longest text in characters.
const REMARKS: usize = 50;
const REMARK: usize = 400;
/// How many obstacles are kept, and their longest text in characters. A crash has the first lines of its stack trace.
const OBSTACLES: usize = 5;
const OBSTACLE: usize = 1500;
/// How many console lines and requests are kept.
const LINES: usize = 1000;

#[derive(Default)]
pub struct DeviceHistory {
    /// The messages that those who act on the device must know, redacted.
    remarks: VecDeque<String>,
    n_earlier_remarks: usize,
    obstacles: VecDeque<Obstacle>,
    n_earlier_obstacles: usize,
    console: VecDeque<ConsoleLine>,
    requests: VecDeque<SentRequest>,
}

/// What keeps an app from being used: it crashed, or a dialog of the system is in front of it.
struct Obstacle {
    /// Redacted.
    text: String,
    is_crash: bool,
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
            let is_crash = matches!(happened, DeviceEvent::Crash { .. });
            if is_crash || matches!(happened, DeviceEvent::SystemDialog { .. }) {
                let obstacle = Obstacle { text: shortened(&text, OBSTACLE), is_crash };
                self.n_earlier_obstacles += usize::from(push(&mut self.obstacles, OBSTACLES, obstacle));
            }
            self.n_earlier_remarks += usize::from(push(&mut self.remarks, REMARKS, shortened(&text, REMARK)));
        }
    }

    /// Forgets what pages logged and requested, and why the app of before ended. Remarks stay, because they are counted.
    pub fn forget_pages(&mut self) {
        self.console.clear();
        self.requests.clear();
        self.n_earlier_obstacles += self.obstacles.len();
        self.obstacles.clear();
    }

    /// What a failure may be due to: crashes since the app was launched, and dialogs of the system since there were `seen` obstacles.
    pub fn obstacles_since(&self, seen: usize) -> Vec<String> {
        let numbered = (self.n_earlier_obstacles..).zip(&self.obstacles);
        numbered.filter(|(number, it)| it.is_crash || *number >= seen).map(|(_, it)| it.text.clone()).collect()
    }

    pub fn n_obstacles(&self) -> usize {
        self.n_earlier_obstacles + self.obstacles.len()
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

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
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
