//! What a scalar means. One rule serves YAML files, `k=v` on the command line, and memory: quoted is text;
//! otherwise the declared type decides; where text and YAML reading both fit, the author has to say.

use serde_json::{Map, Number, Value};

use super::node::{Kind, Node, Span, Style};
use super::problem::Problems;
use crate::schema::is_required;
use crate::template;

/// How a scalar may be taken under a schema.
#[derive(Debug, Clone, PartialEq)]
pub enum Reading {
    Is(Value),
    /// Fits neither as text nor as what YAML makes of it; the word names what is expected.
    Misfit(String),
    /// Fits both ways: as text, and as this value.
    Ambiguous(Value),
}

/// Reads `raw` for a place that `schema` describes.
pub fn scalar(raw: &str, style: Style, schema: &Value) -> Reading {
    let types = types(schema);
    let takes_text = types.is_empty() || types.contains(&"string");
    // A template stands for a value that is not known yet, so it fits everywhere.
    if style != Style::Plain || template::has_token(raw) {
        return match takes_text || template::is_whole_token(raw) {
            true => Reading::Is(Value::from(raw)),
            false => Reading::Misfit(expected(&types)),
        };
    }
    let Some(read) = other_than_text(raw) else {
        return if takes_text { Reading::Is(Value::from(raw)) } else { Reading::Misfit(expected(&types)) };
    };
    let fits = match &read {
        Value::Number(number) => {
            types.is_empty()
                || types.contains(&"number")
                || (types.contains(&"integer") && (number.is_i64() || number.is_u64()))
        }
        Value::Bool(_) => types.is_empty() || types.contains(&"boolean"),
        Value::Null => types.is_empty() || types.contains(&"null"),
        _ => false,
    };
    match (takes_text && !(read.is_null() && fits), fits) {
        (true, true) => Reading::Ambiguous(read),
        (true, false) => Reading::Is(Value::from(raw)),
        (false, true) => Reading::Is(read),
        (false, false) => Reading::Misfit(expected(&types)),
    }
}

/// What YAML 1.2 makes of a plain scalar.
pub fn plain(raw: &str) -> Value {
    other_than_text(raw).unwrap_or_else(|| Value::from(raw))
}

fn other_than_text(raw: &str) -> Option<Value> {
    match raw {
        "true" | "True" | "TRUE" => Some(Value::Bool(true)),
        "false" | "False" | "FALSE" => Some(Value::Bool(false)),
        _ if is_null(raw) => Some(Value::Null),
        _ => integer(raw).or_else(|| float(raw)).map(Value::Number),
    }
}

pub(super) fn is_null(raw: &str) -> bool {
    matches!(raw, "" | "~" | "null" | "Null" | "NULL")
}

/// `12`, `-3`; not `010` or `1_000`, which people write for text.
fn integer(raw: &str) -> Option<Number> {
    let digits = raw.strip_prefix(['-', '+']).unwrap_or(raw);
    let is_canonical = digits == "0" || (!digits.starts_with('0') && !digits.is_empty());
    if !is_canonical || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let raw = raw.strip_prefix('+').unwrap_or(raw);
    raw.parse::<i64>().map(Number::from).or_else(|_| raw.parse::<u64>().map(Number::from)).ok()
}

/// `1.5`, `.5`, `2e3`.
fn float(raw: &str) -> Option<Number> {
    let unsigned = raw.strip_prefix(['-', '+']).unwrap_or(raw);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_float = (mantissa.contains('.') || exponent.is_some())
        && !(whole.is_empty() && fraction.is_empty())
        && !(whole.len() > 1 && whole.starts_with('0'))
        && all_digits(whole)
        && all_digits(fraction)
        && exponent.is_none_or(|text| {
            let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
            !digits.is_empty() && all_digits(digits)
        });
    is_float.then(|| raw.parse::<f64>().ok().and_then(Number::from_f64)).flatten()
}

/// The types that a schema takes; none listed means any.
fn types(schema: &Value) -> Vec<&str> {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values.iter().map(type_name).collect();
    }
    for union in ["anyOf", "oneOf"] {
        if let Some(members) = schema.get(union).and_then(Value::as_array) {
            let each: Vec<Vec<&str>> = members.iter().map(types).collect();
            return if each.iter().any(Vec::is_empty) { Vec::new() } else { each.concat() };
        }
    }
    match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn expected(types: &[&str]) -> String {
    let mut words: Vec<&str> = types.iter().filter(|name| **name != "null").copied().collect();
    words.dedup();
    words
        .iter()
        .map(|name| match *name {
            "integer" => "a whole number",
            "number" => "a number",
            "boolean" => "true or false",
            "string" => "text",
            "array" => "a list",
            "object" => "a mapping",
            other => other,
        })
        .collect::<Vec<_>>()
        .join(" or ")
}

