//! One call in a file: `toolName: {arguments}`.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::yaml::{Decode, Kind, Node, Problems, Source, Spanned, loose};

/// A call as written. Its arguments are only typed once the tool's schema is known, so that calls of unknown tools are kept
/// unchanged.
#[derive(Debug, Clone)]
pub struct ToolCall {
    pub tool: Spanned<String>,
    pub args: Arc<Node>,
    pub source: Arc<Source>,
}

impl PartialEq for ToolCall {
    fn eq(&self, other: &Self) -> bool {
        self.tool.value == other.tool.value && same(&self.args, &other.args)
    }
}

/// Whether two values are equal, ignoring their places.
fn same(a: &Node, b: &Node) -> bool {
    match (&a.kind, &b.kind) {
        (Kind::Seq(a), Kind::Seq(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Kind::Map(a), Kind::Map(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(&a.0, &b.0) && same(&a.1, &b.1))
        }
        (a, b) => a == b,
    }
}

impl Decode for ToolCall {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        let [(name, args)] = node.entries().unwrap_or_default() else {
            let message = "a call must be written as `toolName: {arguments}`, with one tool per item";
            problems.error(node.span, format!("{message}; found {}", found(node)));
            return None;
        };
        let tool = Spanned { value: name.raw().unwrap_or_default().to_string(), span: name.span };
        let args = match &args.kind {
            Kind::Map(_) => args.clone(),
            Kind::Scalar { .. } if args.is_null() => Node { span: args.span, kind: Kind::Map(Vec::new()) },
            _ => {
                let message = format!("the arguments of `{}` must be a mapping, not {}", tool.value, args.noun());
                problems.error_with_hint(args.span, message, format!("write `{}: {{name: value}}`", tool.value));
                return None;
            }
        };
        Some(ToolCall { tool, args: Arc::new(args), source: Arc::clone(problems.source()) })
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": {"type": ["object", "null"]},
        })
    }
}

/// Calls as in a recording, each as `{tool: args}`, with scalars read as in YAML.
pub fn written_calls(calls: &[ToolCall]) -> Vec<Value> {
    calls.iter().map(|call| json!({ &call.tool.value: loose(&call.args) })).collect()
}

/// Whether two lists of calls are equal, regardless of how their scalars are quoted.
pub fn same_calls(a: &[Value], b: &[Value]) -> bool {
    fn text(value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(text).collect(),
            Value::Object(map) => Value::Object(map.iter().map(|(key, value)| (key.clone(), text(value))).collect()),
            Value::String(text) => Value::from(text.as_str()),
            other => Value::from(other.to_string()),
        }
    }
    a.iter().map(text).eq(b.iter().map(text))
}

fn found(node: &Node) -> String {
    match node.entries() {
        Some(entries) => format!("{} keys", entries.len()),
        None => node.noun().to_string(),
    }
}
