//! `trailblaze-config/tools/*.yaml`: a tool without code, in exactly one of three modes.

use serde_json::{Map, Value, json};
use trailblaze_protocol::driver::Platform;

use crate::names;
use crate::nearest::misspelled;
use crate::schema::{Param, Schema, Types};
use crate::table;
use crate::template::{self, Coercion};
use crate::trail::ToolCall;
use crate::words;
use crate::yaml::{
    Decode, Entries, Millis, Problems, Reading, Span, Spanned, Style, YamlKind, YamlNode, scalar, to_json,
};

table! {
    /// A tool file as written; `ToolFile` is the checked form.
    pub struct RawToolFile {
        /// The tool's name.
        "id" => id: Spanned<String>,
        /// The description for models. Required with `tools:` and `script:`.
        "description" => description: Option<Spanned<String>> = None,
        /// The tool's parameters. Required with `tools:` and `script:`; may be empty.
        "parameters" => parameters: Option<Spanned<Vec<Parameter>>> = None,
        /// A compiled tool, by its registered name.
        "class" => class: Option<Spanned<String>> = None,
        /// The calls that the tool makes.
        "tools" => tools: Option<Spanned<Vec<ToolCall>>> = None,
        /// JavaScript or TypeScript that runs in the embedded engine.
        "script" => script: Option<Spanned<ScriptEntry>> = None,
        /// What a script may do besides calling tools.
        "grants" => grants: Option<Spanned<Grants>> = None,
        /// Whether the tool is offered to models.
        "isForLlm" => is_for_llm: bool = true,
        /// Whether calls of the tool are recorded.
        "isRecordable" => is_recordable: bool = true,
        /// Whether the tool only runs on the host, not on the device.
        "requiresHost" => requires_host: bool = false,
        /// The platforms that the tool supports; default: all.
        "supportedPlatforms" => supported_platforms: Vec<Platform> = Vec::new(),
        /// The drivers that the tool supports; default: all.
        "supportedDrivers" => supported_drivers: Vec<String> = Vec::new(),
        /// The toolset that the tool is part of.
        "toolset" => toolset: Option<String> = None,
        /// The groups that the tool is part of.
        "groups" => groups: Vec<String> = Vec::new(),
        /// Whether the tool replaces the built-in tool of the same name.
        "override" => overrides: bool = false,
    }
}

table! {
    /// A parameter of a tool.
    pub struct Parameter {
        /// The parameter's name.
        "name" => name: Spanned<String>,
        /// The type of its values.
        "type" => kind: ParameterType,
        /// What the items of an `array` are: a type, or a mapping with `type` and what that consists of.
        "items" => items: Option<Spanned<NestedType>> = None,
        /// The entries of an `object`, by name: a type each, or a mapping with `type` and what that consists of.
        "properties" => properties: Option<Spanned<Entries<NestedType>>> = None,
        /// Whether it is required; default: true unless there is a default.
        "required" => required: Option<bool> = None,
        /// The default value.
        "default" => default: Option<YamlNode> = None,
        /// The description for models.
        "description" => description: String = String::new(),
    }
}

words! {
    pub enum ParameterType {
        "string" => String,
        "integer" => Integer,
        "boolean" => Boolean,
        "number" => Number,
        "array" => Array,
        "object" => Object,
    }
}

/// What a list or a mapping consists of.
#[derive(Debug, Clone, PartialEq)]
pub struct NestedType {
    schema: Value,
    is_required: bool,
}

table! {
    /// A type with what it consists of.
    pub struct WrittenType {
        /// The type of the values.
        "type" => kind: ParameterType,
        /// What the items of an `array` are.
        "items" => items: Option<Spanned<NestedType>> = None,
        /// The entries of an `object`, by name.
        "properties" => properties: Option<Spanned<Entries<NestedType>>> = None,
        /// Whether an entry of an `object` must be there.
        "required" => required: bool = true,
        /// The description for models.
        "description" => description: String = String::new(),
    }
}

/// Where the schema of a tool file describes [`WrittenType`], which contains itself.
const WRITTEN_TYPE: &str = "#/definitions/type";

