//! The JSON Schema of selectors, for models and editors.

use serde_json::{Map, Value, json};

use super::NativeCondition;
use super::native::IOS;
use super::parse::{CONTAINS_DESCENDANTS, INDEX, REGEX, RELATIONS};
use crate::screen::{FieldKind, Shape};

/// A JSON Schema for a parameter that takes a selector. Inner selectors are any object: the parser checks them, and models
/// handle recursive schemas badly. An empty selector is valid, because a recording may have one next to a `ref`;
/// `preflight` reports it if there is no `ref`.
pub fn json_schema() -> Value {
    let mut properties = Map::new();
    for shape in Shape::ALL {
        properties.insert(shape.key().to_string(), match_schema(shape));
    }
    properties.insert(IOS.to_string(), NativeCondition::schema());
    for key in RELATIONS {
        properties.insert(key.to_string(), json!({"type": "object", "description": about(key)}));
    }
    let list = json!({"type": "array", "items": {"type": "object"}, "description": about(CONTAINS_DESCENDANTS)});
    properties.insert(CONTAINS_DESCENDANTS.to_string(), list);
    properties.insert(INDEX.to_string(), json!({"type": "integer", "minimum": 0, "description": about(INDEX)}));
    json!({
        "type": "object",
        "description": "How to find the element: its properties on its platform, and its position relative to others.",
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
        "below" => "A selector; the element must be below its first match.",
        "above" => "A selector; the element must be above its first match.",
        "leftOf" => "A selector; the element must be to the left of its first match.",
        "rightOf" => "A selector; the element must be to the right of its first match.",
        "childOf" => "A selector; the element must be a descendant of a match.",
        "containsChild" => "A selector; it must match a direct child of the element.",
        CONTAINS_DESCENDANTS => "Selectors; each must match a descendant of the element.",
        _ => "Which match to use, from 0, top to bottom and left to right.",
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::super::samples::any_selector;
    use super::*;

    proptest! {
        #[test]
        fn the_schema_accepts_every_selector(selector in any_selector()) {
            static VALIDATOR: LazyLock<jsonschema::Validator> =
                LazyLock::new(|| jsonschema::validator_for(&json_schema()).unwrap());
            let json = selector.to_json();
            prop_assert!(VALIDATOR.is_valid(&json), "{}", json);
        }
    }

    #[test]
    fn the_schema_rejects_what_the_parser_rejects() {
        let validator = jsonschema::validator_for(&json_schema()).unwrap();
        for json in [json!({"web": {"className": "a"}}), json!({"index": -1}), json!({"below": "a"})] {
            assert!(!validator.is_valid(&json), "{json}");
        }
    }
}
