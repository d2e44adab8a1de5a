//! The built-in tools, from their tables.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use serde_json::Value;
use trailblaze_core::engine::tool::Tool;
use trailblaze_core::tools::{batches, toolsets};
use trailblaze_protocol::driver::Platform;

use super::keys::kind;
use super::{cell, outside_of_code};

pub fn page() -> String {
    let mut out = String::from(
        "# Built-in tools\n\nThe tools that every project has, with their arguments. Tools are offered to models in toolsets, which a target enables;\n\
         a trail can call all of them. [Tools](../tools.md) explains how they find elements and wait. `trailblaze toolbox` lists those of a\n\
         project and a device, its own included.\n",
    );
    let mut tools: Vec<Arc<Tool>> = batches().into_iter().flat_map(|batch| batch.tools).collect();
    tools.sort_by_key(|tool| tool.name.to_lowercase());
    let mut listed = BTreeSet::new();
    for set in toolsets() {
        let enabled = if set.always_enabled { " Always enabled." } else { "" };
        write!(
            out,
            "\n## Toolset {}\n\n{}{}{enabled}\n",
            set.id.value,
            outside_of_code(&set.description),
            only(&set.platforms)
        )
        .expect("text");
        for name in &set.tools {
            let Some(tool) = tools.iter().find(|tool| tool.name == name.value) else { continue };
            if listed.insert(tool.name.clone()) {
                add(&mut out, tool);
            } else {
                write!(out, "\n`{}`: see above.\n", tool.name).expect("text");
            }
        }
    }
    out.push_str("\n## Other tools\n\nNot offered to models unless a toolset of the project names them.\n");
    for tool in tools.iter().filter(|tool| !listed.contains(&tool.name)) {
        add(&mut out, tool);
    }
    out
}

fn add(out: &mut String, tool: &Tool) {
    let about = tool.description.split('\n').map(|line| outside_of_code(line.trim())).collect::<Vec<_>>().join("\n");
    write!(out, "\n### {}\n\n{}{}\n", tool.name, about, only(&tool.supported_platforms)).expect("text");
    let schema = tool.schema.json();
    let Some(properties) = schema["properties"].as_object().filter(|properties| !properties.is_empty()) else { return };
    out.push_str("\n| argument | type | |\n|---|---|---|\n");
    let required: Vec<&Value> = schema["required"].as_array().into_iter().flatten().collect();
    for (name, property) in properties {
        let is_required = required.iter().any(|required| *required == name);
        let mut text = property["description"].as_str().unwrap_or_default().to_string();
        if let Some(default) = property.get("default") {
            write!(text, " Default: `{default}`.").expect("text");
        }
        let needed = if is_required { " (required)" } else { "" };
        writeln!(out, "| `{name}`{needed} | {} | {} |", argument(property), cell(&text)).expect("text");
    }
}

/// The type of an argument. A selector has a page of its own.
fn argument(schema: &Value) -> String {
    let is_selector = schema["properties"].get("containsDescendants").is_some();
    if is_selector { "[selector](selectors.md)".to_string() } else { kind(schema) }
}

fn only(platforms: &[Platform]) -> String {
    if platforms.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = platforms.iter().map(|platform| platform.name()).collect();
    format!(" Only on: {}.", names.join(", "))
}
