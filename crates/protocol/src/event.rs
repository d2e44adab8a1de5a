//! The events of a run, as written to `events.jsonl`: one JSON object per line, a [`Header`] first.
//!
//! Recordings, reports, JUnit files and progress output are all derived from this one stream. Other programs read it
//! too, so every event and field is documented here; `docs/reference/events.md` is made from these comments.
//! Readers must tolerate events and fields that they do not know: see [`Line::parse`].

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::device_event::DeviceEvent;
use crate::driver::{AgentMode, DriverKey, Platform};
use crate::exit::Exit;
use crate::geometry::{Point, Rect, Size};
use crate::heal::{ElementIdentity, HealSought, HealSuggestion, HealTried};
use crate::ids::{AttemptId, CallId, DeviceId, ModelRequestId, Parent, RunId, SessionId, StepId};
use crate::outcome::{Attachment, Outcome};

/// The version of the event format that this build writes.
pub const VERSION: u32 = 1;

/// The first line of `events.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    /// The version of the event format: [`VERSION`] of the build that wrote the file.
    pub trailblaze_events: u32,
    /// The run that the file belongs to.
    pub run: RunId,
    /// When the run started: RFC 3339, UTC.
    pub started_at: String,
    /// The version of the program that wrote the file.
    pub version: String,
}

/// Every line after the header.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Microseconds since the run started.
    pub at: u64,
    /// The event, as `{"eventName": {fields}}`.
    pub event: Event,
}

/// The result of parsing one line of an event file.
#[derive(Debug, Clone, PartialEq)]
pub enum Parsed {
    /// An event that this build knows.
    Line(Box<Line>),
    /// Valid JSON that this build does not recognize, probably written by a newer build.
    Unknown(Value),
    /// Not JSON. The last line of a run that was killed may be cut off.
    Torn,
}

impl Line {
    /// Parses any line but the header. Never fails: unknown and torn lines are results.
    pub fn parse(text: &str) -> Parsed {
        match serde_json::from_str::<Line>(text) {
            Ok(line) => Parsed::Line(Box::new(line)),
            Err(_) => serde_json::from_str(text).map_or(Parsed::Torn, Parsed::Unknown),
        }
    }
}

