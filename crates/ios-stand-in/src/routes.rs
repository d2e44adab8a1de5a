//! The routes of WebDriverAgent.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::answer::{WdaAnswer, WebDriverError};
use crate::behaviour::Behaviour;
use crate::http::HttpRequest;
use crate::iphone::{Iphone, SCALE};
use crate::{alert, apps, elements, picture, settings, source, touch};

/// Answers a request. Some routes need a session, some have one if it is named, and some have none.
pub async fn answer(iphone: &Iphone, request: &HttpRequest, behaviour: &Behaviour) -> WdaAnswer {
    let parts: Vec<&str> = request.path.split('/').skip(1).collect();
    let method = request.method.as_str();
    match (method, parts.as_slice()) {
        ("OPTIONS", _) => Ok(Value::Null),
        _ if !["GET", "POST", "PUT", "DELETE"].contains(&method) => Err(WebDriverError::unknown_method(method)),
        ("GET", ["status"]) => Ok(status()),
        ("GET", ["wda", "healthcheck"]) => Ok(Value::Null),
        ("POST", ["wda", "homescreen"]) => apps::go_home(iphone).await,
        ("POST", ["session"]) => create_session(iphone, &request.body),
        (_, ["session", id, route @ ..]) => {
            if iphone.state().session.as_deref() != Some(*id) {
                return Err(WebDriverError::invalid_session());
            }
            match (method, route) {
                ("GET", []) => Ok(session_information(id)),
                ("DELETE", []) => {
                    iphone.state().session = None;
                    Ok(Value::Null)
                }
                _ => match with_or_without_session(iphone, (method, route), request, behaviour).await {
                    Some(answer) => answer,
                    None => in_session(iphone, method, route, request).await,
                },
            }
        }
        (_, route) => {
            let answer = with_or_without_session(iphone, (method, route), request, behaviour).await;
            answer.unwrap_or_else(|| Err(WebDriverError::unknown_command(&request.path)))
        }
    }
}

fn status() -> Value {
    json!({
        "ready": true,
        "message": "WebDriverAgent is ready to accept commands",
        "state": "success",
        "os": {"name": "iOS", "version": "18.1", "sdkVersion": "18.1", "testmanagerdVersion": 65535},
        "ios": {"ip": null},
        "build": {
            "time": "Jan 01 2026 00:00:00", "productBundleIdentifier": "com.facebook.WebDriverAgentRunner",
            "version": "16.12.7",
        },
        "device": "iphone",
    })
}

fn create_session(iphone: &Iphone, body: &Value) -> WdaAnswer {
    if !body.get("capabilities").is_some_and(Value::is_object) {
        return Err(WebDriverError::session_not_created("'capabilities' is mandatory to create a new session"));
    }
    let mut state = iphone.state();
    // There is one session at a time.
    state.elements.clear();
    let id = state.new_id();
    state.session = Some(id.clone());
    Ok(session_information(&id))
}

fn session_information(id: &str) -> Value {
    json!({
        "sessionId": id,
        "capabilities": {"device": "iphone", "sdkVersion": "18.1", "browserName": " ", "CFBundleIdentifier": "unknown"},
    })
}

/// Routes that exist with and without a session; `None` if it is none of them.
async fn with_or_without_session(
    iphone: &Iphone,
    (method, route): (&str, &[&str]),
    request: &HttpRequest,
    behaviour: &Behaviour,
) -> Option<WdaAnswer> {
    let body = &request.body;
    Some(match (method, route) {
        ("GET", ["source"]) => source::source(iphone, request, behaviour.extra_elements).await,
        ("GET", ["screenshot"]) => picture::screenshot(iphone).await,
        ("GET", ["window", "size"]) => Ok(window_size(iphone)),
        ("GET", ["wda", "screen"]) => Ok(screen(iphone)),
        ("GET", ["wda", "device", "info"]) => Ok(device_info(iphone)),
        ("GET", ["wda", "activeAppInfo"]) => apps::active(iphone).await,
        ("GET", ["wda", "locked"]) => Ok(json!(iphone.state().is_locked)),
        ("POST", ["wda", "lock"]) => {
            iphone.state().is_locked = true;
            Ok(Value::Null)
        }
        ("POST", ["wda", "unlock"]) => {
            iphone.state().is_locked = false;
            Ok(Value::Null)
        }
        (_, ["orientation" | "wda", ..]) if settings::is_one(route) => settings::answer(iphone, method, route, body),
        ("POST", ["wda", "setPasteboard"]) => set_clipboard(iphone, body),
        ("POST", ["wda", "getPasteboard"]) => Ok(json!(STANDARD.encode(&iphone.state().clipboard))),
        ("GET", ["alert", "text"]) => alert::text(iphone).await,
        ("POST", ["alert", "accept"]) => alert::answer(iphone, body["name"].as_str(), true).await,
        ("POST", ["alert", "dismiss"]) => alert::answer(iphone, body["name"].as_str(), false).await,
        _ => return None,
    })
}

