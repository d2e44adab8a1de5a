//! Describes selectors to models and editors.

use serde_json::{Map, Value, json};

use super::parse::{CONTAINS_DESCENDANTS, INDEX, REGEX, RELATIONS};
use crate::screen::{FieldKind, Shape};

/// A JSON Schema for a parameter that takes a selector. Inner selectors are any object: the reader checks them,
/// and models do badly with schemas that refer to themselves. An empty one fits, because a recording may have one beside a
/// `ref`; `preflight` reports it where there is none.
pub fn json_schema() -> Value {
    let mut properties = Map::new();
    for shape in Shape::ALL {
        properties.insert(shape.key().to_string(), match_schema(shape));
    }
    for key in RELATIONS {
        properties.insert(key.to_string(), json!({"type": "object", "description": about(key)}));
    }
    let list = json!({"type": "array", "items": {"type": "object"}, "description": about(CONTAINS_DESCENDANTS)});
    properties.insert(CONTAINS_DESCENDANTS.to_string(), list);
    properties.insert(INDEX.to_string(), json!({"type": "integer", "minimum": 0, "description": about(INDEX)}));
    json!({
        "type": "object",
        "description": "How to find the element: what it is like on its platform, and where among others.",
        "properties": properties,
        "additionalProperties": false,
    })
}

fn match_schema(shape: Shape) -> Value {
    let mut properties = Map::new();
    for field in shape.matchable() {
        match field.kind() {
            FieldKind::Text => {
                properties.insert(format!("{}{REGEX}", field.name()), json!({"type": "string"}));
                properties.insert(field.name().to_string(), json!({"type": "string"}));
            }
            FieldKind::Flag => {
                properties.insert(field.name().to_string(), json!({"type": "boolean"}));
            }
            FieldKind::Number => {
                properties.insert(field.name().to_string(), json!({"type": "integer"}));
            }
        }
    }
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

fn about(key: &str) -> &'static str {
    match key {
        "below" => "A selector; the element is below what it finds first.",
        "above" => "A selector; the element is above what it finds first.",
        "leftOf" => "A selector; the element is left of what it finds first.",
        "rightOf" => "A selector; the element is right of what it finds first.",
        "childOf" => "A selector; the element is somewhere beneath what it finds.",
        "containsChild" => "A selector; it finds a direct child of the element.",
        CONTAINS_DESCENDANTS => "Selectors; each finds something beneath the element.",
        _ => "Which of several, from 0, top to bottom and left to right.",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::samples::any_selector;
    use super::*;

    proptest! {
        #[test]
        fn the_schema_admits_every_selector(selector in any_selector()) {
            let validator = jsonschema::validator_for(&json_schema()).unwrap();
            let json = selector.to_json();
            prop_assert!(validator.is_valid(&json), "{}", json);
        }
    }

    #[test]
    fn the_schema_refuses_what_the_reader_refuses() {
        let validator = jsonschema::validator_for(&json_schema()).unwrap();
        for json in [json!({"web": {"className": "a"}}), json!({"index": -1}), json!({"below": "a"})] {
            assert!(!validator.is_valid(&json), "{json}");
        }
    }
}
