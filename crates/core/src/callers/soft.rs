//! Soft checks that failed: their steps went on, and the attempt fails at its end with all of them.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use trailblaze_protocol::event::{Failure, Verdict};

use crate::callers::step_result::{StepResult, each};

/// The failed soft checks of an attempt, by step.
#[derive(Default)]
pub struct SoftFailures(Mutex<BTreeMap<usize, Vec<SoftFailure>>>);

struct SoftFailure {
    /// What failed, without the step.
    what: String,
    /// The same as the end of an attempt.
    ended: StepResult,
}

impl SoftFailures {
    /// Adds a failure, in the words of its step and in those of the attempt.
    pub fn add(&self, step: usize, what: String, ended: StepResult) {
        self.0.lock().entry(step).or_default().push(SoftFailure { what, ended });
    }

    /// Forgets those of a step that is tried again.
    pub fn forget(&self, step: usize) {
        self.0.lock().remove(&step);
    }

    /// How a step ended whose calls were all made; `None` if no check of it failed.
    pub fn of_step(&self, step: usize) -> Option<StepResult> {
        let all = self.0.lock();
        let what: Vec<&str> = all.get(&step)?.iter().map(|failed| failed.what.as_str()).collect();
        Some(StepResult::ended(Verdict::Failed, what.join("\n")))
    }

    /// How the attempt ended, with these failures.
    pub fn added_to(&self, ended: StepResult) -> StepResult {
        let all = self.0.lock();
        let soft: Vec<&StepResult> = all.values().flatten().map(|failed| &failed.ended).collect();
        let own = (ended.verdict != Verdict::Passed).then_some(&ended);
        match (soft.as_slice(), own) {
            ([], _) => return ended,
            ([only], None) => return (*only).clone(),
            _ => {}
        }
        let told = |own: Option<&str>, has_places: bool| {
            let lines: String = soft.iter().map(|failed| failed.listed(has_places)).collect();
            match own {
                None => format!("{} checks failed:{lines}", soft.len()),
                Some(own) => format!("{own}\nalso failed:{lines}"),
            }
        };
        let message = told(own.map(|own| own.message.as_str()), true);
        let parts: Vec<Failure> =
            soft.iter().copied().chain(own).filter_map(|failed| failed.failure.as_deref()).flat_map(each).collect();
        let first = own.and_then(|own| own.failure.as_deref()).or(parts.first()).cloned();
        let failure = first.map(|first| {
            let (expected, saw) = if own.is_some() { (first.expected, first.saw) } else { (None, None) };
            let text = told(own.map(|_| first.message.as_str()), false);
            Box::new(Failure { message: text, expected, saw, parts, ..first })
        });
        let verdict = own.map_or(Verdict::Failed, |own| own.verdict);
        StepResult { verdict, message, failure, ..ended.clone() }
    }
}
