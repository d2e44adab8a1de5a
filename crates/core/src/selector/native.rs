//! Conditions in the own language of a platform, which the device itself evaluates.

use serde_json::{Map, Value, json};

use super::Selector;

/// The key of a selector that iOS evaluates.
pub const IOS: &str = "ios";

/// A condition that XCTest evaluates, and what it found.
#[derive(Debug, Clone, PartialEq)]
pub struct NativeCondition {
    pub language: NativeLanguage,
    pub text: String,
    /// The nodes of the current tree, once the driver has asked the device. Until then, none.
    pub found: Vec<u64>,
}

/// The language of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NativeLanguage {
    /// A predicate of iOS: `label BEGINSWITH 'Pay'`.
    Predicate,
    /// A class chain of WebDriverAgent: `**/XCUIElementTypeButton[2]`.
    ClassChain,
}

impl NativeLanguage {
    pub const ALL: [NativeLanguage; 2] = [NativeLanguage::Predicate, NativeLanguage::ClassChain];

    pub fn key(self) -> &'static str {
        match self {
            NativeLanguage::Predicate => "predicate",
            NativeLanguage::ClassChain => "classChain",
        }
    }
}

impl NativeCondition {
    pub(super) fn to_json(&self) -> Value {
        Value::Object(Map::from_iter([(self.language.key().to_string(), json!(self.text))]))
    }

    pub(super) fn schema() -> Value {
        let property = |language: NativeLanguage| (language.key().to_string(), json!({"type": "string"}));
        let properties: Map<String, Value> = NativeLanguage::ALL.into_iter().map(property).collect();
        json!({
            "type": "object", "properties": properties, "maxProperties": 1, "additionalProperties": false,
            "description": "A predicate or a class chain that XCTest evaluates; only for iPhones, iPads and simulators.",
        })
    }
}

impl Selector {
    /// The conditions that the device evaluates, in it and in the selectors nested in it.
    pub fn native_conditions(&mut self) -> Vec<&mut NativeCondition> {
        let Selector {
            native, below, above, left_of, right_of, child_of, contains_child, contains_descendants, ..
        } = self;
        let nested = [below, above, left_of, right_of, child_of, contains_child].into_iter().flatten();
        let nested = nested.map(AsMut::as_mut).chain(contains_descendants);
        native.iter_mut().chain(nested.flat_map(Selector::native_conditions)).collect()
    }

    /// Whether the device must evaluate a part of it.
    pub fn is_native(&self) -> bool {
        let nested = self.relations().into_iter().flatten().chain(&self.contains_descendants);
        self.native.is_some() || nested.into_iter().any(Selector::is_native)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::samples::{Build, node, screen};
    use super::*;
    use crate::screen::Shape;

    #[test]
    fn what_the_device_found_is_narrowed_by_the_rest() {
        let button = |left| node(Shape::IosMaestro).at(left, 0, 10, 10);
        let root = screen(node(Shape::IosMaestro).holding([button(0), button(20), button(40)])).root;
        let written = json!({"ios": {"predicate": "label == 'Pay'"}, "index": 1});
        let mut selector = Selector::parse(&written).unwrap();
        assert_eq!(selector.to_json(), written);
        assert!(selector.is_native() && selector.resolve(&root).is_empty(), "nobody has asked the device");
        selector.native_conditions()[0].found = vec![1, 3];
        assert_eq!(selector.resolve(&root).iter().map(|node| node.id).collect::<Vec<_>>(), [3]);
        let mut nested =
            Selector::parse(&json!({"childOf": {"ios": {"classChain": "**/XCUIElementTypeCell"}}})).unwrap();
        assert_eq!(nested.native_conditions().len(), 1);
    }

    #[test]
    fn a_condition_is_one_text() {
        for (written, expected) in [
            (json!({"ios": {"predicte": "a"}}), "ios: unknown key `predicte` (did you mean `predicate`?)"),
            (json!({"ios": {"predicate": 1}}), "ios.predicate: expected a text, found a number"),
            (json!({"ios": {}}), "ios: expected `predicate` or `classChain`"),
            (json!({"ios": {"predicate": "a", "classChain": "b"}}), "ios: expected `predicate` or `classChain`"),
            (json!({"ios": {"predicate": " "}}), "ios.predicate: it is empty"),
        ] {
            assert_eq!(Selector::parse(&written).unwrap_err().to_string(), expected);
        }
    }
}
