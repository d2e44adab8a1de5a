//! The JSON Schema of a trail that knows the tools of a project, so that editors complete and check their names and arguments.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use trailblaze_core::engine::tool::Tool;
use trailblaze_core::trail::{CALL_KEYS, ToolCall, Trail, call_key_schemas};
use trailblaze_core::yaml::Decode;

/// The file of a project that its editor reads the schema from.
pub const FILE: &str = ".trailblaze/schemas/trail.schema.json";

/// Where the schema of calls is in the schema of a trail. Not `$defs`, which some editors do not follow.
const CALL: &str = "#/definitions/call";

/// The keys under which a schema defines parts that it refers to.
const OWN: [&str; 2] = ["$defs", "definitions"];

/// The schema for these tools. Of several with one name, the first counts.
pub fn trail_schema<'t>(tools: impl IntoIterator<Item = &'t Tool>) -> Value {
    let mut named: BTreeMap<&str, Value> = BTreeMap::new();
    let mut definitions = Map::new();
    for tool in tools {
        named.entry(&tool.name).or_insert_with(|| call(tool, &mut definitions));
    }
    named.extend(call_key_schemas());
    let call = json!({
        "type": "object", "minProperties": 1, "maxProperties": 1 + CALL_KEYS.len(), "properties": named, "additionalProperties": false
    });
    definitions.insert("call".to_string(), call);
    let mut schema = Trail::schema();
    replace_calls(&mut schema);
    schema["definitions"] = Value::Object(definitions);
    schema
}

/// A schema as it is written to a file.
pub fn text(schema: &Value) -> String {
    serde_json::to_string_pretty(schema).expect("a schema is JSON") + "\n"
}

/// Whether a schema is that of a call of any tool.
fn is_call(schema: &Map<String, Value>) -> bool {
    Value::Object(schema.clone()) == ToolCall::schema()
}

fn replace_calls(schema: &mut Value) {
    match schema {
        Value::Object(map) if is_call(map) => *schema = json!({ "$ref": CALL }),
        Value::Object(map) => map.values_mut().for_each(replace_calls),
        Value::Array(values) => values.iter_mut().for_each(replace_calls),
        _ => {}
    }
}

/// The arguments of a tool as written in a trail. What its schema defines moves to the definitions of the whole.
fn call(tool: &Tool, definitions: &mut Map<String, Value>) -> Value {
    let mut schema = tool.schema.json().clone();
    replace_refs(&mut schema, &tool.name);
    for key in OWN {
        let own = schema.as_object_mut().and_then(|schema| schema.remove(key));
        let Some(Value::Object(own)) = own else { continue };
        definitions.extend(own.into_iter().map(|(name, value)| (format!("{}.{name}", tool.name), value)));
    }
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().for_each(allow_template);
    }
    let is_required = schema.get("required").and_then(Value::as_array).is_some_and(|required| !required.is_empty());
    let description = json!(tool.description);
    match is_required {
        true => {
            schema["description"] = description;
            schema
        }
        // `pressBack:` without anything is a call too.
        false => json!({"description": description, "anyOf": [schema, {"type": "null"}]}),
    }
}

/// References in the schema of a tool are to that schema.
fn replace_refs(schema: &mut Value, tool: &str) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::String(to)) = map.get_mut("$ref") {
                let own = OWN.iter().find_map(|key| to.strip_prefix(&format!("#/{key}/")));
                match own {
                    Some(name) => *to = format!("#/definitions/{tool}.{name}"),
                    None if to == "#" => *to = format!("{CALL}/properties/{tool}"),
                    None => {}
                }
            }
            map.values_mut().for_each(|value| replace_refs(value, tool));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| replace_refs(value, tool)),
        _ => {}
    }
}

/// A template can stand in the place of any value; it is replaced before the value is checked.
fn allow_template(property: &mut Value) {
    if property["type"] == "string" && property.get("enum").is_none() {
        return;
    }
    let mut own = property.take();
    let description = own.as_object_mut().and_then(|own| own.remove("description"));
    *property = json!({"anyOf": [own, {"type": "string", "pattern": "\\{\\{.+\\}\\}"}]});
    if let Some(description) = description {
        property["description"] = description;
    }
}
