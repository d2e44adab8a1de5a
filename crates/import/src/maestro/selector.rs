//! The elements of flows: as arguments of our tools, as parameters of the tool `maestro`, and as selectors.

use serde_json::{Map, Value, json};
use trailblaze_core::yaml::YamlNode;

use super::text::{plain, template};

/// An element as written. Texts are templates of ours.
#[derive(Debug, Clone, Default)]
pub struct FlowElement {
    pub text: Option<String>,
    pub id: Option<String>,
    pub index: Option<u32>,
    /// `enabled`, `checked`, `focused`, `selected`.
    pub states: Vec<(&'static str, bool)>,
    pub point: Option<String>,
    pub css: Option<String>,
    pub relations: Vec<(String, Vec<FlowElement>)>,
}

/// The states that an element can be asked for.
const STATES: [&str; 4] = ["enabled", "checked", "focused", "selected"];
const RELATIONS: [&str; 7] = ["below", "above", "leftOf", "rightOf", "childOf", "containsChild", "containsDescendants"];
/// How deep elements may be nested.
const DEPTH: usize = 10;

impl FlowElement {
    /// Reads an element. `beside` are the keys next to it that are no part of it.
    pub fn read(node: &YamlNode, beside: &[&str]) -> Result<FlowElement, String> {
        FlowElement::at_depth(node, beside, DEPTH)
    }

    fn at_depth(node: &YamlNode, beside: &[&str], depth: usize) -> Result<FlowElement, String> {
        let unclear = |text: String| format!("the expression `{text}` needs a script");
        if depth == 0 {
            return Err("elements are nested too deeply".to_string());
        }
        let mut element = FlowElement::default();
        if let Some(raw) = node.raw() {
            element.text = Some(template(raw).map_err(unclear)?);
            return Ok(element);
        }
        for (key, value) in node.entries().ok_or("an element is a text or a mapping")? {
            let name = key.raw().unwrap_or_default();
            let text = || template(value.raw().unwrap_or_default()).map_err(unclear);
            match name {
                "text" => element.text = Some(text()?),
                "id" => element.id = Some(text()?),
                "css" => element.css = Some(text()?),
                "point" => element.point = Some(text()?),
                "index" => {
                    let index = value.raw().and_then(|raw| raw.parse::<u32>().ok());
                    element.index = Some(index.ok_or("its `index` is not a number from 0")?);
                }
                state if STATES.contains(&state) => {
                    let is = value.raw().and_then(|raw| raw.parse::<bool>().ok());
                    let known = STATES.into_iter().find(|known| *known == state).unwrap_or_default();
                    element.states.push((known, is.ok_or_else(|| format!("its `{state}` is not true or false"))?));
                }
                relation if RELATIONS.contains(&relation) => {
                    let nodes = value.items().map_or_else(|| vec![value], |items| items.iter().collect());
                    let others = nodes.into_iter().map(|node| FlowElement::at_depth(node, &[], depth - 1));
                    element.relations.push((relation.to_string(), others.collect::<Result<_, _>>()?));
                }
                other if beside.contains(&other) => {}
                other => return Err(format!("there is no `{other}` of elements here")),
            }
        }
        Ok(element)
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_none()
            && self.id.is_none()
            && self.css.is_none()
            && self.relations.is_empty()
            && self.states.is_empty()
    }

    /// `text` and `id` of our tools, if they are plain.
    pub fn plain(&self) -> Option<Map<String, Value>> {
        let mut args = Map::new();
        for (name, value) in [("text", &self.text), ("id", &self.id)] {
            if let Some(value) = value {
                args.insert(name.to_string(), plain(value)?.into());
            }
        }
        let is_all = self.css.is_none() && self.relations.is_empty() && self.point.is_none();
        (is_all && !args.is_empty()).then_some(args)
    }

    /// The parameters of the tool `maestro`, which reads patterns, if it knows them all.
    pub fn maestro(&self) -> Option<Map<String, Value>> {
        let mut params = Map::new();
        for (name, value) in [("text", &self.text), ("id", &self.id), ("point", &self.point)] {
            if let Some(value) = value {
                params.insert(name.to_string(), value.as_str().into());
            }
        }
        if let Some(index) = self.index {
            params.insert("index".to_string(), index.into());
        }
        for (state, is) in &self.states {
            params.insert(state.to_string(), (*is).into());
        }
        let has_known = self.states.iter().all(|(state, _)| matches!(*state, "enabled" | "selected"));
        let has_element = self.text.is_some() || self.id.is_some();
        let is_all = has_known && (has_element || (self.point.is_some() && params.len() == 1));
        (is_all && self.css.is_none() && self.relations.is_empty()).then_some(params)
    }

    /// A selector for each of Android and iOS.
    pub fn selectors(&self) -> Option<(Value, Value)> {
        (self.css.is_none() && self.point.is_none())
            .then(|| Some((self.selector("androidAccessibility", DEPTH)?, self.selector("iosMaestro", DEPTH)?)))
            .flatten()
    }

    fn selector(&self, vocabulary: &str, depth: usize) -> Option<Value> {
        let is_android = vocabulary == "androidAccessibility";
        if depth == 0 {
            return None;
        }
        let mut own = Map::new();
        let mut put = |name: &str, pattern: &str| match plain(pattern) {
            Some(text) => own.insert(name.to_string(), text.into()),
            None => own.insert(format!("{name}Regex"), pattern.into()),
        };
        if let Some(text) = &self.text {
            put("text", text);
        }
        if let Some(id) = &self.id {
            put("resourceId", id);
        }
        for (state, is) in &self.states {
            let name = match (is_android, *state) {
                (true, "enabled") => "isEnabled",
                (true, "checked") => "isChecked",
                (true, "focused") => "isFocused",
                (true, _) => "isSelected",
                (false, "checked") => return None,
                (false, state) => state,
            };
            own.insert(name.to_string(), (*is).into());
        }
        let mut selector = Map::new();
        if !own.is_empty() {
            selector.insert(vocabulary.to_string(), own.into());
        }
        for (relation, others) in &self.relations {
            let others: Option<Vec<Value>> = others.iter().map(|other| other.selector(vocabulary, depth - 1)).collect();
            let mut others = others?;
            let value = if relation == "containsDescendants" { json!(others) } else { others.drain(..).next()? };
            selector.insert(relation.clone(), value);
        }
        if let Some(index) = self.index {
            selector.insert("index".to_string(), index.into());
        }
        (!selector.is_empty()).then(|| selector.into())
    }
}
