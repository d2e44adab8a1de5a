//! The context of a call: session, attempt, parent, deadline and cancellation.

use std::collections::{BTreeSet, HashMap};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::{MappedMutexGuard, Mutex, MutexGuard};
use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_protocol::event::{CallOrigin, Called, Event, Level};
use trailblaze_protocol::ids::{AttemptId, CallId, Parent, SessionId, StepId};
use trailblaze_protocol::outcome::Outcome;

use crate::driver::Budget;
use crate::engine::ask::ModelAccess;
use crate::engine::count::Count;
use crate::engine::dispatch::{Arguments, Call, ExpectedName, dispatch};
use crate::engine::fault::Fault;
use crate::engine::quota::SamplingQuota;
use crate::engine::session::Session;
use crate::engine::source::ToolSource;
use crate::limits;
use crate::values::memory::Memory;

/// Shared handle to a call's context; cloning is cheap.
#[derive(Clone)]
pub struct Cx(Arc<CallScope>);

/// The context of one call, or of a step's own calls.
pub struct CallScope {
    pub session: Arc<Session>,
    pub attempt: Arc<Attempt>,
    pub cancel: CancellationToken,
    step: StepId,
    /// The call that this context belongs to; `None` for a step.
    frame: Option<CallFrame>,
}

impl Deref for Cx {
    type Target = CallScope;

    fn deref(&self) -> &CallScope {
        &self.0
    }
}

/// One try of one trail. Owns the memory.
pub struct Attempt {
    pub id: AttemptId,
    /// The trail's file, relative to the project's folder, or empty.
    trail: String,
    memory: Mutex<Memory>,
    model: Option<Arc<ModelAccess>>,
    /// The roles of its devices, by session; empty if it has one device.
    roles: HashMap<SessionId, String>,
    /// Which pages models may act on, by session.
    pages: Arc<Mutex<HashMap<SessionId, Pages>>>,
    /// What failed after the call that had started it.
    failed_late: Arc<Mutex<Option<String>>>,
}

/// The origins of pages that the test itself has opened, and where a model was last.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    pub trusted: BTreeSet<String>,
    pub left_at: Option<String>,
    /// The origins that a secret may be typed into, while a model makes a call; `None` for calls of the test itself.
    pub secrets_go_to: Option<BTreeSet<String>>,
}

/// A call in flight, and the calls above it.
pub(crate) struct CallFrame {
    pub called: Arc<Called>,
    /// Whether `called` was emitted.
    is_emitted: Mutex<bool>,
    /// The source that it was handed to, which may call back.
    pub source: Option<Arc<dyn ToolSource>>,
    /// What its code may still ask of a model; `None` if it may ask nothing.
    pub sampling: Option<SamplingQuota>,
    pub depth: usize,
    pub deadline: Deadline,
    /// The name that its element should have.
    pub expects: Option<ExpectedName>,
    /// The context that made the call.
    pub above: Cx,
    /// How many calls were made beneath this one. Only counted for top-level calls.
    n_calls: AtomicUsize,
    /// The calls beneath this one that are in flight.
    pub beneath: Count,
    /// A mistake of the tool's code that it cannot notice itself: it fails the call, whatever the tool answers.
    mistake: Mutex<Option<String>>,
}

/// What is known about the code of a tool that is not part of the engine.
#[derive(Default)]
pub(crate) struct CodeOutside {
    /// The source that the call is handed to.
    pub source: Option<Arc<dyn ToolSource>>,
    /// Whether it may make requests to a model.
    pub may_sample: bool,
}

/// Counts a call as in flight beneath its parent until dropped.
pub(crate) struct Entered(Cx);

impl Drop for Entered {
    fn drop(&mut self) {
        self.0.frame.iter().for_each(|frame| frame.beneath.end());
    }
}

impl Attempt {
    /// `trail` is the path of the trail's file relative to the project's folder, or empty.
    pub fn new(id: AttemptId, memory: Memory, trail: &str) -> Arc<Attempt> {
        Attempt::with_model(id, memory, trail, None)
    }

    /// The same with a model, which steps without a recording need.
    pub fn with_model(id: AttemptId, memory: Memory, trail: &str, model: Option<Arc<ModelAccess>>) -> Arc<Attempt> {
        Attempt::with_roles(id, memory, trail, model, HashMap::new())
    }

    /// The same on several devices, whose roles are given by session.
    pub fn with_roles(
        id: AttemptId,
        memory: Memory,
        trail: &str,
        model: Option<Arc<ModelAccess>>,
        roles: HashMap<SessionId, String>,
    ) -> Arc<Attempt> {
        let trail = trail.to_string();
        let (memory, pages, failed_late) = (Mutex::new(memory), Arc::default(), Arc::default());
        Arc::new(Attempt { id, trail, memory, model, roles, pages, failed_late })
    }

    /// The trail's file, relative to the project's folder; empty if the calls are of no trail.
    pub fn trail(&self) -> &str {
        &self.trail
    }

