//! The parameters of one Maestro command. Reading removes them; leftovers would have no effect and are rejected.

use std::time::Duration;

use serde_json::{Map, Value, json};
use trailblaze_protocol::outcome::Variant;

use super::bounded;
use crate::driver::Direction;
use crate::engine::fault::Stop;
use crate::query::{ElementProperties, Query, QueryTarget, TextMatch};

/// A parameter and its type.
pub type MaestroParam = (&'static str, MaestroType);

#[derive(Clone, Copy)]
pub enum MaestroType {
    Text,
    Flag,
    /// A non-negative integer.
    Count,
    /// The same, or null.
    CountOrNull,
    /// An element: its text, or a mapping with the keys of [`SELECTOR`].
    Selector,
}

/// The parameters that identify an element.
pub const SELECTOR: &[MaestroParam] = &[
    ("text", MaestroType::Text),
    ("id", MaestroType::Text),
    ("index", MaestroType::Count),
    ("enabled", MaestroType::Flag),
    ("selected", MaestroType::Flag),
];

impl MaestroType {
    pub fn json(self) -> Value {
        match self {
            MaestroType::Text => json!({"type": "string"}),
            MaestroType::Flag => json!({"type": "boolean"}),
            MaestroType::Count => json!({"type": "integer", "minimum": 0}),
            MaestroType::CountOrNull => json!({"type": ["integer", "null"], "minimum": 0}),
            MaestroType::Selector => {
                json!({"type": ["object", "string"], "properties": properties(SELECTOR), "additionalProperties": false})
            }
        }
    }
}

pub fn properties<'p>(params: impl IntoIterator<Item = &'p MaestroParam>) -> Map<String, Value> {
    params.into_iter().map(|(name, ty)| (name.to_string(), ty.json())).collect()
}

pub fn invalid(text: impl Into<String>) -> Stop {
    Stop::error(Variant::MaestroValidationError, text)
}

pub struct MaestroParams {
    pub command: &'static str,
    pub values: Map<String, Value>,
}

impl MaestroParams {
    pub fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    pub fn flag(&mut self, name: &str) -> Option<bool> {
        self.values.remove(name)?.as_bool()
    }

    pub fn text(&mut self, name: &str) -> Option<String> {
        self.values.remove(name)?.as_str().map(str::to_string)
    }

    pub fn required(&mut self, name: &str) -> Result<String, Stop> {
        self.text(name).ok_or_else(|| self.lacks(&format!("`{name}`")))
    }

    pub fn lacks(&self, what: &str) -> Stop {
        invalid(format!("`{}` needs {what}", self.command))
    }

    pub fn count(&mut self, name: &str) -> Result<Option<u32>, Stop> {
        match self.values.remove(name).filter(|count| !count.is_null()) {
            None => Ok(None),
            Some(count) => match count.as_u64().and_then(|count| u32::try_from(count).ok()) {
                Some(count) => Ok(Some(count)),
                None => {
                    Err(invalid(format!("`{name}` of `{}` must be a non-negative integer, got {count}", self.command)))
                }
            },
        }
    }

    pub fn millis(&mut self, name: &str, default: u32) -> Result<Duration, Stop> {
        Ok(bounded(self.count(name)?.unwrap_or(default)))
    }

    pub fn direction(&mut self, default: Direction) -> Result<Direction, Stop> {
        let Some(word) = self.text("direction") else { return Ok(default) };
        let unknown = || invalid(format!("unknown direction `{word}`; use one of {}", Direction::NAMES.join(", ")));
        Direction::parse(&word).ok_or_else(unknown)
    }

    /// The element given by the command's own parameters, if any.
    pub fn own_query(&mut self) -> Result<Option<Query>, Stop> {
        let own: Vec<&str> = SELECTOR.iter().map(|(name, _)| *name).filter(|name| self.has(name)).collect();
        if own.is_empty() {
            return Ok(None);
        }
        let values = own.into_iter().filter_map(|name| self.values.remove_entry(name)).collect();
        query(self.command, values).map(Some)
    }

    /// The same, if an element is required.
    pub fn query(&mut self) -> Result<Query, Stop> {
        self.own_query()?.ok_or_else(|| self.lacks("`text` or `id`"))
    }

    /// The element given by the parameter `name`, if any.
    pub fn query_under(&mut self, name: &str) -> Result<Option<Query>, Stop> {
        match self.values.remove(name) {
            None => Ok(None),
            Some(Value::String(text)) => {
                query(self.command, Map::from_iter([("text".to_string(), json!(text))])).map(Some)
            }
            Some(Value::Object(map)) => query(self.command, map).map(Some),
            Some(other) => Err(invalid(format!("`{name}` of `{}` must be an element, got {other}", self.command))),
        }
    }

    /// Rejects parameters that were not read, because they would have no effect.
    pub fn finish(self) -> Result<(), Stop> {
        let names: Vec<String> = self.values.keys().map(|name| format!("`{name}`")).collect();
        if names.is_empty() {
            return Ok(());
        }
        let has = if names.len() == 1 { "has" } else { "have" };
        Err(invalid(format!("{} of `{}` {has} no effect here", names.join(", "), self.command)))
    }
}

/// Text and id are regular expressions that match the full value.
fn query(command: &'static str, values: Map<String, Value>) -> Result<Query, Stop> {
    let mut params = MaestroParams { command, values };
    let element = ElementProperties {
        text: params.text("text").map(TextMatch::Pattern),
        id: params.text("id"),
        enabled: params.flag("enabled"),
        selected: params.flag("selected"),
    };
    if element.text.is_none() && element.id.is_none() {
        return Err(params.lacks("`text` or `id`"));
    }
    let index = params.count("index")?.unwrap_or(0) as usize;
    params.finish()?;
    Ok(Query { what: QueryTarget::Element(element), index: Some(index) })
}
