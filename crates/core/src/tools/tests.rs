//! Invariants of every row: no parameter is ignored, and a failed assertion is reported as such.

use serde_json::{Map, Value, json};
use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_protocol::event::ToolKind;
use trailblaze_protocol::outcome::Variant;

use super::row::{ParamRow, ParamType, Row};
use super::{
    apps, assertions, checks, commands, elements, keyboard, maestro, phone_state, phones, reload, remember, waiting,
};
use crate::engine::cx::Attempt;
use crate::engine::fault::Stop;
use crate::engine::tool::{Args, READ};
use crate::ids;
use crate::testing::{FakeDriver, TestPage, TestSession, TestWiring, button, field};
use crate::values::memory::Memory;

/// The tools that are not only for browsers.
fn rows() -> Vec<&'static Row> {
    let commands: &'static [Row] = Vec::leak(commands::rows().collect());
    let tables = [
        commands,
        elements::ROWS,
        assertions::ROWS,
        checks::ROWS,
        keyboard::ROWS,
        apps::ROWS,
        phone_state::ROWS,
        phones::ROWS,
        waiting::ROWS,
        remember::ROWS,
        maestro::ROWS,
        reload::ROWS,
    ];
    tables.into_iter().flatten().collect()
}

fn session(row: &Row) -> TestSession {
    let platform = row.platforms.first().copied().unwrap_or(Platform::Android);
    let page = TestPage::new("home", [button("pay", "Pay"), field("name")]);
    let driver = FakeDriver::new("fake/one", [page]).posing_as(platform, DriverKey::default_for(platform).as_str());
    let attempt = Attempt::new(ids::attempt(), Memory::default(), "trails/a.trail.yaml");
    TestSession { attempt, ..TestWiring::new(driver).open() }
}

/// A valid value for the parameter.
fn sample(param: &ParamRow) -> Value {
    match (&param.ty, param.name) {
        (ParamType::Text, "tree") => json!("- button \"Nowhere\""),
        (ParamType::Text | ParamType::Pattern, _) => json!("Pay"),
        (ParamType::Integer, _) => json!(1),
        (ParamType::Number, _) => json!(0.5),
        (ParamType::Flag, _) => json!(true),
        (ParamType::Word(words), _) => json!(words[words.len() - 1]),
        (ParamType::Selector, _) => json!({"androidAccessibility": {"textRegex": "Pay"}}),
        (ParamType::Commands, _) => json!([{"tapOn": "Pay"}]),
        (ParamType::Texts, _) => json!(["Pay"]),
        (ParamType::Words(words), _) => json!(words),
        (ParamType::Fields, _) => json!([{"ref": "Pay", "value": "x"}]),
        (ParamType::Elements, _) => json!([{"id": "pay"}]),
        (ParamType::Map | ParamType::Object | ParamType::Any, _) => json!({"name": "Pay"}),
    }
}

/// The arguments that the tool requires, plus the parameter itself.
fn arguments(row: &Row, param: Option<&ParamRow>) -> Map<String, Value> {
    let mut args: Map<String, Value> = row
        .params
        .iter()
        .filter(|param| param.is_required)
        .map(|param| (param.name.to_string(), sample(param)))
        .collect();
    let takes = |name: &str| row.params.iter().any(|param| param.name == name);
    // Tools that find an element accept exactly one of several ways to name it.
    let ways = ["ref", "text", "textRegex", "id", "x", "y"];
    let is_way = param.is_some_and(|param| ways.contains(&param.name));
    if !is_way && args.keys().all(|name| !ways.contains(&name.as_str())) && takes("text") {
        args.insert("text".into(), json!("Pay"));
    }
    if takes("packageId") && param.is_none_or(|param| param.name != "appId") {
        args.insert("packageId".into(), json!("Pay"));
    }
    if let Some(param) = param {
        args.insert(param.name.to_string(), sample(param));
        let other = match param.name {
            "x" => Some("y"),
            "y" => Some("x"),
            _ => None,
        };
        args.extend(other.map(|other| (other.to_string(), json!(1))));
    }
    args
}

