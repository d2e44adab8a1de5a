//! Google Gemini.

use serde_json::{Value, json};
use trailblaze_core::config::ProviderKind;
use trailblaze_core::model::{
    ChatMessage, Choice, ContentPart, ModelErrorKind, ModelRequest, OfferedTool, StopReason, TokenUsage,
};
use trailblaze_models::Settings;

use crate::server::*;
use crate::support::*;

fn error(code: u16, word: &str, message: &str, details: Value) -> Prepared {
    status(code, json!({"error": {"code": code, "message": message, "status": word, "details": details}}))
}

fn refusal(message: &str) -> Option<Prepared> {
    Some(error(400, "INVALID_ARGUMENT", message, json!([])))
}

/// Refuses what Gemini refuses.
fn check(arrived: &Arrived) -> Option<Prepared> {
    if !arrived.head.contains(&format!("x-goog-api-key: {KEY}")) {
        return Some(error(403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers", json!([])));
    }
    let body = &arrived.body;
    for function in body["tools"][0]["functionDeclarations"].as_array().into_iter().flatten() {
        if let Some(parameters) = function.get("parameters") {
            let text = parameters.to_string();
            for refused in ["$ref", "const", "additionalProperties"] {
                if text.contains(&format!("\"{refused}\"")) {
                    return refusal(&format!(
                        "Invalid JSON payload received. Unknown name \"{refused}\" at 'tools[0].function_declarations[0].parameters': Cannot find field."
                    ));
                }
            }
        }
    }
    for (index, content) in body["contents"].as_array().into_iter().flatten().enumerate() {
        let parts = content["parts"].as_array().cloned().unwrap_or_default();
        if parts.is_empty() {
            return refusal("contents.parts must not be empty.");
        }
        if content["role"] == "model" {
            let is_signed = parts.iter().any(|part| part["thoughtSignature"] == "sig-1");
            let calls: Vec<&Value> = parts.iter().filter(|part| part.get("functionCall").is_some()).collect();
            if !calls.is_empty() && !is_signed && body["contents"].to_string().contains("signed please") {
                let text = "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly";
                return refusal(&format!("{text}, position {index}."));
            }
            let next = body["contents"][index + 1]["parts"].as_array().cloned().unwrap_or_default();
            if !calls.is_empty()
                && (next.len() != calls.len() || next.iter().any(|part| part.get("functionResponse").is_none()))
            {
                return refusal(
                    "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
                );
            }
        }
    }
    None
}

fn replied(parts: Value, finish: &str) -> Prepared {
    let usage = json!({
        "promptTokenCount": 500, "candidatesTokenCount": 20, "thoughtsTokenCount": 30, "cachedContentTokenCount": 400,
        "totalTokenCount": 550,
    });
    let candidate = json!({"content": {"role": "model", "parts": parts}, "finishReason": finish, "index": 0});
    ok(json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m-1"}))
}

fn said(text: &str) -> Prepared {
    replied(json!([{"text": text}]), "STOP")
}

fn model(server: &Server) -> std::sync::Arc<dyn trailblaze_core::model::Model> {
    server.model_with(ProviderKind::Google, Settings::unlisted("google", "m-1"))
}

#[tokio::test]
async fn a_request_is_written_tools_first_and_a_reply_is_read() {
    let parts = json!([{"text": "hm", "thought": true}, {"text": "I tap."}, {"functionCall": {"name": "tap", "args": {"ref": "e1"}}}]);
    let server = Server::start(check, [replied(parts, "STOP")]).await;
    let request = ModelRequest { choice: Choice::Required, max_output_tokens: Some(5), ..plain() };
    let reply = model(&server).complete(&budget(), &request).await.expect("a reply");
    assert_eq!((reply.text.as_str(), &reply.stop), ("I tap.", &StopReason::End));
    assert_eq!(reply.calls, [call("call_1_1", "tap", json!({"ref": "e1"}))]);
    // Thoughts are paid for as output, and its count of input includes what was cached.
    assert_eq!(reply.usage, TokenUsage { input: 500, output: 50, cached: 400, cache_written: 0 });
    let body = server.body();
    let keys: Vec<&String> = body.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["tools", "toolConfig", "systemInstruction", "contents", "generationConfig"]);
    assert_eq!(body["toolConfig"]["functionCallingConfig"]["mode"], "ANY");
    assert_eq!(body["generationConfig"], json!({"maxOutputTokens": 5}));
    assert!(server.arrived()[0].head.starts_with("post /v1beta/models/m-1:generatecontent http/1.1"));
}

#[tokio::test]
async fn schemas_keep_what_plain_parameters_refuse() {
    let parameters = json!({
        "type": "object", "properties": {"a": {"$ref": "#/$defs/A"}, "b": {"const": 1}, "c": {"type": ["string", "null"]}},
        "additionalProperties": false, "$defs": {"A": {"type": "string"}},
    });
    let odd = OfferedTool { name: "odd".into(), description: String::new(), parameters: parameters.clone() };
    let server = Server::start(check, [said("ok")]).await;
    model(&server).complete(&budget(), &with_tools(plain(), [odd])).await.expect("nothing is refused");
    assert_eq!(server.body()["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"], parameters);
}

#[tokio::test]
async fn each_signature_is_echoed_on_its_own_part() {
    let parts = json!([
        {"functionCall": {"name": "tap", "args": {"ref": "e1"}}, "thoughtSignature": "sig-1"},
        {"functionCall": {"name": "tap", "args": {"ref": "e2"}}},
    ]);
    let server = Server::start(check, [replied(parts.clone(), "STOP"), said("done")]).await;
    let mut request = ModelRequest { messages: vec![ChatMessage::user("signed please")], ..plain() };
    let reply = model(&server).complete(&budget(), &request).await.expect("a reply");
    let results = reply
        .calls
        .iter()
        .map(|call| result(&call.id, &call.name, vec![ContentPart::Text("ok".into())], false))
        .collect();
    request.messages.push(ChatMessage::Assistant(Box::new(reply)));
    request.messages.push(ChatMessage::Results(results));
    model(&server).complete(&budget(), &request).await.expect("nothing is refused");
    assert_eq!(server.arrived()[1].body["contents"][1], json!({"role": "model", "parts": parts}));
}

#[tokio::test]
async fn pictures_of_results_follow_the_results() {
    let server = Server::start(check, [said("ok")]).await;
    model(&server).complete(&budget(), &continued()).await.expect("nothing is refused");
    let contents = server.body()["contents"].clone();
    let failed = json!({"functionResponse": {"name": "tap", "response": {"error": "no such element"}}});
    let seen = json!({"functionResponse": {"name": "look", "response": {"output": "a form"}}});
    assert_eq!(contents[2], json!({"role": "user", "parts": [failed, seen]}));
    let picture = json!({"inlineData": {"mimeType": "image/png", "data": "cGl4ZWxz"}});
    assert_eq!(contents[3]["parts"][1], picture);
}

#[tokio::test]
async fn a_malformed_call_is_tried_once_more_and_paid_twice() {
    let malformed = || replied(json!([]), "MALFORMED_FUNCTION_CALL");
    let server = Server::start(check, [malformed(), said("better")]).await;
    let reply = model(&server).complete(&budget(), &plain()).await.expect("a reply");
    assert_eq!((reply.text.as_str(), reply.usage.input), ("better", 1_000));
    let server = Server::start(check, [malformed()]).await;
    let reply = model(&server).complete(&budget(), &plain()).await.expect("a reply");
    assert_eq!((reply.stop, server.arrived().len()), (StopReason::Malformed, 2));
}

#[tokio::test]
async fn refused_cut_off_and_too_long_are_told_apart() {
    let blocked =
        ok(json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 9}}));
    let cases = [
        (replied(json!([{"text": "ha"}]), "MAX_TOKENS"), StopReason::CutOff),
        (replied(json!([]), "SAFETY"), StopReason::Refused("SAFETY".into())),
        (blocked, StopReason::Refused("the request was blocked: PROHIBITED_CONTENT".into())),
    ];
    for (answer, expected) in cases {
        let server = Server::start(check, [answer]).await;
        assert_eq!(model(&server).complete(&budget(), &plain()).await.expect("a reply").stop, expected);
    }
    let long = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).";
    let server = Server::start(check, [error(400, "INVALID_ARGUMENT", long, json!([]))]).await;
    let error = model(&server).complete(&budget(), &plain()).await.expect_err("too long");
    assert_eq!(error.kind, ModelErrorKind::TooLong);
}

