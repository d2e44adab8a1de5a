//! What WebDriverAgent is asked to do, and what is made of its refusals.

use std::time::Duration;

use trailblaze_core::driver::{DeviceCommand, Direction, DragEnd, Key, LaunchMode, Offset};

use super::*;

/// The routes in the session, with their bodies.
fn told(asked: &[ReceivedRequest]) -> Vec<String> {
    let route = |asked: &ReceivedRequest| asked.what.replace("/session/S", "");
    asked.iter().map(|asked| format!("{} {}", route(asked), asked.body)).collect()
}

#[tokio::test]
async fn touches_are_in_points() {
    let (acted, requests) = asked(at(300, 600), Action::Tap).await;
    acted.expect("it taps");
    assert_eq!(told(&requests), [r#"POST /wda/tap {"x":100.0,"y":200.0}"#]);
    let (_, requests) = asked(at(3, 6), Action::DoubleTap).await;
    assert_eq!(told(&requests), [r#"POST /wda/doubleTap {"x":1.0,"y":2.0}"#]);
    let (_, requests) = asked(at(3, 6), Action::LongPress).await;
    assert_eq!(told(&requests), [r#"POST /wda/touchAndHold {"x":1.0,"y":2.0,"duration":1.0}"#]);
    let (acted, requests) = asked(ActionTarget::Device, Action::Tap).await;
    assert_eq!(acted.expect_err("nowhere").to_string(), "`tap` needs an element or a point");
    assert_eq!(requests, []);
}

#[tokio::test]
async fn gestures_are_pointers_that_go_from_one_place_to_another() {
    let path = |finger: &Value| {
        let places = finger["actions"].as_array().expect("actions").iter();
        let places = places.filter(|action| action["type"] == "pointerMove");
        places.map(|place| (place["x"].as_f64(), place["y"].as_f64(), place["duration"].as_u64())).collect::<Vec<_>>()
    };
    let (from, to) = (Point { x: 300, y: 900 }, Point { x: 300, y: 300 });
    let swipe = Action::Swipe { from, to, duration: Duration::from_millis(250) };
    let (_, requests) = asked(ActionTarget::Device, swipe).await;
    assert_eq!(requests[0].what, "POST /session/S/actions");
    let fingers = requests[0].body["actions"].as_array().expect("fingers").clone();
    assert_eq!(fingers.len(), 1);
    assert_eq!(path(&fingers[0]), [(Some(100.0), Some(300.0), Some(0)), (Some(100.0), Some(100.0), Some(250))]);
    let (_, requests) = asked(ActionTarget::Device, Action::Pinch { scale: 2.0 }).await;
    assert_eq!(requests[0].body["actions"].as_array().map(Vec::len), Some(2));
    let scroll = Action::Scroll { direction: Direction::Down, amount: Some(300) };
    let (_, requests) = asked(ActionTarget::Device, scroll).await;
    let path = path(&requests[0].body["actions"][0]);
    assert!(path[0].1 > path[1].1, "to scroll down, the finger moves up: {path:?}");
    let drag = Action::Drag { at: None, to: DragEnd::By(Offset { x: 30, y: 0 }) };
    let (_, requests) = asked(at(30, 30), drag).await;
    assert_eq!(requests[0].body["actions"][0]["actions"][2]["duration"], 1000, "it is held before it is moved");
}

#[tokio::test]
async fn text_goes_into_the_field_that_has_the_focus() {
    let text = |text: &str| text.to_string();
    let (acted, requests) = asked(at(30, 60), Action::InputText { text: text("Grüße 😀\r\n") }).await;
    acted.expect("it types");
    let expected = [
        r#"POST /wda/tap {"x":10.0,"y":20.0}"#,
        "GET /element/active null",
        r#"POST /element/E-1/value {"value":["Grüße 😀\n"]}"#,
    ];
    assert_eq!(told(&requests), expected);
    let (_, requests) = asked(ActionTarget::Device, Action::SetText { text: text("x") }).await;
    let expected =
        ["GET /element/active null", "POST /element/E-1/clear {}", r#"POST /element/E-1/value {"value":["x"]}"#];
    assert_eq!(told(&requests), expected);
    let (_, requests) = asked(ActionTarget::Device, Action::EraseText { count: Some(3) }).await;
    assert_eq!(requests[1].body, json!({"value": ["\u{8}\u{8}\u{8}"]}));
    let (_, requests) = asked(ActionTarget::Device, Action::EraseText { count: None }).await;
    assert_eq!(told(&requests)[1], "POST /element/E-1/clear {}");
}

#[tokio::test]
async fn without_a_focus_nothing_is_typed() {
    let wda = iphone(|asked| {
        asked.what.ends_with("/element/active").then_some(WdaReply::Error(404, "no such element", "none has the focus"))
    })
    .await;
    let driver = open(&wda).await.expect("it opens");
    let typing = Action::InputText { text: "x".to_string() };
    let error = driver.act(&budget(), &ActionTarget::Device, &typing).await.expect_err("nowhere");
    assert_eq!(error.to_string(), "no field has the focus; tap a field first");
}

#[tokio::test]
async fn what_was_typed_is_in_no_message() {
    let wda = iphone(|asked| {
        let is_typing = asked.what.ends_with("/value");
        is_typing.then_some(WdaReply::Error(400, "invalid element state", "Error: Type 'hunter2' failed"))
    })
    .await;
    let driver = open(&wda).await.expect("it opens");
    let typing = Action::InputText { text: "hunter2".to_string() };
    let error = driver.act(&budget(), &ActionTarget::Device, &typing).await.expect_err("it fails").to_string();
    assert!(error.starts_with("WebDriverAgent could not type into the field") && !error.contains("hunter2"), "{error}");
}

#[tokio::test]
async fn keys_are_those_of_a_phone() {
    let press = async |key| asked(ActionTarget::Device, Action::PressKey { key }).await;
    assert_eq!(told(&press(Key::Enter).await.1), [r#"POST /wda/keys {"value":["\n"]}"#]);
    assert_eq!(told(&press(Key::Home).await.1), ["POST /wda/homescreen {}"]);
    let (acted, requests) = press(Key::Back).await;
    assert_eq!(acted.expect_err("there is none").to_string(), "`pressKey BACK` is unsupported on ios");
    assert_eq!(requests, []);
    let (_, requests) = asked(ActionTarget::Device, Action::HideKeyboard).await;
    assert_eq!(told(&requests), ["POST /wda/keyboard/dismiss {}"]);
}

#[tokio::test]
async fn an_alert_in_the_way_is_named() {
    let wda = iphone(|asked| match asked.what.as_str() {
        "POST /session/S/wda/tap" => Some(WdaReply::Error(500, "unexpected alert open", "a modal dialog was open")),
        "GET /alert/text" => Some(WdaReply::Value(json!("“Wallet” Would Like to\nSend You Notifications"))),
        "GET /session/S/wda/alert/buttons" => Some(WdaReply::Value(json!(["Don’t Allow", "Allow"]))),
        _ => None,
    })
    .await;
    let driver = open(&wda).await.expect("it opens");
    let error = driver.act(&budget(), &at(1, 1), &Action::Tap).await.expect_err("it is in the way");
    let expected = "an alert is in the way; tap one of its buttons first: \
                    “Wallet” Would Like to Send You Notifications (buttons: \"Don’t Allow\", \"Allow\")";
    assert_eq!(error, DriverError::Refused { reason: expected.to_string() });
}

#[tokio::test]
async fn a_place_that_is_gone_is_searched_for_again() {
    let wda = iphone(|asked| {
        asked.what.ends_with("/wda/tap").then_some(WdaReply::Error(400, "invalid coordinates", "outside of the screen"))
    })
    .await;
    let driver = open(&wda).await.expect("it opens");
    let error = driver.act(&budget(), &at(9000, 1), &Action::Tap).await.expect_err("it is nowhere");
    assert!(matches!(error, DriverError::Evaded { .. }), "{error:?}");
}

async fn sent(
    settings: IosSettings,
    wda: &FakeWda,
    command: DeviceCommand,
) -> (Result<ActionOutput, DriverError>, Vec<ReceivedRequest>) {
    let driver = open_with(settings).await.expect("it opens");
    let before = wda.asked().len();
    let acted = command.carry_out(&*driver, &budget()).await;
    (acted, since(wda, before))
}

fn launch(mode: LaunchMode) -> DeviceCommand {
    DeviceCommand::LaunchApp { app: "com.x".to_string(), mode }
}

#[tokio::test]
async fn an_app_is_resumed_restarted_or_given_fresh_data_by_itself() {
    let wda = iphone(|_| None).await;
    let routes = |asked: Vec<ReceivedRequest>| -> Vec<String> {
        asked.into_iter().map(|asked| asked.what.replace("POST /session/S/wda/apps/", "")).collect()
    };
    let (acted, requests) = sent(settings(&wda), &wda, launch(LaunchMode::Resume)).await;
    acted.expect("it is launched");
    assert_eq!(routes(requests), ["launch", "state"]);
    let (_, requests) = sent(settings(&wda), &wda, launch(LaunchMode::ForceRestart)).await;
    assert_eq!(routes(requests), ["terminate", "launch", "state"]);
    let (acted, requests) = sent(settings(&wda), &wda, launch(LaunchMode::Reinstall)).await;
    let error = acted.expect_err("its data would stay").to_string();
    assert!(error.contains("cannot clear the data of `com.x`; use `launchMode: FORCE_RESTART`"), "{error}");
    assert_eq!(requests, []);
    let clearing = IosSettings { clear_data_arguments: vec!["--reset".to_string()], ..settings(&wda) };
    let (acted, requests) = sent(clearing.clone(), &wda, launch(LaunchMode::Reinstall)).await;
    acted.expect("it is launched");
    assert_eq!(requests[1].body["arguments"], json!(["--reset"]));
    let clear = DeviceCommand::ClearAppData { app: "com.x".to_string() };
    let (_, requests) = sent(clearing, &wda, clear).await;
    assert_eq!(routes(requests), ["terminate", "launch", "state", "terminate"]);
}

#[tokio::test]
async fn an_app_that_does_not_start_is_named() {
    let error = async |reply: fn(&ReceivedRequest) -> Option<WdaReply>| {
        let wda = iphone(reply).await;
        sent(settings(&wda), &wda, launch(LaunchMode::Resume)).await.0.expect_err("it fails").to_string()
    };
    let absent = |asked: &ReceivedRequest| {
        asked.what.ends_with("/launch").then_some(WdaReply::Error(500, "unknown error", "no app with this bundle id"))
    };
    let message = error(absent).await;
    assert!(message.starts_with("the app `com.x` cannot be launched; it may not be installed: "), "{message}");
    assert!(message.ends_with("no app with this bundle id"), "{message}");
    let behind = |asked: &ReceivedRequest| asked.what.ends_with("/state").then_some(WdaReply::Value(json!(1)));
    assert!(error(behind).await.ends_with("it did not come to the front"));
}

#[tokio::test]
async fn links_lists_and_the_clipboard_are_those_of_web_driver_agent() {
    let wda = iphone(|asked| match asked.what.as_str() {
        "GET /session/S/wda/apps/list" => {
            Some(WdaReply::Value(json!([{"pid": 2, "bundleId": "com.b"}, {"pid": 1, "bundleId": "com.a"}])))
        }
        "POST /wda/setPasteboard" => Some(WdaReply::Error(500, "unknown error", "not in front")),
        _ => None,
    })
    .await;
    let (_, requests) = sent(settings(&wda), &wda, DeviceCommand::OpenUrl { url: "wallet://send".to_string() }).await;
    assert_eq!(told(&requests), [r#"POST /url {"url":"wallet://send"}"#]);
    let (acted, _) = sent(settings(&wda), &wda, DeviceCommand::ListApps).await;
    assert_eq!(acted.expect("a list").value, Some(json!(["com.a", "com.b"])));
    let driver = open(&wda).await.expect("it opens");
    let copy = DeviceCommand::SetClipboard { text: "Ada".to_string() };
    copy.carry_out(&*driver, &budget()).await.expect("it is kept");
    let told = format!("{:?}", driver.events().expect("events").take());
    assert!(told.contains("apps do not see it"), "{told}");
    DeviceCommand::PasteClipboard.carry_out(&*driver, &budget()).await.expect("it is typed");
    assert_eq!(wda.asked().last().map(|asked| asked.body.clone()), Some(json!({"value": ["Ada"]})));
    let granted = DeviceCommand::GrantPermission { app: "com.x".to_string(), permission: "camera".to_string() };
    let error = granted.carry_out(&*driver, &budget()).await.expect_err("it cannot");
    assert!(error.to_string().contains("only on a simulator of this Mac"), "{error}");
}
