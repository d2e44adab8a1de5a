//! Replies from a file: the provider `scripted`, and cassettes of other models. Both have one format.

mod file;
mod fingerprint;
mod recorder;
mod model;

use trailblaze_core::model::{ModelError, ModelInfo, ModelReply, TokenUsage};

pub use file::RepliesFile;
pub use model::CannedModel;
pub use recorder::Recorder;

use fingerprint::Fingerprint;

/// A file of replies.
#[derive(Debug, Clone, PartialEq)]
pub struct CannedReplies {
    /// The path of the file, as shown to the user.
    pub file: String,
    /// What the file says about the model.
    pub info: ModelInfo,
    entries: Vec<ReplyEntry>,
}

impl CannedReplies {
    /// The replies in it.
    pub fn replies_mut(&mut self) -> impl Iterator<Item = &mut ModelReply> {
        self.entries.iter_mut().filter_map(|entry| match &mut entry.answer {
            CannedAnswer::Reply(reply, _) => Some(reply),
            CannedAnswer::Error(_) => None,
        })
    }
}

/// A reply, and the requests that it is for.
#[derive(Debug, Clone, PartialEq)]
struct ReplyEntry {
    expect: Expectation,
    /// The last lines of the recorded request, for people who review a cassette.
    asked: Vec<String>,
    is_reusable: bool,
    answer: CannedAnswer,
    /// Where it is: `file:line:column`. Empty if it was not read from a file.
    place: String,
}

/// What must hold for a request. Texts are looked for in the system prompt and in what follows the model's last reply.
#[derive(Debug, Clone, PartialEq, Default)]
struct Expectation {
    contains: Vec<String>,
    lacks: Vec<String>,
    tools: Vec<String>,
    request: Option<Fingerprint>,
}

#[derive(Debug, Clone, PartialEq)]
enum CannedAnswer {
    /// The usage is estimated if it is not given.
    Reply(ModelReply, Option<TokenUsage>),
    Error(ModelError),
}

impl CannedReplies {
    /// How many replies the file has.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
