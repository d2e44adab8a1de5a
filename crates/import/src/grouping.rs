//! Commands as steps: those that belong together become one.

use crate::draft::{StepDraft, StepPart, TrailDraft, is_check};

/// How many calls a step has at most.
const CALLS: usize = 5;

/// Joins plain units, each of one command, to steps.
pub fn steps(units: Vec<StepDraft>) -> Vec<StepDraft> {
    let mut steps: Vec<StepDraft> = Vec::new();
    for unit in units {
        match steps.last_mut().filter(|last| belongs(last, &unit)) {
            Some(last) => last.parts.extend(unit.parts),
            None => steps.push(unit),
        }
    }
    steps
}

fn belongs(last: &StepDraft, unit: &StepDraft) -> bool {
    if !unit.is_plain() || !last.is_plain() || unit.words.is_some() {
        return false;
    }
    if !unit.has_calls() {
        return true;
    }
    let is_checking = |step: &StepDraft| step.calls().all(is_check);
    last.has_calls() && is_checking(last) == is_checking(unit) && last.calls().count() < CALLS
}

/// The start of the app is the trailhead.
pub fn take_trailhead(draft: &mut TrailDraft) {
    let is_launch = |part: &StepPart| matches!(part, StepPart::Call(call) if call.get("launchApp").is_some());
    let Some(first) = draft.steps.first_mut().filter(|first| first.is_plain()) else { return };
    if !first.parts.first().is_some_and(is_launch) {
        return;
    }
    let launch = first.parts.remove(0);
    let words = "Start the app".to_string();
    draft.trailhead = Some(StepDraft { words: Some(words), ..StepDraft::of(vec![launch]) });
    if first.parts.is_empty() {
        draft.steps.remove(0);
    }
}
