//! Cassettes: a server's listing and answers, recorded so that they can be replayed without the server and its backend.
//!
//! A cassette contains nothing specific to the run that recorded it: secrets are replaced by their names, and ids and
//! addresses are removed.

mod file;
mod player;
mod recorder;
mod scrub;

use serde_json::{Map, Value};

pub use file::CassetteFile;
pub use player::{Player, ReplayedServer};
pub use recorder::{CallbackListener, Tape};

use crate::listing::RawListing;

/// The listing and answers of one server, in the order of the answers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cassette {
    pub listing: RawListing,
    pub calls: Vec<RecordedCall>,
}

impl Cassette {
    /// Keeps the calls of an earlier cassette that were not made again, if their tool still exists.
    pub fn keep_from(&mut self, earlier: Cassette) {
        let is_listed = |tool: &str| self.listing.tools.iter().any(|listed| listed["name"] == tool);
        let is_new =
            |call: &RecordedCall| self.calls.iter().any(|new| (&new.tool, &new.args) == (&call.tool, &call.args));
        let kept = earlier.calls.into_iter().filter(|call| is_listed(&call.tool) && !is_new(call));
        let kept: Vec<RecordedCall> = kept.collect();
        self.calls.splice(0..0, kept);
    }
}

/// One call and its result.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedCall {
    pub tool: String,
    /// After templates, without the context that is added to every call.
    pub args: Map<String, Value>,
    /// The device that it was made for, if there were several.
    pub device: Option<String>,
    /// The calls that the tool made before it answered, in order.
    pub callbacks: Vec<Callback>,
    pub answer: RecordedAnswer,
}

/// A call that a tool made by calling back. Calls beneath it are not recorded, because making it again repeats them.
#[derive(Debug, Clone, PartialEq)]
pub struct Callback {
    pub tool: String,
    pub args: Map<String, Value>,
    pub has_failed: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum RecordedAnswer {
    /// The result of `tools/call`, unchanged.
    Result(Value),
    /// The message of an error returned instead of a result.
    Refusal(String),
}