    /// The trail's folder, relative to the project's.
    fn folder(&self) -> &str {
        self.trail.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// The same attempt with a copy of its memory, for steps that run at the same time as others.
    pub(crate) fn with_own_memory(&self) -> Arc<Attempt> {
        Arc::new(Attempt {
            id: self.id.clone(),
            trail: self.trail.clone(),
            memory: Mutex::new(self.memory().clone()),
            model: self.model.clone(),
            roles: self.roles.clone(),
            pages: Arc::clone(&self.pages),
            failed_late: Arc::clone(&self.failed_late),
        })
    }

    pub fn model(&self) -> Option<&Arc<ModelAccess>> {
        self.model.as_ref()
    }

    pub fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock()
    }

    /// Something has failed that a tool had started, after the tool had returned: the attempt must not pass. The first reason counts.
    pub(crate) fn fail_late(&self, text: String) {
        self.failed_late.lock().get_or_insert(text);
    }

    /// What has failed after the call that had started it, since this was last asked.
    pub(crate) fn take_failed_late(&self) -> Option<String> {
        self.failed_late.lock().take()
    }
}

impl Cx {
    /// The context of a step's own calls.
    pub fn for_step(session: &Arc<Session>, attempt: &Arc<Attempt>, step: StepId, cancel: CancellationToken) -> Cx {
        let (session, attempt) = (Arc::clone(session), Arc::clone(attempt));
        Cx(Arc::new(CallScope { session, attempt, cancel, step, frame: None }))
    }

    /// The context of a call beneath this one. `cancel` replaces the parent's cancellation token if given.
    pub(crate) fn beneath(
        &self,
        cancel: Option<CancellationToken>,
        code: CodeOutside,
        called: Called,
        deadline: Deadline,
        expects: Option<ExpectedName>,
    ) -> Cx {
        let frame = CallFrame {
            called: Arc::new(called),
            is_emitted: Mutex::default(),
            source: code.source,
            sampling: code.may_sample.then(SamplingQuota::default),
            depth: self.depth() + 1,
            deadline,
            expects,
            above: self.clone(),
            n_calls: AtomicUsize::new(0),
            beneath: Count::default(),
            mistake: Mutex::default(),
        };
        Cx(Arc::new(CallScope {
            session: Arc::clone(&self.session),
            attempt: Arc::clone(&self.attempt),
            cancel: cancel.unwrap_or_else(|| self.cancel.clone()),
            step: self.step.clone(),
            frame: Some(frame),
        }))
    }

    /// Counts a call beneath this one as in flight, whether or not it will be allowed.
    pub(crate) fn enter(&self) -> Option<Entered> {
        self.frame.as_ref()?.beneath.begin();
        Some(Entered(self.clone()))
    }

    /// Resolves the path of a file that a call names, relative to the trail's folder.
    pub fn resolve_path(&self, path: &str) -> String {
        if path.starts_with('/') {
            return path.to_string();
        }
        let parts = [self.session.home.as_str(), self.attempt.folder(), path];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
    }

    pub fn parent(&self) -> Parent {
        match &self.frame {
            Some(frame) => Parent::Call(frame.called.call.clone()),
            None => Parent::Step(self.step.clone()),
        }
    }

    /// The role of the device that the call is made on; `None` if the trail runs on one device.
    pub fn role(&self) -> Option<&str> {
        self.attempt.roles.get(&self.session.id).map(String::as_str)
    }

