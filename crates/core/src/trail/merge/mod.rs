//! Merges the steps of a session into an existing trail. Its comments, its other keys and its recordings for other devices
//! are kept.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use trailblaze_protocol::event::StepKind;

use super::call::{same_calls, written_calls};
use super::compose::{NewCalls, NewStep};
use super::revise::{Change, revise};
use super::save::{SaveError, Slot, parse};
use super::step::{Step, StepPlan};
use crate::yaml::Source;

/// What happens to the existing steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Merge {
    /// They are kept, and the session's steps are appended. If the session started with the steps of the file, only the
    /// later ones are appended.
    Append,
    /// They are replaced by the session's steps. A step with the same text in both keeps its place and its recordings for
    /// other devices.
    Replace,
}

/// The result of a merge.
#[derive(Debug, Clone, PartialEq)]
pub struct MergedTrail {
    pub text: String,
    pub n_added: usize,
    pub n_kept: usize,
    pub n_removed: usize,
}

/// Merges steps that were made on a device with these classifiers, most specific first.
pub fn merge(
    source: &Arc<Source>,
    lineage: &[String],
    steps: &[NewStep],
    how: Merge,
) -> Result<MergedTrail, SaveError> {
    let (trail, root) = parse(source)?;
    let old = trail.steps.as_slice();
    let head = trail.trailhead.as_ref().map(|head| &head.0);
    let mut steps = steps.to_vec();
    // In a trail without a trailhead, the first step may start the app.
    if let (None, Some(first), Some(new)) = (head, old.first(), steps.first_mut())
        && (new.kind, first.kind) == (StepKind::Trailhead, StepKind::Step)
        && new.text == first.text.value
    {
        new.kind = StepKind::Step;
    }
    let steps = steps.as_slice();
    let (changes, n_added, n_removed) = match how {
        Merge::Append => {
            let steps = beyond(head, old, steps);
            let items: Vec<Value> = steps.iter().map(NewStep::item).collect();
            let n_added = items.len();
            let after = old.len().checked_sub(1);
            let changes = if items.is_empty() { Vec::new() } else { vec![Change::Insert { after, steps: items }] };
            (changes, n_added, 0)
        }
        Merge::Replace => replace(head, old, lineage, steps),
    };
    if old.is_empty() && !changes.is_empty() {
        return Err(SaveError::NoSteps { path: source.path.clone() });
    }
    let is_name = root.get("trailhead").is_some_and(|head| head.raw().is_some() && !head.is_null());
    if is_name && changes.iter().any(|change| change.step() == Some(&Slot::Trailhead)) {
        return Err(SaveError::TrailheadIsTool { path: source.path.clone() });
    }
    let text = if changes.is_empty() { source.text.clone() } else { revise(source, &changes)? };
    Ok(MergedTrail { text, n_added, n_kept: old.len() - n_removed, n_removed })
}

/// The steps after those of the file if the session started with them; otherwise all steps.
fn beyond<'s>(head: Option<&Step>, old: &[Step], steps: &'s [NewStep]) -> &'s [NewStep] {
    let mut rest = steps;
    if let (Some(head), Some((first, others))) = (head, rest.split_first())
        && first.kind == StepKind::Trailhead
        && (first.text == head.text.value || has_same_calls(head, first))
    {
        rest = others;
    }
    let begins = rest.len() >= old.len() && old.iter().zip(rest).all(|(old, new)| has_same_text(old, new));
    if begins { &rest[old.len()..] } else { steps }
}

fn has_same_text(old: &Step, new: &NewStep) -> bool {
    (old.kind, old.text.value.as_str()) == (new.kind, new.text.as_str())
}

fn has_same_calls(old: &Step, new: &NewStep) -> bool {
    let (NewCalls::Anywhere(calls) | NewCalls::Recorded { calls, .. }) = &new.calls else { return false };
    old.tools.as_deref().is_some_and(|tools| same_calls(&written_calls(tools), calls))
}

