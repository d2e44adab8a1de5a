//! OpenAI chat completions, which many other providers and gateways speak too.

use serde_json::{Map, Value, json};
use trailblaze_core::model::{
    ChatMessage, Choice, ContentPart, EncodedPicture, ModelError, ModelErrorKind, ModelReply, ModelRequest,
    RequestedArguments, RequestedCall, RequestedCallResult, StopReason,
};

use super::names::{WireNames, wire_name};
use super::schema::object_schema;
use super::{Quirks, Unfit, arguments, base64, count, pictures_of, text_of, usage};
use crate::failure::ProviderError;
use crate::settings::Settings;

/// Whose API it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    OpenAi,
    /// Others know the older name of the limit of output tokens, and have limits of their own.
    Compatible,
}

/// What OpenRouter calls the reasoning of a model, which must be sent back as it is.
const REASONING: &str = "reasoning_details";

/// OpenAI refuses more.
const MOST_TOOLS: usize = 128;

pub fn body(
    dialect: Dialect,
    settings: &Settings,
    quirks: Quirks,
    request: &ModelRequest,
) -> Result<Value, ModelError> {
    if dialect == Dialect::OpenAi && request.tools.len() > MOST_TOOLS {
        return Err(ModelError {
            kind: ModelErrorKind::Setup,
            message: format!(
                "{} tools are offered to `{}`, which accepts at most {MOST_TOOLS}",
                request.tools.len(),
                settings.id()
            ),
            hint: Some("offer fewer tools, or use a model of another provider".to_string()),
        });
    }
    let mut body = Map::new();
    body.insert("model".into(), settings.model.as_str().into());
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            let function = json!({
                "name": wire_name(&tool.name),
                "description": tool.description,
                "parameters": object_schema(&tool.parameters),
                // The default may be strict, which allows only some schemas.
                "strict": false,
            });
            json!({"type": "function", "function": function})
        });
        body.insert("tools".into(), tools.collect());
        let is_forced = request.choice == Choice::Required && !quirks.refuses_forced_choice;
        body.insert("tool_choice".into(), if is_forced { "required" } else { "auto" }.into());
    }
    let system = (!request.system.is_empty()).then(|| json!({"role": "system", "content": request.system}));
    body.insert("messages".into(), system.into_iter().chain(request.messages.iter().flat_map(messages)).collect());
    if let Some(limit) = settings.output_limit(request) {
        let is_newer = (dialect == Dialect::OpenAi) != quirks.has_other_limit_name;
        body.insert(if is_newer { "max_completion_tokens" } else { "max_tokens" }.into(), limit.into());
    }
    body.extend(settings.temperature_for(request).map(|temperature| ("temperature".to_string(), temperature.into())));
    if !request.stop_sequences.is_empty() {
        body.insert("stop".into(), json!(request.stop_sequences));
    }
    Ok(body.into())
}

fn messages(message: &ChatMessage) -> Vec<Value> {
    match message {
        ChatMessage::User(parts) => vec![json!({"role": "user", "content": content(parts)})],
        ChatMessage::Assistant(reply) => vec![assistant(reply)],
        ChatMessage::Results(results) => {
            let mut messages: Vec<Value> = results.iter().map(tool_message).collect();
            // Pictures in tool messages are accepted and then made up by the model, so they follow as the user's.
            let pictures: Vec<Value> = results.iter().flat_map(pictures_after).collect();
            if !pictures.is_empty() {
                messages.push(json!({"role": "user", "content": pictures}));
            }
            messages
        }
    }
}

/// A text if there is nothing else, which every server understands.
fn content(parts: &[ContentPart]) -> Value {
    if let [ContentPart::Text(text)] = parts {
        return text.as_str().into();
    }
    let part = |part: &ContentPart| match part {
        ContentPart::Text(text) => json!({"type": "text", "text": text}),
        ContentPart::Picture(picture) => image(picture),
    };
    parts.iter().map(part).collect()
}

fn image(picture: &EncodedPicture) -> Value {
    let url = format!("data:{};base64,{}", picture.media_type, base64(picture));
    json!({"type": "image_url", "image_url": {"url": url}})
}

