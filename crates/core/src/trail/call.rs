//! One call in a file: `toolName: {arguments}`, and `as: name` to remember its result.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::names;
use crate::yaml::{Decode, Problems, Source, Spanned, YamlKind, YamlNode, loose};

/// A call as written. Its arguments are only typed once the tool's schema is known, so that calls of unknown tools are kept
/// unchanged.
#[derive(Debug, Clone)]
pub struct ToolCall {
    pub tool: Spanned<String>,
    pub args: Arc<YamlNode>,
    /// The name under which its result is remembered.
    pub result_name: Option<Spanned<String>>,
    pub source: Arc<Source>,
}

/// The key next to the tool that names its result.
const AS: &str = "as";

/// A call as it is written in JSON: `{tool: args}`, or `{tool: args, "as": name}`.
pub fn written_call(tool: &str, args: Value, result_name: Option<&str>) -> Value {
    let mut call = Map::from_iter([(tool.to_string(), args)]);
    call.extend(result_name.map(|name| (AS.to_string(), name.into())));
    Value::Object(call)
}

/// The parts of a call that is written in JSON: the tool, its arguments, and the name of its result.
pub fn parts_of(written: &Value) -> Option<(&str, &Value, Option<&str>)> {
    let entries = written.as_object()?;
    let result_name = entries.get(AS).filter(|_| entries.len() > 1);
    let mut others = entries.iter().filter(|(key, _)| result_name.is_none() || *key != AS);
    let (tool, args) = others.next()?;
    let result_name = match result_name {
        Some(name) => Some(name.as_str()?),
        None => None,
    };
    others.next().is_none().then_some((tool.as_str(), args, result_name))
}

impl PartialEq for ToolCall {
    fn eq(&self, other: &Self) -> bool {
        self.tool.value == other.tool.value
            && same(&self.args, &other.args)
            && self.result_name() == other.result_name()
    }
}

/// Whether two values are equal, ignoring their places.
fn same(a: &YamlNode, b: &YamlNode) -> bool {
    match (&a.kind, &b.kind) {
        (YamlKind::Seq(a), YamlKind::Seq(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (YamlKind::Map(a), YamlKind::Map(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(&a.0, &b.0) && same(&a.1, &b.1))
        }
        (a, b) => a == b,
    }
}

impl Decode for ToolCall {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        let entries = node.entries().unwrap_or_default();
        let result = entries.iter().find(|(key, _)| entries.len() > 1 && key.raw() == Some(AS)).map(|(_, value)| value);
        let mut tools = entries.iter().filter(|(key, _)| result.is_none() || key.raw() != Some(AS));
        let (Some((name, args)), None) = (tools.next(), tools.next()) else {
            let message = "a call must be written as `toolName: {arguments}`, with one tool per item";
            problems.error(node.span, format!("{message}; found {}", found(node)));
            return None;
        };
        let result_name = match result {
            Some(value) => Some(result_name(value, problems)?),
            None => None,
        };
        let tool = Spanned { value: name.raw().unwrap_or_default().to_string(), span: name.span };
        let args = match &args.kind {
            YamlKind::Map(_) => args.clone(),
            YamlKind::Scalar { .. } if args.is_null() => YamlNode { span: args.span, kind: YamlKind::Map(Vec::new()) },
            _ => {
                let message = format!("the arguments of `{}` must be a mapping, not {}", tool.value, args.noun());
                problems.error_with_hint(args.span, message, format!("write `{}: {{name: value}}`", tool.value));
                return None;
            }
        };
        Some(ToolCall { tool, args: Arc::new(args), result_name, source: Arc::clone(problems.source()) })
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "minProperties": 1,
            "maxProperties": 2,
            "properties": {AS: result_name_schema()},
            "additionalProperties": {"type": ["object", "null"]},
        })
    }
}

/// The schema of `as:` next to a call.
pub fn result_name_schema() -> Value {
    json!({
        "type": "string",
        "pattern": "^[a-zA-Z_][a-zA-Z0-9_]*$",
        "description": "Remember the result of the call under this name, for later calls: `{{name}}`, or `{{name.part}}` for a part of structured data.",
    })
}

fn result_name(node: &YamlNode, problems: &mut Problems) -> Option<Spanned<String>> {
    let name = node.raw().unwrap_or_default();
    if node.is_null() || !names::is_parameter(name) {
        let message = format!("`{AS}:` needs a name for the result: letters, digits and _, not {}", shown(node));
        problems.error_with_hint(node.span, message, "write `as: order`, and `{{order}}` in later calls");
        return None;
    }
    Some(Spanned { value: name.to_string(), span: node.span })
}

fn shown(node: &YamlNode) -> String {
    match node.raw() {
        Some(text) => format!("`{text}`"),
        None => node.noun().to_string(),
    }
}

impl ToolCall {
    /// The name under which its result is remembered.
    pub fn result_name(&self) -> Option<&str> {
        self.result_name.as_ref().map(|name| name.value.as_str())
    }

    /// Where it is written: `file:line:column`.
    pub fn place(&self) -> String {
        format!("{}:{}:{}", self.source.path, self.tool.span.line, self.tool.span.column)
    }

    /// The call in JSON, with these arguments.
    pub fn written_with(&self, args: Value) -> Value {
        written_call(&self.tool.value, args, self.result_name())
    }
}

/// Calls as in a recording, with scalars read as in YAML.
pub fn written_calls(calls: &[ToolCall]) -> Vec<Value> {
    calls.iter().map(|call| call.written_with(loose(&call.args))).collect()
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

fn found(node: &YamlNode) -> String {
    match node.entries() {
        Some(entries) => format!("{} keys", entries.len()),
        None => node.noun().to_string(),
    }
}
