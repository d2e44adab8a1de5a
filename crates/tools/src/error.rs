//! Why a tool failed.

use std::any::Any;
use std::error::Error as StdError;
use std::fmt;

use trailblaze_client::{Code, Error};
use trailblaze_protocol::outcome::Variant;

use crate::output::Output;

/// What a tool returns: an [`Output`], or what becomes one.
pub type ToolResult<T = Output> = Result<T, ToolError>;

/// Why a tool failed. `?` makes one of every error; those of commands keep their kind, so that a failed assertion stays one.
#[derive(Clone, PartialEq)]
pub struct ToolError {
    variant: Variant,
    message: String,
    code: Option<Code>,
}

impl ToolError {
    /// The tool failed.
    pub fn failed(message: impl Into<String>) -> ToolError {
        ToolError::of(Variant::ExceptionThrown, message)
    }

    /// The tool failed, and nothing can follow: the trail ends.
    pub fn fatal(message: impl Into<String>) -> ToolError {
        ToolError::of(Variant::FatalError, message)
    }

    /// What the tool checked is not so.
    pub fn assertion(message: impl Into<String>) -> ToolError {
        ToolError::of(Variant::AssertionFailed, message)
    }

    /// The device does not support what the tool does.
    pub fn unsupported(message: impl Into<String>) -> ToolError {
        ToolError::of(Variant::Unsupported, message)
    }

    /// What became of a tool that panicked.
    pub fn panicked(tool: &str, panic: &(dyn Any + Send)) -> ToolError {
        let text = panic.downcast_ref::<&str>().map(ToString::to_string);
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_string());
        ToolError::failed(format!("`{tool}` panicked: {text}"))
    }

    pub(crate) fn of(variant: Variant, message: impl Into<String>) -> ToolError {
        ToolError { variant, message: message.into(), code: None }
    }

    /// The kind of failure.
    pub fn variant(&self) -> &Variant {
        &self.variant
    }

    pub fn message(&self) -> &str {
        &self.message
    }

    /// Why a command could not be carried out, if that is the reason.
    pub fn code(&self) -> Option<Code> {
        self.code
    }

    fn of_command(error: &Error) -> ToolError {
        let message = error.to_string();
        match error {
            Error::ActionFailed { variant, .. } | Error::AssertionFailed { variant, .. } => {
                ToolError::of(Variant::from_name(variant, Vec::new()), message)
            }
            Error::Api { code: Code::Unimplemented, .. } => {
                ToolError { variant: Variant::Unsupported, message, code: Some(Code::Unimplemented) }
            }
            other => ToolError { variant: Variant::ExceptionThrown, message, code: other.code() },
        }
    }
}

// It is not an error itself: then every error could not become one.
impl<E: StdError + Send + Sync + 'static> From<E> for ToolError {
    fn from(error: E) -> ToolError {
        let error: &(dyn StdError + 'static) = &error;
        if let Some(error) = error.downcast_ref::<Error>() {
            return ToolError::of_command(error);
        }
        let (mut texts, mut cause) = (Vec::new(), Some(error));
        while let Some(error) = cause {
            texts.push(error.to_string());
            cause = error.source();
        }
        ToolError::failed(texts.join(": "))
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.variant.name(), self.message)
    }
}
