//! Writes a recording into its slot of a trail file by splicing bytes: everything outside the slot is unchanged. The result is
//! read back and compared with the intended value before it is returned.

use std::sync::Arc;

use serde_json::{Value, json};

use super::items::{places, step_at};
use super::splice::{Edit, apply, put, without_slots};
use super::{Form, Trail};
use crate::yaml::{Problems, Severity, Source, YamlNode, loose, read};

/// The recorded calls of one step, each as `{tool: args}`.
#[derive(Debug, Clone, PartialEq)]
pub struct StepCalls {
    pub slot: Slot,
    pub calls: Vec<Value>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Slot {
    Trailhead,
    /// From 0.
    Step(usize),
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SaveError {
    #[error("{path} is not a trail: {problem}")]
    Unreadable { path: String, problem: String },
    #[error("{path} is in the older list form; convert it with `trailblaze trail convert --write {path}`")]
    ListForm { path: String },
    #[error("{path} has no step {number}; the file has changed since the run")]
    NoSuchStep { path: String, number: usize },
    #[error("{path} has no steps to add to")]
    NoSteps { path: String },
    #[error("{path} has no trailhead; the file has changed since the run")]
    NoTrailhead { path: String },
    #[error("the trailhead of {path} is the name of a tool; write it as `step:` and `tools:` to record it")]
    TrailheadIsTool { path: String },
    #[error("the trailhead of {path} made {count} calls; its recording can contain only one")]
    TrailheadTooLong { path: String, count: usize },
    #[error("{path} cannot be changed safely: the result would not read back as intended")]
    Unsafe { path: String },
}

/// Returns the text of the file with the recordings of `classifier`. Steps that are not recordable get none, and a slot that
/// already has equal calls is not rewritten.
pub fn save(source: &Arc<Source>, classifier: &str, recordings: &[StepCalls]) -> Result<String, SaveError> {
    let (trail, root) = parse(source)?;
    let recordings: Vec<&StepCalls> = recordings.iter().filter(|recording| recording.is_taken_by(&trail)).collect();
    let edits = edits(source, &root, classifier, &recordings)?;
    if edits.is_empty() {
        return Ok(source.text.clone());
    }
    let text =
        apply(&source.text, edits).filter(|text| reads_back_as_intended(source, text, &root, classifier, &recordings));
    text.ok_or_else(|| SaveError::Unsafe { path: source.path.clone() })
}

impl StepCalls {
    fn is_taken_by(&self, trail: &Trail) -> bool {
        let step = match self.slot {
            Slot::Trailhead => trail.trailhead.as_ref().map(|head| &head.0),
            Slot::Step(index) => trail.steps.get(index),
        };
        step.is_none_or(|step| step.is_recordable)
    }

    /// The value of the slot: a list or, for a trailhead, at most one call.
    fn value(&self) -> Option<Value> {
        match (&self.slot, self.calls.as_slice()) {
            (Slot::Trailhead, []) => Some(json!({})),
            (Slot::Trailhead, [call]) => Some(call.clone()),
            (Slot::Trailhead, _) => None,
            (_, calls) => Some(Value::from(calls)),
        }
    }
}

/// Reads a file both as a trail and as a plain value.
pub(super) fn parse(source: &Arc<Source>) -> Result<(Trail, YamlNode), SaveError> {
    let (trail, problems) = Trail::read(source);
    let root = read(source, &mut Problems::new(source));
    let (Some(trail), Some(root)) = (trail, root) else {
        let worst = problems.iter().find(|problem| problem.severity == Severity::Error);
        let problem = worst.map_or_else(|| "it is empty".to_string(), ToString::to_string);
        return Err(SaveError::Unreadable { path: source.path.clone(), problem });
    };
    match trail.form {
        Form::Unified => Ok((trail, root)),
        Form::List => Err(SaveError::ListForm { path: source.path.clone() }),
    }
}

fn edits(
    source: &Source,
    root: &YamlNode,
    classifier: &str,
    recordings: &[&StepCalls],
) -> Result<Vec<Edit>, SaveError> {
    let path = || source.path.clone();
    let mut edits = Vec::new();
    for recording in recordings {
        let step = step_of(root, &recording.slot).ok_or_else(|| match recording.slot {
            Slot::Step(index) => SaveError::NoSuchStep { path: path(), number: index + 1 },
            _ => SaveError::NoTrailhead { path: path() },
        })?;
        if step.entries().is_none() {
            return Err(SaveError::TrailheadIsTool { path: path() });
        }
        let value = recording
            .value()
            .ok_or_else(|| SaveError::TrailheadTooLong { path: path(), count: recording.calls.len() })?;
        if slot_of(step, classifier).map(loose).as_ref() != Some(&value) {
            let put = put(&source.text, step, classifier, &value);
            edits.extend(put.ok_or_else(|| SaveError::Unsafe { path: path() })?);
        }
    }
    Ok(edits)
}

pub(super) fn step_of<'n>(root: &'n YamlNode, slot: &Slot) -> Option<&'n YamlNode> {
    match slot {
        Slot::Trailhead => root.get("trailhead").filter(|head| !head.is_null()),
        Slot::Step(index) => step_at(root, *places(root).get(*index)?),
    }
}

fn slot_of<'n>(step: &'n YamlNode, classifier: &str) -> Option<&'n YamlNode> {
    step.get("recording")?.get(classifier)
}

/// Whether the new text is a trail whose slots contain the recordings and whose other values are unchanged.
fn reads_back_as_intended(
    source: &Source,
    text: &str,
    before: &YamlNode,
    classifier: &str,
    recordings: &[&StepCalls],
) -> bool {
    let Ok((_, after)) = parse(&Source::new(&source.path, text)) else { return false };
    let holds_recordings = recordings.iter().all(|recording| {
        let slot = step_of(&after, &recording.slot).and_then(|step| slot_of(step, classifier));
        slot.map(loose) == recording.value()
    });
    let is_meant = |index: Option<usize>| {
        let slot = index.map_or(Slot::Trailhead, Slot::Step);
        recordings.iter().any(|recording| recording.slot == slot)
    };
    let rest = |root: &YamlNode| loose(&without_slots(root, classifier, is_meant));
    holds_recordings && rest(before) == rest(&after)
}

#[cfg(test)]
mod tests;
