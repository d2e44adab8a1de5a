//! What healing needs, derived from the events of an attempt and stored next to the trail: by what the elements that were
//! acted on are recognized, and the state that each step ended in.

use std::collections::HashMap;

use serde_json::{Value, json};
use trailblaze_protocol::event::Event;
use trailblaze_protocol::heal::ElementIdentity;
use trailblaze_protocol::ids::{AttemptId, CallId, StepId};

use super::fold::{as_written, steps};
use crate::query::EndState;
use crate::table;
use crate::trail::{Step, StepPlan, ToolCall, Trail, TrailDevice, same_calls, written_calls};
use crate::yaml::{Decode, Problems, YamlNode, loose};

table! {
    /// What healing needs to know about a step.
    pub struct StepIdentities {
        /// The text of the step.
        "step" => step: String,
        /// The calls that acted on an element.
        "calls" => calls: Vec<CallIdentity> = Vec::new(),
        /// The screen at the end of the step: hashes of what is stable on it.
        "end" => end: String = String::new(),
    }
}

table! {
    /// A call, and the element that it acted on.
    pub struct CallIdentity {
        /// The call, as written in the trail.
        "call" => call: ToolCall,
        /// By what the element is recognized after the app has changed.
        "element" => element: ElementIdentity,
    }
}

impl Decode for ElementIdentity {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        const KEYS: [&str; 11] =
            ["kind", "role", "id", "name", "alike", "about", "frame", "item", "within", "near", "others"];
        let mut value = loose(node);
        for (key, _) in node.entries().unwrap_or_default() {
            let name = key.raw().unwrap_or_default();
            if !KEYS.contains(&name) {
                problems.unknown(key.span, "key", name, KEYS);
            }
        }
        // A name may look like a number.
        if let Some(texts) = value.as_object_mut() {
            texts.iter_mut().filter(|(key, _)| *key != "alike").for_each(|(_, value)| as_texts(value));
        }
        let decoded = serde_json::from_value(value);
        decoded.map_err(|error| problems.error(node.span, format!("not the identity of an element: {error}"))).ok()
    }

    fn schema() -> Value {
        let (text, texts) = (json!({"type": "string"}), json!({"type": "array", "items": {"type": "string"}}));
        json!({
            "type": "object",
            "properties": {
                "kind": {"enum": ["press", "field", "toggle", "choice", "plain"]},
                "role": text, "id": text, "name": text, "alike": {"type": "integer"},
                "about": {"type": "array", "items": texts}, "frame": text, "item": text, "within": texts,
                "near": texts, "others": texts,
            },
            "additionalProperties": false,
        })
    }
}

fn as_texts(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(as_texts),
        Value::Number(_) | Value::Bool(_) | Value::Null => *value = Value::from(value.to_string()),
        _ => {}
    }
}

/// What an attempt saw in one step.
#[derive(Debug, Clone, PartialEq)]
pub struct StepSeen {
    pub index: usize,
    /// The calls that the step made, each as `{tool: args}`.
    made: Vec<(Value, Option<ElementIdentity>)>,
    /// The calls that represent them in a recording.
    recorded: Vec<(Value, Option<ElementIdentity>)>,
    end: Vec<String>,
}

/// What one attempt saw, step by step. Of a retried step, only the last try counts.
pub fn fold<'e>(attempt: &AttemptId, events: impl IntoIterator<Item = &'e Event> + Clone) -> Vec<StepSeen> {
    let mut elements: HashMap<&CallId, &ElementIdentity> = HashMap::new();
    let mut ends: HashMap<&StepId, &Vec<String>> = HashMap::new();
    for event in events.clone() {
        match event {
            Event::Touched { call, element: Some(element), .. } => drop(elements.insert(call, element)),
            Event::EndState { step, parts } => drop(ends.insert(step, parts)),
            _ => {}
        }
    }
    let (steps, calls) = steps(attempt, events);
    let seen = |(id, step): (StepId, super::fold::RecordedStep)| {
        let made = calls.of_step(&id);
        let one = |call: &&trailblaze_protocol::event::Called| {
            let element = elements.get(&call.call).map(|element| (*element).clone());
            (as_written(call), element.filter(|_| !call.is_custom))
        };
        let recorded = made.iter().flat_map(|call| calls.recorded(call).calls);
        StepSeen {
            index: step.index,
            recorded: recorded.map(|call| one(&call)).collect(),
            made: made.iter().map(one).collect(),
            end: ends.get(&id).map(|parts| (*parts).clone()).unwrap_or_default(),
        }
    };
    steps.into_iter().map(seen).collect()
}

