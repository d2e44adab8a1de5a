//! What a custom tool did when it was recorded: the calls of built-in tools beneath its call and what it changed in
//! memory, in order. Effects are a fold over the events, are kept beside the trail, and can be played instead of the tool.

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
use crate::yaml::{Decode, Entries, Node, Problems, inline, loose};

/// How a change of memory is written among calls. No built-in tool has this name, and effects call no others.
pub(crate) const MEMORY: &str = "memory";

#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// A call of a built-in tool, as authored: templates stay templates, secrets their names.
    Call {
        tool: String,
        args: Map<String, Value>,
    },
    Memory(MemoryChanges),
}

/// The port to the events of the attempt that is under way.
pub trait Journal: Send + Sync {
    /// What a call that is over has done.
    fn effects(&self, call: &CallId) -> Vec<Effect>;
}

table! {
    /// A call of a custom tool in a trail, and what it did.
    pub struct CallEffects {
        /// The call, as it stands in the trail.
        "call" => call: ToolCall,
        /// Calls of built-in tools and changes of memory, in order.
        "did" => did: Vec<Effect> = Vec::new(),
    }
}

table! {
    /// A change of memory.
    pub struct Remembered {
        /// Values by name.
        "set" => set: Entries<Node> = Entries::default(),
        /// Names that were forgotten.
        "deleted" => deleted: Vec<String> = Vec::new(),
    }
}

impl Effect {
    /// As it is written.
    pub fn json(&self) -> Value {
        match self {
            Effect::Call { tool, args } => json!({ tool: args }),
            Effect::Memory(changes) => json!({ MEMORY: changes }),
        }
    }

    /// Adds what happens next. One change of memory after another is one change.
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

/// How what happened differs from what was recorded, line by line; nothing where it does not.
pub fn differences(recorded: &[Effect], happened: &[Effect]) -> Option<String> {
    let written = |effect: &Effect| match effect {
        Effect::Call { tool, args } => format!("{tool}: {}", inline(&Value::Object(args.clone()))),
        Effect::Memory(changes) => format!("{MEMORY}: {}", inline(&json!(changes))),
    };
    let lines = |effects: &[Effect]| effects.iter().map(written).collect::<Vec<_>>();
    diff(&lines(recorded), &lines(happened))
}

impl Decode for Effect {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        if let [(key, value)] = node.entries().unwrap_or_default()
            && key.raw() == Some(MEMORY)
        {
            let Remembered { set, deleted, .. } = Remembered::decode(value, problems)?;
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
