//! Which effects belong to which call of a trail, and whether they can be played.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use trailblaze_protocol::event::Origin;

use crate::engine::dispatch::{Arguments, Call};
use crate::engine::registry::Registry;
use crate::engine::tool::Tool;
use crate::record::effects::{CallEffects, Effect, Journal};
use crate::template;
use crate::trail::{StepPlan, ToolCall, Trail};
use crate::yaml::{Problem, Problems, Source, loose};

/// What becomes of the calls of custom tools when a trail is replayed.
#[derive(Clone, Copy, Default)]
pub enum Custom<'a> {
    /// The tools run.
    #[default]
    Run,
    /// Their effects are played in their place.
    Play(&'a Script),
    /// The tools run, and what they do must be what they did.
    Verify(&'a Script, &'a dyn Journal),
}

/// The effects of a trail's calls on one kind of device.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// By the number of the step, the trailhead included, and of the call in it.
    effects: HashMap<(usize, usize), Arc<[Effect]>>,
    /// Where they are kept.
    file: String,
}

impl Script {
    pub(crate) fn of(&self, step: usize, call: usize) -> Option<&Arc<[Effect]>> {
        self.effects.get(&(step, call))
    }

    /// The call that plays the effects of one. Nobody here knows the schema of its arguments, which are only shown.
    pub(crate) fn playing(&self, step: usize, number: usize, call: &ToolCall) -> Option<Call> {
        let (effects, tool) = (self.of(step, number)?, &call.tool.value);
        let args = loose(&call.args).as_object().cloned().unwrap_or_default();
        let stand_in = Some(Arc::new(Tool::playing(tool, Arc::clone(effects), &self.file)));
        Some(Call { stand_in, ..Call::new(tool, Arguments::Json(args), Origin::Step) })
    }
}

/// Finds the effects of every custom call of a trail: the same calls in the same order as when they were recorded.
pub fn script(
    trail: &Trail,
    registry: &Registry,
    lineage: &[String],
    (file, kept): (&Arc<Source>, &[CallEffects]),
) -> Result<Script, Vec<Problem>> {
    let mut script = Script { effects: HashMap::new(), file: file.path.clone() };
    if trail.config.skip_reason(lineage).is_some() {
        return Ok(script);
    }
    let mut problems = Problems::new(&trail.source);
    let mut own = Problems::new(file);
    let mut next = 0;
    for (step, number, call) in custom_calls(trail, registry, lineage) {
        match kept[next..].iter().position(|kept| is_same(&kept.call, call)) {
            Some(ahead) => {
                kept[next..next + ahead].iter().for_each(|gone| not_called(gone, &mut own));
                let found = &kept[next + ahead];
                check(found, registry, &mut own);
                script.effects.insert((step, number), found.did.as_slice().into());
                next += ahead + 1;
            }
            None => unknown(call, kept, lineage, &mut problems),
        }
    }
    if !problems.has_errors() {
        kept[next..].iter().for_each(|gone| not_called(gone, &mut own));
    }
    let problems: Vec<Problem> = problems.into_vec().into_iter().chain(own.into_vec()).collect();
    if problems.is_empty() { Ok(script) } else { Err(problems) }
}

/// Calls that are not built in, each with its place. A tool that nobody knows is taken to be a server's.
fn custom_calls<'t>(
    trail: &'t Trail,
    registry: &Registry,
    lineage: &[String],
) -> impl Iterator<Item = (usize, usize, &'t ToolCall)> {
    let steps = trail.trailhead.iter().map(|head| &head.0).chain(&trail.steps).enumerate();
    steps.flat_map(move |(index, step)| {
        let calls = match step.plan(lineage) {
            StepPlan::Recording { calls, .. } | StepPlan::Authored(calls) => calls,
            StepPlan::Model => &[],
        };
        let is_custom = |call: &&ToolCall| registry.get(&call.tool.value).is_none_or(|tool| tool.is_custom());
        let numbered = calls.iter().enumerate().filter(|(_, call)| is_custom(call));
        numbered.map(|(number, call)| (index, number, call)).collect::<Vec<_>>()
    })
}

/// Whether two calls say the same, however their scalars are quoted.
fn is_same(a: &ToolCall, b: &ToolCall) -> bool {
    fn text(value: Value) -> Value {
        match value {
            Value::Array(items) => items.into_iter().map(text).collect(),
            Value::Object(map) => Value::Object(map.into_iter().map(|(key, value)| (key, text(value))).collect()),
            Value::String(text) => Value::from(text),
            other => Value::from(other.to_string()),
        }
    }
    a.tool.value == b.tool.value && text(loose(&a.args)) == text(loose(&b.args))
}

fn unknown(call: &ToolCall, kept: &[CallEffects], lineage: &[String], problems: &mut Problems) {
    let name = &call.tool.value;
    let message = match kept.iter().any(|kept| kept.call.tool.value == *name) {
        true => format!(
            "the effects of `{name}` are out of date: the trail calls it otherwise than when they were recorded"
        ),
        false => {
            let device = lineage.first().map_or("this device", String::as_str);
            format!("there are no effects of `{name}` for {device}")
        }
    };
    problems.error_with_hint(call.tool.span, message, RECORD);
}

fn not_called(gone: &CallEffects, problems: &mut Problems) {
    let message =
        format!("the effects are out of date: the trail does not call `{}` here any more", gone.call.tool.value);
    problems.error_with_hint(gone.call.tool.span, message, RECORD);
}

const RECORD: &str = "record them with `trailblaze run --record effects`";

/// Whether every effect is a call that can be made without anybody's help.
fn check(kept: &CallEffects, registry: &Registry, problems: &mut Problems) {
    for effect in &kept.did {
        let Effect::Call { tool: name, args } = effect else { continue };
        let span = kept.call.tool.span;
        let Some(tool) = registry.get(name).filter(|tool| !tool.is_custom()) else {
            let message = format!("`{name}` is no built-in tool of this device, and effects call no others");
            problems.error_with_hint(span, message, RECORD);
            continue;
        };
        // What a template will stand for is known only when the call is made.
        if let Err(misfit) = tool.schema.check(args)
            && !args.values().any(template::holds_token)
        {
            problems.error(span, format!("an effect cannot be played: `{name}`: {misfit}"));
        }
    }
}
