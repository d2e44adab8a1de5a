//! The parameters of tools: each parameter of a web tool has an effect, each tool that waits has a timeout, and a check that
//! does not hold is a failed assertion.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use trailblaze_core::driver::{Action, ActionTarget, Budget, Driver};
use trailblaze_core::screen::{Field, Node, Props, Shape};
use trailblaze_core::testing::{FakeDriver, TestPage, TestSession, TestWiring, button, field, label};
use trailblaze_protocol::device_event::{DeviceEvent, SentRequest};
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::outcome::Variant;

fn element(role: &str, name: &str) -> Node {
    let props = Props::new(Shape::Web).with(Field::AriaRole, role).with(Field::AriaName, name);
    let props = props.with(Field::AriaDescriptor, format!("{role} \"{name}\"")).with(Field::Text, name);
    Node::new(0, props.with(Field::IsInteractive, true))
}

fn request(url: &str, body: &str) -> DeviceEvent {
    let sent = Some(Box::new(SentRequest { url: url.to_string(), body: body.to_string() }));
    DeviceEvent::Request { request: 1, method: "POST".into(), url: url.into(), kind: "fetch".into(), sent }
}

fn browser() -> TestSession {
    let mut covered = element("button", "Covered");
    covered.props.set(Field::IsCovered, true);
    covered.props.set(Field::CssSelector, "main > button");
    let mut clipped = element("button", "Clipped");
    clipped.is_clipped = true;
    let page = TestPage::new(
        "page",
        [element("button", "Pay"), element("button", "Cancel"), element("list", "List"), covered, clipped],
    );
    let driver = FakeDriver::new("web/fake", [page])
        .posing_as(Platform::Web, "playwright-native")
        .saying(DeviceEvent::Console { kind: "error".into(), text: "bad".into() })
        .saying(DeviceEvent::Console { kind: "log".into(), text: "good".into() })
        .answering("download", json!({"name": "report.pdf"}))
        .answering("attribute", json!("held"))
        .answering("findExchange", json!({"body": {"order": {"id": 7}}}))
        .answering("getClipboard", json!("copied"))
        .answering("getLocalStorage", json!({"who": "ada"}))
        .saying(request("https://shop.example/pay", ""));
    TestWiring::new(driver).open()
}

/// Everything that a call did: the actions on the device, the result, and how long it took.
async fn effect(session: &TestSession, tool: &str, arguments: &Value) -> String {
    let (started, before) = (Instant::now(), session.driver.done().len());
    let answer = match session.call(tool, arguments.clone()).await {
        Ok(outcome) => format!("{:?} {} {:?}", outcome.variant, outcome.text, outcome.structured),
        Err(fault) => fault.to_string(),
    };
    format!("{:?}\n{answer}\nafter {:?}", &session.driver.done()[before..], started.elapsed())
}

/// A tool, its other arguments, a parameter, and two values of it that must have different effects. Null means absent.
type Case = (&'static str, Value, &'static str, Value, Value);

