//! A tool whose code is a script. Its calls go through `dispatch`, as its expansion.

mod grants;
mod host;
mod result;

use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use trailblaze_core::engine::code::ToolCode;
use trailblaze_core::engine::cx::{Attempt, Cx};
use trailblaze_core::engine::fault::{Fault, Stop};
use trailblaze_protocol::outcome::Outcome;
use trailblaze_script::{Abort, Limits, Program, ScriptOutcome, World, call};

pub use grants::{Granted, Origin, OriginError};
use host::ScriptCallHost;

use crate::envelope;
use crate::limits;

/// A compiled script, ready to be called in any session.
///
/// An engine that was used in one attempt is used again in that attempt only, so that no trail sees what another left behind.
pub struct ScriptTool {
    program: Arc<Program>,
    limits: Limits,
    granted: Granted,
    definition: Vec<u8>,
    permissions: Vec<String>,
    files: Vec<String>,
    idle: Mutex<Vec<Idle>>,
}

struct Idle {
    attempt: Weak<Attempt>,
    world: World,
    abort: Abort,
}

impl ScriptTool {
    /// `busy` is how long the script may compute without waiting for anything.
    pub fn new(program: Program, granted: Granted, busy: Duration) -> ScriptTool {
        let permissions = granted.describe();
        let mut definition = permissions.join("\n").into_bytes();
        for (id, module) in program.modules() {
            definition.extend([id, "\0", &module.code, "\0"].concat().into_bytes());
        }
        let is_own = |id: &&str| !id.contains("node_modules/") && !id.starts_with("trailblaze:");
        let files = program.modules().map(|(id, _)| id).filter(is_own).map(str::to_string).collect();
        let limits = Limits { busy, clock: granted.clock, ..Limits::default() };
        ScriptTool {
            program: Arc::new(program),
            limits,
            granted,
            definition,
            permissions,
            files,
            idle: Mutex::default(),
        }
    }

    /// An engine with the script loaded, used in this attempt before or new.
    async fn world(&self, attempt: &Arc<Attempt>) -> Result<(World, Abort), trailblaze_script::ScriptError> {
        let kept = {
            let mut idle = self.idle.lock();
            let own = idle.iter().rposition(|kept| std::ptr::eq(kept.attempt.as_ptr(), Arc::as_ptr(attempt)));
            own.map(|at| idle.swap_remove(at))
        };
        if let Some(kept) = kept {
            return Ok((kept.world, kept.abort));
        }
        let (program, limits, abort) = (Arc::clone(&self.program), self.limits, Abort::default());
        let aborted = abort.clone();
        let made = tokio::task::spawn_blocking(move || World::new(&program, limits, &aborted)).await;
        let engine_failed = |error: tokio::task::JoinError| trailblaze_script::ScriptError::Engine(error.to_string());
        Ok((made.map_err(engine_failed)??, abort))
    }

    fn keep(&self, attempt: &Arc<Attempt>, world: World, abort: Abort) {
        let mut idle = self.idle.lock();
        // Those of attempts that ended, and the oldest, are dropped outside of the lock.
        let ended: Vec<Idle> = idle.extract_if(.., |kept| kept.attempt.strong_count() == 0).collect();
        let oldest = (idle.len() >= limits::SCRIPT_WORLDS).then(|| idle.remove(0));
        idle.push(Idle { attempt: Arc::downgrade(attempt), world, abort });
        drop(idle);
        drop((ended, oldest));
    }
}

#[async_trait]
impl ToolCode for ScriptTool {
    async fn call(&self, cx: &Cx, args: &Map<String, Value>) -> Result<Outcome, Stop> {
        let (world, abort) = match self.world(&cx.attempt).await {
            Ok(world) => world,
            Err(error) => return Ok(Outcome::failed(error.to_string())),
        };
        let input = envelope::script_input(cx, args);
        let host = ScriptCallHost { cx, granted: &self.granted };
        let (world, ended) = call(world, &abort, input, &host).await;
        if let Some(world) = world {
            self.keep(&cx.attempt, world, abort);
        }
        match ended {
            ScriptOutcome::Returned(returned) => Ok(result::returned(returned)),
            ScriptOutcome::Threw(value, thrown) => Ok(result::threw(&value, &thrown)),
            ScriptOutcome::Failed(error) => Ok(Outcome::failed(error.to_string())),
            ScriptOutcome::Host(error) => Err(match error.downcast::<Fault>() {
                Ok(fault) => Stop::from(*fault),
                Err(error) => Stop::failed(error.to_string()),
            }),
        }
    }

    fn definition(&self) -> Option<&[u8]> {
        Some(&self.definition)
    }

    fn permissions(&self) -> &[String] {
        &self.permissions
    }

    fn files(&self) -> &[String] {
        &self.files
    }
}
