//! The one entry point of every tool call: find the tool, resolve templates in a private copy, check the arguments, open
//! the call, run it, follow its delegates, emit the result, close.

use std::any::Any;
use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};
use trailblaze_protocol::event::{CallOrigin, CallResult, Called, Event, Moment, Place, ToolKind};
use trailblaze_protocol::ids::CallId;
use trailblaze_protocol::outcome::{Attachment, Outcome, Variant};

use crate::engine::cx::{CodeOutside, Cx, Deadline};
use crate::engine::fault::{Fault, Stop};
use crate::engine::giving_up::give_up;
use crate::engine::play::play;
use crate::engine::registry::Registry;
use crate::engine::source::{ReloadError, ToolSource};
use crate::engine::tool::{Args, Body, Tool};
use crate::engine::withhold::withhold;
use crate::record::artifacts::ArtifactKind;
use crate::template::{self, Replacement, Token};
use crate::trail::ToolCall;
use crate::values::memory::part_of;
use crate::values::memory::{Memory, UnknownTemplate};
use crate::yaml::{Problems, loose, to_json};
use crate::{ids, limits};

/// A call to make.
#[derive(Clone)]
pub struct Call {
    pub tool: String,
    pub args: Arguments,
    pub origin: CallOrigin,
    /// The tool to run instead of the registered one of that name.
    pub stand_in: Option<Arc<Tool>>,
    /// The name that its element had when the call was recorded.
    pub expects: Option<ExpectedName>,
    /// The name under which its result is remembered.
    pub result_name: Option<String>,
    /// Whether its caller goes on if it fails.
    pub is_soft: bool,
    /// Whether its caller decides by its result what to do.
    pub is_condition: bool,
}

/// The name that the element of a call had when the call was recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedName {
    pub name: String,
    /// Whether an element with another name is not acted on. If false, there is only a warning.
    pub is_required: bool,
}

/// The arguments of a call: written in a file, and yet to be typed by the tool's schema, or already typed.
#[derive(Debug, Clone)]
pub enum Arguments {
    Written(ToolCall),
    Json(Map<String, Value>),
}

impl Call {
    pub fn new(tool: &str, args: Arguments, origin: CallOrigin) -> Call {
        Call {
            tool: tool.to_string(),
            is_condition: false,
            args,
            origin,
            stand_in: None,
            expects: None,
            result_name: None,
            is_soft: false,
        }
    }

    /// A call of a trail.
    pub fn written(call: &ToolCall, origin: CallOrigin) -> Call {
        let result_name = call.result_name().map(str::to_string);
        let args = Arguments::Written(call.clone());
        Call { result_name, is_soft: call.is_soft, ..Call::new(&call.tool.value, args, origin) }
    }

    fn position(&self) -> Option<Place> {
        match &self.args {
            Arguments::Written(call) => Some(call.position()),
            Arguments::Json(_) => None,
        }
    }

    fn place(&self) -> Option<String> {
        self.position().map(|place| place.to_string())
    }

    /// Where its arguments contain a template.
    fn place_of(&self, token: &str) -> Option<String> {
        match &self.args {
            Arguments::Written(call) => Some(call.place_of(token)),
            Arguments::Json(_) => None,
        }
    }
}

/// Makes a call. A tool that fails returns an outcome; a fault means that the call could not be carried out.
pub async fn dispatch(cx: &Cx, call: Call) -> Result<Outcome, Fault> {
    dispatch_named(cx, call).await.1
}