/// Something that happened in a run. In JSON, the variant's name in camel case is the only key of the object.
///
/// New events and new optional fields do not change [`VERSION`]; anything that an older reader would misread does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    /// The run started. Always the first event.
    RunStarted {
        /// The command line, including the program's name.
        command: Vec<String>,
        /// The path of the project's root folder.
        project: String,
        /// The seed of everything random in the run. Passing it to another run reproduces the same choices.
        seed: u64,
        /// How many trails were selected. A trail counts once, however often it runs. 0 for an interactive session.
        trails: usize,
        /// Which part of a sharded run this is, such as `2/5`. Absent unless the run was started with a shard.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shard: Option<String>,
    },
    /// A device is ready, with its tools registered.
    SessionOpened {
        /// The new session. Later events refer to it by this id.
        session: SessionId,
        /// The session's device.
        device: Device,
        /// The target that the session was opened for; `null` if there is none.
        target: Option<String>,
        /// Where natural-language steps are carried out.
        agent_mode: AgentMode,
        /// How many tools the session can call.
        tools: usize,
    },
    /// A tool server is ready to be called.
    ServerStarted {
        /// The server's name in the project's configuration.
        server: String,
        /// The session that the server belongs to; `null` if several sessions share it.
        session: Option<SessionId>,
        /// The negotiated version of the Model Context Protocol.
        protocol: String,
        /// The file with the server's stderr, relative to the run folder.
        log: String,
    },
    /// A tool server has stopped, whether Trailblaze stopped it or it exited by itself.
    ServerEnded {
        /// The server's name in the project's configuration.
        server: String,
        /// The session that the server belongs to; `null` if several sessions share it.
        session: Option<SessionId>,
        /// Why it stopped.
        message: String,
    },
    /// One try of a trail started on a device, or on several.
    AttemptStarted {
        /// The new attempt. Later events refer to it by this id.
        attempt: AttemptId,
        /// The session that runs it; the first one if it runs on several devices.
        session: SessionId,
        /// The sessions of its devices, by role. Absent if the trail runs on one device.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        roles: BTreeMap<String, SessionId>,
        /// The trail that is run.
        trail: TrailRef,
        /// The number of the try, from 1. A trail passes if one of its tries passes.
        number: u32,
        /// The number of the repetition, from 1. Present only if the trail runs several times (`--repeat-each`). Every
        /// repetition must pass, unlike tries.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repeat: Option<u32>,
        /// Whether it runs the trail as repaired by the previous try, whose result only counts if this one passes. Absent
        /// (false) otherwise.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_repaired: bool,
        /// Copies of the files that its steps are in, as they were: the path of each, relative to the project, and the file of
        /// the run folder with its text.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        sources: BTreeMap<String, String>,
    },
    /// A step of an attempt started. A step that is retried starts again under a new id, with the same `index`.
    StepStarted {
        /// The new step. Later events refer to it by this id.
        step: StepId,
        /// The attempt that the step is part of.
        attempt: AttemptId,
        /// The position of the step in its attempt, from 0. The trailhead, if there is one, is 0.
        index: usize,
        /// What sort of step it is.
        kind: StepKind,
        /// The step's natural-language text.
        text: String,
        /// Where the step's calls come from.
        plan: Plan,
        /// The role of the device that carries it out. Absent if the trail runs on one device.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        role: Option<String>,
        /// Whether it is a step of `before:` or of `after:`. Absent for the steps of the trail itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hook: Option<HookKind>,
        /// What the step is a part of: a stretch that several trails share, or parts that run at the same time. Absent for other
        /// steps.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        heading: Option<StepHeading>,
        /// Where it is in the trail. Absent in an interactive session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<Place>,
    },
    /// A tool call started.
    Called(Arc<Called>),
    /// A call is about to act on a point or an element of the device.
    Touched {
        /// The call that acts.
        call: CallId,
        /// Where it acts; `null` if the action has no single point.
        point: Option<Point>,
        /// The bounds of the element; `null` if the call acts on a point without an element.
        bounds: Option<Rect>,
        /// The action and the element, for people to read.
        what: String,
        /// By what the element can be recognized after the app has changed. Only present while recording.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        element: Option<Box<ElementIdentity>>,
    },
    /// A call waited for an element to appear or disappear. Not emitted if the first look succeeded.
    Waited {
        /// The call that waited.
        call: CallId,
        /// What it waited for, for people to read.
        what: String,
        /// How long it waited, in microseconds.
        micros: u64,
        /// Whether the wait succeeded.
        met: bool,
        /// What was on the screen instead. Empty if the wait succeeded.
        saw: String,
    },
    /// A screenshot was stored.
    Pictured(Box<Pictured>),
    /// A message for people: a warning, an error or a remark.
    Noted {
        /// The step or call that the message is about; `null` if it is about the session or the run.
        about: Option<Parent>,
        /// How severe it is.
        level: Level,
        /// The message.
        text: String,
        /// Whether it means that a trail may pass and yet not have tested what it says. Absent if false.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_doubt: bool,
    },
    /// The device said or did something by itself.
    Device {
        /// The session of the device.
        session: SessionId,
        /// The step or call that was in progress; `null` if there was none.
        about: Option<Parent>,
        /// What it said or did.
        happened: DeviceEvent,
    },
    /// A tool call ended. Every `called` has exactly one `answered`, unless the run was killed.
    Answered {
        /// The call that ended.
        call: CallId,
        /// How long the call took, in microseconds, including all calls that it made.
        micros: u64,
        /// The result of the call.
        answer: CallResult,
    },
    /// A step or call was undone in an interactive session. It did happen, but it is left out of the recording.
    Undone {
        /// The attempt that it was part of.
        attempt: AttemptId,
        /// The step or call that was undone.
        what: Parent,
    },
    /// The steps of an interactive session were edited. These replace all that it recorded before.
    StepsEdited {
        /// The attempt that they are part of.
        attempt: AttemptId,
        /// All steps, in order.
        steps: Vec<EditedStep>,
    },
    /// A recorded call did not find its element, and healing searched for it.
    HealSought(Box<HealSought>),
    /// A call was made instead of one that did not find its element.
    HealTried(HealTried),
    /// The screen at the end of a step that passed. Only emitted while recording.
    EndState {
        /// The step.
        step: StepId,
        /// Hashes of what is stable on the screen: its texts, without numbers.
        parts: Vec<String>,
    },
    /// A step ended.
    StepEnded {
        /// The step that ended.
        step: StepId,
        /// How it ended.
        verdict: Verdict,
        /// Why it did not pass. Empty if it passed.
        message: String,
        /// What was decided in it. Absent if there was nothing to decide.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        choice: Option<StepChoice>,
    },
    /// An attempt ended.
    AttemptEnded {
        /// The attempt that ended.
        attempt: AttemptId,
        /// How it ended.
        verdict: Verdict,
        /// Why it did not pass, starting with the step; for a skipped trail, why it was skipped. Empty if it passed.
        message: String,
        /// Details of the failure; `null` if the attempt passed or was skipped.
        failure: Option<Box<Failure>>,
    },
    /// A file about an attempt came after it had ended, such as the video that a grid made of its session.
    Attached {
        /// The attempt that it is about.
        attempt: AttemptId,
        /// The file.
        attachment: Attachment,
    },
    /// A session was closed; its device is no longer used by this session.
    SessionClosed {
        /// The session that was closed.
        session: SessionId,
        /// Why it was closed. May be empty.
        message: String,
    },
    /// A trail was not started, because the run was cancelled or stopped early.
    NotRun {
        /// The trail that was not started.
        trail: TrailRef,
        /// The platform that it would have run on.
        platform: Platform,
        /// The number of the repetition, from 1. Present only if the trail runs several times (`--repeat-each`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repeat: Option<u32>,
    },
    /// A request was sent to a language model.
    ModelAsked(Box<ModelAsked>),
    /// A language model replied, or failed to.
    ModelReplied(Box<ModelReplied>),
    /// The run ended. Always the last event; missing if the run was killed.
    RunEnded {
        /// The most severe result of the run. Decides the exit code of the process.
        exit: Exit,
        /// How long the run took, in microseconds.
        micros: u64,
        /// How many processes that the run started could not be stopped.
        #[serde(default)]
        leaked_processes: usize,
    },
}

