//! Requests to a model that the code of a tool makes: who may make them, how many, and how they end.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use trailblaze_core::callers::sampling::{Sample, sample};
use trailblaze_core::driver::Budget;
use trailblaze_core::engine::ask::ModelAccess;
use trailblaze_core::engine::cx::{Attempt, Cx};
use trailblaze_core::model::{
    ChatMessage, Model, ModelError, ModelInfo, ModelReply, ModelRequest, StopReason, TokenUsage,
};
use trailblaze_core::testing::{FakeDriver, FakeModel, FakeSource, TestPage, TestSession, TestWiring, button};
use trailblaze_core::values::memory::Memory;
use trailblaze_core::{ids, limits};
use trailblaze_protocol::event::{Event, ModelPurpose};
use trailblaze_protocol::ids::Parent;
use trailblaze_protocol::outcome::Outcome;

fn asking(text: &str) -> Sample {
    Sample { request: ModelRequest::new("", vec![ChatMessage::user(text)]), has_screen: false }
}

async fn ask(cx: &Cx, text: &str) -> String {
    match sample(cx, asking(text)).await {
        Ok(sampled) => sampled.text,
        Err(error) => error.to_string(),
    }
}

/// A source with a tool `ask`, which asks once, and `flood`, which asks too often.
fn source() -> FakeSource {
    FakeSource::new("acme")
        .tool("ask", |cx, _| async move { Outcome::success(ask(&cx, "Why?").await) })
        .tool("flood", |cx, _| async move {
            let mut last = String::new();
            for _ in 0..=limits::SAMPLING_REQUESTS {
                last = ask(&cx, "Why?").await;
            }
            Outcome::success(last)
        })
        .tool("leave", |cx, _| async move {
            tokio::spawn(async move { ask(&cx, "Why?").await });
            tokio::task::yield_now().await;
            Outcome::success("left")
        })
}

fn session(source: FakeSource, model: Option<Arc<ModelAccess>>) -> TestSession {
    let phone = FakeDriver::new("android/one", [TestPage::new("home", [button("pay", "Pay")])]);
    let mut session = TestWiring::new(phone).with(source.batch()).open();
    session.attempt = Attempt::with_model(ids::attempt(), Memory::default(), "", model);
    session
}

fn yes() -> Result<ModelReply, ModelError> {
    let usage = TokenUsage { input: 10, output: 5, ..TokenUsage::default() };
    Ok(ModelReply { text: "Yes.".to_string(), usage, ..ModelReply::default() })
}

async fn told(session: &TestSession, tool: &str) -> String {
    session.call(tool, json!({})).await.expect("it is an outcome").text
}