/// The same, and returns the id of the call as well; `None` if the call was refused before it had one.
pub fn dispatch_named(cx: &Cx, mut call: Call) -> BoxFuture<'_, (Option<CallId>, Result<Outcome, Fault>)> {
    Box::pin(async move {
        // Must come first: a parent cancels and then waits for the calls that have entered. A call that enters later sees
        // the cancellation.
        let _entered = cx.enter();
        if cx.cancel.is_cancelled() {
            return (None, Err(Fault::Cancelled));
        }
        if let Err(dead) = cx.session.check_alive() {
            return (None, Err(dead.into()));
        }
        // Top-level calls queue; a call beneath the running one must not wait for it.
        let _turn = match cx.frame() {
            Some(_) => None,
            None => Some(match cx.session.turn.try_lock() {
                Ok(turn) => turn,
                Err(_) => tokio::select! {
                    biased;
                    () = cx.cancel.cancelled() => return (None, Err(Fault::Cancelled)),
                    turn = cx.session.turn.lock() => turn,
                },
            }),
        };
        let looked_up = async {
            // A call beneath another one belongs to the tools that this one was made with.
            let refreshed = match cx.frame() {
                Some(_) => Ok(()),
                None => cx.session.refresh(false).await,
            };
            (refreshed, cx.session.registry_with(&call.tool).await)
        };
        // Servers may have to be started first.
        let (refreshed, registry) = tokio::select! {
            biased;
            looked_up = looked_up => looked_up,
            () = cx.cancel.cancelled() => return (None, Err(Fault::Cancelled)),
        };
        let stand_in = call.stand_in.take();
        let tool = stand_in.as_deref().or_else(|| registry.get(&call.tool).map(AsRef::as_ref));
        let prepared = match (refreshed, tool) {
            (Err(outdated), Some(tool)) if tool.is_of_file() => PreparedCall::outdated(&call, &outdated),
            (_, tool) => prepare(cx, &mut call, tool, &registry),
        };
        let n_obstacles = cx.session.device.n_obstacles();
        let mut opened = OpenedCall::new(cx, call, tool, &prepared);
        // Of the calls of a step itself; those beneath act within them.
        let trace = if cx.frame().is_none() { cx.session.trace() } else { None };
        if let Some(trace) = &trace {
            trace.see(&opened.id, Moment::Before).await;
        }
        let answer = match (prepared.verdict, tool) {
            (Ok(mut args), Some(tool)) => carry_out(&opened.cx, &registry, tool, &prepared.authored, &mut args).await,
            (Ok(_), None) => unreachable!("only a call of a known tool is ready"),
            (Err(stop), _) => Err(stop),
        };
        let answer = match answer {
            Ok(outcome) | Err(Stop::Failed(outcome)) => {
                let in_the_way = match outcome.is_error() {
                    true => cx.session.device.obstacles_since(&opened.cx, n_obstacles),
                    false => Vec::new(),
                };
                Ok(with_causes(*outcome, &prepared.unknown, &in_the_way))
            }
            Err(Stop::Fault(fault)) => Err(*fault),
        };
        let answer = answer.map(|outcome| opened.unless_cut_off(outcome));
        opened.end_callbacks().await;
        if let Some(trace) = &trace {
            match &answer {
                Ok(outcome) if !outcome.is_error() => trace.pass(&opened.id),
                _ => trace.see(&opened.id, Moment::Failure).await,
            }
        }
        (Some(opened.id.clone()), opened.close(answer))
    })
}

/// The checked arguments of a call.
struct PreparedCall {
    /// Typed, with unresolved templates.
    authored: Arc<Map<String, Value>>,
    /// The resolved private copy to run with, or why the call is refused.
    verdict: Result<Args, Stop>,
    /// Templates that refer to unknown names.
    unknown: Vec<UnknownTemplate>,
}

impl PreparedCall {
    /// The tool's file changed, and what it says now cannot be used.
    fn outdated(call: &Call, why: &ReloadError) -> PreparedCall {
        let text = format!("the project's files changed, and `{}` cannot be used: {why}", call.tool);
        PreparedCall { authored: Arc::new(call.args.loose()), verdict: Err(Stop::failed(text)), unknown: Vec::new() }
    }

    fn refused(authored: Map<String, Value>, fault: Fault) -> PreparedCall {
        PreparedCall { authored: Arc::new(authored), verdict: Err(fault.into()), unknown: Vec::new() }
    }
}