impl Event {
    /// A message for people.
    pub fn note(about: Option<Parent>, level: Level, text: impl Into<String>) -> Event {
        Event::Noted { about, level, text: text.into(), is_doubt: false }
    }

    /// A warning that a trail may pass and yet not have tested what it says.
    pub fn doubt(about: Option<Parent>, text: impl Into<String>) -> Event {
        Event::Noted { about, level: Level::Warning, text: text.into(), is_doubt: true }
    }
}

/// The device of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Device {
    /// The device, as `platform/name`.
    pub id: DeviceId,
    /// The platform that its apps are made for.
    pub platform: Platform,
    /// The driver that controls it.
    pub driver: DriverKey,
    /// The size of its screen, in the pixels that points and bounds use.
    pub size: Size,
    /// Classifiers that select recordings, broadest first: `["android", "phone"]`.
    pub classifiers: Vec<String>,
}

/// The trail that an attempt runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrailRef {
    /// The trail's id; `shell` in an interactive session.
    pub id: String,
    /// The trail's title, for people to read.
    pub title: String,
    /// The trail's file, relative to the project, with forward slashes. Empty in an interactive session.
    pub path: String,
    /// The trail's tags. Absent if it has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The number of the row of `forEach:` that it runs with, from 1. Absent if it has no rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<u32>,
}

/// What sort of step it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StepKind {
    /// The setup before the first step.
    Trailhead,
    /// A step that does something.
    Step,
    /// A step that checks something.
    Verify,
}

/// A step of an interactive session, as a person left it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EditedStep {
    /// What sort of step it is.
    pub kind: StepKind,
    /// The step in words.
    pub text: String,
    /// Its calls, each an object whose only key is the tool. Without any, the step is left to a model.
    pub calls: Vec<Value>,
}

