//! Apps: launch, activate, terminate, state, links.

use serde_json::{Value, json};
use trailblaze_core::driver::{Action, ActionTarget, DeviceCommand, Key, LaunchMode};

use crate::answer::{WdaAnswer, WebDriverError};
use crate::iphone::{CLEAR_DATA, Iphone, SPRINGBOARD};

const NOT_RUNNING: u8 = 1;
const IN_BACKGROUND: u8 = 3;
const IN_FRONT: u8 = 4;

fn bundle_id(body: &Value) -> Result<String, WebDriverError> {
    let id = body.get("bundleId").and_then(Value::as_str);
    id.map(str::to_string).ok_or_else(|| WebDriverError::invalid_argument("'bundleId' is required"))
}

/// The bundle id of an app that is installed.
fn installed(iphone: &Iphone, body: &Value) -> Result<String, WebDriverError> {
    let id = bundle_id(body)?;
    match iphone.installed.contains_key(&id) {
        true => Ok(id),
        false => Err(WebDriverError::unknown(format!("The application with bundle id '{id}' is not installed"))),
    }
}

/// Arguments reach an app only if it is started, not if it is brought to the front.
pub async fn launch(iphone: &Iphone, body: &Value) -> WdaAnswer {
    let app = installed(iphone, body)?;
    let is_running = iphone.state().running.contains(&app);
    let arguments = body.get("arguments").and_then(Value::as_array).into_iter().flatten();
    let clears = arguments.filter_map(Value::as_str).any(|argument| argument == CLEAR_DATA);
    let told = |key: &str| body.get(key).cloned().unwrap_or_default();
    iphone.state().launched_with = json!({"arguments": told("arguments"), "environment": told("environment")});
    let mode = if clears && !is_running { LaunchMode::Reinstall } else { LaunchMode::Resume };
    start(iphone, &app, mode).await
}

pub async fn activate(iphone: &Iphone, body: &Value) -> WdaAnswer {
    let app = installed(iphone, body)?;
    start(iphone, &app, LaunchMode::Resume).await
}

async fn start(iphone: &Iphone, app: &str, mode: LaunchMode) -> WdaAnswer {
    let launched = iphone.send(DeviceCommand::LaunchApp { app: app.to_string(), mode }).await;
    launched.map_err(|error| WebDriverError::unknown(error.to_string()))?;
    iphone.state().running.insert(app.to_string());
    Ok(Value::Null)
}

/// Whether it ran.
pub async fn terminate(iphone: &Iphone, body: &Value) -> WdaAnswer {
    let app = bundle_id(body)?;
    let was_running = iphone.state().running.remove(&app);
    if was_running {
        let _ = iphone.send(DeviceCommand::StopApp { app }).await;
    }
    Ok(json!(was_running))
}

pub async fn state(iphone: &Iphone, body: &Value) -> WdaAnswer {
    let app = bundle_id(body)?;
    let front = iphone.front().await;
    let is_running = iphone.state().running.contains(&app);
    Ok(json!(match (front == app, is_running) {
        (true, _) => IN_FRONT,
        (false, true) => IN_BACKGROUND,
        (false, false) => NOT_RUNNING,
    }))
}

pub async fn list(iphone: &Iphone) -> WdaAnswer {
    let front = iphone.front().await;
    Ok(json!([{"pid": pid(&front), "bundleId": front}]))
}

pub async fn active(iphone: &Iphone) -> WdaAnswer {
    let front = iphone.front().await;
    let name = iphone.installed.get(&front).map_or(" ", String::as_str);
    let arguments = json!({"args": [], "env": {}});
    Ok(json!({"pid": pid(&front), "bundleId": front, "name": name, "processArguments": arguments}))
}

fn pid(app: &str) -> usize {
    if app == SPRINGBOARD { 63 } else { 1000 + app.len() }
}

pub async fn open_url(iphone: &Iphone, body: &Value) -> WdaAnswer {
    let url = body.get("url").and_then(Value::as_str);
    let url = url.ok_or_else(|| WebDriverError::invalid_argument("URL is required"))?.to_string();
    let opened = iphone.send(DeviceCommand::OpenUrl { url }).await;
    opened.map(|()| Value::Null).map_err(|error| WebDriverError::unknown(error.to_string()))
}

pub async fn go_home(iphone: &Iphone) -> WdaAnswer {
    let _ = iphone.act(ActionTarget::Device, Action::PressKey { key: Key::Home }).await;
    Ok(Value::Null)
}

/// Goes home, and comes back at once: nobody waits for a device that is simulated.
pub async fn deactivate(iphone: &Iphone) -> WdaAnswer {
    let front = iphone.front().await;
    go_home(iphone).await?;
    match iphone.installed.contains_key(&front) {
        true => start(iphone, &front, LaunchMode::Resume).await,
        false => Ok(Value::Null),
    }
}