fn prepare(cx: &Cx, call: &mut Call, tool: Option<&Tool>, registry: &Registry) -> PreparedCall {
    let Some(tool) = tool else {
        // The tool may belong to a server that is unavailable; report that instead.
        let fault = match registry.absent.first() {
            Some(absent) => absent.clone().into(),
            None => Fault::UnknownTool { missing: registry.explain_missing(&call.tool), place: call.place() },
        };
        return PreparedCall::refused(call.args.loose(), fault);
    };
    let authored = match call.args.take_typed(tool) {
        Ok(mut authored) => {
            authored.values_mut().for_each(|value| cx.session.secrets.defuse_value(value));
            authored
        }
        Err(fault) => return PreparedCall::refused(call.args.loose(), fault),
    };
    let mut unknown = Vec::new();
    let verdict = refuse(cx, call, tool, &authored).and_then(|()| {
        let resolved = cx.attempt.memory().resolve(&authored, tool.schema.json(), &cx.session.secrets);
        let mut resolved = resolved.map_err(|unknown| {
            Stop::from(Fault::BadTemplate { tool: tool.name.clone(), message: unknown.to_string() })
        })?;
        for why in &resolved.to_warn_of {
            let place = call.place_of(&why.token).map(|place| format!(" ({place})")).unwrap_or_default();
            cx.doubt(format!("{why}; it is left unchanged{place}"));
        }
        unknown = std::mem::take(&mut resolved.unknown);
        if !matches!(tool.body, Body::Foreign(_)) {
            tool.schema.omit_nulls(&mut resolved.args);
        }
        if let Body::BuiltIn(_) | Body::Code(_) = tool.body {
            tool.schema.fill_defaults(&mut resolved.args);
        }
        // Texts that contain secrets are not checked, so that errors cannot reveal them.
        let is_placeholder = |text: &str| cx.session.secrets.is_sealed_in(text);
        let args = tool.schema.check_except(resolved.args, is_placeholder).map_err(|mut invalid| {
            invalid.wrong.extend(unknown.iter().map(ToString::to_string));
            Stop::from(Fault::BadArguments { tool: tool.name.clone(), invalid, place: call.place() })
        })?;
        Ok(Args(args))
    });
    PreparedCall { authored: Arc::new(authored), verdict, unknown }
}

/// Appends to the message of a failed call what is likely to have caused it: unknown templates, and what is in the way of the app.
fn with_causes(mut outcome: Outcome, unknown: &[UnknownTemplate], obstacles: &[String]) -> Outcome {
    if outcome.is_error() {
        let unknown = unknown.iter().map(|template| ("; ", template.to_string()));
        for (separator, text) in unknown.chain(obstacles.iter().map(|text| ("\n", text.clone()))) {
            // A call beneath this one may have appended it already.
            if !outcome.text.contains(&text) {
                outcome.text = format!("{}{separator}{text}", outcome.text);
            }
        }
    }
    outcome
}

/// Refuses calls that are nested too deeply, too many, cyclic, or made by a delegating tool.
fn refuse(cx: &Cx, call: &Call, tool: &Tool, authored: &Map<String, Value>) -> Result<(), Stop> {
    if cx.depth() >= limits::CALL_DEPTH {
        let chain: Vec<&str> = cx.frames().map(|frame| frame.called.tool.as_str()).collect();
        let text = format!("calls nest deeper than {}: {} ← {}", limits::CALL_DEPTH, call.tool, chain.join(" ← "));
        return Err(Stop::failed(text));
    }
    if let Some(frame) = cx.frames().last()
        && frame.count() > limits::CALLS_PER_ROOT
    {
        let text = format!("`{}` made more than {} calls", frame.called.tool, limits::CALLS_PER_ROOT);
        return Err(Stop::failed(text));
    }
    let is_part_of_parent = matches!(call.origin, CallOrigin::Delegate | CallOrigin::Expansion);
    let is_same = |called: &Called| called.tool == call.tool && *called.args == *authored;
    if is_part_of_parent && cx.frames().any(|frame| is_same(&frame.called)) {
        let mut chain: Vec<&str> = cx.frames().map(|frame| frame.called.tool.as_str()).collect();
        chain.reverse();
        let start = chain.iter().position(|name| *name == call.tool).unwrap_or_default();
        let text = format!("a cycle of calls: {} → {}", chain[start..].join(" → "), call.tool);
        return Err(Stop::failed(text));
    }
    if let (ToolKind::Action, Some(above)) = (tool.kind, delegating_ancestor(cx, call.origin)) {
        let text = format!(
            "`{}` is a delegating tool and may not act by itself; return `{}` as a delegate instead",
            above.tool, call.tool
        );
        return Err(Stop::failed(text));
    }
    Ok(())
}

