//! Files of replies: reading and writing them.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use trailblaze_core::config::{Cost, Dimensions, ModelEntry};
use trailblaze_core::model::{
    ModelError, ModelErrorKind, ModelInfo, ModelReply, Price, RequestedArguments, RequestedCall, StopReason, TokenUsage,
};
use trailblaze_core::yaml::{
    self, Decode, Problem, Problems, ReadBackError, Source, Spanned, YamlNode, decode, loose, read_back,
};
use trailblaze_core::{table, words};

use super::{CannedAnswer, CannedReplies, Expectation, Fingerprint, ReplyEntry};

table! {
    /// Replies of a language model: for the provider scripted, and recorded by --model-cassette record.
    pub struct RepliesFile {
        /// What is known about the model, as in llm.providers of trailblaze.yaml.
        "model" => model: Option<ModelEntry> = None,
        /// The replies. Each request gets the first unused one whose expectations hold.
        "replies" => replies: Vec<WrittenEntry>,
    }
}

table! {
    /// A reply, and which requests it is for.
    pub struct WrittenEntry {
        /// What must hold for the request; default: nothing.
        "expect" => expect: Option<WrittenExpectation> = None,
        /// Whether it can be used any number of times.
        "repeat" => repeat: bool = false,
        /// The lines that the recorded request ended with. For reading only.
        "asked" => asked: Texts = Texts::default(),
        /// What the model replies.
        "reply" => reply: Option<WrittenReply> = None,
        /// The error that is returned instead.
        "error" => error: Option<WrittenError> = None,
    }
}

table! {
    /// What must hold for a request.
    pub struct WrittenExpectation {
        /// Texts that the system prompt or the newest message contains.
        "contains" => contains: Texts = Texts::default(),
        /// Texts that neither of them contains.
        "lacks" => lacks: Texts = Texts::default(),
        /// Tools that are offered.
        "tools" => tools: Texts = Texts::default(),
        /// The digest of the whole request, in a cassette.
        "request" => request: Option<Spanned<String>> = None,
        /// The digests of its parts.
        "parts" => parts: Option<WrittenParts> = None,
    }
}

table! {
    /// The digests of the parts of a request.
    pub struct WrittenParts {
        /// The tools that are offered.
        "tools" => tools: String,
        /// The system prompt.
        "system" => system: String,
        /// Each message.
        "messages" => messages: Vec<String>,
        /// The limits and the choice of tools.
        "options" => options: String,
    }
}

table! {
    /// What a model replies.
    pub struct WrittenReply {
        /// Its text.
        "text" => text: Option<String> = None,
        /// The tools that it calls, in order, each as a mapping of its name to its arguments.
        "calls" => calls: Vec<CannedCall> = Vec::new(),
        /// Why it ended.
        "stop" => stop: CannedStop = CannedStop::End,
        /// The explanation of a refusal.
        "refusal" => refusal: Option<String> = None,
        /// The tokens that were used; default: a quarter of the characters.
        "usage" => usage: Option<WrittenUsage> = None,
    }
}

words! {
    /// Why a reply ended.
    pub enum CannedStop {
        "end" => End,
        "cutOff" => CutOff,
        "refused" => Refused,
        "malformed" => Malformed,
    }
}

table! {
    /// The tokens that a request and its reply used.
    pub struct WrittenUsage {
        /// All input, including what was read from or written to a cache.
        "input" => input: u64 = 0,
        /// Output.
        "output" => output: u64 = 0,
        /// Input that was read from the provider's cache.
        "cached" => cached: u64 = 0,
        /// Input that was written to the provider's cache.
        "cacheWritten" => cache_written: u64 = 0,
    }
}

table! {
    /// An error of the provider.
    pub struct WrittenError {
        /// What sort of error it is.
        "kind" => kind: CannedErrorKind,
        /// The message.
        "message" => message: String,
        /// What the user can do about it.
        "hint" => hint: Option<String> = None,
    }
}

words! {
    /// A sort of error.
    pub enum CannedErrorKind {
        "setup" => Setup,
        "quota" => Quota,
        "tooLong" => TooLong,
        "unavailable" => Unavailable,
        "unreadable" => Unreadable,
        "unscripted" => Unscripted,
        "timedOut" => TimedOut,
        "cancelled" => Cancelled,
    }
}

const KINDS: [(CannedErrorKind, ModelErrorKind, &str); 8] = [
    (CannedErrorKind::Setup, ModelErrorKind::Setup, "setup"),
    (CannedErrorKind::Quota, ModelErrorKind::Quota, "quota"),
    (CannedErrorKind::TooLong, ModelErrorKind::TooLong, "tooLong"),
    (CannedErrorKind::Unavailable, ModelErrorKind::Unavailable, "unavailable"),
    (CannedErrorKind::Unreadable, ModelErrorKind::Unreadable, "unreadable"),
    (CannedErrorKind::Unscripted, ModelErrorKind::Unscripted, "unscripted"),
    (CannedErrorKind::TimedOut, ModelErrorKind::TimedOut, "timedOut"),
    (CannedErrorKind::Cancelled, ModelErrorKind::Cancelled, "cancelled"),
];