#[tokio::test]
async fn errors_say_what_is_wrong_and_only_some_are_tried_again() {
    let info = json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]);
    let retry = json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.001s"});
    let quota = |id: &str| {
        let failure = json!({"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": id}]});
        json!([failure, retry])
    };
    let cases = [
        (
            error(400, "INVALID_ARGUMENT", "API key not valid.", info),
            ModelErrorKind::Setup,
            1,
            "`google` refused the key (400): API key not valid.",
        ),
        (
            error(404, "NOT_FOUND", "models/m-1 is not found", json!([])),
            ModelErrorKind::Setup,
            1,
            "`google` has no model `m-1` (404): models/m-1 is not found",
        ),
        (
            error(
                429,
                "RESOURCE_EXHAUSTED",
                "Quota exceeded",
                quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"),
            ),
            ModelErrorKind::Quota,
            1,
            "the quota of `google` is used up (429): Quota exceeded",
        ),
        (
            error(429, "RESOURCE_EXHAUSTED", "Quota exceeded", quota("GenerateRequestsPerMinutePerProjectPerModel")),
            ModelErrorKind::Unavailable,
            5,
            "`google` limits the rate of requests (429): Quota exceeded (tried 5 times)",
        ),
        (
            error(503, "UNAVAILABLE", "The model is overloaded.", json!([retry])),
            ModelErrorKind::Unavailable,
            5,
            "`google` failed (503): The model is overloaded. (tried 5 times)",
        ),
    ];
    for (answer, kind, n_tries, message) in cases {
        let server = Server::start(check, [answer]).await;
        let error = model(&server).complete(&budget(), &plain()).await.expect_err(message);
        assert_eq!((error.kind, error.message.as_str(), server.arrived().len()), (kind, message, n_tries));
    }
}