#[tokio::test(start_paused = true)]
async fn a_tool_of_a_source_that_may_ask_gets_an_answer_that_is_recorded_with_its_call() {
    let model = FakeModel::new([yes()]);
    let session = session(source().sampling(), Some(model.access()));
    assert_eq!(told(&session, "ask").await, "Yes.");
    let events = session.events.all();
    let asked = events.iter().find_map(|event| match event {
        Event::ModelAsked(asked) => Some(asked),
        _ => None,
    });
    let called = events.iter().find_map(|event| match event {
        Event::Called(called) => Some(called.call.clone()),
        _ => None,
    });
    let asked = asked.expect("it was asked");
    assert_eq!((asked.purpose, &asked.about), (ModelPurpose::Sampling, &Parent::Call(called.expect("a call"))));
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_may_not_ask_costs_nothing() {
    let model = FakeModel::new([yes()]);
    let session = session(source(), Some(model.access()));
    let expected = "`ask` may not ask a model: set `sampling: true` in the entry of its server to allow that";
    assert_eq!(told(&session, "ask").await, expected);
    assert_eq!(model.requests().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn without_a_model_a_tool_is_told_so() {
    let told = told(&session(source().sampling(), None), "ask").await;
    assert_eq!(told, "no model is configured; choose one with --model, or with `llm:` in trailblaze.yaml");
}

#[tokio::test(start_paused = true)]
async fn each_call_has_a_quota_of_requests_and_tokens() {
    let model = FakeModel::new((0..100).map(|_| yes()));
    let session_of = |model: &Arc<FakeModel>| session(source().sampling(), Some(model.access()));
    let session = session_of(&model);
    assert_eq!(told(&session, "flood").await, "`flood` was refused: one call may ask a model at most 20 times");
    assert_eq!(told(&session, "ask").await, "Yes.", "another call has its own quota");
    let dear = || {
        let usage = TokenUsage { input: limits::SAMPLING_TOKENS, ..TokenUsage::default() };
        Ok(ModelReply { usage, ..ModelReply::default() })
    };
    let model = FakeModel::new([dear(), dear()]);
    let expected = "`flood` was refused: the requests of one call to a model may take at most 100000 tokens";
    assert_eq!(told(&session_of(&model), "flood").await, expected);
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_not_an_answer() {
    let refusal = ModelReply { stop: StopReason::Refused("I must not".to_string()), ..ModelReply::default() };
    let model = FakeModel::new([Ok(refusal)]);
    let session = session(source().sampling(), Some(model.access()));
    assert_eq!(told(&session, "ask").await, "the model refused: I must not");
}

#[tokio::test(start_paused = true)]
async fn secrets_are_placeholders_in_all_that_a_tool_asks() {
    let source = FakeSource::new("acme").sampling().tool("ask", |cx, _| async move {
        let said = ModelReply { text: "You said hunter2000.".to_string(), ..ModelReply::default() };
        let messages = vec![
            ChatMessage::user("Is it hunter2000?"),
            ChatMessage::Assistant(Box::new(said)),
            ChatMessage::user("hunter2000"),
        ];
        let stop_sequences = vec!["hunter2000".to_string()];
        let request = ModelRequest { stop_sequences, ..ModelRequest::new("Never say hunter2000.", messages) };
        let sampled = sample(&cx, Sample { request, has_screen: true }).await;
        Outcome::success(sampled.map_or_else(|error| error.to_string(), |sampled| sampled.text))
    });
    let model = FakeModel::new([yes()]);
    let phone = FakeDriver::new("android/one", [TestPage::new("home", [button("pay", "Pay hunter2000")])]);
    let mut session = TestWiring::new(phone).with(source.batch()).secret("PIN", "hunter2000").open();
    session.attempt = Attempt::with_model(ids::attempt(), Memory::default(), "", Some(model.access()));
    assert_eq!(told(&session, "ask").await, "Yes.");
    let sent = serde_json::to_string(&model.requests()).expect("JSON");
    assert!(!sent.contains("hunter2000") && sent.matches("{{PIN}}").count() >= 5, "{sent}");
}

/// Replies after a while.
struct Slow(ModelInfo, Duration);

#[async_trait]
impl Model for Slow {
    fn describe(&self) -> &ModelInfo {
        &self.0
    }

    async fn complete(&self, _: &Budget, _: &ModelRequest) -> Result<ModelReply, ModelError> {
        tokio::time::sleep(self.1).await;
        yes()
    }
}

fn slow(time: Duration) -> Option<Arc<ModelAccess>> {
    let access = FakeModel::new([]).access();
    let model = Arc::new(Slow(ModelInfo::default(), time));
    Some(Arc::new(ModelAccess { model, spent: Arc::clone(&access.spent), settings: access.settings.clone() }))
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_model_does_not_count_as_silence() {
    let source = source().sampling().idle(Duration::from_secs(2));
    assert_eq!(told(&session(source, slow(Duration::from_secs(60))), "ask").await, "Yes.");
}

#[tokio::test(start_paused = true)]
async fn a_request_ends_with_its_call_and_is_recorded_before_that() {
    let session = session(source().sampling(), slow(Duration::from_secs(60)));
    assert_eq!(told(&session, "leave").await, "left");
    let kinds: Vec<String> = session
        .events
        .all()
        .iter()
        .filter_map(|event| match event {
            Event::Called(_) => Some("called".to_string()),
            Event::ModelAsked(_) => Some("asked".to_string()),
            Event::ModelReplied(replied) => replied.problem.clone(),
            Event::Answered { .. } => Some("answered".to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(kinds, ["called", "asked", "cancelled", "answered"]);
}
