//! Runs the steps of a session again, on the device it has.

use std::sync::Arc;

use serde_json::json;
use tokio_util::sync::CancellationToken;
use trailblaze_core::callers::attempt_sessions::AttemptSessions;
use trailblaze_core::callers::recorded_effects::Custom;
use trailblaze_core::callers::replay::{Try, replay};
use trailblaze_core::engine::registry::Offer;
use trailblaze_core::trail::Trail;
use trailblaze_core::yaml::Source;
use trailblaze_protocol::event::{TrailRef, Verdict};
use trailblaze_protocol::exit::Exit;

use super::{CommandReply, Interactive, done, keep};
use crate::output::words::count;

impl Interactive {
    /// The steps in the form of a trail, or some of them.
    pub fn trail_text(&self, from: Option<usize>, to: Option<usize>) -> Result<String, keep::KeepError> {
        let mut steps = self.steps();
        keep::cut(&mut steps, from, to)?;
        if steps.is_empty() {
            return Err(keep::KeepError::Nothing);
        }
        Ok(keep::text(self.usage.name(), self.usage.title(), &self.place, &steps))
    }

    /// Runs the steps from their start. What it does is in the record, but not among the session's steps.
    pub async fn replay(&mut self, from: Option<usize>, to: Option<usize>, cancel: &CancellationToken) -> CommandReply {
        let text = match self.trail_text(from, to) {
            Ok(text) => text,
            Err(error) => return CommandReply::Failed { exit: error.exit(), message: error.to_string() },
        };
        let source: Arc<Source> = Source::new("session.trail.yaml", text.as_str());
        let (Some(trail), _) = Trail::read(&source) else {
            return CommandReply::Failed { message: "the steps cannot be read back".to_string(), exit: Exit::Bug };
        };
        self.end_step();
        let about = TrailRef {
            id: "replay".to_string(),
            title: "The steps of the session".to_string(),
            path: String::new(),
            tags: Vec::new(),
            row: None,
        };
        let attempt = Try {
            trail: &trail,
            about,
            number: 1,
            repeat: None,
            memory: self.initial_memory.clone(),
            timeout: None,
            cancel: cancel.clone(),
            custom: Custom::Run,
            model: self.attempt.model().cloned(),
            offer: Offer::default(),
            heal: None,
            names: None,
            is_repaired: false,
        };
        let ended = replay(&AttemptSessions::one(&self.session), attempt).await;
        let n_steps = trail.steps.len() + usize::from(trail.trailhead.is_some());
        let reply = match ended.verdict {
            Verdict::Passed => {
                let text = format!("replayed {}", count(n_steps, "step"));
                done(text, json!({"steps": n_steps, "verdict": ended.verdict}))
            }
            verdict => CommandReply::Failed { message: ended.message, exit: verdict.exit() },
        };
        self.fit_to_show(reply)
    }
}
