//! The tools of a session, for people and outer agents: a list, and one tool with its schema.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use trailblaze_core::callers::agent::offer;
use trailblaze_core::engine::registry::{MissingTool, Registry, ToolGroup};
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
        Listed { text: lines.join("\n"), value: joined(self.value, other.value) }
    }
}

/// Both values: tools by their names, and everything else by its key.
fn joined(one: Value, other: Value) -> Value {
    let name = |tool: &Value| tool.get("name").unwrap_or(tool).clone();
    match (one, other) {
        (Value::Array(mut tools), Value::Array(others)) => {
            let new = |tool: &Value| !tools.iter().any(|own| name(own) == name(tool));
            let new: Vec<Value> = others.into_iter().filter(new).collect();
            tools.extend(new);
            tools.into()
        }
        (Value::Object(mut one), Value::Object(other)) => {
            for (key, value) in other {
                let own = one.shift_remove(&key).unwrap_or_default();
                one.insert(key, joined(own, value));
            }
            one.into()
        }
        (Value::Null, other) => other,
        (one, _) => one,
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

/// All tools with their schemas and metadata, and all groups.
pub fn all(registry: &Registry) -> Listed {
    let entry = |tool: &Tool| {
        json!({
            "name": tool.name, "description": tool.description, "source": &*tool.contributor.label, "kind": tool.kind,
            "platforms": tool.supported_platforms, "groups": tool.groups, "exposedToLlm": tool.is_for_llm,
            "isRecordable": tool.is_recordable, "isDelegating": tool.is_delegating,
            "isOffered": registry.is_offered(&tool.name), "inputSchema": offer::parameters(tool),
        })
    };
    let group = |group: &ToolGroup| json!({"description": group.description, "defaultEnabled": group.is_default});
    let tools: Vec<Value> = registry.tools().map(|tool| entry(tool)).collect();
    let groups: Map<String, Value> =
        registry.groups.iter().map(|(name, declared)| (name.clone(), group(declared))).collect();
    Listed { text: String::new(), value: json!({"tools": tools, "groups": groups}) }
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