/// The delegating tool whose code makes this call, directly or through other tools.
fn delegating_ancestor(cx: &Cx, origin: CallOrigin) -> Option<&Called> {
    let mut origin = origin;
    for above in cx.frames().map(|frame| &*frame.called) {
        if matches!(origin, CallOrigin::Delegate | CallOrigin::Step) {
            return None;
        }
        if above.is_delegating {
            return Some(above);
        }
        origin = above.origin;
    }
    None
}

impl Arguments {
    /// Types the arguments by the tool's schema. Already typed ones are moved out.
    fn take_typed(&mut self, tool: &Tool) -> Result<Map<String, Value>, Fault> {
        let call = match self {
            Arguments::Json(map) => return Ok(std::mem::take(map)),
            Arguments::Written(call) => call,
        };
        let mut problems = Problems::new(&call.source);
        match to_json(&call.args, tool.schema.json(), &mut problems) {
            Some(Value::Object(map)) => Ok(map),
            _ => Err(Fault::BadFile(problems.into_vec())),
        }
    }

    /// Types the arguments as well as possible without a schema: for display, not for running.
    fn loose(&self) -> Map<String, Value> {
        match self {
            Arguments::Json(map) => map.clone(),
            Arguments::Written(call) => match loose(&call.args) {
                Value::Object(map) => map,
                _ => Map::new(),
            },
        }
    }
}

/// A call in flight. Emits `called` when it opens and `answered` when it closes, even if its future is dropped.
struct OpenedCall {
    cx: Cx,
    id: CallId,
    started: Instant,
    is_closed: bool,
    registered: Option<crate::engine::invocations::Open>,
    /// Cancels the callbacks of a server tool.
    callbacks: Option<DropGuard>,
}

impl OpenedCall {
    fn new(cx: &Cx, call: Call, tool: Option<&Tool>, prepared: &PreparedCall) -> OpenedCall {
        let id = ids::call();
        cx.renew();
        let source = tool.and_then(Tool::source);
        // The calls that code outside the engine makes end with its own.
        let (cancel, idle) = match tool.map(|tool| &tool.body) {
            Some(Body::Foreign(source)) => (Some(cx.cancel.child_token()), source.call_idle()),
            Some(Body::Code(code)) => (Some(cx.cancel.child_token()), code.call_idle()),
            _ => (None, None),
        };
        let idle = idle.unwrap_or(limits::CALL_IDLE);
        let may_sample = match tool.map(|tool| &tool.body) {
            Some(Body::Foreign(source)) => source.may_sample(),
            Some(Body::Code(code)) => code.may_sample(),
            _ => false,
        };
        let called = Called {
            place: call.position(),
            call: id.clone(),
            parent: cx.parent(),
            session: cx.session.id.clone(),
            attempt: cx.attempt.id.clone(),
            tool: call.tool,
            args: Arc::clone(&prepared.authored),
            origin: call.origin,
            kind: tool.map_or(ToolKind::Meta, |tool| tool.kind),
            is_recordable: tool.is_some_and(|tool| tool.is_recordable),
            is_always_recorded: tool.is_some_and(|tool| tool.is_always_recorded),
            is_delegating: tool.is_some_and(|tool| tool.is_delegating),
            is_custom: tool.is_some_and(Tool::is_custom),
            result_name: call.result_name,
            is_soft: call.is_soft,
            is_condition: call.is_condition,
            source: tool.map_or_else(|| Arc::from("unknown"), |tool| Arc::clone(&tool.contributor.label)),
        };
        tracing::debug!(target: "trailblaze::call", tool = called.tool, depth = cx.depth() + 1, "called");
        let started = Instant::now();
        let deadline = Deadline::new(started, idle, limits::CALL_TOTAL.max(idle));
        let code = CodeOutside { source: source.cloned(), may_sample };
        let beneath = cx.beneath(cancel.clone(), code, called, deadline, call.expects);
        let registered = cx.session.invocations.open(&beneath);
        // For a server tool, `called` is emitted once the request is sent: see `call_source`.
        if source.is_none() || prepared.verdict.is_err() {
            beneath.emit_called();
        }
        let callbacks = cancel.map(CancellationToken::drop_guard);
        OpenedCall { cx: beneath, id, started, is_closed: false, registered, callbacks }
    }

