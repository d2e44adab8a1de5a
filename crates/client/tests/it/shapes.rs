//! What is sent, and what becomes of the answers.

use serde_json::{Value, json};
use trailblaze_client::types::{Bounds, ToolMetadata};
use trailblaze_client::{Client, Direction, Error, LaunchMode};

use crate::fake::{Fake, done};

/// What a tool call carries.
fn meta(base_url: &str, platform: &str) -> Value {
    json!({
        "trailblaze": {
            "baseUrl": base_url, "sessionId": "s-1", "invocationId": "c-1",
            "device": {"id": "android/sim-1", "platform": platform, "widthPixels": 1080},
            "memory": {"user": "ada"}, "capabilities": {"sampling": false},
        },
        "trailblazeInvocationId": "c-1", "progressToken": 7,
    })
}

#[tokio::test]
async fn a_tool_acts_on_the_device_that_it_was_called_for() {
    let fake = Fake::always(200, done()).await;
    let client = Client::from_meta(&meta(&fake.address, "android")).unwrap();
    let result = client.tap().text("Sign in").timeout_ms(100).await.unwrap();
    assert_eq!((result.success, result.message.as_str()), (true, "done"));
    let request = fake.only_request();
    assert_eq!(request.path, "/trailblaze.v1.TrailblazeCommands/Tap");
    let ids = json!({"deviceId": "android/sim-1", "sessionId": "s-1", "invocationId": "c-1", "text": "Sign in", "timeoutMs": 100});
    assert_eq!(request.json(), ids);
    assert_eq!(request.headers["content-type"], "application/json");
    assert_eq!(request.headers["connect-protocol-version"], "1");
    assert_eq!(request.headers["host"], fake.address.trim_start_matches("http://"));
    assert!(!request.headers.contains_key("authorization"), "{request:?}");
    assert!(!request.headers.contains_key("connect-timeout-ms"), "{request:?}");
    assert_eq!((client.device_id(), client.platform()), (Some("android/sim-1"), Some("android")));
    assert_eq!(client.memory().get("user"), Some(&json!("ada")));
}

#[tokio::test]
async fn a_program_outside_a_tool_uses_a_key() {
    let fake = Fake::always(200, done()).await;
    let client = Client::new(&fake.address).with_key("k-1\n").with_device("android/sim-1");
    client.maestro().expect("the platform is unknown").press_back().await.unwrap();
    let request = fake.only_request();
    assert_eq!(request.path, "/trailblaze.v1.MaestroCommands/PressBack");
    assert_eq!(request.json(), json!({"deviceId": "android/sim-1"}));
    assert_eq!(request.headers["authorization"], "Bearer k-1");
    assert!(!format!("{client:?}").contains("k-1"), "{client:?}");
}

#[tokio::test]
async fn parameters_are_sent_with_their_names_and_types() {
    let fake = Fake::always(200, done()).await;
    let client = fake.client();
    let maestro = client.maestro().unwrap();
    let playwright = client.playwright().unwrap();
    client.tap().at(100, 200).long_press(true).await.unwrap();
    client.tap().reference("y778").await.unwrap();
    client.input_text("x").hide_keyboard_after(false).await.unwrap();
    client.launch_app().package_id("com.acme").launch_mode(LaunchMode::ForceRestart).await.unwrap();
    client.wait_until_visible("Go Online", 10_000).await.unwrap();
    maestro.swipe().direction(Direction::Down).duration_ms(-1).await.unwrap();
    maestro.pinch(1.5).await.unwrap();
    maestro.grant_permission("com.acme", "CAMERA").await.unwrap();
    playwright.fill("#name", "").await.unwrap();
    client.remember("user", "ada").await.unwrap();
    client.call_tool("pay", json!({"amount": 3, "rate": 0.5})).await.unwrap();
    let sent: Vec<(String, Value)> = fake
        .requests()
        .iter()
        .map(|request| (request.path.rsplit('/').next().unwrap().to_string(), request.json()))
        .collect();
    let expected = [
        ("Tap", json!({"x": 100, "y": 200, "longPress": true})),
        ("Tap", json!({"ref": "y778"})),
        ("InputText", json!({"text": "x", "hideKeyboardAfter": false})),
        ("LaunchApp", json!({"packageId": "com.acme", "launchMode": "LAUNCH_MODE_FORCE_RESTART"})),
        ("WaitUntilVisible", json!({"text": "Go Online", "timeoutMs": 10_000})),
        ("Swipe", json!({"direction": "DIRECTION_DOWN", "durationMs": -1})),
        ("Pinch", json!({"scale": 1.5})),
        ("GrantPermission", json!({"packageId": "com.acme", "permission": "CAMERA"})),
        ("Fill", json!({"selector": "#name", "value": ""})),
        ("Remember", json!({"variable": "user", "value": "ada"})),
        ("CallTool", json!({"name": "pay", "args": {"amount": 3, "rate": 0.5}})),
    ];
    assert_eq!(sent, expected.map(|(method, body)| (method.to_string(), body)));
}

