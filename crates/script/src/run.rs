//! One call of a script: it computes on a thread of its own, and in between its host does what it asks for.

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use serde_json::Value;

use crate::error::{ScriptError, Thrown};
use crate::world::{Abort, HostRequest, LogLine, Outbox, World, WorldStep};

/// What a script can do besides computing.
#[async_trait]
pub trait ScriptHost: Send + Sync {
    /// Carries out a request; the error is a message, which the script gets as an exception.
    async fn ask(&self, operation: &str, payload: Value) -> Result<Value, HostError>;

    fn log(&self, line: LogLine);

    /// Warns that a script may pass and yet not have done what it says.
    fn doubt(&self, text: String);
}

/// Why a request was not carried out.
#[derive(Debug)]
pub enum HostError {
    /// The script gets this message as an exception, and goes on.
    Refused(String),
    /// The whole call ends.
    End(Box<dyn std::error::Error + Send + Sync>),
}

/// What a call came to.
#[derive(Debug)]
pub enum ScriptOutcome {
    /// The script returned this.
    Returned(Value),
    /// The script threw; the object describes what.
    Threw(Value, Box<Thrown>),
    Failed(ScriptError),
    /// The host ended it.
    Host(Box<dyn std::error::Error + Send + Sync>),
}

/// Stops the script when the call is given up.
struct StopOnDrop(Abort, bool);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        if self.1 {
            self.0.abort();
        }
    }
}

/// Carries out one call in a world, and gives the world back if it can be used again. `abort` is the world's.
pub async fn call(world: World, abort: &Abort, input: String, host: &dyn ScriptHost) -> (Option<World>, ScriptOutcome) {
    let mut stop = StopOnDrop(abort.clone(), true);
    let mut pending = FuturesUnordered::new();
    let (mut world, mut step) = (world, WorldStep::Call(input));
    let mut finished: Option<(bool, String)> = None;
    // The requests in flight besides timers.
    let mut open: Vec<OpenCalls> = Vec::new();
    loop {
        let advanced = tokio::task::spawn_blocking(move || {
            let outbox = world.advance(step);
            (world, outbox)
        });
        let (returned, outbox) = match advanced.await {
            Ok(advanced) => advanced,
            Err(error) => return (None, ScriptOutcome::Failed(ScriptError::Engine(error.to_string()))),
        };
        world = returned;
        let Outbox { requests, log, finished: now_finished, .. } = match outbox {
            Ok(outbox) => outbox,
            Err(error) => {
                world.take_last_output().log.into_iter().for_each(|line| host.log(line));
                return (None, ScriptOutcome::Failed(error));
            }
        };
        log.into_iter().for_each(|line| host.log(line));
        open.extend(requests.iter().filter(|request| !is_timer(request)).map(OpenCalls::new));
        if let Some((true, _)) = &now_finished {
            open.iter().for_each(|left| host.doubt(left.warning()));
        }
        finished = finished.or(now_finished);
        pending.extend(requests.into_iter().map(|request| answer(host, request)));
        // Calls that the script did not wait for are carried out all the same; timers that it left running are not.
        if finished.is_some() && open.is_empty() {
            break;
        }
        let Some(first) = pending.next().await else { break };
        let mut answers = Vec::new();
        let mut next = Some(first);
        while let Some((request, answer)) = next {
            open.retain(|open| open.id != request.id);
            match answer {
                Ok(value) => {
                    answers.push((request.id, false, value.to_string()));
                }
                Err(HostError::Refused(message)) => {
                    answers.push((request.id, true, serde_json::json!({"message": message}).to_string()));
                }
                Err(HostError::End(error)) => return (None, ScriptOutcome::Host(error)),
            }
            next = futures::FutureExt::now_or_never(pending.next()).flatten();
        }
        world.answered(answers.len());
        step = WorldStep::Answers(answers);
    }
    stop.1 = false;
    let left = if matches!(finished, Some((true, _))) { world.open_timers() } else { Vec::new() };
    for place in left {
        let text = format!(
            "the script ended before its timer fired, so the timer was dropped; wait for it, as in `await sleep(ms)`, or clear it ({place})"
        );
        host.doubt(text);
    }
    let ended = match finished {
        Some((is_success, json)) => match serde_json::from_str(&json) {
            Ok(value) if is_success => match world.unhandled() {
                None => match world.overlooked() {
                    None => ScriptOutcome::Returned(value),
                    Some(thrown) => ScriptOutcome::Threw(Value::Null, Box::new(thrown)),
                },
                Some(mut thrown) => {
                    thrown.message = format!("something that the script did not wait for failed: {}", thrown.message);
                    let thrown = thrown.with_hint("write `await` before the call");
                    ScriptOutcome::Threw(Value::Null, Box::new(thrown))
                }
            },
            Ok(value) => match world.explained_thrown(thrown(&value)) {
                ScriptError::Thrown(thrown) => {
                    let thrown = match world.place_of(&value["forgotten"]["stack"]) {
                        Some(place) => {
                            let forgotten = value["forgotten"]["tool"].as_str().unwrap_or_default();
                            thrown.with_hint(&format!("write `await` before the call of `{forgotten}` ({place})"))
                        }
                        None => *thrown,
                    };
                    ScriptOutcome::Threw(value, Box::new(thrown))
                }
                error => return (None, ScriptOutcome::Failed(error)),
            },
            Err(error) => ScriptOutcome::Failed(ScriptError::Engine(error.to_string())),
        },
        None => return (None, ScriptOutcome::Failed(world.stuck(false))),
    };
    world.reset();
    // A timer that is left would ring during the next call.
    (pending.is_empty().then_some(world), ended)
}

async fn answer(host: &dyn ScriptHost, request: HostRequest) -> (HostRequest, Result<Value, HostError>) {
    let payload = serde_json::from_str(&request.payload).unwrap_or_default();
    let answer = host.ask(&request.operation, payload).await;
    (request, answer)
}

/// A request that is not answered yet.
struct OpenCalls {
    id: u32,
    what: String,
}

impl OpenCalls {
    fn new(HostRequest { id, operation, payload }: &HostRequest) -> OpenCalls {
        let payload: Value = serde_json::from_str(payload).unwrap_or_default();
        let what = payload["tool"].as_str().unwrap_or(operation);
        OpenCalls { id: *id, what: what.to_string() }
    }

    /// The script ended before it. It is finished all the same, but what follows from it is lost.
    fn warning(&self) -> String {
        format!(
            "the script ended while its call of `{}` was in progress; write `await` before what calls it",
            self.what
        )
    }
}

fn is_timer(request: &HostRequest) -> bool {
    request.operation == "timer"
}

fn thrown(value: &Value) -> Thrown {
    let field = |name: &str| value[name].as_str().unwrap_or_default();
    Thrown::new(field("name"), field("message"), field("stack"))
}
