//! TypeScript declarations of a session's tools, for scripts: editors complete `tools.`, and a wrong name does not compile.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Map, Value};
use trailblaze_contract::{Field, METHODS, Message, Method, Target, Type};
use trailblaze_core::engine::tool::Tool;
use trailblaze_core::schema::is_required;

/// The second parameter of a script's function, whatever tools there are.
const SCRIPT: &str = include_str!("templates/script.d.ts");

/// The declarations of what scripts find without an import: a file of its own, because tool servers do not have it.
pub const GLOBALS: &str = include_str!("templates/globals.d.ts");

/// How deep a schema is followed.
const DEPTH: usize = 8;

/// The declarations for these tools. Of several with one name, the first counts.
pub fn declarations<'t>(tools: impl IntoIterator<Item = &'t Tool>) -> String {
    let mut named: BTreeMap<&str, &Tool> = BTreeMap::new();
    for tool in tools {
        named.entry(&tool.name).or_insert(tool);
    }
    let mut text = String::from("// Written by `trailblaze types`; do not edit.\n\n");
    text.push_str("/** The arguments of each tool, as it gets them: those with a default are there. */\ninterface TrailblazeArgs {\n");
    for (name, tool) in &named {
        let _ = writeln!(text, "  {}: {};", key(name), object(tool.schema.json(), 1, tool.is_custom()));
    }
    text.push_str(
        "}\n\n/** The tools. Each returns its value, or its text if it has none, and throws if it fails. */\n",
    );
    text.push_str("interface TrailblazeTools {\n");
    for (name, tool) in &named {
        text.push_str(&comment(&tool.description, 1));
        let mark = if needs_arguments(tool.schema.json()) { "" } else { "?" };
        let (key, name) = (key(name), Value::from(*name));
        let args = match presets(tool) {
            presets if presets.is_empty() => format!("TrailblazeArgs[{name}]"),
            presets => format!("TrailblazeWithout<TrailblazeArgs[{name}], {}>", presets.join(" | ")),
        };
        let _ = writeln!(text, "  {key}(args{mark}: {args}): Promise<{}>;", returned(tool));
    }
    text.push_str("}\n\n");
    text.push_str(SCRIPT);
    text
}

/// The names of the arguments that have a default, as types. Only custom tools are written by those who read these types.
fn presets(tool: &Tool) -> Vec<String> {
    let properties = tool.schema.json().get("properties").and_then(Value::as_object).into_iter().flatten();
    let presets = properties.filter(|(_, property)| tool.is_custom() && property.get("default").is_some());
    presets.map(|(name, _)| Value::from(name.as_str()).to_string()).collect()
}

fn needs_arguments(schema: &Value) -> bool {
    schema.get("required").and_then(Value::as_array).is_some_and(|required| !required.is_empty())
}

/// The type of what a tool returns: known for the commands of the typed API.
fn returned(tool: &Tool) -> String {
    let is_own = |method: &&Method| matches!(&method.target, Target::Command(command) if command.tool == tool.name);
    match METHODS.iter().find(is_own).filter(|_| !tool.is_custom()) {
        Some(method) => of_message(method.response),
        None => "unknown".to_string(),
    }
}

fn of_message(message: &Message) -> String {
    let has = |name: &str| message.fields.iter().find(|field| field.json == name);
    match (message.name, has("value"), has("success")) {
        ("ScreenState", ..) => "Omit<TrailblazeScreen, 'elements'>".to_string(),
        (_, Some(value), _) if value.is_optional => format!("{} | null", of_field(value)),
        (_, Some(value), _) => of_field(value),
        (_, None, Some(_)) => "string".to_string(),
        _ => {
            let field = |field: &Field| {
                let mark = if field.is_optional { "?" } else { "" };
                format!("{}{mark}: {}", field.json, of_field(field))
            };
            format!("{{ {} }}", message.fields.iter().map(field).collect::<Vec<_>>().join("; "))
        }
    }
}

fn of_field(field: &Field) -> String {
    let one = match &field.ty {
        Type::Bool => "boolean",
        Type::Int32 | Type::Double => "number",
        Type::Text | Type::Bytes | Type::Enum(_) => "string",
        Type::Message(_) | Type::Map(_) | Type::Struct => "Record<string, unknown>",
        Type::Value => "unknown",
    };
    if field.is_repeated { format!("{one}[]") } else { one.to_string() }
}

/// The type of a JSON Schema of an object. `is_filled` says whether those with a default are there.
fn object(schema: &Value, depth: usize, is_filled: bool) -> String {
    let Some(properties) = schema.get("properties").and_then(Value::as_object).filter(|map| !map.is_empty()) else {
        return "Record<string, unknown>".to_string();
    };
    let indent = "  ".repeat(depth + 1);
    let mut text = String::from("{\n");
    for (name, property) in properties {
        if let Some(about) = property.get("description").and_then(Value::as_str) {
            text.push_str(&comment(about, depth + 1));
        }
        let is_there = is_required(schema, name) || is_filled && property.get("default").is_some();
        let mark = if is_there { "" } else { "?" };
        let _ = writeln!(text, "{indent}{}{mark}: {};", key(name), of_schema(property, depth + 1));
    }
    let _ = write!(text, "{}}}", "  ".repeat(depth));
    text
}

fn of_schema(schema: &Value, depth: usize) -> String {
    if depth > DEPTH {
        return "unknown".to_string();
    }
    let union = |options: &[Value]| {
        let mut types: Vec<String> = options.iter().map(|option| of_schema(option, depth)).collect();
        types.dedup();
        types.join(" | ")
    };
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values.iter().map(Value::to_string).collect::<Vec<_>>().join(" | ");
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    if let Some(options) = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(*key)?.as_array()) {
        return union(options);
    }
    match schema.get("type") {
        Some(Value::Array(types)) => {
            let with = |kind: &Value| {
                let mut one = schema.as_object().cloned().unwrap_or_else(Map::new);
                one.insert("type".to_string(), kind.clone());
                Value::Object(one)
            };
            union(&types.iter().map(with).collect::<Vec<_>>())
        }
        Some(Value::String(kind)) => match kind.as_str() {
            "string" => "string".to_string(),
            "integer" | "number" => "number".to_string(),
            "boolean" => "boolean".to_string(),
            "null" => "null".to_string(),
            "array" => {
                let items = schema.get("items").map_or_else(|| "unknown".to_string(), |items| of_schema(items, depth));
                format!("Array<{items}>")
            }
            // Their defaults are not filled in.
            "object" => object(schema, depth, false),
            _ => "unknown".to_string(),
        },
        _ => "unknown".to_string(),
    }
}

/// A property's name, quoted unless it is an identifier.
fn key(name: &str) -> String {
    let is_identifier = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$');
    if is_identifier { name.to_string() } else { Value::from(name).to_string() }
}

fn comment(text: &str, depth: usize) -> String {
    let indent = "  ".repeat(depth);
    // A description cannot end the comment that it is in.
    let text = text.trim().replace("*/", "*\u{200b}/");
    let lines: Vec<&str> = text.lines().collect();
    match lines.as_slice() {
        [] => String::new(),
        [line] => format!("{indent}/** {line} */\n"),
        lines => {
            let body: String =
                lines.iter().map(|line| format!("{indent} * {line}\n").replace(" * \n", " *\n")).collect();
            format!("{indent}/**\n{body}{indent} */\n")
        }
    }
}
