//! Anthropic messages.

use serde_json::{Value, json};
use trailblaze_core::config::ProviderKind;
use trailblaze_core::model::{
    ChatMessage, Choice, ContentPart, ModelErrorKind, ModelReply, ModelRequest, OfferedTool, StopReason, TokenUsage,
};
use trailblaze_models::Settings;

use crate::server::*;
use crate::support::*;

fn error(code: u16, kind: &str, message: &str) -> Prepared {
    status(code, json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}))
}

fn refusal(message: &str) -> Option<Prepared> {
    Some(error(400, "invalid_request_error", message))
}

/// Refuses what Anthropic refuses. The model `thinker` thinks without being asked to.
fn check(arrived: &Arrived) -> Option<Prepared> {
    let head = &arrived.head;
    if !head.contains(&format!("x-api-key: {KEY}")) {
        return Some(error(401, "authentication_error", "x-api-key header is required"));
    }
    if !head.contains("anthropic-version: 2023-06-01") {
        return refusal("anthropic-version: header is required");
    }
    let body = &arrived.body;
    if !body["max_tokens"].is_u64() {
        return refusal("max_tokens: Field required");
    }
    if body.get("temperature").is_some() && body["model"] == "newest" {
        return refusal("`temperature` is deprecated for this model.");
    }
    let thinks = body["model"] == "thinker" || body["messages"].to_string().contains("\"type\":\"thinking\"");
    if thinks && body["tool_choice"]["type"] == "any" {
        return refusal("Thinking may not be enabled when tool_choice forces tool use.");
    }
    for (index, tool) in body["tools"].as_array().into_iter().flatten().enumerate() {
        let schema = &tool["input_schema"];
        if ["oneOf", "anyOf", "allOf"].iter().any(|key| schema.get(*key).is_some()) {
            let text = "input_schema does not support oneOf, allOf, or anyOf at the top level";
            return refusal(&format!("tools.{index}.custom.input_schema: {text}"));
        }
        let name = tool["name"].as_str().unwrap_or_default();
        if name.is_empty() || name.len() > 64 || !name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)) {
            return refusal(&format!(
                "tools.{index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'"
            ));
        }
    }
    if body.to_string().matches("cache_control").count() > 4 {
        return refusal("A maximum of 4 blocks with cache_control may be provided. Found 5.");
    }
    let mut last = "";
    for (index, message) in body["messages"].as_array().into_iter().flatten().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        let blocks = message["content"].as_array().cloned().unwrap_or_default();
        if role == last {
            return refusal("messages: roles must alternate between \"user\" and \"assistant\"");
        }
        last = if role == "user" { "user" } else { "assistant" };
        if blocks
            .iter()
            .any(|block| block["type"] == "text" && block["text"].as_str().is_none_or(|text| text.trim().is_empty()))
        {
            return refusal("messages: text content blocks must contain non-whitespace text");
        }
        let thinks_at = blocks.iter().position(|block| block["type"] == "thinking");
        if thinks_at.is_some_and(|at| at > 0 || blocks[at]["signature"] != "sig") {
            return refusal(&format!("messages.{index}.content.0.type: Expected `thinking` or `redacted_thinking`"));
        }
        let is_result = |block: &Value| block["type"] == "tool_result";
        if blocks.iter().rposition(is_result).is_some_and(|end| !blocks[..end].iter().all(is_result)) {
            return refusal("tool_use ids were found without tool_result blocks immediately after");
        }
    }
    None
}

fn replied(content: Value, stop_reason: &str) -> Prepared {
    let usage = json!({
        "input_tokens": 30, "output_tokens": 12, "cache_creation_input_tokens": 200, "cache_read_input_tokens": 1000,
    });
    ok(
        json!({"id": "msg_1", "type": "message", "role": "assistant", "content": content, "stop_reason": stop_reason, "usage": usage}),
    )
}

fn said(text: &str) -> Prepared {
    replied(json!([{"type": "text", "text": text}]), "end_turn")
}

fn settings(model: &str) -> Settings {
    Settings::unlisted("anthropic", model)
}