fn cases() -> Vec<Case> {
    let pay = || json!({"nodeSelector": {"web": {"ariaName": "Pay"}}});
    let selectors = || (json!({"web": {"ariaName": "Pay"}}), json!({"web": {"ariaName": "Cancel"}}));
    let refs = || (json!("button \"Pay\""), json!("button \"Cancel\""));
    let with = |mut common: Value, more: Value| {
        common.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        common
    };
    let mut cases: Vec<Case> = Vec::new();
    // The other arguments of tools that take an element.
    let on_elements = [
        ("web_click", json!({})),
        ("web_hover", json!({})),
        ("web_check", json!({})),
        ("web_selectOption", json!({"values": ["a"]})),
        ("web_drag", json!({"byX": 5})),
        ("web_upload", json!({"files": ["a.txt"]})),
        ("web_scroll", json!({})),
        ("web_type", json!({"text": "Ada"})),
        ("web_fillSecret", json!({"value": "Ada"})),
        ("web_verifyElementVisible", json!({})),
        ("web_verifyValue", json!({"expected": "held"})),
        ("web_verifyListVisible", json!({"items": []})),
    ];
    for (tool, needs) in on_elements {
        let gone = |selector: Value| with(needs.clone(), json!({"nodeSelector": selector}));
        let absent = json!({"web": {"ariaName": "Absent"}});
        let (a, b) = if tool == "web_verifyListVisible" { (selectors().0, absent.clone()) } else { selectors() };
        cases.push((tool, needs.clone(), "nodeSelector", a, b));
        let (a, b) = refs();
        let b = if tool == "web_verifyListVisible" { json!("button \"Absent\"") } else { b };
        cases.push((tool, needs.clone(), "ref", a, b));
        cases.push((tool, gone(absent), "timeoutMs", json!(100), json!(900)));
        cases.push((tool, with(needs.clone(), json!({"ref": "button"})), "index", json!(0), json!(9)));
    }
    for tool in ["web_click", "web_hover", "web_drag"] {
        let needs = with(pay(), if tool == "web_drag" { json!({"byX": 5}) } else { json!({}) });
        cases.push((tool, with(needs.clone(), json!({"offsetY": 1})), "offsetX", json!(1), json!(2)));
        cases.push((tool, with(needs, json!({"offsetX": 1})), "offsetY", json!(1), json!(2)));
    }
    cases.extend([
        ("web_click", pay(), "button", json!("LEFT"), json!("RIGHT")),
        ("web_click", pay(), "button", json!("RIGHT"), json!("MIDDLE")),
        ("web_click", pay(), "clickCount", json!(2), json!(3)),
        ("web_click", with(pay(), json!({"button": "RIGHT"})), "clickCount", json!(1), json!(2)),
        ("web_click", pay(), "modifiers", json!(null), json!(["SHIFT"])),
        ("web_check", pay(), "checked", json!(true), json!(false)),
        ("web_selectOption", pay(), "values", json!(["a"]), json!(["b"])),
        ("web_upload", pay(), "files", json!(["a"]), json!(["b"])),
        ("web_drag", pay(), "toNodeSelector", selectors().0, selectors().1),
        ("web_drag", pay(), "toRef", refs().0, refs().1),
        ("web_drag", with(pay(), json!({"toRef": "button"})), "toIndex", json!(0), json!(1)),
        ("web_drag", with(pay(), json!({"toY": 1})), "toX", json!(1), json!(2)),
        ("web_drag", with(pay(), json!({"toX": 1})), "toY", json!(1), json!(2)),
        (
            "web_drag",
            with(pay(), json!({"toRef": "button \"Cancel\"", "toOffsetY": 1})),
            "toOffsetX",
            json!(1),
            json!(2),
        ),
        (
            "web_drag",
            with(pay(), json!({"toRef": "button \"Cancel\"", "toOffsetX": 1})),
            "toOffsetY",
            json!(1),
            json!(2),
        ),
        ("web_drag", pay(), "byX", json!(1), json!(2)),
        ("web_drag", pay(), "byY", json!(1), json!(2)),
        ("web_scroll", json!({}), "direction", json!("UP"), json!("LEFT")),
        ("web_scroll", json!({}), "amount", json!(null), json!(7)),
        ("web_scroll", json!({}), "amount", json!(null), json!(0)),
        ("web_pressKey", json!({}), "key", json!("a"), json!("b")),
        ("web_pressKey", json!({"key": "a"}), "count", json!(1), json!(2)),
        ("web_pressKey", json!({"key": "a"}), "repeats", json!(0), json!(2)),
        ("web_type", pay(), "text", json!("a"), json!("b")),
        ("web_type", with(pay(), json!({"text": "a"})), "clearFirst", json!(true), json!(false)),
        ("web_type", json!({"text": "a"}), "clearFirst", json!(true), json!(false)),
        ("web_fillSecret", pay(), "value", json!("a"), json!("b")),
        (
            "web_fillForm",
            json!({}),
            "fields",
            json!([{"ref": "button \"Pay\"", "value": "a"}]),
            json!([{"ref": "button \"Pay\"", "value": "b"}]),
        ),
        (
            "web_fillForm",
            json!({"fields": [{"ref": "button \"Absent\"", "value": "a"}]}),
            "timeoutMs",
            json!(100),
            json!(900),
        ),
        ("web_navigate", json!({}), "action", json!("BACK"), json!("RELOAD")),
        ("web_navigate", json!({}), "url", json!("https://a.example"), json!("https://b.example")),
        ("web_navigate", json!({"action": "BACK"}), "url", json!(null), json!("https://a.example")),
        ("web_navigate", json!({"action": "RELOAD"}), "timeoutMs", json!(null), json!(900)),
        ("web_waitForUrl", json!({}), "pattern", json!("com"), json!("org")),
        ("web_waitForUrl", json!({"pattern": "org"}), "timeoutMs", json!(100), json!(900)),
        ("web_wait", json!({}), "seconds", json!(1), json!(2)),
        ("web_resize", json!({"height": 5}), "width", json!(1), json!(2)),
        ("web_resize", json!({"width": 5}), "height", json!(1), json!(2)),
        ("web_tabs", json!({}), "action", json!("LIST"), json!("NEW")),
        ("web_tabs", json!({"action": "SELECT"}), "index", json!(1), json!(2)),
        ("web_tabs", json!({"action": "NEW"}), "index", json!(null), json!(2)),
        ("web_tabs", json!({"action": "NEW"}), "url", json!(null), json!("https://a.example")),
        ("web_tabs", json!({"action": "CLOSE"}), "url", json!(null), json!("https://a.example")),
        ("web_tabs", json!({"action": "SELECT", "index": 1}), "timeoutMs", json!(null), json!(900)),
        ("web_dialogs", json!({}), "answer", json!("ACCEPT"), json!("DISMISS")),
        ("web_dialogs", json!({}), "text", json!(null), json!("Ada")),
        ("web_dialogs", json!({"answer": "DISMISS"}), "text", json!(null), json!("Ada")),
        ("web_download", json!({}), "name", json!("report.pdf"), json!("other.pdf")),
        ("web_download", json!({}), "variable", json!("one"), json!("other")),
        ("web_applyCookies", json!({}), "cookiesJson", json!("[]"), json!("{}")),
        ("web_saveStorageState", json!({}), "file", json!("/ada.json"), json!("/bob.json")),
        ("web_verifyTextVisible", json!({}), "text", json!("Pay"), json!("Absent")),
        ("web_verifyTextVisible", json!({"text": "Absent"}), "timeoutMs", json!(100), json!(900)),
        ("web_verifyListVisible", json!({}), "items", json!(["Pay"]), json!(["Absent"])),
        ("web_verifyListVisible", json!({"items": ["Cancel", "Pay"]}), "ordered", json!(false), json!(true)),
        ("web_verifyValue", pay(), "expected", json!("held"), json!("other")),
        ("web_verifyValue", with(pay(), json!({"expected": "Pay"})), "type", json!("TEXT"), json!("VALUE")),
        ("web_verifyValue", with(pay(), json!({"expected": "held"})), "attribute", json!(null), json!("title")),
        (
            "web_verifyValue",
            with(pay(), json!({"expected": "held", "type": "VALUE"})),
            "attribute",
            json!(null),
            json!("title"),
        ),
        ("web_assertNetworkEvent", json!({}), "eventName", json!("pay"), json!("refund")),
        ("web_assertNetworkEvent", json!({"eventName": "refund"}), "timeoutMs", json!(100), json!(900)),
        ("web_assertUrl", json!({}), "is", json!("com.example"), json!("org")),
        ("web_assertUrl", json!({}), "contains", json!("com"), json!("org")),
        ("web_assertUrl", json!({}), "matches", json!("com.*"), json!("org.*")),
        ("web_assertUrl", json!({"is": "org"}), "timeoutMs", json!(100), json!(900)),
        ("web_assertTitle", json!({}), "is", json!(""), json!("Shop")),
        ("web_assertTitle", json!({}), "contains", json!("a"), json!("b")),
        ("web_assertTitle", json!({}), "matches", json!(".*"), json!("Shop")),
        ("web_assertTitle", json!({"is": "Shop"}), "timeoutMs", json!(100), json!(900)),
        ("web_snapshot", json!({}), "screenName", json!("a"), json!("b")),
        ("web_console", json!({}), "level", json!("ERROR"), json!("LOG")),
        ("web_evaluate", json!({}), "script", json!("1"), json!("2")),
    ]);
    cases.extend(world_cases());
    for word in ["BOUNDS", "OFFSCREEN_ELEMENTS", "OCCLUDED_ELEMENTS", "CSS_SELECTORS", "ALL_ELEMENTS", "OTHER"] {
        cases.push(("web_requestDetails", json!({}), "include", json!([]), json!([word])));
    }
    cases
}

