//! The log of a session for people: its calls, the turns of a model, and what the page said and requested.

use std::collections::HashMap;

use trailblaze_protocol::device_event::DeviceEvent;
use trailblaze_protocol::event::{CallResult, Event, Level};
use trailblaze_protocol::ids::{CallId, ModelRequestId};

use crate::output::report::turns;
use crate::sessions::service::generated::LogEntry;

/// The longest detail of an entry, in characters.
const LONGEST: usize = 4_000;

/// Turns events into entries. An entry with the number of an earlier one replaces it.
#[derive(Default)]
pub struct LogFold {
    calls: HashMap<CallId, LogEntry>,
    requests: HashMap<ModelRequestId, LogEntry>,
}

impl LogFold {
    /// The entry that an event becomes. `number` is that of the event, `at` is in seconds since the session was opened.
    pub fn take(&mut self, number: i32, at: f64, event: &Event) -> Option<LogEntry> {
        let entry = |kind: &str, level: &str, title: String, detail: String| LogEntry {
            number,
            kind: kind.to_string(),
            at,
            level: level.to_string(),
            title: cut(&title.replace('\n', " "), 300),
            detail: cut(&detail, LONGEST),
        };
        match event {
            Event::Called(called) => {
                let written = serde_json::json!({ called.tool.as_str(): called.args });
                let made = entry("call", "running", turns::written(&written), String::new());
                self.calls.insert(called.call.clone(), made.clone());
                Some(made)
            }
            Event::Answered { call, micros, answer } => {
                let made = self.calls.remove(call)?;
                let (level, text) = match answer {
                    CallResult::Outcome(outcome) if outcome.is_error() => ("error", outcome.text.clone()),
                    CallResult::Outcome(outcome) => ("ok", outcome.text.clone()),
                    CallResult::Fault { message, .. } => ("error", message.clone()),
                };
                let took = format!("{:.1} ms", *micros as f64 / 1000.0);
                let detail = if text.is_empty() { took } else { format!("{text}\n{took}") };
                Some(LogEntry { level: level.to_string(), detail: cut(&detail, LONGEST), ..made })
            }
            Event::ModelAsked(asked) => {
                let made = entry("turn", "running", format!("asked {}", asked.model), asked.messages.join("\n\n"));
                self.requests.insert(asked.request.clone(), made.clone());
                Some(made)
            }
            Event::ModelReplied(replied) => {
                let made = self.requests.remove(&replied.request)?;
                let calls: Vec<String> = replied.calls.iter().map(turns::written).collect();
                let said = [vec![replied.text.clone()], calls].concat();
                let said: Vec<String> = said.into_iter().filter(|line| !line.trim().is_empty()).collect();
                let (level, title) = match &replied.problem {
                    Some(problem) => ("error", problem.clone()),
                    None => ("ok", said.first().cloned().unwrap_or_else(|| made.title.clone())),
                };
                let title = cut(&title.replace('\n', " "), 300);
                Some(LogEntry { level: level.to_string(), title, detail: cut(&said.join("\n"), LONGEST), ..made })
            }
            Event::Noted { level, text, .. } => {
                let (title, detail) = text.split_once('\n').unwrap_or((text, ""));
                Some(entry("note", word(*level), title.to_string(), detail.to_string()))
            }
            Event::Device { happened, .. } => match happened {
                DeviceEvent::Response { method, url, kind, status, failure, micros, .. } => {
                    let is_bad = failure.is_some() || status.is_some_and(|status| status >= 400);
                    let result = failure.clone().or_else(|| Some(status.as_ref()?.to_string()))?;
                    let took = micros.map(|micros| format!(", {:.1} ms", micros as f64 / 1000.0)).unwrap_or_default();
                    let level = if is_bad { "error" } else { "ok" };
                    Some(entry("request", level, format!("{result} {method} {url}"), format!("{kind}{took}")))
                }
                routine if routine.is_routine() => None,
                other => {
                    let kind = if matches!(other, DeviceEvent::Console { .. }) { "console" } else { "note" };
                    let text = other.to_string();
                    let (title, detail) = text.split_once('\n').unwrap_or((&text, ""));
                    Some(entry(kind, word(other.level()), title.to_string(), detail.to_string()))
                }
            },
            _ => None,
        }
    }
}

fn word(level: Level) -> &'static str {
    match level {
        Level::Debug | Level::Info => "ok",
        Level::Warning => "warning",
        Level::Error => "error",
    }
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}
