//! The schema of a tool's arguments, as short as models need it.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The schema of a struct: without titles and formats of Rust, and with an optional value being absent instead of null.
pub fn of<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    tidy(&mut schema);
    if let Some(object) = schema.as_object_mut() {
        object.shift_remove("description");
        object.entry("type").or_insert(json!("object"));
        object.entry("properties").or_insert(json!({}));
        let required = object.shift_remove("required");
        object.extend(required.map(|required| ("required".to_string(), required)));
        let further = object.shift_remove("additionalProperties").unwrap_or(json!(false));
        object.insert("additionalProperties".to_string(), further);
    }
    schema
}

fn tidy(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    object.retain(|key, value| !(key == "title" && value.is_string() || key == "format" && is_of_rust(value)));
    let required: Vec<Value> = object.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    for (key, value) in object.iter_mut() {
        match (key.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                for (name, property) in properties {
                    tidy(property);
                    if !required.iter().any(|required| required == name) {
                        without_null(property);
                    }
                }
            }
            ("$defs" | "patternProperties", Value::Object(schemas)) => schemas.values_mut().for_each(tidy),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => schemas.iter_mut().for_each(tidy),
            ("items" | "additionalProperties" | "not", inner) => tidy(inner),
            _ => {}
        }
    }
}

/// `int32`, `uint`, `float` and the like.
fn is_of_rust(format: &Value) -> bool {
    let format = format.as_str().unwrap_or_default();
    ["int", "uint", "float", "double"].iter().any(|kind| format.trim_end_matches(|c: char| c.is_ascii_digit()) == *kind)
}

/// What an optional value is if it is given.
fn without_null(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if object.get("default").is_some_and(Value::is_null) {
        object.shift_remove("default");
    }
    let Some(Value::Array(choices)) = object.get_mut("anyOf") else { return };
    choices.retain(|choice| choice != &json!({"type": "null"}));
    if let [Value::Object(only)] = choices.as_slice() {
        let only: Map<String, Value> = only.clone();
        object.shift_remove("anyOf");
        for (key, value) in only {
            object.entry(key).or_insert(value);
        }
    }
}
