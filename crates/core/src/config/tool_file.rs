//! `trailblaze-config/tools/*.yaml`: a tool without code, in exactly one of three modes.

use serde_json::{Value, json};
use trailblaze_protocol::driver::Platform;

use crate::schema::{Param, Schema};
use crate::trail::ToolCall;
use crate::yaml::{Decode, Node, Problems, Reading, Spanned, Style, scalar};
use crate::{names, table, words};

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
        let raw = RawToolFile::decode(node, problems)?;
        let mode = mode(&raw, problems);
        if let Some(Mode::Class(_)) = mode {
            for (key, _) in node.entries().unwrap_or_default() {
                let name = key.raw().unwrap_or_default();
                if !matches!(name, "id" | "class") {
                    problems
                        .error(key.span, format!("`{name}` cannot stand beside `class`: the compiled tool brings it"));
                }
            }
        } else {
            for (name, is_missing) in
                [("description", raw.description.is_none()), ("parameters", raw.parameters.is_none())]
            {
                if is_missing {
                    let hint = if name == "parameters" {
                        "a tool that takes none has `parameters: []`"
                    } else {
                        "say what the tool does, for people and models"
                    };
                    problems.error_with_hint(raw.span, format!("`{name}` is missing"), hint);
                }
            }
        }
        let params = raw.parameters.map(|parameters| params(&parameters.value, problems)).unwrap_or_default();
        Some(ToolFile {
            id: raw.id,
            description: raw.description.map(|text| text.value.trim_end().to_string()).unwrap_or_default(),
            params,
            mode: mode?,
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

fn mode(raw: &RawToolFile, problems: &mut Problems) -> Option<Mode> {
    let spans = [
        ("class", raw.class.as_ref().map(|class| class.span)),
        ("tools", raw.tools.as_ref().map(|tools| tools.span)),
        ("script", raw.script.as_ref().map(|script| script.span)),
    ];
    let given: Vec<_> = spans.into_iter().filter_map(|(name, span)| span.map(|span| (name, span))).collect();
    match given.as_slice() {
        [] => {
            problems.error(raw.span, "a tool has one of `class`, `tools` or `script`, and this one has none");
            return None;
        }
        [_] => {}
        [.., (_, span)] => {
            let names: Vec<&str> = given.iter().map(|(name, _)| *name).collect();
            let message =
                format!("a tool has one of `class`, `tools` or `script`, and this one has {}", names.join(" and "));
            problems.error_with_hint(*span, message, "keep one of them");
            return None;
        }
    }
    if let Some(script) = &raw.script {
        if script.value.source.is_some() == script.value.file.is_some() {
            problems.error(script.span, "a script has exactly one of `source` and `file`");
            return None;
        }
    }
    let class = raw.class.clone().map(Mode::Class);
    let tools = raw.tools.clone().map(|tools| Mode::Tools(tools.value));
    class.or(tools).or_else(|| raw.script.clone().map(|script| Mode::Script(script.value)))
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
    let crate::yaml::Kind::Scalar { raw, style, .. } = &node.kind else {
        problems.error(node.span, format!("a default is a single value, not {}", node.noun()));
        return None;
    };
    let style = if kind == ParameterType::String { Style::Quoted } else { *style };
    match scalar(raw, style, &kind.json()) {
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