/// What several steps are shown beneath.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepHeading {
    /// What makes them belong together.
    pub kind: HeadingKind,
    /// The words of the item of the trail that they come from.
    pub text: String,
    /// The line of the trail that this item is in. It tells two items with the same words apart.
    pub line: usize,
    /// The file that the steps are in, if that is not the trail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// What makes several steps belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HeadingKind {
    /// They run at the same time, each on its device: `together:`.
    Together,
    /// They come from a stretch that trails share: `use:`.
    Use,
}

/// Where a step is that is not one of the trail's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HookKind {
    /// Before the trailhead and the steps of the trail.
    Before,
    /// After them, however they ended.
    After,
}

/// What was decided in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepChoice {
    /// Whether the condition of its `when:` held. Absent if it has none, or was not reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<bool>,
    /// How many rounds its `repeat:` made. Absent if it does not repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// Whether it failed and the trail goes on, because it is optional. Absent if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_tolerated: bool,
}

impl StepChoice {
    /// Whether other calls than those of the step were made, or its calls not once.
    pub fn is_unusual(&self) -> bool {
        self.held == Some(false) || self.rounds.is_some_and(|rounds| rounds != 1) || self.is_tolerated
    }
}

/// Where the calls of a step come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Plan {
    /// The step's recording.
    Recording {
        /// The classifier whose recording is used.
        classifier: String,
    },
    /// The step's own `tools:`.
    Authored,
    /// A person, script or agent in an interactive session.
    Interactive,
    /// A model, because there is neither a recording for this device nor `tools:`.
    Model,
}

/// A tool call that started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Called {
    /// The new call. Later events refer to it by this id.
    pub call: CallId,
    /// The step or call that made it.
    pub parent: Parent,
    /// The session that it runs in.
    pub session: SessionId,
    /// The attempt that it is part of.
    pub attempt: AttemptId,
    /// The tool's name, as called. The tool may not exist; `answered` then holds a fault.
    pub tool: String,
    /// The arguments as authored: templates are not resolved, and secrets appear as `{{NAME}}`.
    pub args: Arc<Map<String, Value>>,
    /// What made the call.
    pub origin: CallOrigin,
    /// What the tool does to the device; `meta` for an unknown tool.
    pub kind: ToolKind,
    /// Whether the call may be part of a recording.
    pub is_recordable: bool,
    /// Whether the call is recorded even if it changed nothing, because the tool's author says so. Absent if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_always_recorded: bool,
    /// Whether the tool only answers with delegates and may not act by itself.
    pub is_delegating: bool,
    /// Whether the tool is the project's own. Absent (false) for built-in tools.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_custom: bool,
    /// The name under which its result is remembered. Absent if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_name: Option<String>,
    /// Whether the step goes on if it fails, so that the attempt only fails at its end. Absent if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_soft: bool,
    /// Whether the step decides by its result what to do: it is part of `when:` or `repeat:`. Absent if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_condition: bool,
    /// Where the tool comes from: `built-in`, a file, a server; `unknown` for an unknown tool.
    pub source: Arc<str>,
    /// Where the call is written. Absent if that is not in a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
}

/// What made a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CallOrigin {
    /// A step: its recording, its `tools:`, or a command of an interactive session.
    Step,
    /// The answer of its parent, which returned it as a delegate to run in its place.
    Delegate,
    /// The definition of its parent, a YAML tool or recorded effects.
    Expansion,
    /// The code of its parent, while it was running.
    Callback,
    /// A person, on the device itself, such as in the window of a browser. It was not executed, only recorded.
    Person,
}

/// What a tool does to the device. Decides what is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolKind {
    /// Changes the device or memory.
    Action,
    /// Only reads. Never recorded.
    Query,
    /// Checks something, and fails if it is not so.
    Assertion,
    /// Touches neither device nor memory: `objectiveStatus`.
    Meta,
}

/// A screenshot that was stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pictured {
    /// The step or call that it was taken for.
    pub about: Parent,
    /// When it was taken.
    pub moment: Moment,
    /// The image file, relative to the run folder.
    pub file: String,
    /// The size of the screen, in the pixels that points and bounds use; the image may be smaller.
    pub screen: Size,
    /// The file with the element tree as text, relative to the run folder; `null` if there is none.
    pub tree: Option<String>,
}

