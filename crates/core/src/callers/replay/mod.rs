//! Replays a trail on its devices: makes its calls in order, without a model.

mod calls;
mod flow;
mod together;

use std::collections::{BTreeMap, HashSet};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_protocol::event::{
    Event, Failure, HeadingKind, HookKind, Level, Moment, Place, Plan, StepChoice, StepHeading, StepKind, ToolKind,
    TrailRef, Verdict,
};
use trailblaze_protocol::heal::HealSuggestion;
use trailblaze_protocol::ids::{AttemptId, Parent, SessionId, StepId};
use trailblaze_protocol::outcome::Attachment;

use crate::callers::agent::{self, Task};
use crate::callers::attempt_sessions::AttemptSessions;
use crate::callers::heal::{Healer, note_end_state};
use crate::callers::recorded_effects::Custom;
use crate::callers::soft::SoftFailures;
use crate::callers::step_result::{StepResult, failure};
use crate::engine::ask::ModelAccess;
use crate::engine::cx::{Attempt, Cx};
use crate::engine::registry::Offer;
use crate::engine::session::Session;
use crate::record::artifacts::{ArtifactKind, PicturePolicy, Shot};
use crate::record::healing::Identities;
use crate::trail::{Repair, Step, StepPlan, ToolCall, Trail, excerpt};
use crate::values::memory::Memory;
use crate::yaml::{Source, Span};
use crate::{ids, limits};

/// A try of a trail, to be run.
pub struct Try<'a> {
    pub trail: &'a Trail,
    pub about: TrailRef,
    /// From 1.
    pub number: u32,
    /// The number of the repetition, from 1, if the trail runs several times.
    pub repeat: Option<u32>,
    pub memory: Memory,
    /// How long it may take.
    pub timeout: Option<Duration>,
    pub cancel: CancellationToken,
    pub custom: Custom<'a>,
    /// Carries out the steps that have no recording.
    pub model: Option<Arc<ModelAccess>>,
    /// Which tools the model is offered.
    pub offer: Offer,
    /// How calls are repaired whose element was not found; `None` if they are not.
    pub heal: Option<Healer<'a>>,
    /// The names that elements should have; `None` if that is not checked.
    pub names: Option<RecordedNames<'a>>,
    /// Whether the trail was repaired by the previous try.
    pub is_repaired: bool,
}

/// The names that the elements of a trail had when it was recorded.
#[derive(Clone, Copy)]
pub struct RecordedNames<'a> {
    pub identities: &'a Identities,
    /// Whether a call fails if its element has another name. If false, there is a warning.
    pub is_strict: bool,
}

/// How a try ended.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptResult {
    pub attempt: AttemptId,
    pub verdict: Verdict,
    /// What failed, starting with the step. Empty if the try passed.
    pub message: String,
    /// What failed, without the step.
    pub failure: String,
    /// Where the failed call or step is in the trail.
    pub place: Option<Place>,
    /// What went wrong on the device by itself shortly before.
    pub just_before: Vec<String>,
    /// Whether it failed with a fatal error, after which a trail is never retried.
    pub is_fatal: bool,
    /// Whether the device can no longer be used. False if only a tool server died.
    pub is_device_lost: bool,
    /// The calls that were healed, if that is all that kept the try from passing.
    pub repairs: Vec<Repair>,
    /// The calls that were healed before a later step failed. Nothing confirms them.
    pub unconfirmed: Vec<Repair>,
    /// What could replace the call that did not find its element.
    pub suggestions: Vec<HealSuggestion>,
}

/// Records a try that could not start because the session's device or tool servers are unavailable.
pub fn fail_before_start(
    session: &Session,
    about: TrailRef,
    (number, repeat): (u32, Option<u32>),
    error: &(dyn Error + Sync),
) -> AttemptResult {
    let attempt = ids::attempt();
    let message = session.secrets.redact(&error.to_string()).into_owned();
    let failure = Some(Box::new(failure(None, &message, None)));
    let (id, session_id) = (attempt.clone(), session.id.clone());
    session.emit(Event::AttemptStarted {
        attempt: id.clone(),
        session: session_id,
        roles: BTreeMap::new(),
        trail: about,
        number,
        repeat,
        is_repaired: false,
        sources: BTreeMap::new(),
    });
    let verdict = Verdict::Errored;
    session.emit(Event::AttemptEnded { attempt: id, verdict, message: message.clone(), failure });
    AttemptResult {
        attempt,
        verdict,
        failure: message.clone(),
        message,
        place: None,
        just_before: Vec::new(),
        is_fatal: false,
        is_device_lost: false,
        repairs: Vec::new(),
        unconfirmed: Vec::new(),
        suggestions: Vec::new(),
    }
}

