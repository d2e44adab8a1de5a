//! Flows of Maestro as trails: each command becomes calls of tools, or is kept as a comment.

mod blocks;
mod commands;
mod elements;
mod flow;
mod header;
mod scripts;
mod selector;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use trailblaze_core::yaml::{YamlKind, YamlNode};

use crate::draft::TrailDraft;
use crate::grouping;
use crate::naming::{beside, file_stem, stem_of};
use crate::{ForeignFile, Imported, ImportedStatement};
use flow::Flow;

/// The files that a flow names: other flows, and scripts. Relative paths are from the folder of the flow.
pub fn references(file: &ForeignFile) -> Vec<String> {
    let Ok(flow) = Flow::read(file) else { return Vec::new() };
    let mut named = Vec::new();
    flow.walk(&mut |node| {
        for key in ["runFlow", "runScript", "retry"] {
            let Some(value) = node.get(key) else { continue };
            let path = value.raw().or_else(|| value.get("file")?.raw());
            named.extend(path.filter(|path| !path.is_empty()).map(|path| beside(&file.path, path)));
        }
    });
    named
}

/// Makes a trail of each flow. `others` are the files that they name.
pub fn import(flows: &[ForeignFile], others: &[ForeignFile]) -> Imported {
    let mut importer =
        Importer { others, imported: Imported::default(), tools: BTreeMap::new(), passed: BTreeMap::new() };
    for file in flows.iter().chain(others) {
        importer.note_what_is_passed(file);
    }
    for file in flows {
        match Flow::read(file) {
            Ok(flow) => importer.flow(&flow),
            Err(problems) => importer.imported.problems.extend(problems),
        }
    }
    importer.finish()
}

/// What the translation of all flows shares.
struct Importer<'f> {
    others: &'f [ForeignFile],
    imported: Imported,
    /// The tools that were made of flows and scripts, by path. `None` if a flow cannot be a tool.
    tools: BTreeMap<String, Option<MadeTool>>,
    /// The names of the values that are passed to each flow.
    passed: BTreeMap<String, BTreeSet<String>>,
}

/// A tool that was made of a flow or a script.
#[derive(Clone)]
struct MadeTool {
    name: String,
    text: String,
    /// The values that each call has to pass.
    required: Vec<String>,
    /// Those with a default.
    optional: Vec<String>,
}

impl Importer<'_> {
    fn flow(&mut self, flow: &Flow) {
        let mut translation = Translation::of(self, flow);
        let mut draft = translation.header(flow);
        let units = translation.commands(&flow.commands);
        let app = translation.app.clone();
        draft.steps = grouping::steps(units);
        grouping::take_trailhead(&mut draft);
        if draft.title.is_empty() {
            draft.title = stem_of(&flow.source.path).to_string();
        }
        if app.is_some_and(|app| app.starts_with("http")) {
            draft.drivers = vec![("web".to_string(), "playwright-native".to_string())];
        }
        self.write(flow, &draft);
    }

    fn write(&mut self, flow: &Flow, draft: &TrailDraft) {
        let stem = file_stem(stem_of(&flow.source.path));
        self.imported.add("trails/", &stem, ".trail.yaml", draft.text());
    }

    fn note_what_is_passed(&mut self, file: &ForeignFile) {
        let Ok(flow) = Flow::read(file) else { return };
        let mut found = Vec::new();
        flow.walk(&mut |node| {
            for key in ["runFlow", "runScript"] {
                let Some(value) = node.get(key) else { continue };
                let Some(path) = value.raw().or_else(|| value.get("file")?.raw()) else { continue };
                let keys = value.get("env").and_then(YamlNode::entries).unwrap_or_default();
                let keys: Vec<String> = keys.iter().filter_map(|(key, _)| key.raw().map(str::to_string)).collect();
                found.push((beside(&file.path, path), keys));
            }
        });
        for (path, keys) in found {
            self.passed.entry(path).or_default().extend(keys);
        }
    }

    fn other(&self, path: &str) -> Option<&ForeignFile> {
        self.others.iter().find(|file| file.path == path)
    }

    fn finish(self) -> Imported {
        let mut imported = self.imported;
        for tool in self.tools.into_values().flatten() {
            imported.add("trailblaze-config/tools/", &tool.name, ".yaml", tool.text);
        }
        imported
    }
}

/// The translation of one flow, with those that it runs.
struct Translation<'i, 'f> {
    importer: &'i mut Importer<'f>,
    /// The file that is read now, and those that run it.
    paths: Vec<String>,
    /// The text of the file that is read now.
    text: String,
    app: Option<String>,
    /// Whether statements are listed: not while it is tried whether a flow can be a tool.
    is_trial: bool,
    /// The values that are parameters of the tool that is being made.
    n_blocks: usize,
}

impl<'i, 'f> Translation<'i, 'f> {
    fn of(importer: &'i mut Importer<'f>, flow: &Flow) -> Translation<'i, 'f> {
        let app = flow.header_text("appId").or_else(|| flow.header_text("url"));
        Translation {
            importer,
            paths: vec![flow.source.path.clone()],
            text: flow.source.text.clone(),
            app,
            is_trial: false,
            n_blocks: 0,
        }
    }

    fn path(&self) -> &str {
        self.paths.last().map(String::as_str).unwrap_or_default()
    }

    fn is_web(&self) -> bool {
        self.app.as_deref().is_some_and(|app| app.starts_with("http"))
    }

    fn note(&mut self, statement: ImportedStatement) {
        if !self.is_trial {
            self.importer.imported.statements.push(statement);
        }
    }

    /// The lines of a value in the file.
    fn lines_of(&self, node: &YamlNode) -> Vec<String> {
        let start = self.text[..node.span.start.min(self.text.len())].rfind('\n').map_or(0, |at| at + 1);
        let end = match &node.kind {
            YamlKind::Scalar { .. } => node.span.end,
            _ => last_end(node),
        };
        let Some(text) = self.text.get(start..end.max(start)) else { return Vec::new() };
        let end = end.max(start) + self.text[end.max(start)..].find('\n').unwrap_or(self.text.len() - end.max(start));
        let text = self.text.get(start..end).unwrap_or(text);
        let indent = text.len() - text.trim_start().len();
        text.lines().map(|line| line.get(indent..).unwrap_or(line.trim_start()).to_string()).collect()
    }
}

fn last_end(node: &YamlNode) -> usize {
    match &node.kind {
        YamlKind::Scalar { .. } => node.span.end,
        YamlKind::Seq(items) => items.last().map_or(node.span.start, last_end),
        YamlKind::Map(entries) => {
            entries.last().map_or(node.span.start, |(key, value)| last_end(value).max(key.span.end))
        }
    }
}