/// The changes, and the numbers of steps that they add and remove.
fn replace(head: Option<&Step>, old: &[Step], lineage: &[String], steps: &[NewStep]) -> (Vec<Change>, usize, usize) {
    let (new_heads, steps): (Vec<&NewStep>, Vec<&NewStep>) =
        steps.iter().partition(|step| step.kind == StepKind::Trailhead);
    let mut changes = Vec::new();
    match (head, new_heads.first()) {
        (Some(head), Some(new)) => changes.extend(update(Slot::Trailhead, head, lineage, new)),
        (None, Some(new)) => changes.push(Change::AddTrailhead(new.trailhead())),
        (_, None) => {}
    }
    let (mut n_added, mut n_removed) = (0, 0);
    let mut after = None;
    let mut added: Vec<Value> = Vec::new();
    for fate in align(old, &steps) {
        if !matches!(fate, StepMerge::Added(_)) && !added.is_empty() {
            changes.push(Change::Insert { after, steps: std::mem::take(&mut added) });
        }
        match fate {
            StepMerge::Kept(index, new) => {
                changes.extend(update(Slot::Step(index), &old[index], lineage, steps[new]));
                after = Some(index);
            }
            StepMerge::Removed(index) => {
                changes.push(Change::RemoveStep(index));
                n_removed += 1;
                after = Some(index);
            }
            StepMerge::Added(new) => {
                added.push(steps[new].item());
                n_added += 1;
            }
        }
    }
    if !added.is_empty() {
        changes.push(Change::Insert { after, steps: added });
    }
    (changes, n_added, n_removed)
}

/// The changes to a step of the file that make this device do what the session did.
fn update(slot: Slot, old: &Step, lineage: &[String], new: &NewStep) -> Vec<Change> {
    let used = match old.plan(lineage) {
        StepPlan::Recording { classifier, calls } => Some((classifier, written_calls(calls))),
        StepPlan::Authored(_) | StepPlan::Model => None,
    };
    let own: Vec<String> = lineage.iter().filter(|name| old.recording.get(name).is_some()).cloned().collect();
    let without_own = || {
        let remove = Change::RemoveRecordings { step: slot.clone(), classifiers: own.clone() };
        (!own.is_empty()).then_some(remove)
    };
    let (calls, platform) = match &new.calls {
        _ if !old.is_recordable => return Vec::new(),
        // Recordings for other devices are kept; this device has nothing to replay.
        NewCalls::None => return without_own().into_iter().collect(),
        NewCalls::Anywhere(calls) => (calls, lineage.last()),
        NewCalls::Recorded { classifier, calls } => (calls, Some(classifier)),
    };
    let is_anywhere = matches!(new.calls, NewCalls::Anywhere(_));
    let tools = old.tools.as_deref().map(written_calls);
    if tools.as_ref().is_some_and(|tools| same_calls(tools, calls)) {
        return without_own().into_iter().collect();
    }
    if is_anywhere && (tools.is_some() || old.recording.iter().next().is_none()) {
        let put = Change::PutTools { step: slot.clone(), calls: calls.clone().into() };
        return std::iter::once(put).chain(without_own()).collect();
    }
    if used.as_ref().is_some_and(|(_, written)| same_calls(written, calls)) {
        return Vec::new();
    }
    let Some(classifier) = used.map(|(classifier, _)| classifier).or_else(|| platform.cloned()) else {
        return Vec::new();
    };
    let value = match (&slot, calls.as_slice()) {
        (Slot::Trailhead, [call]) => call.clone(),
        (Slot::Trailhead, _) => return Vec::new(),
        (_, calls) => calls.into(),
    };
    vec![Change::PutRecording { step: slot, classifier, value }]
}

/// What happens to a step of the file or of the session.
enum StepMerge {
    Kept(usize, usize),
    Removed(usize),
    Added(usize),
}

/// Pairs as many steps with equal text as possible, in order. Removed steps precede those added in their place.
fn align(old: &[Step], new: &[&NewStep]) -> Vec<StepMerge> {
    let width = new.len() + 1;
    let mut common = vec![0u32; (old.len() + 1) * width];
    for (i, one) in old.iter().enumerate().rev() {
        for (j, other) in new.iter().enumerate().rev() {
            common[i * width + j] = if has_same_text(one, other) {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut fates = Vec::new();
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && has_same_text(&old[i], new[j]) {
            fates.push(StepMerge::Kept(i, j));
            (i, j) = (i + 1, j + 1);
        } else if i < old.len() && (j == new.len() || common[(i + 1) * width + j] >= common[i * width + j + 1]) {
            fates.push(StepMerge::Removed(i));
            i += 1;
        } else {
            fates.push(StepMerge::Added(j));
            j += 1;
        }
    }
    fates
}

#[cfg(test)]
mod tests;
