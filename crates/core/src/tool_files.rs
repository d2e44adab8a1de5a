//! Tools defined in YAML files.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use trailblaze_protocol::event::ToolKind;

use crate::config::{Grants, Mode, ScriptEntry, ToolFile};
use crate::engine::code::ToolCode;
use crate::engine::registry::Batch;
use crate::engine::tool::{Body, Contributor, Tool};
use crate::names::ToolOrigin;
use crate::trail::ToolCall;
use crate::yaml::decode;
use crate::yaml::{Problem, Problems, Source, Spanned};

/// The content of a tool file.
pub enum FileTool {
    Own(Box<Batch>),
    /// A tool whose code is a script, which is compiled elsewhere.
    Script(Box<ScriptFile>),
    /// Another name for a compiled tool.
    Alias(Alias),
}

/// A tool file with `script:`.
#[derive(Debug, Clone)]
pub struct ScriptFile {
    file: ToolFile,
    pub script: ScriptEntry,
    pub grants: Option<Grants>,
    pub source: Arc<Source>,
}

impl ScriptFile {
    /// The tool, with its compiled script.
    pub fn with_code(self, code: Arc<dyn ToolCode>) -> Batch {
        let contributor = Contributor::new(&self.source.path, ToolOrigin::Script);
        let tool = tool(self.file, contributor.clone(), Body::Code(code));
        Batch::new(contributor, vec![tool])
    }
}

/// A tool file with `class:`.
#[derive(Debug, Clone)]
pub struct Alias {
    pub id: String,
    pub class: Spanned<String>,
    pub contributor: Contributor,
    pub source: Arc<Source>,
}

impl Alias {
    /// The compiled tool under its other name; `None` if the names are the same.
    pub fn resolve(&self, compiled: &[Batch]) -> Result<Option<Batch>, Problem> {
        let mut tools = compiled.iter().flat_map(|batch| &batch.tools);
        let Some(tool) = tools.find(|tool| tool.name == self.class.value) else {
            let names = compiled.iter().flat_map(|batch| &batch.tools).map(|tool| tool.name.as_str());
            let mut problems = Problems::new(&self.source);
            problems.unknown(self.class.span, "compiled tool", &self.class.value, names);
            return Err(problems.into_vec().remove(0));
        };
        if self.id == tool.name {
            return Ok(None);
        }
        let tool = Tool { name: self.id.clone(), contributor: self.contributor.clone(), ..Tool::clone(tool) };
        Ok(Some(Batch::new(self.contributor.clone(), vec![tool])))
    }
}

/// Reads a tool file. Reports all its problems.
pub fn read(source: &Arc<Source>) -> (Option<FileTool>, Vec<Problem>) {
    let mut problems = Problems::new(source);
    let tool = decode::<ToolFile>(source, &mut problems).and_then(|file| build(file, source));
    (tool.filter(|_| !problems.has_errors()), problems.into_vec())
}

fn build(file: ToolFile, source: &Arc<Source>) -> Option<FileTool> {
    let contributor = Contributor::new(&source.path, ToolOrigin::Yaml);
    let calls = match &file.mode {
        Mode::Class(class) => {
            let (id, class) = (file.id.value, class.clone());
            return Some(FileTool::Alias(Alias { id, class, contributor, source: Arc::clone(source) }));
        }
        Mode::Script(script) => {
            let ((script, grants), source) = ((**script).clone(), Arc::clone(source));
            return Some(FileTool::Script(Box::new(ScriptFile { file, script, grants, source })));
        }
        Mode::Tools(calls) => Body::Expansion(Arc::from(calls.as_slice())),
    };
    let tool = tool(file, contributor.clone(), calls);
    Some(FileTool::Own(Box::new(Batch::new(contributor, vec![tool]))))
}

fn tool(file: ToolFile, contributor: Contributor, body: Body) -> Tool {
    let mut tool = Tool::new(&file.id.value, &file.description, file.arguments(), contributor, body);
    tool.kind = ToolKind::Action;
    tool.is_for_llm = file.is_for_llm;
    tool.is_recordable = file.is_recordable;
    tool.requires_host = file.requires_host;
    tool.supported_platforms = file.supported_platforms;
    tool.supported_drivers = file.supported_drivers;
    tool.toolset = file.toolset;
    tool.groups = file.groups;
    tool.overrides = file.overrides;
    tool
}

/// Finds cycles among YAML tools, each once. YAML tools have no conditions, so a cycle never ends.
pub fn cycles(tools: &[&Tool]) -> Vec<Vec<String>> {
    let expansions = tools.iter().filter_map(|tool| match &tool.body {
        Body::Expansion(calls) => Some((tool.name.as_str(), &calls[..])),
        _ => None,
    });
    let expansions: BTreeMap<&str, &[ToolCall]> = expansions.collect();
    let mut found = Vec::new();
    let mut done = BTreeSet::new();
    for start in expansions.keys() {
        find_cycles(start, &expansions, &mut done, &mut found);
    }
    found
}

/// Visits each tool once, even if it is reachable in several ways.
fn find_cycles<'t>(
    start: &'t str,
    expansions: &BTreeMap<&'t str, &'t [ToolCall]>,
    done: &mut BTreeSet<&'t str>,
    found: &mut Vec<Vec<String>>,
) {
    // The tools on the current path, each with the number of its calls that were visited.
    let mut path: Vec<(&str, usize)> = if done.contains(start) { vec![] } else { vec![(start, 0)] };
    while let Some((name, followed)) = path.last_mut() {
        let Some(call) = expansions.get(name).and_then(|calls| calls.get(*followed)) else {
            done.insert(*name);
            path.pop();
            continue;
        };
        *followed += 1;
        let next = call.tool.value.as_str();
        if let Some(start) = path.iter().position(|(name, _)| *name == next) {
            let cycle = cycle(path[start..].iter().map(|(name, _)| name.to_string()).collect());
            if !found.contains(&cycle) {
                found.push(cycle);
            }
        } else if !done.contains(next) {
            path.push((next, 0));
        }
    }
}

/// Rotates a cycle to start with its smallest name, so that it is the same wherever it was entered.
fn cycle(mut names: Vec<String>) -> Vec<String> {
    let smallest = names.iter().enumerate().min_by_key(|(_, name)| *name).map_or(0, |(at, _)| at);
    names.rotate_left(smallest);
    names.extend(names.first().cloned());
    names
}
