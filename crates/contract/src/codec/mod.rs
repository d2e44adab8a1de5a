//! Reads and writes messages by their tables. In between, a message is a JSON object with the JSON names of its fields: enum
//! values are words without their prefix, bytes are base64, and absent fields are missing.

mod binary;
mod json;

use std::borrow::Cow;

pub use binary::{from_binary, to_binary};
pub use json::{from_json, from_value, to_json, to_value};

/// Why a message cannot be read or written. The text names the field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    #[error("the message is not JSON: {0}")]
    NotJson(String),
    #[error("the message must be a JSON object, got {0}")]
    NotObject(String),
    #[error("`{field}` must be {expected}, got {got}")]
    Type { field: String, expected: String, got: String },
    #[error("`{field}` must be one of {known}, got `{got}`")]
    Word { field: String, known: String, got: String },
    #[error("the message is cut off{}", .0.as_ref().map(|field| format!(" in `{field}`")).unwrap_or_default())]
    CutOff(Option<String>),
    #[error("the message has a field with the number {0}")]
    FieldNumber(u64),
    #[error("`{0}` is not UTF-8")]
    NotUtf8(String),
    #[error("`{field}` has the wire type {got}, expected {expected}")]
    WireType { field: String, expected: u8, got: u8 },
    #[error("the message is nested deeper than {DEPTH}")]
    TooDeep,
}

/// How deeply messages and JSON values may be nested.
const DEPTH: usize = 100;

/// What an error calls a field: its JSON name, in its parents.
#[derive(Clone, Copy)]
struct FieldPath<'a> {
    parent: Option<&'a FieldPath<'a>>,
    name: &'a str,
    depth: usize,
}

impl<'a> FieldPath<'a> {
    const ROOT: FieldPath<'static> = FieldPath { parent: None, name: "", depth: 0 };

    fn inner(&'a self, name: &'a str) -> Result<FieldPath<'a>, CodecError> {
        if self.depth >= DEPTH {
            return Err(CodecError::TooDeep);
        }
        Ok(FieldPath { parent: Some(self), name, depth: self.depth + 1 })
    }
}

impl std::fmt::Display for FieldPath<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(parent) = self.parent
            && !parent.name.is_empty()
        {
            write!(f, "{parent}.")?;
        }
        f.write_str(&shorten(self.name))
    }
}

/// The longest text of a caller that an error repeats.
const SHOWN_CHARS: usize = 40;

fn shorten(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

fn unknown_word(path: &FieldPath<'_>, listed: &crate::Enum, got: &str) -> CodecError {
    let known: Vec<&str> = listed.words.iter().map(|(word, _)| *word).collect();
    CodecError::Word { field: path.to_string(), known: known.join(", "), got: shorten(got).into_owned() }
}
