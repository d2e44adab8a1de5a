//! The text of a new trail file.

use serde_json::{Map, Value, json};
use trailblaze_protocol::event::StepKind;

use crate::yaml::block;

/// What a new trail file says of one step.
#[derive(Debug, Clone, PartialEq)]
pub struct NewStep {
    pub kind: StepKind,
    pub text: String,
    pub calls: NewCalls,
}

#[derive(Debug, Clone, PartialEq)]
pub enum NewCalls {
    /// For every device: `tools:`.
    Anywhere(Vec<Value>),
    /// In the words of one platform: `recording:`.
    Recorded { classifier: String, calls: Vec<Value> },
    /// Left to a model.
    None,
}

/// The text of a new trail file.
pub fn new_trail(config: Map<String, Value>, steps: &[NewStep]) -> String {
    let mut document = Map::new();
    if !config.is_empty() {
        document.insert("config".into(), Value::Object(config));
    }
    let entry = |step: &NewStep, with_calls: bool| {
        let mut entry = Map::new();
        let key = if step.kind == StepKind::Verify { "verify" } else { "step" };
        entry.insert(key.into(), step.text.as_str().into());
        match &step.calls {
            _ if !with_calls => {}
            NewCalls::Anywhere(calls) => {
                entry.insert("tools".into(), calls.clone().into());
            }
            NewCalls::Recorded { classifier, calls } => {
                entry.insert("recording".into(), json!({ classifier: calls }));
            }
            NewCalls::None => {}
        }
        Value::Object(entry)
    };
    let mut trail = Vec::new();
    for step in steps {
        match (step.kind, &step.calls) {
            (StepKind::Trailhead, NewCalls::Recorded { classifier, calls }) if calls.len() == 1 => {
                let mut head = entry(step, false);
                head["recording"] = json!({ classifier: calls[0] });
                document.insert("trailhead".into(), head);
            }
            (StepKind::Trailhead, _) => {
                document.insert("trailhead".into(), entry(step, true));
            }
            _ => trail.push(entry(step, true)),
        }
    }
    document.insert("trail".into(), trail.into());
    block(&Value::Object(document), 0)
}
