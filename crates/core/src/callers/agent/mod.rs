//! Carries out a step that has no recording: shows a model the screen, makes the calls that it asks for, and repeats until a
//! call completes the step. A check passes only by an assertion that was executed and held.

mod claim;
mod evidence;
pub(crate) mod judgement;
mod limits;
pub mod offer;
mod origin;
mod proof;
pub mod prompt;
pub(crate) mod view;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;
use trailblaze_protocol::event::{CallOrigin, ModelPurpose, StepKind, ToolKind, Verdict};
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::ids::CallId;
use trailblaze_protocol::outcome::{Outcome, Variant};

use self::evidence::Evidence;
pub use self::limits::{CALLS_PER_REPLY, MISTAKES, REPEATED_REPLY, REPEATS};
use self::offer::{COMPLETES, STATUS};
use self::origin::Bounds;
pub use self::prompt::Task;
use self::view::ModelView;
use crate::callers::step_result::StepResult;
use crate::engine::ask::{AskError, ModelAccess, Spent, ask};
use crate::engine::cx::Cx;
use crate::engine::dispatch::{self, Call, dispatch_named};
use crate::engine::fault::Fault;
use crate::engine::registry::{Offer, Registry};
use crate::model::{
    ChatMessage, Choice, ContentPart, ModelErrorKind, ModelReply, ModelRequest, OfferedTool, RequestedArguments,
    RequestedCall, RequestedCallResult, StopReason,
};
use crate::template;

/// Carries out a step with the model of the attempt.
pub async fn carry_out(cx: &Cx, task: Task<'_>, offer: &Offer) -> Result<(), StepResult> {
    let Some(access) = cx.attempt.model() else {
        let message = "it has no recording for this device, and no model is configured";
        return Err(StepResult { is_fatal: true, ..StepResult::ended(Verdict::Invalid, message) });
    };
    let registry = cx.session.registry();
    let mut agent = StepAgent {
        cx,
        task,
        access,
        tools: offer::offered(&registry, offer).into(),
        system: prompt::system(&access.settings.nonce).into(),
        registry,
        log: Vec::new(),
        n_calls: 0,
        evidence: Evidence::default(),
        in_a_row: 0,
        last_error: None,
        tried: HashMap::new(),
        before: access.spent.so_far(),
        started: Instant::now(),
    };
    agent.run().await
}

/// Answers a question about the screen.
pub async fn answer(cx: &Cx, question: &str) -> Result<String, StepResult> {
    let access = cx.attempt.model().ok_or_else(|| unanswered(AskError::NoModel))?;
    let nonce = &access.settings.nonce;
    let view = view::look(cx, access, question).await.map_err(|stop| StepResult::stopped("screenshot", &stop))?;
    let screen = prompt::fenced(&prompt::cut(&view.text, prompt::SCREEN), nonce);
    let text = format!("Question: {question}\nScreen:\n<app {nonce}>\n{screen}\n</app {nonce}>");
    let message = prompt::message(vec![ContentPart::Text(text)], view.picture);
    let reply = ask(cx, ModelPurpose::Question, ModelRequest::new(prompt::answering(nonce), vec![message])).await;
    let reply = reply.map_err(unanswered)?;
    match reply.text.trim() {
        "" => Err(StepResult::ended(Verdict::Failed, "the model gave no answer")),
        text => Ok(text.to_string()),
    }
}

struct StepAgent<'a> {
    cx: &'a Cx,
    task: Task<'a>,
    access: &'a Arc<ModelAccess>,
    registry: Arc<Registry>,
    tools: Arc<[OfferedTool]>,
    system: Arc<str>,
    /// What was called in this step, and the results.
    log: Vec<String>,
    n_calls: usize,
    /// The assertions that held in a check.
    evidence: Evidence,
    /// How many replies in a row led to nothing but errors.
    in_a_row: usize,
    last_error: Option<StepResult>,
    /// How often the same calls were made on the same screen.
    tried: HashMap<(String, String), usize>,
    /// What the run had spent before this step.
    before: Spent,
    started: Instant,
}

