//! The protocols of providers. Each is a pair of pure functions, from a request to a JSON body and from a response to a reply,
//! besides its headers, its path and the form of its errors. Responses are not streamed: a reply is used only when it is complete.

mod anthropic;
mod gemini;
mod names;
mod ollama;
mod openai;
mod schema;

use std::borrow::Cow;

use hyper::StatusCode;
use serde_json::{Value, json};
use trailblaze_core::config::ProviderKind;
use trailblaze_core::model::{
    ChatMessage, ContentPart, EncodedPicture, ModelError, ModelReply, ModelRequest, RequestedArguments, TokenUsage,
};

use crate::failure::ProviderError;
use crate::settings::Settings;
use names::WireNames;

/// The protocol of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// Chat completions. Its newer API for responses has nothing that a request of ours needs.
    OpenAi(openai::Dialect),
    Anthropic,
    Gemini,
    Ollama,
}

/// What a provider turned out to refuse. Learned from its errors, and remembered for later requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quirks {
    /// The model cannot be forced to call a tool.
    pub refuses_forced_choice: bool,
    /// The limit of output tokens has the other of its two names.
    pub has_other_limit_name: bool,
    /// The model has a temperature of its own. That of a request is then left out; one that the project sets is not.
    pub refuses_temperature: bool,
}

/// A reply that is not what the protocol allows: what is wrong with it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unfit(pub String);

impl Unfit {
    fn lacks(what: &str) -> Unfit {
        Unfit(format!("it has no `{what}`"))
    }
}

/// What a reply may be.
pub enum ParsedReply {
    Reply(ModelReply),
    /// The reply ended because the context was full.
    ContextFull(String),
}

impl Api {
    pub fn of(kind: ProviderKind) -> Option<Api> {
        Some(match kind {
            ProviderKind::OpenAi => Api::OpenAi(openai::Dialect::OpenAi),
            ProviderKind::OpenRouter | ProviderKind::OpenAiCompatible => Api::OpenAi(openai::Dialect::Compatible),
            ProviderKind::Anthropic => Api::Anthropic,
            ProviderKind::Google => Api::Gemini,
            ProviderKind::Ollama => Api::Ollama,
            ProviderKind::Scripted => return None,
        })
    }

    /// The URL of requests. `path` overrides the path that follows the base.
    pub fn url(self, base: &str, path: Option<&str>, model: &str) -> String {
        let base = base.trim_end_matches('/');
        let host_on = base.split_once("://").map_or(base, |(_, rest)| rest);
        let has_path = host_on.contains('/');
        if let Some(path) = path {
            return format!("{base}/{}", path.trim_start_matches('/'));
        }
        match self {
            Api::OpenAi(_) if base.ends_with("/chat/completions") => base.to_string(),
            Api::OpenAi(_) if host_on == "openrouter.ai" => format!("{base}/api/v1/chat/completions"),
            Api::OpenAi(_) if has_path => format!("{base}/chat/completions"),
            Api::OpenAi(_) => format!("{base}/v1/chat/completions"),
            Api::Anthropic if base.ends_with("/messages") => base.to_string(),
            Api::Anthropic if base.ends_with("/v1") => format!("{base}/messages"),
            Api::Anthropic => format!("{base}/v1/messages"),
            Api::Gemini => {
                let version = if has_path { "" } else { "/v1beta" };
                let name = model.strip_prefix("models/").unwrap_or(model);
                format!("{base}{version}/models/{}:generateContent", path_segment(name))
            }
            Api::Ollama if base.ends_with("/api") => format!("{base}/chat"),
            Api::Ollama => format!("{base}/api/chat"),
        }
    }

    /// The headers that carry the key, and those that the protocol requires.
    pub fn headers(self, key: Option<&str>) -> Vec<(&'static str, String)> {
        let mut headers = Vec::new();
        if let Some(key) = key {
            headers.push(match self {
                Api::OpenAi(_) | Api::Ollama => ("authorization", format!("Bearer {key}")),
                Api::Anthropic => ("x-api-key", key.to_string()),
                Api::Gemini => ("x-goog-api-key", key.to_string()),
            });
        }
        if self == Api::Anthropic {
            headers.push(("anthropic-version", "2023-06-01".to_string()));
        }
        headers
    }

    pub fn body(self, settings: &Settings, quirks: Quirks, request: &ModelRequest) -> Result<Value, ModelError> {
        let mut request = Cow::Borrowed(request);
        if !settings.has_vision {
            request = Cow::Owned(without_pictures(&request));
        }
        if quirks.refuses_temperature {
            request.to_mut().temperature = None;
        }
        let request = &*request;
        match self {
            Api::OpenAi(dialect) => openai::body(dialect, settings, quirks, request),
            Api::Anthropic => Ok(anthropic::body(settings, quirks, request)),
            Api::Gemini => Ok(gemini::body(settings, request)),
            Api::Ollama => ollama::body(settings, request),
        }
    }

    pub fn answer(self, settings: &Settings, request: &ModelRequest, body: &Value) -> Result<ParsedReply, Unfit> {
        let names = WireNames::of(request);
        match self {
            Api::OpenAi(_) => openai::reply(&names, body).map(ParsedReply::Reply),
            Api::Anthropic => anthropic::answer(&names, body),
            Api::Gemini => gemini::reply(&names, request, body).map(ParsedReply::Reply),
            Api::Ollama => ollama::answer(&names, settings, request, body),
        }
    }

    /// The error that a body describes.
    pub fn error(self, body: &Value) -> Option<ProviderError> {
        match self {
            Api::OpenAi(_) | Api::Anthropic | Api::Ollama => openai::error(body),
            Api::Gemini => gemini::error(body),
        }
    }