/// The entries to store for a trail after it was recorded, in the order of its steps.
pub fn entries(trail: &Trail, device: &TrailDevice, seen: &[StepSeen]) -> Vec<Value> {
    let entry = |(index, step): (usize, &Step)| {
        let seen = seen.iter().find(|seen| seen.index == index)?;
        let (calls, seen_calls) = match step.plan(&device.lineage) {
            StepPlan::Recording { calls, .. } => (calls, &seen.recorded),
            StepPlan::Authored(calls) => (calls, &seen.made),
            StepPlan::Model => return None,
        };
        // Another run may have recorded others in the meantime.
        let names = seen_calls.iter().map(|(call, _)| call.as_object().and_then(|call| call.keys().next().cloned()));
        if !calls.iter().map(|call| Some(call.tool.value.clone())).eq(names) {
            return None;
        }
        let calls: Vec<Value> = calls
            .iter()
            .zip(seen_calls)
            .filter_map(|(call, (_, element))| {
                let call = json!({ &call.tool.value: loose(&call.args) });
                Some(json!({"call": call, "element": element.as_ref()?}))
            })
            .collect();
        if calls.is_empty() && seen.end.is_empty() {
            return None;
        }
        let mut entry = json!({"step": step.text.value});
        if !calls.is_empty() {
            entry["calls"] = calls.into();
        }
        if !seen.end.is_empty() {
            entry["end"] = seen.end.join(" ").into();
        }
        Some(entry)
    };
    trail.steps_on(device).filter_map(entry).collect()
}

/// New entries, with the end states of older ones where these are still true, so that a file does not change without need.
pub fn keep_ends(old: &[Value], new: Vec<Value>) -> Vec<Value> {
    let end = |entry: &Value| EndState::parse(entry.get("end")?.as_str()?.split_whitespace());
    let keep = |mut entry: Value| {
        let before = old.iter().find(|old| old["step"] == entry["step"]);
        if let Some(before) = before
            && let (Some(then), Some(now)) = (end(before), end(&entry))
            && then.is_on(&now)
            && now.is_on(&then)
        {
            entry["end"] = before["end"].clone();
        }
        entry
    };
    new.into_iter().map(keep).collect()
}

/// The recorded identities of a trail's elements and the end states of its steps, on one kind of device.
#[derive(Debug, Clone, Default)]
pub struct Identities {
    /// By the index of the step, including the trailhead, and the index of the call in it.
    elements: HashMap<(usize, usize), ElementIdentity>,
    ends: HashMap<usize, EndState>,
}

impl Identities {
    /// Maps what was stored to the steps and calls of a trail. What does not fit any more is left out.
    pub fn new(trail: &Trail, device: &TrailDevice, stored: &[StepIdentities]) -> Identities {
        let mut identities = Identities::default();
        let mut used: Vec<&StepIdentities> = Vec::new();
        for (index, step) in trail.steps_on(device) {
            let is_it = |stored: &&StepIdentities| {
                stored.step == step.text.value && !used.iter().any(|used| std::ptr::eq(*used, *stored))
            };
            let Some(found) = stored.iter().find(is_it) else { continue };
            used.push(found);
            let end = EndState::parse(found.end.split_whitespace()).filter(EndState::is_telling);
            identities.ends.extend(end.map(|end| (index, end)));
            let plan = step.plan(&device.lineage);
            let (StepPlan::Recording { calls, .. } | StepPlan::Authored(calls)) = plan else { continue };
            let mut rest = found.calls.iter();
            for (number, call) in calls.iter().enumerate() {
                let mut ahead = rest.clone();
                if let Some(found) = ahead.find(|stored| is_same(&stored.call, call)) {
                    identities.elements.insert((index, number), found.element.clone());
                    rest = ahead;
                }
            }
        }
        identities
    }

    /// Adds what is known on another device of the same trail.
    pub fn extend(&mut self, other: Identities) {
        self.elements.extend(other.elements);
        self.ends.extend(other.ends);
    }

    pub fn element(&self, step: usize, call: usize) -> Option<&ElementIdentity> {
        self.elements.get(&(step, call))
    }

    /// The state in which a step ended.
    pub fn end(&self, step: usize) -> Option<&EndState> {
        self.ends.get(&step)
    }
}

fn is_same(a: &ToolCall, b: &ToolCall) -> bool {
    same_calls(&written_calls(std::slice::from_ref(a)), &written_calls(std::slice::from_ref(b)))
}