/// A text, or a list of texts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Texts(Vec<String>);

impl Decode for Texts {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        match node.items() {
            Some(_) => Vec::decode(node, problems).map(Texts),
            None => String::decode(node, problems).map(|text| Texts(vec![text])),
        }
    }

    fn schema() -> Value {
        json!({"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})
    }
}

/// A call: one tool and its arguments. A text instead of arguments stands for arguments that are not JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct CannedCall(RequestedCall);

impl Decode for CannedCall {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        let call = |name: &str, arguments| {
            Some(CannedCall(RequestedCall { id: String::new(), name: name.to_string(), arguments }))
        };
        match (node.entries(), node.raw()) {
            (Some([(name, value)]), _) => {
                let name = name.raw().unwrap_or_default();
                match loose(value) {
                    Value::Object(map) => call(name, RequestedArguments::Object(map)),
                    Value::Null => call(name, RequestedArguments::Object(Map::new())),
                    Value::String(text) => call(name, RequestedArguments::Malformed(text)),
                    _ => {
                        let text = format!("the arguments of `{name}` must be a mapping, found {}", value.noun());
                        problems.error(value.span, text);
                        None
                    }
                }
            }
            (None, Some(name)) if !node.is_null() => call(name, RequestedArguments::Object(Map::new())),
            _ => {
                problems.error(node.span, "a call is a mapping with one key, the tool: `tap: {ref: e1}`");
                None
            }
        }
    }

    fn schema() -> Value {
        let one = json!({"type": "object", "minProperties": 1, "maxProperties": 1});
        json!({"oneOf": [{"type": "string"}, one]})
    }
}

impl CannedReplies {
    /// Parses a file of replies, or returns everything that is wrong with it.
    pub fn read(source: &Arc<Source>) -> Result<CannedReplies, Vec<Problem>> {
        let mut problems = Problems::new(source);
        let written: Option<RepliesFile> = decode(source, &mut problems);
        let replies = written.and_then(|written| {
            let entries: Vec<Option<ReplyEntry>> =
                written.replies.into_iter().map(|entry| from_entry(entry, &source.path, &mut problems)).collect();
            Some(CannedReplies {
                file: source.path.clone(),
                info: written.model.map_or(ModelInfo { has_vision: true, ..ModelInfo::default() }, from_model),
                entries: entries.into_iter().collect::<Option<_>>()?,
            })
        });
        match replies {
            Some(replies) if !problems.has_errors() => Ok(replies),
            _ => Err(problems.into_vec()),
        }
    }

    /// The text of the file. Guaranteed to read back as these replies.
    pub fn text(&self) -> Result<String, ReadBackError> {
        let head = "# What a language model replied. Written by `--model-cassette record`.\n";
        let text = format!("{head}{}", yaml::block(&self.json(), 0));
        read_back(text, CannedReplies::read, |read| read.json() == self.json())
    }

    fn json(&self) -> Value {
        json!({"model": model_json(&self.info), "replies": self.entries.iter().map(entry_json).collect::<Vec<_>>()})
    }
}

fn from_model(entry: ModelEntry) -> ModelInfo {
    ModelInfo {
        id: entry.id.value,
        has_vision: entry.vision,
        context_length: entry.context_length,
        price: entry.cost.as_ref().map(price),
        max_picture: entry.screenshot.and_then(|screenshot| screenshot.max_dimensions).map(|Dimensions(side)| side),
        is_replayed: true,
    }
}

fn price(cost: &Cost) -> Price {
    Price {
        input: cost.input,
        output: cost.output,
        cached_input: cost.cached_input.unwrap_or(cost.input),
        cache_write: cost.cache_write.unwrap_or(cost.input),
    }
}

fn from_entry(entry: WrittenEntry, file: &str, problems: &mut Problems) -> Option<ReplyEntry> {
    let answer = match (entry.reply, entry.error) {
        (Some(reply), None) => from_reply(reply, problems)?,
        (None, Some(error)) => CannedAnswer::Error(from_error(error)),
        (None, None) => {
            problems.error(entry.span, "it has neither a `reply` nor an `error`");
            return None;
        }
        (Some(_), Some(_)) => {
            problems.error(entry.span, "it has both a `reply` and an `error`");
            return None;
        }
    };
    let expect = match entry.expect {
        Some(expect) => from_expectation(expect, problems)?,
        None => Expectation::default(),
    };
    let place = format!("{file}:{}:{}", entry.span.line, entry.span.column);
    Some(ReplyEntry { expect, asked: entry.asked.0, is_reusable: entry.repeat, answer, place })
}

fn from_expectation(expect: WrittenExpectation, problems: &mut Problems) -> Option<Expectation> {
    let request = match (expect.request, expect.parts) {
        (None, None) => None,
        (Some(request), Some(parts)) => Some(Fingerprint {
            request: request.value,
            tools: parts.tools,
            system: parts.system,
            messages: parts.messages,
            options: parts.options,
        }),
        (request, parts) => {
            let span = request.map(|request| request.span).or(parts.map(|parts| parts.span)).unwrap_or(expect.span);
            problems.error(span, "`request` and `parts` belong together");
            return None;
        }
    };
    Some(Expectation { contains: expect.contains.0, lacks: expect.lacks.0, tools: expect.tools.0, request })
}

