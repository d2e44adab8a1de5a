//! Google Gemini, `generateContent`.

use std::time::Duration;

use serde_json::{Map, Value, json};
use trailblaze_core::model::{
    ChatMessage, Choice, ContentPart, ModelReply, ModelRequest, RequestedCall, RequestedCallResult, StopReason,
};

use super::names::{WireNames, wire_name};
use super::schema::object_schema;
use super::{Unfit, arguments, arguments_json, base64, count, pictures_of, text_of, turn, usage};
use crate::failure::ProviderError;
use crate::settings::Settings;

/// The key of [`ModelReply::raw`].
const RAW: &str = "gemini";

pub fn body(settings: &Settings, request: &ModelRequest) -> Value {
    let mut body = Map::new();
    if !request.tools.is_empty() {
        let functions = request.tools.iter().map(|tool| {
            json!({
                "name": wire_name(&tool.name),
                "description": tool.description,
                // Plain `parameters` refuses $ref, const, lists of types and additionalProperties.
                "parametersJsonSchema": object_schema(&tool.parameters),
            })
        });
        body.insert("tools".into(), json!([{"functionDeclarations": functions.collect::<Vec<_>>()}]));
        let mode = if request.choice == Choice::Required { "ANY" } else { "AUTO" };
        body.insert("toolConfig".into(), json!({"functionCallingConfig": {"mode": mode}}));
    }
    if !request.system.is_empty() {
        body.insert("systemInstruction".into(), json!({"parts": [{"text": request.system}]}));
    }
    body.insert("contents".into(), contents(request).into());
    let mut config = Map::new();
    config.extend(settings.output_limit(request).map(|limit| ("maxOutputTokens".to_string(), limit.into())));
    config.extend(settings.temperature_for(request).map(|temperature| ("temperature".to_string(), temperature.into())));
    if !request.stop_sequences.is_empty() {
        config.insert("stopSequences".into(), json!(request.stop_sequences));
    }
    if !config.is_empty() {
        body.insert("generationConfig".into(), config.into());
    }
    body.into()
}

fn contents(request: &ModelRequest) -> Vec<Value> {
    let mut contents = Vec::new();
    for message in &request.messages {
        match message {
            ChatMessage::User(parts) => {
                contents.push(json!({"role": "user", "parts": parts.iter().map(part).collect::<Vec<_>>()}))
            }
            ChatMessage::Assistant(reply) => contents.push(json!({"role": "model", "parts": echo(reply)})),
            ChatMessage::Results(results) => {
                let responses: Vec<Value> = results.iter().map(response).collect();
                contents.push(json!({"role": "user", "parts": responses}));
                // A content with responses must have exactly one for each call, so pictures follow separately.
                let pictures: Vec<Value> = results.iter().flat_map(pictures_after).collect();
                if !pictures.is_empty() {
                    contents.push(json!({"role": "user", "parts": pictures}));
                }
            }
        }
    }
    contents
}

fn part(part: &ContentPart) -> Value {
    match part {
        ContentPart::Text(text) => json!({"text": text}),
        ContentPart::Picture(picture) => {
            json!({"inlineData": {"mimeType": picture.media_type, "data": base64(picture)}})
        }
    }
}

fn response(result: &RequestedCallResult) -> Value {
    let key = if result.is_error { "error" } else { "output" };
    json!({"functionResponse": {"name": wire_name(&result.name), "response": {key: text_of(&result.parts)}}})
}

fn pictures_after(result: &RequestedCallResult) -> Vec<Value> {
    let pictures = pictures_of(&result.parts).map(|picture| part(&ContentPart::Picture(picture.clone())));
    let mut parts: Vec<Value> = pictures.collect();
    if !parts.is_empty() {
        parts.insert(0, json!({"text": format!("The picture that `{}` returned:", result.name)}));
    }
    parts
}

/// What the model replied, exactly as it was if it has signatures: each belongs to its own part.
fn echo(reply: &ModelReply) -> Vec<Value> {
    if let Some(parts) = reply.raw.get(RAW).and_then(Value::as_array) {
        return parts.clone();
    }
    let text = (!reply.text.is_empty() || reply.calls.is_empty()).then(|| json!({"text": reply.text}));
    let calls = reply
        .calls
        .iter()
        .map(|call| json!({"functionCall": {"name": wire_name(&call.name), "args": arguments_json(&call.arguments)}}));
    text.into_iter().chain(calls).collect()
}

