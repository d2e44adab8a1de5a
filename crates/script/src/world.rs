//! One world: an engine with the modules of one program loaded, which carries out one call at a time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rquickjs::context::EvalOptions;
use rquickjs::runtime::RejectionTracker;
use rquickjs::{Context, Ctx, Exception, Function, Module, Object, Promise, Runtime, TypedArray, Value};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;

use crate::error::{ScriptError, StackFrame, Thrown};
use crate::linked_program::LinkedProgram;
use crate::missing_export;
use crate::program::Program;
use crate::transpile::LOOP_PLACE;

/// How many unhandled rejections are kept.
const UNHANDLED: usize = 100;

const PRELUDE: &str = include_str!("prelude.js");
const SERVING: &str = include_str!("serving.js");
const POLYFILLS: &str = include_str!("polyfills.js");

/// What a script may use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// How long it may compute without waiting for anything.
    pub busy: Duration,
    pub memory_bytes: usize,
    pub stack_bytes: usize,
    /// The size of a result, and of the arguments of a call.
    pub output_bytes: usize,
    /// How many answers it may wait for at a time.
    pub pending: usize,
    pub log_lines: usize,
    /// Whether it may ask for the time.
    pub clock: bool,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            busy: Duration::from_secs(10),
            memory_bytes: 64 << 20,
            stack_bytes: 256 << 10,
            output_bytes: 4 << 20,
            pending: 64,
            log_lines: 1_000,
            clock: false,
        }
    }
}

/// Something that a script asks its host for.
#[derive(Debug, PartialEq, Eq)]
pub struct HostRequest {
    pub id: u32,
    pub operation: String,
    pub payload: String,
}

/// A line that a script logged.
#[derive(Debug, PartialEq, Eq)]
pub struct LogLine {
    pub level: String,
    pub text: String,
}

/// What the script did since it was last asked.
#[derive(Debug, Default)]
pub struct Outbox {
    pub requests: Vec<HostRequest>,
    pub log: Vec<LogLine>,
    /// Its result, or what it threw, as JSON.
    pub finished: Option<(bool, String)>,
    /// The calls of a served tool that ended: their ids, whether each succeeded, and the result as JSON.
    pub answered: Vec<(u32, bool, String)>,
    n_pending: usize,
    n_logged: usize,
    refused: Option<ScriptError>,
    /// What promises were rejected with that nothing has handled.
    unhandled: Vec<Thrown>,
}

/// Stops the script that runs in a world.
#[derive(Debug, Clone, Default)]
pub struct Abort(Arc<AtomicBool>);

