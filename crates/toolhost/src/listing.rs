//! Interprets a server's listing: tools with their schemas and metadata, and groups.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use trailblaze_core::engine::registry::ToolGroup;
use trailblaze_core::engine::source::{Listing, ToolSource};
use trailblaze_core::engine::tool::{Body, Contributor, Tool};
use trailblaze_core::schema::Schema;
use trailblaze_core::values::secret::Secrets;
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::event::ToolKind;

use crate::connection::brief;
use crate::envelope::{ARGUMENT, INVOCATION_ARGUMENT};

/// A server's listing, with the names of secrets instead of their values: it can be stored and interpreted again without the
/// server.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RawListing {
    pub tools: Vec<Value>,
    /// The text of its `trailblaze://registry`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registry: Option<String>,
}

/// The key of a tool's metadata that says where it is defined. It changes with every line above it.
const DEFINED_AT: &str = "trailblaze/definedAt";

/// Keys of a tool and its schema whose texts are names or words of the format, which must stay as they are.
const FORMAT_KEYS: [&str; 7] = ["name", "type", "format", "required", "$ref", "$schema", "$id"];
/// Keys of a schema whose values are data, not schemas.
const DATA_KEYS: [&str; 4] = ["default", "const", "enum", "examples"];

impl RawListing {
    /// Replaces secrets with their names, because a server may repeat one that it was given. The names of tools and
    /// parameters stay, since they are needed to call.
    pub(crate) fn redact(&mut self, secrets: &Secrets) {
        if secrets.is_empty() {
            return;
        }
        self.tools.iter_mut().for_each(|tool| redact_listed(tool, secrets));
        if let Some(text) = &mut self.registry {
            match serde_json::from_str::<Value>(text) {
                Ok(mut registry) => {
                    let before = registry.clone();
                    redact_listed(&mut registry, secrets);
                    if registry != before {
                        *text = registry.to_string();
                    }
                }
                Err(_) => secrets.redact_in_place(text),
            }
        }
    }
}

/// A listed tool without the line where it is defined, for files that people compare.
pub(crate) fn without_place(tool: &Value) -> Value {
    let mut tool = tool.clone();
    if let Some(meta) = tool.get_mut("_meta").and_then(Value::as_object_mut) {
        meta.shift_remove(DEFINED_AT);
        if meta.is_empty() {
            tool.as_object_mut().map(|tool| tool.shift_remove("_meta"));
        }
    }
    tool
}

