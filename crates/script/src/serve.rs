//! A program that serves tools: one world, whose calls may run at the same time and call each other.
//!
//! One task owns the world and lets it compute on a thread of its own. Each call has a task of the caller's, which carries out what
//! the script asks for on behalf of that call; so a call that is given up takes its requests with it. If the script has to be
//! stopped, all calls in progress fail, and the next one gets a new world.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::error::{ScriptError, Thrown};
use crate::program::Program;
use crate::run::{HostError, ScriptHost};
use crate::world::{Abort, HostRequest, Limits, LogLine, World, WorldStep};

/// How the level of a line begins about something that failed after the call that had started it. The id of the call follows.
pub const FAILED_CALL: &str = "failed call ";
/// The longest timer.
const LONGEST_SLEEP_MS: f64 = 86_400_000.0;

/// What requests get after their call.
const HAS_ENDED: &str = "the call has ended";

/// Receives what the script logs.
pub type LogCallback = Arc<dyn Fn(LogLine) + Send + Sync>;

/// A program that serves tools. Dropping it ends the script.
pub struct Served {
    commands: mpsc::UnboundedSender<WorldCommand>,
    abort: Abort,
    last_id: AtomicU32,
}

/// What a call came to.
#[derive(Debug)]
pub enum ServedCall {
    Answered(Value),
    /// The script threw.
    Threw(Box<Thrown>),
    /// The script was stopped, with all its calls, or cannot run.
    Failed(ScriptError),
}

enum WorldCommand {
    Begin { id: u32, request: String, events: mpsc::UnboundedSender<WorldEvent> },
    Cancel(u32),
    Answer(u32, bool, String),
    Forget(u32),
}

enum WorldEvent {
    Request(HostRequest),
    Ended(ServedCall),
}

impl Served {
    /// Loads a program, with these variables in its environment.
    pub async fn load(
        program: Arc<Program>,
        limits: Limits,
        variables: BTreeMap<String, String>,
        log: LogCallback,
    ) -> Result<Served, ScriptError> {
        let abort = Abort::default();
        // Each call sends one command when it begins, one when it is cancelled and one when it ends, besides its answers, of which a
        // script can have as many pending as its memory allows.
        let (commands, received) = mpsc::unbounded_channel();
        let served = Served { commands, abort: abort.clone(), last_id: AtomicU32::new(0) };
        let maker = Maker { program, limits, variables: Arc::new(variables), abort };
        let world = maker.world().await?;
        let keeper = Keeper {
            maker,
            world: Some(world),
            calls: HashMap::new(),
            last_tool: String::new(),
            last_call: String::new(),
            log,
            sleeping: FuturesUnordered::new(),
        };
        // Detached: ends when `Served` is dropped, which stops the script. What it logged until then is passed on.
        tokio::spawn(keeper.run(received));
        Ok(served)
    }

    /// Carries out a request: `method` and `params` for the functions that the script serves, and optionally a `name`, by which the
    /// script can refer to the call. When `cancelled` completes, the script
    /// is told, and may still answer.
    pub async fn call(
        &self,
        request: &Value,
        host: &dyn ScriptHost,
        cancelled: impl Future<Output = ()>,
    ) -> ServedCall {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        // As many requests can wait as a script can have pending: its memory is limited.
        let (events, mut received) = mpsc::unbounded_channel();
        let gone = || ServedCall::Failed(ScriptError::Cancelled);
        let _call = OpenCall { served: self, id };
        if !self.send(WorldCommand::Begin { id, request: request.to_string(), events }) {
            return gone();
        }
        let mut pending = FuturesUnordered::new();
        tokio::pin!(cancelled);
        let mut is_cancelled = false;
        loop {
            tokio::select! {
                event = received.recv() => match event {
                    Some(WorldEvent::Request(request)) => pending.push(answer(host, request)),
                    Some(WorldEvent::Ended(ended)) => {
                        // Requests such as log lines, which are carried out at once, count even if the script did not wait.
                        while pending.next().now_or_never().flatten().is_some() {}
                        return ended;
                    }
                    None => return gone(),
                },
                Some((id, result)) = pending.next() => match result {
                    Ok(value) => drop(self.send(WorldCommand::Answer(id, false, value.to_string()))),
                    Err(HostError::Refused(message)) => drop(self.send(refusal(id, &message))),
                    Err(HostError::End(error)) => drop(self.send(refusal(id, &error.to_string()))),
                },
                () = &mut cancelled, if !is_cancelled => {
                    is_cancelled = true;
                    self.send(WorldCommand::Cancel(id));
                }
            }
        }
    }

