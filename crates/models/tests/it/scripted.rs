//! Replies from a file, and cassettes.

use std::sync::Arc;

use serde_json::json;
use trailblaze_core::model::{
    ChatMessage, Model, ModelError, ModelErrorKind, ModelReply, ModelRequest, RequestedArguments, StopReason,
    TokenUsage,
};
use trailblaze_core::yaml::Source;
use trailblaze_models::canned::{CannedModel, CannedReplies, Recorder};

use crate::support::*;

fn replies(text: &str) -> Arc<CannedReplies> {
    match CannedReplies::read(&Source::new("agent.model.yaml", text)) {
        Ok(replies) => Arc::new(replies),
        Err(problems) => panic!("{problems:?}"),
    }
}

fn model(text: &str) -> CannedModel {
    CannedModel::new(&replies(text), "scripted/agent.model.yaml")
}

async fn ask(model: &dyn Model, message: &str) -> Result<ModelReply, ModelError> {
    let request = with_tools(ModelRequest::new("Be brief.", vec![ChatMessage::user(message)]), [tool("tap")]);
    model.complete(&budget(), &request).await
}

#[tokio::test]
async fn a_request_gets_the_first_unused_reply_that_fits() {
    let model = model(
        "replies:\n  - expect: {contains: Grace}\n    reply: {text: for Grace}\n  - reply: {text: any}\n  \
         - expect: {contains: [Grace], lacks: [Ada], tools: [tap]}\n    repeat: true\n    reply: {text: again}\n",
    );
    let mut texts = Vec::new();
    for message in ["pay Ada", "pay Grace", "pay Grace", "pay Grace"] {
        texts.push(ask(&model, message).await.expect("a reply").text);
    }
    assert_eq!(texts, ["any", "for Grace", "again", "again"]);
}

#[tokio::test]
async fn a_reply_has_calls_a_reason_to_stop_and_an_estimated_usage() {
    let model = model(
        "replies:\n  - reply:\n      text: I tap.\n      calls:\n        - tap: {ref: e1, n: 2, code: '012'}\n        - hideKeyboard\n        \
         - tap: not json\n      stop: cutOff\n",
    );
    let reply = ask(&model, "pay Grace").await.expect("a reply");
    assert_eq!((reply.text.as_str(), &reply.stop), ("I tap.", &StopReason::CutOff));
    let calls: Vec<_> = reply.calls.iter().map(|call| (call.id.as_str(), call.name.as_str())).collect();
    assert_eq!(calls, [("call_1_1", "tap"), ("call_1_2", "hideKeyboard"), ("call_1_3", "tap")]);
    let arguments = json!({"ref": "e1", "n": 2, "code": "012"});
    assert_eq!(json!(reply.calls[0].arguments), arguments);
    assert_eq!(reply.calls[2].arguments, RequestedArguments::Malformed("not json".into()));
    assert!(reply.usage.input > 20 && reply.usage.output > 5, "{:?}", reply.usage);
    assert_eq!(model.describe().id, "scripted/agent.model.yaml");
    assert!(model.describe().is_replayed && model.describe().has_vision);
}

#[tokio::test]
async fn a_file_can_return_errors_and_refusals() {
    let model = model(
        "model: {id: scripted/small, vision: false, context_length: 100}\nreplies:\n  \
         - error: {kind: tooLong, message: too much, hint: send less}\n  - reply: {stop: refused, refusal: I must not}\n",
    );
    let error = ask(&model, "x").await.expect_err("an error");
    assert_eq!((error.kind, error.hint.as_deref()), (ModelErrorKind::TooLong, Some("send less")));
    assert_eq!(ask(&model, "x").await.expect("a reply").stop, StopReason::Refused("I must not".into()));
    assert_eq!((model.describe().has_vision, model.describe().context_length), (false, Some(100)));
}

#[tokio::test]
async fn a_request_without_a_reply_says_what_was_asked_and_what_did_not_hold() {
    let model = model(
        "replies:\n  - reply: {text: first}\n  - expect: {contains: [Grace, Ada], lacks: brief, tools: [swipe]}\n    reply: {}\n",
    );
    ask(&model, "x").await.expect("the first");
    let error = ask(&model, "The task: pay Ada\n\nThe screen: \u{1b}[31mhome").await.expect_err("nothing fits");
    assert_eq!(error.kind, ModelErrorKind::Unscripted);
    assert_eq!(
        error.message,
        "`agent.model.yaml` has no reply for this request: the next one, at agent.model.yaml:3:5, expects `Grace`, and \
         expects no `brief`, and expects the tool `swipe` to be offered\nthe request ends with:\n  The task: pay Ada\n  The \
         screen: [31mhome"
    );
}

#[tokio::test]
async fn a_file_that_is_used_up_says_so() {
    let model = model("replies:\n  - reply: {text: only}\n");
    ask(&model, "x").await.expect("the only one");
    let error = ask(&model, "x").await.expect_err("no more");
    assert!(error.message.starts_with("`agent.model.yaml` has no reply for this request: all 1 are used"), "{error}");
}