/// Those that change the world of pages.
fn world_cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let api = || json!({"pattern": "/api"});
    let at = |more: Value| {
        let mut all = api();
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    let for_patterns = [
        ("web_mockRequest", json!({})),
        ("web_abortRequest", json!({})),
        ("web_delayRequest", json!({"seconds": 1})),
        ("web_changeResponse", json!({"status": 500})),
        ("web_waitForRequest", json!({})),
        ("web_waitForResponse", json!({})),
    ];
    for (tool, needs) in for_patterns {
        let with_pattern = at(needs.clone());
        cases.push((tool, needs, "pattern", json!("/api"), json!("/other")));
        cases.push((tool, with_pattern.clone(), "method", json!(null), json!("post")));
        if !tool.starts_with("web_wait") {
            cases.push((tool, with_pattern, "times", json!(null), json!(2)));
        }
    }
    for tool in ["web_mockRequest", "web_changeResponse"] {
        cases.push((tool, api(), "status", json!(200), json!(404)));
        cases.push((tool, at(json!({"status": 201})), "headers", json!({"X-A": "1"}), json!({"X-A": "2"})));
        cases.push((tool, api(), "json", json!({"a": 1}), json!({"a": 2})));
        cases.push((tool, api(), "body", json!("one"), json!("two")));
        cases.push((tool, api(), "file", json!("/one.json"), json!("/two.json")));
    }
    for tool in ["web_waitForRequest", "web_waitForResponse"] {
        cases.push((tool, api(), "json", json!({"a": 1}), json!("text")));
        cases.push((tool, api(), "contains", json!("one"), json!("two")));
        cases.push((tool, api(), "variable", json!("one"), json!("two")));
        cases.push((tool, at(json!({"variable": "id"})), "path", json!("order.id"), json!("order.none")));
    }
    for tool in ["web_getClipboard", "web_getLocalStorage"] {
        cases.push((tool, json!({}), "variable", json!("one"), json!("two")));
    }
    cases.extend([
        ("web_waitForResponse", api(), "status", json!(200), json!(500)),
        ("web_abortRequest", api(), "error", json!("FAILED"), json!("TIMED_OUT")),
        ("web_delayRequest", api(), "seconds", json!(1), json!(2)),
        ("web_removeNetworkRules", json!({}), "pattern", json!(null), json!("/api")),
        ("web_throttle", json!({}), "preset", json!("SLOW_3G"), json!("NONE")),
        ("web_throttle", json!({"preset": "NONE"}), "latencyMs", json!(1), json!(2)),
        ("web_throttle", json!({"preset": "NONE"}), "downloadKbps", json!(8), json!(80)),
        ("web_throttle", json!({"preset": "NONE"}), "uploadKbps", json!(8), json!(80)),
        ("web_setOffline", json!({}), "offline", json!(true), json!(false)),
        ("web_recordHar", json!({}), "file", json!("/a.har"), json!("/b.har")),
        ("web_recordHar", json!({"file": "/a.har"}), "pattern", json!(null), json!("/api")),
        ("web_replayHar", json!({}), "file", json!("/a.har"), json!("/b.har")),
        ("web_replayHar", json!({"file": "/a.har"}), "pattern", json!(null), json!("/api")),
        ("web_replayHar", json!({"file": "/a.har"}), "missing", json!("ABORT"), json!("CONTINUE")),
        ("web_setClock", json!({}), "time", json!("2026-01-31"), json!("2026-02-01")),
        ("web_setClock", json!({}), "mode", json!("PAUSED"), json!("FIXED")),
        ("web_advanceClock", json!({}), "seconds", json!(1), json!(2)),
        ("web_setGeolocation", json!({"longitude": 1}), "latitude", json!(1), json!(2)),
        ("web_setGeolocation", json!({"latitude": 1}), "longitude", json!(1), json!(200)),
        ("web_setGeolocation", json!({"latitude": 1, "longitude": 1}), "accuracy", json!(1), json!(2)),
        ("web_setPermissions", json!({}), "permissions", json!(["camera"]), json!([])),
        ("web_setPermissions", json!({"permissions": ["camera"]}), "state", json!("GRANTED"), json!("DENIED")),
        ("web_setPermissions", json!({"permissions": ["camera"]}), "origin", json!(null), json!("https://a.example")),
        ("web_setMedia", json!({}), "colorScheme", json!("dark"), json!("light")),
        ("web_setMedia", json!({}), "reducedMotion", json!("reduce"), json!("no-preference")),
        ("web_setMedia", json!({}), "contrast", json!("more"), json!("less")),
        ("web_setMedia", json!({}), "forcedColors", json!("active"), json!("none")),
        ("web_setMedia", json!({}), "medium", json!("print"), json!("screen")),
        ("web_setClipboard", json!({}), "text", json!("one"), json!("two")),
        ("web_savePdf", json!({}), "landscape", json!(true), json!(false)),
        ("web_getLocalStorage", json!({}), "origin", json!("https://a.example"), json!("https://b.example/path")),
        ("web_getLocalStorage", json!({}), "key", json!("who"), json!("none")),
        ("web_setLocalStorage", json!({}), "items", json!({"a": 1}), json!({"a": null})),
        ("web_setLocalStorage", json!({"items": {}}), "origin", json!("https://a.example"), json!("a.example")),
    ]);
    let (a, b) = ("https://a.example", "https://b.example");
    let account = |origin: &str, username: &str, password: &str| json!({"origin": origin, "username": username, "password": password});
    for (parameter, one, other) in [("origin", a, b), ("username", "ada", "bob"), ("password", "x", "y")] {
        cases.push(("web_setCredentials", account(a, "ada", "x"), parameter, json!(one), json!(other)));
    }
    cases
}