#[tokio::test]
async fn a_request_is_written_tools_first_and_a_reply_is_read() {
    let content = json!([
        {"type": "text", "text": "I tap."},
        {"type": "tool_use", "id": "toolu_1", "name": "tap", "input": {"ref": "e1"}},
    ]);
    let server = Server::start(check, [replied(content, "tool_use")]).await;
    let request = ModelRequest { choice: Choice::Required, ..plain() };
    let reply = server.model(ProviderKind::Anthropic).complete(&budget(), &request).await.expect("a reply");
    assert_eq!((reply.text.as_str(), &reply.stop), ("I tap.", &StopReason::End));
    assert_eq!(reply.calls, [call("toolu_1", "tap", json!({"ref": "e1"}))]);
    // Its count of input has neither cache reads nor writes.
    assert_eq!(reply.usage, TokenUsage { input: 1230, output: 12, cached: 1000, cache_written: 200 });
    let body = server.body();
    let keys: Vec<&String> = body.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["model", "tools", "tool_choice", "system", "messages", "max_tokens"]);
    assert_eq!(body["tool_choice"], json!({"type": "any"}));
    assert!(server.arrived()[0].head.starts_with("post /v1/messages http/1.1"));
}

#[tokio::test]
async fn what_stays_the_same_is_marked_for_the_cache() {
    let server = Server::start(check, [said("ok")]).await;
    let mut request = continued();
    request.messages.push(ChatMessage::User(vec![ContentPart::Text("log".into()), ContentPart::Text("newest".into())]));
    server.model(ProviderKind::Anthropic).complete(&budget(), &request).await.expect("a reply");
    let body = server.body();
    let marked = |block: &Value| block.get("cache_control").is_some();
    let tools: Vec<bool> = body["tools"].as_array().expect("tools").iter().map(marked).collect();
    assert_eq!(tools, [false, true], "only the last tool");
    assert!(marked(&body["system"][0]));
    let blocks: Vec<&Value> = body["messages"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|message| message["content"].as_array().expect("blocks"))
        .collect();
    let marks: Vec<&str> =
        blocks.iter().filter(|block| marked(block)).filter_map(|block| block["text"].as_str()).collect();
    assert_eq!(marks, ["log"], "everything but the newest part");
}

#[tokio::test]
async fn results_have_their_pictures_and_errors_inside() {
    let server = Server::start(check, [said("ok")]).await;
    server.model(ProviderKind::Anthropic).complete(&budget(), &continued()).await.expect("a reply");
    let results = server.body()["messages"][2]["content"].clone();
    assert_eq!(results[0]["is_error"], true);
    assert_eq!((&results[0]["type"], &results[0]["tool_use_id"]), (&json!("tool_result"), &json!("a1")));
    let source = json!({"type": "base64", "media_type": "image/png", "data": "cGl4ZWxz"});
    assert_eq!(results[1]["content"], json!([{"type": "text", "text": "a form"}, {"type": "image", "source": source}]));
    assert_eq!(results[2]["text"], "The screen: Pay", "results and the message after them are one turn");
    assert_eq!(server.model(ProviderKind::Anthropic).describe().max_picture, Some(2_000));
}

#[tokio::test]
async fn thoughts_are_echoed_first_and_a_choice_is_not_forced_then() {
    let thought = json!({"type": "thinking", "thinking": "hm", "signature": "sig"});
    let called = json!({"type": "tool_use", "id": "t1", "name": "tap", "input": {"ref": "e1"}});
    let content = json!([thought, {"type": "text", "text": ""}, called]);
    let server = Server::start(check, [replied(content, "tool_use"), said("ok")]).await;
    let model = server.model(ProviderKind::Anthropic);
    let mut request = plain();
    let reply = model.complete(&budget(), &request).await.expect("a reply with thoughts");
    request.messages.push(ChatMessage::Assistant(Box::new(reply)));
    request.messages.push(ChatMessage::Results(vec![result(
        "t1",
        "tap",
        vec![ContentPart::Text("done".into())],
        false,
    )]));
    request.choice = Choice::Required;
    model.complete(&budget(), &request).await.expect("nothing is refused");
    let body = server.arrived()[1].body.clone();
    assert_eq!(body["messages"][1]["content"], json!([thought, called]));
    assert_eq!(body["tool_choice"], json!({"type": "auto"}));
}

#[tokio::test]
async fn a_model_that_thinks_by_itself_is_not_forced_again() {
    let server = Server::start(check, [said("ok")]).await;
    let model = server.model_with(ProviderKind::Anthropic, settings("thinker"));
    let request = ModelRequest { choice: Choice::Required, ..plain() };
    for _ in 0..2 {
        model.complete(&budget(), &request).await.expect("a reply");
    }
    let choices: Vec<Value> =
        server.arrived().iter().map(|arrived| arrived.body["tool_choice"]["type"].clone()).collect();
    assert_eq!(choices, ["any", "auto", "auto"]);
}

