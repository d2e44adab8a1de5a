//! A model whose replies come from a file.

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use trailblaze_core::driver::Budget;
use trailblaze_core::model::{
    ChatMessage, ContentPart, Model, ModelError, ModelErrorKind, ModelInfo, ModelReply, ModelRequest,
};

use super::{CannedAnswer, CannedReplies, Expectation, Fingerprint, ReplyEntry};
use crate::estimate::{estimated_output, estimated_tokens};
use crate::text::last_lines;

/// How many lines of a request a message shows.
const SHOWN_LINES: usize = 6;

/// Replies with the first unused entry whose expectations hold, so that devices in parallel can share a file.
pub struct CannedModel {
    replies: Arc<CannedReplies>,
    info: ModelInfo,
    is_used: Mutex<Vec<bool>>,
}

impl CannedModel {
    /// A model with all replies of the file unused. `id` is what it is called, unless the file says so.
    pub fn new(replies: &Arc<CannedReplies>, id: &str) -> CannedModel {
        let mut info = ModelInfo { is_replayed: true, ..replies.info.clone() };
        if info.id.is_empty() {
            info.id = id.to_string();
        }
        CannedModel { replies: Arc::clone(replies), info, is_used: Mutex::new(vec![false; replies.entries.len()]) }
    }

    fn next(&self, request: &ModelRequest) -> Result<&ReplyEntry, ModelError> {
        let asked = AskedOf::new(request, &self.replies);
        let mut is_used = self.is_used.lock();
        let fits = |index: &usize| !is_used[*index] && asked.misfits(&self.replies.entries[*index].expect).is_empty();
        match (0..self.replies.entries.len()).find(fits) {
            Some(index) => {
                let entry = &self.replies.entries[index];
                is_used[index] = !entry.is_reusable;
                Ok(entry)
            }
            None => Err(self.unscripted(&asked, &is_used)),
        }
    }

    fn unscripted(&self, asked: &AskedOf<'_>, is_used: &[bool]) -> ModelError {
        let file = &self.replies.file;
        let unused =
            || self.replies.entries.iter().zip(is_used).filter(|(_, is_used)| !**is_used).map(|(entry, _)| entry);
        let next = unused().find(|entry| !entry.is_reusable).or_else(|| unused().next());
        let why = match next {
            None if self.replies.is_empty() => "it has none".to_string(),
            None => format!("all {} are used", self.replies.len()),
            Some(entry) => format!("the next one, at {}, {}", entry.place, asked.misfits(&entry.expect).join(", and ")),
        };
        let end = last_lines(&asked.newest, SHOWN_LINES);
        let is_cassette = self.replies.entries.iter().any(|entry| entry.expect.request.is_some());
        ModelError {
            kind: ModelErrorKind::Unscripted,
            message: format!("`{file}` has no reply for this request: {why}\nthe request ends with:\n{end}"),
            hint: is_cassette.then(|| "record it again with --model-cassette record".to_string()),
        }
    }
}

#[async_trait]
impl Model for CannedModel {
    fn describe(&self) -> &ModelInfo {
        &self.info
    }

    async fn complete(&self, _: &Budget, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        match &self.next(request)?.answer {
            CannedAnswer::Error(error) => Err(error.clone()),
            CannedAnswer::Reply(reply, usage) => {
                let mut reply = reply.clone();
                reply.usage = usage.unwrap_or_else(|| trailblaze_core::model::TokenUsage {
                    input: estimated_tokens(request),
                    output: estimated_output(&reply),
                    ..Default::default()
                });
                let turn =
                    request.messages.iter().filter(|message| matches!(message, ChatMessage::Assistant(_))).count();
                for (index, call) in reply.calls.iter_mut().enumerate() {
                    call.id = format!("call_{}_{}", turn + 1, index + 1);
                }
                Ok(reply)
            }
        }
    }
}

/// A request, prepared for comparing.
struct AskedOf<'r> {
    request: &'r ModelRequest,
    /// What the model has not seen yet.
    newest: String,
    /// Only if the file has digests.
    fingerprint: Option<Fingerprint>,
}

impl AskedOf<'_> {
    fn new<'r>(request: &'r ModelRequest, replies: &CannedReplies) -> AskedOf<'r> {
        let has_digests = replies.entries.iter().any(|entry| entry.expect.request.is_some());
        let fingerprint = has_digests.then(|| Fingerprint::of(request));
        AskedOf { request, newest: newest(request), fingerprint }
    }

    /// The expectations that do not hold.
    fn misfits(&self, expect: &Expectation) -> Vec<String> {
        let has = |text: &String| self.newest.contains(text.as_str()) || self.request.system.contains(text.as_str());
        let missing = expect.contains.iter().filter(|text| !has(text)).map(|text| format!("expects `{text}`"));
        let unwanted = expect.lacks.iter().filter(|text| has(text)).map(|text| format!("expects no `{text}`"));
        let is_offered = |name: &String| self.request.tools.iter().any(|tool| tool.name == *name);
        let tools = expect.tools.iter().filter(|name| !is_offered(name));
        let tools = tools.map(|name| format!("expects the tool `{name}` to be offered"));
        let request = expect.request.as_ref().zip(self.fingerprint.as_ref()).and_then(|(recorded, asked)| {
            let difference = recorded.difference(asked)?;
            Some(format!("was recorded for another request: {difference}"))
        });
        missing.chain(unwanted).chain(tools).chain(request).collect()
    }
}

/// The text of what follows the model's last reply.
pub(super) fn newest(request: &ModelRequest) -> String {
    let is_reply = |message: &ChatMessage| matches!(message, ChatMessage::Assistant(_));
    let start = request.messages.iter().rposition(is_reply).map_or(0, |last| last + 1);
    let parts = request.messages[start..].iter().flat_map(|message| match message {
        ChatMessage::User(parts) => parts.iter().collect::<Vec<_>>(),
        ChatMessage::Results(results) => results.iter().flat_map(|result| &result.parts).collect(),
        ChatMessage::Assistant(_) => Vec::new(),
    });
    let texts: Vec<&str> = parts
        .filter_map(|part| match part {
            ContentPart::Text(text) => Some(text.as_str()),
            ContentPart::Picture(_) => None,
        })
        .collect();
    texts.join("\n")
}
