//! The data of the report's page, as it is in `report.html` and as the daemon sends it. `./scripts/contract` writes these types and
//! their comments again in TypeScript, in `ui/src/generated/data.ts`.

use std::borrow::Cow;

use serde::Serialize;
use trailblaze_protocol::event::{CallOrigin, Device, Level, Moment, Plan, StepKind, ToolKind, TrailExcerpt, TrailRef};
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::geometry::{Point, Rect, Size};
use trailblaze_protocol::outcome::Variant;

use super::activity::ActivityView;
use super::heals::HealView;
use super::model::{AttemptState, Standing};
use super::page_files::FileInPage;
use super::summary::Counts;
use super::turns::TurnView;

/// The index of a run: all that the page shows before an attempt is opened.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunView<'a> {
    /// The name of the run; a dash if its record has no header.
    pub run: &'a str,
    pub started_at: Option<&'a str>,
    /// The version of the program that wrote the record.
    pub version: Option<&'a str>,
    /// Whether a newer build wrote the record.
    pub is_newer: bool,
    pub command: Option<String>,
    pub project: Option<&'a str>,
    /// As text: JavaScript has no such integers.
    pub seed: Option<String>,
    /// How many trails were selected.
    pub trails: Option<usize>,
    /// How it ended; `null` if it did not.
    pub exit: Option<Exit>,
    /// The exit code of the process.
    pub code: Option<u8>,
    pub micros: u64,
    /// Lines of the record that are cut off.
    pub torn: usize,
    /// Lines of a kind that this build does not know.
    pub unknown: usize,
    /// Lines about something that is not in the record.
    pub stray: usize,
    pub counts: Counts,
    /// What models were used for, in words; `null` if none was asked.
    pub model_use: Option<String>,
    pub lanes: Vec<LaneView<'a>>,
    pub servers: Vec<ServerView<'a>>,
    /// Processes that could not be stopped.
    pub leaked_processes: usize,
    /// Notes about the run as a whole.
    pub notes: Vec<NoteView<'a>>,
    /// In the order they started.
    pub attempts: Vec<AttemptView<'a>>,
    /// Places of attempts, those that failed alike together.
    pub failures: Vec<Vec<usize>>,
    /// The same for attempts that were retried.
    pub retried: Vec<Vec<usize>>,
}

/// One device.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LaneView<'a> {
    pub name: &'a str,
    pub sessions: Vec<SessionView>,
}

/// A session on a device.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    pub device: Device,
}

/// A tool server, and the end of what it wrote to stderr.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerView<'a> {
    pub name: &'a str,
    /// `null` if several devices shared it.
    pub device: Option<&'a str>,
    /// The version of MCP.
    pub protocol: &'a str,
    /// The file with its stderr, and the last lines of it.
    pub log: &'a str,
    pub tail: String,
    /// Why it stopped; `null` if that is not known.
    pub ended: Option<&'a str>,
}

/// What the list shows of an attempt.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptView<'a> {
    pub id: &'a str,
    pub name: &'a str,
    pub trail: &'a TrailRef,
    /// The place of its device among the lanes.
    pub lane: usize,
    /// The number of the try, from 1.
    pub number: u32,
    /// Which of several runs of the trail it belongs to, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<u32>,
    pub state: AttemptState,
    pub standing: Standing,
    /// Microseconds since the run started.
    pub at: u64,
    pub micros: u64,
    pub message: String,
    pub n_calls: usize,
    /// Absent if it passed or was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<TroubleView<'a>>,
}

/// Why an attempt did not pass.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TroubleView<'a> {
    /// The words, the number and the kind of the step that failed.
    pub step: Option<String>,
    pub step_number: Option<usize>,
    pub step_kind: Option<StepKind>,
    pub message: String,
    pub expected: Option<String>,
    pub saw: Option<String>,
    /// What went wrong on the device by itself shortly before, oldest first.
    pub just_before: Vec<String>,
    /// The file and the line of the call or step that failed.
    pub place: Option<String>,
    /// What is written there.
    pub excerpt: Option<&'a TrailExcerpt>,
    /// The commands to type next, most useful first.
    pub commands: Vec<String>,
    /// The picture at the failure, or the last one before.
    pub picture: Option<PictureView>,
}

/// The details of an attempt.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DetailView<'a> {
    pub steps: Vec<StepView<'a>>,
    /// Calls outside of any step.
    pub loose: Vec<CallView<'a>>,
    /// The place of the step that failed.
    pub failing_step: Option<usize>,
    /// What the device said and did by itself.
    pub activity: Vec<ActivityView>,
    /// The files that its steps are in, as they were.
    pub sources: Vec<TrailFileView<'a>>,
    /// Files that came after it had ended. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<AttachmentView<'a>>,
    /// `null` if none was kept.
    pub trace: Option<TraceView>,
}

