//! What a tool returns.

use std::panic::Location;

use serde::Serialize;
use serde_json::Value;
use trailblaze_protocol::outcome::Delegate;

use crate::error::{ToolError, ToolResult};
use crate::strict_json;

/// The result of a tool that succeeded.
///
/// ```
/// use serde_json::json;
/// use trailblaze_tools::Output;
///
/// let text: Output = "signed in".into();
/// let value = Output::from(json!({"attempts": 2})).with_text("signed in at the second attempt");
/// let delegates = Output::default().delegate("tap", json!({"text": "Pay"})).delegate("pressBack", json!({}));
/// # let _ = (text, value, delegates);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Output {
    pub text: String,
    /// The result as data.
    pub value: Option<Value>,
    /// Calls that Trailblaze makes, and records, in place of this one.
    pub delegates: Vec<Delegate>,
}

impl Output {
    #[must_use]
    pub fn with_text(self, text: impl Into<String>) -> Output {
        Output { text: text.into(), ..self }
    }

    #[must_use]
    pub fn with_value(self, value: impl Into<Value>) -> Output {
        Output { value: Some(value.into()), ..self }
    }

    /// Adds a call that Trailblaze makes in place of this one. `args` is an object, as `json!` makes it.
    #[must_use]
    pub fn delegate(mut self, tool: impl Into<String>, args: impl Into<Value>) -> Output {
        let args = match args.into() {
            Value::Object(args) => args,
            _ => serde_json::Map::new(),
        };
        self.delegates.push(Delegate { tool: tool.into(), args });
        self
    }
}

impl Output {
    /// Its text, or its value as text.
    pub fn shown_text(&self) -> String {
        match &self.value {
            Some(Value::String(text)) if self.text.is_empty() => text.clone(),
            Some(value) if self.text.is_empty() => value.to_string(),
            _ => self.text.clone(),
        }
    }
}

impl From<&str> for Output {
    fn from(text: &str) -> Output {
        Output::default().with_text(text)
    }
}

impl From<String> for Output {
    fn from(text: String) -> Output {
        Output::default().with_text(text)
    }
}

impl From<Value> for Output {
    fn from(value: Value) -> Output {
        Output::default().with_value(value)
    }
}

impl From<()> for Output {
    fn from((): ()) -> Output {
        Output::default()
    }
}

/// A value of the author's type, returned as data: `Ok(Json(summary))`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Json<T>(pub T);

/// What a tool can return.
pub trait IntoOutput {
    /// If it fails, the message names the place of the caller.
    #[track_caller]
    fn into_output(self) -> ToolResult;
}

impl<T: Into<Output>> IntoOutput for T {
    fn into_output(self) -> ToolResult {
        Ok(self.into())
    }
}

impl<T: Serialize> IntoOutput for Json<T> {
    #[track_caller]
    fn into_output(self) -> ToolResult {
        let here = Location::caller();
        let value = strict_json::to_value(&self.0);
        value
            .map(Output::from)
            .map_err(|why| ToolError::failed(format!("the result cannot be passed on: {why}")).at(here))
    }
}
