//! Ollama, `/api/chat`.

use serde_json::{Map, Value, json};
use trailblaze_core::model::{
    ChatMessage, ContentPart, ModelError, ModelErrorKind, ModelReply, ModelRequest, RequestedCall, RequestedCallResult,
    StopReason,
};

use super::names::{WireNames, wire_name};
use super::schema::object_schema;
use super::{ParsedReply, Unfit, arguments, arguments_json, base64, count, pictures_of, text_of, turn, usage};
use crate::estimate::estimated_tokens;
use crate::settings::Settings;

/// The context that is requested unless the project says otherwise. Always the same, because a model is loaded again for another.
const CONTEXT_TOKENS: u64 = 16_384;
/// Estimates of shorter requests say too little.
const SHORTEST_ESTIMATE: u64 = 1_000;

pub fn body(settings: &Settings, request: &ModelRequest) -> Result<Value, ModelError> {
    let (context, estimate) = (context(settings), estimated_tokens(request));
    if estimate > context {
        return Err(ModelError {
            kind: ModelErrorKind::TooLong,
            message: format!(
                "the request has about {estimate} tokens, and `{}` is used with a context of {context}",
                settings.id()
            ),
            hint: Some(context_hint(settings)),
        });
    }
    let mut body = Map::new();
    body.insert("model".into(), settings.model.as_str().into());
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            let parameters = object_schema(&tool.parameters);
            let function =
                json!({"name": wire_name(&tool.name), "description": tool.description, "parameters": parameters});
            json!({"type": "function", "function": function})
        });
        body.insert("tools".into(), tools.collect());
    }
    let system = (!request.system.is_empty()).then(|| json!({"role": "system", "content": request.system}));
    body.insert("messages".into(), system.into_iter().chain(request.messages.iter().flat_map(messages)).collect());
    body.insert("stream".into(), false.into());
    // Newer versions answer with an error then, instead of leaving out the front of the request.
    body.insert("truncate".into(), false.into());
    body.insert("shift".into(), false.into());
    let mut options = Map::new();
    options.insert("num_ctx".into(), context.into());
    options.extend(settings.output_limit(request).map(|limit| ("num_predict".to_string(), limit.into())));
    options
        .extend(settings.temperature_for(request).map(|temperature| ("temperature".to_string(), temperature.into())));
    if !request.stop_sequences.is_empty() {
        options.insert("stop".into(), json!(request.stop_sequences));
    }
    body.insert("options".into(), options.into());
    Ok(body.into())
}

fn context(settings: &Settings) -> u64 {
    settings.context_length.unwrap_or(CONTEXT_TOKENS)
}

fn context_hint(settings: &Settings) -> String {
    format!("set a larger `context_length` for `{}` in `llm.providers`", settings.model)
}

fn messages(message: &ChatMessage) -> Vec<Value> {
    match message {
        ChatMessage::User(parts) => vec![with_images(json!({"role": "user", "content": text_of(parts)}), parts)],
        ChatMessage::Assistant(reply) => {
            let mut json = json!({"role": "assistant", "content": reply.text});
            if !reply.calls.is_empty() {
                let call = |call: &RequestedCall| json!({"function": {"name": wire_name(&call.name), "arguments": arguments_json(&call.arguments)}});
                json["tool_calls"] = reply.calls.iter().map(call).collect();
            }
            vec![json]
        }
        ChatMessage::Results(results) => {
            let mut messages: Vec<Value> = results.iter().map(tool_message).collect();
            // Templates of models show pictures of the user only.
            for result in results.iter().filter(|result| pictures_of(&result.parts).next().is_some()) {
                let text = format!("The picture that `{}` returned:", result.name);
                messages.push(with_images(json!({"role": "user", "content": text}), &result.parts));
            }
            messages
        }
    }
}

fn tool_message(result: &RequestedCallResult) -> Value {
    let text = text_of(&result.parts);
    let text = if result.is_error && !text.starts_with("error") { format!("error: {text}") } else { text };
    json!({"role": "tool", "tool_name": wire_name(&result.name), "content": text})
}

fn with_images(mut message: Value, parts: &[ContentPart]) -> Value {
    let images: Vec<String> = pictures_of(parts).map(base64).collect();
    if !images.is_empty() {
        message["images"] = json!(images);
    }
    message
}

pub fn answer(
    names: &WireNames,
    settings: &Settings,
    request: &ModelRequest,
    body: &Value,
) -> Result<ParsedReply, Unfit> {
    let message = body.get("message").filter(|message| message.is_object()).ok_or_else(|| Unfit::lacks("message"))?;
    let counted = body.get("prompt_eval_count").map(|_| count(body, "/prompt_eval_count"));
    let estimate = estimated_tokens(request);
    // The reply to what is left of a request without its front is worse than none: the tools and the rules were there.
    if let Some(counted) = counted.filter(|counted| estimate >= SHORTEST_ESTIMATE && counted * 2 < estimate) {
        tracing::warn!(target: "trailblaze::model", model = settings.id(), counted, estimate, "the request was cut");
        return Ok(ParsedReply::ContextFull(format!(
            "only {counted} of about {estimate} tokens were read, so the front of the request was left out"
        )));
    }
    let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    let calls: Vec<RequestedCall> = calls
        .enumerate()
        .map(|(index, call)| {
            let name = call.pointer("/function/name").and_then(Value::as_str);
            Ok(RequestedCall {
                id: format!("call_{}_{}", turn(request), index + 1),
                name: names.own(name.ok_or_else(|| Unfit::lacks("tool_calls[].function.name"))?),
                arguments: arguments(call.pointer("/function/arguments")),
            })
        })
        .collect::<Result<_, Unfit>>()?;
    let stop = match body.get("done_reason").and_then(Value::as_str) {
        Some("length") => StopReason::CutOff,
        _ => StopReason::End,
    };
    Ok(ParsedReply::Reply(ModelReply {
        text: message.get("content").and_then(Value::as_str).unwrap_or_default().to_string(),
        calls,
        stop,
        usage: usage(counted.unwrap_or(estimate), count(body, "/eval_count"), 0, 0),
        raw: Value::Null,
    }))
}