/// What became of a reply.
enum AgentTurn {
    Completed,
    /// Something was called, so the screen may have changed.
    Acted,
    /// Nothing was called, because of mistakes that the model can correct on the same screen.
    Mistaken(Vec<ChatMessage>),
}

impl StepAgent<'_> {
    async fn run(&mut self) -> Result<(), StepResult> {
        let mut last: Option<String> = None;
        let mut n_remarks = self.cx.session.device.n_remarks();
        loop {
            let view = view::look(self.cx, self.access, self.task.text).await;
            let view = view.map_err(|stop| StepResult::stopped("screenshot", &stop))?;
            self.trust(view.app.as_deref(), last.is_none());
            let changes = last.as_ref().map(|last| crate::snapshot::changes(last, &view.text));
            let remarks = self.cx.session.device.remarks_since(&mut n_remarks);
            match self.turn(&view, changes.as_deref(), &remarks).await? {
                AgentTurn::Completed => return Ok(()),
                AgentTurn::Acted | AgentTurn::Mistaken(_) => {}
            }
            last = Some(view.text);
        }
    }

    /// Trusts the page that the test itself has opened: the one at the start of a step, unless a model went there.
    fn trust(&self, page: Option<&str>, is_start: bool) {
        let Some(origin) = page.and_then(origin::origin) else { return };
        let mut pages = self.cx.pages();
        if is_start && pages.left_at.as_ref() != Some(&origin) {
            pages.trusted.insert(origin.clone());
        }
        pages.left_at = Some(origin);
    }

    /// Asks until the model asks for calls that can be made, and makes them.
    async fn turn(
        &mut self,
        view: &ModelView,
        changes: Option<&str>,
        remarks: &[String],
    ) -> Result<AgentTurn, StepResult> {
        let nonce = &self.access.settings.nonce;
        let mut parts = prompt::turn(&self.task, &self.log, &view.text, changes, nonce);
        parts.extend(prompt::remarks(remarks, nonce));
        let mut messages = vec![prompt::message(parts, view.picture.clone())];
        let mut is_shortened = false;
        loop {
            self.check_budget()?;
            let reply = match self.ask(messages.clone()).await {
                Ok(reply) => reply,
                Err(AskError::Model(error)) if error.kind == ModelErrorKind::TooLong && !is_shortened => {
                    // The screen is what can be shortened; most of it is seldom needed.
                    is_shortened = true;
                    let short = prompt::cut(&view.text, prompt::SCREEN / 8);
                    messages = vec![prompt::message(prompt::turn(&self.task, &self.log, &short, None, nonce), None)];
                    continue;
                }
                Err(error) => return Err(unanswered(error)),
            };
            match self.perform(reply, view).await? {
                AgentTurn::Mistaken(more) => messages.extend(more),
                turn => return Ok(turn),
            }
        }
    }

    async fn ask(&self, messages: Vec<ChatMessage>) -> Result<ModelReply, AskError> {
        let request = ModelRequest {
            tools: Arc::clone(&self.tools),
            choice: Choice::Required,
            ..ModelRequest::new(Arc::clone(&self.system), messages)
        };
        ask(self.cx, ModelPurpose::Step, request).await
    }

    fn check_budget(&self) -> Result<(), StepResult> {
        let spent = self.access.spent.so_far().since(&self.before);
        let spent = Spent { time: self.started.elapsed(), ..spent };
        let Some(limit) = self.access.settings.per_step.exceeded(&spent) else { return Ok(()) };
        let message = format!("the model did not complete the step within {limit}{}", self.last_words());
        Err(StepResult::ended(Verdict::Failed, message))
    }

    /// The last error, as an addition to a message.
    fn last_words(&self) -> String {
        self.last_error.as_ref().map(|last| format!("; the last error was: {}", last.message)).unwrap_or_default()
    }

    /// Makes the calls of a reply, in order, up to the first that fails or that no longer means what the model saw.
    async fn perform(&mut self, reply: ModelReply, view: &ModelView) -> Result<AgentTurn, StepResult> {
        match &reply.stop {
            StopReason::End => {}
            StopReason::Refused(why) => {
                let why = if why.is_empty() { &reply.text } else { why };
                let message = format!("the model refused to carry out the step: {}", prompt::cut(why.trim(), 300));
                return Err(StepResult::ended(Verdict::Failed, message));
            }
            StopReason::CutOff => {
                let text = "Your reply was cut off at the limit of output tokens. Reply with the calls only.";
                return self.mistaken("the reply was cut off", vec![ChatMessage::user(text)]);
            }
            StopReason::Malformed => {
                let text = "Your call could not be parsed. Call one of the tools with valid JSON.";
                return self.mistaken("the model wrote a call that could not be parsed", vec![ChatMessage::user(text)]);
            }
        }
        if reply.calls.is_empty() {
            let said = prompt::cut(reply.text.trim(), 300);
            let text = format!("Call a tool. If the step is complete, or impossible, call {STATUS}.");
            let answer = repeated(&reply, |_| ChatMessage::user(&text), &text);
            return self.mistaken(&format!("the model replied without calling a tool: {said}"), answer);
        }
        self.note_repeat(&reply.calls, view)?;
        let mut is_completed = false;
        for (number, call) in reply.calls.iter().enumerate() {
            let mut args = match self.checked(call, view) {
                Ok(args) => args,
                Err(mistake) if number == 0 => return self.corrected(&reply, &mistake),
                Err(mistake) => {
                    self.note(call, &mistake);
                    return Ok(AgentTurn::Acted);
                }
            };
            let completes = args.shift_remove(COMPLETES).is_some_and(|flag| flag == Value::Bool(true));
            if number >= CALLS_PER_REPLY {
                self.note(call, &format!("not called: a reply may have at most {CALLS_PER_REPLY} calls"));
                return Ok(AgentTurn::Acted);
            }
            let newer = match number {
                0 => None,
                _ => Some(self.look_again().await?),
            };
            if let Some(changed) = newer.as_ref().and_then(|newer| view.changed_ref(newer, refs(&args))) {
                self.note(call, &format!("not called: the screen changed, and `{changed}` is not what it was"));
                return Ok(AgentTurn::Acted);
            }
            let newest = newer.as_ref().unwrap_or(view);
            if let Err(mistake) = self.bounds(newest, &self.cx.pages().trusted).check(&call.name, &args) {
                self.note(call, &mistake);
                return Ok(AgentTurn::Acted);
            }
            self.state(&call.name, &mut args, newest);
            let made = Call::new(&call.name, dispatch::Arguments::Json(args.clone()), CallOrigin::Step);
            let own = self.bounds(newest, &self.cx.pages().trusted).own_origins();
            self.cx.pages().secrets_go_to = Some(own);
            let made = self.make(made).await;
            self.cx.pages().secrets_go_to = None;
            let (id, answer) = made?;
            let outcome = match answer {
                Ok(outcome) => outcome,
                Err(fault @ (Fault::UnknownTool { .. } | Fault::BadArguments { .. } | Fault::BadTemplate { .. })) => {
                    if number == 0 {
                        return self.corrected(&reply, &fault.to_string());
                    }
                    self.note(call, &fault.to_string());
                    return Ok(AgentTurn::Acted);
                }
                Err(fault) => return Err(StepResult::fault(&call.name, &fault)),
            };
            if call.name == STATUS {
                return self.status(call, &args, &outcome, newest).await;
            }
            self.note(call, &outcome.text);
            if outcome.is_error() {
                let mut ended = StepResult::failed(&call.name, &outcome);
                if let Some(failure) = &mut ended.failure {
                    failure.call = id;
                }
                if outcome.variant == Variant::FatalError {
                    return Err(ended);
                }
                self.count_error(ended)?;
                return Ok(AgentTurn::Acted);
            }
            self.in_a_row = 0;
            self.weigh(call, &args, newest);
            is_completed |= completes;
        }
        if is_completed && self.is_accepted() {
            return Ok(AgentTurn::Completed);
        }
        Ok(AgentTurn::Acted)
    }

    /// Makes a call, which ends at the latest when the time of the step or of the run is over.
    async fn make(&self, call: Call) -> Result<(Option<CallId>, Result<Outcome, Fault>), StepResult> {
        let Some((limit, over)) = self.time_left() else { return Ok(dispatch_named(self.cx, call).await) };
        let tool = call.tool.clone();
        let cancel = self.cx.cancel.child_token();
        let cx = Cx::for_step(&self.cx.session, &self.cx.attempt, self.cx.step().clone(), cancel.clone());
        let started = Instant::now();
        let mut making = dispatch_named(&cx, call);
        let made = tokio::select! {
            biased;
            made = &mut making => Some(made),
            () = tokio::time::sleep(limit) => None,
        };
        let is_over = made.is_none();
        let made = match made {
            Some(made) => made,
            None => {
                cancel.cancel();
                making.await
            }
        };
        self.access.spent.add_time(started.elapsed());
        match made.1 {
            Err(Fault::Cancelled) if is_over && !self.cx.cancel.is_cancelled() => {
                let message = format!("{over}; `{tool}` was stopped");
                Err(StepResult { is_fatal: true, ..StepResult::ended(Verdict::Failed, message) })
            }
            _ => Ok(made),
        }
    }

    /// How long a call may take, and what is to be said if it takes longer.
    fn time_left(&self) -> Option<(Duration, String)> {
        let settings = &self.access.settings;
        let of_step = settings.per_step.time.map(|most| {
            let words = format!("the model did not complete the step within {most:?}");
            (most.saturating_sub(self.started.elapsed()), words)
        });
        let of_run = settings.per_run.time.map(|most| {
            let words = format!("the run has used up its budget of {most:?}");
            (most.saturating_sub(self.access.spent.so_far().time), words)
        });
        of_step.into_iter().chain(of_run).min_by_key(|(left, _)| *left)
    }

    /// The model said how far the step is.
    async fn status(
        &mut self,
        call: &RequestedCall,
        args: &Map<String, Value>,
        outcome: &Outcome,
        view: &ModelView,
    ) -> Result<AgentTurn, StepResult> {
        let explanation = args.get("explanation").and_then(Value::as_str).unwrap_or_default().trim();
        let status = args.get("status").and_then(Value::as_str).unwrap_or_default().to_uppercase();
        match status.as_str() {
            "COMPLETED" => {
                let may_be_judged = self.evidence.is_told && !self.evidence.is_proof;
                if may_be_judged && self.is_judged_proof(explanation, view).await? || self.is_accepted() {
                    return Ok(AgentTurn::Completed);
                }
                let message = "the model said that the check holds, but no assertion proved it";
                self.count_error(StepResult::ended(Verdict::Failed, message))?;
            }
            "FAILED" => {
                let message = format!("the model says that it cannot be done: {}", prompt::cut(explanation, 500));
                let message = match self.task.kind {
                    StepKind::Verify => format!("the model says that it is not so: {}", prompt::cut(explanation, 500)),
                    StepKind::Step | StepKind::Trailhead => message,
                };
                return Err(StepResult::ended(Verdict::Failed, format!("{message}{}", self.last_words())));
            }
            _ => self.note(call, &outcome.text),
        }
        Ok(AgentTurn::Acted)
    }

    /// The arguments of a call that may be made, or what is wrong with it.
    fn checked(&self, call: &RequestedCall, view: &ModelView) -> Result<Map<String, Value>, String> {
        let name = &call.name;
        let args = match &call.arguments {
            RequestedArguments::Object(args) => args.clone(),
            RequestedArguments::Malformed(text) => {
                return Err(format!("the arguments of `{name}` are not a JSON object: {}", prompt::cut(text, 100)));
            }
        };
        let kind = self.registry.get(name).map(|tool| tool.kind);
        if !self.tools.iter().any(|tool| tool.name == *name) {
            return Err(format!("there is no tool `{name}`; use one of the offered tools"));
        }
        if self.task.kind == StepKind::Verify && kind == Some(ToolKind::Action) {
            return Err(format!("`{name}` acts; a check may only look and assert"));
        }
        self.bounds(view, &self.cx.pages().trusted).check(name, &args)?;
        self.check_secrets(&args)?;
        let is_assertion = kind == Some(ToolKind::Assertion);
        let is_blank = |value: &Value| value.as_str().is_some_and(|text| text.trim().is_empty());
        if let Some((blank, _)) = args.iter().find(|(_, value)| is_assertion && is_blank(value)) {
            return Err(format!("`{blank}` is empty, so `{name}` would prove nothing"));
        }
        Ok(args)
    }

    /// A secret is used only in steps that name it, so that an app cannot ask for another one.
    fn check_secrets(&self, args: &Map<String, Value>) -> Result<(), String> {
        let told = [Some(self.task.text), self.task.context];
        let is_named = |name: &str| told.iter().flatten().any(|told| told.contains(name));
        let used = template::names(args);
        let other = self.cx.session.secrets.names().into_iter().find(|name| used.contains(name) && !is_named(name));
        match other {
            Some(name) => Err(format!("{{{{{name}}}}} is a secret that this step does not name, so it is not used")),
            None => Ok(()),
        }
    }

    fn bounds<'b>(&'b self, view: &'b ModelView, trusted: &'b BTreeSet<String>) -> Bounds<'b> {
        Bounds { registry: &self.registry, task: &self.task, trusted, here: view.app.as_deref() }
    }

    /// The screen after an earlier call of the same reply.
    async fn look_again(&self) -> Result<ModelView, StepResult> {
        let view = view::as_text(self.cx, self.access).await;
        view.map_err(|stop| StepResult::stopped("screen", &stop))
    }

    /// States what the model means, so that it is recorded as precisely as it was seen: the one element that a description fits, and
    /// the text of an element that a check points at.
    fn state(&self, tool: &str, args: &mut Map<String, Value>, view: &ModelView) {
        for name in ["ref", "toRef"] {
            let described = args.get(name).and_then(Value::as_str).and_then(|text| view.described(text));
            if let Some(reference) = described {
                args.insert(name.to_string(), reference.into());
            }
        }
        let points_at = args.get("ref").and_then(Value::as_str).filter(|_| args.get("expectedText").is_none());
        if let Some(text) = points_at.filter(|_| tool == "assertVisible").and_then(|text| view.shown_text(text)) {
            args.insert("expectedText".to_string(), text.into());
        }
    }

    /// Fails the step if the same calls were made too often on the same screen.
    fn note_repeat(&mut self, calls: &[RequestedCall], view: &ModelView) -> Result<(), StepResult> {
        let key = (view.text.clone(), calls.iter().map(shown).collect::<Vec<_>>().join("\n"));
        let times = self.tried.entry(key).or_default();
        *times += 1;
        if *times <= REPEATS {
            return Ok(());
        }
        let message = format!(
            "the model made no progress: it repeated {} on the same screen {REPEATS} times{}",
            prompt::cut(&calls.iter().map(shown).collect::<Vec<_>>().join(", "), 1_000),
            self.last_words()
        );
        Err(StepResult::ended(Verdict::Failed, message))
    }

    fn note(&mut self, call: &RequestedCall, result: &str) {
        self.n_calls += 1;
        self.log.push(prompt::entry(self.n_calls, &shown(call), result, &self.access.settings.nonce));
    }

    /// Counts a reply that led to nothing, and fails the step after too many in a row.
    fn count_error(&mut self, error: StepResult) -> Result<(), StepResult> {
        let error = StepResult { message: prompt::cut(&error.message, 2_000), ..error };
        self.in_a_row += 1;
        if self.in_a_row < MISTAKES {
            self.last_error = Some(error);
            return Ok(());
        }
        let message = format!("the model failed {MISTAKES} times in a row; the last error was: {}", error.message);
        Err(StepResult { message, ..error })
    }

    fn mistaken(&mut self, what: &str, messages: Vec<ChatMessage>) -> Result<AgentTurn, StepResult> {
        self.count_error(StepResult::ended(Verdict::Failed, what))?;
        Ok(AgentTurn::Mistaken(messages))
    }

    /// Tells the model what was wrong with the first call of its reply; none were made.
    fn corrected(&mut self, reply: &ModelReply, mistake: &str) -> Result<AgentTurn, StepResult> {
        let result = |(number, call): (usize, &RequestedCall)| {
            let text = if number == 0 { mistake } else { "not called, because an earlier call was wrong" };
            let parts = vec![ContentPart::Text(prompt::cut(text, 1_000))];
            RequestedCallResult { id: call.id.clone(), name: call.name.clone(), parts, is_error: true }
        };
        let results = |reply: &ModelReply| ChatMessage::Results(reply.calls.iter().enumerate().map(result).collect());
        self.mistaken(mistake, repeated(reply, results, &prompt::cut(mistake, 1_000)))
    }
}

