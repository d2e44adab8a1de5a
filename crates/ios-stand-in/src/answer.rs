//! What WebDriverAgent answers: a value, or a code word with its status.

use serde_json::{Value, json};

/// Why a command could not be carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebDriverError {
    pub code: &'static str,
    pub status: u16,
    pub message: String,
}

pub type WdaAnswer = Result<Value, WebDriverError>;

impl WebDriverError {
    fn new(code: &'static str, status: u16, message: impl Into<String>) -> WebDriverError {
        WebDriverError { code, status, message: message.into() }
    }

    pub fn invalid_argument(message: impl Into<String>) -> WebDriverError {
        WebDriverError::new("invalid argument", 400, message)
    }

    pub fn invalid_selector(message: impl Into<String>) -> WebDriverError {
        WebDriverError::new("invalid selector", 400, message)
    }

    pub fn invalid_element_state(message: impl Into<String>) -> WebDriverError {
        WebDriverError::new("invalid element state", 400, message)
    }

    pub fn invalid_session() -> WebDriverError {
        WebDriverError::new("invalid session id", 404, "A session is either terminated or not started")
    }

    pub fn no_alert() -> WebDriverError {
        let message = "An attempt was made to operate on a modal dialog when one was not open";
        WebDriverError::new("no such alert", 404, message)
    }

    pub fn no_element(message: impl Into<String>) -> WebDriverError {
        WebDriverError::new("no such element", 404, message)
    }

    pub fn stale_element() -> WebDriverError {
        let message = "An element command failed because the referenced element is no longer attached to the DOM";
        WebDriverError::new("stale element reference", 404, message)
    }

    pub fn session_not_created(message: impl Into<String>) -> WebDriverError {
        WebDriverError::new("session not created", 500, message)
    }

    pub fn unexpected_alert() -> WebDriverError {
        let message = "A modal dialog was open, blocking this operation";
        WebDriverError::new("unexpected alert open", 500, message)
    }

    pub fn timeout() -> WebDriverError {
        let message = "The operation did not complete before its timeout expired";
        WebDriverError::new("timeout", 408, message)
    }

    pub fn unable_to_capture() -> WebDriverError {
        WebDriverError::new("unable to capture screen", 500, "A screen capture operation could not be completed")
    }

    pub fn unknown_method(what: &str) -> WebDriverError {
        let message =
            format!("The requested command matched a known URL but did not match a method for that URL: {what}");
        WebDriverError::new("unknown method", 405, message)
    }

    pub fn unknown(message: impl Into<String>) -> WebDriverError {
        WebDriverError::new("unknown error", 500, message)
    }

    pub fn unknown_command(what: &str) -> WebDriverError {
        WebDriverError::new("unknown command", 404, format!("Unhandled endpoint: {what}"))
    }
}

/// The status and the envelope of an answer.
pub fn envelope(answer: WdaAnswer, session: Option<&str>) -> (u16, Value) {
    match answer {
        Ok(value) => (200, json!({"value": value, "sessionId": session})),
        Err(WebDriverError { code, status, message }) => {
            let value = json!({"error": code, "message": message, "traceback": ""});
            (status, json!({"value": value, "sessionId": session}))
        }
    }
}