    /// Fails a call whose code answered while actions or assertions that it started were still in flight: they are about to be
    /// cancelled, so that they may not have happened.
    fn unless_cut_off(&self, outcome: Outcome) -> Outcome {
        let unfinished = match &self.callbacks {
            Some(_) if !outcome.is_error() => self.cx.session.invocations.unfinished_beneath(&self.id),
            _ => Vec::new(),
        };
        let (Some(cut_off), Some(frame)) = (unfinished.first(), self.cx.frame()) else { return outcome };
        let tool = &frame.called.tool;
        let text =
            format!("`{tool}` answered before its call of `{cut_off}` had ended, which cut it off; wait for the call");
        let Outcome { structured, attachments, .. } = outcome;
        Outcome { structured, attachments, ..Outcome::failed(text) }
    }

    /// Cancels callbacks that are still in flight and waits for them, so that they are recorded before this call ends.
    async fn end_callbacks(&mut self) {
        self.registered = None;
        if self.callbacks.take().is_some()
            && let Some(frame) = self.cx.frame().filter(|frame| frame.beneath.is_any())
        {
            let _ = tokio::time::timeout(limits::CANCEL_GRACE * 5, frame.beneath.none()).await;
        }
    }

    fn close(mut self, answer: Result<Outcome, Fault>) -> Result<Outcome, Fault> {
        let session = &self.cx.session;
        let answer = answer.map(|mut outcome| {
            session.secrets.redact_outcome(&mut outcome);
            self.stored(outcome)
        });
        let answer = answer.map_err(|fault| fault.redacted(&session.secrets));
        self.is_closed = true;
        // The calls above were silent while they waited for this one.
        self.cx.frame().iter().for_each(|frame| frame.above.renew());
        self.emit_answered(match &answer {
            Ok(outcome) => CallResult::Outcome(Box::new(outcome.clone())),
            Err(fault) => CallResult::from(fault),
        });
        answer
    }

    fn emit_answered(&self, answer: CallResult) {
        let micros = u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX);
        tracing::debug!(target: "trailblaze::call", tool = self.cx.frame().map(|frame| frame.called.tool.as_str()), micros, "answered");
        self.cx.emit(Event::Answered { call: self.id.clone(), micros, answer });
    }

    fn stored(&self, mut outcome: Outcome) -> Outcome {
        let store = |attachment: &mut Attachment| {
            if attachment.file.is_none() {
                attachment.file = Some(self.cx.session.artifacts.keep(ArtifactKind::Attachment, attachment));
            }
        };
        outcome.attachments.iter_mut().for_each(store);
        outcome
    }
}

impl Drop for OpenedCall {
    fn drop(&mut self) {
        if !self.is_closed {
            self.emit_answered(CallResult::from(&Fault::Cancelled));
        }
    }
}

async fn carry_out(
    cx: &Cx,
    registry: &Registry,
    tool: &Tool,
    authored: &Map<String, Value>,
    args: &mut Args,
) -> Result<Box<Outcome>, Stop> {
    let run = AssertUnwindSafe(run(cx, registry, tool, authored, args)).catch_unwind();
    let mut give_up = give_up(cx, tool);
    let mut outcome = tokio::select! {
        biased;
        done = run => match done {
            Ok(outcome) => Box::new(outcome?),
            Err(panic) => {
                let message = panic_message(&*panic);
                return Err(Fault::Bug { tool: tool.name.clone(), message }.into());
            }
        },
        reason = &mut give_up => return Err(reason.stop(cx, tool).await),
    };
    // If this call was cancelled and its grace period is over, a late result does not count.
    if let Some(reason) = cx.cancel.is_cancelled().then(|| give_up.as_mut().now_or_never()).flatten() {
        return Err(reason.stop(cx, tool).await);
    }
    if outcome.is_error() {
        return Ok(outcome);
    }
    if let Some(mistake) = cx.mistake() {
        return Err(Stop::failed(mistake));
    }
    add_result(cx, tool, &mut outcome);
    remember(cx, tool, &mut outcome)?;
    if outcome.delegates.is_empty() {
        return Ok(outcome);
    }
    // Boxed to keep the future of a call without delegates small.
    Box::pin(follow_delegates(cx, *outcome)).await.map(Box::new)
}

