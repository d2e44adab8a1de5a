//! Apps behind Appium: page sources in the formats of its drivers, and a real Appium with an app that is a file.

mod real;

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::support::webdriver::{ScriptedAnswer, ScriptedEndpoint};
use crate::support::{Project, Ran};

/// Written in the format of the server of `appium-uiautomator2-driver` 8.7, and in that of WebDriverAgent 16.12.
const UIAUTOMATOR2: &str = include_str!("uiautomator2.xml");
const XCUITEST: &str = include_str!("xcuitest.xml");

fn value(value: Value) -> ScriptedAnswer {
    Some((200, json!({"value": value}).to_string()))
}

fn error(code: &str, message: &str) -> ScriptedAnswer {
    Some((404, json!({"value": {"error": code, "message": message, "stacktrace": ""}}).to_string()))
}

/// What an endpoint was asked for, with the bodies.
type AskedBodies = Arc<Mutex<Vec<(String, Value)>>>;

/// An Appium that shows this page source, whose field has the focus.
fn appium(source: &'static str) -> (ScriptedEndpoint, AskedBodies) {
    let asked: AskedBodies = Arc::default();
    let noted = Arc::clone(&asked);
    let endpoint = ScriptedEndpoint::start(move |request, body| {
        noted.lock().expect("no test panicked with it").push((request.to_string(), body.clone()));
        match request.trim_end_matches('/') {
            "POST /session" => value(json!({"sessionId": "s1", "capabilities": {}})),
            "GET /session/s1/source" => value(json!(source)),
            "GET /session/s1/window/rect" => value(json!({"x": 0, "y": 0, "width": 390, "height": 844})),
            "GET /session/s1/element/active" => value(json!({"element-6066-11e4-a52e-4f735466cecf": "field"})),
            "GET /session/s1/alert/text" => error("no such alert", ""),
            "POST /session/s1/execute/sync" if body["script"] == "mobile: deviceScreenInfo" => {
                value(json!({"scale": 3}))
            }
            "POST /session/s1/execute/sync" if body["script"] == "mobile: isKeyboardShown" => value(json!(false)),
            _ => value(Value::Null),
        }
    });
    (endpoint, asked)
}

fn project(id: &str, keys: Value, calls: &[&str]) -> Project {
    let mut keys = keys;
    keys["id"] = id.into();
    let calls: String = calls.iter().map(|call| format!("      - {call}\n")).collect();
    Project::empty()
        .with("trailblaze.yaml", format!("devices: [{keys}]\n"))
        .with("trails/a.trail.yaml", format!("trail:\n  - step: Pay\n    tools:\n{calls}"))
}

fn run(project: &Project, id: &str) -> Ran {
    project.run(&["run", "--pictures", "off", "-d", id])
}

fn bodies(asked: &AskedBodies, request: &str) -> Vec<Value> {
    let asked = asked.lock().expect("no test panicked with it");
    asked.iter().filter(|(name, _)| name == request).map(|(_, body)| body.clone()).collect()
}

/// Where a finger goes down.
fn touches(asked: &AskedBodies) -> Vec<(f64, f64)> {
    let first = |body: Value| {
        let place = &body["actions"][0]["actions"][0];
        Some((place["x"].as_f64()?, place["y"].as_f64()?))
    };
    bodies(asked, "POST /session/s1/actions").into_iter().filter_map(first).collect()
}

#[test]
fn an_android_app_is_touched_where_its_page_source_has_an_element() {
    let (endpoint, asked) = appium(UIAUTOMATOR2);
    let calls = [
        "assertVisible: {text: 'Balance: 12 & more'}",
        "tap: {id: 'com.example.wallet:id/amount'}",
        "inputText: {text: '12'}",
        "tapOnElementBySelector: {nodeSelector: {androidAccessibility: {contentDescriptionRegex: Pay now}}}",
    ];
    let project = project("android/farm", json!({"webdriver": endpoint.address}), &calls);
    run(&project, "android/farm").exits(0);
    let wanted = &bodies(&asked, "POST /session")[0]["capabilities"]["alwaysMatch"];
    assert_eq!(
        (&wanted["platformName"], &wanted["appium:automationName"]),
        (&json!("Android"), &json!("UiAutomator2"))
    );
    assert_eq!(touches(&asked), [(540.0, 460.0), (540.0, 660.0)]);
    assert_eq!(bodies(&asked, "POST /session/s1/element/field/value"), [json!({"text": "12"})]);
    assert!(endpoint.asked().contains(&"DELETE /session/s1".to_string()), "the session ends with the run");
}

#[test]
fn an_ios_app_counts_in_points() {
    let (endpoint, asked) = appium(XCUITEST);
    let calls = [
        "assertVisible: {text: 'Balance: 12 & more'}",
        "tap: {id: amount}",
        "tapOnElementBySelector: {nodeSelector: {iosMaestro: {textRegex: Pay}}}",
    ];
    let project = project("ios/farm", json!({"webdriver": endpoint.address}), &calls);
    run(&project, "ios/farm").exits(0);
    assert_eq!(touches(&asked), [(195.0, 170.0), (195.0, 242.0)]);
}

#[test]
fn what_cannot_be_done_there_is_said() {
    let (endpoint, _) = appium(UIAUTOMATOR2);
    let project = project("android/farm", json!({"webdriver": endpoint.address}), &["mobile_lock: {}"]);
    let ran = run(&project, "android/farm").exits(1);
    let told = format!("{}{}", ran.stdout, ran.stderr);
    assert!(told.contains("`lock` is unsupported on android"), "{told}");
}

#[test]
fn a_page_source_that_is_none_is_named() {
    for (source, words) in [
        ("<html><body>a web view</body></html>", "it has no whole element"),
        ("", "it has no whole element"),
        ("<AppiumAUT><XCUIElementTypeApplication type=", "the page source of Appium's XCUITest cannot be read"),
    ] {
        let (endpoint, _) = appium(source);
        let project =
            project("ios/farm", json!({"webdriver": endpoint.address}), &["tap: {id: amount, timeoutMs: 1000}"]);
        let ran = run(&project, "ios/farm").exits(1);
        let told = format!("{}{}", ran.stdout, ran.stderr);
        assert!(told.contains(words), "{words} in {told}");
    }
}

#[test]
fn an_automation_whose_page_sources_cannot_be_read_is_a_mistake_of_the_project() {
    let keys = json!({"webdriver": "http://127.0.0.1:1", "capabilities": {"appium:automationName": "Espresso"}});
    let ran = run(&project("android/farm", keys, &["tap: {id: a}"]), "android/farm").exits(3);
    let told = format!("{}{}", ran.stdout, ran.stderr);
    assert!(told.contains("`appium:automationName` is `espresso`"), "{told}");
}
