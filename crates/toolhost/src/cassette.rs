//! What a server listed and answered, kept so that it can be played back in the server's place, without its backend.
//!
//! A cassette holds nothing of the run that it comes from: secrets are their names, and neither ids nor addresses are on it.

mod file;
mod player;
mod recorder;
mod scrub;

use serde_json::{Map, Value};

pub use file::{NotFit, Written};
pub use player::{Player, Role};
pub use recorder::{CallbackListener, Tape};

use crate::listing::RawListing;

/// What one server listed and answered, in the order of its answers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cassette {
    pub listing: RawListing,
    pub calls: Vec<Kept>,
}

impl Cassette {
    /// Keeps of an earlier one the calls that were not made again, as long as there is such a tool.
    pub fn keep_from(&mut self, earlier: Cassette) {
        let is_listed = |tool: &str| self.listing.tools.iter().any(|listed| listed["name"] == tool);
        let is_new = |call: &Kept| self.calls.iter().any(|new| (&new.tool, &new.args) == (&call.tool, &call.args));
        let kept = earlier.calls.into_iter().filter(|call| is_listed(&call.tool) && !is_new(call));
        let kept: Vec<Kept> = kept.collect();
        self.calls.splice(0..0, kept);
    }
}

/// One call, and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    pub tool: String,
    /// After templates, and without the context that rides along.
    pub args: Map<String, Value>,
    /// The device that it was made for, where there were several.
    pub device: Option<String>,
    /// What the tool called before it answered, in order.
    pub callbacks: Vec<Callback>,
    pub answer: Answer,
}

/// A call that a tool made by calling back. What is beneath it happens by itself when it is made again.
#[derive(Debug, Clone, PartialEq)]
pub struct Callback {
    pub tool: String,
    pub args: Map<String, Value>,
    pub has_failed: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The result of `tools/call`, word for word.
    Result(Value),
    /// The message of an error in place of a result.
    Refusal(String),
}
