//! Why a request got no response.

use std::error::Error;
use std::io;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct RequestError {
    pub kind: RequestErrorKind,
    /// The root cause, in a few words.
    pub reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestErrorKind {
    /// No connection could be opened, so nothing was sent.
    Unreachable,
    /// The peer closed the connection without reading all that was sent to it.
    Reset,
    /// The connection broke before there was a response.
    BrokeOff,
}

impl From<hyper_util::client::legacy::Error> for RequestError {
    fn from(error: hyper_util::client::legacy::Error) -> RequestError {
        let kind = match io_kind(&error) {
            _ if error.is_connect() => RequestErrorKind::Unreachable,
            Some(io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe) => RequestErrorKind::Reset,
            _ => RequestErrorKind::BrokeOff,
        };
        RequestError { kind, reason: reason(&error) }
    }
}

/// The root cause of an error, in a few words.
pub fn reason(error: &(dyn Error + 'static)) -> String {
    match io_kind(error) {
        Some(io::ErrorKind::ConnectionRefused) => "connection refused".to_string(),
        Some(io::ErrorKind::TimedOut) => "no answer in time".to_string(),
        _ => causes(error).last().map(ToString::to_string).unwrap_or_default(),
    }
}

fn io_kind(error: &(dyn Error + 'static)) -> Option<io::ErrorKind> {
    causes(error).find_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind)
}

fn causes<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}