#[tokio::test(start_paused = true)]
async fn every_parameter_of_a_web_tool_has_an_effect() {
    let mut tried = BTreeSet::new();
    let session = browser();
    for (tool, common, parameter, one, other) in cases() {
        let given = |value: &Value| {
            let mut arguments = common.clone();
            if !value.is_null() {
                arguments[parameter] = value.clone();
            }
            arguments
        };
        let (a, b) = (effect(&session, tool, &given(&one)).await, effect(&session, tool, &given(&other)).await);
        assert_ne!(a, b, "`{parameter}` of `{tool}` is ignored: {one} and {other} come to the same, with {common}");
        tried.insert(format!("{tool} {parameter}"));
    }
    // Nothing is downloaded, so the tool waits.
    let empty = || {
        TestWiring::new(FakeDriver::new("web/fake", [TestPage::new("page", [])]).posing_as(Platform::Web, "w")).open()
    };
    for millis in [100, 900] {
        let (session, started) = (empty(), Instant::now());
        session.call("web_download", json!({"timeoutMs": millis})).await.unwrap();
        assert_eq!(started.elapsed(), Duration::from_millis(millis));
    }
    tried.insert("web_download timeoutMs".to_string());
    // Nothing is sent, either.
    for tool in ["web_waitForRequest", "web_waitForResponse"] {
        for millis in [100, 900] {
            let (session, started) = (empty(), Instant::now());
            let waited = session.call(tool, json!({"pattern": "/api", "timeoutMs": millis})).await.unwrap();
            assert_eq!((waited.variant, started.elapsed()), (Variant::AssertionFailed, Duration::from_millis(millis)));
        }
        tried.insert(format!("{tool} timeoutMs"));
    }
    let registry = session.inner.registry();
    let web = registry.tools().filter(|tool| tool.name.starts_with("web_"));
    let parameters = web.flat_map(|tool| {
        let names = tool.schema.property_names().filter(|name| *name != "reasoning");
        names.map(|name| format!("{} {name}", tool.name)).collect::<Vec<_>>()
    });
    let missing: Vec<String> = parameters.filter(|parameter| !tried.contains(parameter)).collect();
    assert_eq!(missing, Vec::<String>::new(), "these need a case here");
}

