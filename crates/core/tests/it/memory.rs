//! The memory of an attempt.

use serde_json::{Value, json};
use trailblaze_core::engine::cx::Attempt;
use trailblaze_core::ids;
use trailblaze_core::testing::{FakeDriver, FakeSource, TestPage, TestSession, TestWiring, args, label};
use trailblaze_core::values::memory::Memory;
use trailblaze_protocol::outcome::{MemoryChanges, Outcome};

fn changes(set: Value, deleted: &[&str]) -> MemoryChanges {
    MemoryChanges { set: args(set), deleted: deleted.iter().map(ToString::to_string).collect() }
}

fn session() -> TestSession {
    let memory = changes(json!({"total": 5, "who": "Ada"}), &["old"]);
    let source = FakeSource::new("acme")
        .answering("learn", Outcome { memory: memory.clone(), ..Outcome::default() })
        .answering("learnAndFail", Outcome { memory, ..Outcome::failed("no") })
        .answering(
            "learnAndDelegate",
            Outcome {
                memory: changes(json!({"who": "Grace"}), &[]),
                ..serde_json::from_value(json!({
                    "variant": "success",
                    "delegates": [{"tool": "remember", "args": {"variable": "greeting", "value": "Hi {{who}}"}}],
                }))
                .unwrap()
            },
        );
    let phone = FakeDriver::new("android/one", [TestPage::new("home", [label("total", "12.50")])]);
    TestWiring::new(phone).with(source.batch()).remembering(json!({"old": "x"})).open()
}

/// Makes calls, and compares the memory afterwards.
async fn check(session: &TestSession, calls: &[(&str, Value)], expected: Value) {
    for (tool, arguments) in calls {
        session.call(tool, arguments.clone()).await.unwrap();
    }
    assert_eq!(Value::Object(session.attempt.memory().values().clone()), expected);
}

#[tokio::test(start_paused = true)]
async fn changes_are_applied_if_the_call_succeeds() {
    check(&session(), &[("learn", json!({}))], json!({"total": 5, "who": "Ada"})).await;
    check(&session(), &[("learnAndFail", json!({}))], json!({"old": "x"})).await;
}

#[tokio::test(start_paused = true)]
async fn later_calls_and_delegates_see_them() {
    check(
        &session(),
        &[("learn", json!({})), ("remember", json!({"variable": "text", "value": "{{who}} owes {{total}}"}))],
        json!({"total": 5, "who": "Ada", "text": "Ada owes 5"}),
    )
    .await;
    check(&session(), &[("learnAndDelegate", json!({}))], json!({"old": "x", "who": "Grace", "greeting": "Hi Grace"}))
        .await;
}

#[tokio::test(start_paused = true)]
async fn the_built_in_tools_remember_and_forget() {
    check(
        &session(),
        &[("rememberElementText", json!({"variable": "sum", "id": "total"})), ("forget", json!({"variable": "old"}))],
        json!({"sum": "12.50"}),
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn memory_is_not_shared_between_attempts() {
    let mut session = session();
    check(&session, &[("learn", json!({}))], json!({"total": 5, "who": "Ada"})).await;
    session.attempt = Attempt::new(ids::attempt(), Memory::default(), "");
    check(&session, &[("remember", json!({"variable": "a", "value": "{{who}}"}))], json!({"a": "{{who}}"})).await;
}
