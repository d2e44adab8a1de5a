//! Records what a model replies, so that it can be replayed without the model.

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use trailblaze_core::driver::Budget;
use trailblaze_core::model::{Model, ModelError, ModelErrorKind, ModelInfo, ModelReply, ModelRequest};

use super::model::newest;
use super::{CannedAnswer, CannedReplies, Expectation, Fingerprint, ReplyEntry};

/// How much of a request a cassette shows, in characters.
const ASKED_CHARS: usize = 4_000;

/// Passes requests on to a model and records the replies.
pub struct Recorder {
    inner: Arc<dyn Model>,
    info: ModelInfo,
    entries: Mutex<Vec<ReplyEntry>>,
}

impl Recorder {
    pub fn new(inner: Arc<dyn Model>) -> Recorder {
        let info = ModelInfo { is_replayed: true, ..inner.describe().clone() };
        Recorder { inner, info, entries: Mutex::default() }
    }

    /// What was recorded so far; `file` is the path of the cassette.
    pub fn replies(&self, file: &str) -> CannedReplies {
        CannedReplies { file: file.to_string(), info: self.info.clone(), entries: self.entries.lock().clone() }
    }
}

#[async_trait]
impl Model for Recorder {
    fn describe(&self) -> &ModelInfo {
        &self.info
    }

    async fn complete(&self, budget: &Budget, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        let answer = self.inner.complete(budget, request).await;
        let recorded = match &answer {
            // A replay ends by its own budget.
            Err(ModelError { kind: ModelErrorKind::Cancelled | ModelErrorKind::TimedOut, .. }) => return answer,
            Err(error) => CannedAnswer::Error(error.clone()),
            Ok(reply) => CannedAnswer::Reply(as_replayed(reply), Some(reply.usage)),
        };
        let expect = Expectation { request: Some(Fingerprint::of(request)), ..Expectation::default() };
        let asked = end_of(&newest(request)).lines().map(String::from).collect();
        self.entries.lock().push(ReplyEntry {
            expect,
            asked,
            is_reusable: false,
            answer: recorded,
            place: String::new(),
        });
        answer
    }
}

/// Without what only the provider can use.
fn as_replayed(reply: &ModelReply) -> ModelReply {
    let mut replayed = ModelReply { raw: serde_json::Value::Null, usage: Default::default(), ..reply.clone() };
    replayed.calls.iter_mut().for_each(|call| call.id.clear());
    replayed
}

fn end_of(text: &str) -> String {
    match text.char_indices().rev().nth(ASKED_CHARS) {
        Some((start, _)) => format!("…{}", &text[start..]),
        None => text.to_string(),
    }
}
