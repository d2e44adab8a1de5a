//! From what a script returned or threw to an outcome.

use serde_json::{Value, json};
use trailblaze_protocol::outcome::{Outcome, Variant};
use trailblaze_script::Thrown;

use crate::answer;

/// A text, any other value, or the result of a tool as tool servers return it.
pub fn returned(mut returned: Value) -> Outcome {
    let changes = returned["changes"].take();
    let value = returned.get_mut("value").map(Value::take).unwrap_or_default();
    let mut result = match value {
        Value::Null => json!({}),
        Value::String(text) => json!({"content": [{"type": "text", "text": text}]}),
        value if value.get("content").is_some_and(Value::is_array) => value,
        value if value.get("isError") == Some(&Value::Bool(true)) => {
            let said = ["message", "content", "text"].into_iter().find_map(|key| value.get(key)?.as_str());
            let text = said.map_or_else(|| value.to_string(), str::to_string);
            json!({"isError": true, "content": [{"type": "text", "text": text}]})
        }
        value => json!({"content": [{"type": "text", "text": value.to_string()}], "structuredContent": value}),
    };
    let is_delegating = result["structuredContent"].get("_trailblaze_delegates").is_some();
    if is_delegating && result["structuredContent"].as_object().is_some_and(|fields| fields.len() == 1) {
        result["content"] = json!([]);
    }
    let mut outcome = answer::outcome(result, "", false);
    if !outcome.is_error() {
        let own = answer::outcome(json!({"_meta": {"trailblaze": changes}}), "", false).memory;
        // What the result says explicitly wins.
        for (name, value) in own.set {
            outcome.memory.set.entry(name).or_insert(value);
        }
        outcome.memory.deleted.extend(own.deleted);
    }
    outcome
}

pub fn threw(value: &Value, thrown: &Thrown) -> Outcome {
    if value["isFailure"] == true {
        let variant = if value["isFatal"] == true { Variant::FatalError } else { Variant::ExceptionThrown };
        return Outcome { variant, text: thrown.message.clone(), ..Outcome::default() };
    }
    let mut outcome = Outcome::failed(thrown.to_string());
    if let Some(variant) = value["variant"].as_str() {
        outcome.variant = Variant::from_name(variant, Vec::new());
        let tool = value["tool"].as_str().unwrap_or_default();
        outcome.text = format!("its call to `{tool}` failed: {}", thrown.message_at_place());
    }
    outcome
}