/// A reply and the answer to it. A reply that is too long to be sent again is left out.
fn repeated(reply: &ModelReply, answer: impl FnOnce(&ModelReply) -> ChatMessage, alone: &str) -> Vec<ChatMessage> {
    let arguments = |call: &RequestedCall| match &call.arguments {
        RequestedArguments::Object(args) => serde_json::to_string(args).map_or(0, |text| text.len()),
        RequestedArguments::Malformed(text) => text.len(),
    };
    let length = reply.text.len() + reply.calls.iter().map(arguments).sum::<usize>() + reply.raw.to_string().len();
    if length > REPEATED_REPLY {
        return vec![ChatMessage::user(format!("Your last reply was too long to be repeated here. {alone}"))];
    }
    vec![ChatMessage::Assistant(Box::new(reply.clone())), answer(reply)]
}

/// A call as it is shown to the model and in messages.
fn shown(call: &RequestedCall) -> String {
    match &call.arguments {
        RequestedArguments::Object(args) => {
            let mut args = args.clone();
            args.shift_remove(COMPLETES);
            format!("{} {}", call.name, Value::Object(args))
        }
        RequestedArguments::Malformed(_) => call.name.clone(),
    }
}

fn refs(args: &Map<String, Value>) -> Vec<&str> {
    let mut refs = Vec::new();
    collect_refs(args, &mut refs);
    refs
}

/// The refs among the arguments of a call, also in lists of fields.
fn collect_refs<'c>(args: &'c Map<String, Value>, refs: &mut Vec<&'c str>) {
    for (name, value) in args {
        match value {
            Value::String(text) if matches!(name.as_str(), "ref" | "toRef") => refs.push(text),
            Value::Array(items) => items.iter().filter_map(Value::as_object).for_each(|item| collect_refs(item, refs)),
            _ => {}
        }
    }
}

/// How a step ends if the model does not answer.
fn unanswered(error: AskError) -> StepResult {
    match error.exit() {
        // The budget, or a screen that is too long: the step failed, and the environment is fine.
        Exit::Failed => StepResult { is_fatal: true, ..StepResult::ended(Verdict::Failed, error.advice()) },
        _ => StepResult { failure: None, ..StepResult::fault("model", &Fault::from(error)) },
    }
}
