//! The configuration of a flow.

use trailblaze_core::yaml::YamlNode;

use super::Translation;
use super::flow::Flow;
use super::text::{literal, name, template};
use crate::draft::TrailDraft;
use crate::grouping;
use crate::{ImportedStatement, StatementFate};

impl Translation<'_, '_> {
    /// What the configuration says about the trail.
    pub fn header(&mut self, flow: &Flow) -> TrailDraft {
        let mut draft = TrailDraft {
            head: vec![format!("Imported from {}, a flow of Maestro.", flow.source.path)],
            ..TrailDraft::default()
        };
        let entries = flow.header.as_ref().and_then(YamlNode::entries).unwrap_or_default();
        for (key, value) in entries {
            let word = key.raw().unwrap_or_default();
            let texts = || value.items().unwrap_or_default().iter().filter_map(|item| item.raw().map(str::to_string));
            let fate = match word {
                "appId" | "url" => StatementFate::Translated,
                "name" => {
                    draft.title = value.raw().unwrap_or_default().to_string();
                    StatementFate::Translated
                }
                "tags" => {
                    draft.tags = texts().collect();
                    StatementFate::Translated
                }
                "env" => {
                    self.env(value, &mut draft);
                    continue;
                }
                "onFlowStart" | "onFlowComplete" => {
                    let units = self.commands(value.items().unwrap_or_default());
                    let steps = grouping::steps(units);
                    if word == "onFlowStart" {
                        draft.before = steps
                    } else {
                        draft.after = steps
                    }
                    continue;
                }
                "jsEngine" => StatementFate::Translated,
                "properties" => StatementFate::Kept("a trail has `metadata`, and JUnit does not show it".to_string()),
                other => StatementFate::Kept(format!("a trail has no `{other}`")),
            };
            if let StatementFate::Kept(reason) = &fate {
                draft.head.push(format!("Not imported, line {}: {reason}:", key.span.line));
                draft.head.extend(self.lines_of_entry(key, value).into_iter().map(|line| format!("  {line}")));
            }
            self.note(ImportedStatement::new(&flow.source.path, key.span, word, fate));
        }
        draft
    }

    fn env(&mut self, env: &YamlNode, draft: &mut TrailDraft) {
        let path = self.path().to_string();
        for (key, value) in env.entries().unwrap_or_default() {
            let (Some(word), Some(raw)) = (key.raw(), value.raw()) else { continue };
            let fate = match env_default(raw) {
                Some(text) => {
                    draft.memory.push((name(word).unwrap_or_else(|| word.to_string()), text));
                    StatementFate::Translated
                }
                None => {
                    draft.head.push(format!("Not imported, line {}: {word}: {raw}", key.span.line));
                    StatementFate::Kept(format!("`{raw}` is not a plain value; pass it with `--memory {word}=…`"))
                }
            };
            self.note(ImportedStatement::new(&path, key.span, format!("env {word}"), fate));
        }
    }

    fn lines_of_entry(&self, key: &YamlNode, value: &YamlNode) -> Vec<String> {
        let mut lines = self.lines_of(key);
        for line in self.lines_of(value) {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }
}

/// A value without expressions, or the default in `${NAME || 'default'}`.
pub fn env_default(raw: &str) -> Option<String> {
    let inside = raw.trim().strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    if let Some((given, default)) = inside.and_then(|inside| inside.split_once("||"))
        && name(given.trim()).is_some()
    {
        return literal(default);
    }
    template(raw).ok().filter(|text| !text.contains("{{"))
}