impl Decode for NestedType {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        if node.entries().is_none() {
            let kind = ParameterType::decode(node, problems)?;
            return Some(NestedType { schema: kind.json(), is_required: true });
        }
        let written = WrittenType::decode(node, problems)?;
        let mut schema = value_schema(written.kind, written.items.as_ref(), written.properties.as_ref(), problems);
        if !written.description.is_empty() {
            schema["description"] = written.description.trim_end().into();
        }
        Some(NestedType { schema, is_required: written.required })
    }

    fn schema() -> Value {
        json!({"anyOf": [ParameterType::schema(), {"$ref": WRITTEN_TYPE}]})
    }
}

/// The schema of values of a type. `items` and `properties` must fit it.
fn value_schema(
    kind: ParameterType,
    items: Option<&Spanned<NestedType>>,
    properties: Option<&Spanned<Entries<NestedType>>>,
    problems: &mut Problems,
) -> Value {
    let mut schema = kind.json();
    match items {
        Some(items) if kind == ParameterType::Array => schema["items"] = items.value.schema.clone(),
        Some(items) => problems.error(items.span, "only an `array` has `items`"),
        None => {}
    }
    match properties {
        Some(properties) if kind == ParameterType::Object => {
            let entries = properties.value.iter();
            let own: Map<String, Value> = entries.map(|(name, of)| (name.to_string(), of.schema.clone())).collect();
            let required = properties.value.iter().filter(|(_, of)| of.is_required).map(|(name, _)| name);
            schema["required"] = required.collect::<Vec<_>>().into();
            schema["properties"] = own.into();
            schema["additionalProperties"] = false.into();
        }
        Some(properties) => problems.error(properties.span, "only an `object` has `properties`"),
        None => {}
    }
    schema
}

table! {
    /// A script: exactly one of `source` and `file`.
    pub struct ScriptEntry {
        /// The script itself.
        "source" => source: Option<Spanned<String>> = None,
        /// The script's path, relative to the project's root or to its `scriptRoot`.
        "file" => file: Option<Spanned<String>> = None,
        /// How long it may compute without waiting for anything.
        "timeout" => timeout: Millis = Millis(10_000),
    }
}

table! {
    /// What a script may do besides calling tools. Default: nothing.
    pub struct Grants {
        /// The files that it may read, as patterns relative to the project's root: `fixtures/**/*.json`.
        "readFile" => read_file: Vec<Spanned<String>> = Vec::new(),
        /// The servers that it may send requests to: `https://api.example.com`.
        "fetch" => fetch: Vec<Spanned<String>> = Vec::new(),
        /// The environment variables that it may read.
        "env" => env: Vec<Spanned<String>> = Vec::new(),
        /// Whether it may ask for the time.
        "clock" => clock: bool = false,
    }
}

/// A checked tool file.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolFile {
    pub id: Spanned<String>,
    pub description: String,
    pub params: Vec<Param>,
    pub mode: Mode,
    pub is_for_llm: bool,
    pub is_recordable: bool,
    pub requires_host: bool,
    pub supported_platforms: Vec<Platform>,
    pub supported_drivers: Vec<String>,
    pub toolset: Option<String>,
    pub groups: Vec<String>,
    pub overrides: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Mode {
    Class(Spanned<String>),
    Tools(Vec<ToolCall>),
    Script(Box<(ScriptEntry, Option<Grants>)>),
}

impl Decode for ToolFile {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        let raw = RawToolFile::decode(node, problems);
        node.entries()?;
        // These check the file as written, so that one mistake does not hide another.
        let has_one_mode = check_mode(node, problems);
        let items = node.get("parameters").and_then(YamlNode::items).unwrap_or_default();
        let params = params(&readable(items, problems), problems);
        let declared: Vec<&str> = items.iter().filter_map(|item| item.get("name")?.raw()).collect();
        if let Some(calls) = node.get("tools") {
            check_tokens(&declared, calls, problems);
        }
        let raw = raw.filter(|_| has_one_mode)?;
        let class = raw.class.map(Mode::Class);
        let tools = raw.tools.map(|tools| Mode::Tools(tools.value));
        let grants = raw.grants.map(|grants| grants.value);
        let mode =
            class.or(tools).or_else(|| raw.script.map(|script| Mode::Script(Box::new((script.value, grants)))))?;
        Some(ToolFile {
            id: raw.id,
            description: raw.description.map(|text| text.value.trim_end().to_string()).unwrap_or_default(),
            params,
            mode,
            is_for_llm: raw.is_for_llm,
            is_recordable: raw.is_recordable,
            requires_host: raw.requires_host,
            supported_platforms: raw.supported_platforms,
            supported_drivers: raw.supported_drivers,
            toolset: raw.toolset,
            groups: raw.groups,
            overrides: raw.overrides,
        })
    }

    fn schema() -> Value {
        let mut schema = RawToolFile::schema();
        schema["description"] = "A tool without code.".into();
        schema["definitions"] = json!({"type": WrittenType::schema()});
        schema["oneOf"] = json!([
            {"required": ["class"]},
            {"required": ["tools", "description", "parameters"]},
            {"required": ["script", "description", "parameters"]},
        ]);
        schema
    }
}

