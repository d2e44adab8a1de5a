//! Why a call did not succeed.

use std::fmt;

/// Why a call did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An action was carried out and failed.
    #[error("{message}")]
    ActionFailed {
        /// Why it failed.
        message: String,
        /// The kind of failure, such as `MissingRequiredArgs`.
        variant: String,
    },
    /// An assertion is false.
    #[error("{message}")]
    AssertionFailed {
        /// What was expected and what was seen.
        message: String,
        /// `AssertionFailed`, or why it could not be checked.
        variant: String,
    },
    /// The call could not be carried out.
    #[error("{message} ({code})")]
    Api {
        /// The reason.
        code: Code,
        /// What is wrong, in words.
        message: String,
    },
    /// A request has nothing about Trailblaze in its `_meta`.
    #[error("the request was not made by Trailblaze: its `_meta` has no `trailblaze`")]
    NoContext,
}

impl Error {
    /// A call that could not be carried out.
    pub fn api(code: Code, message: impl Into<String>) -> Error {
        Error::Api { code, message: message.into() }
    }

    /// The reason why the call could not be carried out; none if it was carried out and failed.
    pub fn code(&self) -> Option<Code> {
        match self {
            Error::Api { code, .. } => Some(*code),
            _ => None,
        }
    }
}

macro_rules! codes {
    ($($name:ident $text:literal $doc:literal,)*) => {
        /// The codes of Connect and gRPC.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $doc] $name,)*
        }

        impl Code {
            /// All codes.
            pub const ALL: &[Code] = &[$(Code::$name),*];

            /// As it is sent, such as `not_found`.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Code::$name => $text,)*
                }
            }
        }
    };
}

codes! {
    Canceled "canceled" "The call was cancelled.",
    Unknown "unknown" "The response has no code that this client knows.",
    InvalidArgument "invalid_argument" "A parameter is wrong; the message names it.",
    DeadlineExceeded "deadline_exceeded" "The call took too long. It may have been carried out.",
    NotFound "not_found" "The invocation id is unknown, or its call has ended.",
    AlreadyExists "already_exists" "Not used by Trailblaze.",
    PermissionDenied "permission_denied" "The id belongs to another session or device.",
    ResourceExhausted "resource_exhausted" "The request or the response is too large.",
    FailedPrecondition "failed_precondition" "No id, and not exactly one tool call in progress; or there is no model, or the tool may not ask it.",
    Aborted "aborted" "Not used by Trailblaze.",
    OutOfRange "out_of_range" "A stream was read too slowly; the message has the number to continue after.",
    Unimplemented "unimplemented" "The device does not support the command, or Trailblaze has no such method.",
    Internal "internal" "A bug in Trailblaze, or a response that is not a valid one.",
    Unavailable "unavailable" "Trailblaze cannot be reached, or the device or a tool server is gone.",
    DataLoss "data_loss" "Not used by Trailblaze.",
    Unauthenticated "unauthenticated" "The session key is unknown, or its session has ended.",
}

impl Code {
    /// The code with this name, such as `not_found`.
    pub fn parse(text: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.as_str() == text)
    }

    /// What an HTTP status means if the body does not tell.
    pub(crate) fn of_status(status: u16) -> Code {
        match status {
            400 => Code::Internal,
            401 => Code::Unauthenticated,
            403 => Code::PermissionDenied,
            404 => Code::Unimplemented,
            429 | 502..=504 => Code::Unavailable,
            _ => Code::Unknown,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