fn redact_listed(value: &mut Value, secrets: &Secrets) {
    match value {
        Value::String(text) => secrets.redact_in_place(text),
        Value::Array(items) => items.iter_mut().for_each(|item| redact_listed(item, secrets)),
        Value::Object(map) => {
            for (key, value) in map {
                match key.as_str() {
                    key if DATA_KEYS.contains(&key) => secrets.redact_value(value),
                    // A parameter may have such a name; then this is its schema.
                    key if FORMAT_KEYS.contains(&key) && !value.is_object() => {}
                    _ => redact_listed(value, secrets),
                }
            }
        }
        // Numbers of a schema are limits.
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Converts a listing into tools. `toolset` is the one that the server's entry sets for all of them.
pub fn interpret(
    raw: &RawListing,
    contributor: &Contributor,
    toolset: Option<&str>,
    source: &Arc<dyn ToolSource>,
) -> Listing {
    let mut listing = Listing::default();
    let registry = raw.registry.as_deref().and_then(|text| read_registry(text, &mut listing));
    let entries = registry.as_ref().map(|registry| &registry.tools);
    for raw_tool in &raw.tools {
        let Some(name) = raw_tool.get("name").and_then(Value::as_str) else {
            listing.warnings.push(format!("a tool without a name is left out: {}", brief(raw_tool)));
            continue;
        };
        let schema = match schema(raw_tool) {
            Ok(schema) => schema,
            Err(reason) => {
                listing.warnings.push(format!("`{name}` is left out: {reason}"));
                listing.unusable.push((name.to_string(), reason));
                continue;
            }
        };
        let about = raw_tool.get("description").and_then(Value::as_str).unwrap_or_default();
        let mut tool = Tool::new(name, about, schema, contributor.clone(), Body::Foreign(Arc::clone(source)));
        tool.toolset = toolset.map(str::to_string);
        if raw_tool.pointer("/annotations/readOnlyHint") == Some(&Value::Bool(true)) {
            tool.kind = ToolKind::Query;
        }
        let mut facts = Facts { tool: &mut tool, warnings: &mut listing.warnings };
        if let Some(entry) = entries.and_then(|entries| entries.get(name)) {
            facts.take_all(entry, "registry");
        }
        // A tool's own metadata wins over the registry.
        let meta = raw_tool.get("_meta").and_then(Value::as_object).into_iter().flatten();
        let own: Map<String, Value> = meta
            .filter_map(|(key, value)| Some((key.strip_prefix("trailblaze/")?.to_string(), value.clone())))
            .collect();
        facts.take_all(&own.into(), "_meta");
        listing.tools.push(tool);
    }
    if let Some(registry) = registry {
        let listed: HashSet<&str> =
            raw.tools.iter().filter_map(|tool| tool.get("name").and_then(Value::as_str)).collect();
        for name in registry.tools.keys().filter(|name| !listed.contains(name.as_str())) {
            listing.warnings.push(format!("its registry mentions `{}`, which it does not list", brief(name)));
        }
        listing.groups = registry.groups;
    }
    listing
}

struct ListedRegistry {
    tools: Map<String, Value>,
    groups: BTreeMap<String, ToolGroup>,
}

fn read_registry(text: &str, listing: &mut Listing) -> Option<ListedRegistry> {
    let value = match serde_json::from_str::<Value>(text) {
        Ok(value @ Value::Object(_)) => value,
        Ok(_) => {
            listing.warnings.push("its registry must be a JSON object, and is ignored".to_string());
            return None;
        }
        Err(error) => {
            listing.warnings.push(format!("its registry is not valid JSON, and is ignored: {error}"));
            return None;
        }
    };
    let mut part = |key: &str| match value.get(key) {
        Some(Value::Object(map)) => map.clone(),
        None | Some(Value::Null) => Map::new(),
        Some(other) => {
            listing
                .warnings
                .push(format!("`{key}` of its registry must be an object, got {}; it is ignored", brief(other)));
            Map::new()
        }
    };
    let (tools, raw_groups) = (part("tools"), part("groups"));
    let mut groups = BTreeMap::new();
    for (name, group) in raw_groups {
        let is_default = match group.get("defaultEnabled").or_else(|| group.get("default_enabled")) {
            Some(Value::Bool(is_default)) => *is_default,
            None | Some(Value::Null) => true,
            Some(other) => {
                listing.warnings.push(format!(
                    "`defaultEnabled` of the group `{}` must be a boolean, got {}; it is ignored",
                    brief(&name),
                    brief(other)
                ));
                true
            }
        };
        let description = group.get("description").and_then(Value::as_str).unwrap_or_default().to_string();
        groups.insert(name, ToolGroup { description, is_default });
    }
    Some(ListedRegistry { tools, groups })
}

/// Collects a tool's metadata.
struct Facts<'a> {
    tool: &'a mut Tool,
    warnings: &'a mut Vec<String>,
}

impl Facts<'_> {
    fn take_all(&mut self, entry: &Value, place: &str) {
        let Some(entry) = entry.as_object() else {
            return self.warnings.push(format!(
                "`{}`: its {place} entry must be an object, got {}; it is ignored",
                self.tool.name,
                brief(entry)
            ));
        };
        for (key, value) in entry.iter().filter(|(_, value)| !value.is_null()) {
            if let Err(expected) = self.take(key, value) {
                self.warnings.push(format!(
                    "`{}`: `{key}` in its {place} must be {expected}, got {}; it is ignored",
                    self.tool.name,
                    brief(value)
                ));
            }
        }
    }

    /// Applies one entry, or returns what it should have been. Unknown keys belong to other programs and are ignored.
    fn take(&mut self, key: &str, value: &Value) -> Result<(), &'static str> {
        let tool = &mut *self.tool;
        match key {
            "isForLlm" | "exposedToLlm" | "exposed_to_llm" => tool.is_for_llm = flag(value)?,
            "isRecordable" | "is_recordable" => {
                tool.is_recordable = flag(value)?;
                tool.is_always_recorded = tool.is_recordable;
            }
            "isDelegating" | "is_delegating" => tool.is_delegating = flag(value)?,
            "requiresHost" => tool.requires_host = flag(value)?,
            "requiresContext" => tool.requires_context = flag(value)?,
            "supportedDrivers" => tool.supported_drivers = words(value)?,
            "supportedPlatforms" | "platforms" => {
                let parse = |word: &String| Platform::parse(&word.to_lowercase());
                let platforms: Option<Vec<Platform>> = words(value)?.iter().map(parse).collect();
                tool.supported_platforms = platforms.ok_or("a list of `android`, `ios`, `web` and `desktop`")?;
            }
            "toolset" => tool.toolset = Some(value.as_str().ok_or("a string")?.to_string()),
            "groups" => tool.groups = words(value)?,
            "definedAt" => tool.defined_at = Some(value.as_str().ok_or("a string")?.to_string()),
            _ => {}
        }
        Ok(())
    }
}

