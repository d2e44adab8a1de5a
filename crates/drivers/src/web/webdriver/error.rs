//! Why a WebDriver command failed. The words of each message say what to do.

use serde::{Deserialize, Serialize};

use super::super::backend::BackendError;

/// The code of a W3C error for a dialog that blocks its page.
pub const ALERT_OPEN: &str = "unexpected alert open";
const INVALID_SESSION: &str = "invalid session id";
const JAVASCRIPT: &str = "javascript error";
/// What endpoints say when the browser of a session or its node is gone, which has no code of the standard: chromedriver, WebKitWebDriver,
/// geckodriver, and a Selenium Grid that cannot reach a node.
const SESSION_ENDS: [&str; 7] = [
    "tab crashed",
    "not reachable",
    "disconnected",
    "session deleted",
    "has closed the connection",
    "Failed to decode response from marionette",
    "Unable to execute request for an existing session",
];
/// An error without a code of its own.
const UNKNOWN: &str = "unknown error";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum EndpointError {
    #[error("no WebDriver endpoint can be reached at {address}: {why}; check `webdriver:` and whether it runs")]
    Unreachable { address: String, why: String },
    #[error("{address} broke the connection off during `{doing}`: {why}")]
    BrokeOff { address: String, doing: String, why: String },
    #[error(
        "{address} refuses our credentials with {status}: set `credentials:` of the device, and the variable that it names"
    )]
    Unauthorized { address: String, status: u16 },
    #[error("{address} is no WebDriver endpoint: it answers `{doing}` with {what}; many have a path such as /wd/hub")]
    NotWebDriver { address: String, doing: String, what: String },
    /// Something between us and the endpoint answered in its place.
    #[error("{address} is not available: it answers `{doing}` with {what}")]
    Unavailable { address: String, doing: String, what: String },
    #[error("{address} has answered neither `{doing}` for {seconds} s nor `GET /status`: it hangs")]
    Hangs { address: String, doing: String, seconds: u64 },
    #[error("`{doing}` failed: {code}: {message}")]
    Failed { code: String, doing: String, message: String, alert: Option<String> },
}

impl EndpointError {
    /// The text of the dialog that was in the way.
    pub fn alert(&self) -> Option<&str> {
        match self {
            EndpointError::Failed { code, alert, .. } if code == ALERT_OPEN => {
                Some(alert.as_deref().unwrap_or_default())
            }
            _ => None,
        }
    }

    pub fn is_code(&self, wanted: &str) -> bool {
        matches!(self, EndpointError::Failed { code, .. } if code == wanted)
    }

    /// Whether the same request may succeed a moment later, because it did not reach the endpoint.
    pub fn is_passing(&self) -> bool {
        matches!(self, EndpointError::BrokeOff { .. } | EndpointError::Unavailable { .. })
    }

    /// Why the session is over, if this error says so. A browser that is gone has no code of its own.
    pub fn end_of_session(&self) -> Option<String> {
        match self {
            EndpointError::Failed { code, message, .. } => {
                // What a script of the page throws may have any words.
                let says_it = |end: &&str| code.contains(end) || message.contains(end);
                let is_over = code == INVALID_SESSION || (code != JAVASCRIPT && SESSION_ENDS.iter().any(says_it));
                let why = if message.is_empty() { code } else { message };
                is_over.then(|| format!("the session ended: {why}"))
            }
            EndpointError::NotWebDriver { .. } | EndpointError::Unauthorized { .. } => Some(self.to_string()),
            EndpointError::Unreachable { .. } | EndpointError::Hangs { .. } => Some(self.to_string()),
            EndpointError::BrokeOff { .. } | EndpointError::Unavailable { .. } => Some(self.to_string()),
        }
    }

    /// What it means for a page.
    pub fn in_page(self) -> BackendError {
        if self.end_of_session().is_some() {
            return BackendError::Gone;
        }
        match self {
            EndpointError::Failed { code, message, .. } if code == JAVASCRIPT => {
                // A document that goes away ends its scripts with an error of theirs.
                match ["unloaded", "unload event", "aborted by navigation"].iter().any(|sign| message.contains(sign)) {
                    true => BackendError::Refused(message),
                    false => BackendError::Threw(message),
                }
            }
            EndpointError::Failed { code, .. } if code == "script timeout" => {
                BackendError::Threw("it did not end in time".to_string())
            }
            EndpointError::Failed { code, message, .. } if code == UNKNOWN => BackendError::Refused(message),
            EndpointError::Failed { code, message, .. } if message.is_empty() => BackendError::Refused(code),
            EndpointError::Failed { code, message, .. } => BackendError::Refused(format!("{code}: {message}")),
            error => BackendError::Refused(error.to_string()),
        }
    }
}

/// The first line of a message, without the code that chromedriver repeats in it.
pub fn first_line<'m>(code: &str, message: &'m str) -> &'m str {
    let line = message.lines().next().unwrap_or_default().trim();
    let plain = line.strip_prefix(code).map(|rest| rest.trim_start_matches(':').trim());
    plain.unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(code: &str, message: &str) -> EndpointError {
        let message = first_line(code, message).to_string();
        EndpointError::Failed { code: code.to_string(), doing: "POST /x".to_string(), message, alert: None }
    }

    #[test]
    fn an_error_tells_the_page_from_the_script_and_the_session() {
        let thrown = failed("javascript error", "javascript error: bad\n  (Session info: chrome=1)");
        assert_eq!(thrown.in_page(), BackendError::Threw("bad".to_string()));
        let gone = failed("javascript error", "javascript error: document unloaded while waiting for result");
        assert!(matches!(gone.in_page(), BackendError::Refused(_)));
        let stale = failed("stale element reference", "");
        assert_eq!(stale.in_page(), BackendError::Refused("stale element reference".to_string()));
        let unreached =
            "Unable to execute request for an existing session: Failed to execute request (POST http://…/url)";
        for over in [
            failed("invalid session id", ""),
            failed("unknown error", "unknown error: session deleted as …"),
            failed("unknown error", unreached),
            failed("unknown error", "Failed to decode response from marionette"),
            failed("disconnected", "disconnected: not connected to DevTools"),
        ] {
            assert_eq!(over.in_page(), BackendError::Gone);
        }
        let thrown = failed("javascript error", "javascript error: the chat was disconnected");
        assert_eq!(thrown.in_page(), BackendError::Threw("the chat was disconnected".to_string()));
    }
}