/// Checks that the file has exactly one mode, with exactly the keys that the mode requires.
fn check_mode(node: &YamlNode, problems: &mut Problems) -> bool {
    let given = |name: &str| node.get(name).filter(|value| !value.is_null());
    let modes: Vec<&str> = ["class", "tools", "script"].into_iter().filter(|name| given(name).is_some()).collect();
    let mut is_one = match modes.as_slice() {
        [] => {
            problems.error(node.span, "a tool must have one of `class`, `tools` or `script`; this one has none");
            false
        }
        [_] => true,
        [.., last] => {
            let message = format!(
                "a tool must have only one of `class`, `tools` or `script`; this one has {}",
                modes.join(" and ")
            );
            let span = given(last).map_or(node.span, |value| value.span);
            problems.error_with_hint(span, message, "keep one of them");
            false
        }
    };
    if let Some(calls) = given("tools").filter(|calls| is_one && calls.items().is_some_and(<[YamlNode]>::is_empty)) {
        problems.error_with_hint(calls.span, "`tools` is empty, so the tool would do nothing", "add a call to it");
        is_one = false;
    }
    if let Some(script) = given("script").filter(|script| script.entries().is_some())
        && script.get("source").is_some() == script.get("file").is_some()
    {
        problems.error(script.span, "a script must have exactly one of `source` and `file`");
        is_one = false;
    }
    if let Some(grants) = given("grants").filter(|_| !modes.is_empty() && modes != ["script"]) {
        problems.error(grants.span, "`grants` can only be used with `script`");
        is_one = false;
    }
    if modes == ["class"] {
        let beside = node.entries().unwrap_or_default().iter().map(|(key, _)| key);
        for key in beside.filter(|key| !matches!(key.raw(), Some("id" | "class" | "grants"))) {
            let name = key.raw().unwrap_or_default();
            problems.error(key.span, format!("`{name}` cannot be used with `class`: the compiled tool defines it"));
        }
        return is_one;
    }
    for (name, hint) in [
        ("description", "describe what the tool does, for people and models"),
        ("parameters", "use `parameters: []` for a tool without parameters"),
    ] {
        if given(name).is_none() {
            problems.error_with_hint(node.span, format!("`{name}` is missing"), hint);
        }
    }
    is_one
}

/// The valid parameters. Problems of the others were reported when the file was decoded.
fn readable(items: &[YamlNode], problems: &Problems) -> Vec<Parameter> {
    let mut said_already = Problems::new(problems.source());
    items.iter().filter_map(|item| Parameter::decode(item, &mut said_already)).collect()
}

/// `{{params.x}}` and `{{?x}}` can only refer to parameters, so an unknown one is an error before anything runs. `{{x}}` may also be
/// something that a trail remembers, so only what looks like a misspelled parameter is reported.
fn check_tokens(declared: &[&str], node: &YamlNode, problems: &mut Problems) {
    match &node.kind {
        YamlKind::Scalar { raw, .. } => {
            for token in template::tokens(raw) {
                let (name, must_be_param) = match token.path.strip_prefix("params.") {
                    Some(name) => (name, true),
                    None => (token.path, token.drops),
                };
                let whole = name.split('.').next().unwrap_or(name);
                if declared.contains(&name) || declared.contains(&whole) {
                    continue;
                }
                let span = token_span(node.span, token.raw, &problems.source().text);
                if must_be_param {
                    problems.unknown(span, "parameter", name, declared.iter().copied());
                } else if let Some(near) = misspelled(name, declared.iter().copied()).filter(|_| token.is_curly) {
                    let message = format!("the tool has no parameter `{name}`");
                    let remembered = format!("if a trail remembers it, write `{{{{memory.{name}}}}}`");
                    problems.warning_with_hint(
                        span,
                        message,
                        format!("did you mean the parameter `{near}`? {remembered}"),
                    );
                }
            }
            // Text that only looks like `{{int:x}}` would be inserted as it is.
            for inside in raw.split("{{").skip(1).filter_map(|rest| Some(rest.split_once("}}")?.0)) {
                let Some((word, name)) = inside.split_once(':') else { continue };
                let (word, name) = (word.trim().trim_start_matches('?').trim(), name.trim());
                let is_declared = declared.contains(&name.strip_prefix("params.").unwrap_or(name));
                if is_declared && Coercion::parse(word).is_none() {
                    problems.unknown(node.span, "type", word, Coercion::WORDS);
                }
            }
        }
        YamlKind::Seq(items) => items.iter().for_each(|item| check_tokens(declared, item, problems)),
        YamlKind::Map(entries) => entries.iter().for_each(|(_, value)| check_tokens(declared, value, problems)),
    }
}

