//! The cases of `tests/parity` through the Rust client.

use serde_json::{Map, Value, json};
use trailblaze_client::{Client, Direction, Error, LaunchMode};

use super::cases::{Case, DEVICES, cases, normal, project, without_times};
use super::in_calls::InCalls;
use super::parity::record;
use super::served::Served;
use super::wire::{Caller, Protocol};

#[tokio::test]
async fn the_rust_client_gives_the_same_answers_recording_and_events() {
    let (mut wrong, mut impossible) = (Vec::new(), Vec::new());
    for device in DEVICES {
        let cases: Vec<Case> = cases().into_iter().filter(|case| case.device == device).collect();
        let (rust, direct) = (project(), project());
        let served = (Served::on(&rust, device), Served::on(&direct, device));
        let client = Client::new(&served.0.address).with_key(&served.0.key);
        let caller = Caller::of(&served.1, Protocol::ConnectJson);
        for case in &cases {
            let Some(got) = answer(&client, case).await else {
                impossible.push(case.name.clone());
                continue;
            };
            if got != case.answer {
                wrong.push(format!("{device} {}\n  got      {got}\n  expected {}", case.name, case.answer));
            }
            let _ = caller.call(&case.method, case.params.clone()).await;
        }
        served.0.end(&rust).exits(0);
        served.1.end(&direct).exits(0);
        assert_eq!(record(&rust.last_run()), record(&direct.last_run()), "{device}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(impossible, IMPOSSIBLE);
}

#[tokio::test]
async fn the_rust_client_gives_the_same_answers_within_a_tool_call() {
    let mut wrong = Vec::new();
    for device in DEVICES {
        let open = InCalls::on(&[device]);
        let client = Client::from_meta(&json!({"trailblaze": open.calls[0]})).expect("the context of a call");
        // The YAML tool is in another project.
        let is_here = |case: &&Case| case.device == device && case.params["name"] != "counter_addTwice";
        for case in cases().iter().filter(is_here) {
            let Some(got) = answer(&client, case).await else { continue };
            if got != case.answer {
                wrong.push(format!("{device} {}\n  got      {got}\n  expected {}", case.name, case.answer));
            }
        }
        open.end();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The cases that do not compile: a required argument is left out, or a word is not a variant of its enum.
const IMPOSSIBLE: [&str; 20] = [
    "launch in an unknown mode",
    "has no text given",
    "text without an id",
    "type nothing",
    "wait without a time",
    "clear data of no app",
    "run no shell command",
    "grant nothing",
    "swipe in an unknown direction",
    "pinch by nothing",
    "remember half",
    "navigate nowhere",
    "click without a selector",
    "fill without a value",
    "evaluate nothing",
    "choose nothing",
    "activate no window",
    "copy nothing",
    "press no keys",
    "close no window",
];

/// The answer in the form that all clients are compared in; nothing if the call cannot be written in Rust.
async fn answer(client: &Client, case: &Case) -> Option<Value> {
    Some(match call(client, &case.method, Params(&case.params)).await? {
        Ok(fields) => normal(&case.method, Ok(fields)),
        Err(Error::ActionFailed { message, variant } | Error::AssertionFailed { message, variant }) => {
            json!({"failed": variant, "message": without_times(&message)})
        }
        Err(Error::Api { code, message }) => normal(&case.method, Err((code.to_string(), message))),
        Err(other) => panic!("{}: {other:?}", case.name),
    })
}

/// Sets the optional parameters that a case has.
macro_rules! with {
    ($call:expr, $params:expr, $($setter:ident = $read:ident $name:literal),*) => {{
        let mut call = $call;
        $(if $params.has($name) {
            call = call.$setter($params.$read($name)?);
        })*
        call
    }};
}

/// The message that the method returned, as the wire has it.
async fn call(client: &Client, method: &str, params: Params<'_>) -> Option<Result<Map<String, Value>, Error>> {
    let (service, method) = method.split_once('/').expect("a service and a method");
    let group = match service {
        "MaestroCommands" => client.maestro().is_some(),
        "PlaywrightCommands" => client.playwright().is_some(),
        "DesktopCommands" => client.desktop().is_some(),
        _ => true,
    };
    if !group {
        // A group that the device lacks is absent; its commands can be called by name.
        let tool = format!("{}{}", method[..1].to_ascii_lowercase(), &method[1..]);
        return Some(client.call_tool(tool, params.0.clone()).await.map(message));
    }
    let maestro = || client.maestro().expect("it was checked");
    let playwright = || client.playwright().expect("it was checked");
    let desktop = || client.desktop().expect("it was checked");
    Some(match method {
        "LaunchApp" => with!(client.launch_app(), params, package_id = text "packageId", launch_mode = mode "launchMode")
            .await
            .map(message),
        "Tap" => with!(
            client.tap(), params, text = text "text", id = text "id", index = number "index", x = number "x", y = number "y",
            long_press = flag "longPress", timeout_ms = number "timeoutMs"
        )
        .await
        .map(message),
        "InputText" => {
            with!(client.input_text(params.text("text")?), params, hide_keyboard_after = flag "hideKeyboardAfter")
                .await
                .map(message)
        }
        "ClearAppData" => client.clear_app_data(params.text("packageId")?).await.map(message),
        "IsVisible" => {
            with!(client.is_visible(), params, text = text "text", id = text "id", timeout_ms = number "timeoutMs")
                .await
                .map(value)
        }
        "HasText" => client.has_text(params.text("text")?).await.map(value),
        "GetElementText" => client.get_element_text(params.text("id")?).await.map(value),
        "GetElementCount" => {
            with!(client.get_element_count(), params, text = text "text", id = text "id").await.map(value)
        }
        "CaptureScreen" => with!(client.capture_screen(), params, picture = flag "picture").await.map(message),
        "AssertVisible" => with!(
            client.assert_visible(), params, text = text "text", id = text "id", timeout_ms = number "timeoutMs",
            expected_text = text "expectedText"
        )
        .await
        .map(message),
        "WaitUntilVisible" => {
            client.wait_until_visible(params.text("text")?, params.number("timeoutMs")?).await.map(message)
        }
        "AdbShell" => maestro().adb_shell(params.text("command")?).await.map(message),
        "GrantPermission" => {
            maestro().grant_permission(params.text("packageId")?, params.text("permission")?).await.map(message)
        }
        "PressBack" => maestro().press_back().await.map(message),
        "PressHome" => maestro().press_home().await.map(message),
        "Swipe" => with!(
            maestro().swipe(), params, direction = direction "direction",
            swipe_on_element_text = text "swipeOnElementText", timeout_ms = number "timeoutMs"
        )
        .await
        .map(message),
        "Scroll" => with!(maestro().scroll(), params, direction = direction "direction", amount = number "amount")
            .await
            .map(message),
        "Pinch" => maestro().pinch(params.0["scale"].as_f64()?).await.map(message),
        "Navigate" => playwright().navigate(params.text("url")?).await.map(message),
        "Click" => with!(playwright().click(params.text("selector")?), params, timeout_ms = number "timeoutMs")
            .await
            .map(message),
        "Fill" => playwright().fill(params.text("selector")?, params.text("value")?).await.map(message),
        "WaitForSelector" => {
            with!(playwright().wait_for_selector(params.text("selector")?), params, timeout_ms = number "timeoutMs")
                .await
                .map(message)
        }
        "EvaluateJs" => playwright().evaluate_js(params.text("script")?).await.map(value),
        "Windows" => desktop().windows().await.map(message),
        "ActivateWindow" => desktop().activate_window(params.text("id")?).await.map(message),
        "Menu" => desktop().menu(params.texts("path")?).await.map(message),
        "PressKeys" => desktop().press_keys(params.text("keys")?).await.map(message),
        "GetClipboard" => desktop().get_clipboard().await.map(value),
        "SetClipboard" => desktop().set_clipboard(params.text("text")?).await.map(message),
        "Close" => desktop().close(params.text("id")?).await.map(message),
        "Remember" => client.remember(params.text("variable")?, params.text("value")?).await.map(message),
        "Forget" => client.forget(params.text("variable")?).await.map(message),
        "DumpMemory" => client.dump_memory().await.map(value),
        "CallTool" => client.call_tool(params.text("name")?, params.0["args"].clone()).await.map(message),
        other => panic!("no case has called `{other}` yet: add it here"),
    })
}

fn message(answer: impl serde::Serialize) -> Map<String, Value> {
    let answer = serde_json::to_value(answer).expect("JSON");
    answer.as_object().expect("a message").clone()
}

fn value(answer: impl serde::Serialize) -> Map<String, Value> {
    message(json!({"value": answer}))
}

/// The parameters of a case, read as what the client's methods take.
#[derive(Clone, Copy)]
struct Params<'a>(&'a Value);

impl Params<'_> {
    fn has(self, name: &str) -> bool {
        self.0.get(name).is_some()
    }

    fn text(self, name: &str) -> Option<String> {
        self.0[name].as_str().map(str::to_string)
    }

    fn texts(self, name: &str) -> Option<Vec<String>> {
        let texts = self.0[name].as_array()?.iter().map(|text| text.as_str().expect("a text").to_string());
        Some(texts.collect())
    }

    fn number(self, name: &str) -> Option<i32> {
        self.0[name].as_i64().map(|number| number.try_into().expect("a small number"))
    }

    fn flag(self, name: &str) -> Option<bool> {
        self.0[name].as_bool()
    }

    fn mode(self, name: &str) -> Option<LaunchMode> {
        serde_json::from_value(format!("LAUNCH_MODE_{}", self.0[name].as_str()?.to_ascii_uppercase()).into()).ok()
    }

    fn direction(self, name: &str) -> Option<Direction> {
        serde_json::from_value(format!("DIRECTION_{}", self.0[name].as_str()?.to_ascii_uppercase()).into()).ok()
    }
}
