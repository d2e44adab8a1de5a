//! Writes a selector in the format of a trail.

use serde_json::{Map, Value};

use super::native::IOS;
use super::parse::{CONTAINS_DESCENDANTS, INDEX, REGEX, RELATIONS};
use super::{FieldMatch, Match, Selector};

impl Selector {
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        if let Some(matcher) = &self.matcher {
            object.insert(matcher.shape.key().to_string(), matcher.to_json());
        }
        if let Some(native) = &self.native {
            object.insert(IOS.to_string(), native.to_json());
        }
        for (key, relation) in RELATIONS.into_iter().zip(self.relations()) {
            if let Some(selector) = relation {
                object.insert(key.to_string(), selector.to_json());
            }
        }
        if !self.contains_descendants.is_empty() {
            let items = self.contains_descendants.iter().map(Selector::to_json).collect();
            object.insert(CONTAINS_DESCENDANTS.to_string(), Value::Array(items));
        }
        if let Some(index) = self.index {
            object.insert(INDEX.to_string(), index.into());
        }
        Value::Object(object)
    }
}

impl Match {
    fn to_json(&self) -> Value {
        let entries = self.wants.iter().map(|(field, want)| match want {
            FieldMatch::Pattern(pattern) => (format!("{}{REGEX}", field.name()), pattern.source().into()),
            FieldMatch::Exact(text) => (field.name().to_string(), text.as_str().into()),
            FieldMatch::Flag(flag) => (field.name().to_string(), (*flag).into()),
            FieldMatch::Number(number) => (field.name().to_string(), (*number).into()),
        });
        Value::Object(entries.collect())
    }
}
