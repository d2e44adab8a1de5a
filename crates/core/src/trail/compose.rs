//! The text of a new trail file.

use serde_json::{Map, Value, json};
use trailblaze_protocol::event::StepKind;

use crate::yaml::block;

/// One step of a new trail file.
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
    /// For one platform: `recording:`.
    Recorded { classifier: String, calls: Vec<Value> },
    /// None: a model carries out the step.
    None,
}

impl NewStep {
    /// The step as an item of `trail:`.
    pub fn item(&self) -> Value {
        let mut item = self.words();
        match &self.calls {
            NewCalls::Anywhere(calls) => item.insert("tools".into(), calls.clone().into()),
            NewCalls::Recorded { classifier, calls } => item.insert("recording".into(), json!({ classifier: calls })),
            NewCalls::None => None,
        };
        item.into()
    }

    /// The step as the value of `trailhead:`, whose recording contains one call.
    pub fn trailhead(&self) -> Value {
        match &self.calls {
            NewCalls::Recorded { classifier, calls } => {
                let mut head = self.words();
                let call = calls.first().cloned().unwrap_or_else(|| json!({}));
                head.insert("recording".into(), json!({ classifier: call }));
                head.into()
            }
            NewCalls::Anywhere(_) | NewCalls::None => self.item(),
        }
    }

    /// Whether it can be a trailhead: the recording of one contains a single call.
    pub fn fits_trailhead(&self) -> bool {
        !matches!(&self.calls, NewCalls::Recorded { calls, .. } if calls.len() != 1)
    }

    fn words(&self) -> Map<String, Value> {
        let key = if self.kind == StepKind::Verify { "verify" } else { "step" };
        Map::from_iter([(key.to_string(), self.text.as_str().into())])
    }
}

/// The text of a new trail file. At most the first step is a trailhead.
pub fn new_trail(config: Map<String, Value>, steps: &[NewStep]) -> String {
    let mut document = Map::new();
    if !config.is_empty() {
        document.insert("config".into(), Value::Object(config));
    }
    let (heads, steps): (Vec<&NewStep>, Vec<&NewStep>) =
        steps.iter().partition(|step| step.kind == StepKind::Trailhead);
    if let Some(head) = heads.first() {
        document.insert("trailhead".into(), head.trailhead());
    }
    document.insert("trail".into(), steps.into_iter().map(NewStep::item).collect());
    block(&Value::Object(document), 0)
}
