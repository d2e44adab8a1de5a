//! What a scalar means. One rule serves YAML files, `k=v` on the command line, and memory: a quoted scalar is text; an
//! unquoted one is what YAML reads if the declared type allows that, and text otherwise. If both are allowed and the YAML
//! reading would lose information (`12.50`, `+5`), the author must quote it.

use serde_json::{Map, Number, Value};

use super::node::{Span, Style, YamlKind, YamlNode};
use super::problem::Problems;
use crate::schema::{SchemaPlace, Types, is_required};
use crate::template;

/// How a scalar can be read at a place.
#[derive(Debug, Clone, PartialEq)]
pub enum Reading {
    Is(Value),
    /// Neither text nor the YAML reading is allowed. Contains what is expected.
    Misfit(String),
    /// Both text and this value are allowed, and the value is usually written differently.
    Ambiguous(Value),
}

/// Reads `raw` at a place that allows these types.
pub fn scalar(raw: &str, style: Style, types: Types) -> Reading {
    let takes_text = types.takes(Types::TEXT);
    let text = || if takes_text { Reading::Is(Value::from(raw)) } else { Reading::Misfit(types.to_string()) };
    // The value of a template is not known yet, so it is allowed everywhere.
    if template::is_whole_token(raw) {
        return Reading::Is(Value::from(raw));
    }
    if style != Style::Plain || template::has_token(raw) {
        return text();
    }
    match other_than_text(raw).filter(|read| types.takes_value(read)) {
        None => text(),
        Some(Value::Number(number)) if takes_text && types.is_exact() && number.to_string() != raw => {
            Reading::Ambiguous(number.into())
        }
        Some(read) => Reading::Is(read),
    }
}

/// The YAML 1.2 reading of a plain scalar.
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

/// `12`, `-3`; not `010` or `1_000`, which people write as text.
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

/// Types a whole tree by a schema. Only decides what scalars mean; validation does the rest.
///
/// A schema may have `"x-scalars": "yaml"` for parts that it does not describe: scalars in them are read as in YAML.
pub fn to_json(node: &YamlNode, schema: &Value, problems: &mut Problems) -> Option<Value> {
    typed(node, &SchemaPlace::root(schema), schema, problems)
}

/// `required` is looked up in `schema`, which follows properties and items, but not references.
fn typed(node: &YamlNode, place: &SchemaPlace<'_>, schema: &Value, problems: &mut Problems) -> Option<Value> {
    match &node.kind {
        YamlKind::Scalar { raw, tag: Some(tag), .. } => tagged(raw, tag, node.span, problems),
        YamlKind::Scalar { raw, style, tag: None } => match scalar(raw, *style, place.types()) {
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
                problems.error_with_hint(
                    node.span,
                    format!("`{raw}` could be text or the number {value}"),
                    format!("quote it for text ('{raw}'), or write {value}"),
                );
                None
            }
        },
        YamlKind::Seq(items) => {
            let inner = schema.get("items").unwrap_or(&Value::Null);
            let values: Vec<Option<Value>> = items
                .iter()
                .enumerate()
                .map(|(index, item)| typed(item, &place.item(index), inner, problems))
                .collect();
            values.into_iter().collect::<Option<Vec<Value>>>().map(Value::Array)
        }
        YamlKind::Map(entries) => {
            let mut map = Map::new();
            let mut complete = true;
            for (key, value) in entries {
                let name = key.raw().unwrap_or_default();
                let place = place.property(name);
                // An empty value of an optional property that does not allow null counts as absent.
                if value.is_null() && !is_required(schema, name) && !place.types().takes(Types::NULL) {
                    continue;
                }
                let inner =
                    schema.get("properties").and_then(|properties| properties.get(name)).unwrap_or(&Value::Null);
                match typed(value, &place, inner, problems) {
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

/// A value with every scalar read as in YAML, for values without a schema. Good enough to compare and to store, not to
/// run.
pub fn loose(node: &YamlNode) -> Value {
    match &node.kind {
        YamlKind::Scalar { raw, style: Style::Plain, tag: None } => plain(raw),
        YamlKind::Scalar { raw, .. } => Value::from(raw.as_str()),
        YamlKind::Seq(items) => items.iter().map(loose).collect(),
        YamlKind::Map(entries) => {
            let entry = |(key, value): &(YamlNode, YamlNode)| (key.raw().unwrap_or_default().to_string(), loose(value));
            Value::Object(entries.iter().map(entry).collect())
        }
    }
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
        problems.error(span, format!("`{raw}` does not match the tag `!!{tag}`"));
    }
    value
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(raw: &str, schema: Value, expected: Reading) {
        assert_eq!(scalar(raw, Style::Plain, Types::of(&schema)), expected, "{raw} for {schema}");
    }

    #[test]
    fn a_string_parameter_takes_the_raw_text() {
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
        check("5.0", json!({"type": "integer"}), Reading::Is(json!(5.0)));
        check("null", json!({"type": ["string", "null"]}), Reading::Is(json!(null)));
    }

    #[test]
    fn if_both_readings_are_allowed_yaml_wins() {
        for schema in [json!({}), json!({"type": ["string", "number", "boolean"]})] {
            check("5", schema.clone(), Reading::Is(json!(5)));
            check("-2.5", schema.clone(), Reading::Is(json!(-2.5)));
            check("true", schema.clone(), Reading::Is(json!(true)));
            check("five", schema.clone(), Reading::Is(json!("five")));
            check("010", schema.clone(), Reading::Is(json!("010")));
            assert_eq!(scalar("5", Style::Quoted, Types::of(&schema)), Reading::Is(json!("5")));
        }
    }

    #[test]
    fn a_number_that_would_lose_its_spelling_must_be_quoted_if_text_is_allowed() {
        check("12.50", json!({}), Reading::Ambiguous(json!(12.5)));
        check("+5", json!({"type": ["string", "integer"]}), Reading::Ambiguous(json!(5)));
        check("12.50", json!({"type": "number"}), Reading::Is(json!(12.5)));
        check("12.50", json!({"type": "string"}), Reading::Is(json!("12.50")));
        check("12.50", json!({"x-scalars": "yaml"}), Reading::Is(json!(12.5)));
    }

    #[test]
    fn a_template_is_allowed_everywhere_as_a_whole_value() {
        check("{{count}}", json!({"type": "integer"}), Reading::Is(json!("{{count}}")));
        check("{{count}} items", json!({"type": "integer"}), Reading::Misfit("a whole number".into()));
    }
}