pub fn reply(names: &WireNames, request: &ModelRequest, body: &Value) -> Result<ModelReply, Unfit> {
    let spent = body.get("usageMetadata").unwrap_or(&Value::Null);
    let usage = usage(
        count(spent, "/promptTokenCount") + count(spent, "/toolUsePromptTokenCount"),
        count(spent, "/candidatesTokenCount") + count(spent, "/thoughtsTokenCount"),
        count(spent, "/cachedContentTokenCount"),
        0,
    );
    let blocked = body.pointer("/promptFeedback/blockReason").and_then(Value::as_str);
    let Some(candidate) = body.pointer("/candidates/0") else {
        let reason = blocked.ok_or_else(|| Unfit::lacks("candidates"))?;
        return Ok(ModelReply {
            stop: StopReason::Refused(format!("the request was blocked: {reason}")),
            usage,
            ..ModelReply::default()
        });
    };
    let parts = candidate.pointer("/content/parts").and_then(Value::as_array).cloned().unwrap_or_default();
    let (mut text, mut calls) = (String::new(), Vec::new());
    for part in &parts {
        let is_thought = part.get("thought").and_then(Value::as_bool).unwrap_or_default();
        if let Some(words) = part.get("text").and_then(Value::as_str).filter(|_| !is_thought) {
            text.push_str(words);
        }
        if let Some(call) = part.get("functionCall") {
            let name = call.get("name").and_then(Value::as_str).ok_or_else(|| Unfit::lacks("functionCall.name"))?;
            // Ids are optional.
            let id = call.get("id").and_then(Value::as_str);
            calls.push(RequestedCall {
                id: id.map_or_else(|| format!("call_{}_{}", turn(request), calls.len() + 1), String::from),
                name: names.own(name),
                arguments: arguments(call.get("args")),
            });
        }
    }
    let stop = match candidate.get("finishReason").and_then(Value::as_str) {
        None | Some("STOP" | "FINISH_REASON_UNSPECIFIED" | "OTHER") => StopReason::End,
        Some("MAX_TOKENS") => StopReason::CutOff,
        Some("MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS" | "MALFORMED_RESPONSE") => {
            StopReason::Malformed
        }
        Some(reason) => {
            let words = candidate.get("finishMessage").and_then(Value::as_str);
            StopReason::Refused(words.map_or_else(|| reason.to_string(), |words| format!("{reason}: {words}")))
        }
    };
    let is_signed = |part: &Value| part.get("thoughtSignature").is_some() || part.get("thought").is_some();
    let raw = if parts.iter().any(is_signed) { json!({RAW: parts}) } else { Value::Null };
    Ok(ModelReply { text, calls, stop, usage, raw })
}

/// `{"error": {code, message, status, details}}`; a list with one of them from some gateways.
pub fn error(body: &Value) -> Option<ProviderError> {
    let error = body.get("error").or_else(|| body.pointer("/0/error")).filter(|error| !error.is_null())?;
    let details = || error.get("details").and_then(Value::as_array).into_iter().flatten();
    let retry_after = details().filter_map(|detail| detail.get("retryDelay").and_then(Value::as_str)).next();
    let mut quotas =
        details().flat_map(|detail| detail.get("violations").and_then(Value::as_array).into_iter().flatten());
    let is_daily =
        quotas.any(|quota| quota.get("quotaId").and_then(Value::as_str).is_some_and(|id| id.contains("PerDay")));
    let reasons = details().filter_map(|detail| detail.get("reason").and_then(Value::as_str));
    let codes = error.get("status").and_then(Value::as_str).into_iter().chain(reasons);
    Some(ProviderError {
        message: error.get("message").and_then(Value::as_str).unwrap_or_default().to_string(),
        codes: codes.map(String::from).collect(),
        param: None,
        status: error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok()),
        retry_after: retry_after.and_then(seconds),
        is_used_up: is_daily,
    })
}

/// `34s`, `1.5s`.
fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}
