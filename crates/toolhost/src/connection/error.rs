//! What can go wrong with a peer.

use serde::Deserialize;

use super::brief;
use crate::http::HttpError;
use crate::limits;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Oddity {
    #[error("it prints to stdout, which carries the protocol: `{0}`; print to stderr instead")]
    Noise(String),
    #[error("it answered the same request twice")]
    AnsweredTwice,
    #[error("some of its text is not valid Unicode, such as half of an emoji, and was replaced by U+FFFD")]
    NotUnicode,
}

/// An error that the peer returned.
#[derive(Debug, Clone, PartialEq, Deserialize, thiserror::Error)]
#[error("{} ({code})", brief(message))]
pub struct RpcError {
    pub code: i64,
    #[serde(default)]
    pub message: String,
}

impl RpcError {
    pub const METHOD_NOT_FOUND: i64 = -32601;
    pub const INVALID_PARAMS: i64 = -32602;
    pub const INTERNAL: i64 = -32603;
    /// Set by us, not by the peer: the request was cancelled.
    pub const CANCELLED: i64 = -32800;
    /// The client does not grant what the peer requests.
    pub const REJECTED: i64 = -1;

    pub fn new(code: i64, message: impl Into<String>) -> RpcError {
        RpcError { code, message: message.into() }
    }

    /// Whether it means that a resource does not exist: -32002 in the older generation, -32602 in the newer one. A
    /// server that does not implement resources has none either.
    pub fn is_missing_resource(&self) -> bool {
        matches!(self.code, -32002 | RpcError::INVALID_PARAMS | RpcError::METHOD_NOT_FOUND)
    }
}

/// Why a connection closed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Closed {
    #[error("it closed its stdout")]
    Ended,
    #[error("it broke the protocol: a line of more than {} MiB", limits::LINE_BYTES >> 20)]
    LongLine,
    #[error("it broke the protocol: broken JSON: {error} in `{line}`")]
    BrokenJson { error: String, line: String },
    #[error("it broke the protocol: not a JSON-RPC message: {error} in `{line}`")]
    NoMessage { error: String, line: String },
    #[error("it broke the protocol: it answered a request that was never made (id {id})")]
    WrongId { id: String },
    #[error("it does not read its stdin: {} MiB are waiting", limits::BACKLOG_BYTES >> 20)]
    Deaf,
    #[error("it could not read our message: {0}")]
    Unreadable(RpcError),
    /// Found by us: it keeps the connection open but does not respond.
    #[error(
        "it hangs: it answered neither `{tool}`, which was cancelled, nor a ping within {}",
        humantime::format_duration(limits::PING)
    )]
    Hung { tool: String },
    #[error("it closed its stdin")]
    ClosedStdin,
    #[error("it cannot be reached: {0}")]
    Io(String),
}

/// Why a request got no result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RequestError {
    #[error(transparent)]
    Refused(#[from] RpcError),
    #[error(transparent)]
    Closed(#[from] Closed),
    /// Over HTTP a single answer can be lost while the peer keeps running.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// Set by us: it asked for input that it does not get.
    #[error("it asked for input: {0}")]
    NoInput(String),
}