    /// Which pages models may act on, on this device.
    pub(crate) fn pages(&self) -> MappedMutexGuard<'_, Pages> {
        MutexGuard::map(self.attempt.pages.lock(), |pages| pages.entry(self.session.id.clone()).or_default())
    }

    pub fn step(&self) -> &StepId {
        &self.step
    }

    /// The authored arguments of the call that this context belongs to.
    pub(crate) fn authored(&self) -> Map<String, Value> {
        self.frame.as_ref().map(|frame| Map::clone(&frame.called.args)).unwrap_or_default()
    }

    /// The id of the call that this context belongs to.
    pub fn call_id(&self) -> Option<&CallId> {
        self.frame.as_ref().map(|frame| &frame.called.call)
    }

    /// The nesting depth of this call; 0 for a step.
    pub fn depth(&self) -> usize {
        self.frame.as_ref().map_or(0, |frame| frame.depth)
    }

    /// The call that this context belongs to; `None` for a step.
    pub(crate) fn frame(&self) -> Option<&CallFrame> {
        self.frame.as_ref()
    }

    /// This call and the calls above it, innermost first.
    pub(crate) fn frames(&self) -> impl Iterator<Item = &CallFrame> {
        std::iter::successors(self.frame(), |frame| frame.above.frame())
    }

    /// The innermost of these calls, if they form a single chain, in which each is nested in the previous one.
    pub fn innermost<'a>(calls: impl IntoIterator<Item = &'a Cx>) -> Option<&'a Cx> {
        let mut calls: Vec<&Cx> = calls.into_iter().collect();
        calls.sort_by_key(|cx| std::cmp::Reverse(cx.depth()));
        let innermost = *calls.first()?;
        let above: Vec<&CallId> = innermost.frames().map(|frame| &frame.called.call).collect();
        calls.iter().all(|cx| cx.call_id().is_some_and(|id| above.contains(&id))).then_some(innermost)
    }

    /// Fails the call that this context belongs to, whatever its tool answers. The first reason counts.
    pub fn report_mistake(&self, text: impl Into<String>) {
        if let Some(frame) = &self.frame {
            frame.mistake.lock().get_or_insert_with(|| text.into());
        }
    }

    /// Why the call that this context belongs to has failed, whatever its tool answers.
    pub(crate) fn mistake(&self) -> Option<String> {
        self.frame.as_ref().and_then(|frame| frame.mistake.lock().clone())
    }

    /// Makes a call from within a tool.
    pub async fn call(&self, tool: &str, args: Map<String, Value>) -> Result<Outcome, Fault> {
        dispatch(self, Call::new(tool, Arguments::Json(args), CallOrigin::Callback)).await
    }

    /// Makes a call that is part of the tool's definition, as the calls of a YAML tool are.
    pub async fn expand(&self, tool: &str, args: Map<String, Value>) -> Result<Outcome, Fault> {
        dispatch(self, Call::new(tool, Arguments::Json(args), CallOrigin::Expansion)).await
    }

    /// How long a driver command may take within this call.
    pub fn budget(&self) -> Budget {
        self.budget_after(Duration::ZERO)
    }

    /// The same for a command in which the driver waits for up to `wait`.
    pub fn budget_waiting(&self, wait: Duration) -> Budget {
        Budget { wait: Some(wait), ..self.budget_after(wait) }
    }

    fn budget_after(&self, wait: Duration) -> Budget {
        let most = Instant::now() + wait + limits::DRIVER_COMMAND;
        let deadline = self.frame.as_ref().map_or(most, |frame| frame.deadline.at().min(most));
        Budget::new(deadline, self.cancel.clone())
    }

    /// Reports activity: restarts the idle deadline of this call and of the calls above it.
    pub fn renew(&self) {
        self.frames().for_each(|frame| frame.deadline.renew());
    }

    /// Emits a note about this call.
    pub fn note(&self, level: Level, text: impl Into<String>) {
        self.emit(Event::note(Some(self.parent()), level, text));
    }

    /// Emits a warning about this call: that the trail may pass and yet not have tested what it says.
    pub fn doubt(&self, text: impl Into<String>) {
        self.emit(Event::doubt(Some(self.parent()), text));
    }

    /// Reports progress: emits a note and restarts the idle deadlines.
    pub fn progress(&self, text: impl Into<String>) {
        self.renew();
        self.note(Level::Info, text);
    }

    pub fn emit(&self, event: Event) {
        self.emit_called();
        self.session.emit(event);
    }

    /// Emits `called` for this call, unless that has happened. It precedes every other event of the call. Tool sources call
    /// it after sending a request, so that writing the event overlaps with the work of the server.
    pub fn emit_called(&self) {
        let Some(frame) = &self.frame else { return };
        let mut is_emitted = frame.is_emitted.lock();
        if !*is_emitted {
            frame.above.emit_called();
            // Emitted while the lock is held, so that no other event of the call can come first.
            self.session.emit(Event::Called(Arc::clone(&frame.called)));
            *is_emitted = true;
        }
    }
}

/// When a call times out: after `idle` without activity, and at `hard` in any case.
#[derive(Debug)]
pub(crate) struct Deadline {
    pub idle: Duration,
    until: Mutex<Instant>,
    hard: Instant,
}

impl Deadline {
    pub fn new(now: Instant, idle: Duration, total: Duration) -> Deadline {
        Deadline { idle, until: Mutex::new(now + idle), hard: now + total }
    }

    pub fn at(&self) -> Instant {
        let until = *self.until.lock();
        until.min(self.hard)
    }

    /// Whether the hard limit is reached, which activity cannot extend.
    pub fn is_hard_limit_reached(&self) -> bool {
        Instant::now() >= self.hard
    }

    pub fn renew(&self) {
        *self.until.lock() = Instant::now() + self.idle;
    }

    /// Waits until the call has been silent for a quarter of the time that it may be; false if the hard limit comes first.
    pub async fn is_silent(&self) -> bool {
        loop {
            let at = *self.until.lock() - self.idle / 4 * 3;
            if at <= Instant::now() {
                return true;
            }
            tokio::time::sleep_until(at.min(self.hard)).await;
            if self.is_hard_limit_reached() {
                return false;
            }
        }
    }

    pub async fn expired(&self) {
        loop {
            let at = self.at();
            tokio::time::sleep_until(at).await;
            if self.at() <= Instant::now() {
                return;
            }
        }
    }
}

impl CallFrame {
    /// Counts one more call beneath this one.
    pub fn count(&self) -> usize {
        self.n_calls.fetch_add(1, Ordering::Relaxed) + 1
    }
}
