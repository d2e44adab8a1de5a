//! OpenAI chat completions.

use std::sync::Arc;

use serde_json::{Value, json};
use trailblaze_core::config::ProviderKind;
use trailblaze_core::model::{
    ChatMessage, Choice, ContentPart, ModelErrorKind, ModelRequest, OfferedTool, RequestedArguments, StopReason,
    TokenUsage,
};
use trailblaze_models::{Settings, estimated_tokens};

use crate::server::*;
use crate::support::*;

fn refusal(message: &str, param: &str, code: &str) -> Option<Prepared> {
    let error = json!({"message": message, "type": "invalid_request_error", "param": param, "code": code});
    Some(status(400, json!({"error": error})))
}

/// Refuses what OpenAI refuses.
fn check(arrived: &Arrived) -> Option<Prepared> {
    if !arrived.head.contains(&format!("authorization: bearer {KEY}")) {
        let error = json!({"message": "You didn't provide an API key.", "type": "invalid_request_error", "code": null});
        return Some(status(401, json!({"error": error})));
    }
    let body = &arrived.body;
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    if tools.len() > 128 {
        return refusal("Invalid 'tools': array too long. Expected at most 128.", "tools", "array_above_max_length");
    }
    for (index, tool) in tools.iter().enumerate() {
        let function = &tool["function"];
        let name = function["name"].as_str().unwrap_or_default();
        let is_fit = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || name.len() > 64 || !name.chars().all(is_fit) {
            let text = format!(
                "Invalid 'tools[{index}].function.name': string does not match pattern. Expected a string \
                                that matches the pattern '^[a-zA-Z0-9_-]+$'."
            );
            return refusal(&text, "tools.function.name", "invalid_value");
        }
        let schema = &function["parameters"];
        let is_refused = ["oneOf", "anyOf", "allOf", "enum", "not"].iter().any(|key| schema.get(*key).is_some());
        if schema["type"] != "object" || is_refused {
            let text = format!(
                "Invalid schema for function '{name}': schema must have type 'object' and not have \
                                'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."
            );
            return refusal(&text, "tools[0].function.parameters", "invalid_function_parameters");
        }
        if !schema["properties"].is_object() {
            let text =
                format!("Invalid schema for function '{name}': In context=(), object schema missing properties.");
            return refusal(&text, "tools[0].function.parameters", "invalid_function_parameters");
        }
    }
    for message in body["messages"].as_array().into_iter().flatten() {
        if message["role"] == "tool" && !message["content"].is_string() {
            return refusal(
                "Invalid content type. image_url is only supported by certain models.",
                "messages",
                "invalid_value",
            );
        }
    }
    if body.get("max_tokens").is_some() {
        let text = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
        return refusal(text, "max_tokens", "unsupported_parameter");
    }
    if body.get("temperature").is_some_and(|temperature| temperature != 1.0) {
        let text = "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.";
        return refusal(text, "temperature", "unsupported_value");
    }
    None
}

fn replied(message: Value, finish_reason: &str) -> Prepared {
    let usage = json!({
        "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 64, "audio_tokens": 0},
    });
    let choice = json!({"index": 0, "message": message, "finish_reason": finish_reason});
    ok(json!({"id": "chatcmpl-1", "object": "chat.completion", "model": "m-1", "choices": [choice], "usage": usage}))
}

fn called(name: &str, arguments: &str) -> Prepared {
    let call = json!({"id": "call_x", "type": "function", "function": {"name": name, "arguments": arguments}});
    replied(json!({"role": "assistant", "content": null, "tool_calls": [call], "refusal": null}), "tool_calls")
}

fn said(text: &str) -> Prepared {
    replied(json!({"role": "assistant", "content": text}), "stop")
}