fn assistant(reply: &ModelReply) -> Value {
    let mut message = Map::new();
    message.insert("role".into(), "assistant".into());
    let text = (!reply.text.is_empty()).then_some(reply.text.as_str());
    message
        .insert("content".into(), if reply.calls.is_empty() { json!(text.unwrap_or_default()) } else { json!(text) });
    if !reply.calls.is_empty() {
        let calls = reply.calls.iter().map(|call| {
            let arguments = match &call.arguments {
                RequestedArguments::Object(map) => json!(map).to_string(),
                RequestedArguments::Malformed(text) => text.clone(),
            };
            let function = json!({"name": wire_name(&call.name), "arguments": arguments});
            json!({"id": call.id, "type": "function", "function": function})
        });
        message.insert("tool_calls".into(), calls.collect());
    }
    // OpenRouter passes them on to models that refuse a conversation without them.
    message.extend(reply.raw.get(REASONING).map(|details| (REASONING.to_string(), details.clone())));
    message.into()
}

fn tool_message(result: &RequestedCallResult) -> Value {
    let text = text_of(&result.parts);
    // There is no field for it.
    let text = if result.is_error && !text.starts_with("error") { format!("error: {text}") } else { text };
    json!({"role": "tool", "tool_call_id": result.id, "content": text})
}

fn pictures_after(result: &RequestedCallResult) -> Vec<Value> {
    let mut parts: Vec<Value> = pictures_of(&result.parts).map(image).collect();
    if !parts.is_empty() {
        parts.insert(0, json!({"type": "text", "text": format!("The picture that `{}` returned:", result.name)}));
    }
    parts
}

pub fn reply(names: &WireNames, body: &Value) -> Result<ModelReply, Unfit> {
    let choice = body.pointer("/choices/0").ok_or_else(|| Unfit::lacks("choices"))?;
    let message = choice.get("message").filter(|message| message.is_object()).ok_or_else(|| Unfit::lacks("message"))?;
    let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    let calls: Vec<RequestedCall> = calls
        .enumerate()
        .map(|(index, call)| {
            let name = call.pointer("/function/name").and_then(Value::as_str);
            let id = call.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
            Ok(RequestedCall {
                id: id.map_or_else(|| format!("call_{}", index + 1), String::from),
                name: names.own(name.ok_or_else(|| Unfit::lacks("tool_calls[].function.name"))?),
                arguments: arguments(call.pointer("/function/arguments")),
            })
        })
        .collect::<Result<_, Unfit>>()?;
    let refusal = message.get("refusal").and_then(Value::as_str).filter(|refusal| !refusal.is_empty());
    let stop = match (refusal, choice.get("finish_reason").and_then(Value::as_str)) {
        (Some(refusal), _) => StopReason::Refused(refusal.to_string()),
        (None, Some("length")) => StopReason::CutOff,
        (None, Some("content_filter")) => StopReason::Refused("the provider's content filter stopped it".to_string()),
        (None, _) => StopReason::End,
    };
    let spent = body.get("usage").unwrap_or(&Value::Null);
    Ok(ModelReply {
        text: text(message.get("content")),
        calls,
        stop,
        usage: usage(
            count(spent, "/prompt_tokens"),
            count(spent, "/completion_tokens"),
            count(spent, "/prompt_tokens_details/cached_tokens"),
            count(spent, "/prompt_tokens_details/cache_write_tokens"),
        ),
        raw: message
            .get(REASONING)
            .filter(|details| !details.is_null())
            .map_or(Value::Null, |details| json!({ REASONING: details })),
    })
}

/// A text, or a list of parts, as some servers send it.
fn text(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect(),
        _ => String::new(),
    }
}

/// `{"error": {message, type, param, code}}`, as OpenAI and Anthropic write it, or `{"error": "…"}`, as others do.
pub fn error(body: &Value) -> Option<ProviderError> {
    let error = body.get("error").filter(|error| !error.is_null())?;
    let word = |key: &str| error.get(key).and_then(Value::as_str).map(String::from);
    let message = error.as_str().map(String::from).or_else(|| word("message")).unwrap_or_else(|| error.to_string());
    Some(ProviderError {
        message,
        codes: [word("code"), word("type")].into_iter().flatten().collect(),
        param: word("param"),
        status: error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok()),
        ..ProviderError::default()
    })
}

pub fn adapted(error: &ProviderError, quirks: Quirks) -> Quirks {
    match error.param.as_deref() {
        Some("max_tokens" | "max_completion_tokens") if error.has_code("unsupported_parameter") => {
            Quirks { has_other_limit_name: true, ..quirks }
        }
        Some("tool_choice") => Quirks { refuses_forced_choice: true, ..quirks },
        _ => quirks,
    }
}
