//! Selectors, from the schema that models and editors get.

use std::fmt::Write;

use trailblaze_core::screen::{FieldKind, Shape};
use trailblaze_core::selector::json_schema;

use super::cell;

pub fn page() -> String {
    let schema = json_schema();
    let mut out = String::from(
        "# Selectors\n\nA selector says which element is meant: `tapOnElementBySelector` and other tools take one, and recordings have them \
         as\n`nodeSelector`. It has the properties of the element on one platform, and its position among others. All that is given must match.\n\n\
         ```yaml\n- tapOnElementBySelector:\n    nodeSelector:\n      androidAccessibility: {textRegex: Pay.*, isEnabled: true}\n      below:\n        \
         androidAccessibility: {text: Total}\n```\n\n## Relations\n\n| key | |\n|---|---|\n",
    );
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        if Shape::from_key(key).is_none() {
            let about = property["description"].as_str().unwrap_or_default();
            writeln!(out, "| `{key}` | {} |", cell(about)).expect("text");
        }
    }
    out.push_str(
        "\n## Properties\n\nThe properties by the key under which they are written, most stable first. A text has two: `text` is the exact text, \
         and\n`textRegex` is a regular expression that must match the whole text. An invalid\nexpression only matches a text that is the same; `assertNotVisibleBySelector` refuses one.\n",
    );
    for shape in Shape::ALL {
        let case = if shape.is_case_sensitive() {
            "Regular expressions are case-sensitive."
        } else {
            "Regular expressions ignore case."
        };
        write!(out, "\n### {}\n\n{case}\n\n| property | type |\n|---|---|\n", shape.key()).expect("text");
        for field in shape.matchable() {
            let (names, kind) = match field.kind() {
                FieldKind::Text => (format!("`{0}`, `{0}Regex`", field.name()), "text"),
                FieldKind::Flag => (format!("`{}`", field.name()), "true or false"),
                FieldKind::Number => (format!("`{}`", field.name()), "whole number"),
            };
            let is_known = names
                .split('`')
                .skip(1)
                .step_by(2)
                .all(|name| schema["properties"][shape.key()]["properties"].get(name).is_some());
            assert!(is_known, "{names} is not in the schema");
            writeln!(out, "| {names} | {kind} |").expect("text");
        }
    }
    out
}