/// Runs the trail from its trailhead to its end, or until the first step that fails.
pub async fn replay(sessions: &AttemptSessions, attempt: Try<'_>) -> AttemptResult {
    let session = sessions.first();
    let id = ids::attempt();
    let Try { trail, about, number, repeat, memory, timeout, cancel, custom, model, offer, heal, names, is_repaired } =
        attempt;
    let attempt = Attempt::with_roles(id.clone(), memory, &about.path, model, sessions.roles());
    session.emit(Event::AttemptStarted {
        attempt: id.clone(),
        session: session.id.clone(),
        roles: sessions.by_role(),
        trail: about,
        number,
        repeat,
        is_repaired,
        sources: kept_sources(session, trail),
    });
    sessions.iter().for_each(|on| on.session.begin_trace(&id));
    let (mut repairs, mut unconfirmed) = (Vec::new(), Vec::new());
    let skipped = sessions.iter().find_map(|on| trail.config.skip_reason(&on.device.lineage));
    let ended = match skipped {
        Some(reason) => StepResult { verdict: Verdict::Skipped, message: reason.to_string(), ..StepResult::default() },
        None => {
            let has_head = trail.trailhead.is_some();
            let runner = TrailRunner {
                sessions,
                attempt,
                has_head,
                after: Mutex::default(),
                cancel: cancel.child_token(),
                custom,
                differences: Mutex::default(),
                soft: SoftFailures::default(),
                lost: Mutex::default(),
                context: trail.config.context.clone(),
                earlier: Mutex::default(),
                offer,
                heal,
                names,
                last_check: last_check(trail, sessions),
                repairs: Mutex::default(),
            };
            let ended = runner.run_within(trail, timeout).await;
            let ended = runner.run_after(trail, ended).await;
            let healed = if ended.verdict == Verdict::Passed { &mut repairs } else { &mut unconfirmed };
            healed.extend(runner.repairs.into_inner().into_values().flatten());
            ended
        }
    };
    let ended = if repairs.is_empty() { ended } else { StepResult::healed(repairs.len()) };
    let StepResult { verdict, message, failure, is_fatal, is_device_lost } = ended;
    let message = session.secrets.redact(&message).into_owned();
    let what = failure.as_ref().map_or(&message, |failure| &failure.message);
    let what = session.secrets.redact(what).into_owned();
    let place = failure.as_ref().and_then(|failure| failure.place.clone());
    let mut just_before = failure.as_ref().map(|failure| failure.just_before.clone()).unwrap_or_default();
    just_before.iter_mut().for_each(|text| session.secrets.redact_in_place(text));
    let is_fatal = is_fatal && verdict == Verdict::Failed;
    let suggestions = failure.as_ref().map(|failure| failure.suggestions.clone()).unwrap_or_default();
    join_all(sessions.iter().map(|on| on.session.end_trace())).await;
    if let Some(traces) = session.artifacts.traces() {
        traces.end(&id, matches!(verdict, Verdict::Passed | Verdict::Skipped));
    }
    session.emit(Event::AttemptEnded { attempt: id.clone(), verdict, message: message.clone(), failure });
    AttemptResult {
        attempt: id,
        verdict,
        message,
        failure: what,
        place,
        just_before,
        is_fatal,
        is_device_lost,
        repairs,
        unconfirmed,
        suggestions,
    }
}

