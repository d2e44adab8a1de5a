//! Why a request over HTTP got no answer.

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
