//! The effects to store for a passing attempt: those of every custom call in the trail.

use serde_json::{Value, json};

use super::{CallDid, Effect, StepDid};
use crate::trail::{Step, StepPlan, ToolCall, Trail, TrailDevice};
use crate::yaml::loose;

/// The entries to store for a trail after it was recorded: `{call, did}`, in the order of the calls.
pub fn entries(trail: &Trail, device: &TrailDevice, did: &[StepDid]) -> Vec<Value> {
    let is_played = |(_, step): &(usize, &Step)| !step.flow.is_conditional();
    let entries = trail.steps_on(device).filter(is_played).flat_map(|(index, step)| {
        let Some(did) = did.iter().find(|did| did.index == index) else { return Vec::new() };
        let (calls, did) = match step.plan(&device.lineage) {
            StepPlan::Recording { calls, .. } => (calls, &did.recorded),
            StepPlan::Authored(calls) => (calls, &did.made),
            StepPlan::Model => return Vec::new(),
        };
        if is_of(calls, did) { calls.iter().zip(did).filter_map(entry).collect() } else { Vec::new() }
    });
    entries.collect()
}

/// Whether these are the calls that were made. Another run may have recorded others in the meantime.
fn is_of(calls: &[ToolCall], did: &[CallDid]) -> bool {
    let names = |did: &CallDid| did.call.as_object().and_then(|call| call.keys().next().cloned());
    calls.iter().map(|call| Some(call.tool.value.clone())).eq(did.iter().map(names))
}

fn entry((call, did): (&ToolCall, &CallDid)) -> Option<Value> {
    let effects: Vec<Value> = did.did.as_ref()?.iter().map(Effect::json).collect();
    let call = call.written_with(loose(&call.args));
    Some(json!({"call": call, "did": effects}))
}