#[tokio::test]
async fn the_temperature_of_a_request_is_sent_unless_the_model_refuses_it() {
    let request = ModelRequest { temperature: Some(0.5), ..plain() };
    let server = Server::start(check, [said("ok"), said("ok"), said("ok")]).await;
    let newest = server.model_with(ProviderKind::Anthropic, settings("newest"));
    for _ in 0..2 {
        newest.complete(&budget(), &request).await.expect("it is sent again without one");
    }
    let older = Settings { temperature: Some(0.0), ..settings("older") };
    server.model_with(ProviderKind::Anthropic, older).complete(&budget(), &request).await.expect("one is sent");
    let sent: Vec<Value> = server.arrived().iter().map(|arrived| arrived.body["temperature"].clone()).collect();
    assert_eq!(sent, [json!(0.5), Value::Null, Value::Null, json!(0.5)]);
}

#[tokio::test]
async fn names_and_schemas_that_are_refused_are_sent_differently() {
    let parameters = json!({"type": "object", "anyOf": [{"properties": {"a": {}}}]});
    let odd = OfferedTool { name: "tap.on".into(), description: String::new(), parameters };
    let probe = Server::start(check, [said("ok")]).await;
    let mut request = with_tools(plain(), [odd]);
    probe.model(ProviderKind::Anthropic).complete(&budget(), &request).await.expect("nothing is refused");
    let wire = probe.body()["tools"][0]["name"].clone();
    let content = json!([{"type": "tool_use", "id": "t1", "name": wire, "input": {}}]);
    let server = Server::start(check, [replied(content, "tool_use")]).await;
    let model = server.model(ProviderKind::Anthropic);
    let reply: ModelReply = model.complete(&budget(), &request).await.expect("a reply");
    assert_eq!(reply.calls[0].name, "tap.on");
    request.messages.push(ChatMessage::Assistant(Box::new(reply)));
    request.messages.push(ChatMessage::Results(vec![result("t1", "tap.on", Vec::new(), false)]));
    model.complete(&budget(), &request).await.expect("nothing is refused");
    assert_eq!(server.arrived()[1].body["messages"][1]["content"][0]["name"], wire);
}

#[tokio::test]
async fn refused_cut_off_and_too_long_are_told_apart() {
    let cases = [
        (replied(json!([{"type": "text", "text": "ha"}]), "max_tokens"), StopReason::CutOff),
        (replied(json!([{"type": "text", "text": "No."}]), "refusal"), StopReason::Refused("No.".into())),
        (replied(json!([{"type": "text", "text": "x"}]), "stop_sequence"), StopReason::End),
    ];
    for (answer, expected) in cases {
        let server = Server::start(check, [answer]).await;
        let reply = server.model(ProviderKind::Anthropic).complete(&budget(), &plain()).await.expect("a reply");
        assert_eq!(reply.stop, expected);
    }
    let full = replied(json!([]), "model_context_window_exceeded");
    let long = error(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum");
    for answer in [full, long, error(413, "request_too_large", "Request exceeds the maximum size")] {
        let server = Server::start(check, [answer]).await;
        let error = server.model(ProviderKind::Anthropic).complete(&budget(), &plain()).await.expect_err("too long");
        assert_eq!(error.kind, ModelErrorKind::TooLong, "{error}");
    }
}

#[tokio::test]
async fn errors_say_what_is_wrong_and_only_some_are_tried_again() {
    let cases = [
        (
            error(401, "authentication_error", "invalid x-api-key"),
            ModelErrorKind::Setup,
            1,
            "`anthropic` refused the key (401): invalid x-api-key",
        ),
        (
            error(404, "not_found_error", "model: m-1"),
            ModelErrorKind::Setup,
            1,
            "`anthropic` has no model `m-1` (404): model: m-1",
        ),
        (
            error(400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
            ModelErrorKind::Quota,
            1,
            "the quota of `anthropic` is used up (400): Your credit balance is too low to access the Anthropic API.",
        ),
        (
            error(529, "overloaded_error", "Overloaded"),
            ModelErrorKind::Unavailable,
            5,
            "`anthropic` failed (529): Overloaded (tried 5 times)",
        ),
        (
            error(429, "rate_limit_error", "Slow down"),
            ModelErrorKind::Unavailable,
            5,
            "`anthropic` limits the rate of requests (429): Slow down (tried 5 times)",
        ),
    ];
    for (answer, kind, n_tries, message) in cases {
        let server = Server::start(check, [answer.with("retry-after-ms", "1")]).await;
        let error = server.model(ProviderKind::Anthropic).complete(&budget(), &plain()).await.expect_err(message);
        assert_eq!((error.kind, error.message.as_str(), server.arrived().len()), (kind, message, n_tries));
    }
}
