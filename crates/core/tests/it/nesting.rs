//! Nested calls: depth, number, cycles, and what delegating tools may do.

use serde_json::{Map, Value, json};
use trailblaze_core::engine::cx::Cx;
use trailblaze_core::engine::registry::Batch;
use trailblaze_core::limits;
use trailblaze_core::testing::{FakeDriver, FakeSource, TestPage, TestSession, TestWiring, args, button};
use trailblaze_core::tool_files::{FileTool, read};
use trailblaze_core::yaml::Source;
use trailblaze_protocol::outcome::{Delegate, Outcome, Variant};

fn session(batches: impl IntoIterator<Item = Batch>) -> TestSession {
    let phone = FakeDriver::new("android/one", [TestPage::new("home", [button("pay", "Pay"), button("help", "Help")])]);
    batches.into_iter().fold(TestWiring::new(phone), TestWiring::with).open()
}

/// A YAML tool with an optional parameter `salt`.
fn yaml(id: &str, calls: &str) -> Batch {
    let parameters = "[{name: salt, type: string, required: false}]";
    let text = format!("id: {id}\ndescription: A tool.\nparameters: {parameters}\ntools: {calls}\n");
    match read(&Source::new(format!("{id}.yaml"), text)) {
        (Some(FileTool::Own(batch)), _) => *batch,
        (_, problems) => panic!("{problems:?}"),
    }
}

fn delegate(tool: &str, arguments: Value) -> Delegate {
    Delegate { tool: tool.into(), args: args(arguments) }
}

/// Makes one call, and compares its result, the recorded calls, and the actions on the device.
async fn check(session: &TestSession, tool: &str, text: &str, calls: &[&str], done: &[&str]) {
    let outcome = session.call(tool, json!({})).await.unwrap();
    assert_eq!(
        (outcome.text.as_str(), session.events.calls(), session.driver.done()),
        (text, owned(calls), owned(done))
    );
}

fn owned(lines: &[&str]) -> Vec<String> {
    lines.iter().map(ToString::to_string).collect()
}

