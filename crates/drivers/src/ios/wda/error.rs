//! Why a request to WebDriverAgent failed.

use trailblaze_core::driver::{DriverError, cut};
use trailblaze_core::screen::fold;

use super::address::WdaAddress;

/// The longest message of WebDriverAgent that is passed on, in bytes.
const MESSAGE: usize = 500;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WdaError {
    #[error("no WebDriverAgent answers at {address}: {why}")]
    Unreachable { address: WdaAddress, why: String },
    #[error("WebDriverAgent at {address} closed the connection during `{doing}`: {why}")]
    Closed { address: WdaAddress, doing: String, why: String },
    /// Something answers, but not as WebDriverAgent does.
    #[error("what answers at {address} is not WebDriverAgent: `{doing}` returned {what}")]
    NotWda { address: WdaAddress, doing: String, what: String },
    #[error("the answer of WebDriverAgent to `{doing}` is larger than {limit} bytes")]
    TooLarge { doing: String, limit: usize },
    /// It still does what it was asked before, as far as can be known.
    #[error(
        "WebDriverAgent at {address} is slow: it has worked on `{doing}` for {seconds} s and answers nothing else meanwhile; \
         a screen with very many elements takes long"
    )]
    Busy { address: WdaAddress, doing: String, seconds: u64 },
    /// It accepts requests, and answers none, or not those that matter.
    #[error("WebDriverAgent at {address} hangs: {evidence}; restart it")]
    Hung { address: WdaAddress, evidence: String },
    /// Each session that is made is gone at once.
    #[error("WebDriverAgent at {address} drops every session; another program may be using it: Appium, mobile-mcp")]
    SessionTaken { address: WdaAddress },
    #[error("WebDriverAgent did not answer `{doing}` in time")]
    TimedOut { doing: String },
    #[error("cancelled")]
    Cancelled,
    /// WebDriverAgent answered that it could not do it.
    #[error("{0}")]
    Failed(WdaFault),
}

/// What WebDriverAgent says about a command that it could not carry out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WdaFault {
    pub code: WdaCode,
    /// The method and the route, without ids and arguments, which may be secret.
    pub doing: String,
    pub message: String,
}

impl std::fmt::Display for WdaFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` failed in WebDriverAgent ({})", self.doing, self.code.word())?;
        let message = cut(&fold(&self.message), MESSAGE);
        if message.is_empty() { Ok(()) } else { write!(f, ": {message}") }
    }
}

macro_rules! codes {
    ($($variant:ident $word:literal,)*) => {
        /// The code words of WebDriverAgent.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum WdaCode {
            $($variant,)*
            /// One that is not in this list.
            Other(String),
        }

        impl WdaCode {
            pub fn parse(word: &str) -> WdaCode {
                match word {
                    $($word => WdaCode::$variant,)*
                    other => WdaCode::Other(cut(other, 80)),
                }
            }

            pub fn word(&self) -> &str {
                match self {
                    $(WdaCode::$variant => $word,)*
                    WdaCode::Other(word) => word,
                }
            }
        }
    };
}

codes! {
    ElementNotVisible "element not visible",
    InvalidArgument "invalid argument",
    InvalidCoordinates "invalid coordinates",
    InvalidElementState "invalid element state",
    InvalidSelector "invalid selector",
    InvalidSessionId "invalid session id",
    NoSuchAlert "no such alert",
    NoSuchElement "no such element",
    SessionNotCreated "session not created",
    StaleElement "stale element reference",
    Timeout "timeout",
    UnableToCapture "unable to capture screen",
    UnexpectedAlert "unexpected alert open",
    UnknownCommand "unknown command",
    UnknownError "unknown error",
    UnknownMethod "unknown method",
    Unsupported "unsupported operation",
}

impl WdaError {
    /// The error of a device that could not be acquired.
    pub fn not_started(self) -> DriverError {
        match self {
            WdaError::TimedOut { .. } | WdaError::Busy { .. } | WdaError::Cancelled => self.into(),
            error => DriverError::NotStarted { evidence: error.to_string() },
        }
    }

    /// Whether an element that WebDriverAgent has found is no longer known to it.
    pub fn is_about_a_lost_element(&self) -> bool {
        matches!(self.code(), Some(WdaCode::StaleElement | WdaCode::NoSuchElement))
    }

    /// The code word, if WebDriverAgent answered that it could not do it.
    pub fn code(&self) -> Option<&WdaCode> {
        match self {
            WdaError::Failed(fault) => Some(&fault.code),
            _ => None,
        }
    }
}

impl From<WdaError> for DriverError {
    fn from(error: WdaError) -> DriverError {
        let text = error.to_string();
        match error {
            WdaError::Cancelled => DriverError::Cancelled,
            WdaError::TimedOut { doing } => {
                DriverError::TimedOut { what: format!("WebDriverAgent did not answer `{doing}`") }
            }
            WdaError::Busy { .. } => DriverError::TimedOut { what: text },
            WdaError::Unreachable { .. }
            | WdaError::Closed { .. }
            | WdaError::Hung { .. }
            | WdaError::SessionTaken { .. } => DriverError::Lost { evidence: text },
            // A proxy in front of it may have had a bad moment.
            WdaError::NotWda { .. } | WdaError::TooLarge { .. } => DriverError::Refused { reason: text },
            WdaError::Failed(fault) => match fault.code {
                WdaCode::StaleElement | WdaCode::InvalidCoordinates => DriverError::Evaded { how: text },
                WdaCode::Timeout => DriverError::TimedOut { what: text },
                WdaCode::UnknownCommand | WdaCode::UnknownMethod => {
                    DriverError::Refused { reason: format!("{text}; a newer WebDriverAgent may know it") }
                }
                _ => DriverError::Refused { reason: text },
            },
        }
    }
}
