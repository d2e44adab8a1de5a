//! The schemas of tools, and the validation of arguments. Schemas are compiled on first use.

mod place;

pub use place::{SchemaPlace, Types};

use std::sync::OnceLock;

use jsonschema::error::ValidationErrorKind;
use serde_json::{Map, Value, json};

use crate::nearest::nearest;

/// One parameter of a built-in or YAML tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Param {
    pub name: String,
    pub schema: Value,
    pub is_required: bool,
    pub default: Option<Value>,
    pub description: String,
}

/// The JSON Schema of a tool's arguments.
#[derive(Debug)]
pub struct Schema {
    json: Value,
    /// Whether words of a list are accepted in any case.
    ignores_case: bool,
    defaults: OnceLock<Vec<(String, Value)>>,
    validator: OnceLock<Result<jsonschema::Validator, InvalidSchema>>,
}

/// Why a tool's schema cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidSchema(String);

/// What is wrong with the arguments of a call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InvalidArguments {
    pub missing: Vec<String>,
    /// Unknown arguments, in full sentences.
    pub unknown: Vec<String>,
    /// Invalid values, in full sentences that name the argument.
    pub wrong: Vec<String>,
}

impl Schema {
    pub fn new(json: Value) -> Schema {
        Schema { json, ignores_case: false, defaults: OnceLock::new(), validator: OnceLock::new() }
    }

    pub fn from_params(params: &[Param]) -> Schema {
        let properties: Map<String, Value> = params
            .iter()
            .map(|param| {
                let mut schema = param.schema.as_object().cloned().unwrap_or_default();
                if !param.description.is_empty() {
                    schema.insert("description".into(), param.description.as_str().into());
                }
                if let Some(default) = &param.default {
                    schema.insert("default".into(), default.clone());
                }
                (param.name.clone(), Value::Object(schema))
            })
            .collect();
        let required: Vec<&str> =
            params.iter().filter(|param| param.is_required).map(|param| param.name.as_str()).collect();
        let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
        if !required.is_empty() {
            schema["required"] = required.into();
        }
        Schema::new(schema)
    }

    /// Accepts words of a list in any case: `down` for `DOWN`.
    pub fn ignoring_case(self) -> Schema {
        Schema { ignores_case: true, ..self }
    }

    pub fn json(&self) -> &Value {
        &self.json
    }

    pub fn property_names(&self) -> impl Iterator<Item = &str> {
        property_names(&self.json).into_iter()
    }

    /// Removes optional arguments that are null: models and templates pass null for "not given".
    pub fn omit_nulls(&self, args: &mut Map<String, Value>) {
        args.retain(|name, value| !value.is_null() || is_required(&self.json, name));
    }

    /// Adds the defaults of missing arguments.
    pub fn fill_defaults(&self, args: &mut Map<String, Value>) {
        for (name, default) in self.defaults.get_or_init(|| self.find_defaults()) {
            if args.get(name).is_none_or(Value::is_null) {
                args.insert(name.clone(), default.clone());
            }
        }
    }

    /// Some libraries mark an argument as required although it has a default. If missing, the default applies.
    fn fill_required(&self, args: &mut Map<String, Value>) {
        for (name, default) in self.defaults.get_or_init(|| self.find_defaults()) {
            if !args.contains_key(name) && is_required(&self.json, name) {
                args.insert(name.clone(), default.clone());
            }
        }
    }

    /// Writes words as the schema does, if it ignores their case. Returns whether one was changed.
    fn correct_case(&self, args: &mut Value) -> bool {
        let properties = self.json.get("properties").and_then(Value::as_object);
        let mut is_changed = false;
        for (name, property) in properties.into_iter().flatten().filter(|_| self.ignores_case) {
            let words = property.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
            let Some(Value::String(text)) = args.get_mut(name) else { continue };
            if let Some(word) = words.into_iter().find(|word| word.eq_ignore_ascii_case(text)) {
                *text = word.to_string();
                is_changed = true;
            }
        }
        is_changed
    }

    fn find_defaults(&self) -> Vec<(String, Value)> {
        let properties = self.json.get("properties").and_then(Value::as_object).into_iter().flatten();
        properties.filter_map(|(name, property)| Some((name.clone(), property.get("default")?.clone()))).collect()
    }

    /// Why the schema itself is invalid, if it is.
    pub fn error(&self) -> Option<&InvalidSchema> {
        self.validator().as_ref().err()
    }

    fn validator(&self) -> &Result<jsonschema::Validator, InvalidSchema> {
        let compile = || jsonschema::validator_for(&self.json).map_err(|error| InvalidSchema(error.to_string()));
        self.validator.get_or_init(compile)
    }

    /// Validates arguments. An invalid schema rejects everything.
    pub fn check(&self, args: &Map<String, Value>) -> Result<(), InvalidArguments> {
        self.check_except(args.clone(), |_| false).map(drop)
    }

