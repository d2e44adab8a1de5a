//! `sampling/createMessage`: a server's request for a completion, translated for the port to a model and back.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use trailblaze_core::callers::sampling::{Sample, Sampled, SamplingError, sample};
use trailblaze_core::engine::cx::Cx;
use trailblaze_core::model::{ChatMessage, ContentPart, EncodedPicture, ModelReply, ModelRequest};

use crate::connection::{RpcError, brief};

pub const METHOD: &str = "sampling/createMessage";

/// The pictures that all models with vision accept.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Asks the model on behalf of the call that `cx` belongs to.
pub async fn create_message(cx: &Cx, params: &Value) -> Result<Value, RpcError> {
    let request = request(params).map_err(|bad| RpcError::new(RpcError::INVALID_PARAMS, bad.to_string()))?;
    let sampled = sample(cx, Sample { request, has_screen: false }).await.map_err(|error| refusal(&error))?;
    Ok(answer(&sampled))
}

fn answer(sampled: &Sampled) -> Value {
    json!({
        "role": "assistant",
        "content": {"type": "text", "text": sampled.text},
        "model": sampled.model,
        "stopReason": if sampled.is_cut_off { "maxTokens" } else { "endTurn" },
    })
}

fn refusal(error: &SamplingError) -> RpcError {
    let code = match error {
        SamplingError::NoCall | SamplingError::NotAllowed { .. } | SamplingError::OverQuota { .. } => {
            RpcError::REJECTED
        }
        SamplingError::TooLarge | SamplingError::NoVision { .. } => RpcError::INVALID_PARAMS,
        SamplingError::NoScreen(_) | SamplingError::Refused(_) | SamplingError::Ask(_) => RpcError::INTERNAL,
    };
    RpcError::new(code, error.to_string())
}

/// What is wrong with a request.
#[derive(Debug, PartialEq, thiserror::Error)]
enum BadSamplingRequest {
    #[error("`messages` must be a list with at least one message")]
    NoMessages,
    #[error("the first message must have the role `user`")]
    NoUser,
    #[error("the `role` of a message must be `user` or `assistant`, got {0}")]
    Role(String),
    #[error("the `content` of a message must be text or a picture, got {0}")]
    Content(String),
    #[error("a message with the role `assistant` must be text")]
    AssistantPicture,
    #[error("a picture must be PNG, JPEG, GIF or WebP, got {0}")]
    Kind(String),
    #[error("the `data` of a picture must be base64")]
    Data,
    #[error("`{name}` must be {what}, got {value}")]
    Field { name: &'static str, what: &'static str, value: String },
    #[error("`tools` are not supported in requests to a model")]
    Tools,
}

/// Reads the parameters of a request. Preferences for a model and the inclusion of context are hints, and have no effect.
fn request(params: &Value) -> Result<ModelRequest, BadSamplingRequest> {
    let given = |name: &str| params.get(name).filter(|value| !value.is_null());
    let bad = |name, what, value: &Value| BadSamplingRequest::Field { name, what, value: brief(value) };
    if given("tools").is_some_and(|tools| tools.as_array().is_none_or(|tools| !tools.is_empty())) {
        return Err(BadSamplingRequest::Tools);
    }
    let system = match given("systemPrompt") {
        None => "",
        Some(value) => value.as_str().ok_or_else(|| bad("systemPrompt", "text", value))?,
    };
    let most = |value: &Value| value.as_u64().filter(|most| *most > 0);
    let max_output_tokens = match given("maxTokens") {
        None => None,
        Some(value) => Some(most(value).ok_or_else(|| bad("maxTokens", "a positive whole number", value))?),
    };
    let temperature = match given("temperature") {
        None => None,
        Some(value) => Some(value.as_f64().ok_or_else(|| bad("temperature", "a number", value))?),
    };
    let texts = |value: &Value| -> Option<Vec<String>> {
        value.as_array()?.iter().map(|text| text.as_str().map(str::to_string)).collect()
    };
    let stop_sequences = match given("stopSequences") {
        None => Vec::new(),
        Some(value) => texts(value).ok_or_else(|| bad("stopSequences", "a list of texts", value))?,
    };
    let messages = messages(params.get("messages").and_then(Value::as_array).ok_or(BadSamplingRequest::NoMessages)?)?;
    Ok(ModelRequest { max_output_tokens, temperature, stop_sequences, ..ModelRequest::new(system, messages) })
}

/// Messages of the same role that follow each other become one, because some providers refuse them.
fn messages(given: &[Value]) -> Result<Vec<ChatMessage>, BadSamplingRequest> {
    let mut messages: Vec<ChatMessage> = Vec::new();
    for message in given {
        let parts = parts(message.get("content").unwrap_or(&Value::Null))?;
        match message.get("role").and_then(Value::as_str) {
            Some("user") => match messages.last_mut() {
                Some(ChatMessage::User(earlier)) => earlier.extend(parts),
                _ => messages.push(ChatMessage::User(parts)),
            },
            Some("assistant") => {
                let text = |part: ContentPart| match part {
                    ContentPart::Text(text) => Ok(text),
                    ContentPart::Picture(_) => Err(BadSamplingRequest::AssistantPicture),
                };
                let text = parts.into_iter().map(text).collect::<Result<Vec<_>, _>>()?.join("\n");
                match messages.last_mut() {
                    None => return Err(BadSamplingRequest::NoUser),
                    Some(ChatMessage::Assistant(earlier)) => earlier.text = format!("{}\n{text}", earlier.text),
                    Some(_) => {
                        messages.push(ChatMessage::Assistant(Box::new(ModelReply { text, ..ModelReply::default() })))
                    }
                }
            }
            _ => return Err(BadSamplingRequest::Role(brief(message.get("role").unwrap_or(&Value::Null)))),
        }
    }
    if messages.is_empty() { Err(BadSamplingRequest::NoMessages) } else { Ok(messages) }
}

