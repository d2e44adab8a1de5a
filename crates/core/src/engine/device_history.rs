//! What the device of a session has said so far, for callers that ask later. The record has all of it; this keeps the newest.

use std::collections::{BTreeMap, VecDeque};

use tokio::time::Instant;
use trailblaze_protocol::device_event::{DeviceEvent, SentRequest};

use crate::limits;
use crate::values::origin::origin;
use crate::values::secret::Secrets;

/// How many remarks are kept, and their longest text in characters.
const REMARKS: usize = 50;
const REMARK: usize = 400;
/// The longest sign of trouble, in characters.
const SIGN: usize = 200;
/// How many obstacles are kept, and their longest text in characters. A crash has the first lines of its stack trace.
const OBSTACLES: usize = 5;
const OBSTACLE: usize = 1500;
/// How many console lines and requests are kept.
const LINES: usize = 1000;

/// How many signs of trouble are kept, how many a failure mentions, and how many requests are followed.
const SIGNS: usize = 50;
const MENTIONED: usize = 5;
const OPEN: usize = 200;

#[derive(Default)]
pub struct DeviceHistory {
    /// The messages that those who act on the device must know, redacted.
    remarks: VecDeque<String>,
    n_earlier_remarks: usize,
    obstacles: VecDeque<Obstacle>,
    n_earlier_obstacles: usize,
    console: VecDeque<ConsoleLine>,
    requests: VecDeque<SentRequest>,
    /// What went wrong by itself: errors of pages, requests that failed or were slow.
    signs: VecDeque<Sign>,
    /// The requests that have not ended, by number.
    open: BTreeMap<u64, UnansweredRequest>,
    /// The origin of the document that is shown, which the addresses of signs are shown without.
    shown: Option<String>,
}

/// Something that may be why a check fails shortly after it.
struct Sign {
    at: Instant,
    /// Redacted.
    text: String,
}

struct UnansweredRequest {
    since: Instant,
    /// Its method and address, redacted.
    text: String,
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
        self.add_sign(happened, secrets);
        match happened {
            DeviceEvent::Console { kind, text } => {
                push(&mut self.console, LINES, ConsoleLine { kind: kind.clone(), text: text.clone() });
            }
            DeviceEvent::Exception { text, .. } => {
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

    fn add_sign(&mut self, happened: &DeviceEvent, secrets: &Secrets) {
        let now = Instant::now();
        let asked = |method: &str, url: &str| {
            let path =
                self.shown.as_deref().and_then(|shown| url.strip_prefix(shown)).filter(|path| path.starts_with('/'));
            shortened(&secrets.redact(&format!("{method} {}", path.unwrap_or(url))), SIGN)
        };
        let text = match happened {
            DeviceEvent::Request { request, method, url, .. } => {
                let text = asked(method, url);
                self.open.insert(*request, UnansweredRequest { since: now, text });
                if self.open.len() > OPEN {
                    self.open.pop_first();
                }
                return;
            }
            DeviceEvent::Navigation { url } => {
                // The document of before waits for nothing any more.
                self.shown = origin(url);
                return;
            }
            DeviceEvent::Response { request, method, url, status, failure, micros, .. } => {
                self.open.remove(request);
                let is_slow = micros.is_some_and(|micros| u128::from(micros) >= limits::SLOW_ANSWER.as_micros());
                if !is_slow && !happened.is_trouble() {
                    return;
                }
                let end = match (failure, status) {
                    (Some(why), _) => format!("failed: {why}"),
                    (None, Some(status)) => format!("→ {status}"),
                    (None, None) => "was cancelled".to_string(),
                };
                let slow = micros.filter(|_| is_slow).map(|micros| format!(" after {:.1} s", micros as f64 / 1e6));
                format!("{} {end}{}", asked(method, url), slow.unwrap_or_default())
            }
            DeviceEvent::Dialog { kind, message, is_accepted, is_unexpected: true, .. } => {
                format!("{kind} \"{message}\" was {}", if *is_accepted { "accepted" } else { "dismissed" })
            }
            // These are in the message of a failure as obstacles.
            DeviceEvent::Crash { .. } | DeviceEvent::SystemDialog { .. } => return,
            other if other.is_trouble() => other.to_string(),
            _ => return,
        };
        let text = secrets.redact(&text).lines().next().unwrap_or_default().to_string();
        push(&mut self.signs, SIGNS, Sign { at: now, text: shortened(&text, SIGN) });
    }

    /// What went wrong since then, oldest first, and the requests that have been open for long. Of many, the last.
    pub fn signs_since(&self, since: Instant) -> Vec<String> {
        let mut counted: Vec<(&str, usize)> = Vec::new();
        for sign in self.signs.iter().filter(|sign| sign.at >= since) {
            match counted.iter_mut().find(|(text, _)| *text == sign.text) {
                Some((_, n)) => *n += 1,
                None => counted.push((&sign.text, 1)),
            }
        }
        let now = Instant::now();
        let waiting = self.open.values().filter(|request| now - request.since >= limits::SLOW_REQUEST);
        let waiting =
            waiting.map(|open| format!("{}: no answer for {:.1} s", open.text, (now - open.since).as_secs_f64()));
        let ended =
            counted.into_iter().map(|(text, n)| if n == 1 { text.to_string() } else { format!("{text} (×{n})") });
        let all: Vec<String> = ended.chain(waiting).collect();
        all[all.len().saturating_sub(MENTIONED)..].to_vec()
    }

    /// Forgets what pages logged and requested, and why the app of before ended. Remarks stay, because they are counted.
    pub fn forget_pages(&mut self) {
        self.console.clear();
        self.requests.clear();
        self.signs.clear();
        self.open.clear();
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
