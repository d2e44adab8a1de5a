//! The differences between two sets of tools.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value, json};

use crate::engine::tool::{Body, Tool};
use crate::schema::is_required;
use crate::yaml;

/// How a set of tools differs from an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    pub added: Vec<String>,
    pub removed: Vec<String>,
    pub changed: Vec<Changed>,
}

/// A tool that exists in both sets but differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    pub tool: String,
    /// The differences, in a few words each.
    pub how: Vec<String>,
}

impl Changes {
    pub fn between<'t>(old: impl IntoIterator<Item = &'t Tool>, new: impl IntoIterator<Item = &'t Tool>) -> Changes {
        let by_name = |tool: &'t Tool| (tool.name.as_str(), tool);
        let old: BTreeMap<&str, &Tool> = old.into_iter().map(by_name).collect();
        let new: BTreeMap<&str, &Tool> = new.into_iter().map(by_name).collect();
        let missing_from = |there: &BTreeMap<&str, &Tool>, here: &BTreeMap<&str, &Tool>| -> Vec<String> {
            here.keys().filter(|name| !there.contains_key(*name)).map(|name| name.to_string()).collect()
        };
        let changed = new.iter().filter_map(|(name, new)| {
            let how = differences(old.get(name)?, new);
            (!how.is_empty()).then(|| Changed { tool: name.to_string(), how })
        });
        Changes { added: missing_from(&old, &new), removed: missing_from(&new, &old), changed: changed.collect() }
    }

    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }

    /// One line per tool.
    pub fn lines(&self) -> Vec<String> {
        let added = self.added.iter().map(|name| format!("added `{name}`"));
        let removed = self.removed.iter().map(|name| format!("removed `{name}`"));
        added.chain(removed).chain(self.changed.iter().map(Changed::to_string)).collect()
    }
}

impl fmt::Display for Changed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.tool, self.how.join(", "))
    }
}

fn differences(old: &Tool, new: &Tool) -> Vec<String> {
    let mut how = Vec::new();
    if old.description != new.description {
        how.push("description changed".to_string());
    }
    how.extend(schema(old.schema.json(), new.schema.json()));
    if calls(old) != calls(new) {
        how.push("calls changed".to_string());
    }
    if definition(old) != definition(new) {
        how.push("code changed".to_string());
    }
    if facts(old) != facts(new) {
        how.push("metadata changed".to_string());
    }
    how
}

/// The calls of a YAML tool.
fn calls(tool: &Tool) -> Option<Vec<Value>> {
    let Body::Expansion(calls) = &tool.body else { return None };
    Some(calls.iter().map(|call| json!([call.tool.value, yaml::loose(&call.args)])).collect())
}

/// The code of a script or of a compiled tool, as far as it is known.
fn definition(tool: &Tool) -> Option<&[u8]> {
    tool.code()?.definition()
}

fn facts(tool: &Tool) -> impl PartialEq {
    (
        [tool.is_for_llm, tool.is_recordable, tool.is_always_recorded, tool.is_delegating],
        [tool.requires_host, tool.requires_context],
        (tool.kind, tool.supported_drivers.clone(), tool.supported_platforms.clone()),
        (tool.toolset.clone(), tool.groups.clone()),
    )
}

/// Describes how a schema changed, argument by argument.
fn schema(old: &Value, new: &Value) -> Option<String> {
    if old == new {
        return None;
    }
    let (before, now) = (properties(old), properties(new));
    let mut parts = Vec::new();
    for (name, property) in &now {
        match before.get(name) {
            None if is_required(new, name) => parts.push(format!("added `{name}`, which is required")),
            None => parts.push(format!("added `{name}`")),
            Some(earlier) => {
                if earlier != property {
                    parts.push(format!("changed `{name}`"));
                }
                match (is_required(old, name), is_required(new, name)) {
                    (false, true) => parts.push(format!("`{name}` is now required")),
                    (true, false) => parts.push(format!("`{name}` is no longer required")),
                    _ => {}
                }
            }
        }
    }
    parts.extend(before.keys().filter(|name| !now.contains_key(*name)).map(|name| format!("removed `{name}`")));
    Some(if parts.is_empty() { "schema changed".to_string() } else { format!("schema changed ({})", parts.join("; ")) })
}

fn properties(schema: &Value) -> Map<String, Value> {
    schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::tool::Contributor;
    use crate::names::ToolOrigin;
    use crate::schema::Schema;

    fn tool(name: &str, about: &str, schema: Value) -> Tool {
        let contributor = Contributor::new("server acme", ToolOrigin::ProjectServer);
        Tool::new(name, about, Schema::new(schema), contributor, Body::Expansion([].into()))
    }

    #[track_caller]
    fn check(old: &[Tool], new: &[Tool], expected: &[&str]) {
        assert_eq!(Changes::between(old, new).lines(), expected);
    }

    #[test]
    fn added_and_removed_tools_are_listed() {
        let named = |name: &str| tool(name, "", json!({}));
        check(&[named("a"), named("b")], &[named("b"), named("c")], &["added `c`", "removed `a`"]);
        check(&[named("a")], &[named("a")], &[]);
    }

    #[test]
    fn a_changed_schema_lists_the_changed_arguments() {
        let of = |properties: Value, required: Value| {
            tool("login", "", json!({"type": "object", "properties": properties, "required": required}))
        };
        let text = || json!({"type": "string"});
        check(
            &[of(json!({"pin": text(), "old": text()}), json!([]))],
            &[of(json!({"pin": {"type": "integer"}, "otp": text(), "id": text()}), json!(["pin", "id"]))],
            &[
                "`login`: schema changed (changed `pin`; `pin` is now required; added `otp`; added `id`, which is required; \
               removed `old`)",
            ],
        );
        check(
            &[tool("login", "", json!({"type": "object"}))],
            &[tool("login", "", json!({"type": "object", "additionalProperties": false}))],
            &["`login`: schema changed"],
        );
    }

    #[test]
    fn descriptions_and_metadata_count_too() {
        let mut hidden = tool("login", "Signs in.", json!({}));
        hidden.is_for_llm = false;
        check(&[tool("login", "Logs in.", json!({}))], &[hidden], &["`login`: description changed, metadata changed"]);
    }
}
