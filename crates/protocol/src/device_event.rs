//! What a device says and does by itself: an app or a page logs, asks, requests, and goes elsewhere.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::event::Level;

/// Something that a device said or did by itself. In JSON, the variant's name in camel case is the only key of the object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum DeviceEvent {
    /// A page wrote to its console.
    Console {
        /// How: `log`, `warning`, `error` …
        kind: String,
        /// What it wrote.
        text: String,
    },
    /// A script of a page threw an exception that nothing caught.
    Exception {
        /// Its first line.
        text: String,
        /// Where, if the browser says so: the address of the script or page, the line and the column.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<String>,
    },
    /// A request was sent.
    Request {
        /// Its number. The `response` has the same.
        request: u64,
        /// Such as `GET`.
        method: String,
        /// Where to. Ends with `…` if it is cut off.
        url: String,
        /// What it is for: `document`, `fetch`, `image` …
        kind: String,
        /// All of it, for checks. Not in the record, because nobody asked for it there.
        #[serde(skip)]
        sent: Option<Box<SentRequest>>,
    },
    /// A request ended.
    Response {
        /// The number of the request.
        request: u64,
        /// Such as `GET`.
        method: String,
        /// Where it was sent. Ends with `…` if it is cut off.
        url: String,
        /// What it is for: `document`, `fetch`, `image` …
        kind: String,
        /// The status of the answer; `null` if there was none.
        status: Option<u16>,
        /// Why it failed. Absent if it did not, or if the page cancelled it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<String>,
        /// How long it took, in microseconds; `null` if that is not known.
        micros: Option<u64>,
    },
    /// A dialog was answered.
    Dialog {
        /// What sort of dialog it is: `alert`, `confirm`, `prompt`, `beforeunload`.
        kind: String,
        /// What it says.
        message: String,
        /// Whether it was accepted.
        is_accepted: bool,
        /// The text that was entered. Absent unless it is a prompt.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// Whether nothing says how to answer it, which is reported once for each dialog. Absent if false.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_unexpected: bool,
    },
    /// A download ended.
    Download {
        /// The name of the file.
        name: String,
        /// Whether the file is complete.
        is_complete: bool,
    },
    /// Another document is shown.
    Navigation {
        /// Its address. Ends with `…` if it is cut off.
        url: String,
    },
    /// A page or an app ended unexpectedly.
    Crash {
        /// Why.
        why: String,
    },
    /// A dialog of the device's system is in front of the app.
    SystemDialog {
        /// What it is about, and what it says.
        text: String,
    },
    /// A line of the device's own log, or a remark about it.
    Log {
        /// How severe it is.
        level: Level,
        /// The line.
        text: String,
    },
}

/// A request as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentRequest {
    /// Where to, also if it is long.
    pub url: String,
    /// The beginning of its body.
    pub body: String,
}

impl DeviceEvent {
    pub fn level(&self) -> Level {
        match self {
            DeviceEvent::Console { kind, .. } if matches!(kind.as_str(), "error" | "assert" | "warning") => {
                Level::Warning
            }
            DeviceEvent::Exception { .. } | DeviceEvent::Crash { .. } | DeviceEvent::SystemDialog { .. } => {
                Level::Warning
            }
            DeviceEvent::Response { url, kind, status, failure, .. } => {
                let is_bad = failure.is_some() || status.is_some_and(|status| status >= 400);
                if is_bad && !is_icon(kind, url) { Level::Warning } else { Level::Debug }
            }
            DeviceEvent::Dialog { is_unexpected: true, .. } => Level::Warning,
            DeviceEvent::Console { .. }
            | DeviceEvent::Request { .. }
            | DeviceEvent::Dialog { .. }
            | DeviceEvent::Download { .. }
            | DeviceEvent::Navigation { .. } => Level::Debug,
            DeviceEvent::Log { level, .. } => *level,
        }
    }

    /// Whether those who act on the device must know it: a dialog, a crash, an error of a page, a download.
    pub fn is_notable(&self) -> bool {
        match self {
            DeviceEvent::Console { kind, .. } => matches!(kind.as_str(), "error" | "assert"),
            DeviceEvent::Exception { .. }
            | DeviceEvent::Dialog { .. }
            | DeviceEvent::SystemDialog { .. }
            | DeviceEvent::Crash { .. }
            | DeviceEvent::Download { .. } => true,
            _ => false,
        }
    }

