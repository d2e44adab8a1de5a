//! The driver and the provider against a scripted server in this process. No test here runs the real WebDriverAgent.

mod acting;
mod looking;
mod providing;

use std::sync::Arc;

use serde_json::{Value, json};
use trailblaze_core::driver::{Action, ActionOutput, ActionTarget, Driver, DriverError};
use trailblaze_protocol::geometry::Point;

use super::config::{IosSettings, spec};
use super::driver::{IosDriver, IosHost};
use super::mac::HostedDevice;
use super::usb::Usbmuxd;
use super::wda::fake::{FakeWda, ReceivedRequest, WdaReply, budget};

/// A screen with a field that has the focus.
fn form() -> Value {
    json!({
        "type": "Application", "label": "Wallet", "rect": {"x": 0, "y": 0, "width": 390, "height": 844},
        "children": [{
            "type": "TextField", "rawIdentifier": "name", "name": "name", "label": "", "value": "Ada",
            "placeholderValue": "Name", "isEnabled": "1", "isFocused": "1",
            "rect": {"x": 16, "y": 100, "width": 358, "height": 44},
        }],
    })
}

/// What one answers that is ready, with an app in front.
fn ready(asked: &ReceivedRequest) -> WdaReply {
    let what = asked.what.split('?').next().unwrap_or_default();
    if what == "GET /alert/text" {
        return WdaReply::Error(404, "no such alert", "none is open");
    }
    WdaReply::Value(match what {
        "GET /status" => json!({
            "ready": true, "device": "iphone", "os": {"name": "iOS", "version": "18.1"}, "build": {"version": "16.12.7"},
        }),
        "GET /wda/device/info" => json!({"name": "Ada's iPhone", "model": "iPhone", "isSimulator": false}),
        "GET /wda/screen" => json!({"scale": 3, "screenSize": {"width": 390, "height": 844}}),
        "GET /wda/locked" => json!(false),
        "GET /wda/activeAppInfo" => json!({"bundleId": "com.example.Wallet", "pid": 7}),
        "GET /source" => form(),
        "POST /session" => json!({"sessionId": "S"}),
        "GET /session/S/element/active" => json!({"ELEMENT": "E-1"}),
        "POST /session/S/wda/apps/state" => json!(4),
        _ => Value::Null,
    })
}

/// One that answers this, and otherwise as one does that is ready.
async fn iphone(script: impl Fn(&ReceivedRequest) -> Option<WdaReply> + Send + Sync + 'static) -> FakeWda {
    FakeWda::start(move |asked| script(asked).unwrap_or_else(|| ready(asked))).await
}

fn settings(wda: &FakeWda) -> IosSettings {
    IosSettings { address: wda.address.clone(), ..IosSettings::default() }
}

async fn open(wda: &FakeWda) -> Result<Arc<dyn Driver>, DriverError> {
    open_with(settings(wda)).await
}

async fn open_with(settings: IosSettings) -> Result<Arc<dyn Driver>, DriverError> {
    let spec = spec("ios/phone", None, settings.clone(), "an iPhone".to_string());
    let usbmuxd = Usbmuxd::of_environment(None);
    let host = IosHost { usbmuxd, device: HostedDevice::default(), supervisor: None };
    let opened = IosDriver::open(&spec, settings, host, &budget()).await;
    opened.map(|driver| Arc::new(driver) as Arc<dyn Driver>)
}

/// What is asked of a device for an action, after it was opened, without the session.
async fn asked(target: ActionTarget, action: Action) -> (Result<ActionOutput, DriverError>, Vec<ReceivedRequest>) {
    let wda = iphone(|_| None).await;
    let driver = open(&wda).await.expect("it opens");
    let before = wda.asked().len();
    let acted = driver.act(&budget(), &target, &action).await;
    (acted, since(&wda, before))
}

/// The requests since then, without the one for a session.
fn since(wda: &FakeWda, before: usize) -> Vec<ReceivedRequest> {
    wda.asked().split_off(before).into_iter().filter(|asked| asked.what != "POST /session").collect()
}

fn at(x: i32, y: i32) -> ActionTarget {
    ActionTarget::Point(Point { x, y })
}