#[tokio::test]
async fn a_query_returns_its_value() {
    async fn check<T: PartialEq + std::fmt::Debug, F: IntoFuture<Output = Result<T, Error>>>(
        answer: Value,
        call: impl FnOnce(Client) -> F,
        expected: T,
    ) {
        let fake = Fake::always(200, answer.clone()).await;
        assert_eq!(call(fake.client()).await, Ok(expected), "{answer}");
    }
    check(json!({"value": true}), |client| client.is_visible().text("a"), true).await;
    check(json!({"value": false}), |client| client.has_text("a"), false).await;
    check(json!({}), |client| client.has_text("a"), false).await;
    check(json!({"value": "Pay"}), |client| client.get_element_text("a"), Some("Pay".to_string())).await;
    check(json!({"value": ""}), |client| client.get_element_text("a"), Some(String::new())).await;
    check(json!({}), |client| client.get_element_text("a"), None).await;
    check(json!({"value": 3}), |client| client.get_element_count().text("a"), 3).await;
    check(
        json!({"success": true, "value": [1, null]}),
        |client| client.playwright().unwrap().evaluate_js("a"),
        json!([1, null]),
    )
    .await;
    check(json!({"success": true}), |client| client.playwright().unwrap().evaluate_js("a"), Value::Null).await;
    check(json!({"value": {"a": 1}}), |client| client.dump_memory(), json!({"a": 1}).as_object().unwrap().clone())
        .await;
    check(json!({}), |client| client.dump_memory(), Default::default()).await;
}

#[tokio::test]
async fn a_screen_is_typed() {
    let fake = Fake::always(
        200,
        json!({
            "platform": "android", "width": 1080, "height": 2400, "app": "com.acme", "someday": [{}],
            "root": {"role": "frame", "enabled": true, "selected": false, "focused": false, "clipped": false, "children": [
                {"ref": "y778", "role": "button", "text": "Pay", "checked": false, "bounds": {"left": 1, "top": 2, "right": 3, "bottom": 4}},
            ]},
            "picture": {"mime": "image/png", "data": "iVBO"},
        }),
    )
    .await;
    let screen = fake.client().capture_screen().picture(true).await.unwrap();
    assert_eq!((screen.width, screen.height, screen.app.as_deref()), (1080, 2400, Some("com.acme")));
    let root = screen.root.unwrap();
    let button = &root.children[0];
    assert_eq!(
        (button.reference.as_deref(), button.text.as_deref(), button.checked),
        (Some("y778"), Some("Pay"), Some(false))
    );
    assert_eq!((root.checked, root.bounds, root.id), (None, None, None));
    let Some(Bounds { left, bottom, .. }) = button.bounds else { panic!("it has bounds") };
    assert_eq!((left, bottom), (1, 4));
    assert_eq!(screen.picture.unwrap().data, b"\x89PN");
    assert_eq!(fake.only_request().json(), json!({"picture": true}));
}