/// Adds what `as:` asks for to the memory changes of a call: its structured result, otherwise its text. Recorded effects contain the
/// change already.
fn add_result(cx: &Cx, tool: &Tool, outcome: &mut Outcome) {
    let name = cx.frame().and_then(|frame| frame.called.result_name.clone());
    if let Some(name) = name.filter(|_| !matches!(tool.body, Body::Effects(_))) {
        let result = match outcome.structured.clone() {
            // Libraries for Python wrap a result that is no object this way.
            Some(Value::Object(mut wrapped)) if wrapped.len() == 1 && wrapped.contains_key("result") => {
                wrapped.remove("result").unwrap_or_default()
            }
            Some(structured) => structured,
            None => outcome.text.clone().into(),
        };
        outcome.memory.set.insert(name, result);
    }
}

/// Applies the memory changes of a call. Secrets in memory and delegates are replaced by placeholders, because they may
/// have been read from the screen. A value that was made from a template keeps its seal, so that it can still be typed.
fn remember(cx: &Cx, tool: &Tool, outcome: &mut Outcome) -> Result<(), Stop> {
    let secrets = &cx.session.secrets;
    let own = Memory::take_own(&mut outcome.memory, secrets);
    if let Some(first) = own.first() {
        let others = if own.len() > 1 { format!(" (and {} more)", own.len() - 1) } else { String::new() };
        let text = format!("`{first}`{others} was not changed in memory: the name is reserved");
        return Err(Stop::failed(text));
    }
    // Code outside of the engine gets no seals, so one that it returns was not made from a template.
    let may_hold_seals = !matches!(tool.body, Body::Foreign(_) | Body::Code(_));
    let is_sealed = |value: &Value| may_hold_seals && value.as_str().is_some_and(|text| secrets.is_sealed_in(text));
    let sealed = outcome.memory.set.iter().filter(|(_, value)| is_sealed(value));
    let sealed: Vec<(String, Value)> =
        sealed.map(|(name, value)| (secrets.redact(name).into_owned(), value.clone())).collect();
    secrets.redact_requests(outcome);
    if !outcome.memory.is_empty() {
        let mut changes = outcome.memory.clone();
        changes.set.extend(sealed);
        cx.attempt.memory().apply(&changes);
    }
    Ok(())
}

async fn run(
    cx: &Cx,
    registry: &Registry,
    tool: &Tool,
    authored: &Map<String, Value>,
    args: &mut Args,
) -> Result<Outcome, Stop> {
    withhold(cx, tool, args)?;
    match &tool.body {
        Body::BuiltIn(built_in) => built_in(cx, args).await,
        Body::Foreign(source) => Ok(judged(cx, tool, call_source(cx, source.as_ref(), tool, args).await?)),
        Body::Code(code) => {
            cx.session.secrets.share_map(&mut args.0, &[]);
            Ok(judged(cx, tool, code.call(cx, &args.0).await?))
        }
        // Boxed to keep the futures of built-in tools small.
        Body::Expansion(calls) => Box::pin(expand(cx, registry, tool, calls, authored.clone())).await,
        Body::Effects(effects) => Box::pin(play(cx, tool, effects)).await,
    }
}

/// With strict results, a tool that says `success: false` has failed.
fn judged(cx: &Cx, tool: &Tool, outcome: Outcome) -> Outcome {
    if !outcome.says_it_failed() {
        return outcome;
    }
    if !cx.session.strictness.results {
        cx.session.strictness.let_pass("results");
        return outcome;
    }
    let said = match (&outcome.structured, outcome.text.trim()) {
        (Some(value), "") => value.to_string(),
        (_, text) => text.to_string(),
    };
    let text = format!("`{}` answered `success: false`: {said}", tool.name);
    let Outcome { structured, attachments, .. } = outcome;
    Outcome { structured, attachments, ..Outcome::failed(text) }
}

/// Calls a server tool. Secrets stay templates, which are resolved in callbacks, unless the server may have the value.
async fn call_source(cx: &Cx, source: &dyn ToolSource, tool: &Tool, args: &mut Args) -> Result<Outcome, Stop> {
    cx.session.secrets.share_map(&mut args.0, source.secrets());
    let mut call = source.call(cx, &tool.name, &args.0);
    let answer = poll_fn(|task| {
        let polled = call.as_mut().poll(task);
        // The request has been sent by now.
        cx.emit_called();
        polled
    });
    Ok(answer.await?)
}