/// Keeps the files that the steps of a trail are in, as they are now.
fn kept_sources(session: &Session, trail: &Trail) -> BTreeMap<String, String> {
    let hooks = trail.before.iter().chain(&trail.after).map(|hook| &hook.source);
    let stretches = trail.all_steps().filter_map(|step| step.stretch.as_ref());
    let stretches = stretches.flat_map(|stretch| stretch.steps.iter().map(|inner| &inner.source));
    let mut kept = BTreeMap::new();
    for source in std::iter::once(&trail.source).chain(hooks).chain(stretches) {
        let path = session.secrets.redact(&source.path).into_owned();
        kept.entry(path).or_insert_with(|| {
            let text = session.secrets.redact(&source.text).into_owned();
            let (name, mime) = (source.path.clone(), "text/plain".to_string());
            let file = Attachment { name, mime, file: None, bytes: text.into_bytes().into() };
            session.artifacts.keep(ArtifactKind::Source, &file)
        });
    }
    kept
}

struct TrailRunner<'a> {
    sessions: &'a AttemptSessions,
    attempt: Arc<Attempt>,
    has_head: bool,
    /// The screenshot after the last step that passed, and of which session.
    after: Mutex<Option<(SessionId, Shot)>>,
    cancel: CancellationToken,
    custom: Custom<'a>,
    /// How custom calls differ from their recorded effects, by step.
    differences: Mutex<BTreeMap<usize, Vec<String>>>,
    /// The soft checks that failed.
    soft: SoftFailures,
    /// The sessions whose devices were lost.
    lost: Mutex<HashSet<SessionId>>,
    /// What models are told about the trail.
    context: Option<String>,
    /// The steps so far, for models.
    earlier: Mutex<Vec<String>>,
    offer: Offer,
    heal: Option<Healer<'a>>,
    names: Option<RecordedNames<'a>>,
    /// Where the last check of the trail is: its step, and its call in it.
    last_check: Option<(usize, usize)>,
    /// The calls that were healed, by step.
    repairs: Mutex<BTreeMap<usize, Vec<Repair>>>,
}

