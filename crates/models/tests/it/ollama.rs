//! Ollama.

use serde_json::{Value, json};
use trailblaze_core::config::ProviderKind;
use trailblaze_core::model::{ChatMessage, ModelErrorKind, ModelRequest, StopReason, TokenUsage};
use trailblaze_models::{Settings, estimated_tokens};

use crate::server::*;
use crate::support::*;

/// Refuses what Ollama refuses.
fn check(arrived: &Arrived) -> Option<Prepared> {
    let body = &arrived.body;
    if body["model"] == "missing" {
        return Some(status(404, json!({"error": "model 'missing' not found"})));
    }
    if body["model"] == "toolless" && body.get("tools").is_some() {
        return Some(status(400, json!({"error": "registry.ollama.ai/library/toolless does not support tools"})));
    }
    let text = serde_json::to_string(&body["messages"]).unwrap_or_default();
    if body["truncate"] == false && text.contains("too long for you") {
        return Some(status(400, json!({"error": "the input length exceeds the context length"})));
    }
    None
}

fn replied(message: Value, done_reason: &str, prompt_eval_count: u64) -> Prepared {
    ok(json!({
        "model": "m-1", "message": message, "done": true, "done_reason": done_reason,
        "prompt_eval_count": prompt_eval_count, "eval_count": 7,
    }))
}

fn settings(model: &str) -> Settings {
    Settings::unlisted("ollama", model)
}

#[tokio::test]
async fn a_request_names_its_context_and_a_reply_is_read() {
    let called = json!({"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "tap", "arguments": {"ref": "e1"}}}]});
    let server = Server::start(check, [replied(called, "stop", 60)]).await;
    let request = ModelRequest { max_output_tokens: Some(5), ..plain() };
    let reply = server.model(ProviderKind::Ollama).complete(&budget(), &request).await.expect("a reply");
    assert_eq!(reply.calls, [call("call_1_1", "tap", json!({"ref": "e1"}))]);
    assert_eq!(
        (reply.stop, reply.usage),
        (StopReason::End, TokenUsage { input: 60, output: 7, cached: 0, cache_written: 0 })
    );
    let body = server.body();
    let keys: Vec<&String> = body.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["model", "tools", "messages", "stream", "truncate", "shift", "options"]);
    assert_eq!((&body["stream"], &body["options"]), (&json!(false), &json!({"num_ctx": 16_384, "num_predict": 5})));
    assert!(server.arrived()[0].head.starts_with("post /api/chat http/1.1"));
    let longer = Settings { context_length: Some(65_536), ..settings("m-1") };
    let server = Server::start(check, [replied(json!({"content": "ok"}), "length", 60)]).await;
    let reply = server.model_with(ProviderKind::Ollama, longer).complete(&budget(), &plain()).await.expect("a reply");
    assert_eq!((reply.stop, &server.body()["options"]["num_ctx"]), (StopReason::CutOff, &json!(65_536)));
}

#[tokio::test]
async fn results_and_pictures_are_messages() {
    let server = Server::start(check, [replied(json!({"content": "ok"}), "stop", 90)]).await;
    server.model(ProviderKind::Ollama).complete(&budget(), &continued()).await.expect("a reply");
    let messages = server.body()["messages"].clone();
    assert_eq!(messages[2]["tool_calls"][0], json!({"function": {"name": "tap", "arguments": {"ref": "e1"}}}));
    assert_eq!(messages[3], json!({"role": "tool", "tool_name": "tap", "content": "error: no such element"}));
    assert_eq!(
        messages[5],
        json!({"role": "user", "content": "The picture that `look` returned:", "images": ["cGl4ZWxz"]})
    );
}

fn long(n_chars: usize) -> ModelRequest {
    ModelRequest { messages: vec![ChatMessage::user("x".repeat(n_chars))], ..plain() }
}

#[tokio::test]
async fn a_request_whose_front_was_left_out_is_an_error() {
    let server = Server::start(check, [replied(json!({"content": "ok"}), "stop", 2_048)]).await;
    let request = long(40_000);
    let error = server.model(ProviderKind::Ollama).complete(&budget(), &request).await.expect_err("it was cut");
    assert_eq!(error.kind, ModelErrorKind::TooLong);
    let estimate = estimated_tokens(&request);
    assert_eq!(
        error.message,
        format!(
            "the request is too long for `ollama/m-1`: only 2048 of about {estimate} tokens were read, so the front of the request was left out"
        )
    );
    assert!(error.hint.is_some_and(|hint| hint.contains("context_length")));
}

#[tokio::test]
async fn a_request_that_cannot_fit_is_not_sent() {
    let server = Server::start(check, [replied(json!({"content": "ok"}), "stop", 9)]).await;
    let error = server.model(ProviderKind::Ollama).complete(&budget(), &long(80_000)).await.expect_err("too long");
    assert_eq!((error.kind, server.arrived().len()), (ModelErrorKind::TooLong, 0));
}

#[tokio::test]
async fn errors_say_what_is_wrong() {
    let too_long = ModelRequest { messages: vec![ChatMessage::user("too long for you")], ..plain() };
    let cases = [
        ("missing", plain(), ModelErrorKind::Setup, "`ollama` has no model `missing` (404): model 'missing' not found"),
        (
            "toolless",
            plain(),
            ModelErrorKind::Setup,
            "`ollama` refused the request (400): registry.ollama.ai/library/toolless does not support tools",
        ),
        (
            "m-1",
            too_long,
            ModelErrorKind::TooLong,
            "the request is longer than the context of `ollama/m-1` (400): the input length exceeds the context length",
        ),
    ];
    for (name, request, kind, message) in cases {
        let server = Server::start(check, [replied(json!({"content": "ok"}), "stop", 9)]).await;
        let model = server.model_with(ProviderKind::Ollama, settings(name));
        let error = model.complete(&budget(), &request).await.expect_err(message);
        assert_eq!((error.kind, error.message.as_str()), (kind, message));
    }
}