#[tokio::test]
async fn a_request_is_written_tools_first_and_a_reply_is_read() {
    let server = Server::start(check, [called("tap", "{\"ref\": \"e1\"}")]).await;
    let request = ModelRequest { choice: Choice::Required, max_output_tokens: Some(500), ..plain() };
    let reply = server.model(ProviderKind::OpenAi).complete(&budget(), &request).await.expect("a reply");
    assert_eq!(reply.calls, [call("call_x", "tap", json!({"ref": "e1"}))]);
    // Its count of input includes what was cached.
    assert_eq!(reply.usage, TokenUsage { input: 100, output: 20, cached: 64, cache_written: 0 });
    assert_eq!((reply.stop, reply.raw), (StopReason::End, Value::Null));
    let body = server.body();
    let keys: Vec<&String> = body.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["model", "tools", "tool_choice", "messages", "max_completion_tokens"]);
    assert_eq!(body["tool_choice"], "required");
    assert_eq!(body["tools"][0]["function"]["strict"], false);
    assert_eq!(
        body["messages"],
        json!([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Tap Pay."}])
    );
    assert!(server.arrived()[0].head.starts_with("post /v1/chat/completions http/1.1"));
}

#[tokio::test]
async fn names_and_schemas_that_are_refused_are_sent_differently() {
    let schemas = [
        json!({}),
        json!({"type": "object"}),
        json!({"oneOf": [{"properties": {"a": {"type": "string"}}}]}),
        json!({"type": "object", "anyOf": [{"required": ["a"]}], "properties": {"a": {}}}),
        json!({"allOf": [{"properties": {"a": {}}}]}),
        json!({"type": "object", "enum": [{}]}),
    ];
    let tools = schemas.into_iter().enumerate().map(|(index, parameters)| OfferedTool {
        name: format!("org.tool/{index}"),
        description: String::new(),
        parameters,
    });
    let request = with_tools(plain(), tools);
    let probe = Server::start(check, [said("")]).await;
    probe.model(ProviderKind::OpenAi).complete(&budget(), &request).await.expect("nothing is refused");
    let wire = probe.body()["tools"][2]["function"]["name"].as_str().expect("a name").to_string();
    let server = Server::start(check, [called(&wire, "")]).await;
    let reply = server.model(ProviderKind::OpenAi).complete(&budget(), &request).await.expect("a reply");
    assert_eq!(reply.calls, [call("call_x", "org.tool/2", json!({}))], "replies have our names");
}

#[tokio::test]
async fn too_many_tools_are_refused_before_anything_is_sent() {
    let server = Server::start(check, [said("")]).await;
    let request = with_tools(plain(), (0..129).map(|n| tool(&format!("t{n}"))));
    let error = server.model(ProviderKind::OpenAi).complete(&budget(), &request).await.expect_err("too many");
    assert_eq!(error.kind, ModelErrorKind::Setup);
    assert_eq!(error.message, "129 tools are offered to `openai/m-1`, which accepts at most 128");
    assert!(server.arrived().is_empty());
}

#[tokio::test]
async fn pictures_of_results_become_a_message_of_the_user() {
    let server = Server::start(check, [said("ok")]).await;
    server.model(ProviderKind::OpenAi).complete(&budget(), &continued()).await.expect("a reply");
    let messages = server.body()["messages"].clone();
    assert_eq!(messages[2]["tool_calls"][0]["function"], json!({"name": "tap", "arguments": "{\"ref\":\"e1\"}"}));
    assert_eq!(messages[3], json!({"role": "tool", "tool_call_id": "a1", "content": "error: no such element"}));
    assert_eq!(messages[4], json!({"role": "tool", "tool_call_id": "a2", "content": "a form"}));
    let picture = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,cGl4ZWxz"}});
    let words = json!({"type": "text", "text": "The picture that `look` returned:"});
    assert_eq!(messages[5], json!({"role": "user", "content": [words, picture]}));
    assert_eq!(messages[6], json!({"role": "user", "content": "The screen: Pay"}));
}

#[tokio::test]
async fn a_model_without_vision_is_sent_no_pictures() {
    let server = Server::start(check, [said("ok")]).await;
    let settings = Settings { has_vision: false, ..Settings::unlisted("openai", "m-1") };
    let mut request = continued();
    request.messages.push(ChatMessage::User(vec![ContentPart::Text("x".into()), picture()]));
    server.model_with(ProviderKind::OpenAi, settings).complete(&budget(), &request).await.expect("a reply");
    assert!(!server.body().to_string().contains("cGl4ZWxz"));
}

#[tokio::test]
async fn a_gateway_that_wants_the_newer_limit_is_asked_again_and_remembered() {
    let server = Server::start(check, [said("ok")]).await;
    let model = server.model(ProviderKind::OpenAiCompatible);
    let request = ModelRequest { max_output_tokens: Some(9), ..plain() };
    for _ in 0..2 {
        model.complete(&budget(), &request).await.expect("a reply");
    }
    let limits: Vec<bool> =
        server.arrived().iter().map(|arrived| arrived.body.get("max_completion_tokens").is_some()).collect();
    assert_eq!(limits, [false, true, true]);
}

#[tokio::test]
async fn the_temperature_of_a_request_is_sent_unless_the_model_refuses_it() {
    let server = Server::start(check, [said("ok"), said("ok")]).await;
    for (temperature, sent) in [(1.0, json!(1.0)), (0.2, Value::Null)] {
        let request = ModelRequest { temperature: Some(temperature), ..plain() };
        server.model(ProviderKind::OpenAi).complete(&budget(), &request).await.expect("a reply");
        assert_eq!(server.arrived().last().expect("a request").body["temperature"], sent);
    }
    let settings = Settings { temperature: Some(0.2), ..Settings::unlisted("openai", "m-1") };
    let refused = server.model_with(ProviderKind::OpenAi, settings).complete(&budget(), &plain()).await;
    assert!(refused.is_err(), "the project's own is not left out");
}

#[tokio::test]
async fn replies_end_for_different_reasons() {
    let refused = replied(json!({"role": "assistant", "content": null, "refusal": "I can't."}), "stop");
    let cases = [
        (said("done"), StopReason::End),
        (replied(json!({"content": "ha"}), "length"), StopReason::CutOff),
        (refused, StopReason::Refused("I can't.".into())),
        (
            replied(json!({"content": ""}), "content_filter"),
            StopReason::Refused("the provider's content filter stopped it".into()),
        ),
    ];
    for (answer, expected) in cases {
        let server = Server::start(check, [answer]).await;
        let reply = server.model(ProviderKind::OpenAi).complete(&budget(), &plain()).await.expect("a reply");
        assert_eq!(reply.stop, expected);
    }
}

#[tokio::test]
async fn arguments_that_are_no_object_are_kept_as_text() {
    for arguments in ["{\"ref\": ", "[1]", "tap e1"] {
        let server = Server::start(check, [called("tap", arguments)]).await;
        let reply = server.model(ProviderKind::OpenAi).complete(&budget(), &plain()).await.expect("a reply");
        assert_eq!(reply.calls[0].arguments, RequestedArguments::Malformed(arguments.into()));
    }
}

#[tokio::test]
async fn what_a_provider_does_not_count_is_estimated() {
    let uncounted =
        |message: Value| status(200, json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}));
    let long = "x".repeat(40_000);
    let server = Server::start(check, [uncounted(json!({"role": "assistant", "content": long}))]).await;
    let mut request = plain();
    request.messages.push(ChatMessage::User(vec![picture()]));
    let reply = server.model(ProviderKind::OpenAi).complete(&budget(), &request).await.expect("a reply");
    assert_eq!(reply.usage.output, 10_000);
    assert_eq!(reply.usage.input, estimated_tokens(&request) + 1_500);
}

