//! Schemas of arguments as providers accept them: an object with `properties`, without alternatives at the top. What that leaves
//! out is checked anyway when the tool is called.

use serde_json::{Map, Value, json};

/// Keywords that OpenAI and Anthropic refuse at the top of a schema.
const REFUSED: [&str; 6] = ["oneOf", "anyOf", "allOf", "enum", "not", "$ref"];

/// A schema with the properties of all its alternatives, none of which is required unless the schema itself requires it.
pub fn object_schema(schema: &Value) -> Value {
    let mut flat = schema.as_object().cloned().unwrap_or_default();
    let root = flat.clone();
    let mut properties = Map::new();
    let mut required = Vec::new();
    collect(&root, &root, true, 0, &mut properties, &mut required);
    for keyword in REFUSED {
        flat.shift_remove(keyword);
    }
    flat.insert("type".into(), "object".into());
    flat.insert("properties".into(), properties.into());
    if !required.is_empty() {
        flat.insert("required".into(), json!(required));
    }
    flat.into()
}

/// Collects the properties of a schema and of its alternatives. `is_certain` tells whether the schema always applies.
fn collect(
    schema: &Map<String, Value>,
    root: &Map<String, Value>,
    is_certain: bool,
    depth: usize,
    properties: &mut Map<String, Value>,
    required: &mut Vec<String>,
) {
    if depth > 8 {
        return;
    }
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        properties.entry(name.clone()).or_insert_with(|| property.clone());
    }
    if is_certain {
        let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        for name in names.filter_map(Value::as_str) {
            if !required.iter().any(|known| known == name) {
                required.push(name.to_string());
            }
        }
    }
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|reference| local(reference, root));
    if let Some(target) = target {
        collect(target, root, is_certain, depth + 1, properties, required);
    }
    for (keyword, is_certain) in [("allOf", is_certain), ("oneOf", false), ("anyOf", false)] {
        for branch in schema.get(keyword).and_then(Value::as_array).into_iter().flatten() {
            if let Some(branch) = branch.as_object() {
                collect(branch, root, is_certain, depth + 1, properties, required);
            }
        }
    }
}

/// What a reference like `#/$defs/Point` refers to.
fn local<'s>(reference: &str, root: &'s Map<String, Value>) -> Option<&'s Map<String, Value>> {
    let mut steps = reference.strip_prefix("#/")?.split('/');
    let first = root.get(steps.next()?)?;
    steps.try_fold(first, |value, step| value.get(step))?.as_object()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(schema: Value, expected: Value) {
        assert_eq!(object_schema(&schema), expected, "{schema}");
    }

    #[test]
    fn a_schema_becomes_an_object_with_properties() {
        check(json!({}), json!({"type": "object", "properties": {}}));
        check(json!({"type": "object"}), json!({"type": "object", "properties": {}}));
        check(json!(true), json!({"type": "object", "properties": {}}));
        let plain = json!({"type": "object", "properties": {"a": {"enum": ["x"]}}, "required": ["a"]});
        check(plain.clone(), plain);
    }

    #[test]
    fn alternatives_at_the_top_are_merged() {
        let (a, b) = (json!({"type": "string"}), json!({"type": "integer"}));
        for keyword in ["oneOf", "anyOf"] {
            check(
                json!({"type": "object", keyword: [
                    {"properties": {"a": a}, "required": ["a"]},
                    {"properties": {"b": b}, "required": ["b"]},
                ]}),
                json!({"type": "object", "properties": {"a": a, "b": b}}),
            );
        }
        check(
            json!({"allOf": [{"properties": {"a": a}, "required": ["a"]}], "properties": {"b": b}, "required": ["b"]}),
            json!({"properties": {"b": b, "a": a}, "required": ["b", "a"], "type": "object"}),
        );
        check(json!({"enum": [{}, {"a": 1}]}), json!({"type": "object", "properties": {}}));
    }

    #[test]
    fn a_reference_at_the_top_is_followed() {
        let point = json!({"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]});
        check(
            json!({"$ref": "#/$defs/Point", "$defs": {"Point": point}}),
            json!({"$defs": {"Point": point}, "type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}),
        );
        // One that leads back to itself ends.
        check(
            json!({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}}),
            json!({"$defs": {"A": {"$ref": "#/$defs/A"}}, "type": "object", "properties": {}}),
        );
    }
}