/// Makes the calls that a tool returned as delegates, in order; the first failure fails the call.
async fn follow_delegates(cx: &Cx, outcome: Outcome) -> Result<Outcome, Stop> {
    if outcome.delegates.len() > limits::DELEGATES {
        let text =
            format!("the answer contains {} delegates; the limit is {}", outcome.delegates.len(), limits::DELEGATES);
        return Err(Stop::failed(text));
    }
    for delegate in &outcome.delegates {
        let args = Arguments::Json(delegate.args.clone());
        let answer = match dispatch(cx, Call::new(&delegate.tool, args, CallOrigin::Delegate)).await {
            Ok(answer) => answer,
            // A delegate that does not exist is a mistake of the tool that returned it, not of the trail.
            Err(fault @ (Fault::UnknownTool { .. } | Fault::BadArguments { .. })) => Outcome::failed(fault.to_string()),
            Err(fault) => return Err(fault.into()),
        };
        if answer.is_error() {
            let text = format!("its delegate `{}` failed: {}", delegate.tool, answer.text);
            return Ok(Outcome { variant: answer.variant, text, structured: answer.structured, ..outcome });
        }
    }
    Ok(outcome)
}

/// Makes the calls of a YAML tool. Parameters are inserted as authored, including templates, so that memory is looked up
/// only once, by the call that uses it.
async fn expand(
    cx: &Cx,
    registry: &Registry,
    tool: &Tool,
    calls: &[ToolCall],
    given: Map<String, Value>,
) -> Result<Outcome, Stop> {
    let mut params = given;
    tool.schema.fill_defaults(&mut params);
    let is_param = |name: &str| tool.schema.property_names().any(|param| param == name);
    let (mut text, mut structured) = (String::new(), None);
    let mut soft: Option<Outcome> = None;
    for call in calls {
        let args = match registry.get(&call.tool.value) {
            Some(inner) => Arguments::Written(call.clone()).take_typed(inner)?,
            None => Arguments::Written(call.clone()).loose(),
        };
        let mut fill = |token: &Token<'_>| -> Result<Replacement, Stop> {
            let name = token.path.strip_prefix("params.").unwrap_or(token.path);
            // A part of a list or of a mapping: `lines.0.text`.
            let whole = name.split('.').next().unwrap_or(name);
            Ok(match part_of(&params, name).filter(|value| !value.is_null()) {
                _ if !token.is_curly || !(is_param(name) || is_param(whole)) => Replacement::Keep,
                Some(value) => Replacement::Value(value.clone()),
                None => Replacement::Nothing,
            })
        };
        let args = Arguments::Json(template::fill_map(&args, &mut fill)?);
        let result_name = call.result_name().map(str::to_string);
        let call_beneath =
            Call { result_name, is_soft: call.is_soft, ..Call::new(&call.tool.value, args, CallOrigin::Expansion) };
        let place = tool.is_custom().then(|| call.place());
        let answer = dispatch(cx, call_beneath).await.map_err(|fault| fault.placed(place.as_deref()))?;
        if answer.is_error() {
            let name = &call.tool.value;
            let place = place.map(|place| format!(" ({place})")).unwrap_or_default();
            let text = format!("its call to `{name}`{place} failed: {}", answer.text);
            let failed = Outcome { variant: answer.variant, text, structured: answer.structured, ..Outcome::default() };
            let failed = match soft.take() {
                Some(before) => Outcome { text: format!("{}\n{}", before.text, failed.text), ..before },
                None => failed,
            };
            if !call.is_soft || failed.variant == Variant::FatalError {
                return Ok(failed);
            }
            soft = Some(failed);
            continue;
        }
        if !answer.text.is_empty() {
            text = answer.text;
        }
        // What a built-in tool returns for programs, such as a whole screen, is not the result of this one.
        let is_custom = registry.get(&call.tool.value).is_some_and(|tool| tool.is_custom());
        structured = answer.structured.filter(|_| is_custom);
    }
    Ok(soft.unwrap_or(Outcome { structured, ..Outcome::success(text) }))
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_string())
}
