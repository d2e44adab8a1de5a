//! The row type of the tables of built-in tools.

use serde_json::{Value, json};
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::event::ToolKind;

use crate::engine::registry::Batch;
use crate::engine::tool::{Body, BuiltIn, Contributor, Need, Tool};
use crate::names::ToolOrigin;
use crate::schema::{Param, Schema};
use crate::selector;

pub struct Row {
    pub name: &'static str,
    pub kind: ToolKind,
    pub about: &'static str,
    pub params: &'static [ParamRow],
    /// Further parameters.
    pub more: &'static [ParamRow],
    pub platforms: &'static [Platform],
    pub is_for_llm: bool,
    pub is_recordable: bool,
    pub is_delegating: bool,
    pub needs_model: bool,
    pub typed_param: Option<&'static str>,
    pub needs: &'static [Need],
    pub run: BuiltIn,
}

/// A parameter.
pub struct ParamRow {
    pub name: &'static str,
    pub ty: ParamType,
    pub is_required: bool,
    pub default: Option<Preset>,
    pub about: &'static str,
}

pub enum ParamType {
    Text,
    /// A regular expression.
    Pattern,
    Integer,
    Number,
    Flag,
    /// One of these values.
    Word(&'static [&'static str]),
    Selector,
    /// A list of Maestro commands.
    Commands,
    Texts,
    /// A list of any of these values.
    Words(&'static [&'static str]),
    /// The fields of a form, each with its value.
    Fields,
    /// Elements, each by its text, id, description or selector.
    Elements,
    /// Texts by name.
    Map,
    /// Any values by name.
    Object,
    /// Anything that JSON has.
    Any,
}

pub enum Preset {
    Integer(i64),
    Number(f64),
    Flag(bool),
    Word(&'static str),
}

pub const MOBILE: &[Platform] = &[Platform::Android, Platform::Ios];
pub const WEB: &[Platform] = &[Platform::Web];
pub const DESKTOP: &[Platform] = &[Platform::Desktop];
pub const NOT_WEB: &[Platform] = &[Platform::Android, Platform::Ios, Platform::Desktop];

pub const fn required(name: &'static str, ty: ParamType, about: &'static str) -> ParamRow {
    ParamRow { name, ty, is_required: true, default: None, about }
}

pub const fn optional(name: &'static str, ty: ParamType, about: &'static str) -> ParamRow {
    ParamRow { name, ty, is_required: false, default: None, about }
}

pub const fn defaulted(name: &'static str, ty: ParamType, default: Preset, about: &'static str) -> ParamRow {
    ParamRow { name, ty, is_required: false, default: Some(default), about }
}

/// The caller's reason: recorded, but has no effect.
pub const REASON: ParamRow = optional("reasoning", ParamType::Text, "Why you do this.");
/// The same, under the name that some tools have in the Kotlin version of Trailblaze.
pub const WHY: ParamRow = optional("reason", ParamType::Text, "Why you do this.");
/// Every tool that waits takes this parameter.
pub const TIMEOUT: ParamRow =
    optional("timeoutMs", ParamType::Integer, "How long to wait, in milliseconds (default 5000).");

impl Row {
    pub const fn new(
        name: &'static str,
        kind: ToolKind,
        about: &'static str,
        params: &'static [ParamRow],
        run: BuiltIn,
    ) -> Row {
        // A query changes nothing, so there is nothing to replay.
        let is_recordable = matches!(kind, ToolKind::Action | ToolKind::Assertion);
        Row {
            name,
            kind,
            about,
            params,
            more: &[],
            platforms: &[],
            is_for_llm: true,
            is_recordable,
            is_delegating: false,
            needs_model: false,
            typed_param: None,
            needs: &[],
            run,
        }
    }

    pub const fn action(name: &'static str, about: &'static str, params: &'static [ParamRow], run: BuiltIn) -> Row {
        Row::new(name, ToolKind::Action, about, params, run)
    }

    pub const fn query(name: &'static str, about: &'static str, params: &'static [ParamRow], run: BuiltIn) -> Row {
        Row::new(name, ToolKind::Query, about, params, run)
    }

