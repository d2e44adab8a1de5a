//! The model of a run: sessions, attempts, steps and calls, assembled from `events.jsonl`.
//!
//! Any bytes can be read. Lines that are torn, unknown or refer to nothing are counted and left out; items without an end
//! are unfinished.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::Serialize;
use serde_json::{Map, Value};
use trailblaze_protocol::device_event::DeviceEvent;
use trailblaze_protocol::driver::{AgentMode, Platform};
use trailblaze_protocol::event::{
    self, CallOrigin, CallResult, Device, Failure, Header, HeadingKind, HookKind, Level, ModelAsked, ModelReplied,
    Moment, Place, Plan, StepChoice, StepHeading, StepKind, ToolKind, TrailRef, Verdict,
};
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::geometry::{Point, Rect, Size};
use trailblaze_protocol::ids::{AttemptId, CallId, DeviceId, SessionId, StepId};
use trailblaze_protocol::outcome::Attachment;

use super::heals::Heal;
use super::reader::Reader;

/// The name of the event file in a run folder.
pub const EVENTS: &str = "events.jsonl";

#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("no `{EVENTS}` in `{}`", folder.display())]
    NoEvents { folder: PathBuf },
    #[error("cannot read `{}`", path.display())]
    Io { path: PathBuf, source: io::Error },
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunRecord {
    /// `None` if the first line is not a header.
    pub header: Option<Header>,
    pub start: Option<RunStart>,
    pub sessions: Vec<SessionRecord>,
    pub servers: Vec<ServerRecord>,
    /// In the order they started.
    pub attempts: Vec<AttemptRecord>,
    /// Trails that were not started.
    pub not_run: Vec<NotRun>,
    /// Notes about the run as a whole.
    pub notes: Vec<Note>,
    /// `None` if the run was killed or is still running.
    pub end: Option<RunEnd>,
    /// The greatest time of any line, in microseconds since the run started.
    pub last_at: u64,
    pub unread: Unread,
}

/// A trail that was not started, because the run was cancelled or stopped early.
#[derive(Debug, Clone, PartialEq)]
pub struct NotRun {
    pub trail: TrailRef,
    pub platform: Platform,
    pub repeat: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunStart {
    pub command: Vec<String>,
    pub project: String,
    pub seed: u64,
    pub trails: usize,
    /// `2/5`, of a run that is split over several machines.
    pub shard: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunEnd {
    pub exit: Exit,
    pub micros: u64,
    pub leaked_processes: usize,
}

/// A tool server of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerRecord {
    pub name: String,
    /// The session that it belonged to; `None` if several shared it.
    pub session: Option<SessionId>,
    pub protocol: String,
    /// Relative to the run folder.
    pub log: String,
    pub at: u64,
    pub ended: Option<Closing>,
}

/// Lines that are not part of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Unread {
    /// Not JSON.
    pub torn: usize,
    /// JSON of a kind that this build does not know.
    pub unknown: usize,
    /// About an attempt, step or call that is not in the file.
    pub stray: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SessionRecord {
    pub id: SessionId,
    pub device: Device,
    pub target: Option<String>,
    pub agent_mode: AgentMode,
    pub tools: usize,
    pub opened_at: u64,
    pub closed: Option<Closing>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closing {
    pub at: u64,
    pub message: String,
}

/// One attempt at one trail. Calls are stored in a flat list; steps and calls refer to their calls by index, and a parent
/// always precedes its children.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptRecord {
    pub id: AttemptId,
    pub session: SessionId,
    /// The session's name if the session was never opened.
    pub device: DeviceId,
    /// Its devices, if it ran on several.
    pub roles: Vec<RoleRecord>,
    pub trail: TrailRef,
    pub number: u32,
    /// Which of several runs of the trail it belongs to, from 1.
    pub repeat: Option<u32>,
    /// Whether it ran the trail as repaired by the previous attempt.
    pub is_repaired: bool,
    pub started_at: u64,
    pub end: Option<AttemptEnd>,
    /// When it ended; for an unfinished one, when the run did.
    pub last_at: u64,
    pub standing: Standing,
    pub steps: Vec<StepRecord>,
    pub calls: Vec<CallRecord>,
    /// Calls whose parent is not in the file.
    pub loose: Vec<usize>,
    /// The requests to models, in the order they were sent.
    pub turns: Vec<Turn>,
    /// The calls that did not find their elements.
    pub heals: Vec<Heal>,
    /// Copies of the files that its steps are in, by path.
    pub sources: BTreeMap<String, String>,
    /// What its devices said and did by themselves.
    pub activity: Vec<DeviceRecord>,
    /// Files that came after it had ended.
    pub files: Vec<Attachment>,
}

/// Something that a device said or did by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceRecord {
    pub at: u64,
    pub happened: DeviceEvent,
}