impl TrailRunner<'_> {
    async fn run_within(&self, trail: &Trail, timeout: Option<Duration>) -> StepResult {
        let Some(timeout) = timeout else { return self.run(trail).await };
        let run = self.run(trail);
        tokio::pin!(run);
        tokio::select! {
            ended = &mut run => return ended,
            () = tokio::time::sleep(timeout) => self.cancel.cancel(),
        }
        // The running call gets a grace period to end by itself, and its message tells where the trail was.
        let ended = run.await;
        if ended.verdict != Verdict::Cancelled {
            return ended;
        }
        let message = format!("the trail took longer than {timeout:?}; it was stopped at {}", ended.message);
        let failure = ended.failure.map(|failure| Box::new(Failure { message: message.clone(), ..*failure }));
        StepResult { verdict: Verdict::Failed, message, failure, ..StepResult::default() }
    }

    async fn run(&self, trail: &Trail) -> StepResult {
        let places = places(trail);
        let mut rest = places.as_slice();
        while let Some(at) = rest.first() {
            let n_parts = rest.iter().take_while(|other| at.is_beside(other)).count().max(1);
            let (now, later) = rest.split_at(n_parts);
            rest = later;
            let result = match now {
                [at] => self.step_with_retries(*at, (&self.attempt, &self.cancel)).await,
                parts => self.together(parts).await,
            };
            if let Err(ended) = result {
                return self.with_differences(self.soft.added_to(ended));
            }
        }
        self.with_differences(self.soft.added_to(self.failed_late().err().unwrap_or_default()))
    }

    /// Fails if something has failed that a tool had started and did not wait for.
    fn failed_late(&self) -> Result<(), StepResult> {
        let Some(message) = self.attempt.take_failed_late() else { return Ok(()) };
        let failure = Some(Box::new(failure(None, &message, None)));
        Err(StepResult { verdict: Verdict::Failed, message, failure, ..StepResult::default() })
    }

    /// Carries out the steps of `after:`, however the attempt ended, also if it was cancelled. All of them are tried, except those
    /// of a device that was lost.
    async fn run_after(&self, trail: &Trail, mut ended: StepResult) -> StepResult {
        let n_before = trail.all_steps().count() + trail.before.len();
        // Whoever cancelled the run waits for these steps.
        let cancel = CancellationToken::new();
        for (nth, hook) in trail.after.iter().enumerate() {
            let on = &self.sessions.of(&hook.step).session;
            if self.lost.lock().contains(&on.id) {
                let text =
                    format!("\"{}\" was not done after the trail, because its device was lost", hook.step.text.value);
                on.emit(Event::note(None, Level::Warning, text));
                continue;
            }
            let hook_kind = Some((HookKind::After, nth + 1));
            let index = n_before + nth;
            let at = StepPlace { index, step: &hook.step, source: &hook.source, hook: hook_kind, within: None };
            let run = self.step_with_retries(at, (&self.attempt, &cancel));
            tokio::pin!(run);
            let result = tokio::select! {
                result = &mut run => result,
                () = tokio::time::sleep(limits::AFTER_TRAIL) => {
                    cancel.cancel();
                    run.await
                }
            };
            let failed = match (result, self.soft.of_step(at.index)) {
                (Err(failed), _) => failed,
                (Ok(()), Some(_)) => self.soft.added_to(StepResult::default()),
                (Ok(()), None) => continue,
            };
            ended = match ended.verdict {
                Verdict::Passed => failed,
                _ => ended.and_later(&failed),
            };
        }
        ended
    }

    /// Adds the differences from recorded effects. They fail an attempt that would have passed, and may explain why
    /// another step failed.
    fn with_differences(&self, ended: StepResult) -> StepResult {
        let differences = self.differences.lock();
        let differences = differences.values().flatten().cloned().collect::<Vec<_>>().join("\n");
        match ended.verdict {
            _ if differences.is_empty() => ended,
            Verdict::Passed => StepResult {
                verdict: Verdict::Failed,
                failure: Some(Box::new(failure(None, &differences, None))),
                message: differences,
                ..ended
            },
            _ => StepResult { message: format!("{}\n{differences}", ended.message), ..ended },
        }
    }

    /// The number of a step as people count: from 1, without the trailhead.
    fn number(&self, index: usize) -> usize {
        index + 1 - usize::from(self.has_head)
    }

    async fn step_with_retries(
        &self,
        at: StepPlace<'_>,
        (attempt, cancel): (&Arc<Attempt>, &CancellationToken),
    ) -> Result<(), StepResult> {
        let StepPlace { index, step, .. } = at;
        let tries = step.max_retries.unwrap_or(0).saturating_add(1);
        for number in 1..=tries {
            // Only needed if there may be another try.
            let memory = (number < tries).then(|| attempt.memory().clone());
            let id = StepId::new(format!("{}/{index}.{number}", self.attempt.id));
            let ended = match self.step(&id, at, (attempt, number == tries, cancel)).await {
                Ok(()) => match self.soft.of_step(index).filter(|_| number < tries) {
                    Some(failed) => failed,
                    None => return Ok(()),
                },
                Err(ended) => ended,
            };
            if number == tries || ended.verdict != Verdict::Failed || ended.is_fatal {
                return Err(ended);
            }
            if let Some(memory) = memory {
                attempt.memory().restore(memory);
            }
            let text = format!("try {number} of {tries} failed, retrying: {}", ended.message);
            self.sessions.first().emit(Event::note(Some(Parent::Step(id)), Level::Warning, text));
        }
        unreachable!("the last try returns")
    }

    async fn step(
        &self,
        id: &StepId,
        at: StepPlace<'_>,
        (attempt, is_last_try, cancel): (&Arc<Attempt>, bool, &CancellationToken),
    ) -> Result<(), StepResult> {
        let StepPlace { index, step, .. } = at;
        let on = self.sessions.of(step);
        if self.sessions.has_several() {
            attempt.memory().provide("target.appId", on.app_id.as_deref());
        }
        let cx = Cx::for_step(&on.session, attempt, id.clone(), cancel.clone());
        // Differences of earlier tries do not count.
        self.differences.lock().remove(&index);
        self.repairs.lock().remove(&index);
        self.soft.forget(index);
        let (plan, calls): (Plan, &[ToolCall]) = match step.plan(&on.device.lineage) {
            StepPlan::Recording { classifier, calls } => (Plan::Recording { classifier }, calls),
            StepPlan::Authored(calls) => (Plan::Authored, calls),
            StepPlan::Model => (Plan::Model, &[]),
        };
        let needs_model = plan == Plan::Model;
        on.session.emit(Event::StepStarted {
            step: id.clone(),
            attempt: self.attempt.id.clone(),
            index,
            kind: step.kind,
            text: step.text.value.clone(),
            plan,
            role: on.device.role.clone(),
            hook: at.hook.map(|(kind, _)| kind),
            heading: at.heading(),
            place: Some(place(at.source, step.text.span)),
        });
        let mut choice = StepChoice::default();
        let result = match step.flow.skip_reason(&on.device.lineage) {
            Some(reason) => Err(StepResult::ended(Verdict::Skipped, reason)),
            None => self.follow(&cx, at, (!needs_model).then_some(calls), &mut choice).await,
        };
        let result = result.and_then(|()| self.failed_late());
        if result.is_ok() {
            let text = &step.text.value;
            let done = on.device.role.as_ref().map_or_else(|| text.clone(), |role| format!("on {role}: {text}"));
            self.earlier.lock().push(done);
            if on.session.is_recording {
                note_end_state(&cx).await;
            }
        }
        if result.as_ref().is_err_and(|ended| ended.is_device_lost) {
            self.lost.lock().insert(on.session.id.clone());
        }
        let ended = match &result {
            Ok(()) => self.soft.of_step(index).unwrap_or_default(),
            Err(ended) => ended.clone(),
        };
        if step.flow.is_optional && is_last_try && ended.verdict == Verdict::Failed && !ended.is_fatal {
            choice.is_tolerated = true;
            self.soft.forget(index);
            cx.note(Level::Warning, format!("the step is optional, so the trail goes on: {}", ended.message));
        }
        on.session.emit(Event::StepEnded {
            step: id.clone(),
            verdict: ended.verdict,
            message: ended.message,
            choice: (choice != StepChoice::default()).then_some(choice),
        });
        match result {
            Err(ended) if ended.verdict != Verdict::Skipped && !choice.is_tolerated => Err(self.placed(&cx, at, ended)),
            _ => Ok(()),
        }
    }

    /// The failure of a step as that of the attempt: it says in which step it was, and where that is.
    fn placed(&self, cx: &Cx, at: StepPlace<'_>, ended: StepResult) -> StepResult {
        let StepPlace { index, step, source, hook, within } = at;
        let mut failure = ended.failure.unwrap_or_else(|| Box::new(failure(None, &ended.message, None)));
        failure.step = Some(cx.step().clone());
        if failure.place.is_none() {
            failure.place = Some(place(source, step.text.span));
            failure.excerpt = excerpt(&source.text, step.text.span.line);
        }
        let place = match (step.kind, hook) {
            (_, Some((HookKind::Before, nth))) => format!("step {nth} of `before`"),
            (_, Some((HookKind::After, nth))) => format!("step {nth} of `after`"),
            (StepKind::Trailhead, None) => "trailhead".to_string(),
            _ => match within {
                Some((nth, of)) => format!("step {nth} of `{}`", heading_of(of)),
                None => format!("step {}", self.number(index)),
            },
        };
        let role = cx.role().map(|role| format!(" on {role}")).unwrap_or_default();
        let message = format!("{place} \"{}\"{role}: {}", step.text.value.trim(), ended.message);
        StepResult { message, failure: Some(failure), ..ended }
    }

    /// Lets the model carry out a step that has no recording.
    async fn carry_out(&self, cx: &Cx, step: &Step) -> Result<(), StepResult> {
        self.picture_before(cx).await?;
        let earlier = self.earlier.lock().clone();
        let task =
            Task { kind: step.kind, text: &step.text.value, context: self.context.as_deref(), earlier: &earlier };
        let started = Instant::now();
        let mut result = agent::carry_out(cx, task, &self.offer).await;
        if let Err(ended) = &mut result {
            ended.failure.iter_mut().for_each(|failure| failure.just_before = calls::just_before(cx, started));
            let _ = self.picture(cx, PicturePolicy::Failure, Moment::Failure).await;
            return result;
        }
        let after = self.picture(cx, PicturePolicy::Step, Moment::After).await?;
        *self.after.lock() = after.map(|shot| (cx.session.id.clone(), shot));
        Ok(())
    }

    /// Reuses the screenshot after the previous step as the one before this step.
    async fn picture_before(&self, cx: &Cx) -> Result<(), StepResult> {
        let last = self.after.lock().take();
        match last {
            Some((session, shot)) if session == cx.session.id => {
                cx.session.artifacts.keep_picture(Shot { about: cx.parent(), moment: Moment::Before, ..shot })
            }
            _ => drop(self.picture(cx, PicturePolicy::Step, Moment::Before).await?),
        }
        Ok(())
    }

    async fn picture(&self, cx: &Cx, policy: PicturePolicy, moment: Moment) -> Result<Option<Shot>, StepResult> {
        if cx.session.pictures < policy {
            return Ok(None);
        }
        let shot = cx.session.device.shoot(cx, cx.parent(), moment).await;
        shot.map_err(|stop| StepResult::stopped("screenshot", &stop))
    }
}