    pub const fn assertion(name: &'static str, about: &'static str, params: &'static [ParamRow], run: BuiltIn) -> Row {
        Row::new(name, ToolKind::Assertion, about, params, run)
    }

    pub const fn on(self, platforms: &'static [Platform]) -> Row {
        Row { platforms, ..self }
    }

    /// Adds parameters.
    pub const fn and(self, more: &'static [ParamRow]) -> Row {
        Row { more, ..self }
    }

    /// Hides the tool from models; recordings and other tools can still call it.
    pub const fn hidden(self) -> Row {
        Row { is_for_llm: false, ..self }
    }

    /// Marks a tool that asks a model each time, so that it cannot be replayed without one.
    pub const fn needing_a_model(self) -> Row {
        Row { is_recordable: false, needs_model: true, ..self }
    }

    /// Marks a tool that types this parameter into a field.
    pub const fn typing(self, param: &'static str) -> Row {
        Row { typed_param: Some(param), ..self }
    }

    /// States which of the optional parameters a call needs.
    pub const fn needing(self, needs: &'static [Need]) -> Row {
        Row { needs, ..self }
    }

    /// Marks a tool that returns delegates, which are recorded in its place.
    pub const fn delegating(self) -> Row {
        Row { is_delegating: true, is_recordable: false, ..self }
    }

    fn tool(&self) -> Tool {
        let params: Vec<Param> = self.params.iter().chain(self.more).map(ParamRow::param).collect();
        let mut tool = Tool::new(
            self.name,
            self.about,
            Schema::from_params(&params).ignoring_case(),
            contributor(),
            Body::BuiltIn(self.run),
        );
        tool.kind = self.kind;
        tool.is_for_llm = self.is_for_llm;
        tool.is_recordable = self.is_recordable;
        tool.is_delegating = self.is_delegating;
        tool.needs_model = self.needs_model;
        tool.typed_param = self.typed_param;
        tool.needs = self.needs;
        tool.supported_platforms = self.platforms.to_vec();
        tool
    }
}

impl ParamRow {
    fn param(&self) -> Param {
        Param {
            name: self.name.to_string(),
            schema: self.ty.json(),
            is_required: self.is_required,
            default: self.default.as_ref().map(Preset::json),
            description: self.about.to_string(),
        }
    }
}

impl ParamType {
    fn json(&self) -> Value {
        match self {
            ParamType::Text => json!({"type": "string"}),
            ParamType::Pattern => json!({"type": "string", "format": "regex"}),
            ParamType::Integer => json!({"type": "integer"}),
            ParamType::Number => json!({"type": "number"}),
            ParamType::Flag => json!({"type": "boolean"}),
            ParamType::Word(words) => json!({"enum": words}),
            ParamType::Selector => selector::json_schema(),
            ParamType::Commands => super::maestro::schema(),
            ParamType::Texts => json!({"type": "array", "items": {"type": "string"}}),
            ParamType::Words(words) => json!({"type": "array", "items": {"enum": words}}),
            ParamType::Elements => json!({"type": "array", "items": super::checks::element_schema()}),
            ParamType::Map => json!({"type": "object", "additionalProperties": {"type": "string"}}),
            ParamType::Object => json!({"type": "object"}),
            ParamType::Any => json!({}),
            ParamType::Fields => json!({
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "properties": {
                        "ref": {"type": "string"}, "nodeSelector": selector::json_schema(), "index": {"type": "integer"}, "value": {},
                    },
                    "required": ["value"],
                    "additionalProperties": false,
                },
            }),
        }
    }
}

impl Preset {
    fn json(&self) -> Value {
        match self {
            Preset::Integer(number) => json!(number),
            Preset::Number(number) => json!(number),
            Preset::Flag(flag) => json!(flag),
            Preset::Word(word) => json!(word),
        }
    }
}

pub fn contributor() -> Contributor {
    Contributor::new("built-in", ToolOrigin::BuiltIn)
}

pub fn batch<'a>(commands: impl Iterator<Item = Row>, rows: impl Iterator<Item = &'a Row>) -> Batch {
    let commands = commands.map(|row| row.tool());
    Batch::new(contributor(), commands.chain(rows.map(Row::tool)).collect())
}