/// A device of an attempt on several devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleRecord {
    pub name: String,
    pub session: SessionId,
    pub device: DeviceId,
}

/// A request to a model, and the reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    pub at: u64,
    /// The step that it was made in; `None` if that is not in the file.
    pub step: Option<usize>,
    pub asked: ModelAsked,
    /// `None` if the run was killed before the reply.
    pub replied: Option<ModelReplied>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AttemptEnd {
    pub verdict: Verdict,
    pub message: String,
    pub failure: Option<Box<Failure>>,
}

/// How an attempt counts among the attempts at its trail on its device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Standing {
    /// It counts as it ended.
    #[default]
    Counts,
    /// It did not pass, and the trail was retried.
    Retried,
    /// It passed after an earlier attempt did not.
    Flaky,
    /// It passed after the previous attempt repaired the trail.
    Healed,
}

#[derive(Debug, Clone, PartialEq)]
pub struct StepRecord {
    pub id: StepId,
    pub index: usize,
    pub kind: StepKind,
    pub text: String,
    pub plan: Plan,
    /// The role of the device that carried it out.
    pub role: Option<String>,
    /// Whether it is before or after the steps of the trail itself.
    pub hook: Option<HookKind>,
    /// What several steps are shown beneath.
    pub heading: Option<StepHeading>,
    /// Where it is in the trail.
    pub place: Option<Place>,
    pub started_at: u64,
    pub end: Option<StepEnd>,
    pub calls: Vec<usize>,
    pub pictures: Vec<PictureRecord>,
    pub notes: Vec<Note>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepEnd {
    pub at: u64,
    pub verdict: Verdict,
    pub message: String,
    /// What was decided in it.
    pub choice: StepChoice,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CallRecord {
    pub id: CallId,
    pub tool: String,
    pub args: Map<String, Value>,
    pub origin: CallOrigin,
    pub kind: ToolKind,
    pub is_recordable: bool,
    pub is_delegating: bool,
    pub source: String,
    /// Where it is written.
    pub place: Option<Place>,
    pub at: u64,
    pub children: Vec<usize>,
    pub touches: Vec<Touch>,
    pub waits: Vec<Wait>,
    pub notes: Vec<Note>,
    pub pictures: Vec<PictureRecord>,
    pub answer: Option<Answered>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touch {
    pub at: u64,
    pub point: Option<Point>,
    pub bounds: Option<Rect>,
    pub what: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    pub what: String,
    pub micros: u64,
    pub met: bool,
    pub saw: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub at: u64,
    pub level: Level,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PictureRecord {
    pub at: u64,
    pub moment: Moment,
    pub file: String,
    pub screen: Size,
    pub tree: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    pub micros: u64,
    pub answer: CallResult,
}

impl CallRecord {
    /// The model that judged a statement in this call, and its reason; `None` for other calls.
    pub fn judgement(&self) -> Option<JudgedCall<'_>> {
        let CallResult::Outcome(outcome) = &self.answer.as_ref()?.answer else { return None };
        let part = |name: &str| outcome.structured.as_ref()?.get(name)?.as_str();
        Some(JudgedCall {
            judged_by: part("judgedBy")?,
            statement: part("statement").unwrap_or_default(),
            reason: part("reason").unwrap_or_default(),
            holds: !outcome.is_error(),
        })
    }
}

/// What a model thought of a statement about the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgedCall<'a> {
    pub judged_by: &'a str,
    pub statement: &'a str,
    pub reason: &'a str,
    pub holds: bool,
}

/// The state of an attempt or a step: its verdict, or unfinished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum AttemptState {
    Passed,
    Failed,
    Errored,
    Invalid,
    Skipped,
    Cancelled,
    Bug,
    Unfinished,
}

impl AttemptState {
    pub const ALL: [AttemptState; 8] = [
        AttemptState::Passed,
        AttemptState::Failed,
        AttemptState::Errored,
        AttemptState::Invalid,
        AttemptState::Skipped,
        AttemptState::Cancelled,
        AttemptState::Bug,
        AttemptState::Unfinished,
    ];

