//! Parts of a step that run at the same time, each on its device. The step ends when all of them have ended.

use futures::future::join_all;
use trailblaze_protocol::event::{Failure, Verdict};

use super::{StepPlace, TrailRunner, place};
use crate::callers::step_result::{StepResult, failure};

impl TrailRunner<'_> {
    /// Runs the parts to their ends, also if one of them fails: the others may say why. Each part sees what was remembered before
    /// the step and by itself, so that what a run remembers does not depend on which device is faster.
    pub(super) async fn together(&self, parts: &[StepPlace<'_>]) -> Result<(), StepResult> {
        let attempts: Vec<_> = parts.iter().map(|_| self.attempt.with_own_memory()).collect();
        let running =
            parts.iter().zip(&attempts).map(|(at, attempt)| self.step_with_retries(*at, (attempt, &self.cancel)));
        let ended = join_all(running).await;
        let copies = attempts.iter().map(|attempt| attempt.memory().clone()).collect();
        let conflicts = self.attempt.memory().join(copies);
        let mut failed: Vec<StepResult> = ended.into_iter().filter_map(Result::err).collect();
        failed.extend(conflicts.iter().map(|(name, of)| in_conflict(name, of, parts)));
        match failed.len() {
            0 => Ok(()),
            1 => Err(failed.remove(0)),
            _ => Err(all_of(failed)),
        }
    }
}

fn in_conflict(name: &str, of: &[usize], parts: &[StepPlace<'_>]) -> StepResult {
    let roles: Vec<&str> = of.iter().filter_map(|nth| parts[*nth].step.role()).map(String::as_str).collect();
    let message = format!(
        "the parts of {} gave `{name}` different values at the same time; use a name of its own in each part",
        roles.join(" and ")
    );
    let mut failure = failure(None, &message, None);
    failure.place = Some(place(parts[0].source, parts[0].step.text.span));
    StepResult { failure: Some(Box::new(failure)), ..StepResult::ended(Verdict::Failed, message) }
}

/// Several failures as one: the most severe says how the step ended.
fn all_of(failed: Vec<StepResult>) -> StepResult {
    let told = |has_places: bool| {
        let lines: String = failed.iter().map(|one| one.listed(has_places)).collect();
        format!("{} parts failed:{lines}", failed.len())
    };
    let (message, shown) = (told(false), told(true));
    let parts: Vec<Failure> = failed.iter().filter_map(|one| one.failure.as_deref().cloned()).collect();
    let is_fatal = failed.iter().any(|one| one.is_fatal);
    let is_device_lost = failed.iter().any(|one| one.is_device_lost);
    let worst = failed.into_iter().max_by_key(|one| severity(one.verdict)).unwrap_or_default();
    let first = worst.failure.as_deref().or(parts.first()).cloned();
    let failure =
        first.map(|first| Box::new(Failure { message: message.clone(), expected: None, saw: None, parts, ..first }));
    StepResult { verdict: worst.verdict, message: shown, failure, is_fatal, is_device_lost }
}

fn severity(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Passed | Verdict::Skipped => 0,
        Verdict::Failed => 1,
        Verdict::Invalid => 2,
        Verdict::Cancelled => 3,
        Verdict::Errored => 4,
        Verdict::Bug => 5,
    }
}
