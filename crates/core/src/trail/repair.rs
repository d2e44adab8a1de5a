//! Writes healed calls into a trail.

use std::sync::Arc;

use serde_json::Value;

use super::call::{same_calls, written_calls};
use super::revise::{Change, revise};
use super::save::{SaveError, Slot};
use super::{StepPlan, Trail};
use crate::yaml::Source;

/// A call that takes the place of another one.
#[derive(Debug, Clone, PartialEq)]
pub struct Repair {
    /// The index of the step, including the trailhead.
    pub step: usize,
    /// The step's text, by which it is checked that the trail has not changed.
    pub text: String,
    /// The position of the call in its step, from 0.
    pub index: usize,
    /// The call that did not find its element, as `{tool: args}`.
    pub from: Value,
    pub to: Value,
    /// The element that it acts on now, for people to read.
    pub element: String,
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RepairError {
    #[error("{path} has changed since the run: step {number} is not \"{text}\" with the call that failed")]
    Changed { path: String, number: usize, text: String },
    #[error("{0}")]
    Save(#[from] SaveError),
}

/// The text of a trail with its calls repaired, as a device with these classifiers uses them. Everything else stays as it is.
pub fn repair(trail: &Trail, lineage: &[String], repairs: &[Repair]) -> Result<String, RepairError> {
    let mut source = Arc::clone(&trail.source);
    let head = usize::from(trail.trailhead.is_some());
    for repair in repairs {
        let number = repair.step + 1 - head.min(repair.step + 1);
        let changed =
            || RepairError::Changed { path: source.path.clone(), number, text: repair.text.trim().to_string() };
        // A trailhead is never repaired.
        let index = repair.step.checked_sub(head).ok_or_else(changed)?;
        let step = trail.steps.get(index).filter(|step| step.text.value == repair.text).ok_or_else(changed)?;
        let (classifier, calls) = match step.plan(lineage) {
            StepPlan::Recording { classifier, calls } => (Some(classifier), calls),
            StepPlan::Authored(calls) => (None, calls),
            StepPlan::Model => return Err(changed()),
        };
        let written = calls.get(repair.index).map(std::slice::from_ref).ok_or_else(changed)?;
        // Devices that share a recording have the same repair.
        if same_calls(&written_calls(written), std::slice::from_ref(&repair.to)) {
            continue;
        }
        if !same_calls(&written_calls(written), std::slice::from_ref(&repair.from)) {
            return Err(changed());
        }
        let change =
            Change::ReplaceCall { step: Slot::Step(index), classifier, index: repair.index, call: repair.to.clone() };
        let text = revise(&source, &[change])?;
        source = Source::new(source.path.as_str(), text);
    }
    Ok(source.text.clone())
}