    pub fn name(self) -> &'static str {
        match self {
            AttemptState::Passed => "passed",
            AttemptState::Failed => "failed",
            AttemptState::Errored => "errored",
            AttemptState::Invalid => "invalid",
            AttemptState::Skipped => "skipped",
            AttemptState::Cancelled => "cancelled",
            AttemptState::Bug => "bug",
            AttemptState::Unfinished => "unfinished",
        }
    }

    /// Whether it needs attention.
    pub fn is_bad(self) -> bool {
        !matches!(self, AttemptState::Passed | AttemptState::Skipped)
    }
}

impl From<Option<Verdict>> for AttemptState {
    fn from(verdict: Option<Verdict>) -> AttemptState {
        match verdict {
            Some(Verdict::Passed) => AttemptState::Passed,
            Some(Verdict::Failed) => AttemptState::Failed,
            Some(Verdict::Errored) => AttemptState::Errored,
            Some(Verdict::Invalid) => AttemptState::Invalid,
            Some(Verdict::Skipped) => AttemptState::Skipped,
            Some(Verdict::Cancelled) => AttemptState::Cancelled,
            Some(Verdict::Bug) => AttemptState::Bug,
            None => AttemptState::Unfinished,
        }
    }
}

impl RunRecord {
    pub fn read(folder: &Path) -> Result<RunRecord, ReadError> {
        let path = folder.join(EVENTS);
        let read = fs::File::open(&path).and_then(|file| RunRecord::from_lines(io::BufReader::new(file)));
        match read {
            Ok(run) => Ok(run),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(ReadError::NoEvents { folder: folder.to_path_buf() })
            }
            Err(source) => Err(ReadError::Io { path, source }),
        }
    }

    pub fn from_bytes(bytes: &[u8]) -> RunRecord {
        RunRecord::from_lines(bytes).expect("bytes in memory can be read")
    }

    /// Reads line by line: the file of a long session may not fit into memory.
    pub fn from_lines(lines: impl io::BufRead) -> io::Result<RunRecord> {
        let mut reader = Reader::default();
        for (idx, line) in lines.split(b'\n').enumerate() {
            let line = line?;
            let line = String::from_utf8_lossy(&line);
            let line = line.trim();
            if !line.is_empty() {
                reader.take_line(idx, line);
            }
        }
        Ok(reader.run.settle())
    }

    /// The run's name, or a dash if there is no header.
    pub fn id(&self) -> &str {
        self.header.as_ref().map_or("-", |header| header.run.as_str())
    }

    /// Whether a newer build wrote the file, in a format that this one may not fully understand.
    pub fn is_newer(&self) -> bool {
        self.header.as_ref().is_some_and(|header| header.trailblaze_events > event::VERSION)
    }

    pub fn micros(&self) -> u64 {
        self.end.map_or(self.last_at, |end| end.micros)
    }

    /// The devices of the run, each once, in the order they appeared.
    pub fn devices(&self) -> Vec<&DeviceId> {
        let sessions = self.sessions.iter().map(|session| &session.device.id);
        let mut devices: Vec<&DeviceId> = Vec::new();
        for device in sessions.chain(self.attempts.iter().map(|attempt| &attempt.device)) {
            if !devices.contains(&device) {
                devices.push(device);
            }
        }
        devices
    }

    /// Groups of attempts in which each was made because the one before it did not pass. To count trails, count the last
    /// of each group.
    pub fn tries(&self) -> Vec<Vec<&AttemptRecord>> {
        let tries = tries(&self.attempts);
        tries.into_iter().map(|tries| tries.into_iter().map(|idx| &self.attempts[idx]).collect()).collect()
    }

    /// Marks retried, flaky and healed attempts, and ends unfinished ones at the end of the run.
    fn settle(mut self) -> RunRecord {
        for attempt in self.attempts.iter_mut().filter(|attempt| attempt.end.is_none()) {
            attempt.last_at = self.last_at;
        }
        for tries in tries(&self.attempts) {
            let [earlier @ .., last] = tries.as_slice() else { continue };
            for idx in earlier {
                self.attempts[*idx].standing = Standing::Retried;
            }
            let last = &mut self.attempts[*last];
            if !earlier.is_empty() && last.state() == AttemptState::Passed {
                last.standing = if last.is_repaired { Standing::Healed } else { Standing::Flaky };
            }
        }
        self
    }
}