async fn in_session(iphone: &Iphone, method: &str, route: &[&str], request: &HttpRequest) -> WdaAnswer {
    let body = &request.body;
    match (method, route) {
        ("GET", ["window", "rect"]) => {
            let mut rect = window_size(iphone);
            rect["x"] = json!(0);
            rect["y"] = json!(0);
            Ok(rect)
        }
        ("POST", ["timeouts"]) => Ok(Value::Null),
        ("GET" | "POST", ["appium", "settings"]) => Ok(json!({"snapshotMaxDepth": 50, "waitForIdleTimeout": 10})),
        ("GET", ["wda", "batteryInfo"]) => Ok(json!({"level": 1, "state": 2})),
        ("POST", ["wda", "tap"]) => touch::tap(iphone, body).await,
        ("POST", ["wda", "doubleTap"]) => touch::double_tap(iphone, body).await,
        ("POST", ["wda", "touchAndHold"]) => touch::hold(iphone, body).await,
        ("POST", ["wda", "dragfromtoforduration"]) => touch::drag(iphone, body).await,
        ("POST", ["wda", "swipe"]) => touch::swipe_toward(iphone, body).await,
        ("POST", ["wda", "pinch"]) => touch::pinch(iphone, body).await,
        ("POST", ["actions"]) => touch::actions(iphone, body).await,
        ("POST", ["wda", "keys"]) => touch::keys(iphone, body).await,
        ("POST", ["wda", "keyboard", "dismiss"]) => Ok(Value::Null),
        ("POST", ["wda", "pressButton"]) => match body["name"].as_str().map(str::to_lowercase).as_deref() {
            Some("home") => apps::go_home(iphone).await,
            Some(name @ ("volumeup" | "volumedown")) => {
                iphone.state().pressed.push(name.to_string());
                Ok(Value::Null)
            }
            other => {
                let name = other.unwrap_or_default();
                Err(WebDriverError::unknown(format!("The button '{name}' is not supported")))
            }
        },
        ("POST", ["wda", "deactivateApp"]) => apps::deactivate(iphone).await,
        ("POST", ["wda", "apps", "launch"]) => apps::launch(iphone, body).await,
        ("POST", ["wda", "apps", "activate"]) => apps::activate(iphone, body).await,
        ("POST", ["wda", "apps", "terminate"]) => apps::terminate(iphone, body).await,
        ("POST", ["wda", "apps", "state"]) => apps::state(iphone, body).await,
        ("GET", ["wda", "apps", "list"]) => apps::list(iphone).await,
        ("POST", ["url"]) => apps::open_url(iphone, body).await,
        ("POST", ["wda", "performAccessibilityAudit"]) => Ok(settings::audit(iphone, body)),
        ("GET", ["wda", "alert", "buttons"]) => alert::buttons(iphone).await,
        ("GET", ["element", "active"]) => elements::active(iphone).await,
        ("POST", ["element"]) => elements::find(iphone, body).await,
        ("POST", ["elements"]) => elements::find_all(iphone, body).await,
        ("GET", ["screenshot", id] | ["element", id, "screenshot"]) => elements::picture(iphone, id).await,
        ("GET", ["wda", "element", id, what]) => elements::ask(iphone, id, &[*what]).await,
        ("GET", ["element", id, what @ ..]) => elements::ask(iphone, id, what).await,
        ("POST", ["element", id, what]) => elements::act(iphone, id, what, body).await,
        _ => Err(WebDriverError::unknown_command(&request.path)),
    }
}

pub fn window_size(iphone: &Iphone) -> Value {
    let size = iphone.size();
    let (width, height) = (f64::from(size.width) / SCALE, f64::from(size.height) / SCALE);
    let state = iphone.state();
    match state.is_landscape && state.n_unturned == 0 {
        true => json!({"width": height, "height": width}),
        false => json!({"width": width, "height": height}),
    }
}

fn screen(iphone: &Iphone) -> Value {
    json!({
        "screenSize": window_size(iphone), "statusBarSize": {"width": 390, "height": 47}, "displayId": 1, "scale": SCALE,
    })
}

fn device_info(iphone: &Iphone) -> Value {
    let style = if iphone.state().is_dark { "dark" } else { "light" };
    json!({
        "currentLocale": "en_US", "timeZone": "UTC", "name": "Stand-in", "model": "iPhone",
        "uuid": "00000000-0000-0000-0000-000000000000", "userInterfaceIdiom": 0, "userInterfaceStyle": style,
        "isSimulator": true,
    })
}

fn set_clipboard(iphone: &Iphone, body: &Value) -> WdaAnswer {
    let wrong = || WebDriverError::invalid_argument("Cannot decode the pasteboard content from base64");
    let content = body.get("content").and_then(Value::as_str).ok_or_else(wrong)?;
    let bytes = STANDARD.decode(content).map_err(|_| wrong())?;
    iphone.state().clipboard = String::from_utf8_lossy(&bytes).into_owned();
    Ok(Value::Null)
}