    /// Same as `check`, but placeholder texts are valid wherever a text is. Returns the arguments.
    pub fn check_except(
        &self,
        mut args: Map<String, Value>,
        is_placeholder: impl Fn(&str) -> bool,
    ) -> Result<Map<String, Value>, InvalidArguments> {
        self.fill_required(&mut args);
        let validator = match self.validator() {
            Ok(validator) => validator,
            Err(error) => {
                let wrong = vec![format!("the tool's schema is invalid: {error}")];
                return Err(InvalidArguments { wrong, ..InvalidArguments::default() });
            }
        };
        let mut value = Value::Object(args);
        let into_args = |value: Value| if let Value::Object(args) = value { args } else { Map::new() };
        if validator.is_valid(&value) || self.correct_case(&mut value) && validator.is_valid(&value) {
            return Ok(into_args(value));
        }
        let mut invalid = InvalidArguments::default();
        for error in validator.iter_errors(&value) {
            let is_type = matches!(error.kind(), ValidationErrorKind::Type { .. });
            if !is_type && error.instance().as_str().is_some_and(&is_placeholder) {
                continue;
            }
            let path = error.instance_path().to_string();
            let name = path.trim_start_matches('/').replace('/', ".");
            match error.kind() {
                ValidationErrorKind::Required { property } if name.is_empty() => {
                    invalid.missing.push(property.as_str().unwrap_or_default().to_string());
                }
                ValidationErrorKind::AdditionalProperties { unexpected } if name.is_empty() => {
                    invalid.unknown.extend(unexpected.iter().map(|unknown| self.unknown_argument(unknown)));
                }
                ValidationErrorKind::AdditionalProperties { unexpected } => {
                    let known = property_names(at_path(&self.json, &name));
                    let unknown = unexpected.iter().map(|key| format!("`{name}`: {}", unknown("key", key, &known)));
                    invalid.unknown.extend(unknown);
                }
                ValidationErrorKind::Enum { options } => {
                    let words = options.as_array().into_iter().flatten().map(ToString::to_string).collect::<Vec<_>>();
                    let given = value.pointer(&path).map(ToString::to_string).unwrap_or_default();
                    invalid.wrong.push(format!("`{name}`: {given} is not one of {}", words.join(", ")));
                }
                _ if name.is_empty() => invalid.wrong.push(error.to_string()),
                _ => invalid.wrong.push(format!("`{name}`: {error}")),
            }
        }
        if invalid == InvalidArguments::default() { Ok(into_args(value)) } else { Err(invalid) }
    }

    fn unknown_argument(&self, name: &str) -> String {
        unknown("argument", name, &property_names(&self.json))
    }
}

fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("unknown {what} `{name}`; did you mean `{near}`?"),
        None if known.is_empty() => format!("unknown {what} `{name}`; none are accepted"),
        None => format!("unknown {what} `{name}`; expected one of: {}", known.join(", ")),
    }
}

fn property_names(schema: &Value) -> Vec<&str> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flat_map(|map| map.keys().map(String::as_str)).collect()
}

/// The schema of one property, also searched for in unions.
fn property<'s>(schema: &'s Value, name: &str) -> &'s Value {
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

/// The subschema for a value, as far as it is written in one piece. `path` is like `a.0.b`.
fn at_path<'s>(schema: &'s Value, path: &str) -> &'s Value {
    path.split('.').fold(schema, |schema, part| match part.parse::<usize>() {
        Ok(_) if schema.get("items").is_some() => &schema["items"],
        _ => property(schema, part),
    })
}

/// Whether the schema of an object requires the property.
pub fn is_required(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|required| required == name))
}

impl std::fmt::Display for InvalidArguments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let missing = self.missing.iter().map(|name| format!("missing argument `{name}`"));
        let all: Vec<String> = missing.chain(self.unknown.iter().chain(&self.wrong).cloned()).collect();
        f.write_str(&all.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(args: Value, expected: &str) {
        let param = |name: &str, schema: Value, is_required: bool| Param {
            name: name.into(),
            schema,
            is_required,
            default: None,
            description: String::new(),
        };
        let schema = Schema::from_params(&[
            param("text", json!({"type": "string"}), true),
            param("index", json!({"type": "integer", "minimum": 0}), false),
            param("direction", json!({"enum": ["UP", "DOWN"]}), false),
        ]);
        let answer = schema.check(args.as_object().unwrap());
        assert_eq!(answer.map_or_else(|invalid| invalid.to_string(), |()| "fits".into()), expected, "{args}");
    }

    #[test]
    fn arguments_are_checked_by_name_and_type() {
        check(json!({"text": "Pay"}), "fits");
        check(json!({}), "missing argument `text`");
        check(json!({"text": "Pay", "indx": 1}), "unknown argument `indx`; did you mean `index`?");
        check(json!({"text": 5}), "`text`: 5 is not of type \"string\"");
        check(json!({"text": "Pay", "direction": "LEFT"}), "`direction`: \"LEFT\" is not one of \"UP\", \"DOWN\"");
        check(json!({"index": -1}), "missing argument `text`; `index`: -1 is less than the minimum of 0");
    }

    #[test]
    fn a_required_argument_with_a_default_may_be_omitted() {
        let scale = json!({"type": "string", "default": "css"});
        let schema = Schema::new(json!({"type": "object", "properties": {"scale": scale}, "required": ["scale"]}));
        let filled = schema.check_except(Map::new(), |_| false).unwrap();
        assert_eq!(Value::from(filled), json!({"scale": "css"}));
    }
}