#[tokio::test(start_paused = true)]
async fn delegates_run_in_order_and_to_any_depth() {
    let source = FakeSource::new("acme")
        .delegating("checkout", &[("open", json!({})), ("tap", json!({"id": "help"}))])
        .delegating("open", &[("tap", json!({"id": "pay"}))]);
    check(
        &session([source.batch()]),
        "checkout",
        "",
        &[
            "checkout {} step: ok",
            "  open {} delegate: ok",
            r#"    tap {"id":"pay"} delegate: ok"#,
            r#"  tap {"id":"help"} delegate: ok"#,
        ],
        &["Tap on Button \"Pay\"", "Tap on Button \"Help\""],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_first_failing_delegate_fails_the_call() {
    let source = FakeSource::new("acme")
        .delegating("checkout", &[("refuse", json!({})), ("tap", json!({"id": "pay"}))])
        .answering("refuse", Outcome::failed("no money"));
    check(
        &session([source.batch()]),
        "checkout",
        "its delegate `refuse` failed: no money",
        &["checkout {} step: failed: its delegate `refuse` failed: no money", "  refuse {} delegate: failed: no money"],
        &[],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_delegate_that_does_not_exist_fails_the_tool_that_returned_it() {
    let source = FakeSource::new("acme").delegating("checkout", &[("tapp", json!({}))]);
    check(
        &session([source.batch()]),
        "checkout",
        "its delegate `tapp` failed: unknown tool `tapp`; did you mean `tap`?",
        &[
            "checkout {} step: failed: its delegate `tapp` failed: unknown tool `tapp`; did you mean `tap`?",
            "  tapp {} delegate: exit 3: unknown tool `tapp`; did you mean `tap`?",
        ],
        &[],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn delegates_of_an_error_are_ignored() {
    let outcome = Outcome { delegates: vec![delegate("pressBack", json!({}))], ..Outcome::failed("broken") };
    let source = FakeSource::new("acme").answering("checkout", outcome);
    check(&session([source.batch()]), "checkout", "broken", &["checkout {} step: failed: broken"], &[]).await;
}

#[tokio::test(start_paused = true)]
async fn the_number_of_delegates_is_limited() {
    let many = |n: usize| Outcome::delegating(vec![delegate("hasText", json!({"text": "Pay"})); n]);
    let source = FakeSource::new("acme")
        .answering("most", many(limits::DELEGATES))
        .answering("tooMany", many(limits::DELEGATES + 1));
    let session = session([source.batch()]);
    assert!(!session.call("most", json!({})).await.unwrap().is_error());
    assert_eq!(
        session.call("tooMany", json!({})).await.unwrap(),
        Outcome::failed("the answer contains 201 delegates; the limit is 200")
    );
}

#[tokio::test(start_paused = true)]
async fn a_delegating_tool_may_query_but_not_act() {
    let source = FakeSource::new("acme")
        .tool("checkout", |cx, _| async move {
            let sees = cx.call("isVisible", args(json!({"id": "pay"}))).await.unwrap();
            assert_eq!(sees.structured, Some(json!(true)));
            cx.call("tap", args(json!({"id": "pay"}))).await.unwrap()
        })
        .marked(|tool| tool.is_delegating = true);
    let message = "`checkout` is a delegating tool and may not act by itself; return `tap` as a delegate instead";
    check(
        &session([source.batch()]),
        "checkout",
        message,
        &[
            &format!("checkout {{}} step: failed: {message}"),
            r#"  isVisible {"id":"pay"} callback: ok"#,
            &format!("  tap {{\"id\":\"pay\"}} callback: failed: {message}"),
        ],
        &[],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_delegating_tool_may_not_act_through_another_tool_either() {
    let source = FakeSource::new("acme")
        .calling("checkout", "lookFirst", json!({}))
        .marked(|tool| tool.is_delegating = true)
        .calling("lookFirst", "tap", json!({"id": "pay"}))
        .marked(|tool| tool.kind = trailblaze_protocol::event::ToolKind::Query);
    let session = session([source.batch()]);
    let outcome = session.call("checkout", json!({})).await.unwrap();
    assert_eq!(
        outcome.text,
        "`checkout` is a delegating tool and may not act by itself; return `tap` as a delegate instead"
    );
    assert_eq!(session.driver.done(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_cycle_is_reported() {
    let source =
        FakeSource::new("acme").delegating("a", &[("b", json!({"x": 1}))]).delegating("b", &[("a", json!({}))]);
    let message = "a cycle of calls: a → b → a";
    check(
        &session([source.batch()]),
        "a",
        &format!("its delegate `b` failed: its delegate `a` failed: {message}"),
        &[
            &format!("a {{}} step: failed: its delegate `b` failed: its delegate `a` failed: {message}"),
            &format!("  b {{\"x\":1}} delegate: failed: its delegate `a` failed: {message}"),
            &format!("    a {{}} delegate: failed: {message}"),
        ],
        &[],
    )
    .await;
    let session = session([yaml("first", "[{second: {}}]"), yaml("second", "[{first: {}}]")]);
    let text = session.call("first", json!({})).await.unwrap().text;
    assert!(text.ends_with("a cycle of calls: first → second → first"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn one_counter_bounds_the_depth_of_delegates_expansions_and_callbacks() {
    // Each round uses all three ways of calling, with a different salt to avoid a cycle.
    let salt = |cx: &Cx| args(json!({"salt": cx.call_id().map(ToString::to_string)}));
    let source = FakeSource::new("acme")
        .tool("callBack", move |cx, _| async move { cx.call("expand", salt(&cx)).await.unwrap() })
        .tool("delegate", move |cx, _| async move {
            Outcome::delegating(vec![Delegate { tool: "callBack".into(), args: salt(&cx) }])
        });
    let session = session([source.batch(), yaml("expand", "[{delegate: {salt: '{{salt}}'}}]")]);
    assert!(session.call("callBack", json!({})).await.unwrap().is_error());
    let depths: Vec<usize> =
        session.events.calls().iter().map(|line| (line.len() - line.trim_start().len()) / 2).collect();
    // Depth 16 ran; the call that would have been the 17th was refused.
    assert_eq!(depths, (0..=limits::CALL_DEPTH).collect::<Vec<_>>());
    let last = session.events.calls().pop().unwrap();
    assert!(last.contains("calls nest deeper than 16: "), "{last}");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_calls_itself_hits_the_depth_limit() {
    let source = FakeSource::new("acme").calling("again", "again", json!({}));
    let text = session([source.batch()]).call("again", json!({})).await.unwrap().text;
    assert_eq!(text, format!("calls nest deeper than 16: again{}", " ← again".repeat(limits::CALL_DEPTH)));
}

#[tokio::test(start_paused = true)]
async fn the_number_of_calls_per_top_level_call_is_limited() {
    let source = FakeSource::new("acme").tool("poll", |cx, _| async move {
        let mut n_answered = 0;
        loop {
            let answer = cx.call("hasText", args(json!({"text": "Pay"}))).await.unwrap();
            if answer.is_error() {
                return Outcome::success(format!("{n_answered}: {}", answer.text));
            }
            n_answered += 1;
        }
    });
    let session = session([source.batch()]);
    for _ in 0..2 {
        let text = session.call("poll", json!({})).await.unwrap().text;
        assert_eq!(text, "1000: `poll` made more than 1000 calls");
    }
}

#[tokio::test(start_paused = true)]
async fn a_fatal_error_stays_fatal_in_calling_tools() {
    let source = FakeSource::new("acme")
        .answering("die", Outcome::error(Variant::FatalError, "no such account"))
        .delegating("asks", &[("die", json!({}))]);
    let session = session([source.batch(), yaml("expands", "[{asks: {}}]"), yaml("outer", "[{expands: {}}]")]);
    assert_eq!(
        session.call("outer", json!({})).await.unwrap(),
        Outcome::error(
            Variant::FatalError,
            "its call to `expands` (outer.yaml:4:10) failed: its call to `asks` (expands.yaml:4:10) failed: its delegate `die` failed: no such account"
        )
    );
}

#[tokio::test(start_paused = true)]
async fn what_a_tool_did_not_wait_for_fails_it_unless_it_only_waits_itself() {
    let hasty = |tool: &'static str, given: Value| {
        move |cx: Cx, _: Map<String, Value>| {
            let given = args(given.clone());
            async move {
                let call = tokio::spawn(async move { cx.call(tool, given).await });
                for _ in 0..50 {
                    tokio::task::yield_now().await;
                }
                assert!(!call.is_finished(), "it waits for an element that is not there");
                Outcome::success("done")
            }
        }
    };
    let nowhere = json!({"text": "nowhere"});
    let later = json!({"text": "nowhere", "timeoutMs": 60_000});
    let source = FakeSource::new("acme")
        .tool("taps", hasty("tap", nowhere.clone()))
        .tool("checks", hasty("assertVisible", nowhere))
        .tool("waits", hasty("waitUntilVisible", later));
    let session = session([source.batch()]);
    for (tool, cut_off) in [("taps", "tap"), ("checks", "assertVisible")] {
        let text =
            format!("`{tool}` answered before its call of `{cut_off}` had ended, which cut it off; wait for the call");
        assert_eq!(session.call(tool, json!({})).await.unwrap(), Outcome::failed(text));
    }
    assert_eq!(
        session.call("waits", json!({})).await.unwrap(),
        Outcome::success("done"),
        "another may have come first"
    );
}
