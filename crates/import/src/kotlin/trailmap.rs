//! Trailmaps and toolsets.

use serde_json::{Map, Value, json};
use trailblaze_core::yaml::{YamlNode, block, loose};

use super::KotlinProject;
use crate::draft::comment;
use crate::{ForeignFile, ImportedFile, StatementFate};

/// The keys of a platform that are the same here.
const SAME: [&str; 6] = ["app_ids", "tool_sets", "tools", "excluded_tools", "drivers", "base_url"];
const PLATFORMS: [&str; 4] = ["android", "ios", "web", "desktop"];

impl KotlinProject<'_> {
    pub(super) fn trailmap(&mut self, file: &ForeignFile) {
        let Some(root) = self.read(file) else { return };
        let folder = file.path.trim_end_matches("/trailmap.yaml").rsplit('/').next().unwrap_or_default();
        let id = root.get("id").and_then(YamlNode::raw).unwrap_or(folder).to_string();
        let mut kept = Vec::new();
        let mut target = None;
        for (key, value) in root.entries().unwrap_or_default() {
            let name = key.raw().unwrap_or_default();
            match name {
                "id" => self.note(file, key, name, StatementFate::Translated),
                "target" => target = Some(self.target(file, &id, value, &mut kept)),
                // The files themselves are found.
                "toolsets" | "tools" => self.note(file, key, name, StatementFate::Translated),
                other => {
                    let reason = match other {
                        "dependencies" => "targets do not depend on each other; their tools are those of the project",
                        "exports" => "all tools of a project can be called",
                        "defaults" | "platforms" => "write these settings into each target",
                        _ => "a target has no such key",
                    };
                    kept.push(format!("Not imported, line {}: `{other}`: {reason}", key.span.line));
                    self.note(file, key, other, StatementFate::Kept(reason.to_string()));
                }
            }
        }
        if let Some(target) = target {
            self.write_target(file, &id, target, &kept);
        }
    }

    /// A target in a file of its own, as in older projects.
    pub(super) fn flat_target(&mut self, file: &ForeignFile) {
        let Some(root) = self.read(file) else { return };
        let id =
            root.get("id").and_then(YamlNode::raw).unwrap_or_else(|| crate::naming::stem_of(&file.path)).to_string();
        let mut kept = Vec::new();
        let target = self.target(file, &id, &root, &mut kept);
        self.write_target(file, &id, target, &kept);
    }

    fn write_target(&mut self, file: &ForeignFile, id: &str, target: Map<String, Value>, kept: &[String]) {
        let mut text = String::new();
        comment(&mut text, 0, &format!("Imported from {}.", file.path));
        kept.iter().for_each(|line| comment(&mut text, 0, line));
        text.push_str(&block(&Value::Object(target), 0));
        let path = format!("trailblaze-config/targets/{}.yaml", crate::naming::file_stem(id));
        self.imported.files.push(ImportedFile { path, text });
    }

    fn target(&mut self, file: &ForeignFile, id: &str, node: &YamlNode, kept: &mut Vec<String>) -> Map<String, Value> {
        let mut target = Map::from_iter([("id".to_string(), Value::from(id))]);
        let tools: Vec<Value> =
            node.get("tools").and_then(YamlNode::items).unwrap_or_default().iter().map(loose).collect();
        let mut platforms = Map::new();
        for (key, value) in node.entries().unwrap_or_default() {
            let name = key.raw().unwrap_or_default();
            match name {
                "id" => {}
                "display_name" => {
                    target.insert("display_name".to_string(), value.raw().unwrap_or_default().into());
                    self.note(file, key, name, StatementFate::Translated);
                }
                "tools" => self.note(file, key, name, StatementFate::Translated),
                "platforms" => {
                    for (key, value) in value.entries().unwrap_or_default() {
                        let platform = key.raw().unwrap_or_default();
                        if PLATFORMS.contains(&platform) {
                            let entry = self.platform(file, platform, value, &tools, kept);
                            platforms.insert(platform.to_string(), entry);
                        } else {
                            let reason = format!("there is no platform `{platform}`");
                            kept.push(format!("Not imported, line {}: {reason}", key.span.line));
                            self.note(file, key, platform, StatementFate::Kept(reason));
                        }
                    }
                }
                other => {
                    let reason = match other {
                        "system_prompt_file" | "system_prompt" => "write it into `context:` of trails",
                        _ => "a target has no such key",
                    };
                    kept.push(format!("Not imported, line {}: `{other}`: {reason}", key.span.line));
                    self.note(file, key, other, StatementFate::Kept(reason.to_string()));
                }
            }
        }
        if !platforms.is_empty() {
            target.insert("platforms".to_string(), platforms.into());
        }
        target
    }

    fn platform(
        &mut self,
        file: &ForeignFile,
        platform: &str,
        node: &YamlNode,
        tools: &[Value],
        kept: &mut Vec<String>,
    ) -> Value {
        let mut entry = Map::new();
        for (key, value) in node.entries().unwrap_or_default() {
            let name = key.raw().unwrap_or_default();
            let whole = format!("{platform}.{name}");
            if SAME.contains(&name) {
                entry.insert(name.to_string(), loose(value));
                self.note(file, key, &whole, StatementFate::Translated);
            } else {
                kept.push(format!("Not imported, line {}: `{whole}`: a target has no such key", key.span.line));
                self.note(file, key, &whole, StatementFate::Kept("a target has no such key".to_string()));
            }
        }
        if !tools.is_empty() {
            let own = entry.entry("tools").or_insert_with(|| json!([]));
            if let Some(own) = own.as_array_mut() {
                own.extend(tools.iter().cloned());
            }
        }
        entry.into()
    }

    pub(super) fn toolset(&mut self, file: &ForeignFile) {
        let Some(root) = self.read(file) else { return };
        let mut toolset = Map::new();
        let mut kept = Vec::new();
        for (key, value) in root.entries().unwrap_or_default() {
            let name = key.raw().unwrap_or_default();
            if ["id", "description", "platforms", "drivers", "always_enabled", "tools"].contains(&name) {
                toolset.insert(name.to_string(), loose(value));
                self.note(file, key, name, StatementFate::Translated);
            } else {
                kept.push(format!("Not imported, line {}: `{name}`: a toolset has no such key", key.span.line));
                self.note(file, key, name, StatementFate::Kept("a toolset has no such key".to_string()));
            }
        }
        let mut text = String::new();
        comment(&mut text, 0, &format!("Imported from {}.", file.path));
        kept.iter().for_each(|line| comment(&mut text, 0, line));
        text.push_str(&block(&Value::Object(toolset), 0));
        let id = root.get("id").and_then(YamlNode::raw).unwrap_or_else(|| crate::naming::stem_of(&file.path));
        let path = format!("trailblaze-config/toolsets/{}.yaml", crate::naming::file_stem(id));
        self.imported.files.push(ImportedFile { path, text });
    }
}