impl Abort {
    pub fn abort(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_aborted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What happens next in a world.
pub enum WorldStep {
    /// A call starts, with this input as JSON.
    Call(String),
    /// The host answers requests: their ids, whether each failed, and the answer as JSON.
    Answers(Vec<(u32, bool, String)>),
    /// A request to what is served starts, with this id.
    Begin(u32, String),
    /// Such a request is cancelled. The script may still clean up, and answer.
    Cancel(u32),
}

pub struct World {
    program: Arc<Program>,
    limits: Limits,
    outbox: Arc<Mutex<Outbox>>,
    /// How long the thread may have computed when the script must have stopped.
    until: Arc<Mutex<Option<Duration>>>,
    abort: Abort,
    /// Its user data is an object with the functions of the prelude, and the function of the tool.
    context: Context,
    runtime: Runtime,
}

impl World {
    /// Loads a program. This runs its modules, so it may take as long as the limits allow.
    pub fn new(program: &Arc<Program>, limits: Limits, abort: &Abort) -> Result<World, ScriptError> {
        World::load_with(program, limits, abort, None)
    }

    /// Loads a program that serves tools, with these variables in its environment. It must say what it serves while it is loaded.
    pub fn serving(
        program: &Arc<Program>,
        limits: Limits,
        abort: &Abort,
        variables: &BTreeMap<String, String>,
    ) -> Result<World, ScriptError> {
        let world = World::load_with(program, limits, abort, Some(variables))?;
        let is_serving = world
            .context
            .with(|ctx| -> rquickjs::Result<bool> { functions(&ctx)?.get::<_, Function<'_>>("isServing")?.call(()) });
        if is_serving.map_err(engine)? { Ok(world) } else { Err(ScriptError::ServesNothing) }
    }

    fn load_with(
        program: &Arc<Program>,
        limits: Limits,
        abort: &Abort,
        variables: Option<&BTreeMap<String, String>>,
    ) -> Result<World, ScriptError> {
        let runtime = Runtime::new().map_err(engine)?;
        runtime.set_memory_limit(limits.memory_bytes);
        runtime.set_max_stack_size(limits.stack_bytes);
        let until = Arc::new(Mutex::new(None::<Duration>));
        let (deadline, aborted) = (Arc::clone(&until), abort.clone());
        let is_over = move || aborted.is_aborted() || deadline.lock().is_some_and(|until| computed() >= until);
        runtime.set_interrupt_handler(Some(Box::new(is_over)));
        runtime.set_loader(LinkedProgram(Arc::clone(program)), LinkedProgram(Arc::clone(program)));
        let context = Context::full(&runtime).map_err(engine)?;
        let outbox = Arc::new(Mutex::new(Outbox::default()));
        runtime.set_host_promise_rejection_tracker(Some(track_rejections(&outbox)));
        let prepared = context.with(|ctx| {
            let prepare = || {
                prelude(&ctx, program, &outbox, limits)?;
                variables.map_or(Ok(()), |variables| serving(&ctx, program, &outbox, limits, variables))
            };
            prepare().map_err(|error| caught(&ctx, error))
        });
        prepared?;
        let program = Arc::clone(program);
        let mut world = World { program, limits, outbox, until, abort: abort.clone(), context, runtime };
        world.load()?;
        Ok(world)
    }

    /// Evaluates the modules of the program.
    fn load(&mut self) -> Result<(), ScriptError> {
        self.start_clock();
        let entry = self.program.entry().to_string();
        let loaded = self.context.with(|ctx| {
            let source = self.program.code(&entry).unwrap_or_default();
            let load = || {
                let (module, promise) = Module::declare(ctx.clone(), entry.as_str(), source)?.eval()?;
                let functions = functions(&ctx)?;
                functions.set("module", module.namespace()?)?;
                functions.set("loaded", promise)
            };
            load().map_err(|error: rquickjs::Error| caught(&ctx, error))
        });
        loaded.map_err(|thrown| self.explained(thrown))?;
        self.run_jobs()?;
        let loaded = self.context.with(|ctx| {
            let promise = functions(&ctx).and_then(|functions| functions.get::<_, Promise<'_>>("loaded"));
            match promise.map_err(engine)?.result::<Value<'_>>() {
                Some(Ok(_)) => Ok(()),
                Some(Err(error)) => Err(caught(&ctx, error)),
                None => Err(ScriptError::Stuck { is_loading: true, place: None }),
            }
        });
        loaded.map_err(|error| match self.explained(error) {
            ScriptError::Stuck { is_loading, .. } => self.stuck(is_loading),
            error => error,
        })
    }

    /// The script waits for a promise that nothing can settle.
    pub fn stuck(&self, is_loading: bool) -> ScriptError {
        let stacks = self.context.with(|ctx| {
            let stacks: rquickjs::Result<Vec<String>> =
                functions(&ctx).and_then(|functions| functions.get::<_, Function<'_>>("openAwaits")?.call(()));
            stacks.unwrap_or_default()
        });
        let waiting = stacks.iter().rev().map(|stack| Thrown::new("", "", stack).mapped(&self.program));
        let innermost = waiting.reduce(|newer, older| if older.is_called_from(&newer) { older } else { newer });
        ScriptError::Stuck { is_loading, place: innermost.and_then(|stack| stack.place_and_callers()) }
    }

    /// The place in the author's code of a stack, and what called it.
    pub fn place_of(&self, stack: &serde_json::Value) -> Option<String> {
        place_of(&self.program, stack.as_str()?)
    }

    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Whether the program has a function to call.
    pub fn has_tool(&self) -> bool {
        self.context.with(|ctx| functions(&ctx).and_then(|functions| tool(&functions)).is_ok())
    }

    /// Runs the script until it waits for its host, or is done.
    pub fn advance(&mut self, step: WorldStep) -> Result<Outbox, ScriptError> {
        if matches!(step, WorldStep::Call(_)) && !self.has_tool() {
            return Err(ScriptError::NoFunction { module: self.program.entry().to_string() });
        }
        self.start_clock();
        let advanced = self.context.with(|ctx| {
            let advance = || {
                let functions = functions(&ctx)?;
                match step {
                    WorldStep::Call(input) => {
                        let run: Function<'_> = functions.get("run")?;
                        run.call::<_, ()>((input, tool(&functions)?))
                    }
                    WorldStep::Answers(answers) => {
                        let settle: Function<'_> = functions.get("settle")?;
                        answers.into_iter().try_for_each(|answer| settle.call::<_, ()>(answer))
                    }
                    WorldStep::Begin(id, request) => {
                        functions.get::<_, Function<'_>>("beginServed")?.call((id, request))
                    }
                    WorldStep::Cancel(id) => functions.get::<_, Function<'_>>("cancelServed")?.call((id,)),
                }
            };
            advance().map_err(|error: rquickjs::Error| caught(&ctx, error))
        });
        advanced.map_err(|error| self.explained(error))?;
        self.run_jobs()?;
        let mut outbox = self.outbox.lock();
        if let Some(refused) = outbox.refused.take() {
            return Err(refused);
        }
        Ok(Outbox {
            requests: std::mem::take(&mut outbox.requests),
            log: std::mem::take(&mut outbox.log),
            finished: outbox.finished.take(),
            answered: std::mem::take(&mut outbox.answered),
            ..Outbox::default()
        })
    }

    /// What the script logged and asked for before it was stopped.
    pub fn take_last_output(&mut self) -> Outbox {
        let mut outbox = self.outbox.lock();
        let (requests, log) = (std::mem::take(&mut outbox.requests), std::mem::take(&mut outbox.log));
        Outbox { requests, log, ..Outbox::default() }
    }

    /// Notes that requests were answered, or will not be.
    pub fn answered(&mut self, n_requests: usize) {
        let mut outbox = self.outbox.lock();
        outbox.n_pending = outbox.n_pending.saturating_sub(n_requests);
    }

    /// Lets the script log as many lines again.
    pub fn reset_log(&mut self) {
        self.outbox.lock().n_logged = 0;
    }

    /// What a promise was rejected with that nothing has handled.
    pub fn unhandled(&self) -> Option<Thrown> {
        let thrown = self.outbox.lock().unhandled.first().cloned()?;
        Some(thrown.mapped(&self.program))
    }

    /// Takes what promises were rejected with that nothing has handled.
    pub fn take_unhandled(&mut self) -> Vec<Thrown> {
        let unhandled = std::mem::take(&mut self.outbox.lock().unhandled);
        unhandled.into_iter().map(|thrown| thrown.mapped(&self.program)).collect()
    }

    /// Where the author's code set the timers that have not fired.
    pub fn open_timers(&self) -> Vec<StackFrame> {
        let stacks = self.context.with(|ctx| {
            let open: rquickjs::Result<Vec<String>> =
                functions(&ctx).and_then(|functions| functions.get::<_, Function<'_>>("openTimers")?.call(()));
            open.unwrap_or_default()
        });
        let place = |stack: &String| Thrown::new("", "", stack).mapped(&self.program).own_place().cloned();
        stacks.iter().filter_map(place).collect()
    }

    /// A query that the script made and whose answer it did not wait for, as an error.
    pub fn overlooked(&self) -> Option<Thrown> {
        let found = self.context.with(|ctx| {
            let found: rquickjs::Result<String> =
                functions(&ctx).and_then(|functions| functions.get::<_, Function<'_>>("overlooked")?.call(()));
            found.unwrap_or_default()
        });
        let found: serde_json::Value = serde_json::from_str(&found).ok()?;
        let (tool, stack) = (found["tool"].as_str()?, found["stack"].as_str()?);
        let message =
            format!("the script did not wait for the answer of `{tool}`\nhint: write `await` before the call");
        Some(Thrown::new("", &message, stack).mapped(&self.program))
    }

    /// Prepares for the next call.
    pub fn reset(&mut self) {
        *self.outbox.lock() = Outbox::default();
    }

    fn start_clock(&self) {
        *self.until.lock() = Some(computed() + self.limits.busy);
    }

    fn run_jobs(&mut self) -> Result<(), ScriptError> {
        loop {
            match self.runtime.execute_pending_job() {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                // Only an interrupted job matters; the rejection of a promise is tracked elsewhere.
                Err(_) if self.is_stopped() => return Err(self.stopped()),
                Err(_) => {}
            }
            if self.is_stopped() {
                return Err(self.stopped());
            }
        }
    }

    fn is_stopped(&self) -> bool {
        self.abort.is_aborted() || self.until.lock().is_some_and(|until| computed() >= until)
    }

    /// What stopped the script, and where it was.
    fn stopped(&self) -> ScriptError {
        *self.until.lock() = None;
        let place = self.context.with(|ctx| ctx.eval::<String, _>(LOOP_PLACE)).ok();
        let place = place.and_then(|place| self.program.place(&place));
        if self.abort.is_aborted() {
            return ScriptError::Cancelled;
        }
        ScriptError::Busy { limit: self.limits.busy, place }
    }

    fn explained(&self, error: ScriptError) -> ScriptError {
        if self.is_stopped() {
            return self.stopped();
        }
        match error {
            ScriptError::Thrown(thrown) => self.explained_thrown(*thrown),
            error => error,
        }
    }

    /// What a script threw, with places in its sources.
    pub fn explained_thrown(&self, thrown: Thrown) -> ScriptError {
        if thrown.name == "InternalError" && thrown.message == "out of memory" {
            let place = thrown.mapped(&self.program).place_and_callers();
            return ScriptError::Memory { limit: self.limits.memory_bytes, place };
        }
        let missing = missing_export::explained(&self.program, &thrown);
        ScriptError::Thrown(Box::new(missing.unwrap_or_else(|| thrown.mapped(&self.program))))
    }
}

/// The place in the author's code of a stack of the engine, and what called it.
fn place_of(program: &Program, stack: &str) -> Option<String> {
    Thrown::new("", "", stack).mapped(program).place_and_callers()
}

/// The functions of the prelude.
fn functions<'js>(ctx: &Ctx<'js>) -> rquickjs::Result<Object<'js>> {
    ctx.userdata::<Object<'js>>().map(|functions| functions.clone()).ok_or(rquickjs::Error::Unknown)
}

/// The function that a program exports.
fn tool<'js>(functions: &Object<'js>) -> rquickjs::Result<Function<'js>> {
    functions.get::<_, Object<'js>>("module")?.get("default")
}

fn engine(error: rquickjs::Error) -> ScriptError {
    ScriptError::Engine(error.to_string())
}

fn prelude<'js>(
    ctx: &Ctx<'js>,
    program: &Arc<Program>,
    outbox: &Arc<Mutex<Outbox>>,
    limits: Limits,
) -> rquickjs::Result<()> {
    ctx.eval::<(), _>(format!("let {LOOP_PLACE} = '';"))?;
    let make: Function<'js> = ctx.eval(PRELUDE)?;
    let (posted, logged, done) = (Arc::clone(outbox), Arc::clone(outbox), Arc::clone(outbox));
    let post = Function::new(ctx.clone(), move |ctx: Ctx<'js>, id: u32, operation: String, payload: String| {
        let mut outbox = posted.lock();
        let refusal = if outbox.n_pending >= limits.pending {
            format!("more than {} calls at the same time; await some of them first", limits.pending)
        } else if payload.len() > limits.output_bytes {
            format!("the arguments have {} bytes; the limit is {}", payload.len(), limits.output_bytes)
        } else {
            outbox.n_pending += 1;
            outbox.requests.push(HostRequest { id, operation, payload });
            return Ok(());
        };
        Err(Exception::throw_range(&ctx, &refusal))
    })?;
    let log = Function::new(ctx.clone(), move |level: String, text: String| {
        let mut outbox = logged.lock();
        outbox.n_logged += 1;
        let n_logged = outbox.n_logged;
        if n_logged <= limits.log_lines {
            outbox.log.push(LogLine { level, text });
        } else if n_logged == limits.log_lines + 1 {
            let text = format!("more than {} lines; the rest is not logged", limits.log_lines);
            outbox.log.push(LogLine { level: "warning".to_string(), text });
        }
    })?;
    let known = Arc::clone(program);
    let finish = Function::new(ctx.clone(), move |is_success: bool, json: String, definition: String| {
        let mut outbox = done.lock();
        if json.len() > limits.output_bytes {
            let place = place_of(&known, &definition);
            outbox.refused = Some(ScriptError::TooMuchOutput { bytes: json.len(), limit: limits.output_bytes, place });
        } else {
            outbox.finished.get_or_insert((is_success, json));
        }
    })?;
    let options = Object::new(ctx.clone())?;
    options.set("clock", limits.clock)?;
    options.set("compile", compile(ctx, program)?)?;
    let functions: Object<'js> = make.call((post, log, finish, options))?;
    ctx.store_userdata(functions).map(drop).map_err(|_| rquickjs::Error::Unknown)
}

/// Prepares a world for a program that serves tools.
fn serving<'js>(
    ctx: &Ctx<'js>,
    program: &Arc<Program>,
    outbox: &Arc<Mutex<Outbox>>,
    limits: Limits,
    variables: &BTreeMap<String, String>,
) -> rquickjs::Result<()> {
    let make: Function<'js> = ctx.eval(SERVING)?;
    let answered = Arc::clone(outbox);
    let done = Function::new(ctx.clone(), move |id: u32, is_success: bool, json: String| {
        let too_much =
            || ScriptError::TooMuchOutput { bytes: json.len(), limit: limits.output_bytes, place: None }.to_string();
        let answer = if json.len() > limits.output_bytes {
            (id, false, json!({"name": "Error", "message": too_much()}).to_string())
        } else {
            (id, is_success, json)
        };
        answered.lock().answered.push(answer);
    })?;
    let random = Function::new(ctx.clone(), |ctx: Ctx<'js>, n_bytes: usize| {
        let mut bytes = vec![0; n_bytes.min(65_536)];
        getrandom::fill(&mut bytes).map_err(|error| Exception::throw_internal(&ctx, &error.to_string()))?;
        TypedArray::new(ctx, bytes)
    })?;
    let known = Arc::clone(program);
    let place_of = Function::new(ctx.clone(), move |stack: String| {
        Thrown::new("", "", &stack).mapped(&known).place().map(ToString::to_string)
    })?;
    let known = Arc::clone(program);
    let own_place_of = Function::new(ctx.clone(), move |stack: String| {
        Thrown::new("", "", &stack).mapped(&known).own_place().map(ToString::to_string)
    })?;
    let rejected = Arc::clone(outbox);
    let unhandled = Function::new(ctx.clone(), move || {
        let described =
            |thrown: &Thrown| json!({"name": thrown.name, "message": thrown.message, "stack": thrown.trace()});
        serde_json::Value::from_iter(rejected.lock().unhandled.iter().map(described)).to_string()
    })?;
    let taken = Arc::clone(outbox);
    let take_unhandled = Function::new(ctx.clone(), move |index: usize| {
        let unhandled = &mut taken.lock().unhandled;
        if index < unhandled.len() {
            unhandled.remove(index);
        }
    })?;
    let options = Object::new(ctx.clone())?;
    options.set("placeOf", place_of)?;
    options.set("ownPlaceOf", own_place_of)?;
    options.set("unhandled", unhandled)?;
    options.set("takeUnhandled", take_unhandled)?;
    options.set("compile", compile(ctx, program)?)?;
    options.set("done", done)?;
    options.set("polyfills", ctx.eval::<Function<'js>, _>(POLYFILLS)?)?;
    options.set("random", random)?;
    options.set("script", program.entry())?;
    options.set("variables", variables.clone())?;
    let functions = functions(ctx)?;
    let served: Object<'js> = make.call((functions.clone(), options))?;
    for (ours, theirs) in [("beginServed", "begin"), ("cancelServed", "cancel"), ("isServing", "isServing")] {
        functions.set(ours, served.get::<_, Function<'js>>(theirs)?)?;
    }
    Ok(())
}

/// Compiles a module that is no ES module: a script whose value is a function.
fn compile<'js>(ctx: &Ctx<'js>, program: &Arc<Program>) -> rquickjs::Result<Function<'js>> {
    let program = Arc::clone(program);
    Function::new(ctx.clone(), move |ctx: Ctx<'js>, id: String| {
        let Some(code) = program.code(&id) else {
            return Err(Exception::throw_reference(&ctx, &format!("the module `{id}` is not part of the program")));
        };
        let mut options = EvalOptions::default();
        options.strict = false;
        options.filename = Some(id);
        ctx.eval_with_options::<Value<'js>, _>(code, options)
    })
}