    /// Whether it may be why a check fails shortly after it: an error of a page, a request that failed, a dialog that nobody expected.
    pub fn is_trouble(&self) -> bool {
        match self {
            DeviceEvent::Console { kind, .. } => matches!(kind.as_str(), "error" | "assert"),
            DeviceEvent::Exception { .. } | DeviceEvent::Crash { .. } | DeviceEvent::SystemDialog { .. } => true,
            DeviceEvent::Response { .. } => self.level() >= Level::Warning,
            DeviceEvent::Dialog { is_unexpected, .. } => *is_unexpected,
            DeviceEvent::Download { is_complete, .. } => !is_complete,
            _ => false,
        }
    }

    /// Whether it is one of the many that belong to the usual course of things, and are no remarks for people.
    pub fn is_routine(&self) -> bool {
        match self {
            DeviceEvent::Request { .. } | DeviceEvent::Navigation { .. } => true,
            DeviceEvent::Response { status, failure, .. } => {
                failure.is_none() && status.is_none_or(|status| status < 400)
            }
            _ => false,
        }
    }

    /// Its texts, which may contain secrets.
    pub fn texts_mut(&mut self) -> Vec<&mut String> {
        match self {
            DeviceEvent::Console { text, .. } | DeviceEvent::SystemDialog { text } | DeviceEvent::Log { text, .. } => {
                vec![text]
            }
            DeviceEvent::Exception { text, at } => [text].into_iter().chain(at).collect(),
            DeviceEvent::Request { url, .. } | DeviceEvent::Navigation { url } => vec![url],
            DeviceEvent::Response { url, failure, .. } => [url].into_iter().chain(failure).collect(),
            DeviceEvent::Dialog { message, text, .. } => [message].into_iter().chain(text).collect(),
            DeviceEvent::Download { name, .. } => vec![name],
            DeviceEvent::Crash { why } => vec![why],
        }
    }
}

impl fmt::Display for DeviceEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceEvent::Console { kind, text } => write!(f, "console.{kind}: {text}"),
            DeviceEvent::Exception { text, at: None } => write!(f, "the page threw: {text}"),
            DeviceEvent::Exception { text, at: Some(at) } => write!(f, "the page threw: {text} (at {at})"),
            DeviceEvent::Request { method, url, .. } => write!(f, "{method} {url}"),
            DeviceEvent::Response { url, failure: Some(why), .. } => write!(f, "{url} failed: {why}"),
            DeviceEvent::Response { url, status: Some(status), .. } => write!(f, "{url} answered {status}"),
            DeviceEvent::Response { url, .. } => write!(f, "{url} was cancelled"),
            DeviceEvent::Dialog { kind, message, is_accepted, text, is_unexpected } => {
                let how = if *is_accepted { "accepted" } else { "dismissed" };
                write!(f, "{kind} \"{message}\" was {how}")?;
                if let Some(text) = text {
                    write!(f, " with \"{text}\"")?;
                }
                if *is_unexpected {
                    let advice = "because nothing says how to answer it; `dialogs: accept` or `dialogs: dismiss` in \
                                  trailblaze.yaml or in the trail says it, and so does `web_dialogs`";
                    write!(f, ", {advice}")?;
                }
                Ok(())
            }
            DeviceEvent::Download { name, is_complete: true } => write!(f, "downloaded `{name}`"),
            DeviceEvent::Download { name, is_complete: false } => write!(f, "the download of `{name}` was cancelled"),
            DeviceEvent::Navigation { url } => write!(f, "opened {url}"),
            DeviceEvent::Crash { why } => f.write_str(why),
            DeviceEvent::SystemDialog { text } | DeviceEvent::Log { text, .. } => f.write_str(text),
        }
    }
}

/// Whether it is the icon of a site, which browsers request and many sites do not have.
fn is_icon(kind: &str, url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    kind == "other" && path.ends_with("/favicon.ico")
}