fn flag(value: &Value) -> Result<bool, &'static str> {
    value.as_bool().ok_or("a boolean")
}

fn words(value: &Value) -> Result<Vec<String>, &'static str> {
    let words = value.as_array().and_then(|items| items.iter().map(|item| item.as_str().map(str::to_string)).collect());
    words.ok_or("a list of strings")
}

/// The schema of a tool's arguments as callers see it, without the arguments that we add.
fn schema(tool: &Value) -> Result<Schema, String> {
    let Some(raw) = tool.get("inputSchema") else { return Err("it has no `inputSchema`".to_string()) };
    let Some(object) = raw.as_object() else {
        return Err(format!("its `inputSchema` must be a JSON Schema, got {}", brief(raw)));
    };
    if object.get("type").is_some_and(|kind| kind != "object") {
        return Err(format!("its `inputSchema` must be for an object, got {}", brief(&object["type"])));
    }
    let mut object = object.clone();
    if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
        properties.shift_remove(ARGUMENT);
        properties.shift_remove(INVOCATION_ARGUMENT);
    }
    if let Some(required) = object.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| name != ARGUMENT && name != INVOCATION_ARGUMENT);
    }
    let schema = Schema::new(object.into());
    match schema.error() {
        Some(error) => Err(format!("its `inputSchema` is not a valid JSON Schema: {}", brief(&error))),
        None => Ok(schema),
    }
}

/// Whether a tool declares the context argument.
pub fn declares_context(tool: &Value) -> bool {
    tool.pointer("/inputSchema/properties").is_some_and(|properties| properties.get(ARGUMENT).is_some())
}

/// Whether a tool declares the argument that tells it where it runs.
pub fn declares_invocation(tool: &Value) -> bool {
    tool.pointer("/inputSchema/properties").is_some_and(|properties| properties.get(INVOCATION_ARGUMENT).is_some())
}

/// Whether a tool forbids undeclared arguments and does not declare the context argument.
pub fn forbids_context(tool: &Value) -> bool {
    tool.pointer("/inputSchema/additionalProperties") == Some(&Value::Bool(false)) && !declares_context(tool)
}