    fn send(&self, command: WorldCommand) -> bool {
        self.commands.send(command).is_ok()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.abort.abort();
    }
}

/// Tells the script that a call is over, however it ended.
struct OpenCall<'s> {
    served: &'s Served,
    id: u32,
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        self.served.send(WorldCommand::Forget(self.id));
    }
}

async fn answer(host: &dyn ScriptHost, request: HostRequest) -> (u32, Result<Value, HostError>) {
    let mut payload: Value = serde_json::from_str(&request.payload).unwrap_or_default();
    let payload = payload.get_mut("payload").map(Value::take).unwrap_or_default();
    (request.id, host.ask(&request.operation, payload).await)
}

fn refusal(id: u32, message: &str) -> WorldCommand {
    let (id, is_error, json) = refused(id, message);
    WorldCommand::Answer(id, is_error, json)
}

fn refused(id: u32, message: &str) -> BurstAnswer {
    (id, true, json!({"message": message}).to_string())
}

/// Makes worlds.
struct Maker {
    program: Arc<Program>,
    limits: Limits,
    variables: Arc<BTreeMap<String, String>>,
    abort: Abort,
}

impl Maker {
    async fn world(&self) -> Result<World, ScriptError> {
        let (program, limits, abort) = (Arc::clone(&self.program), self.limits, self.abort.clone());
        let variables = Arc::clone(&self.variables);
        let made = tokio::task::spawn_blocking(move || World::serving(&program, limits, &abort, &variables));
        made.await.unwrap_or_else(|error| Err(ScriptError::Engine(error.to_string())))
    }
}

/// An answer to a request: its id, whether it is an error, and JSON.
type BurstAnswer = (u32, bool, String);

/// Owns the world.
struct Keeper {
    maker: Maker,
    world: Option<World>,
    calls: HashMap<u32, EmbeddedCall>,
    /// The tool that was called last.
    last_tool: String,
    /// The id of its call at the caller.
    last_call: String,
    log: LogCallback,
    /// Answers to requests that belong to no call, such as timers.
    sleeping: FuturesUnordered<BoxFuture<'static, BurstAnswer>>,
}

struct EmbeddedCall {
    events: mpsc::UnboundedSender<WorldEvent>,
    /// Its requests that are not answered yet.
    pending: Vec<u32>,
    has_ended: bool,
}

impl EmbeddedCall {
    fn end(&mut self, ended: ServedCall) {
        self.has_ended = true;
        // The caller may have given up.
        let _ = self.events.send(WorldEvent::Ended(ended));
    }
}

impl Keeper {
    async fn run(mut self, mut commands: mpsc::UnboundedReceiver<WorldCommand>) {
        loop {
            let step = tokio::select! {
                command = commands.recv() => match command {
                    Some(command) => self.step(command),
                    None => return,
                },
                Some(answer) = self.sleeping.next() => Some(WorldStep::Answers(vec![answer])),
            };
            if let Some(step) = step {
                self.advance(step).await;
            }
        }
    }

    /// What a command means for the world.
    fn step(&mut self, command: WorldCommand) -> Option<WorldStep> {
        match command {
            WorldCommand::Begin { id, request, events } => {
                self.calls.insert(id, EmbeddedCall { events, pending: Vec::new(), has_ended: false });
                let asked: Value = serde_json::from_str(&request).unwrap_or_default();
                self.last_tool = asked["params"]["name"].as_str().unwrap_or_default().to_string();
                let call = asked.pointer("/params/_meta/trailblaze/invocationId").and_then(Value::as_str);
                self.last_call = call.unwrap_or_default().to_string();
                Some(WorldStep::Begin(id, request))
            }
            WorldCommand::Cancel(id) => self.calls.contains_key(&id).then_some(WorldStep::Cancel(id)),
            WorldCommand::Answer(id, is_error, json) => {
                let call = self.calls.values_mut().find(|call| call.pending.contains(&id))?;
                call.pending.retain(|pending| *pending != id);
                Some(WorldStep::Answers(vec![(id, is_error, json)]))
            }
            WorldCommand::Forget(id) => {
                let call = self.calls.remove(&id)?;
                let refused: Vec<BurstAnswer> = call.pending.into_iter().map(|id| refused(id, HAS_ENDED)).collect();
                (!refused.is_empty()).then_some(WorldStep::Answers(refused))
            }
        }
    }