/// A step of an attempt, and where it is.
#[derive(Clone, Copy)]
struct StepPlace<'a> {
    /// Its number in the attempt, from 0: first those of the trail itself, then those before and after them and in its stretches.
    index: usize,
    step: &'a Step,
    source: &'a Source,
    /// Whether it is before or after those of the trail itself, and its number there, from 1.
    hook: Option<(HookKind, usize)>,
    /// Its number in a stretch, from 1, and the step of the trail that uses the stretch.
    within: Option<(usize, &'a Step)>,
}

impl StepPlace<'_> {
    /// Whether two steps run at the same time.
    fn is_beside(&self, other: &StepPlace<'_>) -> bool {
        let is_in_same_use = match (self.within, other.within) {
            (Some((_, a)), Some((_, b))) => std::ptr::eq(a, b),
            (None, None) => true,
            _ => false,
        };
        self.step.group.is_some()
            && self.step.group == other.step.group
            && self.source.path == other.source.path
            && is_in_same_use
    }

    /// What it is shown beneath.
    fn heading(&self) -> Option<StepHeading> {
        let group = self.step.group.as_ref().map(|group| StepHeading {
            kind: HeadingKind::Together,
            text: group.text.value.clone(),
            line: group.span.line,
            file: None,
        });
        let within = self.within.map(|(_, used)| StepHeading {
            kind: HeadingKind::Use,
            text: heading_of(used).to_string(),
            line: used.text.span.line,
            file: Some(self.source.path.clone()),
        });
        within.or(group)
    }
}