/// A file with steps of an attempt.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TrailFileView<'a> {
    /// Relative to the project.
    pub path: &'a str,
    /// The copy in the run folder, and where the page finds it: in the page, it is among the trees.
    pub file: &'a str,
    pub kept: FileInPage,
}

/// The trace of an attempt: a script that calls `trailblazeTrace`, as `docs/events.md` describes.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TraceView {
    /// The file in the run folder.
    pub file: String,
    pub kept: FileInPage,
}

/// A place in a file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlaceView<'a> {
    pub path: &'a str,
    /// From 1.
    pub line: usize,
}

/// A step of an attempt.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepView<'a> {
    /// As in the trail, from 1; `null` for the trailhead.
    pub number: Option<usize>,
    pub kind: StepKind,
    /// What it and the steps after it are shown beneath. Absent if that is nothing, or the heading of the step before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    /// Whether it is shown beneath a heading.
    pub is_within: bool,
    /// Microseconds since the run started.
    pub at: u64,
    /// `null` if it is in no file.
    pub place: Option<PlaceView<'a>>,
    pub text: String,
    pub plan: &'a Plan,
    pub state: AttemptState,
    /// Whether it failed and the trail went on, because it is optional.
    pub is_tolerated: bool,
    /// What was decided in it: that it is optional and failed, that the calls of `else` were made, how many rounds there were.
    pub choices: Vec<String>,
    pub message: String,
    /// `null` if it did not end.
    pub micros: Option<u64>,
    /// All calls below the step, parents before what they called.
    pub calls: Vec<CallView<'a>>,
    pub pictures: Vec<PictureView>,
    pub notes: Vec<NoteView<'a>>,
    /// The requests to models.
    pub turns: Vec<TurnView<'a>>,
    /// What they used, in words; `null` if there were none.
    pub model_use: Option<String>,
    /// The calls that did not find their elements. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub heals: Vec<HealView>,
}

/// A call of a tool.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallView<'a> {
    pub id: &'a str,
    /// Microseconds since the run started.
    pub at: u64,
    /// 0 for calls of the step itself.
    pub depth: usize,
    pub tool: &'a str,
    /// Names and values. Values are text, since JavaScript would round long numbers.
    pub args: Vec<(&'a str, String)>,
    pub origin: CallOrigin,
    pub kind: ToolKind,
    pub is_recordable: bool,
    pub is_delegating: bool,
    /// Where the tool comes from.
    pub source: &'a str,
    /// Where it is written; `null` if it is in no file.
    pub place: Option<PlaceView<'a>>,
    /// `null` if it was not answered.
    pub micros: Option<u64>,
    pub touches: Vec<TouchView>,
    pub waits: Vec<WaitView>,
    pub notes: Vec<NoteView<'a>>,
    pub pictures: Vec<PictureView>,
    /// `null` if there is none.
    pub answer: Option<AnswerView<'a>>,
    /// The model that judged a statement.
    pub judged_by: Option<&'a str>,
}

/// Where a call acted on the screen.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TouchView {
    /// Microseconds since the run started.
    pub at: u64,
    pub point: Option<Point>,
    pub bounds: Option<Rect>,
    /// The action and the element, in words.
    pub what: String,
}

/// What a call waited for.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitView {
    pub what: String,
    pub micros: u64,
    /// Whether the wait succeeded.
    pub met: bool,
    /// What was on the screen instead.
    pub saw: String,
}

/// A message for people.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NoteView<'a> {
    pub level: Level,
    pub text: Cow<'a, str>,
}

/// A screenshot.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PictureView {
    /// Microseconds since the run started.
    pub at: u64,
    pub moment: Moment,
    /// The file in the run folder.
    pub file: String,
    /// The size of the screen, in the pixels that points and bounds use.
    pub screen: Size,
    pub kept: FileInPage,
    /// The element tree as text, and its file.
    pub tree: Option<FileInPage>,
    pub tree_file: Option<String>,
}

/// The result of a call.
#[derive(Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum AnswerView<'a> {
    /// The tool ran; the outcome may still be an error.
    Outcome(OutcomeView<'a>),
    /// The call could not be carried out.
    Fault { exit: Exit, message: String },
}

/// The result of a tool that ran.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutcomeView<'a> {
    pub variant: &'a Variant,
    pub text: String,
    /// The result as JSON.
    pub structured: Option<String>,
    pub attachments: Vec<AttachmentView<'a>>,
    /// Tools and arguments of the calls that are made in its place.
    pub delegates: Vec<(&'a str, Vec<(&'a str, String)>)>,
    /// Names and values that were written to memory.
    pub remembered: Vec<(&'a str, String)>,
    /// Names that were deleted from memory.
    pub forgotten: &'a [String],
}

/// A file that a tool returned.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AttachmentView<'a> {
    pub name: &'a str,
    pub mime: &'a str,
    /// The file in the run folder, and where the page finds it; `null` if the run stored none.
    pub file: Option<&'a str>,
    pub kept: Option<FileInPage>,
}