    async fn advance(&mut self, step: WorldStep) {
        let mut world = match self.world.take() {
            Some(world) => world,
            None if matches!(step, WorldStep::Begin(..)) => match self.maker.world().await {
                Ok(world) => world,
                Err(error) => return self.fail(&error),
            },
            None => return,
        };
        match &step {
            WorldStep::Answers(answers) => world.answered(answers.len()),
            WorldStep::Begin(..) => world.reset_log(),
            _ => {}
        }
        let computed = tokio::task::spawn_blocking(move || {
            let outbox = world.advance(step);
            (world, outbox)
        });
        let (mut world, outbox) = match computed.await {
            Ok((world, Ok(outbox))) => (world, outbox),
            Ok((mut world, Err(error))) => {
                let last = world.take_last_output();
                last.log.into_iter().for_each(|line| (self.log)(line));
                // Those of its requests that only tell something; nothing waits for the others any more.
                let telling = |request: &HostRequest| matches!(request.operation.as_str(), "log" | "progress");
                last.requests.into_iter().filter(telling).for_each(|request| self.route(request));
                return self.fail(&error);
            }
            Err(error) => return self.fail(&ScriptError::Engine(error.to_string())),
        };
        outbox.log.into_iter().for_each(|line| (self.log)(line));
        for request in outbox.requests {
            self.route(request);
        }
        for (id, is_success, json) in outbox.answered {
            let ended = ended(&world, is_success, &json);
            // `Forget` follows, when the caller has it.
            if let Some(call) = self.calls.get_mut(&id) {
                call.end(ended);
            }
        }
        if self.calls.values().all(|call| call.has_ended) {
            // What fails later, such as a call that a timer makes, can fail no call of a tool any more.
            for thrown in world.take_unhandled() {
                let text = format!("something failed after `{}` had ended: {thrown}", self.last_tool);
                (self.log)(LogLine { level: format!("{FAILED_CALL}{}", self.last_call), text });
            }
        }
        self.world = Some(world);
        self.end_stuck();
    }

    /// Ends calls that wait for a promise that nothing can settle any more.
    fn end_stuck(&mut self) {
        let open = || self.calls.values().filter(|call| !call.has_ended);
        if self.sleeping.is_empty() && open().all(|call| call.pending.is_empty()) {
            let stuck = match &self.world {
                Some(world) => world.stuck(false),
                None => ScriptError::Stuck { is_loading: false, place: None },
            };
            let open = self.calls.values_mut().filter(|call| !call.has_ended);
            open.for_each(|call| call.end(ServedCall::Failed(stuck.clone())));
        }
    }

    /// Passes a request on to its call. Timers belong to no call.
    fn route(&mut self, request: HostRequest) {
        let payload: Value = serde_json::from_str(&request.payload).unwrap_or_default();
        let owner = payload["call"].as_u64().and_then(|id| u32::try_from(id).ok());
        if let Some(call) = owner.and_then(|id| self.calls.get_mut(&id)) {
            call.pending.push(request.id);
            let _ = call.events.send(WorldEvent::Request(request));
        } else if matches!(request.operation.as_str(), "sleep" | "timer") {
            let ms = payload["ms"].as_f64().unwrap_or_default().clamp(0.0, LONGEST_SLEEP_MS);
            let id = request.id;
            let over = tokio::time::sleep(Duration::from_secs_f64(ms / 1_000.0));
            self.sleeping.push(over.map(move |()| (id, false, "null".to_string())).boxed());
        } else {
            let message = match owner {
                Some(_) => HAS_ENDED.to_string(),
                None => format!("`{}` is not available to served tools", request.operation),
            };
            self.sleeping.push(std::future::ready(refused(request.id, &message)).boxed());
        }
    }

    /// Ends all calls, and the world with them.
    fn fail(&mut self, error: &ScriptError) {
        self.world = None;
        self.sleeping.clear();
        for call in self.calls.values_mut().filter(|call| !call.has_ended) {
            call.pending.clear();
            call.end(ServedCall::Failed(error.clone()));
        }
    }
}

fn ended(world: &World, is_success: bool, json: &str) -> ServedCall {
    let value: Value = match serde_json::from_str(json) {
        Ok(value) => value,
        Err(error) => return ServedCall::Failed(ScriptError::Engine(error.to_string())),
    };
    if is_success {
        return ServedCall::Answered(value);
    }
    let field = |name: &str| value[name].as_str().unwrap_or_default();
    match world.explained_thrown(Thrown::new(field("name"), field("message"), field("stack"))) {
        ScriptError::Thrown(thrown) => ServedCall::Threw(thrown),
        error => ServedCall::Failed(error),
    }
}
