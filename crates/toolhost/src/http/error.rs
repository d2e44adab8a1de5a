//! Why a request over HTTP got no answer.

use std::io::ErrorKind;

use hyper::StatusCode;

use crate::connection::Closed;
use crate::limits;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum HttpError {
    #[error("{reason} at {url}; is it running, and is its `url:` right?")]
    Unreachable { url: String, reason: String },
    #[error("{}", refused(*status, url, said))]
    Status { status: StatusCode, url: String, said: String },
    #[error("it redirects {url} to {to}; use that as its `url:` if you trust it")]
    Redirected { url: String, to: String },
    #[error("{url} answers {kind}, which is not MCP{}; {ENDPOINT}", quoted(said))]
    Kind { url: String, kind: String, said: String },
    #[error("{0}")]
    Broke(Closed),
    #[error("its answer is longer than {} MiB", limits::LINE_BYTES >> 20)]
    TooLong,
    #[error("it ended its answer without a result")]
    NoResult,
    #[error("the connection broke during an answer: {reason}")]
    BrokeOff { reason: String },
    /// The server was restarted, or the session expired. The request was not carried out.
    #[error("it no longer knows our session")]
    SessionGone,
}

const ENDPOINT: &str = "is its `url:` the MCP endpoint, which often ends in /mcp?";

fn refused(status: StatusCode, url: &str, said: &str) -> String {
    let advice = match status.as_u16() {
        401 | 403 => "; set `headers:` in its entry if it needs credentials",
        404 | 405 => "; is its `url:` the MCP endpoint, which often ends in /mcp?",
        _ => "",
    };
    format!("{url} answers {status}{}{advice}", quoted(said))
}

fn quoted(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": `{said}`") }
}

/// The root cause of an error.
pub(crate) fn reason(error: &(dyn std::error::Error + 'static)) -> String {
    match io_kind(error) {
        Some(ErrorKind::ConnectionRefused) => "connection refused".to_string(),
        Some(ErrorKind::TimedOut) => "no answer in time".to_string(),
        _ => causes(error).last().map(ToString::to_string).unwrap_or_default(),
    }
}

/// Whether the peer closed the connection without reading all that was sent to it.
pub(crate) fn is_reset(error: &(dyn std::error::Error + 'static)) -> bool {
    matches!(io_kind(error), Some(ErrorKind::ConnectionReset | ErrorKind::BrokenPipe))
}

fn io_kind(error: &(dyn std::error::Error + 'static)) -> Option<ErrorKind> {
    causes(error).find_map(|cause| cause.downcast_ref::<std::io::Error>()).map(std::io::Error::kind)
}

fn causes<'e>(
    error: &'e (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'e (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |error| error.source())
}