/// The content of a message: one block, a list of blocks, or a plain text, which some libraries send.
fn parts(content: &Value) -> Result<Vec<ContentPart>, BadSamplingRequest> {
    match content {
        Value::Array(blocks) => blocks.iter().map(part).collect(),
        block => Ok(vec![part(block)?]),
    }
}

fn part(block: &Value) -> Result<ContentPart, BadSamplingRequest> {
    let text = |name: &str| block.get(name).and_then(Value::as_str);
    match (block, text("type")) {
        (Value::String(text), _) => Ok(ContentPart::Text(text.clone())),
        (_, Some("text")) => text("text")
            .map(|text| ContentPart::Text(text.to_string()))
            .ok_or_else(|| BadSamplingRequest::Content(brief(block))),
        (_, Some("image")) => {
            let kind = text("mimeType").unwrap_or_default();
            if !PICTURES.contains(&kind) {
                return Err(BadSamplingRequest::Kind(brief(&format!("`{kind}`"))));
            }
            let bytes =
                text("data").and_then(|data| BASE64_STANDARD.decode(data).ok()).ok_or(BadSamplingRequest::Data)?;
            Ok(ContentPart::Picture(EncodedPicture { media_type: kind.to_string(), bytes: Arc::from(bytes) }))
        }
        (_, Some(kind)) => Err(BadSamplingRequest::Content(brief(&format!("`{kind}`")))),
        (_, None) => Err(BadSamplingRequest::Content(brief(block))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_translated_with_all_that_a_model_can_be_told() {
        let read = request(&json!({
            "messages": [
                {"role": "user", "content": {"type": "text", "text": "What is it?"}},
                {"role": "user", "content": [{"type": "image", "mimeType": "image/png", "data": "AQI="}]},
                {"role": "assistant", "content": {"type": "text", "text": "A cat."}},
                {"role": "user", "content": "Sure?"},
            ],
            "systemPrompt": "Be brief.", "maxTokens": 9, "temperature": 0.5, "stopSequences": ["END"],
            "modelPreferences": {"hints": [{"name": "any"}]}, "includeContext": "none", "metadata": {"a": 1},
        }));
        let picture = EncodedPicture { media_type: "image/png".into(), bytes: Arc::from([1, 2]) };
        let expected = ModelRequest {
            max_output_tokens: Some(9),
            temperature: Some(0.5),
            stop_sequences: vec!["END".into()],
            ..ModelRequest::new(
                "Be brief.",
                vec![
                    ChatMessage::User(vec![ContentPart::Text("What is it?".into()), ContentPart::Picture(picture)]),
                    ChatMessage::Assistant(Box::new(ModelReply { text: "A cat.".into(), ..ModelReply::default() })),
                    ChatMessage::user("Sure?"),
                ],
            )
        };
        assert_eq!(read, Ok(expected));
    }

    #[test]
    fn a_bad_request_is_refused_with_what_is_wrong() {
        let check = |params: Value, expected: &str| {
            let refused = request(&params).expect_err("it is bad");
            assert_eq!(refused.to_string(), expected, "{params}");
        };
        let asking = |content: Value| json!({"messages": [{"role": "user", "content": content}]});
        check(json!({}), "`messages` must be a list with at least one message");
        check(json!({"messages": []}), "`messages` must be a list with at least one message");
        check(
            json!({"messages": [{"role": "assistant", "content": "x"}]}),
            "the first message must have the role `user`",
        );
        check(
            json!({"messages": [{"role": "system", "content": "x"}]}),
            "the `role` of a message must be `user` or `assistant`, got \"system\"",
        );
        check(asking(json!({"type": "audio"})), "the `content` of a message must be text or a picture, got `audio`");
        check(asking(json!(5)), "the `content` of a message must be text or a picture, got 5");
        check(
            asking(json!({"type": "image", "mimeType": "image/svg+xml", "data": ""})),
            "a picture must be PNG, JPEG, GIF or WebP, got `image/svg+xml`",
        );
        check(
            asking(json!({"type": "image", "mimeType": "image/png", "data": "%"})),
            "the `data` of a picture must be base64",
        );
        let with = |name: &str, value: Value| {
            let mut params = asking(json!("x"));
            params[name] = value;
            params
        };
        check(with("maxTokens", json!(0)), "`maxTokens` must be a positive whole number, got 0");
        check(with("temperature", json!("hot")), "`temperature` must be a number, got \"hot\"");
        check(with("stopSequences", json!([1])), "`stopSequences` must be a list of texts, got [1]");
        check(with("systemPrompt", json!(1)), "`systemPrompt` must be text, got 1");
        check(with("tools", json!([{"name": "x"}])), "`tools` are not supported in requests to a model");
    }
}
