//! Why a request over http got no answer, in words that help.

use hyper::StatusCode;

use crate::connection::Closed;
use crate::limits;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum HttpError {
    #[error("{reason} at {url}; is it running, and is its `url:` right?")]
    Unreachable { url: String, reason: String },
    #[error("{}", refused(*status, url, said))]
    Status { status: StatusCode, url: String, said: String },
    #[error("it redirects {url} to {to}; put that into `url:` if you trust it")]
    Redirected { url: String, to: String },
    #[error("{url} answers {kind}, which is no MCP{}; {ENDPOINT}", quoted(said))]
    Kind { url: String, kind: String, said: String },
    #[error("{0}")]
    Broke(Closed),
    #[error("its answer is longer than {} MiB", limits::LINE_BYTES >> 20)]
    TooLong,
    #[error("it ended its answer without a result")]
    NoResult,
    #[error("the connection broke in the middle of an answer: {reason}")]
    BrokeOff { reason: String },
    /// It was restarted, or has waited too long. What it was asked has not been done.
    #[error("it does not know our session any more")]
    SessionGone,
}

const ENDPOINT: &str = "is its `url:` that of its MCP endpoint, which often ends in /mcp?";

fn refused(status: StatusCode, url: &str, said: &str) -> String {
    let advice = match status.as_u16() {
        401 | 403 => "; `headers:` of its entry can bring what it asks for",
        404 | 405 => "; is its `url:` that of its MCP endpoint, which often ends in /mcp?",
        _ => "",
    };
    format!("{url} answers {status}{}{advice}", quoted(said))
}

fn quoted(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": `{said}`") }
}

/// What is at the bottom of an error.
pub(super) fn reason(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    if let Some(io) = causes.clone().find_map(|cause| cause.downcast_ref::<std::io::Error>()) {
        match io.kind() {
            std::io::ErrorKind::ConnectionRefused => return "connection refused".to_string(),
            std::io::ErrorKind::TimedOut => return "no answer in time".to_string(),
            _ => {}
        }
    }
    causes.last().map(ToString::to_string).unwrap_or_default()
}