#[tokio::test]
async fn a_reply_that_repeats_the_key_is_masked() {
    let message = json!({
        "role": "assistant", "content": format!("my key is {KEY}"), "reasoning_details": [{"text": format!("{KEY}")}],
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "tap", "arguments": json!({"ref": KEY}).to_string()}},
            {"id": "2", "type": "function", "function": {"name": "tap", "arguments": format!("{{{KEY}")}},
        ],
    });
    let server = Server::start(check, [replied(message, "stop")]).await;
    let reply = server.model(ProviderKind::OpenAi).complete(&budget(), &plain()).await.expect("a reply");
    assert_eq!((reply.text.as_str(), reply.calls.len()), ("my key is ***", 2));
    assert!(!format!("{reply:?}").contains(KEY), "{reply:?}");
}

#[tokio::test]
async fn the_reasoning_behind_a_malformed_call_is_sent_back() {
    let details = json!([{"type": "reasoning.encrypted", "data": "abc", "index": 0}]);
    let call = json!({"id": "c1", "type": "function", "function": {"name": "tap", "arguments": "{\"ref\": "}});
    let first = replied(json!({"content": null, "reasoning_details": details, "tool_calls": [call]}), "tool_calls");
    let server = Server::start(check, [first, said("done")]).await;
    let model = server.model(ProviderKind::OpenAi);
    let mut request = plain();
    let reply = model.complete(&budget(), &request).await.expect("a reply");
    request.messages.push(ChatMessage::Assistant(Box::new(reply)));
    request.messages.push(ChatMessage::Results(vec![result(
        "c1",
        "tap",
        vec![ContentPart::Text("not JSON".into())],
        true,
    )]));
    model.complete(&budget(), &request).await.expect("a reply");
    let echoed = &server.arrived()[1].body["messages"][2];
    assert_eq!((&echoed["role"], &echoed["reasoning_details"]), (&json!("assistant"), &details), "{echoed}");
}

