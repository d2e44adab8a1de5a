//! JSON files, with comments and trailing commas.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::Value;

use super::error::EditError;

/// What clients read: JSON with comments and trailing commas.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

pub fn read(text: &str) -> Result<Value, EditError> {
    let root = CstRootNode::parse(text, &OPTIONS).map_err(|error| EditError::Broken {
        line: error.line_display(),
        column: error.column_display(),
        message: sentence(&error.kind().to_string()),
    })?;
    // A file of comments only has no value.
    Ok(root.value().and_then(|value| value.to_serde_value()).unwrap_or_default())
}

pub fn set(text: &str, path: &[&str], value: &Value) -> Option<String> {
    let root = CstRootNode::parse(text, &OPTIONS).ok()?;
    let (last, parents) = path.split_last()?;
    let object = parents
        .iter()
        .try_fold(root.object_value_or_create()?, |object: CstObject, key| object.object_value_or_create(key))?;
    match object.get(last) {
        Some(property) => property.set_value(input(value)),
        None => drop(object.append(last, input(value))),
    }
    Some(root.to_string())
}

pub fn remove(text: &str, table: &str, name: &str) -> Option<String> {
    let root = CstRootNode::parse(text, &OPTIONS).ok()?;
    root.object_value()?.object_value(table)?.get(name)?.remove();
    Some(root.to_string())
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(value) => CstInputValue::String(value.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(entries) => {
            CstInputValue::Object(entries.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}

/// A message of the parser as ours are written.
fn sentence(message: &str) -> String {
    let mut chars = message.chars();
    chars.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(chars).collect()
}
