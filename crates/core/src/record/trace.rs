//! The port to the trace of an attempt: what its screen and its documents looked like all along. It is collected while the
//! attempt runs, and kept or dropped when it has ended.

use trailblaze_protocol::event::Moment;
use trailblaze_protocol::ids::{AttemptId, CallId};

use crate::driver::{DocumentContent, NetworkExchange, ScreenFrame};

/// Where traces are collected. Implementations must not block, and bound what they hold. What they are given has been redacted.
pub trait TraceStore: Send + Sync {
    /// Adds something that was seen just now.
    fn add(&self, attempt: &AttemptId, entry: TraceEntry);

    /// Ends the trace of an attempt, and keeps it unless the attempt passed and only failures are kept.
    fn end(&self, attempt: &AttemptId, has_passed: bool);

    /// Whether the traces of all attempts are kept, so that it pays to take pictures of devices that send none by themselves.
    fn keeps_all(&self) -> bool;
}

/// Something that a device showed.
#[derive(Debug, Clone)]
pub enum TraceEntry {
    Frame(ScreenFrame),
    /// What the documents of a page contained.
    Document {
        call: CallId,
        moment: Moment,
        content: DocumentContent,
    },
    /// What its pages sent and what they got.
    Exchanges(Vec<NetworkExchange>),
}
