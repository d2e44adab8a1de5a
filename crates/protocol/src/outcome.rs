//! What a tool call came to. Built-in, YAML and foreign tools all answer with an [`Outcome`].

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    pub variant: Variant,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// Calls that Trailblaze is to make, and to record, in place of this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delegates: Vec<Delegate>,
    #[serde(default, skip_serializing_if = "MemoryChanges::is_empty")]
    pub memory: MemoryChanges,
}

/// The kind of an answer. Only [`Variant::Success`] is no error.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Variant {
    #[default]
    Success,
    /// The tool failed in the ordinary way; also what an unknown variant means.
    ExceptionThrown,
    /// Ends the trail; is never retried or healed.
    FatalError,
    MissingRequiredArgs {
        missing: Vec<String>,
    },
    MaestroValidationError,
    /// An assertion is false. Never healed.
    AssertionFailed,
    /// The device has no such command.
    Unsupported,
}

impl Variant {
    /// Reads the name that a foreign tool gave; an unknown one is an ordinary failure.
    pub fn from_name(name: &str, missing: Vec<String>) -> Variant {
        match name {
            "FatalError" => Variant::FatalError,
            "MissingRequiredArgs" => Variant::MissingRequiredArgs { missing },
            "MaestroValidationError" => Variant::MaestroValidationError,
            "AssertionFailed" => Variant::AssertionFailed,
            "Unsupported" => Variant::Unsupported,
            _ => Variant::ExceptionThrown,
        }
    }
}

/// A file that came with an answer. Its bytes leave memory when the run folder has stored them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    pub name: String,
    pub mime: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip)]
    pub bytes: Arc<[u8]>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Delegate {
    pub tool: String,
    #[serde(default)]
    pub args: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct MemoryChanges {
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub set: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deleted: Vec<String>,
}

impl MemoryChanges {
    pub fn is_empty(&self) -> bool {
        self.set.is_empty() && self.deleted.is_empty()
    }
}

impl Outcome {
    pub fn success(text: impl Into<String>) -> Outcome {
        Outcome { text: text.into(), ..Outcome::default() }
    }

    pub fn value(text: impl Into<String>, structured: Value) -> Outcome {
        Outcome { text: text.into(), structured: Some(structured), ..Outcome::default() }
    }

    pub fn failed(text: impl Into<String>) -> Outcome {
        Outcome::error(Variant::ExceptionThrown, text)
    }

    pub fn error(variant: Variant, text: impl Into<String>) -> Outcome {
        Outcome { variant, text: text.into(), ..Outcome::default() }
    }

    pub fn delegating(delegates: Vec<Delegate>) -> Outcome {
        Outcome { delegates, ..Outcome::default() }
    }

    pub fn is_error(&self) -> bool {
        self.variant != Variant::Success
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_variant_is_an_ordinary_failure() {
        assert_eq!(Variant::from_name("FatalError", vec![]), Variant::FatalError);
        assert_eq!(Variant::from_name("Whatever", vec![]), Variant::ExceptionThrown);
    }
}
