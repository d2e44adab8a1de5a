//! The record of a run: one JSON object a line, a [`Header`] first.
//!
//! Recording, report, JUnit and progress all read this one stream. A reader keeps what it does not know:
//! see [`Line::parse`].

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::driver::{AgentMode, DriverKey, Platform};
use crate::exit::Exit;
use crate::geometry::{Point, Rect, Size};
use crate::ids::{AttemptId, CallId, DeviceId, Parent, RunId, SessionId, StepId};
use crate::outcome::Outcome;

/// The version of the event format that this build writes.
pub const VERSION: u32 = 1;

/// The first line of `events.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    pub trailblaze_events: u32,
    pub run: RunId,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// The version of the program that wrote the file.
    pub version: String,
}

/// Any other line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Microseconds since the run started.
    pub at: u64,
    pub event: Event,
}

/// What one line of an event file turned out to be.
#[derive(Debug, Clone, PartialEq)]
pub enum Parsed {
    Line(Box<Line>),
    /// Valid JSON that this build has no name for: written by a newer one.
    Unknown(Value),
    /// Not JSON, as the last line of a run that was killed may be.
    Torn,
}

impl Line {
    pub fn parse(text: &str) -> Parsed {
        match serde_json::from_str::<Line>(text) {
            Ok(line) => Parsed::Line(Box::new(line)),
            Err(_) => serde_json::from_str(text).map_or(Parsed::Torn, Parsed::Unknown),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    RunStarted {
        command: Vec<String>,
        project: String,
        seed: u64,
        trails: usize,
        /// The part of a run that is split over several machines: `2/5`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shard: Option<String>,
    },
    SessionOpened {
        session: SessionId,
        device: Device,
        target: Option<String>,
        agent_mode: AgentMode,
        tools: usize,
    },
    /// A tool server is ready. Without a session, several share it.
    ServerStarted {
        server: String,
        session: Option<SessionId>,
        /// The version of the Model Context Protocol that was agreed on.
        protocol: String,
        /// What it writes to stderr, relative to the run folder.
        log: String,
    },
    /// A tool server is gone: ended by us, or by itself.
    ServerEnded {
        server: String,
        session: Option<SessionId>,
        message: String,
    },
    AttemptStarted {
        attempt: AttemptId,
        session: SessionId,
        trail: TrailRef,
        /// Which try it is, from 1.
        number: u32,
        /// Which run of a trail that is run several times, from 1. Repeats do not make up for each other; tries do.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repeat: Option<u32>,
    },
    StepStarted {
        step: StepId,
        attempt: AttemptId,
        index: usize,
        kind: StepKind,
        text: String,
        plan: Plan,
    },
    Called(Arc<Called>),
    /// The device was touched for a call: where, and which element.
    Touched {
        call: CallId,
        point: Option<Point>,
        bounds: Option<Rect>,
        what: String,
    },
    /// A call waited for something on the screen.
    Waited {
        call: CallId,
        what: String,
        micros: u64,
        met: bool,
        saw: String,
    },
    Pictured(Box<Pictured>),
    Noted {
        about: Option<Parent>,
        level: Level,
        text: String,
    },
    Answered {
        call: CallId,
        micros: u64,
        answer: Answer,
    },
    /// A person took back a call or a step: it was made, and is no part of the recording.
    Undone {
        attempt: AttemptId,
        what: Parent,
    },
    StepEnded {
        step: StepId,
        verdict: Verdict,
        message: String,
    },
    AttemptEnded {
        attempt: AttemptId,
        verdict: Verdict,
        message: String,
        failure: Option<Box<Failure>>,
    },
    SessionClosed {
        session: SessionId,
        message: String,
    },
    /// A trail was not started, because the run was cancelled or stopped early.
    NotRun {
        trail: TrailRef,
        /// The platform that it would have run on.
        platform: Platform,
        /// Which of several runs of the trail, from 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repeat: Option<u32>,
    },
    RunEnded {
        exit: Exit,
        micros: u64,
        /// Processes that were started for the run and could not be ended.
        #[serde(default)]
        leaked_processes: usize,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Device {
    pub id: DeviceId,
    pub platform: Platform,
    pub driver: DriverKey,
    pub size: Size,
    /// Broad first: `["android", "phone"]`.
    pub classifiers: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrailRef {
    pub id: String,
    pub title: String,
    /// Relative to the project, with forward slashes.
    pub path: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StepKind {
    Trailhead,
    Step,
    Verify,
}

/// Where the calls of a step come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Plan {
    /// The recording of this classifier.
    Recording {
        classifier: String,
    },
    /// The step's own `tools:`.
    Authored,
    /// A person, script or agent at a prompt.
    Interactive,
    Model,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Called {
    pub call: CallId,
    pub parent: Parent,
    pub session: SessionId,
    pub attempt: AttemptId,
    pub tool: String,
    /// As authored: templates stay templates, secrets their names.
    pub args: Arc<Map<String, Value>>,
    pub origin: Origin,
    pub kind: ToolKind,
    pub is_recordable: bool,
    pub is_delegating: bool,
    /// Whether the tool is a team's own, as opposed to a built-in one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_custom: bool,
    /// Who offers the tool: `built-in`, a file, a server.
    pub source: Arc<str>,
}

/// How a call came to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Origin {
    /// By a step: replay, agent, prompt.
    Step,
    /// In place of its parent, which asked for it in its answer.
    Delegate,
    /// As a part of its parent, a YAML or scripted tool.
    Expansion,
    /// By its parent's own code, through callback, RPC or a direct call.
    Callback,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolKind {
    Action,
    Query,
    Assertion,
    /// Changes neither device nor memory: `objectiveStatus`.
    Meta,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pictured {
    pub about: Parent,
    pub moment: Moment,
    /// Relative to the run folder.
    pub file: String,
    /// Of the device, in the pixels that bounds are given in; the file may be smaller.
    pub screen: Size,
    /// The element tree as text, relative to the run folder.
    pub tree: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Moment {
    Before,
    After,
    Failure,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Level {
    Debug,
    Info,
    Warning,
    Error,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Answer {
    /// The tool answered; the outcome may be an error.
    Outcome(Box<Outcome>),
    /// The call could not be carried out: see the table of errors in ARCHITECTURE.md.
    Fault { exit: Exit, message: String },
}

impl Answer {
    pub fn is_error(&self) -> bool {
        match self {
            Answer::Outcome(outcome) => outcome.is_error(),
            Answer::Fault { .. } => true,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    Passed,
    Failed,
    /// The environment broke.
    Errored,
    /// The trail is wrong: a bad argument, an unknown tool, a step that needs a model where there is none.
    Invalid,
    Skipped,
    Cancelled,
    /// A bug of Trailblaze.
    Bug,
}

impl Verdict {
    pub fn exit(self) -> Exit {
        match self {
            Verdict::Passed | Verdict::Skipped => Exit::Passed,
            Verdict::Failed => Exit::Failed,
            Verdict::Invalid => Exit::Invalid,
            Verdict::Errored | Verdict::Cancelled => Exit::Environment,
            Verdict::Bug => Exit::Bug,
        }
    }
}

/// What a reader of a failed attempt wants to know first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    pub step: Option<StepId>,
    pub call: Option<CallId>,
    pub tool: Option<String>,
    pub message: String,
    pub expected: Option<String>,
    pub saw: Option<String>,
    /// The call of the trail that failed, or its step where no call did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
}

/// A place in a file of the project. Lines and columns count from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Relative to the project.
    pub file: String,
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}
