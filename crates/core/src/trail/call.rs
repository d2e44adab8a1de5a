//! One call in a file: `toolName: {arguments}`, `as: name` to remember its result, and `soft: true` to go on if it fails.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use trailblaze_protocol::event::Place;

use crate::names;
use crate::yaml::{Decode, Problems, Source, Span, Spanned, YamlKind, YamlNode, loose};

/// A call as written. Its arguments are only typed once the tool's schema is known, so that calls of unknown tools are kept
/// unchanged.
#[derive(Debug, Clone)]
pub struct ToolCall {
    pub tool: Spanned<String>,
    pub args: Arc<YamlNode>,
    /// The name under which its result is remembered.
    pub result_name: Option<Spanned<String>>,
    /// Whether the step goes on if it fails; the attempt fails at its end.
    pub is_soft: bool,
    pub source: Arc<Source>,
}

/// The key next to the tool that names its result.
const AS: &str = "as";
/// The key next to the tool of a check after whose failure the step goes on.
const SOFT: &str = "soft";

/// The keys that may stand next to the tool of a call.
pub const CALL_KEYS: [&str; 2] = [AS, SOFT];

/// The schema of the keys next to the tool of a call.
pub fn call_key_schemas() -> [(&'static str, Value); 2] {
    let soft = json!({
        "type": "boolean",
        "description": "If the check fails, go on with the step, and fail the trail at its end.",
    });
    [(AS, result_name_schema()), (SOFT, soft)]
}

/// A call as it is written in JSON: `{tool: args}`, with `"as": name` and `"soft": true` where they are given.
pub fn written_call(tool: &str, args: Value, result_name: Option<&str>, is_soft: bool) -> Value {
    let mut call = Map::from_iter([(tool.to_string(), args)]);
    call.extend(result_name.map(|name| (AS.to_string(), name.into())));
    call.extend(is_soft.then(|| (SOFT.to_string(), true.into())));
    Value::Object(call)
}

/// The parts of a call that is written in JSON.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CallParts<'a> {
    pub tool: &'a str,
    pub args: &'a Value,
    /// The name under which its result is remembered.
    pub result_name: Option<&'a str>,
    pub is_soft: bool,
}

pub fn parts_of(written: &Value) -> Option<CallParts<'_>> {
    let entries = written.as_object()?;
    let beside = |key: &str| entries.get(key).filter(|_| entries.len() > 1);
    let mut others = entries.iter().filter(|(key, _)| entries.len() == 1 || !CALL_KEYS.contains(&key.as_str()));
    let (tool, args) = others.next()?;
    let result_name = match beside(AS) {
        Some(name) => Some(name.as_str()?),
        None => None,
    };
    let is_soft = match beside(SOFT) {
        Some(soft) => soft.as_bool()?,
        None => false,
    };
    others.next().is_none().then_some(CallParts { tool, args, result_name, is_soft })
}

impl PartialEq for ToolCall {
    fn eq(&self, other: &Self) -> bool {
        self.tool.value == other.tool.value
            && same(&self.args, &other.args)
            && self.result_name() == other.result_name()
            && self.is_soft == other.is_soft
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
        let is_beside = |key: &YamlNode| entries.len() > 1 && key.raw().is_some_and(|key| CALL_KEYS.contains(&key));
        let beside = |name: &str| entries.iter().find(|(key, _)| is_beside(key) && key.raw() == Some(name));
        let mut tools = entries.iter().filter(|(key, _)| !is_beside(key));
        let (Some((name, args)), None) = (tools.next(), tools.next()) else {
            let message = "a call must be written as `toolName: {arguments}`, with one tool per item";
            problems.error(node.span, format!("{message}; found {}", found(node)));
            return None;
        };
        let result_name = match beside(AS) {
            Some((_, value)) => Some(result_name(value, problems)?),
            None => None,
        };
        let is_soft = match beside(SOFT) {
            Some((_, value)) => bool::decode(value, problems)?,
            None => false,
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
        Some(ToolCall { tool, args: Arc::new(args), result_name, is_soft, source: Arc::clone(problems.source()) })
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "minProperties": 1,
            "maxProperties": 1 + CALL_KEYS.len(),
            "properties": Map::from_iter(call_key_schemas().map(|(key, schema)| (key.to_string(), schema))),
            "additionalProperties": {"type": ["object", "null"]},
        })
    }
}

/// The schema of `as:` next to a call.
fn result_name_schema() -> Value {
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

    /// Where it is written.
    pub fn position(&self) -> Place {
        let Span { line, column, .. } = self.tool.span;
        Place { file: self.source.path.clone(), line, column }
    }

    /// The same as text.
    pub fn place(&self) -> String {
        self.position().to_string()
    }

    /// Where its arguments contain a text, such as a template; otherwise where the call is.
    pub fn place_of(&self, text: &str) -> String {
        let span = scalar_with(&self.args, text).unwrap_or(self.tool.span);
        format!("{}:{}:{}", self.source.path, span.line, span.column)
    }

    /// The call in JSON, with these arguments.
    pub fn written_with(&self, args: Value) -> Value {
        written_call(&self.tool.value, args, self.result_name(), self.is_soft)
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

/// The first scalar that contains a text.
fn scalar_with(node: &YamlNode, text: &str) -> Option<Span> {
    match &node.kind {
        YamlKind::Seq(items) => items.iter().find_map(|item| scalar_with(item, text)),
        YamlKind::Map(entries) => entries.iter().find_map(|(_, value)| scalar_with(value, text)),
        YamlKind::Scalar { .. } => node.raw().filter(|raw| raw.contains(text)).map(|_| node.span),
    }
}

fn found(node: &YamlNode) -> String {
    match node.entries() {
        Some(entries) => format!("{} keys", entries.len()),
        None => node.noun().to_string(),
    }
}