#[tokio::test]
async fn a_deep_screen_is_read_on_a_small_stack() {
    let mut element = json!({"role": "leaf", "children": []});
    for _ in 0..98 {
        element = json!({"role": "frame", "children": [element]});
    }
    let fake = Fake::always(200, json!({"root": element})).await;
    let client = fake.client();
    let screen = tokio::spawn(async move { client.capture_screen().await }).await.unwrap().unwrap();
    let mut depth = 0;
    let mut at = screen.root.as_ref();
    while let Some(element) = at {
        depth += 1;
        at = element.children.first();
    }
    assert_eq!(depth, 99);
}

#[tokio::test]
async fn the_session_and_its_tools_are_typed() {
    let device = json!({"id": "android/sim-1", "platform": "android", "driver": "sim", "width": 1080, "height": 2400});
    let fake = Fake::start(move |_, request| {
        crate::fake::Reply::Json(200, match request.path.rsplit('/').next().unwrap() {
            "GetSession" => json!({"sessionId": "s-1", "device": device}),
            "ListDevices" => json!({"number": 2, "devices": [device]}),
            "ListTools" => json!({"tools": [{"name": "pay", "inputSchema": {"type": "object"}, "metadata": {"groups": ["a"], "exposedToLlm": false}}]}),
            "CallTool" => json!({"success": true, "message": "", "variant": "", "structured": {"total": 3}}),
            "ReloadTools" => json!({"added": ["a"], "removed": [], "changed": [], "total": 40}),
            "AskModel" => json!({"text": "yes", "model": "m"}),
            other => panic!("{other}"),
        })
    })
    .await;
    let client = fake.client();
    assert_eq!(client.get_session().await.unwrap().device.unwrap().width, 1080);
    assert_eq!(client.list_devices().await.unwrap().devices[0].id, "android/sim-1");
    let tools = client.list_tools().await.unwrap().tools;
    assert_eq!(tools[0].input_schema.as_ref().unwrap()["type"], "object");
    let Some(ToolMetadata { exposed_to_llm, is_recordable, .. }) = &tools[0].metadata else { panic!("{tools:?}") };
    assert_eq!((*exposed_to_llm, *is_recordable), (Some(false), None));
    assert_eq!(client.call_tool("pay", json!({})).await.unwrap().structured, Some(json!({"total": 3})));
    assert_eq!(client.reload_tools().await.unwrap().added, ["a"]);
    assert_eq!(client.ask_model("Is it paid?").screen(true).max_tokens(9).await.unwrap().text, "yes");
    let asked = fake.requests().last().unwrap().json();
    assert_eq!(asked, json!({"prompt": "Is it paid?", "screen": true, "maxTokens": 9}));
}

#[test]
fn a_group_is_there_if_the_device_may_have_it() {
    let check = |platform: &str, expected: (bool, bool, bool)| {
        let client = Client::from_meta(&meta("http://127.0.0.1:1", platform)).unwrap();
        let groups = (client.maestro().is_some(), client.playwright().is_some(), client.desktop().is_some());
        assert_eq!(groups, expected, "{platform}");
    };
    check("android", (true, false, false));
    check("IOS", (true, false, false));
    check("web", (false, true, false));
    check("desktop", (false, false, true));
    check("", (true, true, true));
    assert!(Client::new("localhost").with_platform("Web").maestro().is_none());
}

#[test]
fn a_request_that_trailblaze_did_not_make_is_refused() {
    for meta in [json!({}), json!(null), json!({"progressToken": 1}), json!({"trailblaze": "c-1"})] {
        assert_eq!(Client::from_meta(&meta).err(), Some(Error::NoContext), "{meta}");
    }
    assert!(Client::from_meta(&json!({"trailblazeInvocationId": "c-1"})).is_ok());
}
