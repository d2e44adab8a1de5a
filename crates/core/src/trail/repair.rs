//! Writes healed calls into a trail.

use std::sync::Arc;

use serde_json::{Value, json};

use super::call::{same_calls, written_calls};
use super::revise::{Change, revise};
use super::save::{SaveError, Slot};
use super::{StepPlan, Trail, TrailDevices};
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
    #[error("{path} has changed since the run: its steps or their calls are no longer those that ran")]
    OtherSteps { path: String },
    #[error("{0}")]
    Save(#[from] SaveError),
}

/// A hash of the steps as these devices run them: their texts and their calls. It tells whether a trail is still the one
/// that ran.
pub fn fingerprint(trail: &Trail, devices: &TrailDevices) -> u64 {
    let steps = trail.all_steps().map(|step| match step.plan(devices.lineage(step)) {
        StepPlan::Recording { calls, .. } | StepPlan::Authored(calls) => json!([step.text.value, written_calls(calls)]),
        StepPlan::Model => json!([step.text.value]),
    });
    let text = Value::Array(steps.collect()).to_string();
    // FNV-1a: the same in every build.
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Whether a call was repaired in the meantime.
pub fn is_repaired(trail: &Trail, devices: &TrailDevices, repair: &Repair) -> bool {
    let head = usize::from(trail.trailhead.is_some());
    let step = repair.step.checked_sub(head).and_then(|index| trail.steps.get(index));
    let Some(step) = step.filter(|step| step.text.value == repair.text) else { return false };
    let plan = step.plan(devices.lineage(step));
    let (StepPlan::Recording { calls, .. } | StepPlan::Authored(calls)) = plan else { return false };
    let call = calls.get(repair.index).map(std::slice::from_ref).unwrap_or_default();
    same_calls(&written_calls(call), std::slice::from_ref(&repair.to))
}

/// The text of a trail with its calls repaired, as these devices use them. Everything else stays as it is.
pub fn repair(trail: &Trail, devices: &TrailDevices, repairs: &[Repair]) -> Result<String, RepairError> {
    let mut source = Arc::clone(&trail.source);
    let head = usize::from(trail.trailhead.is_some());
    for repair in repairs {
        let number = repair.step + 1 - head.min(repair.step + 1);
        let changed =
            || RepairError::Changed { path: source.path.clone(), number, text: repair.text.trim().to_string() };
        // A trailhead is never repaired.
        let index = repair.step.checked_sub(head).ok_or_else(changed)?;
        let step = trail.steps.get(index).filter(|step| step.text.value == repair.text).ok_or_else(changed)?;
        let (classifier, calls) = match step.plan(devices.lineage(step)) {
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
