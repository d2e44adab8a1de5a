//! Projects of the Kotlin Trailblaze: trailmaps become targets, toolsets and tools, and trails call tools by the names they have here.

mod settings;
mod toolfile;
mod trailmap;
mod trails;

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use trailblaze_core::yaml::{Problems, Source, Span, YamlNode, block, read};

use crate::{ForeignFile, Imported, ImportedFile, ImportedStatement, StatementFate};

/// Where a file begins.
const START: Span = Span { start: 0, end: 0, line: 1, column: 1 };

/// Makes a project of the files of one, whose paths are relative to its folder. `built_in` are the names of our own tools.
pub fn import(files: &[ForeignFile], built_in: &BTreeSet<String>) -> Imported {
    let mut project = KotlinProject {
        files,
        known: built_in.clone(),
        imported: Imported::default(),
        settings: Map::new(),
        servers: Vec::new(),
        needs_mobile_prefix: false,
    };
    project.run();
    project.imported
}

/// A project that is being translated.
struct KotlinProject<'f> {
    files: &'f [ForeignFile],
    /// The names of the tools that trails can call.
    known: BTreeSet<String>,
    imported: Imported,
    /// Our `trailblaze.yaml`.
    settings: Map<String, Value>,
    servers: Vec<Value>,
    needs_mobile_prefix: bool,
}

impl KotlinProject<'_> {
    fn run(&mut self) {
        let files = self.files;
        let is = |file: &ForeignFile, end: &str| file.path.ends_with(end);
        let in_config =
            |file: &ForeignFile| file.path.starts_with("trails/config/") || file.path.contains("/trails/config/");
        for file in files.iter().filter(|file| in_config(file) && is(file, "config/trailblaze.yaml")) {
            self.project_settings(file);
        }
        for file in files.iter().filter(|file| in_config(file)) {
            let is_yaml = is(file, ".yaml") || is(file, ".yml");
            if is(file, "/trailmap.yaml") {
                self.trailmap(file);
            } else if is(file, "config/trailblaze.yaml") {
                // It was read first.
                continue;
            } else if file.path.contains("/waypoints/") || is(file, ".waypoint.yaml") {
                self.keep_file(file, "waypoints have no counterpart");
            } else if (is_yaml && file.path.contains("/toolsets/")) || is(file, ".toolset.yaml") {
                self.toolset(file);
            } else if is_yaml && file.path.contains("/targets/") {
                self.flat_target(file);
            } else if is_yaml && file.path.contains("/tools/") {
                self.tool_file(file);
            } else if (is(file, ".ts") || is(file, ".js") || is(file, ".mjs")) && !is(file, ".d.ts") {
                self.script(file);
            } else if is_yaml {
                self.keep_file(file, "this file of the configuration has no counterpart");
            }
        }
        for file in files.iter().filter(|file| !in_config(file)) {
            let name = file.path.rsplit('/').next().unwrap_or_default();
            if name == "trail.yaml" || name == "blaze.yaml" || name.ends_with(".trail.yaml") {
                self.trail(file);
            }
        }
        self.finish();
    }

    fn finish(&mut self) {
        if !self.servers.is_empty() {
            self.settings.insert("mcpServers".to_string(), std::mem::take(&mut self.servers).into());
        }
        if self.needs_mobile_prefix {
            self.settings.insert("reservedPrefixes".to_string(), Value::from(vec!["mobile_"]));
        }
        let mut text = "# Imported from a project of the Kotlin Trailblaze.\n".to_string();
        if !self.settings.is_empty() {
            text.push_str(&block(&Value::Object(self.settings.clone()), 0));
        }
        self.imported.files.insert(0, ImportedFile { path: "trailblaze.yaml".to_string(), text });
    }

    /// Reads a YAML file, and lists its problems.
    fn read(&mut self, file: &ForeignFile) -> Option<YamlNode> {
        let source = Source::new(file.path.as_str(), file.text.as_str());
        let mut problems = Problems::new(&source);
        let root = read(&source, &mut problems);
        let has_errors = problems.has_errors();
        self.imported.problems.extend(problems.into_vec());
        root.filter(|_| !has_errors)
    }

    fn note(&mut self, file: &ForeignFile, node: &YamlNode, name: &str, fate: StatementFate) {
        self.imported.statements.push(ImportedStatement::new(&file.path, node.span, name, fate));
    }

    fn keep_file(&mut self, file: &ForeignFile, reason: &str) {
        let fate = StatementFate::Kept(reason.to_string());
        let name = file.path.rsplit('/').next().unwrap_or_default();
        self.imported.statements.push(ImportedStatement::new(&file.path, START, name, fate));
    }

    /// A script is a server if it starts one itself.
    fn script(&mut self, file: &ForeignFile) {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        if name.contains(".test.") {
            return self.keep_file(file, "tests of tools are trails here; see `trailblaze tool test`");
        }
        let path = format!("tools/{}", name);
        let path = if self.imported.files.iter().any(|other| other.path == path) {
            format!("tools/{}", file.path.trim_start_matches("trails/config/").replace('/', "-"))
        } else {
            path
        };
        self.imported.files.push(ImportedFile { path: path.clone(), text: file.text.clone() });
        let fate = if file.text.contains("trailblaze.run()") || file.text.contains("await run()") {
            for name in registered(&file.text) {
                self.known.insert(name);
            }
            self.servers.push(serde_json::json!({"script": format!("./{path}")}));
            StatementFate::Translated
        } else {
            StatementFate::Kept(
                "a tool that is a typed function: it was copied, and needs `tool(…)` and `run()` of @trailblaze/scripting".to_string(),
            )
        };
        self.imported.statements.push(ImportedStatement::new(&file.path, START, name, fate));
    }
}

/// The names in `trailblaze.tool('name', …)`.
fn registered(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for rest in text.split("tool(").skip(1) {
        let rest = rest.trim_start();
        let Some(quote) = rest.chars().next().filter(|c| matches!(c, '\'' | '"' | '`')) else { continue };
        names.extend(rest[1..].split(quote).next().map(str::to_string));
    }
    names
}
