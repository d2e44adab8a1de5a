//! Converts trails of the older list form into the unified form. Comments, quotes and order are kept; anchors are expanded.
//! The result is read back and compared before it is returned.

use std::sync::Arc;

use serde_json::{Value, json};
use trailblaze_protocol::driver::Platform;

use super::call::written_calls;
use super::comments::comments;
use super::list_form::{self, ListTrail};
use super::rewrite::Rewrite;
use super::{Form, Step, StepPlan, Trail, TrailConfig};
use crate::yaml::{Problem, Problems, Source, Spanned, YamlNode, block, inline, read};

#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    #[error("{path} is not a trail")]
    Unreadable { path: String, problems: Vec<Problem> },
    #[error("{path} is already in the unified form")]
    Unified { path: String },
    #[error("{path} cannot be converted safely: the result would not read back the same")]
    Unsafe { path: String },
}

/// Returns the unified text of a file in the list form.
pub fn convert(source: &Arc<Source>) -> Result<String, ConvertError> {
    let path = || source.path.clone();
    let (before, problems) = Trail::read(source);
    let root = read(source, &mut Problems::new(source));
    let (Some(before), Some(root)) = (before, root) else {
        return Err(ConvertError::Unreadable { path: path(), problems });
    };
    let items = match before.form {
        Form::List => root.items().unwrap_or_default(),
        Form::Unified => return Err(ConvertError::Unified { path: path() }),
    };
    let list = list_form::decode(items, &mut Problems::new(source));
    let text = with_ends_of(&source.text, &rewrite(&source.text, &root, items, &list));
    if reads_back_the_same(source, &before, &root, &text, list.platform) {
        Ok(text)
    } else {
        Err(ConvertError::Unsafe { path: path() })
    }
}

fn rewrite(text: &str, root: &YamlNode, items: &[YamlNode], list: &ListTrail) -> String {
    let mut out = Rewrite::new(text, root);
    let mut has_trail = false;
    let mut steps = list.steps.iter();
    for (key, value) in items.iter().filter_map(|item| item.entries()?.first()) {
        match key.raw().unwrap_or_default() {
            "config" => config(&mut out, key, value, list),
            "trailhead" => trailhead(&mut out, key, value, list),
            name => {
                if !has_trail {
                    out.before(key.span.start, 0);
                    out.name("trail", 0);
                    out.end_line(value.span.start.min(key.span.end + 1));
                    has_trail = true;
                }
                match name {
                    "prompts" => {
                        for prompt in value.items().unwrap_or_default() {
                            steps.next();
                            out.before(prompt.span.start, 2);
                            out.dash(2);
                            step(&mut out, prompt, list.platform);
                        }
                    }
                    _ => {
                        let said = steps.next().map_or("", |step| step.text.value.as_str());
                        out.before(value.span.start, 2);
                        out.dash(2);
                        out.line("step", &inline(&said.into()), 4);
                        out.name("tools", 4);
                        out.value(value, key.span.end + 1, 4);
                    }
                }
            }
        }
    }
    out.finish()
}

fn config(out: &mut Rewrite<'_>, key: &YamlNode, value: &YamlNode, list: &ListTrail) {
    let Some(unified) = &list.config else { return };
    let entries = value.entries().unwrap_or_default();
    let kept = entries.iter().filter(|(key, value)| key.raw() != Some("platform") && !value.is_null());
    let mut kept = kept.peekable();
    if kept.peek().is_none() {
        return;
    }
    out.before(key.span.start, 0);
    out.name("config", 0);
    out.end_line(key.span.end + 1);
    let mut has_metadata = false;
    for (key, value) in kept {
        out.before(key.span.start, 2);
        match key.raw().unwrap_or_default() {
            "driver" => {
                let driver = |name: &str| (name.to_string(), json!(value.raw().unwrap_or_default()));
                let devices = unified.devices.drivers.iter().map(|(name, _)| driver(name)).collect();
                out.lines(&block(&json!({ "devices": Value::Object(devices) }), 2), value.span.end);
            }
            "skip" => {
                let skip =
                    unified.skip.by_classifier.iter().map(|(name, reason)| (name.to_string(), json!(reason))).collect();
                out.lines(&block(&json!({ "skip": Value::Object(skip) }), 2), value.span.end);
            }
            "source" | "metadata" if has_metadata => {}
            "source" | "metadata" => {
                has_metadata = true;
                let texts = unified.metadata.0.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
                out.lines(&block(&json!({ "metadata": Value::Object(texts) }), 2), value.span.end);
            }
            _ => out.entry(key, value, 2),
        }
    }
}

