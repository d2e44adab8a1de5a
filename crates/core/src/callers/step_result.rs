//! How a step or an attempt ended.

use serde_json::Value;
use trailblaze_protocol::event::{Failure, Verdict};
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::outcome::{Outcome, Variant};

use crate::engine::fault::{Fault, Stop};

/// How a step or an attempt ended.
#[derive(Debug, Clone)]
pub struct StepResult {
    pub verdict: Verdict,
    pub message: String,
    pub failure: Option<Box<Failure>>,
    /// Whether retrying is pointless.
    pub is_fatal: bool,
    pub is_device_lost: bool,
}

impl Default for StepResult {
    fn default() -> StepResult {
        let verdict = Verdict::Passed;
        StepResult { verdict, message: String::new(), failure: None, is_fatal: false, is_device_lost: false }
    }
}

impl StepResult {
    /// A step that ended for a reason that is not a call.
    pub fn ended(verdict: Verdict, message: impl Into<String>) -> StepResult {
        StepResult { verdict, message: message.into(), ..StepResult::default() }
    }

    /// A try that passed only because calls were healed: the trail as it is written has failed.
    pub fn healed(n_repairs: usize) -> StepResult {
        let calls = if n_repairs == 1 { "1 call was" } else { &format!("{n_repairs} calls were") };
        let message = format!("{calls} healed; this counts as passed if the repaired trail passes from its start");
        let failure = Some(Box::new(failure(None, &message, None)));
        StepResult { verdict: Verdict::Failed, message, failure, ..StepResult::default() }
    }

    /// The failure of a step whose repair does not count.
    pub fn withdrawn(mut self, why: &str) -> StepResult {
        if let Some(failure) = &mut self.failure {
            // The first one was tried.
            failure.suggestions.drain(..failure.suggestions.len().min(1));
        }
        StepResult { message: format!("{}\n{why}", self.message), ..self }
    }

    pub fn failed(tool: &str, outcome: &Outcome) -> StepResult {
        let message = format!("`{tool}` failed: {}", outcome.text);
        let failure = failure(Some(tool), &outcome.text, outcome.structured.as_ref());
        let is_fatal = outcome.variant == Variant::FatalError;
        StepResult {
            verdict: Verdict::Failed,
            message,
            failure: Some(Box::new(failure)),
            is_fatal,
            ..StepResult::default()
        }
    }

    pub fn fault(tool: &str, fault: &Fault) -> StepResult {
        let verdict = match fault {
            Fault::Cancelled => Verdict::Cancelled,
            other => match other.exit() {
                Exit::Invalid => Verdict::Invalid,
                Exit::Bug => Verdict::Bug,
                _ => Verdict::Errored,
            },
        };
        StepResult {
            verdict,
            message: fault.to_string(),
            failure: Some(Box::new(failure(Some(tool), &fault.to_string(), None))),
            is_fatal: true,
            is_device_lost: verdict == Verdict::Errored && !matches!(fault, Fault::Source(_) | Fault::Model { .. }),
        }
    }

    /// Its message as one of several: on indented lines. With its place only where people read it, as equal failures of several
    /// trails are recognized by their message.
    pub fn listed(&self, has_place: bool) -> String {
        let place = self.failure.as_ref().and_then(|failure| failure.place.as_ref()).filter(|_| has_place);
        let place = place.map(|place| format!("\n    at {place}")).unwrap_or_default();
        format!("\n  {}{place}", self.message.replace('\n', "\n    "))
    }

    /// The same end, which also says what failed after it.
    pub fn and_later(mut self, later: &StepResult) -> StepResult {
        const ALSO: &str = "\nalso failed:";
        let add = |text: &mut String, has_place: bool| {
            if !text.contains(ALSO) {
                text.push_str(ALSO);
            }
            text.push_str(&later.listed(has_place));
        };
        add(&mut self.message, true);
        if let Some(own) = &mut self.failure {
            if own.parts.is_empty() {
                own.parts = vec![Failure::clone(own)];
            }
            own.parts.extend(later.failure.as_deref().into_iter().flat_map(each));
            add(&mut own.message, false);
        }
        StepResult { is_device_lost: self.is_device_lost || later.is_device_lost, ..self }
    }

    pub fn stopped(what: &str, stop: &Stop) -> StepResult {
        match stop {
            Stop::Failed(outcome) => StepResult::failed(what, outcome),
            Stop::Fault(fault) => StepResult::fault(what, fault),
        }
    }
}

/// A failure for `attemptEnded`, with `expected` and `saw` from the structured result.
pub fn failure(tool: Option<&str>, message: &str, structured: Option<&Value>) -> Failure {
    let part = |name: &str| structured.and_then(|value| value.get(name)?.as_str()).map(str::to_string);
    Failure {
        step: None,
        call: None,
        tool: tool.map(str::to_string),
        message: message.to_string(),
        expected: part("expected"),
        saw: part("saw"),
        place: None,
        excerpt: None,
        just_before: Vec::new(),
        suggestions: Vec::new(),
        parts: Vec::new(),
    }
}

/// The failures that one consists of.
pub fn each(failure: &Failure) -> Vec<Failure> {
    if failure.parts.is_empty() { vec![failure.clone()] } else { failure.parts.clone() }
}