#[tokio::test(start_paused = true)]
async fn every_tool_that_waits_takes_a_timeout() {
    // These act immediately, or have another parameter for how long they take.
    const AT_ONCE: [&str; 54] = [
        "adbShell",
        "assertEquals",
        "assertNotEquals",
        "captureScreen",
        "clearAppData",
        "clearText",
        "dumpMemory",
        "eraseText",
        "evaluateJs",
        "forget",
        "getElementCount",
        "getElementText",
        "grantPermission",
        "hasText",
        "hideKeyboard",
        "inputText",
        "inputTextRandom",
        "mobile_backgroundApp",
        "mobile_currentApp",
        "mobile_getAppState",
        "mobile_installApp",
        "mobile_listInstalledApps",
        "mobile_lock",
        "mobile_pasteClipboard",
        "mobile_pullFile",
        "mobile_pushFile",
        "mobile_revokePermission",
        "mobile_setAppearance",
        "mobile_setClipboard",
        "mobile_setLocale",
        "mobile_setLocation",
        "mobile_setOrientation",
        "mobile_startRecording",
        "mobile_stopRecording",
        "mobile_twist",
        "mobile_uninstallApp",
        "mobile_unlock",
        "networkConnection",
        "objectiveStatus",
        "pinch",
        "pressBack",
        "pressHome",
        "pressKey",
        "reloadTools",
        "remember",
        "scroll",
        "stopApp",
        "takeSnapshot",
        "tapOnPoint",
        "wait",
        "web_applyCookies",
        "web_console",
        "web_currentUrl",
        "web_dialogs",
    ];
    const WEB_AT_ONCE: [&str; 30] = [
        // Waits for a model, which has its own limit.
        "verifyVisually",
        "web_abortRequest",
        "web_advanceClock",
        "web_changeResponse",
        "web_delayRequest",
        "web_getClipboard",
        "web_getLocalStorage",
        "web_mockRequest",
        "web_recordHar",
        "web_removeNetworkRules",
        "web_replayHar",
        "web_saveHar",
        "web_savePdf",
        "web_setClipboard",
        "web_setClock",
        "web_setCredentials",
        "web_setGeolocation",
        "web_setLocalStorage",
        "web_setMedia",
        "web_setOffline",
        "web_setPermissions",
        "web_throttle",
        "web_evaluate",
        "web_getStorageState",
        "web_pressKey",
        "web_requestDetails",
        "web_resize",
        "web_saveStorageState",
        "web_snapshot",
        "web_wait",
    ];
    let phone = TestWiring::new(FakeDriver::new("android/fake", [TestPage::new("page", [])])).open();
    let web = browser();
    let registries = [phone.inner.registry(), web.inner.registry()];
    let tools: BTreeSet<&str> = registries
        .iter()
        .flat_map(|registry| registry.tools())
        .filter(|tool| !tool.schema.property_names().any(|name| name == "timeoutMs"))
        .map(|tool| tool.name.as_str())
        .collect();
    let expected: BTreeSet<&str> = AT_ONCE.into_iter().chain(WEB_AT_ONCE).collect();
    assert_eq!(tools, expected);
}

