//! Tools from YAML files.

use std::collections::BTreeMap;
use std::sync::Arc;

use trailblaze_protocol::event::ToolKind;

use crate::config::{Mode, ToolFile, decode};
use crate::names::Origin;
use crate::registry::Batch;
use crate::template;
use crate::tool::{Body, Contributor, Tool};
use crate::trail::ToolCall;
use crate::yaml::{Kind, Node, Problem, Problems, Source, Spanned};

/// What a tool file brings.
pub enum FileTool {
    Own(Box<Batch>),
    /// Another name for a compiled tool.
    Alias(Alias),
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
    /// The compiled tool under its other name; nothing to do where the two names are the same.
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
        let tool = Tool { name: self.id.clone(), contributor: self.contributor.clone(), ..tool.clone() };
        Ok(Some(Batch { contributor: self.contributor.clone(), tools: vec![tool], groups: BTreeMap::new() }))
    }
}

/// Reads a tool file, or all that is wrong with it.
pub fn read(source: &Arc<Source>) -> (Option<FileTool>, Vec<Problem>) {
    let mut problems = Problems::new(source);
    let tool = decode::<ToolFile>(source, &mut problems).and_then(|file| build(file, source, &mut problems));
    (tool.filter(|_| !problems.has_errors()), problems.into_vec())
}

fn build(file: ToolFile, source: &Arc<Source>, problems: &mut Problems) -> Option<FileTool> {
    let contributor = Contributor { label: Arc::from(source.path.as_str()), origin: Origin::Yaml };
    let calls = match &file.mode {
        Mode::Class(class) => {
            let (id, class) = (file.id.value, class.clone());
            return Some(FileTool::Alias(Alias { id, class, contributor, source: Arc::clone(source) }));
        }
        Mode::Script(_) => {
            problems.error(file.id.span, "this build has no script engine; tools with `script:` cannot run");
            return None;
        }
        Mode::Tools(calls) => calls,
    };
    for call in calls {
        check_tokens(&file, &call.args, problems);
    }
    let mut tool = Tool::new(
        &file.id.value,
        &file.description,
        file.arguments(),
        contributor.clone(),
        Body::Expansion(Arc::from(calls.as_slice())),
    );
    tool.kind = ToolKind::Action;
    tool.is_for_llm = file.is_for_llm;
    tool.is_recordable = file.is_recordable;
    tool.requires_host = file.requires_host;
    tool.supported_platforms = file.supported_platforms;
    tool.supported_drivers = file.supported_drivers;
    tool.toolset = file.toolset;
    tool.groups = file.groups;
    Some(FileTool::Own(Box::new(Batch { contributor, tools: vec![tool], groups: BTreeMap::new() })))
}

/// `{{params.x}}` and `{{?x}}` can only mean a parameter, so a wrong one is an error before anything runs.
fn check_tokens(file: &ToolFile, node: &Node, problems: &mut Problems) {
    match &node.kind {
        Kind::Scalar { raw, .. } => {
            for token in template::tokens(raw) {
                let (name, must_be_param) = match token.path.strip_prefix("params.") {
                    Some(name) => (name, true),
                    None => (token.path, token.drops),
                };
                if must_be_param && !file.params.iter().any(|param| param.name == name) {
                    problems.unknown(node.span, "parameter", name, file.params.iter().map(|param| param.name.as_str()));
                }
            }
        }
        Kind::Seq(items) => items.iter().for_each(|item| check_tokens(file, item, problems)),
        Kind::Map(entries) => entries.iter().for_each(|(_, value)| check_tokens(file, value, problems)),
    }
}

/// Cycles among YAML tools, each named once: without conditions, one that starts never ends.
pub fn cycles(tools: &[&Tool]) -> Vec<Vec<String>> {
    let calls_of = |name: &str| -> Vec<String> {
        let tool = tools.iter().find(|tool| tool.name == name);
        let calls: &[ToolCall] = match tool.map(|tool| &tool.body) {
            Some(Body::Expansion(calls)) => calls,
            _ => &[],
        };
        calls.iter().map(|call| call.tool.value.clone()).collect()
    };
    let mut found: Vec<Vec<String>> = Vec::new();
    for tool in tools {
        let mut path = vec![tool.name.clone()];
        visit(&mut path, &calls_of, &mut found);
    }
    found
}

fn visit(path: &mut Vec<String>, calls_of: &impl Fn(&str) -> Vec<String>, found: &mut Vec<Vec<String>>) {
    let Some(last) = path.last().cloned() else { return };
    for next in calls_of(&last) {
        if path.len() > crate::limits::CALL_DEPTH {
            return;
        }
        if let Some(start) = path.iter().position(|name| *name == next) {
            // A cycle is reported from its smallest name, whoever leads into it.
            let mut cycle: Vec<String> = path[start..].to_vec();
            let smallest = cycle.iter().enumerate().min_by_key(|(_, name)| *name).map_or(0, |(at, _)| at);
            cycle.rotate_left(smallest);
            cycle.push(cycle[0].clone());
            if !found.contains(&cycle) {
                found.push(cycle);
            }
            continue;
        }
        path.push(next);
        visit(path, calls_of, found);
        path.pop();
    }
}
