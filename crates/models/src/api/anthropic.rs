//! Anthropic messages.

use serde_json::{Map, Value, json};
use trailblaze_core::model::{
    ChatMessage, Choice, ContentPart, ModelReply, ModelRequest, RequestedCall, RequestedCallResult, StopReason,
};

use super::names::{WireNames, wire_name};
use super::schema::object_schema;
use super::{ParsedReply, Quirks, Unfit, arguments, arguments_json, base64, count, usage};
use crate::failure::ProviderError;
use crate::settings::Settings;

/// The protocol requires a limit.
const OUTPUT_TOKENS: u64 = 8_192;
/// The key of [`ModelReply::raw`].
const RAW: &str = "anthropic";

pub fn body(settings: &Settings, quirks: Quirks, request: &ModelRequest) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), settings.model.as_str().into());
    if !request.tools.is_empty() {
        let mut tools: Vec<Value> = request
            .tools
            .iter()
            .map(|tool| {
                let schema = object_schema(&tool.parameters);
                json!({"name": wire_name(&tool.name), "description": tool.description, "input_schema": schema})
            })
            .collect();
        mark(tools.last_mut());
        body.insert("tools".into(), tools.into());
        // Forcing a call is an error while the model thinks.
        let is_forced = request.choice == Choice::Required && !quirks.refuses_forced_choice && !has_thought(request);
        body.insert("tool_choice".into(), json!({"type": if is_forced { "any" } else { "auto" }}));
    }
    if !request.system.is_empty() {
        let mut system = [json!({"type": "text", "text": request.system})];
        mark(system.last_mut());
        body.insert("system".into(), json!(system));
    }
    body.insert("messages".into(), messages(request).into());
    body.insert("max_tokens".into(), settings.output_limit(request).unwrap_or(OUTPUT_TOKENS).into());
    body.extend(settings.temperature_for(request).map(|temperature| ("temperature".to_string(), temperature.into())));
    if !request.stop_sequences.is_empty() {
        body.insert("stop_sequences".into(), json!(request.stop_sequences));
    }
    body.into()
}

/// Ends a part of the request that the provider may cache. It allows four such marks; we set three: after the tools, the system
/// prompt, and everything but the newest part, which is replaced in the next request.
fn mark(block: Option<&mut Value>) {
    if let Some(block) = block {
        block["cache_control"] = json!({"type": "ephemeral"});
    }
}

fn messages(request: &ModelRequest) -> Vec<Value> {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in &request.messages {
        let (role, blocks) = match message {
            ChatMessage::User(parts) => ("user", parts.iter().filter_map(block).collect::<Vec<_>>()),
            ChatMessage::Assistant(reply) => ("assistant", echo(reply)),
            ChatMessage::Results(results) => ("user", results.iter().map(tool_result).collect()),
        };
        match turns.last_mut() {
            // Results and the message after them are one turn.
            Some((last, earlier)) if *last == role => earlier.extend(blocks),
            _ => turns.push((role, blocks)),
        }
    }
    turns.retain(|(_, blocks)| !blocks.is_empty());
    let mut users = turns.iter_mut().filter(|(role, _)| *role == "user").flat_map(|(_, blocks)| blocks).rev();
    let _newest = users.next();
    mark(users.next());
    turns.into_iter().map(|(role, blocks)| json!({"role": role, "content": blocks})).collect()
}

/// Empty texts are refused.
fn block(part: &ContentPart) -> Option<Value> {
    match part {
        ContentPart::Text(text) if text.trim().is_empty() => None,
        ContentPart::Text(text) => Some(json!({"type": "text", "text": text})),
        ContentPart::Picture(picture) => {
            let source = json!({"type": "base64", "media_type": picture.media_type, "data": base64(picture)});
            Some(json!({"type": "image", "source": source}))
        }
    }
}

fn tool_result(result: &RequestedCallResult) -> Value {
    let content: Vec<Value> = result.parts.iter().filter_map(block).collect();
    let mut json = json!({"type": "tool_result", "tool_use_id": result.id, "content": content});
    if result.is_error {
        json["is_error"] = true.into();
    }
    json
}

/// What the model replied, exactly as it was if it thought: the signatures of its thoughts are checked.
fn echo(reply: &ModelReply) -> Vec<Value> {
    if let Some(blocks) = reply.raw.get(RAW).and_then(Value::as_array) {
        return blocks.clone();
    }
    let text = block(&ContentPart::Text(reply.text.clone()));
    let calls = reply.calls.iter().map(|call| {
        let input = arguments_json(&call.arguments);
        json!({"type": "tool_use", "id": call.id, "name": wire_name(&call.name), "input": input})
    });
    text.into_iter().chain(calls).collect()
}

fn has_thought(request: &ModelRequest) -> bool {
    request.messages.iter().any(|message| match message {
        ChatMessage::Assistant(reply) => reply.raw.get(RAW).is_some(),
        _ => false,
    })
}

pub fn answer(names: &WireNames, body: &Value) -> Result<ParsedReply, Unfit> {
    let blocks = body.get("content").and_then(Value::as_array).ok_or_else(|| Unfit::lacks("content"))?;
    let (mut text, mut calls, mut has_thoughts) = (String::new(), Vec::new(), false);
    for block in blocks {
        match block.get("type").and_then(Value::as_str) {
            Some("text") => text.push_str(block.get("text").and_then(Value::as_str).unwrap_or_default()),
            Some("tool_use") => {
                let name = block.get("name").and_then(Value::as_str).ok_or_else(|| Unfit::lacks("content[].name"))?;
                let id = block.get("id").and_then(Value::as_str).ok_or_else(|| Unfit::lacks("content[].id"))?;
                calls.push(RequestedCall {
                    id: id.to_string(),
                    name: names.own(name),
                    arguments: arguments(block.get("input")),
                });
            }
            Some("thinking" | "redacted_thinking") => has_thoughts = true,
            _ => {}
        }
    }
    let stop = match body.get("stop_reason").and_then(Value::as_str) {
        Some("max_tokens") => StopReason::CutOff,
        Some("refusal") => StopReason::Refused(text.clone()),
        Some("model_context_window_exceeded") => {
            return Ok(ParsedReply::ContextFull("the reply ended because the context is full".to_string()));
        }
        _ => StopReason::End,
    };
    let spent = body.get("usage").unwrap_or(&Value::Null);
    let (cached, written) = (count(spent, "/cache_read_input_tokens"), count(spent, "/cache_creation_input_tokens"));
    // Its count of input has neither of them.
    let input = count(spent, "/input_tokens") + cached + written;
    let is_empty =
        |block: &&Value| block.get("text").and_then(Value::as_str).is_some_and(|text| text.trim().is_empty());
    let raw = match has_thoughts {
        true => json!({RAW: blocks.iter().filter(|block| !is_empty(block)).collect::<Vec<_>>()}),
        false => Value::Null,
    };
    let usage = usage(input, count(spent, "/output_tokens"), cached, written);
    Ok(ParsedReply::Reply(ModelReply { text, calls, stop, usage, raw }))
}

/// A model may think without being asked to. There is no code for this error, only its text.
pub fn adapted(error: &ProviderError, quirks: Quirks) -> Quirks {
    let is_about_choice = error.message.contains("tool_choice") || error.message.contains("forces tool use");
    if is_about_choice && error.message.to_ascii_lowercase().contains("thinking") {
        return Quirks { refuses_forced_choice: true, ..quirks };
    }
    quirks
}