/// Types a whole tree under a schema. Only scalars are judged here; the schema check does the rest.
///
/// A schema may say `"x-scalars": "yaml"` to have what is beneath it read as YAML does, for parts that it does not
/// describe.
pub fn to_json(node: &Node, schema: &Value, problems: &mut Problems) -> Option<Value> {
    if schema.get("x-scalars").and_then(Value::as_str) == Some("yaml") {
        return Some(loose(node));
    }
    match &node.kind {
        Kind::Scalar { raw, tag: Some(tag), .. } => tagged(raw, tag, node.span, problems),
        Kind::Scalar { raw, style, tag: None } => match scalar(raw, *style, schema) {
            Reading::Is(value) => Some(value),
            Reading::Misfit(expected) => {
                let hint = match style {
                    Style::Plain => None,
                    _ => Some("remove the quotes"),
                };
                let message = format!("`{raw}` is not {expected}");
                match hint.filter(|_| plain(raw).is_number() || plain(raw).is_boolean()) {
                    Some(hint) => problems.error_with_hint(node.span, message, hint),
                    None => problems.error(node.span, message),
                }
                None
            }
            Reading::Ambiguous(value) => {
                let tag = match value {
                    Value::Bool(_) => "bool",
                    Value::Number(ref number) if number.is_f64() => "float",
                    _ => "int",
                };
                problems.error_with_hint(
                    node.span,
                    format!("`{raw}` could be text or {}", type_word(&value)),
                    format!("quote it for text ('{raw}'), or write `!!{tag} {raw}`"),
                );
                None
            }
        },
        Kind::Seq(items) => {
            let inner = schema.get("items").unwrap_or(&Value::Null);
            let values: Vec<Option<Value>> = items.iter().map(|item| to_json(item, inner, problems)).collect();
            values.into_iter().collect::<Option<Vec<Value>>>().map(Value::Array)
        }
        Kind::Map(entries) => {
            let mut map = Map::new();
            let mut complete = true;
            for (key, value) in entries {
                let name = key.raw().unwrap_or_default();
                if is_left_out(value, schema, name) {
                    continue;
                }
                let inner = property(schema, name);
                // What the schema forbids is not typed: the schema check names it.
                if inner.is_null() && schema.get("additionalProperties") == Some(&Value::Bool(false)) {
                    map.insert(name.to_string(), loose(value));
                    continue;
                }
                match to_json(value, inner, problems) {
                    Some(value) => {
                        map.insert(name.to_string(), value);
                    }
                    None => complete = false,
                }
            }
            complete.then_some(Value::Object(map))
        }
    }
}

/// Whether nothing was written for a property that need not be there and has no other use for nothing.
fn is_left_out(value: &Node, schema: &Value, name: &str) -> bool {
    let takes_nothing = || matches!(scalar("null", Style::Plain, property(schema, name)), Reading::Misfit(_));
    value.is_null() && !is_required(schema, name) && takes_nothing()
}

/// A value with every scalar read as YAML would, for what no schema describes. Enough to compare and to keep, not
/// to run.
pub fn loose(node: &Node) -> Value {
    match &node.kind {
        Kind::Scalar { raw, style: Style::Plain, tag: None } => plain(raw),
        Kind::Scalar { raw, .. } => Value::from(raw.as_str()),
        Kind::Seq(items) => items.iter().map(loose).collect(),
        Kind::Map(entries) => {
            let entry = |(key, value): &(Node, Node)| (key.raw().unwrap_or_default().to_string(), loose(value));
            Value::Object(entries.iter().map(entry).collect())
        }
    }
}

/// The schema of one property, looked for in unions too.
pub fn property<'s>(schema: &'s Value, name: &str) -> &'s Value {
    if let Some(found) = schema.get("properties").and_then(|properties| properties.get(name)) {
        return found;
    }
    for union in ["anyOf", "oneOf", "allOf"] {
        for member in schema.get(union).and_then(Value::as_array).into_iter().flatten() {
            let found = property(member, name);
            if !found.is_null() {
                return found;
            }
        }
    }
    schema.get("additionalProperties").filter(|schema| schema.is_object()).unwrap_or(&Value::Null)
}

fn tagged(raw: &str, tag: &str, span: Span, problems: &mut Problems) -> Option<Value> {
    let value = plain(raw);
    let value = match tag {
        "str" => Some(Value::from(raw)),
        "int" => Some(value).filter(|value| value.is_i64() || value.is_u64()),
        "float" => value.as_f64().map(Value::from),
        "bool" => Some(value).filter(Value::is_boolean),
        "null" => Some(value).filter(Value::is_null),
        _ => None,
    };
    if value.is_none() {
        problems.error(span, format!("`{raw}` does not fit the tag `!!{tag}`"));
    }
    value
}

fn type_word(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "true or false",
        Value::Null => "nothing",
        _ => "a number",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(raw: &str, schema: Value, expected: Reading) {
        assert_eq!(scalar(raw, Style::Plain, &schema), expected, "{raw} for {schema}");
    }

    #[test]
    fn a_string_parameter_takes_the_text_as_it_stands() {
        for raw in ["no", "010", "1_000", "true", "5", "~", "1e3", "0x1F"] {
            check(raw, json!({"type": "string"}), Reading::Is(json!(raw)));
        }
    }

    #[test]
    fn the_declared_type_decides() {
        check("5", json!({"type": "integer"}), Reading::Is(json!(5)));
        check("5", json!({"type": "number"}), Reading::Is(json!(5)));
        check("2.5", json!({"type": "number"}), Reading::Is(json!(2.5)));
        check("true", json!({"type": "boolean"}), Reading::Is(json!(true)));
        check("no", json!({"type": "boolean"}), Reading::Misfit("true or false".into()));
        check("010", json!({"type": "integer"}), Reading::Misfit("a whole number".into()));
        check("2.5", json!({"type": "integer"}), Reading::Misfit("a whole number".into()));
        check("null", json!({"type": ["string", "null"]}), Reading::Is(json!(null)));
    }

    #[test]
    fn where_both_readings_fit_the_author_has_to_say() {
        check("5", json!({"type": ["string", "integer"]}), Reading::Ambiguous(json!(5)));
        check("5", json!({}), Reading::Ambiguous(json!(5)));
        check("five", json!({}), Reading::Is(json!("five")));
        assert_eq!(scalar("0123", Style::Quoted, &json!({})), Reading::Is(json!("0123")));
    }

    #[test]
    fn a_template_fits_everywhere_as_a_whole_value() {
        check("{{count}}", json!({"type": "integer"}), Reading::Is(json!("{{count}}")));
        check("{{count}} items", json!({"type": "integer"}), Reading::Misfit("a whole number".into()));
    }
}