/// The words of a step that uses a stretch.
fn heading_of(step: &Step) -> &str {
    let text = step.text.value.trim();
    step.stretch.as_ref().map_or(text, |stretch| stretch.heading(text))
}

/// The steps of a trail in the order in which they run, without those after it.
fn places(trail: &Trail) -> Vec<StepPlace<'_>> {
    let n_own = trail.all_steps().count();
    let before = trail.before.iter().enumerate().map(|(nth, hook)| StepPlace {
        index: n_own + nth,
        step: &hook.step,
        source: &hook.source,
        hook: Some((HookKind::Before, nth + 1)),
        within: None,
    });
    let mut places: Vec<StepPlace<'_>> = before.collect();
    let mut next = trail.first_of_stretches();
    for (index, step) in trail.all_steps().enumerate() {
        let Some(stretch) = &step.stretch else {
            places.push(StepPlace { index, step, source: &trail.source, hook: None, within: None });
            continue;
        };
        for (nth, inner) in (1..).zip(&stretch.steps) {
            let within = Some((nth, step));
            places.push(StepPlace { index: next, step: &inner.step, source: &inner.source, hook: None, within });
            next += 1;
        }
    }
    places
}

/// Where the last check of a trail is: a step that verifies something, or a call that does.
fn last_check(trail: &Trail, sessions: &AttemptSessions) -> Option<(usize, usize)> {
    let of_step = |(index, step): (usize, &Step)| {
        let on = sessions.of(step);
        let registry = on.session.registry();
        let is_check =
            |call: &ToolCall| registry.get(&call.tool.value).is_some_and(|tool| tool.kind == ToolKind::Assertion);
        let number = match step.plan(&on.device.lineage) {
            _ if step.kind == StepKind::Verify => Some(0),
            StepPlan::Recording { calls, .. } | StepPlan::Authored(calls) => calls.iter().rposition(is_check),
            StepPlan::Model => None,
        };
        number.map(|number| (index, number))
    };
    trail.all_steps().enumerate().filter_map(of_step).max()
}

fn place(source: &Source, span: Span) -> Place {
    Place { file: source.path.clone(), line: span.line, column: span.column }
}