/// A request to a language model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelAsked {
    /// The new request. `modelReplied` refers to it by this id.
    pub request: ModelRequestId,
    /// The step or call that needs the reply.
    pub about: Parent,
    /// What the reply is for.
    pub purpose: ModelPurpose,
    /// The model, as `provider/model`.
    pub model: String,
    /// The file with the system prompt and the offered tools, relative to the run folder. They hardly ever change, so many
    /// requests have the same file.
    pub setup: String,
    /// The messages, in order, as text.
    pub messages: Vec<String>,
    /// The files of the pictures that were sent, relative to the run folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<String>,
}

/// What a model was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ModelPurpose {
    /// To carry out a step.
    Step,
    /// To judge a statement about the screen.
    Judgement,
    /// To repair a recorded call whose element was not found.
    Heal,
    /// To answer a question of a person.
    Question,
    /// A tool asked for a completion.
    Sampling,
}

/// What a language model replied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelReplied {
    /// The request.
    pub request: ModelRequestId,
    /// How long it took, in microseconds.
    pub micros: u64,
    /// The text of the reply. Empty if the model only called tools.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The calls that the model asked for, each as `{tool: args}`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Value>,
    /// Why there is no reply, or why it is incomplete. Absent if it is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// All input tokens, including those that the provider had cached.
    pub tokens_in: u64,
    /// The tokens of the reply.
    pub tokens_out: u64,
    /// How many of the input tokens the provider had cached.
    pub tokens_cached: u64,
    /// What it cost, in US dollars. Absent if the price of the model is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// When a screenshot was taken, relative to the step or call that it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Moment {
    /// Before it started.
    Before,
    /// After it passed.
    After,
    /// Right after it failed.
    Failure,
}

/// How severe a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Level {
    /// For people who look for a fault in Trailblaze or in a tool.
    Debug,
    /// A remark.
    Info,
    /// Something that may have to be changed.
    Warning,
    /// Something that did not work.
    Error,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CallResult {
    /// The tool ran; the outcome may still be an error.
    Outcome(Box<Outcome>),
    /// The call could not be carried out.
    Fault {
        /// How severe it is.
        exit: Exit,
        /// What went wrong.
        message: String,
    },
}

impl CallResult {
    pub fn is_error(&self) -> bool {
        match self {
            CallResult::Outcome(outcome) => outcome.is_error(),
            CallResult::Fault { .. } => true,
        }
    }
}

/// How a step or an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// Everything passed.
    Passed,
    /// A tool failed, or an assertion is false.
    Failed,
    /// The environment broke: a device was lost, or a server died.
    Errored,
    /// The trail is wrong: a bad argument, an unknown tool, or a step that needs a model but none is configured.
    Invalid,
    /// The trail is skipped on this device.
    Skipped,
    /// The run was cancelled.
    Cancelled,
    /// A bug in Trailblaze.
    Bug,
}

impl Verdict {
    /// How severe the verdict is for the run.
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

/// Why an attempt did not pass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// The step that failed; `null` if the attempt failed outside of its steps.
    pub step: Option<StepId>,
    /// The call that failed; `null` if no call did.
    pub call: Option<CallId>,
    /// The tool of that call; `null` if no call failed.
    pub tool: Option<String>,
    /// What went wrong, without the step.
    pub message: String,
    /// What the tool expected; `null` unless it reported that.
    pub expected: Option<String>,
    /// What it found instead; `null` unless it reported that.
    pub saw: Option<String>,
    /// Where the failed call is in the trail, or the failed step if no call failed. Absent if neither is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// What is written there. Absent if the place is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<TrailExcerpt>,
    /// What went wrong on the device by itself shortly before, oldest first: requests that failed, errors of pages. Absent if
    /// nothing did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub just_before: Vec<String>,
    /// What could replace the call that did not find its element, best first. Absent if there is nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<HealSuggestion>,
    /// Everything that failed, in order, if soft checks failed and it is more than one thing. Absent otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Failure>,
}

/// A place in a file of the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The path of the file, relative to the project.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// From 1.
    pub column: usize,
}

/// Some lines of a file of the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrailExcerpt {
    /// The number of the first line, from 1.
    pub line: usize,
    /// The lines, without the indentation that all of them have.
    pub text: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}
