//! The result of a tool call. Built-in, YAML and server tools all return an [`Outcome`].

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The result of a tool that ran, whether it succeeded or not.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// Success, or the kind of error.
    pub variant: Variant,
    /// The result, or the error message, for people and models to read. Absent if empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The result as JSON. Absent if the tool returned none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// Files that the tool returned. Absent if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// Calls that Trailblaze makes, and records, in place of this one. Absent if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delegates: Vec<Delegate>,
    /// Changes of the attempt's memory. Absent if empty.
    #[serde(default, skip_serializing_if = "MemoryChanges::is_empty")]
    pub memory: MemoryChanges,
}

/// The kind of an outcome. Everything but `success` is an error.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Variant {
    /// It worked.
    #[default]
    Success,
    /// The tool failed. Unknown variants are read as this one.
    ExceptionThrown,
    /// Ends the trail. Never retried or healed.
    FatalError,
    /// Required arguments are missing.
    MissingRequiredArgs {
        /// The names of the missing arguments.
        missing: Vec<String>,
    },
    /// A Maestro command is invalid.
    MaestroValidationError,
    /// An assertion is false. Never healed.
    AssertionFailed,
    /// The device does not support the action.
    Unsupported,
}

impl Variant {
    pub fn is_success(&self) -> bool {
        *self == Variant::Success
    }

    /// The name that tool servers and callers use.
    pub fn name(&self) -> &'static str {
        match self {
            Variant::Success => "Success",
            Variant::ExceptionThrown => "ExceptionThrown",
            Variant::FatalError => "FatalError",
            Variant::MissingRequiredArgs { .. } => "MissingRequiredArgs",
            Variant::MaestroValidationError => "MaestroValidationError",
            Variant::AssertionFailed => "AssertionFailed",
            Variant::Unsupported => "Unsupported",
        }
    }

    /// Reads the name that a tool server sent; an unknown name becomes [`Variant::ExceptionThrown`].
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

/// A file that a tool returned. Its bytes are not part of the JSON; they are stored in the run folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    /// The name that the tool gave it.
    pub name: String,
    /// Its MIME type.
    pub mime: String,
    /// The stored file, relative to the run folder. Absent until it is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip)]
    pub bytes: Arc<[u8]>,
}

/// A call that a tool returned to be made in its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Delegate {
    /// The name of the tool to call.
    pub tool: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Map<String, Value>,
}

/// Changes of an attempt's memory.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct MemoryChanges {
    /// Values to set, by name. Absent if empty.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub set: Map<String, Value>,
    /// Names to delete. Absent if empty.
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

    /// Whether it passed although it contains `success: false`: in its value, or in a text that is only JSON. The author of the
    /// tool most likely meant a failure.
    pub fn says_it_failed(&self) -> bool {
        let says_so = |value: &Value| value.get("success") == Some(&Value::Bool(false));
        let in_text = |text: &str| {
            // Avoids parsing texts that cannot match.
            let may_say_so = text.trim_start().starts_with('{') && text.contains("\"success\"");
            may_say_so && serde_json::from_str(text).is_ok_and(|value| says_so(&value))
        };
        let further = self.attachments.iter().filter(|attachment| attachment.mime == "text/plain");
        !self.is_error()
            && (self.structured.as_ref().is_some_and(says_so)
                || in_text(&self.text)
                || further.filter_map(|text| std::str::from_utf8(&text.bytes).ok()).any(in_text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_variant_is_read_as_a_thrown_exception() {
        assert_eq!(Variant::from_name("FatalError", vec![]), Variant::FatalError);
        assert_eq!(Variant::from_name("Whatever", vec![]), Variant::ExceptionThrown);
    }
}