#[test]
fn problems_of_a_file_are_reported_with_their_place() {
    let check = |text: &str, expected: &[&str]| {
        let found = CannedReplies::read(&Source::new("a.yaml", text)).expect_err("it is broken");
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
    };
    check("", &["a.yaml:1:1: `replies` is missing"]);
    check(
        "replies:\n  - expect: {contain: x}\n    reply: {}\n  - {}\n  - {reply: {calls: [{a: 1, b: 2}, {a: 1}]}}\n",
        &[
            "a.yaml:2:14: unknown key `contain` (did you mean `contains`?)",
            "a.yaml:5:22: a call is a mapping with one key, the tool: `tap: {ref: e1}`",
            "a.yaml:5:40: the arguments of `a` must be a mapping, found a single value",
        ],
    );
    check(
        "replies:\n  - {}\n  - {reply: {}, error: {kind: quota, message: x}}\n  - {reply: {refusal: no}}\n",
        &[
            "a.yaml:2:5: it has neither a `reply` nor an `error`",
            "a.yaml:3:5: it has both a `reply` and an `error`",
            "a.yaml:4:13: `refusal` needs `stop: refused`",
        ],
    );
}

const RECORDED: &str = "replies:\n  - expect: {contains: Tap}\n    reply: {text: a, calls: [{tap: {ref: e1}}], usage: {input: 9, output: 2, cached: 3}}\n  \
                        - reply: {text: \"b\\n: #\", stop: refused, refusal: why}\n  - error: {kind: quota, message: none left}\n";

/// Records three requests, the second of which continues the first, and returns the cassette.
async fn recorded() -> (CannedReplies, Vec<ModelRequest>) {
    let recorder = Recorder::new(Arc::new(model(RECORDED)));
    let requests = vec![plain(), continued(), plain()];
    for request in &requests {
        let _ = recorder.complete(&budget(), request).await;
    }
    let text = recorder.replies("pay.model.yaml").text().expect("it can be written");
    (CannedReplies::read(&Source::new("pay.model.yaml", text)).expect("it reads back"), requests)
}

#[tokio::test]
async fn a_cassette_replays_what_was_recorded() {
    let (replies, requests) = recorded().await;
    let replayed = CannedModel::new(&Arc::new(replies), "unused");
    let original = model(RECORDED);
    for request in &requests {
        let answers = (replayed.complete(&budget(), request).await, original.complete(&budget(), request).await);
        match answers {
            (Ok(replayed), Ok(original)) => {
                assert_eq!(
                    (replayed.text, replayed.calls, replayed.stop),
                    (original.text, original.calls, original.stop)
                );
                assert_eq!(replayed.usage, original.usage);
            }
            (replayed, original) => assert_eq!(replayed, original),
        }
    }
    assert_eq!(replayed.describe().id, "scripted/agent.model.yaml", "a cassette knows whose replies it has");
}

#[tokio::test]
async fn a_cassette_says_which_part_of_a_request_differs() {
    let mut other_tools = plain();
    other_tools.tools = Arc::from([tool("swipe")]);
    let other_system = ModelRequest { system: "Be verbose.".into(), ..plain() };
    let other_message = ModelRequest { messages: vec![ChatMessage::user("Tap Send.")], ..plain() };
    let mut more = plain();
    more.messages.push(ChatMessage::user("and then"));
    let other_limit = ModelRequest { max_output_tokens: Some(5), ..plain() };
    let cases = [
        (other_tools, "the tools differ"),
        (other_system, "the system prompt differs"),
        (other_message, "message 1 differs"),
        (more, "it has 2 messages instead of 1"),
        (other_limit, "the choice of tools or a limit differs"),
    ];
    for (request, difference) in cases {
        let (replies, _) = recorded().await;
        let error =
            CannedModel::new(&Arc::new(replies), "x").complete(&budget(), &request).await.expect_err("it differs");
        assert_eq!(error.kind, ModelErrorKind::Unscripted);
        assert!(error.message.contains(&format!("was recorded for another request: {difference}\n")), "{error}");
        assert!(error.message.contains("pay.model.yaml:") && error.hint.is_some(), "{error:?}");
    }
}

#[tokio::test]
async fn ids_usage_and_echoes_do_not_make_a_request_different() {
    let (replies, requests) = recorded().await;
    let replayed = CannedModel::new(&Arc::new(replies), "x");
    replayed.complete(&budget(), &requests[0]).await.expect("the first");
    let mut request = requests[1].clone();
    if let ChatMessage::Assistant(reply) = &mut request.messages[1] {
        reply.usage = TokenUsage { input: 7, ..TokenUsage::default() };
        reply.raw = json!({"signature": "x"});
        reply.calls[0].id = "other".into();
    }
    replayed.complete(&budget(), &request).await.expect("the second");
}
