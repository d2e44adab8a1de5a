//! Replays a trail on its devices: makes its calls in order, without a model.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use trailblaze_protocol::event::{
    CallOrigin, Event, Failure, Level, Moment, Place, Plan, StepKind, ToolKind, TrailRef, Verdict,
};
use trailblaze_protocol::heal::HealSuggestion;
use trailblaze_protocol::ids::{AttemptId, CallId, Parent, SessionId, StepId};
use trailblaze_protocol::outcome::Outcome;

use crate::callers::agent::{self, Task};
use crate::callers::attempt_sessions::AttemptSessions;
use crate::callers::heal::{FailedCall, HealMode, Healer, StepHeals, is_renamed_element, note_end_state};
use crate::callers::recorded_effects::Custom;
use crate::callers::shadow::typed_calls;
use crate::callers::step_result::{StepResult, failure};
use crate::engine::ask::ModelAccess;
use crate::engine::cx::{Attempt, Cx};
use crate::engine::dispatch::{Arguments, Call, ExpectedName, dispatch_named};
use crate::engine::registry::Offer;
use crate::engine::session::Session;
use crate::record::artifacts::{PicturePolicy, Shot};
use crate::record::effects::differences;
use crate::record::healing::Identities;
use crate::trail::{Repair, Step, StepPlan, ToolCall, Trail};
use crate::values::memory::Memory;
use crate::yaml::{Source, Span, loose};
use crate::{ids, template};

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
    });
    let verdict = Verdict::Errored;
    session.emit(Event::AttemptEnded { attempt: id, verdict, message: message.clone(), failure });
    AttemptResult {
        attempt,
        verdict,
        failure: message.clone(),
        message,
        place: None,
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
    });
    let (mut repairs, mut unconfirmed) = (Vec::new(), Vec::new());
    let skipped = sessions.iter().find_map(|on| trail.config.skip_reason(&on.device.lineage));
    let ended = match skipped {
        Some(reason) => StepResult { verdict: Verdict::Skipped, message: reason.to_string(), ..StepResult::default() },
        None => {
            let has_head = trail.trailhead.is_some();
            let runner = TrailRunner {
                sessions,
                attempt,
                source: &trail.source,
                has_head,
                after: Mutex::default(),
                cancel: cancel.child_token(),
                custom,
                differences: Mutex::default(),
                context: trail.config.context.clone(),
                earlier: Mutex::default(),
                offer,
                heal,
                names,
                last_check: last_check(trail, sessions),
                repairs: Mutex::default(),
            };
            let ended = runner.run_within(trail, timeout).await;
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
    let is_fatal = is_fatal && verdict == Verdict::Failed;
    let suggestions = failure.as_ref().map(|failure| failure.suggestions.clone()).unwrap_or_default();
    session.emit(Event::AttemptEnded { attempt: id.clone(), verdict, message: message.clone(), failure });
    AttemptResult {
        attempt: id,
        verdict,
        message,
        failure: what,
        place,
        is_fatal,
        is_device_lost,
        repairs,
        unconfirmed,
        suggestions,
    }
}

struct TrailRunner<'a> {
    sessions: &'a AttemptSessions,
    attempt: Arc<Attempt>,
    source: &'a Source,
    has_head: bool,
    /// The screenshot after the last step that passed, and of which session.
    after: Mutex<Option<(SessionId, Shot)>>,
    cancel: CancellationToken,
    custom: Custom<'a>,
    /// How custom calls differ from their recorded effects, by step.
    differences: Mutex<BTreeMap<usize, Vec<String>>>,
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
        for (index, step) in trail.all_steps().enumerate() {
            if let Err(ended) = self.step_with_retries(index, step).await {
                return self.with_differences(ended);
            }
        }
        self.with_differences(StepResult::default())
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

    async fn step_with_retries(&self, index: usize, step: &Step) -> Result<(), StepResult> {
        let tries = step.max_retries.unwrap_or(0).saturating_add(1);
        for number in 1..=tries {
            // Only needed if there may be another try.
            let memory = (number < tries).then(|| self.attempt.memory().clone());
            let id = StepId::new(format!("{}/{index}.{number}", self.attempt.id));
            let ended = match self.step(&id, index, step).await {
                Ok(()) => return Ok(()),
                Err(ended) => ended,
            };
            if number == tries || ended.verdict != Verdict::Failed || ended.is_fatal {
                return Err(ended);
            }
            if let Some(memory) = memory {
                self.attempt.memory().restore(memory);
            }
            let text = format!("try {number} of {tries} failed, retrying: {}", ended.message);
            self.sessions.first().emit(Event::note(Some(Parent::Step(id)), Level::Warning, text));
        }
        unreachable!("the last try returns")
    }

    async fn step(&self, id: &StepId, index: usize, step: &Step) -> Result<(), StepResult> {
        let on = self.sessions.of(step);
        if self.sessions.has_several() {
            self.attempt.memory().provide("target.appId", on.app_id.as_deref());
        }
        let cx = Cx::for_step(&on.session, &self.attempt, id.clone(), self.cancel.clone());
        // Differences of earlier tries do not count.
        self.differences.lock().remove(&index);
        self.repairs.lock().remove(&index);
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
        });
        let result =
            if needs_model { self.carry_out(&cx, step).await } else { self.calls(&cx, (index, step), calls).await };
        if result.is_ok() {
            let text = &step.text.value;
            let done = on.device.role.as_ref().map_or_else(|| text.clone(), |role| format!("on {role}: {text}"));
            self.earlier.lock().push(done);
            if on.session.is_recording {
                note_end_state(&cx).await;
            }
        }
        let (verdict, message) = match &result {
            Ok(()) => (Verdict::Passed, String::new()),
            Err(ended) => (ended.verdict, ended.message.clone()),
        };
        on.session.emit(Event::StepEnded { step: id.clone(), verdict, message });
        result.map_err(|ended| {
            let mut failure = ended.failure.unwrap_or_else(|| Box::new(failure(None, &ended.message, None)));
            failure.step = Some(id.clone());
            failure.place.get_or_insert_with(|| place(self.source, step.text.span));
            let place = match step.kind {
                StepKind::Trailhead => "trailhead".to_string(),
                _ => format!("step {}", self.number(index)),
            };
            let role = on.device.role.as_ref().map(|role| format!(" on {role}")).unwrap_or_default();
            let message = format!("{place} \"{}\"{role}: {}", step.text.value.trim(), ended.message);
            StepResult { message, failure: Some(failure), ..ended }
        })
    }

    /// Lets the model carry out a step that has no recording.
    async fn carry_out(&self, cx: &Cx, step: &Step) -> Result<(), StepResult> {
        self.picture_before(cx).await?;
        let earlier = self.earlier.lock().clone();
        let task =
            Task { kind: step.kind, text: &step.text.value, context: self.context.as_deref(), earlier: &earlier };
        let result = agent::carry_out(cx, task, &self.offer).await;
        if result.is_err() {
            let _ = self.picture(cx, PicturePolicy::Failure, Moment::Failure).await;
            return result;
        }
        let after = self.picture(cx, PicturePolicy::Step, Moment::After).await?;
        *self.after.lock() = after.map(|shot| (cx.session.id.clone(), shot));
        Ok(())
    }

    async fn calls(&self, cx: &Cx, (index, step): (usize, &Step), calls: &[ToolCall]) -> Result<(), StepResult> {
        self.picture_before(cx).await?;
        let mut heals = StepHeals::default();
        // The first failure that was healed.
        let mut healed: Option<StepResult> = None;
        for (number, call) in calls.iter().enumerate() {
            let tool = &call.tool.value;
            let played = match self.custom {
                Custom::Play(recorded) => recorded.playing(index, number, call),
                Custom::Run | Custom::Verify(..) => None,
            };
            let mut made = played.unwrap_or_else(|| Call::written(call, CallOrigin::Step));
            made.expects = self.expected_name((index, number), call);
            let again = made.clone();
            let (id, answer) = dispatch_named(cx, made).await;
            self.verify((index, number), tool, id.as_ref());
            let (mut ended, outcome) = match answer {
                Ok(outcome) if !outcome.is_error() => continue,
                Ok(outcome) => (StepResult::failed(tool, &outcome), Some(outcome)),
                Err(fault) => (StepResult::fault(tool, &fault), None),
            };
            if let Some(failure) = &mut ended.failure {
                failure.call = id.clone();
                failure.place = Some(place(&call.source, call.tool.span));
            }
            // The original failure matters more than a failure to take a screenshot.
            let _ = self.picture(cx, PicturePolicy::Failure, Moment::Failure).await;
            if let (Some(outcome), Some(id)) = (&outcome, &id)
                && self.heal_call(cx, (index, step), (number, call), (id, outcome), &mut ended, &mut heals).await
            {
                healed.get_or_insert(ended);
                continue;
            }
            // Only healing required the recorded name. Without a repair, the call is made as it is written.
            if outcome.as_ref().is_some_and(is_renamed_element) && !self.names.is_some_and(|names| names.is_strict) {
                let expects = again.expects.clone().map(|expects| ExpectedName { is_required: false, ..expects });
                let (again, answer) = dispatch_named(cx, Call { expects, ..again }).await;
                ended = match answer {
                    Ok(outcome) if !outcome.is_error() => continue,
                    Ok(outcome) => StepResult::failed(tool, &outcome),
                    Err(fault) => StepResult::fault(tool, &fault),
                };
                if let Some(failure) = &mut ended.failure {
                    failure.call = again;
                    failure.place = Some(place(&call.source, call.tool.span));
                }
            }
            return Err(match healed.filter(|_| ended.verdict == Verdict::Failed) {
                Some(first) => first.withdrawn(&heals.withdraw(cx, &format!("then {}", ended.message)).0),
                None => ended,
            });
        }
        if let (Some(healer), Some(first)) = (&self.heal, healed) {
            match healer.confirm(cx, index, heals).await {
                Ok(repairs) => drop(self.repairs.lock().insert(index, repairs)),
                Err(withdrawn) => {
                    let _ = self.picture(cx, PicturePolicy::Failure, Moment::Failure).await;
                    return Err(first.withdrawn(&withdrawn.0));
                }
            }
        }
        let after = self.picture(cx, PicturePolicy::Step, Moment::After).await?;
        *self.after.lock() = after.map(|shot| (cx.session.id.clone(), shot));
        Ok(())
    }

    /// Makes another call instead of one that did not find its element. Returns whether that passed; otherwise the failure
    /// gets suggestions.
    async fn heal_call(
        &self,
        cx: &Cx,
        (index, step): (usize, &Step),
        (number, call): (usize, &ToolCall),
        (id, outcome): (&CallId, &Outcome),
        ended: &mut StepResult,
        heals: &mut StepHeals,
    ) -> bool {
        // A repair has no place for the name of the result.
        let Some(healer) = self.heal.as_ref().filter(|_| call.result_name.is_none()) else { return false };
        let typed = typed_calls(std::slice::from_ref(call), &cx.session.registry());
        let args = typed.first().and_then(|typed| typed.get(&call.tool.value)?.as_object());
        let Some(args) = args else { return false };
        let (kind, text, tool) = (step.kind, step.text.value.as_str(), call.tool.value.as_str());
        let is_checked = self.last_check > Some((index, number));
        let failed = FailedCall { step: index, kind, text, index: number, id, tool, args, outcome, is_checked };
        let Some(sought) = healer.seek(cx, &failed).await else { return false };
        if let Some(failure) = &mut ended.failure {
            failure.suggestions = sought.suggestions.clone();
        }
        let Some((tool, args)) = sought.call.clone() else { return false };
        let (made, answer) = dispatch_named(cx, Call::new(&tool, Arguments::Json(args), CallOrigin::Step)).await;
        match (made, answer) {
            (Some(made), Ok(outcome)) if !outcome.is_error() => {
                heals.add(&failed, sought, made);
                true
            }
            _ => false,
        }
    }

    /// The name that the element of a call should have. A call whose arguments are made during the run may mean another
    /// element each time.
    fn expected_name(&self, (step, number): (usize, usize), call: &ToolCall) -> Option<ExpectedName> {
        let names = self.names?;
        let name = names.identities.element(step, number)?.name.clone()?;
        let is_fixed = !template::has_token(&loose(&call.args).to_string());
        let is_healing = self.heal.is_some_and(|healer| healer.mode == HealMode::Apply);
        is_fixed.then_some(ExpectedName { name, is_required: names.is_strict || is_healing })
    }

    /// Notes how the effects of a call differ from its recorded effects.
    fn verify(&self, (step, number): (usize, usize), tool: &str, call: Option<&CallId>) {
        let Custom::Verify(all, journal) = self.custom else { return };
        let (Some(recorded), Some(call)) = (all.of(step, number), call) else { return };
        let Some(diff) = differences(recorded, &journal.effects(call)) else { return };
        let diff = diff.lines().map(|line| format!("\n  {line}")).collect::<String>();
        let text = format!("`{tool}` behaved differently from its recording:{diff}");
        let about = Some(Parent::Call(call.clone()));
        self.sessions.first().emit(Event::note(about, Level::Warning, text.clone()));
        let place =
            if self.has_head && step == 0 { "trailhead".to_string() } else { format!("step {}", self.number(step)) };
        let mut differences = self.differences.lock();
        differences.entry(step).or_default().push(format!("{place}: {text}"));
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