fn trailhead(out: &mut Rewrite<'_>, key: &YamlNode, value: &YamlNode, list: &ListTrail) {
    let Some(head) = &list.trailhead else { return };
    out.before(key.span.start, 0);
    let Some(entries) = value.entries() else { return out.entry(key, value, 0) };
    out.name("trailhead", 0);
    out.end_line(key.span.end + 1);
    if value.get("step").is_none_or(YamlNode::is_null) {
        out.line("step", &inline(&head.0.text.value.as_str().into()), 2);
    }
    for (key, value) in entries.iter().filter(|(_, value)| !value.is_null()) {
        out.before(key.span.start, 2);
        out.entry(key, value, 2);
    }
}

fn step(out: &mut Rewrite<'_>, prompt: &YamlNode, platform: Option<Platform>) {
    for (key, value) in prompt.entries().unwrap_or_default().iter().filter(|(_, value)| !value.is_null()) {
        out.before(key.span.start, 4);
        let tools = value.entries().and_then(<[_]>::first).filter(|_| key.raw() == Some("recording"));
        match (tools, platform) {
            (Some((name, calls)), Some(platform)) => {
                out.name("recording", 4);
                out.end_line(key.span.end + 1);
                out.before(name.span.start, 6);
                out.name(platform.name(), 6);
                out.value(calls, name.span.end + 1, 6);
            }
            (Some((name, calls)), None) => {
                out.before(name.span.start, 4);
                out.name("tools", 4);
                out.value(calls, name.span.end + 1, 4);
            }
            (None, _) => out.entry(key, value, 4),
        }
    }
}

/// The new text with the line breaks and byte order mark of the old one.
fn with_ends_of(old: &str, new: &str) -> String {
    let new = if old.contains("\r\n") { new.replace('\n', "\r\n") } else { new.to_string() };
    if old.starts_with('\u{feff}') { format!("\u{feff}{new}") } else { new }
}

fn reads_back_the_same(
    source: &Source,
    before: &Trail,
    root: &YamlNode,
    text: &str,
    platform: Option<Platform>,
) -> bool {
    let new = Source::new(&source.path, text);
    let (after, _) = Trail::read(&new);
    let (Some(after), Some(new_root)) = (after, read(&new, &mut Problems::new(&new))) else { return false };
    let lineage = [platform.map_or("any", Platform::name).to_string()];
    let words = |text: &str, root: &YamlNode| -> Vec<String> {
        comments(text, root).into_iter().map(|comment| comment.text).collect()
    };
    after.form == Form::Unified
        && outline(&before.config) == outline(&after.config)
        && steps(before, &lineage) == steps(&after, &lineage)
        && words(&source.text, root) == words(text, &new_root)
}

/// The content of a config, without places.
fn outline(config: &TrailConfig) -> impl PartialEq + use<> {
    let devices: Vec<_> =
        config.devices.drivers.iter().map(|(name, driver)| (name.to_string(), driver.clone())).collect();
    let skip: Vec<_> =
        config.skip.by_classifier.iter().map(|(name, reason)| (name.to_string(), reason.clone())).collect();
    let args: Vec<_> = config.args.iter().map(|(name, declaration)| (name.to_string(), declaration.clone())).collect();
    let target = config.target.as_ref().map(|Spanned { value, .. }| value.clone());
    let words =
        [&config.id, &config.title, &config.description, &config.priority, &config.context, &target].map(Clone::clone);
    (words, config.tags.clone(), devices, skip, config.memory.clone(), args, config.metadata.clone())
}

/// The content of the steps, without places: kind, text, calls on the trail's platform, and the rest.
fn steps(trail: &Trail, lineage: &[String]) -> Vec<impl PartialEq + use<>> {
    let calls = |step: &Step| match step.plan(lineage) {
        StepPlan::Recording { calls, .. } | StepPlan::Authored(calls) => Some(written_calls(calls)),
        StepPlan::Model => None,
    };
    let all = trail.trailhead.iter().map(|head| &head.0).chain(&trail.steps);
    all.map(|step| (step.kind, step.text.value.clone(), calls(step), step.is_recordable, step.max_retries)).collect()
}

#[cfg(test)]
mod tests;
