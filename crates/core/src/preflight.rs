//! What can be said about a trail before anything starts: unknown tools, wrong arguments, steps that need a model.

use std::collections::HashSet;

use serde_json::Value;

use crate::registry::Registry;
use crate::source::SourceError;
use crate::template;
use crate::tool::{Body, Tool};
use crate::trail::{StepPlan, ToolCall, Trail};
use crate::yaml::{Problem, Problems, to_json};

/// All that keeps the trail from running on a device of these classifiers with these tools.
pub fn preflight(trail: &Trail, registry: &Registry, lineage: &[String]) -> Vec<Problem> {
    preflight_calls(trail, lineage, |call, problems| check_call(call, registry, problems))
}

/// The same where custom tools are not called, and their effects are played instead.
pub fn preflight_played(trail: &Trail, registry: &Registry, lineage: &[String]) -> Vec<Problem> {
    preflight_calls(trail, lineage, |call, problems| {
        if registry.get(&call.tool.value).is_some_and(|tool| !tool.is_custom()) {
            check_call(call, registry, problems);
        }
    })
}

fn preflight_calls(trail: &Trail, lineage: &[String], check: impl Fn(&ToolCall, &mut Problems)) -> Vec<Problem> {
    let mut problems = Problems::new(&trail.source);
    if trail.config.skip_reason(lineage).is_some() {
        return Vec::new();
    }
    for step in trail.trailhead.iter().map(|head| &head.0).chain(&trail.steps) {
        match step.plan(lineage) {
            StepPlan::Recording { calls, .. } | StepPlan::Authored(calls) => {
                calls.iter().for_each(|call| check(call, &mut problems));
            }
            StepPlan::Model => {
                let device = lineage.first().map_or("this device", String::as_str);
                problems.error_with_hint(
                    step.text.span,
                    format!("the step needs a model: it has neither `tools` nor a recording for {device}"),
                    "record it once, for example in `trailblaze shell`, or write its `tools:`",
                );
            }
        }
    }
    problems.into_vec()
}

/// The same for a trail that is broken anyway: only what is wrong with the calls that could be read. What else is missing
/// may stand under a key that was not understood.
pub fn preflight_broken(trail: &Trail, registry: &Registry, lineage: &[String]) -> Vec<Problem> {
    let mut problems = Problems::new(&trail.source);
    for step in trail.trailhead.iter().map(|head| &head.0).chain(&trail.steps) {
        if let StepPlan::Recording { calls, .. } | StepPlan::Authored(calls) = step.plan(lineage) {
            calls.iter().for_each(|call| check_call(call, registry, &mut problems));
        }
    }
    problems.into_vec()
}

/// The servers that a trail would need on such a device and that are not there: nothing is started in vain. A tool that
/// nobody knows may be one of any server of which nothing is known.
pub fn missing(trail: &Trail, registry: &Registry, lineage: &[String]) -> Vec<SourceError> {
    if trail.config.skip_reason(lineage).is_some() {
        return Vec::new();
    }
    let steps = trail.trailhead.iter().map(|head| &head.0).chain(&trail.steps);
    let mut names: Vec<&str> = steps
        .flat_map(|step| match step.plan(lineage) {
            StepPlan::Recording { calls, .. } | StepPlan::Authored(calls) => calls,
            StepPlan::Model => &[],
        })
        .map(|call| call.tool.value.as_str())
        .collect();
    let mut seen = HashSet::new();
    let mut missing: Vec<SourceError> = Vec::new();
    while let Some(name) = names.pop() {
        if !seen.insert(name) {
            continue;
        }
        let absent = match registry.get(name).map(|tool| &tool.body) {
            None => registry.absent.clone(),
            Some(Body::Foreign(source)) => source.death().into_iter().collect(),
            Some(Body::Expansion(calls)) => {
                names.extend(calls.iter().map(|call| call.tool.value.as_str()));
                continue;
            }
            Some(Body::BuiltIn(_) | Body::Effects(_)) => continue,
        };
        let is_new = |error: &SourceError| !missing.contains(error);
        let new: Vec<SourceError> = absent.into_iter().filter(is_new).collect();
        missing.extend(new);
    }
    missing
}

/// What is wrong with the calls of YAML tools.
pub fn check_tools(registry: &Registry) -> Vec<Problem> {
    let mut found = Vec::new();
    for tool in registry.tools() {
        let Body::Expansion(calls) = &tool.body else { continue };
        for call in calls.iter() {
            let mut problems = Problems::new(&call.source);
            check_call(call, registry, &mut problems);
            found.extend(problems.into_vec());
        }
    }
    let tools: Vec<&Tool> = registry.tools().map(AsRef::as_ref).collect();
    for cycle in crate::tool_files::cycles(&tools) {
        let Some(Body::Expansion(calls)) = registry.get(&cycle[0]).map(|tool| &tool.body) else { continue };
        let Some(call) = calls.iter().find(|call| call.tool.value == cycle[1]) else { continue };
        let mut problems = Problems::new(&call.source);
        problems.error(call.tool.span, format!("these tools call each other without end: {}", cycle.join(" → ")));
        found.extend(problems.into_vec());
    }
    found
}

fn check_call(call: &ToolCall, registry: &Registry, problems: &mut Problems) {
    let name = &call.tool.value;
    let Some(tool) = registry.get(name) else {
        match registry.suggestion(name) {
            // Whoever needs it is told why its server is not there.
            _ if !registry.absent.is_empty() => {}
            _ if registry.is_partial => {
                let text = format!("`{name}` may be a tool of a server that was not asked; it was not checked");
                problems.warning(call.tool.span, text);
            }
            Some(hint) => problems.error_with_hint(call.tool.span, format!("unknown tool `{name}`"), hint),
            None => problems.error(call.tool.span, format!("unknown tool `{name}`")),
        }
        return;
    };
    let mut typing = Problems::new(problems.source());
    let args = match to_json(&call.args, tool.schema.json(), &mut typing) {
        Some(Value::Object(args)) => args,
        _ => {
            for problem in typing.into_vec() {
                match problem.hint {
                    Some(hint) => problems.error_with_hint(problem.span, problem.message, hint),
                    None => problems.error(problem.span, problem.message),
                }
            }
            return;
        }
    };
    let Err(misfit) = tool.schema.check(&args) else { return };
    let has_templates = args.values().any(template::holds_token);
    for missing in &misfit.missing {
        problems.error(call.tool.span, format!("`{name}` lacks the argument `{missing}`"));
    }
    for unknown in &misfit.unknown {
        problems.error(call.args.span, format!("`{name}`: {unknown}"));
    }
    // What a template will stand for is known only when the call is made.
    if !has_templates {
        for wrong in &misfit.wrong {
            problems.error(call.args.span, format!("`{name}`: {wrong}"));
        }
    }
}
