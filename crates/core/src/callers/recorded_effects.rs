//! Maps recorded effects to the calls of a trail, and checks whether they can be played.

use std::collections::HashMap;
use std::sync::Arc;

use trailblaze_protocol::event::CallOrigin;

use crate::engine::dispatch::{Arguments, Call};
use crate::engine::registry::Registry;
use crate::engine::tool::Tool;
use crate::record::effects::{CallEffects, Effect, Journal};
use crate::template;
use crate::trail::{Step, StepPlan, ToolCall, Trail, TrailDevice, same_calls, written_calls};
use crate::yaml::{Problem, Problems, Source, loose};

/// How the calls of custom tools are replayed.
#[derive(Clone, Copy, Default)]
pub enum Custom<'a> {
    /// Run the tools.
    #[default]
    Run,
    /// Play their recorded effects instead.
    Play(&'a RecordedEffects),
    /// Run the tools, and fail if their effects differ from the recorded ones.
    Verify(&'a RecordedEffects, &'a dyn Journal),
}

/// The effects of a trail's calls on one kind of device.
#[derive(Debug, Clone, Default)]
pub struct RecordedEffects {
    /// By the index of the step, including the trailhead, and the index of the call in it.
    effects: HashMap<(usize, usize), Arc<[Effect]>>,
    /// The file that contains them.
    file: String,
}

impl RecordedEffects {
    /// Adds the effects of calls on another device of the same trail.
    pub fn extend(&mut self, other: RecordedEffects) {
        self.effects.extend(other.effects);
        self.file = other.file;
    }

    pub(crate) fn of(&self, step: usize, call: usize) -> Option<&Arc<[Effect]>> {
        self.effects.get(&(step, call))
    }

    /// A call that plays the effects of `call`. Its arguments are only displayed, so they are typed without a schema.
    pub(crate) fn playing(&self, step: usize, number: usize, call: &ToolCall) -> Option<Call> {
        let (effects, tool) = (self.of(step, number)?, &call.tool.value);
        let args = loose(&call.args).as_object().cloned().unwrap_or_default();
        let stand_in = Some(Arc::new(Tool::playing(tool, Arc::clone(effects), &self.file)));
        Some(Call { stand_in, ..Call::new(tool, Arguments::Json(args), CallOrigin::Step) })
    }
}

/// Finds the effects of every custom call of a trail, which must be the recorded calls in the recorded order.
pub fn recorded_effects(
    trail: &Trail,
    registry: &Registry,
    device: &TrailDevice,
    (file, kept): (&Arc<Source>, &[CallEffects]),
) -> Result<RecordedEffects, Vec<Problem>> {
    let mut recorded = RecordedEffects { effects: HashMap::new(), file: file.path.clone() };
    if trail.config.skip_reason(&device.lineage).is_some() {
        return Ok(recorded);
    }
    let mut problems: Vec<Problem> = Vec::new();
    let mut own = Problems::new(file);
    let mut next = 0;
    for (step, number, call) in custom_calls(trail, registry, device) {
        match kept[next..].iter().position(|kept| is_same_call(&kept.call, call)) {
            Some(ahead) => {
                kept[next..next + ahead].iter().for_each(|gone| not_called(gone, &mut own));
                let found = &kept[next + ahead];
                check(found, registry, &mut own);
                recorded.effects.insert((step, number), found.did.as_slice().into());
                next += ahead + 1;
            }
            None => {
                let mut here = Problems::new(&call.source);
                unknown(call, kept, registry, device, &mut here);
                problems.extend(here.into_vec());
            }
        }
    }
    if problems.is_empty() {
        kept[next..].iter().for_each(|gone| not_called(gone, &mut own));
    }
    problems.extend(own.into_vec());
    if problems.is_empty() { Ok(recorded) } else { Err(problems) }
}

/// The calls of custom tools, each with its position. An unknown tool is assumed to be a server's.
fn custom_calls<'t>(
    trail: &'t Trail,
    registry: &Registry,
    device: &TrailDevice,
) -> impl Iterator<Item = (usize, usize, &'t ToolCall)> {
    // What a conditional step does depends on the run, so its custom tools are called.
    let is_played = |(_, step): &(usize, &Step)| !step.flow.is_conditional();
    trail.steps_on(device).filter(is_played).flat_map(move |(index, step)| {
        let calls = match step.plan(&device.lineage) {
            StepPlan::Recording { calls, .. } | StepPlan::Authored(calls) => calls,
            StepPlan::Model => &[],
        };
        let is_custom = |call: &&ToolCall| registry.get(&call.tool.value).is_none_or(|tool| tool.is_custom());
        let numbered = calls.iter().enumerate().filter(|(_, call)| is_custom(call));
        numbered.map(|(number, call)| (index, number, call)).collect::<Vec<_>>()
    })
}

/// Whether two calls are equal, regardless of how their scalars are quoted.
fn is_same_call(a: &ToolCall, b: &ToolCall) -> bool {
    same_calls(&written_calls(std::slice::from_ref(a)), &written_calls(std::slice::from_ref(b)))
}

fn unknown(call: &ToolCall, kept: &[CallEffects], registry: &Registry, device: &TrailDevice, problems: &mut Problems) {
    let name = &call.tool.value;
    if registry.get(name).is_some_and(|tool| !tool.is_recordable && !tool.is_delegating) {
        let message = format!("`{name}` must always run, because it is not recordable: it has no effects to replay");
        problems.error_with_hint(call.tool.span, message, "replay this trail with `--replay intent`");
        return;
    }
    let message = if kept.iter().any(|kept| kept.call.tool.value == *name) {
        format!("the effects of `{name}` are out of date: the trail's call has changed since they were recorded")
    } else {
        format!("no effects of `{name}` are recorded for {}", device.name())
    };
    problems.error_with_hint(call.tool.span, message, RECORD);
}

fn not_called(gone: &CallEffects, problems: &mut Problems) {
    let message = format!("the effects are out of date: the trail no longer calls `{}` here", gone.call.tool.value);
    problems.error_with_hint(gone.call.tool.span, message, RECORD);
}

const RECORD: &str = "record them with `trailblaze run --record effects`";

/// Checks that every effect is a valid call of a built-in tool.
fn check(kept: &CallEffects, registry: &Registry, problems: &mut Problems) {
    for effect in &kept.did {
        let Effect::Call { tool: name, args } = effect else { continue };
        let span = kept.call.tool.span;
        let Some(tool) = registry.get(name).filter(|tool| !tool.is_custom()) else {
            let message =
                format!("`{name}` is not a built-in tool of this device, and effects can only call built-in tools");
            problems.error_with_hint(span, message, RECORD);
            continue;
        };
        // The value of a template is only known when the call is made.
        if let Err(invalid) = tool.schema.check(args)
            && !args.values().any(template::holds_token)
        {
            problems.error(span, format!("an effect cannot be played: `{name}`: {invalid}"));
        }
    }
}
