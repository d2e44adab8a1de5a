//! What WebDriverAgent answers: a value, or a code word with its status.

use serde_json::{Value, json};

/// Why a command could not be carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WdaFault {
    pub code: &'static str,
    pub status: u16,
    pub message: String,
}

pub type Answer = Result<Value, WdaFault>;

impl WdaFault {
    fn new(code: &'static str, status: u16, message: impl Into<String>) -> WdaFault {
        WdaFault { code, status, message: message.into() }
    }

    pub fn invalid_argument(message: impl Into<String>) -> WdaFault {
        WdaFault::new("invalid argument", 400, message)
    }

    pub fn invalid_selector(message: impl Into<String>) -> WdaFault {
        WdaFault::new("invalid selector", 400, message)
    }

    pub fn invalid_element_state(message: impl Into<String>) -> WdaFault {
        WdaFault::new("invalid element state", 400, message)
    }

    pub fn invalid_session() -> WdaFault {
        WdaFault::new("invalid session id", 404, "A session is either terminated or not started")
    }

    pub fn no_alert() -> WdaFault {
        let message = "An attempt was made to operate on a modal dialog when one was not open";
        WdaFault::new("no such alert", 404, message)
    }

    pub fn no_element(message: impl Into<String>) -> WdaFault {
        WdaFault::new("no such element", 404, message)
    }

    pub fn stale_element() -> WdaFault {
        let message = "An element command failed because the referenced element is no longer attached to the DOM";
        WdaFault::new("stale element reference", 404, message)
    }

    pub fn session_not_created(message: impl Into<String>) -> WdaFault {
        WdaFault::new("session not created", 500, message)
    }

    pub fn unknown(message: impl Into<String>) -> WdaFault {
        WdaFault::new("unknown error", 500, message)
    }

    pub fn unknown_command(what: &str) -> WdaFault {
        WdaFault::new("unknown command", 404, format!("Unhandled endpoint: {what}"))
    }
}

/// The status and the envelope of an answer.
pub fn envelope(answer: Answer, session: Option<&str>) -> (u16, Value) {
    match answer {
        Ok(value) => (200, json!({"value": value, "sessionId": session})),
        Err(WdaFault { code, status, message }) => {
            let value = json!({"error": code, "message": message, "traceback": ""});
            (status, json!({"value": value, "sessionId": session}))
        }
    }
}
