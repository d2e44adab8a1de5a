//! What clients are told about the tools: their list, and the resource `trailblaze://registry`.

use std::sync::Arc;

use rmcp::model::{MetaObject, Tool as Listed};
use serde_json::{Map, Value, json};

use super::ServedToolset;
use crate::toolset::{Group, Tool};

/// The resource with the metadata of all tools.
pub const REGISTRY: &str = "trailblaze://registry";

pub fn tools(served: &ServedToolset) -> Vec<Listed> {
    served.tools.iter().map(listed).collect()
}

fn listed(tool: &Tool) -> Listed {
    let schema = tool.schema.as_object().cloned().unwrap_or_default();
    let mut listed = Listed::new(tool.name, tool.description, Arc::new(schema));
    let meta = meta(tool);
    listed.meta = (!meta.is_empty()).then_some(MetaObject(meta));
    listed
}

/// Metadata that differs from the default.
fn meta(tool: &Tool) -> Map<String, Value> {
    let mut meta = Map::new();
    let mut add = |name: &str, value: Value, is_default: bool| {
        if !is_default {
            meta.insert(format!("trailblaze/{name}"), value);
        }
    };
    add("isForLlm", json!(tool.is_for_model), tool.is_for_model);
    add("isRecordable", json!(tool.is_recordable), tool.is_recordable);
    add("isDelegating", json!(tool.is_delegating), !tool.is_delegating);
    add("requiresHost", json!(tool.requires_host), !tool.requires_host);
    add("supportedPlatforms", platforms(tool), tool.platforms.is_empty());
    add("supportedDrivers", json!(tool.drivers), tool.drivers.is_empty());
    add("groups", json!(tool.groups), tool.groups.is_empty());
    add("toolset", json!(tool.toolset), tool.toolset.is_none());
    // Only Trailblaze shows it.
    let is_for_trailblaze = std::env::var_os("TRAILBLAZE_BASE_URL").is_some();
    add("definedAt", json!(tool.defined_at()), !is_for_trailblaze);
    meta
}

fn platforms(tool: &Tool) -> Value {
    tool.platforms.iter().map(|platform| platform.name()).collect()
}

pub fn registry(served: &ServedToolset) -> Value {
    let entry = |tool: &Tool| {
        json!({
            "platforms": platforms(tool), "groups": tool.groups, "exposedToLlm": tool.is_for_model,
            "isRecordable": tool.is_recordable, "isDelegating": tool.is_delegating,
        })
    };
    let tools: Map<String, Value> = served.tools.iter().map(|tool| (tool.name.to_string(), entry(tool))).collect();
    let group = |group: &Group| json!({"description": group.description, "defaultEnabled": group.is_enabled});
    let groups: Map<String, Value> =
        served.groups.iter().map(|declared| (declared.name.to_string(), group(declared))).collect();
    json!({"tools": tools, "groups": groups, "serverInfo": {"name": served.name, "version": served.version}})
}
