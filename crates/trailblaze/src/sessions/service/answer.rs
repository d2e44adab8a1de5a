//! The answers.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use trailblaze_protocol::exit::Exit;

use crate::sessions::interactive::CommandReply;
use crate::sessions::toolbox::Listed;

/// The answer to a request. Nothing in it is secret, except the keys in `Access` and `Studio`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ServiceAnswer {
    Session(Box<SessionInfo>),
    /// One for each command that was executed; only the last one can be a failure.
    Replies(Vec<CommandReply>),
    Sessions(Vec<SessionInfo>),
    Closed(ClosedSession),
    Ran(Ran),
    Access(SessionAccess),
    Devices(Vec<DeviceInfo>),
    /// The tools that were found, or one tool with its schema.
    Toolbox(Listed),
    Checked(Checked),
    Trail(Edited),
    /// The summary of a run, as in its `summary.json`.
    Report(Box<Value>),
    Studio(StudioAddress),
    Status(DaemonStatus),
    Stopping,
}

/// An open session.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionInfo {
    pub name: String,
    pub id: String,
    pub device: String,
    pub platform: String,
    pub project: PathBuf,
    pub target: Option<String>,
    pub run_folder: PathBuf,
    /// The command that opened it, and the folder in which it was given.
    pub opened_by: String,
    pub opened_in: PathBuf,
    /// Seconds since it was opened, and since it was last used.
    pub age_seconds: u64,
    pub idle_seconds: u64,
    pub steps: usize,
    /// Whether it was opened by this request.
    pub is_new: bool,
    /// Why its device can no longer be used.
    pub lost: Option<String>,
    /// The session that was ended to open it.
    #[serde(default)]
    pub took_over: Option<ClosedSession>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClosedSession {
    pub name: String,
    pub report: Option<PathBuf>,
    /// The file with the steps that were not saved as a trail.
    pub unsaved: Option<PathBuf>,
}

/// A run of trails.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ran {
    pub exit: Exit,
    /// For people: what passed, what failed and why.
    pub text: String,
    /// The summary of the run, as in its `summary.json`.
    pub summary: Value,
    pub report: Option<PathBuf>,
}

/// How programs use a session through the typed API.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionAccess {
    pub name: String,
    pub address: String,
    pub key: String,
    pub session: String,
    pub device: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeviceInfo {
    pub id: String,
    pub platform: String,
    pub driver: String,
    pub summary: String,
    pub width: u32,
    pub height: u32,
    /// The sessions that use it.
    pub sessions: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Checked {
    pub trails: usize,
    pub errors: usize,
    /// Each with file, line, column, severity, message and hint.
    pub problems: Vec<Value>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Edited {
    List(Vec<Value>),
    Text { path: PathBuf, text: String },
    Written { path: PathBuf, warnings: Vec<String> },
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DaemonStatus {
    pub version: String,
    pub pid: u32,
    pub address: String,
    pub log: PathBuf,
    pub age_seconds: u64,
    pub sessions: Vec<SessionInfo>,
}

/// Where a page of the studio is.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StudioAddress {
    pub address: String,
    /// The project that the page is for.
    pub workspace: String,
    /// Admits one page, which exchanges it for a cookie.
    pub key: String,
}

/// Why a request was not carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("{message}")]
pub struct ServiceError {
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    pub exit: Exit,
    /// Whether there is no such session, so that one has to be opened first.
    #[serde(default)]
    pub is_no_session: bool,
}

impl ServiceError {
    pub fn new(exit: Exit, message: impl Into<String>) -> ServiceError {
        ServiceError { message: message.into(), hint: None, exit, is_no_session: false }
    }

    pub fn invalid(message: impl Into<String>) -> ServiceError {
        ServiceError::new(Exit::Invalid, message)
    }

    pub fn environment(message: impl Into<String>) -> ServiceError {
        ServiceError::new(Exit::Environment, message)
    }

    pub fn with_hint(mut self, hint: impl Into<String>) -> ServiceError {
        self.hint = Some(hint.into());
        self
    }
}