/// A retry follows an attempt that did not pass: at the same trail on the same device, or on the device that the trail
/// was moved from.
fn tries(attempts: &[AttemptRecord]) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = Vec::new();
    let mut by_trail: HashMap<(&str, &str, Option<u32>), Vec<usize>> = HashMap::new();
    for (idx, attempt) in attempts.iter().enumerate() {
        let of_trail = by_trail.entry((&attempt.trail.id, &attempt.trail.path, attempt.repeat)).or_default();
        let last = |place: &usize| all[*place].last().map(|idx| &attempts[*idx]);
        let open = || of_trail.iter().rev().filter(|place| last(place).is_some_and(|last| last.state().is_bad()));
        let here = || open().find(|place| last(place).is_some_and(|last| last.device == attempt.device));
        let moved =
            || open().find(|place| last(place).is_some_and(|last| last.number.checked_add(1) == Some(attempt.number)));
        match here().or_else(moved).copied() {
            Some(place) => all[place].push(idx),
            None => {
                of_trail.push(all.len());
                all.push(vec![idx]);
            }
        }
    }
    all
}

impl AttemptRecord {
    pub fn state(&self) -> AttemptState {
        AttemptState::from(self.end.as_ref().map(|end| end.verdict))
    }

    pub fn micros(&self) -> u64 {
        self.last_at.saturating_sub(self.started_at)
    }

    /// The title, or the id if the trail has no title.
    pub fn name(&self) -> &str {
        let trail = &self.trail;
        [&trail.title, &trail.id, &trail.path].into_iter().find(|text| !text.trim().is_empty()).map_or("-", |text| text)
    }

    pub fn message(&self) -> &str {
        self.end.as_ref().map_or("", |end| end.message.as_str())
    }

    pub fn failure(&self) -> Option<&Failure> {
        self.end.as_ref()?.failure.as_deref()
    }

    /// The step that the failure names; otherwise the step that failed or, in an unfinished attempt, the last one.
    pub fn failing_step(&self) -> Option<&StepRecord> {
        let named = self.failure().and_then(|failure| failure.step.as_ref());
        match named.and_then(|id| self.steps.iter().rfind(|step| step.id == *id)) {
            Some(step) => Some(step),
            None if self.state().is_bad() => {
                self.steps.iter().rfind(|step| step.state().is_bad() && !step.is_tolerated())
            }
            None => None,
        }
    }