/// The tools that refuse the context argument although their schemas allow it: FastMCP 2 refuses undeclared arguments
/// and marks its tools with `_meta._fastmcp`.
pub fn silently_strict(raw: &RawListing) -> impl Iterator<Item = &str> {
    let is_strict =
        |tool: &&Value| tool.pointer("/_meta/_fastmcp").is_some() && !declares_context(tool) && !forbids_context(tool);
    raw.tools.iter().filter(is_strict).filter_map(|tool| tool.get("name")?.as_str())
}

/// The tools whose schemas neither declare the context argument nor say that undeclared ones are accepted. MCP's `McpServer` for
/// TypeScript removes such an argument before the handler runs.
pub fn without_context(raw: &RawListing) -> impl Iterator<Item = &str> {
    let is_open = |tool: &Value| {
        let further = tool.pointer("/inputSchema/additionalProperties");
        further.is_some_and(|further| *further != Value::Bool(false))
    };
    let is_without = move |tool: &&Value| !declares_context(tool) && !is_open(tool);
    raw.tools.iter().filter(is_without).filter_map(|tool| tool.get("name")?.as_str())
}

/// An argument that a tool also wants in a header, so that proxies can read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamHeader {
    /// The path of the argument, outermost key first.
    path: Vec<String>,
    name: String,
}

impl ParamHeader {
    /// The headers that a tool's schema requests.
    pub fn all(tool: &Value) -> Vec<ParamHeader> {
        let mut found = Vec::new();
        if let Some(schema) = tool.get("inputSchema") {
            find_headers(schema, &mut Vec::new(), &mut found);
        }
        found
    }

    /// The header for these arguments, if they have a value that a header can carry.
    pub fn pair(&self, args: &Map<String, Value>) -> Option<(String, String)> {
        let (first, inner) = self.path.split_first()?;
        let value = inner.iter().try_fold(args.get(first)?, |value, key| value.get(key))?;
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            _ => return None,
        };
        Some((format!("mcp-param-{}", self.name), text))
    }
}

fn find_headers(schema: &Value, path: &mut Vec<String>, found: &mut Vec<ParamHeader>) {
    for (key, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        path.push(key.clone());
        if let Some(name) = property.get("x-mcp-header").and_then(Value::as_str) {
            found.push(ParamHeader { path: path.clone(), name: name.to_string() });
        }
        find_headers(property, path, found);
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_listing_has_the_names_of_secrets_and_stays_valid() {
        let entries = [("PIN", "4711"), ("WORD", "string"), ("KEY", "login")];
        let secrets = Secrets::new(entries.map(|(name, value)| (name.to_string(), value.to_string())));
        let tool = json!({
            "name": "login", "description": "Types 4711.", "annotations": {"title": "PIN 4711"},
            "inputSchema": {
                "type": "object", "required": ["login"],
                "properties": {
                    "login": {"type": "string", "description": "A string such as 4711", "default": 4711, "maxLength": 4711},
                    "type": {"type": "string", "enum": ["4711", "other"], "examples": [{"name": "4711"}]},
                },
            },
        });
        let registry = json!({"tools": {"login": {"description": "4711"}}}).to_string();
        let mut raw = RawListing { tools: vec![tool], registry: Some(registry) };
        raw.redact(&secrets);
        let expected = json!({
            "name": "login", "description": "Types {{PIN}}.", "annotations": {"title": "PIN {{PIN}}"},
            "inputSchema": {
                "type": "object", "required": ["login"],
                "properties": {
                    "login": {"type": "string", "description": "A {{WORD}} such as {{PIN}}", "default": "{{PIN}}", "maxLength": 4711},
                    "type": {"type": "string", "enum": ["{{PIN}}", "other"], "examples": [{"name": "{{PIN}}"}]},
                },
            },
        });
        assert_eq!(raw.tools, [expected]);
        assert_eq!(raw.registry.as_deref(), Some(r#"{"tools":{"login":{"description":"{{PIN}}"}}}"#));
    }
}
