//! Derives the effects of calls from the events of an attempt.

use serde_json::{Map, Value};
use trailblaze_protocol::event::{CallOrigin, CallResult, Called, Event, StepKind, ToolKind};
use trailblaze_protocol::ids::{AttemptId, CallId};

use super::Effect;
use crate::record::fold::{Calls, as_written, steps};

/// The effects of the calls of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct StepDid {
    pub index: usize,
    pub kind: StepKind,
    /// The calls that the step made.
    pub made: Vec<CallDid>,
    /// The calls that represent them in a recording.
    pub recorded: Vec<CallDid>,
}

/// A call, as it is written in trails, and its effects.
#[derive(Debug, Clone, PartialEq)]
pub struct CallDid {
    pub call: Value,
    /// `None` for a built-in tool, which is its own effect, and for a tool that must always be run.
    pub did: Option<Vec<Effect>>,
}

/// The effects of one attempt, step by step. Of a retried step, only the last try counts.
pub fn fold<'e>(attempt: &AttemptId, events: impl IntoIterator<Item = &'e Event>) -> Vec<StepDid> {
    let (steps, calls) = steps(attempt, events);
    let did = |call: &&Called| CallDid { call: as_written(call), did: kept(&calls, call) };
    steps
        .into_iter()
        .map(|(id, step)| {
            let made = calls.of_step(&id);
            let recorded = made.iter().flat_map(|call| calls.recorded(call).calls);
            let (index, kind) = (step.index, step.kind);
            StepDid {
                index,
                kind,
                recorded: recorded.map(|call| did(&call)).collect(),
                made: made.iter().map(did).collect(),
            }
        })
        .collect()
}

/// The effects of one call.
pub fn of_call<'e>(call: &CallId, events: impl IntoIterator<Item = &'e Event>) -> Vec<Effect> {
    let mut calls = Calls::default();
    let mut found = None;
    for event in events {
        if let Event::Called(called) = event
            && called.call == *call
        {
            found = Some(called);
        }
        calls.hear(event);
    }
    let mut effects = Vec::new();
    if let Some(called) = found {
        add(&calls, called, &mut effects);
    }
    effects
}

fn kept(calls: &Calls<'_>, call: &Called) -> Option<Vec<Effect>> {
    let mut effects = Vec::new();
    add(calls, call, &mut effects);
    (call.is_custom && (call.is_recordable || call.is_delegating)).then_some(effects)
}

/// The calls that a custom tool made before it failed count; its memory changes do not, because they were not applied. They were if
/// one of its delegates failed: memory changes before the delegates are called.
fn add(calls: &Calls<'_>, call: &Called, effects: &mut Vec<Effect>) {
    let answer = match calls.answer(call) {
        Some(CallResult::Outcome(outcome)) => Some(outcome),
        _ => None,
    };
    let passed = answer.is_some_and(|outcome| !outcome.is_error());
    let (delegates, own): (Vec<_>, Vec<_>) =
        calls.beneath(call).into_iter().partition(|child| child.origin == CallOrigin::Delegate);
    if call.is_custom {
        own.into_iter().for_each(|child| add(calls, child, effects));
    } else if delegates.is_empty() && passed && matches!(call.kind, ToolKind::Action | ToolKind::Assertion) {
        Effect::Call { tool: call.tool.clone(), args: Map::clone(&call.args) }.push(effects);
    }
    // What a built-in tool remembers by itself is part of its call; its result is not.
    let remembers = (call.is_custom || call.result_name.is_some()) && (passed || !delegates.is_empty());
    if let Some(outcome) = answer.filter(|outcome| remembers && !outcome.memory.is_empty()) {
        Effect::Memory(outcome.memory.clone()).push(effects);
    }
    delegates.into_iter().for_each(|child| add(calls, child, effects));
}
