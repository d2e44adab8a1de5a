//! The recorded effects of a custom tool: the built-in calls beneath its call and its changes of memory, in order. Effects
//! are a fold over the events, are stored next to the trail, and can be played instead of the tool.

mod entries;
mod fold;

pub use entries::entries;
pub use fold::{CallDid, StepDid, fold, of_call};

use serde_json::{Map, Value, json};
use trailblaze_protocol::ids::CallId;
use trailblaze_protocol::outcome::MemoryChanges;

use crate::diff::diff;
use crate::table;
use crate::trail::ToolCall;
use crate::yaml::{Decode, Entries, Problems, YamlNode, inline, loose};

/// The key of a memory change among calls. Unambiguous, because effects only call built-in tools and none has this name.
pub(crate) const MEMORY: &str = "memory";

#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// A call of a built-in tool, as authored: templates are not resolved, and secrets are placeholders.
    Call {
        tool: String,
        args: Map<String, Value>,
    },
    Memory(MemoryChanges),
}

/// The port to the events of the current attempt.
pub trait Journal: Send + Sync {
    /// The effects of a call that has ended.
    fn effects(&self, call: &CallId) -> Vec<Effect>;
}

table! {
    /// A call of a custom tool in a trail, and what it did.
    pub struct CallEffects {
        /// The call, as written in the trail.
        "call" => call: ToolCall,
        /// Calls of built-in tools and changes of memory, in order.
        "did" => did: Vec<Effect> = Vec::new(),
    }
}

table! {
    /// A change of memory.
    pub struct MemoryChange {
        /// Values by name.
        "set" => set: Entries<YamlNode> = Entries::default(),
        /// Names that were forgotten.
        "deleted" => deleted: Vec<String> = Vec::new(),
    }
}

impl Effect {
    /// The effect as it is written to the file.
    pub fn json(&self) -> Value {
        match self {
            Effect::Call { tool, args } => json!({ tool: args }),
            Effect::Memory(changes) => json!({ MEMORY: changes }),
        }
    }

    /// Appends an effect. Consecutive memory changes are merged.
    fn push(self, effects: &mut Vec<Effect>) {
        match (effects.last_mut(), self) {
            (Some(Effect::Memory(earlier)), Effect::Memory(later)) => {
                earlier.set.retain(|name, _| !later.deleted.contains(name));
                earlier.deleted.retain(|name| !later.set.contains_key(name) && !later.deleted.contains(name));
                earlier.set.extend(later.set);
                earlier.deleted.extend(later.deleted);
            }
            (_, effect) => effects.push(effect),
        }
    }
}

/// The line-by-line difference between recorded and actual effects; `None` if there is none.
pub fn differences(recorded: &[Effect], happened: &[Effect]) -> Option<String> {
    let written = |effect: &Effect| match effect {
        Effect::Call { tool, args } => format!("{tool}: {}", inline(&Value::Object(args.clone()))),
        Effect::Memory(changes) => format!("{MEMORY}: {}", inline(&json!(changes))),
    };
    let lines = |effects: &[Effect]| effects.iter().map(written).collect::<Vec<_>>();
    diff(&lines(recorded), &lines(happened))
}

impl Decode for Effect {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        if let [(key, value)] = node.entries().unwrap_or_default()
            && key.raw() == Some(MEMORY)
        {
            let MemoryChange { set, deleted, .. } = MemoryChange::decode(value, problems)?;
            let set = set.0.into_iter().map(|(name, value)| (name.value, loose(&value))).collect();
            return Some(Effect::Memory(MemoryChanges { set, deleted }));
        }
        let call = ToolCall::decode(node, problems)?;
        let Value::Object(args) = loose(&call.args) else { return None };
        Some(Effect::Call { tool: call.tool.value, args })
    }

    fn schema() -> Value {
        ToolCall::schema()
    }
}

#[cfg(test)]
mod tests;
