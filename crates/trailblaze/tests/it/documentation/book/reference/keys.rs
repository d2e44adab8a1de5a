//! The keys of the files of a project, from their JSON Schemas.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;
use trailblaze::cli::schemas;

use super::cell;

/// Each kind of file: its schema, its title and which files are of this kind.
const FILES: &[(&str, &str, &str)] = &[
    ("project", "The project", "`trailblaze.yaml`, in the root of the project."),
    ("target", "Targets", "An app under test: a file in `trailblaze-config/targets`."),
    ("toolset", "Toolsets", "Tools that are offered to models together: a file in `trailblaze-config/toolsets`."),
    ("tool", "YAML tools", "A tool made of other tools: a file in `trailblaze-config/tools`."),
    ("trail", "Trails", "A file whose name ends in `.trail.yaml`."),
    ("folder", "Folders of trails", "What is done before and after the trails of a folder: its `_folder.yaml`."),
    ("stretch", "Stretches", "Steps that trails share: the file that `use:` of a trail names."),
    ("app", "App files", "What a simulated device shows: a file whose name ends in `.app.yaml`."),
    ("effects", "Effects", "What custom tools did: a file next to its trail whose name ends in `.effects.yaml`."),
    ("cassette", "Cassettes", "Recorded responses of tool servers: a file whose name ends in `.cassette.yaml`."),
    ("replies", "Replies", "What a scripted model replies: the file that `--model scripted/FILE` names."),
];

pub fn page() -> String {
    let mut out = String::from(
        "# Configuration keys\n\nEvery key of every file, from the JSON Schemas in [schemas](../../schemas), which editors use.\n\
         [Configuration](../configuration.md) explains those of a project, [Trails](../trails.md) those of a trail. In a key, `*` is a name that \
         you choose,\nand `[]` an item of a list.\n",
    );
    let schemas: BTreeMap<&str, Value> = schemas().into_iter().collect();
    assert_eq!(schemas.len(), FILES.len(), "every kind of file has a section");
    for (name, title, about) in FILES {
        write!(out, "\n## {title}\n\n{about}\n\n| key | type | |\n|---|---|---|\n").expect("text");
        let mut rows = Rows::default();
        rows.add(&schemas[name], &schemas[name], "");
        for Row { keys, kind, about } in rows.rows {
            let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
            writeln!(out, "| {} | {kind} | {} |", keys.join(" or "), cell(&about)).expect("text");
        }
    }
    out
}

/// The rows of the table of a file.
#[derive(Default)]
struct Rows {
    rows: Vec<Row>,
    /// Mappings with several keys that were listed, and where.
    listed: Vec<(Value, String)>,
}

struct Row {
    keys: Vec<String>,
    kind: String,
    about: String,
}

impl Rows {
    /// Adds the keys below a place, depth first.
    fn add(&mut self, root: &Value, schema: &Value, path: &str) {
        let schema = resolved(root, schema);
        let properties = schema["properties"].as_object().into_iter().flatten();
        let mut previous: Option<(&String, &Value)> = None;
        for (name, property) in properties {
            // Two spellings of a key follow each other.
            if let Some((spelling, same)) = previous
                && same == property
                && plain(spelling) == plain(name)
            {
                let first = self.rows.iter_mut().find(|row| row.keys[0] == below(path, spelling));
                first.expect("the first spelling is listed").keys.push(below(path, name));
                continue;
            }
            previous = Some((name, property));
            self.add_key(root, schema, path, name);
        }
        if let Some(values) = schema.get("additionalProperties").filter(|values| values.is_object()) {
            self.add(root, values, &below(path, "*"));
        }
        if let Some(items) = schema.get("items") {
            self.add(root, items, &format!("{path}[]"));
        }
        for union in ["oneOf", "anyOf", "allOf"] {
            let mut mappings = Vec::new();
            for variant in schema[union].as_array().into_iter().flatten() {
                // A list and a mapping of the same things are listed once.
                let mapping = mapping_in(root, variant);
                if mapping.is_none() || !mappings.contains(&mapping) {
                    self.add(root, variant, path);
                }
                mappings.push(mapping);
            }
        }
    }

