//! Tools in YAML.

use serde_json::{Map, Value};
use trailblaze_core::yaml::{YamlNode, block, loose};

use super::KotlinProject;
use super::trails::renamed_call;
use crate::draft::{comment, write_call};
use crate::{ForeignFile, ImportedFile, StatementFate};

/// The keys that have another name here.
const RENAMED: [(&str, &str); 3] =
    [("surface_to_llm", "isForLlm"), ("is_recordable", "isRecordable"), ("requires_host", "requiresHost")];

impl KotlinProject<'_> {
    pub(super) fn tool_file(&mut self, file: &ForeignFile) {
        let Some(root) = self.read(file) else { return };
        let id = root.get("id").or(root.get("name")).and_then(YamlNode::raw).unwrap_or_default().to_string();
        if root.get("script").is_some() {
            return self.keep_file(file, "a tool with a script: its TypeScript file says what it needs");
        }
        if let Some(class) = root.get("class").and_then(YamlNode::raw)
            && !self.known.contains(class)
        {
            return self.keep_file(file, "a tool in Kotlin: write a tool server");
        }
        if root.get("tools").is_none() && root.get("class").is_none() {
            return self.keep_file(file, "a waypoint's tool without calls has no counterpart");
        }
        if id.is_empty() {
            return self.keep_file(file, "the tool has no `id`");
        }
        let mut head = Map::new();
        let mut calls = Vec::new();
        let mut kept = Vec::new();
        for (key, value) in root.entries().unwrap_or_default() {
            let name = key.raw().unwrap_or_default();
            let known = RENAMED.iter().find(|(old, _)| *old == name);
            match name {
                "tools" => calls = value.items().unwrap_or_default().to_vec(),
                "id" | "description" | "class" => drop(head.insert(name.to_string(), loose(value))),
                "parameters" => {
                    let params: Vec<Value> = value.items().unwrap_or_default().iter().map(parameter).collect();
                    head.insert(name.to_string(), params.into());
                }
                _ if known.is_some() => {
                    let new = known.map(|(_, new)| *new).unwrap_or_default();
                    head.insert(new.to_string(), loose(value));
                }
                other => {
                    let reason = match other {
                        "shortcut" => "shortcuts between waypoints have no counterpart",
                        "trailhead" => "a trail can name any tool as its `trailhead`",
                        "is_verification" => "which tools verify is not written in files here",
                        _ => "a tool has no such key",
                    };
                    kept.push(format!("Not imported, line {}: `{other}`: {reason}", key.span.line));
                    self.note(file, key, other, StatementFate::Kept(reason.to_string()));
                    continue;
                }
            }
            self.note(file, key, name, StatementFate::Translated);
        }
        if head.contains_key("class") {
            head.retain(|key, _| matches!(key.as_str(), "id" | "class"));
        } else {
            head.entry("parameters").or_insert_with(|| Value::Array(Vec::new()));
        }
        let optional = optional_params(&root);
        let mut text = String::new();
        comment(&mut text, 0, &format!("Imported from {}.", file.path));
        kept.iter().for_each(|line| comment(&mut text, 0, line));
        text.push_str(&block(&Value::Object(head), 0));
        if !calls.is_empty() {
            text.push_str("tools:\n");
        }
        for call in &calls {
            let call = renamed_call(&loose(call));
            write_call(&mut text, &dropping(&call, &optional), 2);
        }
        if id.starts_with("mobile_") {
            self.needs_mobile_prefix = true;
        }
        self.known.insert(id.clone());
        let path = format!("trailblaze-config/tools/{}.yaml", id.replace(['/', '\\'], "-"));
        self.imported.files.push(ImportedFile { path, text });
    }
}

/// A parameter; its types are those of JSON, and what is neither is text.
fn parameter(node: &YamlNode) -> Value {
    let mut parameter = loose(node);
    if let Some(fields) = parameter.as_object_mut() {
        if fields.contains_key("default") {
            fields.shift_remove("required");
        }
        fields.entry("type").or_insert_with(|| "string".into());
    }
    parameter
}

fn optional_params(root: &YamlNode) -> Vec<String> {
    let items = root.get("parameters").and_then(YamlNode::items).unwrap_or_default();
    let is_optional = |item: &&YamlNode| {
        item.get("default").is_none() && item.get("required").and_then(YamlNode::raw) == Some("false")
    };
    items.iter().filter(is_optional).filter_map(|item| Some(item.get("name")?.raw()?.to_string())).collect()
}

/// `{{params.x}}` of what was not given removes its key there, and `{{?x}}` does here.
fn dropping(value: &Value, optional: &[String]) -> Value {
    match value {
        Value::String(text) => {
            let inside = text.strip_prefix("{{params.").and_then(|rest| rest.strip_suffix("}}"));
            match inside.filter(|name| optional.iter().any(|known| known == name)) {
                Some(name) => format!("{{{{?{name}}}}}").into(),
                None => value.clone(),
            }
        }
        Value::Array(items) => items.iter().map(|item| dropping(item, optional)).collect(),
        Value::Object(map) => {
            map.iter().map(|(key, value)| (key.clone(), dropping(value, optional))).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}