fn from_reply(reply: WrittenReply, problems: &mut Problems) -> Option<CannedAnswer> {
    let stop = match (reply.stop, reply.refusal) {
        (CannedStop::Refused, refusal) => StopReason::Refused(refusal.unwrap_or_default()),
        (_, Some(_)) => {
            problems.error(reply.span, "`refusal` needs `stop: refused`");
            return None;
        }
        (CannedStop::End, None) => StopReason::End,
        (CannedStop::CutOff, None) => StopReason::CutOff,
        (CannedStop::Malformed, None) => StopReason::Malformed,
    };
    let usage = reply.usage.map(|usage| TokenUsage {
        input: usage.input,
        output: usage.output,
        cached: usage.cached,
        cache_written: usage.cache_written,
    });
    let calls = reply.calls.into_iter().map(|CannedCall(call)| call).collect();
    let reply = ModelReply { text: reply.text.unwrap_or_default(), calls, stop, ..ModelReply::default() };
    Some(CannedAnswer::Reply(reply, usage))
}

fn from_error(error: WrittenError) -> ModelError {
    let kind = KINDS.iter().find(|(written, _, _)| *written == error.kind).map(|(_, kind, _)| *kind);
    ModelError { kind: kind.expect("the table has all kinds"), message: error.message, hint: error.hint }
}

fn model_json(info: &ModelInfo) -> Value {
    let mut json = Map::new();
    json.insert("id".into(), info.id.as_str().into());
    json.insert("vision".into(), info.has_vision.into());
    if let Some(length) = info.context_length {
        json.insert("context_length".into(), length.into());
    }
    if let Some(price) = &info.price {
        let cost = json!({
            "input_per_million": price.input,
            "output_per_million": price.output,
            "cached_input_per_million": price.cached_input,
            "cache_write_per_million": price.cache_write,
        });
        json.insert("cost".into(), cost);
    }
    if let Some(side) = info.max_picture {
        json.insert("screenshot".into(), json!({"max_dimensions": side}));
    }
    json.into()
}

fn entry_json(entry: &ReplyEntry) -> Value {
    let mut json = Map::new();
    let expect = expectation_json(&entry.expect);
    if !expect.is_empty() {
        json.insert("expect".into(), expect.into());
    }
    if entry.is_reusable {
        json.insert("repeat".into(), true.into());
    }
    if !entry.asked.is_empty() {
        json.insert("asked".into(), json!(entry.asked));
    }
    match &entry.answer {
        CannedAnswer::Reply(reply, usage) => json.insert("reply".into(), reply_json(reply, usage.as_ref())),
        CannedAnswer::Error(error) => json.insert("error".into(), error_json(error)),
    };
    json.into()
}

fn expectation_json(expect: &Expectation) -> Map<String, Value> {
    let mut json = Map::new();
    for (key, texts) in [("contains", &expect.contains), ("lacks", &expect.lacks), ("tools", &expect.tools)] {
        if !texts.is_empty() {
            json.insert(key.into(), json!(texts));
        }
    }
    if let Some(Fingerprint { request, tools, system, messages, options }) = &expect.request {
        json.insert("request".into(), request.as_str().into());
        let parts = json!({"tools": tools, "system": system, "messages": messages, "options": options});
        json.insert("parts".into(), parts);
    }
    json
}

fn reply_json(reply: &ModelReply, usage: Option<&TokenUsage>) -> Value {
    let mut json = Map::new();
    if !reply.text.is_empty() {
        json.insert("text".into(), reply.text.as_str().into());
    }
    if !reply.calls.is_empty() {
        let calls = reply.calls.iter().map(|call| {
            let arguments = match &call.arguments {
                RequestedArguments::Object(map) => Value::Object(map.clone()),
                RequestedArguments::Malformed(text) => text.as_str().into(),
            };
            let name = call.name.clone();
            Value::Object(Map::from_iter([(name, arguments)]))
        });
        json.insert("calls".into(), calls.collect());
    }
    let (stop, refusal) = match &reply.stop {
        StopReason::End => (None, None),
        StopReason::CutOff => (Some("cutOff"), None),
        StopReason::Refused(text) => (Some("refused"), Some(text).filter(|text| !text.is_empty())),
        StopReason::Malformed => (Some("malformed"), None),
    };
    json.extend(stop.map(|stop| ("stop".to_string(), stop.into())));
    json.extend(refusal.map(|text| ("refusal".to_string(), text.as_str().into())));
    json.extend(usage.map(|usage| ("usage".to_string(), json!(usage))));
    json.into()
}

fn error_json(error: &ModelError) -> Value {
    let kind = KINDS.iter().find(|(_, kind, _)| *kind == error.kind).map_or("", |(_, _, word)| word);
    let mut json = json!({"kind": kind, "message": error.message});
    if let Some(hint) = &error.hint {
        json["hint"] = hint.as_str().into();
    }
    json
}
