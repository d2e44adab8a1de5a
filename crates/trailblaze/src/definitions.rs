//! Whether YAML tools are still what they were when a trail was recorded. Their hashes are kept beside the trail, in
//! `<trail>.effects.yaml`: other readers of trail files refuse keys that they do not know.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use trailblaze_core::config::decode;
use trailblaze_core::registry::Registry;
use trailblaze_core::table;
use trailblaze_core::tool::Body;
use trailblaze_core::trail::{StepPlan, ToolCall, Trail};
use trailblaze_core::yaml::{self, Entries, Node, Problem, Problems, Severity};

use crate::project::read_source;
use crate::recordings::write_atomically;

table! {
    /// What is kept beside a recorded trail.
    pub struct Effects {
        /// The hashes of the YAML tools that its recordings call, by name.
        "tools" => tools: Entries<String> = Entries::default(),
        /// What other builds keep here.
        "effects" => effects: Option<Node> = None,
    }
}

/// `pay.trail.yaml` has `pay.effects.yaml` beside it.
pub fn file(trail: &str) -> String {
    let stem = trail.strip_suffix(".trail.yaml").or_else(|| trail.strip_suffix(".yaml")).unwrap_or(trail);
    format!("{stem}.effects.yaml")
}

/// The hashes of the YAML tools that a device's recordings of a trail call.
pub fn hashes(trail: &Trail, registry: &Registry, lineage: &[String]) -> BTreeMap<String, String> {
    recorded_calls(trail, lineage)
        .filter_map(|call| Some((call.tool.value.clone(), hash(&call.tool.value, registry)?)))
        .collect()
}

fn recorded_calls<'t>(trail: &'t Trail, lineage: &'t [String]) -> impl Iterator<Item = &'t ToolCall> {
    let steps = trail.trailhead.iter().map(|head| &head.0).chain(&trail.steps);
    steps.flat_map(move |step| match step.plan(lineage) {
        StepPlan::Recording { calls, .. } => calls,
        _ => &[],
    })
}

/// The hash of a YAML tool: its parameters and calls, and those of the YAML tools beneath it. Words for people do not
/// count.
fn hash(name: &str, registry: &Registry) -> Option<String> {
    let definition = definition(name, registry, &mut BTreeSet::new())?;
    let digest = Sha256::digest(definition.to_string().as_bytes());
    Some(digest[..16].iter().map(|byte| format!("{byte:02x}")).collect())
}

fn definition(name: &str, registry: &Registry, seen: &mut BTreeSet<String>) -> Option<Value> {
    let tool = registry.get(name)?;
    let Body::Expansion(calls) = &tool.body else { return None };
    if !seen.insert(name.to_string()) {
        return None;
    }
    let mut schema = tool.schema.json().clone();
    without_descriptions(&mut schema);
    let calls: Vec<Value> = calls
        .iter()
        .map(|call| json!([call.tool.value, yaml::loose(&call.args), definition(&call.tool.value, registry, seen)]))
        .collect();
    Some(json!([schema, calls]))
}

fn without_descriptions(schema: &mut Value) {
    for property in
        schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flat_map(|map| map.values_mut())
    {
        if let Some(property) = property.as_object_mut() {
            property.remove("description");
        }
    }
}

/// Recorded calls of tools that changed since: warnings, or errors if that is what they are to be.
pub fn changed(
    root: &Path,
    trail: &Trail,
    registry: &Registry,
    lineage: &[String],
    severity: Severity,
) -> Vec<Problem> {
    let Some(kept) = read(root, &trail.source.path) else { return Vec::new() };
    let mut problems = Problems::new(&trail.source);
    let mut told = BTreeSet::new();
    for call in recorded_calls(trail, lineage) {
        let name = &call.tool.value;
        let (Some(then), Some(now)) = (kept.tools.get(name), hash(name, registry)) else { continue };
        if *then != now && told.insert(name) {
            let message = format!("the tool `{name}` changed since this was recorded");
            match severity {
                Severity::Error => {
                    problems.error_with_hint(call.tool.span, message, "record the trail again with --record")
                }
                Severity::Warning => problems.warning(call.tool.span, message),
            }
        }
    }
    problems.into_vec()
}

fn read(root: &Path, trail: &str) -> Option<Effects> {
    let path = root.join(file(trail));
    if !path.is_file() {
        return None;
    }
    let source = read_source(root, &path, &mut Vec::new())?;
    decode(&source, &mut Problems::new(&source))
}

/// Keeps the hashes beside the trail. What other tools had stays, unless they are called no more.
pub fn keep(root: &Path, trail: &str, hashes: &BTreeMap<String, String>) -> std::io::Result<()> {
    let path: PathBuf = root.join(file(trail));
    let old = read(root, trail);
    let mut document = serde_json::Map::new();
    if !hashes.is_empty() {
        document.insert("tools".into(), json!(hashes));
    }
    if let Some(effects) = old.and_then(|old| old.effects) {
        document.insert("effects".into(), yaml::loose(&effects));
    }
    if document.is_empty() {
        return if path.is_file() { std::fs::remove_file(path) } else { Ok(()) };
    }
    let text = format!(
        "# What was recorded with the trail beside this file. Written by `trailblaze run --record`.\n{}",
        yaml::block(&Value::Object(document), 0)
    );
    write_atomically(&path, &text)
}