    /// What to do differently after this error, if it is one that we can avoid.
    pub fn adapted(self, status: StatusCode, error: &ProviderError, quirks: Quirks) -> Option<Quirks> {
        if status != StatusCode::BAD_REQUEST {
            return None;
        }
        let is_about_temperature =
            error.param.as_deref() == Some("temperature") || error.message.to_ascii_lowercase().contains("temperature");
        let adapted = match self {
            _ if is_about_temperature => Quirks { refuses_temperature: true, ..quirks },
            Api::OpenAi(_) => openai::adapted(error, quirks),
            Api::Anthropic => anthropic::adapted(error, quirks),
            Api::Gemini | Api::Ollama => quirks,
        };
        (adapted != quirks).then_some(adapted)
    }

    /// The longest side of pictures that the provider accepts in every request.
    pub fn max_picture(self) -> Option<u32> {
        (self == Api::Anthropic).then_some(2_000)
    }

    /// How much more than other input it costs to write the provider's cache.
    pub fn cache_write_factor(self) -> f64 {
        if self == Api::Anthropic { 1.25 } else { 1.0 }
    }
}

/// A name as a segment of a path.
fn path_segment(name: &str) -> String {
    let safe = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~' | b'@');
    name.bytes().map(|byte| if safe(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

fn without_pictures(request: &ModelRequest) -> ModelRequest {
    let mut request = request.clone();
    let strip = |parts: &mut Vec<ContentPart>| {
        for part in parts.iter_mut().filter(|part| matches!(part, ContentPart::Picture(_))) {
            *part = ContentPart::Text("(a picture, which this model cannot see)".to_string());
        }
    };
    for message in &mut request.messages {
        match message {
            ChatMessage::User(parts) => strip(parts),
            ChatMessage::Results(results) => results.iter_mut().for_each(|result| strip(&mut result.parts)),
            ChatMessage::Assistant(_) => {}
        }
    }
    request
}

/// The text of parts, without pictures.
fn text_of(parts: &[ContentPart]) -> String {
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| match part {
            ContentPart::Text(text) => Some(text.as_str()),
            ContentPart::Picture(_) => None,
        })
        .collect();
    texts.join("\n")
}

fn pictures_of(parts: &[ContentPart]) -> impl Iterator<Item = &EncodedPicture> {
    parts.iter().filter_map(|part| match part {
        ContentPart::Picture(picture) => Some(picture),
        ContentPart::Text(_) => None,
    })
}

fn base64(picture: &EncodedPicture) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(&picture.bytes)
}

/// Arguments as an object, for protocols without another form.
fn arguments_json(arguments: &RequestedArguments) -> Value {
    match arguments {
        RequestedArguments::Object(map) => Value::Object(map.clone()),
        RequestedArguments::Malformed(text) => json!({"malformed": text}),
    }
}

/// Arguments as a provider sent them: an object, or the text of one.
fn arguments(value: Option<&Value>) -> RequestedArguments {
    match value {
        None | Some(Value::Null) => RequestedArguments::Object(Default::default()),
        Some(Value::Object(map)) => RequestedArguments::Object(map.clone()),
        // Tools without parameters are often called with an empty text.
        Some(Value::String(text)) if text.trim().is_empty() => RequestedArguments::Object(Default::default()),
        Some(Value::String(text)) => match serde_json::from_str(text) {
            Ok(Value::Object(map)) => RequestedArguments::Object(map),
            _ => RequestedArguments::Malformed(text.clone()),
        },
        Some(other) => RequestedArguments::Malformed(other.to_string()),
    }
}

/// A count that a provider reports. Bounded, so that sums of nonsense cannot overflow.
fn count(usage: &Value, pointer: &str) -> u64 {
    usage.pointer(pointer).and_then(Value::as_u64).unwrap_or_default().min(u64::from(u32::MAX))
}

/// How many replies the request already has, to make up ids that are unique in a conversation.
fn turn(request: &ModelRequest) -> usize {
    request.messages.iter().filter(|message| matches!(message, ChatMessage::Assistant(_))).count() + 1
}

/// A usage whose parts are not more than their sum.
fn usage(input: u64, output: u64, cached: u64, cache_written: u64) -> TokenUsage {
    TokenUsage { input: input.max(cached + cache_written), output, cached, cache_written }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_may_have_a_path_or_not() {
        let openai = Api::OpenAi(openai::Dialect::Compatible);
        let cases = [
            (openai, "https://llm.corp", None, "https://llm.corp/v1/chat/completions"),
            (openai, "https://llm.corp/v1/", None, "https://llm.corp/v1/chat/completions"),
            (openai, "https://llm.corp/x/chat/completions", None, "https://llm.corp/x/chat/completions"),
            (openai, "https://openrouter.ai", None, "https://openrouter.ai/api/v1/chat/completions"),
            (openai, "https://llm.corp/", Some("/chat?v=1"), "https://llm.corp/chat?v=1"),
            (Api::Anthropic, "https://api.anthropic.com", None, "https://api.anthropic.com/v1/messages"),
            (Api::Anthropic, "https://gate.corp/claude/v1", None, "https://gate.corp/claude/v1/messages"),
            (Api::Gemini, "https://g", None, "https://g/v1beta/models/a%2Fb:generateContent"),
            (Api::Gemini, "https://g/v1", None, "https://g/v1/models/a%2Fb:generateContent"),
            (Api::Ollama, "http://localhost:11434", None, "http://localhost:11434/api/chat"),
            (Api::Ollama, "http://localhost:11434/api", None, "http://localhost:11434/api/chat"),
        ];
        for (api, base, path, expected) in cases {
            assert_eq!(api.url(base, path, "a/b"), expected, "{base}");
        }
    }
}
