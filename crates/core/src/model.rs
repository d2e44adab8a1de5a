//! The port to a language model: one request, one reply. Models know nothing about devices, tools or trails.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::driver::Budget;
use crate::values::secret::Secrets;

/// A language model, as the engine sees it. Requests may run concurrently.
#[async_trait]
pub trait Model: Send + Sync {
    fn describe(&self) -> &ModelInfo;

    /// Sends one request. Retries failures that are likely to be temporary, and returns when the budget ends.
    async fn complete(&self, budget: &Budget, request: &ModelRequest) -> Result<ModelReply, ModelError>;
}

/// What is known about a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelInfo {
    /// `provider/model`.
    pub id: String,
    /// Whether it accepts pictures.
    pub has_vision: bool,
    /// How many tokens a request and its reply may have together.
    pub context_length: Option<u64>,
    /// `None` if it is not known; unknown is never free.
    pub price: Option<Price>,
    /// The longest side of a picture in pixels, if the project or the provider limits it.
    pub max_picture: Option<u32>,
    /// Whether replies come from a file or are recorded in one, so that requests must be the same in every run.
    pub is_replayed: bool,
}

/// US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    /// Input that was read from the provider's cache.
    pub cached_input: f64,
    /// Input that was written to the provider's cache.
    pub cache_write: f64,
}

/// One request. Providers send tools, system prompt and messages in this order, so that what stays the same comes first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelRequest {
    pub tools: Arc<[OfferedTool]>,
    pub system: Arc<str>,
    pub messages: Vec<ChatMessage>,
    pub choice: Choice,
    /// The limit of the reply; the model's own limit applies if this is `None`.
    pub max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop_sequences: Vec<String>,
}

impl ModelRequest {
    pub fn new(system: impl Into<Arc<str>>, messages: Vec<ChatMessage>) -> ModelRequest {
        ModelRequest {
            tools: Arc::default(),
            system: system.into(),
            messages,
            choice: Choice::Auto,
            max_output_tokens: None,
            temperature: None,
            stop_sequences: Vec::new(),
        }
    }
}

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OfferedTool {
    pub name: String,
    pub description: String,
    /// The JSON Schema of its arguments: always an object with `properties`.
    pub parameters: Value,
}

/// Whether the model has to call a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Choice {
    /// It may answer with text instead.
    Auto,
    /// It must call a tool, as far as the provider can enforce that.
    Required,
}

/// A message of a conversation. The first is the user's, and a reply with calls is followed by their results.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ChatMessage {
    User(Vec<ContentPart>),
    /// What the model replied earlier. Providers echo [`ModelReply::raw`] where their protocol requires it.
    Assistant(Box<ModelReply>),
    Results(Vec<RequestedCallResult>),
}

impl ChatMessage {
    pub fn user(text: impl Into<String>) -> ChatMessage {
        ChatMessage::User(vec![ContentPart::Text(text.into())])
    }
}

/// A part of what a model is shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ContentPart {
    Text(String),
    Picture(EncodedPicture),
}

#[derive(Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EncodedPicture {
    /// Such as `image/png`.
    pub media_type: String,
    #[serde(serialize_with = "as_base64")]
    pub bytes: Arc<[u8]>,
}

fn as_base64<S: serde::Serializer>(bytes: &Arc<[u8]>, to: S) -> Result<S::Ok, S::Error> {
    use base64::Engine as _;
    to.serialize_str(&base64::engine::general_purpose::STANDARD.encode(bytes))
}

impl fmt::Debug for EncodedPicture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} bytes", self.media_type, self.bytes.len())
    }
}

/// The result of a call that the model made.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestedCallResult {
    /// [`RequestedCall::id`].
    pub id: String,
    pub name: String,
    pub parts: Vec<ContentPart>,
    pub is_error: bool,
}

/// What a model replied.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelReply {
    /// Empty if the model only called tools.
    pub text: String,
    pub calls: Vec<RequestedCall>,
    pub stop: StopReason,
    pub usage: TokenUsage,
    /// The reply as the provider sent it, if its protocol requires an exact echo; `null` otherwise.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub raw: Value,
}

impl ModelReply {
    /// Replaces secrets that the model wrote out by their placeholders, so that its calls are recorded like all others.
    pub fn redact(&mut self, secrets: &Secrets) {
        if secrets.is_empty() {
            return;
        }
        secrets.redact_in_place(&mut self.text);
        for call in &mut self.calls {
            match &mut call.arguments {
                RequestedArguments::Object(args) => secrets.redact_map(args),
                RequestedArguments::Malformed(text) => secrets.redact_in_place(text),
            }
        }
    }
}

/// A call that a model asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestedCall {
    /// The provider's id of the call, or one that was made up for a provider without ids.
    pub id: String,
    pub name: String,
    pub arguments: RequestedArguments,
}

/// Arguments of a call, as the model wrote them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RequestedArguments {
    Object(Map<String, Value>),
    /// Not a JSON object: the text as it was sent.
    Malformed(String),
}

/// Why a reply ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StopReason {
    /// It is complete.
    #[default]
    End,
    /// It reached the limit of output tokens. Its last call may be incomplete and must not be carried out.
    CutOff,
    /// The model or a filter of the provider refused; with the explanation, if there is one.
    Refused(String),
    /// The provider could not parse the call that the model wrote.
    Malformed,
}

/// How many tokens a request took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenUsage {
    /// All input, including what was read from or written to a cache.
    pub input: u64,
    pub output: u64,
    /// How much of the input was read from the provider's cache.
    pub cached: u64,
    /// How much of the input was written to the provider's cache.
    pub cache_written: u64,
}

impl TokenUsage {
    /// What it costs, in US dollars.
    pub fn cost(&self, price: &Price) -> f64 {
        let fresh = self.input.saturating_sub(self.cached).saturating_sub(self.cache_written);
        let parts = [
            (fresh, price.input),
            (self.cached, price.cached_input),
            (self.cache_written, price.cache_write),
            (self.output, price.output),
        ];
        parts.iter().map(|(tokens, per_million)| *tokens as f64 * per_million).sum::<f64>() / 1e6
    }
}

impl std::ops::AddAssign for TokenUsage {
    fn add_assign(&mut self, other: TokenUsage) {
        self.input += other.input;
        self.output += other.output;
        self.cached += other.cached;
        self.cache_written += other.cache_written;
    }
}

/// Why a model did not reply. Messages name the provider and never contain a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    pub kind: ModelErrorKind,
    pub message: String,
    /// What the user can do about it.
    pub hint: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// The project or the environment is wrong: no key, a wrong key, no such model, a request that the provider refuses.
    Setup,
    /// The quota or the credit is used up.
    Quota,
    /// The request is longer than the model's context.
    TooLong,
    /// The provider failed or cannot be reached, and retrying did not help.
    Unavailable,
    /// The reply is not what the protocol allows.
    Unreadable,
    /// There is no reply for this request in the file of replies.
    Unscripted,
    TimedOut,
    Cancelled,
}
