//! Recordings that take precedence over a step's own `tools:`. If a step has both, the recording is used; one that differs
//! from `tools:` must be pointed out.

use serde_json::Value;
use trailblaze_protocol::event::ToolKind;

use crate::engine::registry::Registry;
use crate::trail::{Step, StepPlan, ToolCall, Trail, TrailDevice, same_calls};
use crate::yaml::{Problem, Problems, Source, loose, to_json};

/// Whether a recording contains the same calls as `tools:`.
pub fn is_copy(recorded: &[Value], tools: &[ToolCall], registry: &Registry) -> bool {
    // Queries are not recorded, unless their author wants that or their results are remembered.
    let is_recorded = |call: &&ToolCall| {
        call.result_name.is_some()
            || registry.get(&call.tool.value).is_none_or(|tool| match tool.kind {
                ToolKind::Query => tool.is_always_recorded,
                ToolKind::Meta => false,
                ToolKind::Action | ToolKind::Assertion => true,
            })
    };
    let authored: Vec<Value> = tools.iter().filter(is_recorded).map(|call| typed(call, registry)).collect();
    same_calls(&authored, recorded)
}

/// The calls of a file as a recording would contain them: typed by the schemas of known tools.
pub fn typed_calls(calls: &[ToolCall], registry: &Registry) -> Vec<Value> {
    calls.iter().map(|call| typed(call, registry)).collect()
}

fn typed(call: &ToolCall, registry: &Registry) -> Value {
    let tool = registry.get(&call.tool.value);
    let args = tool.and_then(|tool| {
        let mut problems = Problems::new(&Source::new("", ""));
        to_json(&call.args, tool.schema.json(), &mut problems)
    });
    call.written_with(args.unwrap_or_else(|| loose(&call.args)))
}

/// The recordings that a device would use although they differ from `tools:`. `is_derived` returns true for a recording
/// that is known to have been made from the current `tools:`.
pub fn shadowed(
    trail: &Trail,
    registry: &Registry,
    device: &TrailDevice,
    is_derived: impl Fn(&[ToolCall], &[ToolCall]) -> bool,
) -> Vec<Problem> {
    let mut problems = Problems::new(&trail.source);
    if trail.config.skip_reason(&device.lineage).is_some() {
        return Vec::new();
    }
    // A stretch is written by hand, for several trails.
    let own = trail.steps_on(device).filter(|(index, _)| *index < trail.first_of_stretches());
    for (_, step) in own {
        let Some((classifier, recorded, tools)) = both(step, &device.lineage) else { continue };
        if is_copy(&typed_calls(recorded, registry), tools, registry) || is_derived(tools, recorded) {
            continue;
        }
        let place = step.recording.0.iter().find(|(name, _)| name.value == classifier).map(|(name, _)| name.span);
        problems.warning_with_hint(
            place.unwrap_or(step.text.span),
            format!("the recording for `{classifier}` differs from the step's `tools:`, and the recording is used"),
            "if `tools:` is right, remove the recording; if the recording is right, put its calls into `tools:` or remove \
             `tools:`",
        );
    }
    problems.into_vec()
}

/// The recording that a device uses for a step that also has `tools:`, with its classifier.
pub fn both<'s>(step: &'s Step, lineage: &[String]) -> Option<(String, &'s [ToolCall], &'s [ToolCall])> {
    match (step.plan(lineage), step.tools.as_deref()) {
        (StepPlan::Recording { classifier, calls }, Some(tools)) => Some((classifier, calls, tools)),
        _ => None,
    }
}