#[tokio::test(start_paused = true)]
async fn an_absent_element_costs_no_more_than_the_timeout() {
    let absent = json!({"androidAccessibility": {"textRegex": "Absent"}});
    let calls = [
        ("tap", json!({"text": "Absent"})),
        ("tapOnElementBySelector", json!({"nodeSelector": absent})),
        ("tapOnElementWithText", json!({"text": "Absent"})),
        ("longPressOnElementWithText", json!({"text": "Absent"})),
        ("swipe", json!({"swipeOnElementText": "Absent"})),
        ("rememberElementText", json!({"variable": "x", "text": "Absent"})),
        ("assertVisible", json!({"text": "Absent"})),
        ("maestro", json!({"commands": [{"tapOn": "Absent"}]})),
        ("maestro", json!({"commands": [{"assertVisible": "Absent"}]})),
    ];
    for (tool, mut arguments) in calls {
        for millis in [0, 700] {
            let page = TestPage::new("home", [button("pay", "Pay"), field("name"), label("", "Words")]);
            let session = TestWiring::new(FakeDriver::new("android/one", [page])).open();
            arguments["timeoutMs"] = json!(millis);
            let started = Instant::now();
            let outcome = session.call(tool, arguments.clone()).await.unwrap();
            assert!(outcome.is_error(), "{tool} fails");
            assert_eq!(started.elapsed(), Duration::from_millis(millis), "{tool}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_tap_by_ref_passes_its_timeout_on() {
    let page = TestPage::new("home", [button("pay", "Pay")]);
    let session = TestWiring::new(FakeDriver::new("android/one", [page])).open();
    let shown = session.call("captureScreen", json!({})).await.unwrap();
    let reference = first_ref(&shown.structured.unwrap()["root"]).unwrap();
    session.call("tap", json!({"ref": reference, "timeoutMs": 40})).await.unwrap();
    let calls = session.events.calls();
    assert!(calls.iter().any(|call| call.contains(r#"tap {"id":"pay","timeoutMs":40} delegate"#)), "{calls:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_check_that_does_not_hold_is_a_failed_assertion() {
    let pay = || json!({"web": {"ariaName": "Pay"}});
    let absent = || json!({"web": {"ariaName": "Absent"}});
    let checks = [
        ("web_verifyTextVisible", json!({"text": "Absent"})),
        ("web_verifyElementVisible", json!({"nodeSelector": absent()})),
        ("web_verifyListVisible", json!({"items": ["Absent"]})),
        ("web_verifyListVisible", json!({"items": ["Pay"], "nodeSelector": absent()})),
        ("web_verifyListVisible", json!({"items": ["Pay"], "nodeSelector": {"web": {"ariaName": "List"}}})),
        ("web_verifyValue", json!({"expected": "other", "nodeSelector": pay()})),
        ("web_verifyValue", json!({"expected": "other", "type": "TEXT", "nodeSelector": pay()})),
        ("web_verifyValue", json!({"expected": "other", "attribute": "title", "nodeSelector": pay()})),
        ("web_verifyValue", json!({"expected": "held", "nodeSelector": absent()})),
        ("web_assertNetworkEvent", json!({"eventName": "refund"})),
        ("waitForSelector", json!({"selector": "#absent"})),
    ];
    for (tool, mut arguments) in checks {
        arguments["timeoutMs"] = json!(200);
        let started = Instant::now();
        let outcome = browser().call(tool, arguments.clone()).await.unwrap();
        assert_eq!(outcome.variant, Variant::AssertionFailed, "{tool} {arguments}: {}", outcome.text);
        let told = outcome.structured.unwrap_or_default();
        assert!(told["expected"].is_string() && told["saw"].is_string(), "{tool} {arguments}: {told}");
        assert_eq!(started.elapsed(), Duration::from_millis(200), "{tool} {arguments}");
    }
}

fn first_ref(element: &Value) -> Option<Value> {
    let own = element.get("ref").cloned();
    own.or_else(|| element["children"].as_array()?.iter().find_map(first_ref))
}

#[tokio::test(start_paused = true)]
async fn items_are_visible_in_any_order_unless_it_counts() {
    let session = browser();
    for (items, is_ordered, expected) in [
        (json!(["Cancel", "Pay"]), false, "all items are visible"),
        (json!(["Pay", "Cancel"]), true, "all items are visible, in this order"),
        (json!(["Cancel", "Pay"]), true, "expected \"Pay\", saw no such item after \"Cancel\""),
        (json!(["Pay", "Pay"]), true, "expected \"Pay\", saw no such item after \"Pay\""),
    ] {
        let answer = session.call("web_verifyListVisible", json!({"items": items, "ordered": is_ordered})).await;
        assert_eq!(answer.unwrap().text, expected, "{items}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_device_gets_the_values_of_secrets_wherever_they_are_passed() {
    let page = TestPage::new("page", [element("button", "Pay 4711"), field("code")]);
    let driver = FakeDriver::new("web/fake", [page])
        .posing_as(Platform::Web, "playwright-native")
        .answering("download", json!({"name": "4711.pdf"}))
        .saying(request("https://shop.example/?pin=%34711", "a 4711 b"));
    let session = TestWiring::new(driver).secret("PIN", "4711").open();
    for (tool, arguments) in [
        ("web_applyCookies", json!({"cookiesJson": "[{\"name\": \"pin\", \"value\": \"{{PIN}}\"}]"})),
        // Before the app is launched, because that forgets what the pages before requested.
        ("web_assertNetworkEvent", json!({"eventName": "a {{PIN}} b"})),
        ("web_tabs", json!({"action": "NEW", "url": "https://shop.example/{{PIN}}"})),
        ("web_dialogs", json!({"text": "{{PIN}}"})),
        ("launchApp", json!({"packageId": "https://shop.example/{{PIN}}"})),
        ("web_click", json!({"nodeSelector": {"web": {"ariaNameRegex": "Pay {{PIN}}"}}})),
        ("web_download", json!({"name": "{{PIN}}.pdf"})),
        ("rememberElementText", json!({"text": "Pay {{PIN}}", "variable": "seen"})),
        ("assertEquals", json!({"actual": "{{seen}}", "expected": "Pay {{PIN}}"})),
    ] {
        let outcome = session.call(tool, arguments).await.unwrap();
        assert!(!outcome.is_error(), "{tool}: {}", outcome.text);
    }
    let done = session.driver.done().join("\n");
    assert!(!done.contains('\u{e000}'), "no seal reaches the device: {done}");
    for value in ["\"value\": String(\"4711\")", "https://shop.example/4711", "text: Some(\"4711\")"] {
        assert!(done.contains(value), "{value} is not in\n{done}");
    }
    assert_eq!(done.matches("https://shop.example/4711").count(), 2, "{done}");
}

#[tokio::test(start_paused = true)]
async fn a_seal_that_comes_back_from_outside_is_inert() {
    let page = TestPage::new("page", [field("shown"), field("typed")]);
    let session = TestWiring::new(FakeDriver::new("android/one", [page])).secret("PIN", "4711").open();
    let seal = session.inner.secrets.seal("PIN").unwrap().to_string();
    // A page that got to know a seal shows it.
    let (budget, show) = (Budget::new(Instant::now() + Duration::from_secs(9), Default::default()), seal.clone());
    session.driver.act(&budget, &ActionTarget::Device, &Action::SetText { text: show }).await.unwrap();
    session.call("rememberElementText", json!({"id": "shown", "variable": "seen"})).await.unwrap();
    session.call("inputText", json!({"text": "{{seen}}"})).await.unwrap();
    // And so does a caller.
    session.call("inputText", json!({"text": seal})).await.unwrap();
    let done = session.driver.done();
    let typed: Vec<&String> = done[1..].iter().filter(|done| done.starts_with("InputText")).collect();
    assert_eq!(typed.len(), 2, "{done:?}");
    assert!(typed.iter().all(|typed| typed.contains("[PIN]") && !typed.contains("4711")), "{done:?}");
}