/// Where a token is, within the value that contains it.
fn token_span(value: Span, token: &str, text: &str) -> Span {
    let Some(before) = text.get(value.start..value.end).and_then(|value| Some(value.split_once(token)?.0)) else {
        return value;
    };
    let start = value.start + before.len();
    let (line, column) = match before.rsplit_once('\n') {
        Some((_, same_line)) => (value.line + before.matches('\n').count(), same_line.chars().count() + 1),
        None => (value.line, value.column + before.chars().count()),
    };
    Span { start, end: start + token.len(), line, column }
}

fn params(parameters: &[Parameter], problems: &mut Problems) -> Vec<Param> {
    let mut params: Vec<Param> = Vec::new();
    for parameter in parameters {
        let name = &parameter.name;
        if !names::is_parameter(&name.value) {
            problems
                .error(name.span, format!("`{}` is not a valid parameter name; use letters, digits and _", name.value));
        }
        if params.iter().any(|earlier| earlier.name == name.value) {
            problems.error(name.span, format!("the parameter `{}` is declared twice", name.value));
        }
        let schema = value_schema(parameter.kind, parameter.items.as_ref(), parameter.properties.as_ref(), problems);
        let default =
            parameter.default.as_ref().and_then(|node| default_value(node, (parameter.kind, &schema), problems));
        if let (Some(true), Some(node)) = (parameter.required, &parameter.default) {
            problems.error(node.span, "a parameter with a default cannot be required");
        }
        params.push(Param {
            name: name.value.clone(),
            schema,
            is_required: parameter.required.unwrap_or(default.is_none()) && default.is_none(),
            default,
            description: parameter.description.trim_end().to_string(),
        });
    }
    params
}

fn default_value(node: &YamlNode, (kind, schema): (ParameterType, &Value), problems: &mut Problems) -> Option<Value> {
    if matches!(kind, ParameterType::Array | ParameterType::Object) {
        let noun = if kind == ParameterType::Array { "a list" } else { "a mapping" };
        if node.noun() != noun {
            problems.error(node.span, format!("the default must be {noun}, not {}", node.noun()));
            return None;
        }
        let value = to_json(node, schema, problems)?;
        let Err(wrong) = jsonschema::validate(schema, &value) else { return Some(value) };
        problems.error(node.span, format!("the default does not fit the parameter: {wrong}"));
        return None;
    }
    let YamlKind::Scalar { raw, style, .. } = &node.kind else {
        problems.error(node.span, format!("a default must be a single value, not {}", node.noun()));
        return None;
    };
    let style = if kind == ParameterType::String { Style::Quoted } else { *style };
    match scalar(raw, style, Types::of(&kind.json())) {
        Reading::Is(value) => Some(value),
        Reading::Misfit(expected) => {
            problems.error(node.span, format!("the default `{raw}` is not {expected}"));
            None
        }
        Reading::Ambiguous(_) => unreachable!("a parameter has one type"),
    }
}

impl ParameterType {
    pub fn json(self) -> Value {
        match self {
            ParameterType::String => json!({"type": "string"}),
            ParameterType::Integer => json!({"type": "integer"}),
            ParameterType::Boolean => json!({"type": "boolean"}),
            ParameterType::Number => json!({"type": "number"}),
            ParameterType::Array => json!({"type": "array"}),
            ParameterType::Object => json!({"type": "object"}),
        }
    }
}

impl ToolFile {
    pub fn arguments(&self) -> Schema {
        Schema::from_params(&self.params)
    }
}
