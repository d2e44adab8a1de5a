//! `trailblaze-config/tools/*.yaml`: a tool without code, in exactly one of three modes.

use serde_json::{Value, json};
use trailblaze_protocol::driver::Platform;

use crate::names;
use crate::schema::{Param, Schema, Types};
use crate::table;
use crate::template;
use crate::trail::ToolCall;
use crate::words;
use crate::yaml::{Decode, Kind, Node, Problems, Reading, Spanned, Style, scalar};

table! {
    /// A tool file as it is written; `ToolFile` is what it means.
    pub struct RawToolFile {
        /// The tool's name.
        "id" => id: Spanned<String>,
        /// What a model reads. Required with `tools:` and `script:`.
        "description" => description: Option<Spanned<String>> = None,
        /// What the tool takes. Required with `tools:` and `script:`; may be empty.
        "parameters" => parameters: Option<Spanned<Vec<Parameter>>> = None,
        /// A compiled tool, by its registered name.
        "class" => class: Option<Spanned<String>> = None,
        /// The calls that the tool stands for.
        "tools" => tools: Option<Spanned<Vec<ToolCall>>> = None,
        /// JavaScript or TypeScript that runs in the embedded engine.
        "script" => script: Option<Spanned<ScriptEntry>> = None,
        /// Whether models are offered the tool.
        "isForLlm" => is_for_llm: bool = true,
        /// Whether calls of it are recorded.
        "isRecordable" => is_recordable: bool = true,
        /// Whether it cannot run on the device.
        "requiresHost" => requires_host: bool = false,
        /// The platforms that it is for; all unless given.
        "supportedPlatforms" => supported_platforms: Vec<Platform> = Vec::new(),
        /// The drivers that it is for; all unless given.
        "supportedDrivers" => supported_drivers: Vec<String> = Vec::new(),
        /// The toolset that it joins.
        "toolset" => toolset: Option<String> = None,
        /// The groups that it belongs to.
        "groups" => groups: Vec<String> = Vec::new(),
    }
}

table! {
    /// A parameter of a tool.
    pub struct Parameter {
        /// Its name.
        "name" => name: Spanned<String>,
        /// What values it takes.
        "type" => kind: ParameterType,
        /// Whether it must be given; true unless there is a default.
        "required" => required: Option<bool> = None,
        /// What it is when it is not given.
        "default" => default: Option<Node> = None,
        /// What a model reads.
        "description" => description: String = String::new(),
    }
}

words! {
    pub enum ParameterType {
        "string" => String,
        "integer" => Integer,
        "boolean" => Boolean,
        "number" => Number,
    }
}

table! {
    /// Where a script comes from: exactly one of `source` and `file`.
    pub struct ScriptEntry {
        /// The script itself.
        "source" => source: Option<String> = None,
        /// The script's path, from the project's root.
        "file" => file: Option<String> = None,
    }
}

/// A tool file that makes sense.
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
}

#[derive(Debug, Clone, PartialEq)]
pub enum Mode {
    Class(Spanned<String>),
    Tools(Vec<ToolCall>),
    Script(ScriptEntry),
}

impl Decode for ToolFile {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        let raw = RawToolFile::decode(node, problems);
        node.entries()?;
        // These look at what is written, so that one mistake does not hide another.
        let has_one_mode = check_mode(node, problems);
        let items = node.get("parameters").and_then(Node::items).unwrap_or_default();
        let params = params(&readable(items, problems), problems);
        let declared: Vec<&str> = items.iter().filter_map(|item| item.get("name")?.raw()).collect();
        if let Some(calls) = node.get("tools") {
            check_tokens(&declared, calls, problems);
        }
        let raw = raw.filter(|_| has_one_mode)?;
        let class = raw.class.map(Mode::Class);
        let tools = raw.tools.map(|tools| Mode::Tools(tools.value));
        let mode = class.or(tools).or_else(|| raw.script.map(|script| Mode::Script(script.value)))?;
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
        })
    }

    fn schema() -> Value {
        let mut schema = RawToolFile::schema();
        schema["description"] = "A tool without code.".into();
        schema["oneOf"] = json!([
            {"required": ["class"]},
            {"required": ["tools", "description", "parameters"]},
            {"required": ["script", "description", "parameters"]},
        ]);
        schema
    }
}

