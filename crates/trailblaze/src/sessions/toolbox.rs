//! The tools of a session, for people and outer agents: a list, and one tool with its schema.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use trailblaze_core::callers::agent::offer;
use trailblaze_core::engine::registry::{MissingTool, Registry};
use trailblaze_core::engine::tool::Tool;
use trailblaze_core::schema::is_required;

/// Tools for people, and for programs.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Listed {
    pub text: String,
    pub value: Value,
}

impl Listed {
    /// Both lists, without what is in both.
    pub fn joined(self, other: Listed) -> Listed {
        let mut lines: Vec<&str> = self.text.lines().collect();
        lines.extend(other.text.lines().filter(|line| !self.text.lines().any(|own| own == *line)));
        let name = |tool: &Value| tool.get("name").unwrap_or(tool).clone();
        let mut tools = self.value.as_array().cloned().unwrap_or_default();
        let others = other.value.as_array().into_iter().flatten();
        let new: Vec<Value> = others.filter(|tool| !tools.iter().any(|own| name(own) == name(tool))).cloned().collect();
        tools.extend(new);
        Listed { text: lines.join("\n"), value: tools.into() }
    }
}

/// The offered tools whose name or description contains all of these words.
pub fn list(registry: &Registry, search: Option<&str>) -> Listed {
    let words: Vec<String> = search.unwrap_or_default().split_whitespace().map(str::to_lowercase).collect();
    let is_found = |tool: &Tool| {
        let text = format!("{} {}", tool.name, tool.description).to_lowercase();
        words.iter().all(|word| text.contains(word))
    };
    let found: Vec<_> = registry.offered().filter(|tool| is_found(tool)).collect();
    let about = |tool: &Tool| tool.description.lines().next().unwrap_or_default().to_string();
    let text: Vec<String> = found.iter().map(|tool| format!("{:<26} {}", tool.name, about(tool))).collect();
    let value = found.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>();
    Listed { text: text.join("\n"), value: json!(value) }
}

/// All offered tools with their schemas and metadata, for a client that offers them under their own names.
pub fn all(registry: &Registry) -> Listed {
    let entry = |tool: &Tool| {
        json!({
            "name": tool.name, "description": tool.description, "source": &*tool.contributor.label, "kind": tool.kind,
            "platforms": tool.supported_platforms, "groups": tool.groups, "exposedToLlm": tool.is_for_llm,
            "isRecordable": tool.is_recordable, "isDelegating": tool.is_delegating,
            "inputSchema": offer::parameters(tool),
        })
    };
    let found: Vec<Value> = registry.offered().map(|tool| entry(tool)).collect();
    Listed { text: String::new(), value: found.into() }
}

/// One tool: what it does, and its schema.
pub fn describe(registry: &Registry, name: &str) -> Result<Listed, MissingTool> {
    let Some(tool) = registry.get(name) else {
        let mut missing = registry.explain_missing(name);
        missing.hint.get_or_insert_with(|| "a search of the toolbox lists the tools".to_string());
        return Err(missing);
    };
    let schema = tool.schema.json();
    // The text is what models read, so it has the parameters that they are offered.
    let text = format!("{}: {}\n{}", signature(tool), tool.description.trim_end(), offer::parameters(tool));
    let value = json!({
        "name": tool.name, "description": tool.description, "source": &*tool.contributor.label, "kind": tool.kind,
        "isRecordable": tool.is_recordable, "isForLlm": tool.is_for_llm, "inputSchema": schema,
    });
    Ok(Listed { text, value })
}

/// `tap(ref? text? id?)`
pub fn signature(tool: &Tool) -> String {
    let schema = tool.schema.json();
    let own = tool.schema.property_names().filter(|name| *name != "reasoning");
    let names: Vec<String> =
        own.map(|name| if is_required(schema, name) { name.to_string() } else { format!("{name}?") }).collect();
    format!("{}({})", tool.name, names.join(" "))
}