#[tokio::test(start_paused = true)]
async fn every_parameter_that_a_tool_takes_is_read() {
    let mut ignored = Vec::new();
    for row in rows() {
        let session = session(row);
        // The reason is only recorded.
        for param in row.params.iter().filter(|param| !["reasoning", "reason"].contains(&param.name)) {
            // Refs and node ids refer to the last snapshot.
            let _ = session.call("captureScreen", json!({})).await;
            READ.take();
            let args = Args(arguments(row, Some(param)));
            let _ = (row.run)(&session.cx(), &args).await;
            if !READ.take().contains(param.name) {
                ignored.push(format!("{} {}", row.name, param.name));
            }
        }
    }
    assert_eq!(ignored, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_negative_number_is_rejected_where_it_makes_no_sense() {
    for (tool, args) in [
        ("tap", json!({"text": "Pay", "index": -1})),
        ("tapOnElementWithText", json!({"text": "Pay", "index": -1})),
        ("tapOnPoint", json!({"x": -1, "y": 2})),
        ("swipe", json!({"durationMs": -1})),
        ("scroll", json!({"amount": -1})),
        ("waitForChange", json!({"quietWindowMs": -1})),
        ("assertNotVisibleWithText", json!({"text": "Nowhere", "index": -1})),
    ] {
        let session = session(rows()[0]);
        let outcome = session.call(tool, args).await.unwrap();
        assert!(outcome.text.ends_with("must be a non-negative integer, got -1"), "{tool}: {}", outcome.text);
    }
}

#[tokio::test(start_paused = true)]
async fn words_are_accepted_in_any_case_and_others_are_refused() {
    let session = session(rows()[0]);
    for args in [json!({"direction": "down"}), json!({"direction": "Down"}), json!({"direction": "DOWN"})] {
        let outcome = session.call("swipe", args).await.unwrap();
        assert_eq!(outcome.text, "swiped down");
    }
    let fault = session.call("swipe", json!({"direction": "downwards"})).await.unwrap_err();
    assert!(fault.to_string().contains("\"downwards\" is not one of"), "{fault}");
}

#[tokio::test(start_paused = true)]
async fn a_failed_assertion_is_reported_as_one() {
    for row in rows().into_iter().filter(|row| row.kind == ToolKind::Assertion) {
        let session = session(row);
        let mut args = arguments(row, None);
        match row.name {
            "assertEquals" => drop(args.insert("actual".into(), json!("other"))),
            // Elements that must be gone are present, and those that must be present are not.
            "assertNotVisibleBySelector"
            | "assertNotVisibleWithText"
            | "assertNotVisible"
            | "assertNotEquals"
            | "waitUntilNotVisible" => {}
            _ => {
                let expected = [
                    (&["assertText", "assertValue", "assertAttribute"][..], "is", json!("Nothing")),
                    (&["web_assertUrl", "web_assertTitle"], "is", json!("Nothing")),
                    (&["assertNumber", "assertCount"], "equals", json!(3)),
                    (&["assertState"], "enabled", json!(true)),
                    (&["assertOrder"], "items", json!(["Nowhere", "Pay"])),
                ];
                let own = expected.into_iter().filter(|(tools, ..)| tools.contains(&row.name));
                args.extend(own.map(|(_, name, value)| (name.to_string(), value)));
                for (name, value) in [
                    ("text", json!("Nowhere")),
                    ("nodeSelector", json!({"androidAccessibility": {"textRegex": "Nowhere"}})),
                    ("selector", json!("#nowhere")),
                ] {
                    if args.contains_key(name) {
                        args.insert(name.into(), value);
                    }
                }
            }
        }
        match (row.run)(&session.cx(), &Args(args)).await {
            Err(Stop::Failed(outcome)) => {
                assert_eq!(outcome.variant, Variant::AssertionFailed, "{}: {}", row.name, outcome.text);
            }
            other => panic!("{}: {other:?}", row.name),
        }
    }
    let session = session(&maestro::ROWS[0]);
    for command in [
        json!({"assertVisible": "Nowhere"}),
        json!({"assertNotVisible": "Pay"}),
        json!({"extendedWaitUntil": {"visible": "Nowhere", "timeout": 1}}),
        json!({"extendedWaitUntil": {"notVisible": "Pay", "timeout": 1}}),
    ] {
        let outcome = session.call("maestro", json!({"commands": [command]})).await.unwrap();
        assert_eq!(outcome.variant, Variant::AssertionFailed, "{command}: {}", outcome.text);
    }
}
