//! What holds for every row of the tables: nothing that a tool takes is ignored, and a check that fails is a failed check.

use serde_json::{Map, Value, json};
use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_protocol::event::ToolKind;
use trailblaze_protocol::outcome::Variant;

use super::row::{P, Row, Ty};
use super::{apps, assertions, commands, elements, keyboard, maestro, reload, remember, waiting};
use crate::engine::fault::Stop;
use crate::engine::tool::{Args, READ};
use crate::testing::{FakeDriver, Page, TestSession, Wiring, button, field};

/// The tools that are not for browsers alone.
fn rows() -> impl Iterator<Item = &'static Row> {
    [
        commands::ROWS,
        elements::ROWS,
        assertions::ROWS,
        keyboard::ROWS,
        apps::ROWS,
        waiting::ROWS,
        remember::ROWS,
        maestro::ROWS,
        reload::ROWS,
    ]
    .into_iter()
    .flatten()
}

fn session(row: &Row) -> TestSession {
    let platform = row.platforms.first().copied().unwrap_or(Platform::Android);
    let page = Page::new("home", [button("pay", "Pay"), field("name")]);
    let driver = FakeDriver::new("fake/one", [page]).posing_as(platform, DriverKey::default_for(platform).as_str());
    Wiring::new(driver).open()
}

/// A value that the parameter takes. Elements are `text` where the test says what that is.
fn sample(param: &P) -> Value {
    match (&param.ty, param.name) {
        (Ty::Text, _) => json!("Pay"),
        (Ty::Integer, _) => json!(1),
        (Ty::Number, _) => json!(0.5),
        (Ty::Flag, _) => json!(true),
        (Ty::Word(words), _) => json!(words[words.len() - 1]),
        (Ty::Selector, _) => json!({"androidAccessibility": {"textRegex": "Pay"}}),
        (Ty::Commands, _) => json!([{"tapOn": "Pay"}]),
        (Ty::Texts, _) => json!(["Pay"]),
        (Ty::Words(words), _) => json!(words),
        (Ty::Fields, _) => json!([{"ref": "Pay", "value": "x"}]),
    }
}

/// What the tool needs to be called with, and then the parameter itself.
fn arguments(row: &Row, param: Option<&P>) -> Map<String, Value> {
    let mut args: Map<String, Value> = row
        .params
        .iter()
        .filter(|param| param.is_required)
        .map(|param| (param.name.to_string(), sample(param)))
        .collect();
    let takes = |name: &str| row.params.iter().any(|param| param.name == name);
    // Tools that find an element take one of several ways to name it.
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
        // Why something is done is for the record, not for the tool.
        for param in row.params.iter().filter(|param| !["reasoning", "reason"].contains(&param.name)) {
            let session = session(row);
            // Refs and node ids mean what was shown.
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
async fn a_negative_number_is_refused_where_it_means_nothing() {
    for (tool, args) in [
        ("tap", json!({"text": "Pay", "index": -1})),
        ("tapOnElementWithText", json!({"text": "Pay", "index": -1})),
        ("tapOnPoint", json!({"x": -1, "y": 2})),
        ("swipe", json!({"durationMs": -1})),
        ("scroll", json!({"amount": -1})),
        ("waitForChange", json!({"quietWindowMs": -1})),
        ("assertNotVisibleWithText", json!({"text": "Nowhere", "index": -1})),
    ] {
        let session = session(&commands::ROWS[0]);
        let outcome = session.call(tool, args).await.unwrap();
        assert!(outcome.text.ends_with("is a whole number from 0, not -1"), "{tool}: {}", outcome.text);
    }
}

#[tokio::test(start_paused = true)]
async fn a_check_that_fails_is_a_failed_check() {
    for row in rows().filter(|row| row.kind == ToolKind::Assertion) {
        let session = session(row);
        let mut args = arguments(row, None);
        match row.name {
            "assertEquals" => drop(args.insert("actual".into(), json!("other"))),
            // What must be gone is there, and what must be there is not.
            "assertNotVisibleBySelector" | "assertNotVisibleWithText" | "assertNotEquals" | "waitUntilNotVisible" => {}
            _ => {
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