    /// The number of a step as in the file: from 1, without the trailhead.
    pub fn step_number(&self, step: &StepRecord) -> Option<usize> {
        let has_head = self.steps.iter().any(|step| step.kind == StepKind::Trailhead);
        let is_of_stretch = step.heading.as_ref().is_some_and(|heading| heading.kind == HeadingKind::Use);
        (step.kind != StepKind::Trailhead && step.hook.is_none() && !is_of_stretch)
            .then(|| (step.index + 1).saturating_sub(usize::from(has_head)))
    }

    /// All pictures, in the order they were taken.
    pub fn pictures(&self) -> Vec<&PictureRecord> {
        let of_steps = self.steps.iter().flat_map(|step| &step.pictures);
        let mut pictures: Vec<&PictureRecord> =
            of_steps.chain(self.calls.iter().flat_map(|call| &call.pictures)).collect();
        pictures.sort_by_key(|picture| picture.at);
        pictures
    }

    /// The pictures that were taken because something failed, each file once.
    pub fn failure_pictures(&self) -> Vec<&PictureRecord> {
        let mut pictures: Vec<&PictureRecord> = Vec::new();
        for picture in self.pictures() {
            if picture.moment == Moment::Failure && pictures.iter().all(|known| known.file != picture.file) {
                pictures.push(picture);
            }
        }
        pictures
    }

    /// The calls below `roots` with their depth, parents first.
    pub fn walk(&self, roots: &[usize]) -> Vec<(usize, &CallRecord)> {
        let mut walked = Vec::new();
        let mut open: Vec<(usize, usize)> = roots.iter().rev().map(|idx| (0, *idx)).collect();
        while let Some((depth, idx)) = open.pop() {
            let call = &self.calls[idx];
            walked.push((depth, call));
            open.extend(call.children.iter().rev().map(|child| (depth + 1, *child)));
        }
        walked
    }
}

impl StepRecord {
    /// Its text, after the role of its device if the trail ran on several.
    pub fn text_with_role(&self) -> Cow<'_, str> {
        let hook = self.hook.map(|hook| match hook {
            HookKind::Before => "before",
            HookKind::After => "after",
        });
        match (hook, &self.role) {
            (Some(hook), Some(role)) => format!("{hook}, {role}: {}", self.text).into(),
            (Some(hook), None) => format!("{hook}: {}", self.text).into(),
            (None, Some(role)) => format!("{role}: {}", self.text).into(),
            (None, None) => self.text.as_str().into(),
        }
    }

    /// The heading in words, for people.
    pub fn heading_text(&self) -> Option<String> {
        let StepHeading { kind, text, file, .. } = self.heading.as_ref()?;
        Some(match (kind, file) {
            (HeadingKind::Together, _) => format!("{text} (at the same time)"),
            (HeadingKind::Use, Some(file)) => format!("{text} ({file})"),
            (HeadingKind::Use, None) => text.clone(),
        })
    }

    pub fn state(&self) -> AttemptState {
        AttemptState::from(self.end.as_ref().map(|end| end.verdict))
    }

    /// Whether it failed and the trail went on.
    pub fn is_tolerated(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end.choice.is_tolerated)
    }

    /// What was decided in it, in a few words each.
    pub fn choices(&self) -> Vec<String> {
        let Some(StepEnd { verdict, choice, .. }) = &self.end else { return Vec::new() };
        let is_else = choice.held == Some(false) && *verdict != Verdict::Skipped;
        let rounds =
            choice.rounds.map(|rounds| if rounds == 1 { "1 round".into() } else { format!("{rounds} rounds") });
        let words = [choice.is_tolerated.then(|| "optional".to_string()), is_else.then(|| "else".to_string()), rounds];
        words.into_iter().flatten().collect()
    }
}