/// Whether the file has one mode, and no more and no less than the mode asks for.
fn check_mode(node: &Node, problems: &mut Problems) -> bool {
    let given = |name: &str| node.get(name).filter(|value| !value.is_null());
    let modes: Vec<&str> = ["class", "tools", "script"].into_iter().filter(|name| given(name).is_some()).collect();
    let mut is_one = match modes.as_slice() {
        [] => {
            problems.error(node.span, "a tool has one of `class`, `tools` or `script`, and this one has none");
            false
        }
        [_] => true,
        [.., last] => {
            let message =
                format!("a tool has one of `class`, `tools` or `script`, and this one has {}", modes.join(" and "));
            let span = given(last).map_or(node.span, |value| value.span);
            problems.error_with_hint(span, message, "keep one of them");
            false
        }
    };
    if let Some(script) = given("script").filter(|script| script.entries().is_some())
        && script.get("source").is_some() == script.get("file").is_some()
    {
        problems.error(script.span, "a script has exactly one of `source` and `file`");
        is_one = false;
    }
    if modes == ["class"] {
        let beside = node.entries().unwrap_or_default().iter().map(|(key, _)| key);
        for key in beside.filter(|key| !matches!(key.raw(), Some("id" | "class"))) {
            let name = key.raw().unwrap_or_default();
            problems.error(key.span, format!("`{name}` cannot stand beside `class`: the compiled tool brings it"));
        }
        return is_one;
    }
    for (name, hint) in [
        ("description", "say what the tool does, for people and models"),
        ("parameters", "a tool that takes none has `parameters: []`"),
    ] {
        if given(name).is_none() {
            problems.error_with_hint(node.span, format!("`{name}` is missing"), hint);
        }
    }
    is_one
}

/// The parameters that can be read. What is wrong with the others was said when the file was.
fn readable(items: &[Node], problems: &Problems) -> Vec<Parameter> {
    let mut said_already = Problems::new(problems.source());
    items.iter().filter_map(|item| Parameter::decode(item, &mut said_already)).collect()
}

/// `{{params.x}}` and `{{?x}}` can only mean a parameter, so a wrong one is an error before anything runs.
fn check_tokens(declared: &[&str], node: &Node, problems: &mut Problems) {
    match &node.kind {
        Kind::Scalar { raw, .. } => {
            for token in template::tokens(raw) {
                let (name, must_be_param) = match token.path.strip_prefix("params.") {
                    Some(name) => (name, true),
                    None => (token.path, token.drops),
                };
                if must_be_param && !declared.contains(&name) {
                    problems.unknown(node.span, "parameter", name, declared.iter().copied());
                }
            }
        }
        Kind::Seq(items) => items.iter().for_each(|item| check_tokens(declared, item, problems)),
        Kind::Map(entries) => entries.iter().for_each(|(_, value)| check_tokens(declared, value, problems)),
    }
}

fn params(parameters: &[Parameter], problems: &mut Problems) -> Vec<Param> {
    let mut params: Vec<Param> = Vec::new();
    for parameter in parameters {
        let name = &parameter.name;
        if !names::is_parameter(&name.value) {
            problems
                .error(name.span, format!("`{}` is no name for a parameter; use letters, digits and _", name.value));
        }
        if params.iter().any(|earlier| earlier.name == name.value) {
            problems.error(name.span, format!("the parameter `{}` is declared twice", name.value));
        }
        let default = parameter.default.as_ref().and_then(|node| default_value(node, parameter.kind, problems));
        if let (Some(true), Some(node)) = (parameter.required, &parameter.default) {
            problems.error(node.span, "a parameter with a default is not required");
        }
        params.push(Param {
            name: name.value.clone(),
            schema: parameter.kind.json(),
            is_required: parameter.required.unwrap_or(default.is_none()) && default.is_none(),
            default,
            description: parameter.description.trim_end().to_string(),
        });
    }
    params
}

fn default_value(node: &Node, kind: ParameterType, problems: &mut Problems) -> Option<Value> {
    let Kind::Scalar { raw, style, .. } = &node.kind else {
        problems.error(node.span, format!("a default is a single value, not {}", node.noun()));
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
        }
    }
}

impl ToolFile {
    pub fn arguments(&self) -> Schema {
        Schema::from_params(&self.params)
    }
}