    fn add_key(&mut self, root: &Value, schema: &Value, path: &str, name: &str) {
        let (key, property) = (below(path, name), &schema["properties"][name]);
        if self.rows.iter().any(|row| row.keys.contains(&key)) {
            return;
        }
        let is_required = schema["required"].as_array().into_iter().flatten().any(|required| required == name);
        let required = if is_required { " (required)" } else { "" };
        let mut about = property["description"].as_str().unwrap_or_default().to_string();
        let inner = mapping_in(root, property);
        let known = inner.and_then(|inner| self.listed.iter().find(|(known, _)| known == inner));
        if let Some((_, place)) = known {
            write!(about, " Its keys are those of `{place}`.").expect("text");
        }
        let is_known = known.is_some();
        if let Some(inner) = inner.filter(|_| !is_known) {
            self.listed.push((inner.clone(), key.clone()));
        }
        let kind = format!("{}{required}", kind(resolved(root, property)));
        self.rows.push(Row { keys: vec![key.clone()], kind, about: about.trim().to_string() });
        if !is_known {
            self.add(root, property, &key);
        }
    }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_string() } else { format!("{path}.{name}") }
}

/// A key without what differs between its spellings.
fn plain(key: &str) -> String {
    key.replace('_', "").to_lowercase()
}

/// The mapping with several keys that a schema is, or a list or a union of.
fn mapping_in<'a>(root: &'a Value, schema: &'a Value) -> Option<&'a Value> {
    let schema = resolved(root, schema);
    if schema["properties"].as_object().is_some_and(|properties| properties.len() > 2) {
        return Some(schema);
    }
    let variants = ["oneOf", "anyOf"].iter().flat_map(|union| schema[*union].as_array().into_iter().flatten());
    let inside = schema.get("items").into_iter().chain(schema.get("additionalProperties")).chain(variants);
    inside.filter_map(|schema| mapping_in(root, schema)).next()
}

/// The schema behind a reference.
fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let Some(pointer) = schema["$ref"].as_str().and_then(|path| path.strip_prefix('#')) else { return schema };
    root.pointer(pointer).unwrap_or(schema)
}

/// What a schema allows, in words.
pub fn kind(schema: &Value) -> String {
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<String> = values
            .iter()
            .map(|value| format!("`{}`", value.as_str().map_or_else(|| value.to_string(), String::from)))
            .collect();
        return values.join(", ");
    }
    for union in ["oneOf", "anyOf"] {
        if let Some(variants) = schema[union].as_array() {
            let mut kinds: Vec<String> = variants.iter().map(kind).filter(|kind| !kind.is_empty()).collect();
            kinds.dedup();
            return kinds.join(" or ");
        }
    }
    // A time is a number of milliseconds or a text with a unit.
    if schema["pattern"].as_str().is_some_and(|pattern| pattern.contains("ms|s|m|h")) {
        return "time: `500ms`, `30s`, `5m`".to_string();
    }
    let one = |name: &str| match name {
        "string" => "text".to_string(),
        "integer" => "whole number".to_string(),
        "boolean" => "true or false".to_string(),
        "array" => match kind(&schema["items"]) {
            items if items.is_empty() => "list".to_string(),
            items => format!("list of {items}"),
        },
        "object" => "mapping".to_string(),
        other => other.to_string(),
    };
    match &schema["type"] {
        Value::String(name) => one(name),
        Value::Array(names) => names
            .iter()
            .filter_map(Value::as_str)
            .filter(|name| *name != "null")
            .map(one)
            .collect::<Vec<_>>()
            .join(" or "),
        _ => String::new(),
    }
}
