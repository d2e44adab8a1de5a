//! Trails: in the unified form, with the names that tools have here.

use serde_json::{Map, Value};
use trailblaze_core::trail::{ToolCall, Trail, convert};
use trailblaze_core::yaml::{Source, Span};

use super::KotlinProject;
use crate::{ForeignFile, ImportedFile, ImportedStatement, StatementFate};

/// A tool that has another name here, and its arguments that have.
struct Renamed {
    old: &'static str,
    new: &'static str,
    args: &'static [(&'static str, &'static str)],
}

const RENAMED: [Renamed; 6] = [
    Renamed { old: "mobile_maestro", new: "maestro", args: &[] },
    Renamed { old: "mobile_clearAppData", new: "clearAppData", args: &[("appId", "packageId")] },
    Renamed { old: "tapOnElementWithAccessibilityText", new: "tap", args: &[("accessibilityText", "text")] },
    Renamed {
        old: "longPressElementWithAccessibilityText",
        new: "longPressOnElementWithText",
        args: &[("accessibilityText", "text")],
    },
    Renamed { old: "assertVisibleWithAccessibilityText", new: "assertVisible", args: &[("accessibilityText", "text")] },
    Renamed { old: "assertVisibleWithResourceId", new: "assertVisible", args: &[("resourceId", "id")] },
];

/// The same for a call in a tool.
pub fn renamed_call(call: &Value) -> Value {
    let Some(map) = call.as_object() else { return call.clone() };
    let renamed = map.iter().map(|(tool, args)| match RENAMED.iter().find(|row| row.old == tool) {
        None => (tool.clone(), args.clone()),
        Some(row) => {
            let args = args.as_object().map(|args| {
                let new = |key: &String| {
                    row.args.iter().find(|(old, _)| old == key).map_or(key.clone(), |(_, new)| new.to_string())
                };
                args.iter().map(|(key, value)| (new(key), value.clone())).collect::<Map<_, _>>()
            });
            (row.new.to_string(), args.unwrap_or_default().into())
        }
    });
    renamed.collect::<Map<_, _>>().into()
}

impl KotlinProject<'_> {
    pub(super) fn trail(&mut self, file: &ForeignFile) {
        let text = without_default_target(&file.text);
        let source = Source::new(file.path.as_str(), text.as_str());
        let (trail, problems) = Trail::read_in_part(&source);
        let Some(trail) =
            trail.filter(|_| problems.iter().all(|problem| problem.severity != trailblaze_core::yaml::Severity::Error))
        else {
            self.imported.problems.extend(problems);
            return;
        };
        for call in calls(&trail) {
            let name = call.tool.value.as_str();
            let is_known = self.known.contains(name) || RENAMED.iter().any(|row| row.old == name);
            let fate = match is_known {
                true => StatementFate::Translated,
                false => StatementFate::Kept(format!("there is no tool `{name}`; the call is as it was")),
            };
            self.imported.statements.push(ImportedStatement::new(&file.path, call.tool.span, name, fate));
        }
        let is_list = trail.form == trailblaze_core::trail::Form::List;
        let text = match is_list.then(|| convert(&source)) {
            Some(Ok(converted)) => converted,
            Some(Err(error)) => {
                let fate = StatementFate::Partly(format!("it stays in the older form: {error}"));
                let at = Span { line: 1, column: 1, ..Span::default() };
                self.imported.statements.push(ImportedStatement::new(&file.path, at, "trail", fate));
                text
            }
            None => text,
        };
        let text = renamed(&file.path, text);
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let path = match file.path.strip_suffix("blaze.yaml") {
            Some(_) if folder.is_empty() => "trail.yaml".to_string(),
            Some(_) => format!("{folder}/trail.yaml"),
            None => file.path.clone(),
        };
        let path = if path.starts_with("trails/") { path } else { format!("trails/{path}") };
        self.imported.files.push(ImportedFile { path, text });
    }
}

fn calls(trail: &Trail) -> Vec<&ToolCall> {
    let steps = trail.all_steps().chain(trail.hooks().map(|hook| &hook.step));
    steps
        .flat_map(|step| step.tools.iter().flatten().chain(step.recording.iter().flat_map(|(_, calls)| calls)))
        .collect()
}

/// The text with the names that tools and arguments have here, in place.
fn renamed(path: &str, text: String) -> String {
    let source = Source::new(path, text.as_str());
    let (Some(trail), _) = Trail::read_in_part(&source) else { return text };
    let mut changes: Vec<(Span, &str, &str)> = Vec::new();
    for call in calls(&trail) {
        let Some(row) = RENAMED.iter().find(|row| row.old == call.tool.value) else { continue };
        changes.push((call.tool.span, row.old, row.new));
        for (key, _) in call.args.entries().unwrap_or_default() {
            if let Some((old, new)) = row.args.iter().find(|(old, _)| Some(*old) == key.raw()) {
                changes.push((key.span, old, new));
            }
        }
    }
    changes.sort_by_key(|(span, ..)| std::cmp::Reverse(span.start));
    changes.dedup();
    let mut out = text;
    for (span, old, new) in changes {
        // A key in quotes, or one of an alias, is left alone; `check` names it.
        if out.get(span.start..span.end) == Some(old) {
            out.replace_range(span.start..span.end, new);
        }
    }
    out
}

/// There is no target `default` here.
fn without_default_target(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| line.trim() != "target: default").collect()
}
