//! Why a tool failed.

use std::any::Any;
use std::error::Error as StdError;
use std::fmt;
use std::panic::Location;

use trailblaze_client::{Code, Error};
use trailblaze_protocol::outcome::Variant;

use crate::output::Output;
use crate::place::{self, Place};

/// What a tool returns: an [`Output`], or what becomes one.
pub type ToolResult<T = Output> = Result<T, ToolError>;

/// Why a tool failed. `?` makes one of every error; those of commands keep their kind, so that a failed assertion stays one.
///
/// As text, it also says where `?` or the panic is: `no such file (src/main.rs:12:9)`.
#[derive(Clone)]
pub struct ToolError {
    variant: Variant,
    message: String,
    code: Option<Code>,
    place: Option<Place>,
}

/// Where it happened makes no difference.
impl PartialEq for ToolError {
    fn eq(&self, other: &ToolError) -> bool {
        (&self.variant, &self.message, self.code) == (&other.variant, &other.message, other.code)
    }
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

    /// What became of a tool that panicked during a [`WatchedCall`](crate::private::WatchedCall).
    pub fn panicked(tool: &str, panic: &(dyn Any + Send)) -> ToolError {
        let text = panic.downcast_ref::<&str>().map(ToString::to_string);
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_string());
        ToolError { place: place::take_of_panic(), ..ToolError::failed(format!("`{tool}` panicked: {text}")) }
    }

    /// A task or thread that a tool started has panicked.
    pub(crate) fn stray_panic(text: &str, place: Option<Place>) -> ToolError {
        let message = format!(
            "something that the tool started panicked: {text}\nhint: return errors from tasks instead, and await the tasks"
        );
        ToolError { place, ..ToolError::failed(message) }
    }

    pub(crate) fn of(variant: Variant, message: impl Into<String>) -> ToolError {
        ToolError { variant, message: message.into(), code: None, place: None }
    }

    pub(crate) fn at(self, location: &Location<'_>) -> ToolError {
        ToolError { place: Place::of_author(location), ..self }
    }

    /// The kind of failure.
    pub fn variant(&self) -> &Variant {
        &self.variant
    }

    /// What went wrong, without the place.
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
                ToolError { code: Some(Code::Unimplemented), ..ToolError::unsupported(message) }
            }
            other => ToolError { code: other.code(), ..ToolError::failed(message) },
        }
    }
}

// It is not an error itself: then every error could not become one.
impl<E: StdError + Send + Sync + 'static> From<E> for ToolError {
    #[track_caller]
    fn from(error: E) -> ToolError {
        let here = Location::caller();
        let error: &(dyn StdError + 'static) = &error;
        if let Some(error) = error.downcast_ref::<Error>() {
            return ToolError::of_command(error).at(here);
        }
        let (mut texts, mut cause) = (Vec::new(), Some(error));
        while let Some(error) = cause {
            texts.push(error.to_string());
            cause = error.source();
        }
        ToolError::failed(texts.join(": ")).at(here)
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => f.write_str(&place.after(&self.message)),
            None => f.write_str(&self.message),
        }
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {self}", self.variant.name())
    }
}