#[tokio::test]
async fn errors_say_what_is_wrong_and_only_some_are_tried_again() {
    let error = |status_code: u16, kind: &str, code: Value, message: &str| {
        let error = json!({"message": message, "type": kind, "param": null, "code": code});
        status(status_code, json!({"error": error})).with("retry-after-ms", "1")
    };
    let invalid = "invalid_request_error";
    let cases = [
        (
            error(401, invalid, json!("invalid_api_key"), "Incorrect API key provided: sk-canary-0123456789."),
            ModelErrorKind::Setup,
            1,
            "`openai` refused the key (401): Incorrect API key provided: ***.",
        ),
        (
            error(
                403,
                invalid,
                json!("unsupported_country_region_territory"),
                "Country, region, or territory not supported",
            ),
            ModelErrorKind::Setup,
            1,
            "`openai` refused the key (403): Country, region, or territory not supported",
        ),
        (
            error(
                404,
                invalid,
                json!("model_not_found"),
                "The model `m-1` does not exist or you do not have access to it.",
            ),
            ModelErrorKind::Setup,
            1,
            "`openai` has no model `m-1` (404): The model `m-1` does not exist or you do not have access to it.",
        ),
        (
            error(
                429,
                "insufficient_quota",
                json!("insufficient_quota"),
                "You exceeded your current quota, please check your plan",
            ),
            ModelErrorKind::Quota,
            1,
            "the quota of `openai` is used up (429): You exceeded your current quota, please check your plan",
        ),
        (
            error(
                400,
                invalid,
                json!("context_length_exceeded"),
                "This model's maximum context length is 8192 tokens.",
            ),
            ModelErrorKind::TooLong,
            1,
            "the request is longer than the context of `openai/m-1` (400): This model's maximum context length is 8192 tokens.",
        ),
        (
            error(400, invalid, json!("invalid_value"), "Invalid value: 'x'."),
            ModelErrorKind::Setup,
            1,
            "`openai` refused the request (400): Invalid value: 'x'.",
        ),
        (
            error(429, "requests", json!("rate_limit_exceeded"), "Rate limit reached"),
            ModelErrorKind::Unavailable,
            5,
            "`openai` limits the rate of requests (429): Rate limit reached (tried 5 times)",
        ),
        (
            error(500, "server_error", Value::Null, "The server had an error"),
            ModelErrorKind::Unavailable,
            5,
            "`openai` failed (500): The server had an error (tried 5 times)",
        ),
        (
            error(503, "server_error", Value::Null, "Overloaded").with("x-should-retry", "false"),
            ModelErrorKind::Unavailable,
            1,
            "`openai` failed (503): Overloaded",
        ),
    ];
    for (answer, kind, n_tries, message) in cases {
        let server = Server::start(check, [answer]).await;
        let error = server.model(ProviderKind::OpenAi).complete(&budget(), &plain()).await.expect_err(message);
        assert_eq!((error.kind, error.message.as_str(), server.arrived().len()), (kind, message, n_tries));
    }
}

#[tokio::test]
async fn a_gateway_may_report_errors_behind_a_200() {
    let spent = ok(json!({"error": {"code": 402, "message": "Insufficient credits"}}));
    let server = Server::start(check, [spent]).await;
    let error = server.model(ProviderKind::OpenRouter).complete(&budget(), &plain()).await.expect_err("no credit");
    assert_eq!(
        (error.kind, error.message.as_str()),
        (ModelErrorKind::Quota, "the quota of `openrouter` is used up (402): Insufficient credits")
    );
}

#[tokio::test]
async fn a_filter_that_refuses_the_request_is_a_refusal() {
    let error =
        json!({"message": "The response was filtered", "type": null, "param": "prompt", "code": "content_filter"});
    let server = Server::start(check, [status(400, json!({"error": error}))]).await;
    let reply = server.model(ProviderKind::OpenAiCompatible).complete(&budget(), &plain()).await.expect("a refusal");
    assert_eq!(reply.stop, StopReason::Refused("The response was filtered".into()));
}

#[tokio::test]
async fn two_requests_with_the_same_tools_begin_with_the_same_bytes() {
    let server = Server::start(check, [said("ok")]).await;
    let model = server.model(ProviderKind::OpenAi);
    let mut longer = plain();
    longer.messages.push(ChatMessage::user("more"));
    for request in [plain(), longer] {
        model
            .complete(&budget(), &ModelRequest { tools: Arc::clone(&request.tools), ..request })
            .await
            .expect("a reply");
    }
    let [first, second] = [0, 1].map(|index| server.arrived()[index].body.to_string());
    let n_alike = first.bytes().zip(second.bytes()).take_while(|(a, b)| a == b).count();
    assert!(n_alike > first.find("Tap Pay.").expect("the message"), "{first}\n{second}");
}