/// What the engine reports as an error.
fn caught(ctx: &Ctx<'_>, error: rquickjs::Error) -> ScriptError {
    if !error.is_exception() {
        return ScriptError::Engine(error.to_string());
    }
    thrown(&ctx.catch()).into()
}

fn thrown(value: &Value<'_>) -> Thrown {
    let Some(object) = value.as_object().filter(|object| object.is_error()) else {
        let shown = value.as_string().and_then(|text| text.to_string().ok());
        let shown = shown.unwrap_or_else(|| value.type_name().to_string());
        return Thrown::new(
            "",
            format!("it threw {shown}, which is not an Error"),
            &stack_of(value).unwrap_or_default(),
        );
    };
    let field = |name: &str| object.get::<_, String>(name).unwrap_or_default();
    Thrown::new(&field("name"), field("message"), &field("stack"))
}

/// Where the author's code threw something that is no `Error`.
fn stack_of(value: &Value<'_>) -> rquickjs::Result<String> {
    functions(value.ctx())?.get::<_, Function<'_>>("stackOf")?.call((value.clone(),))
}

/// How long this thread has computed. What other programs do on a busy machine does not count.
fn computed() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

/// Notes rejections until they are handled.
fn track_rejections(outbox: &Arc<Mutex<Outbox>>) -> RejectionTracker {
    let outbox = Arc::clone(outbox);
    Box::new(move |ctx, _, reason, is_handled| {
        // Read first: what scripts throw may have getters, which may make calls.
        let thrown = thrown(&reason);
        if ctx.has_exception() {
            drop(ctx.catch());
        }
        let unhandled = &mut outbox.lock().unhandled;
        match unhandled.iter().position(|known| *known == thrown) {
            Some(at) if is_handled => drop(unhandled.remove(at)),
            None if !is_handled && unhandled.len() < UNHANDLED => unhandled.push(thrown),
            _ => {}
        }
    })
}
