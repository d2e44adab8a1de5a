//! The driver and the provider against an adb server that is scripted in this process. No test here runs a command of a real Android.

mod acting;
mod fast;
mod looking;
mod providing;
mod settings;
mod trees;

use std::sync::Arc;

use trailblaze_core::driver::{Action, ActionOutput, ActionTarget, DeviceCommand, Driver, DriverError};
use trailblaze_protocol::geometry::Point;

use super::adb::fake::{AdbReply, FakeAdb, SERIAL, budget};
use super::automation::Looking;
use super::driver::AndroidDriver;
use super::provider::PhoneSettings;

/// What a phone prints, by the start of a command. The first that fits wins.
type Script = &'static [(&'static str, &'static str)];

/// A screen with a field that has the focus.
const FORM: &str = r#"<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation="0"><node index="0" text="" resource-id="" class="android.widget.FrameLayout" package="com.example.wallet" content-desc="" checkable="false" checked="false" clickable="false" enabled="true" focusable="false" focused="false" scrollable="false" long-clickable="false" password="false" selected="false" bounds="[0,0][1080,2400]"><node index="0" text="Ada &amp; &#128512;" resource-id="com.example.wallet:id/name" class="android.widget.EditText" package="com.example.wallet" content-desc="Name" checkable="false" checked="false" clickable="true" enabled="true" focusable="true" focused="true" scrollable="false" long-clickable="true" password="false" selected="false" bounds="[40,200][1040,320]" /></node></hierarchy>UI hierchary dumped to: /dev/tty"#;

/// A phone that is ready.
const READY_PHONE: Script = &[
    (
        "getprop",
        "[ro.product.model]: [Pixel 7]\n[ro.build.version.release]: [14]\n[ro.build.characteristics]: [nosdcard]\n",
    ),
    ("wm size", "Physical size: 1080x2400\n"),
    ("wm density", "Physical density: 420\n"),
    ("dumpsys power", "  mWakefulness=Awake\n"),
    ("dumpsys window", "  mDreamingLockscreen=false\n"),
    ("settings get global window_animation_scale", "1.0\nnull\n0.5\n"),
    ("settings get global airplane_mode_on", "0\n"),
    ("uiautomator dump", FORM),
];

/// A phone that prints this, and otherwise what one prints that is ready.
async fn phone(script: Script) -> FakeAdb {
    FakeAdb::start(move |service| {
        if service.ends_with(":features") {
            return Some(AdbReply::answer("shell_v2,cmd,stat_v2"));
        }
        if service == "sync:" {
            return Some(AdbReply::Files);
        }
        let command = service.strip_prefix("shell,v2,raw:").or(service.strip_prefix("exec:"))?;
        if command.starts_with("trap ") {
            return Some(AdbReply::Lines);
        }
        let known = script.iter().chain(READY_PHONE).find(|(start, _)| command.starts_with(start));
        let printed = known.map_or("", |(_, printed)| *printed);
        Some(match (service.starts_with("exec:"), printed.strip_prefix("!")) {
            (true, _) => AdbReply::printed(printed.as_bytes()),
            (false, Some(error)) => AdbReply::shell("", error, 1),
            (false, None) => AdbReply::shell(printed, "", 0),
        })
    })
    .await
}

async fn open(adb: &FakeAdb) -> Result<Arc<dyn Driver>, DriverError> {
    open_with(adb, Looking::Plain).await
}

async fn open_with(adb: &FakeAdb, looking: Looking) -> Result<Arc<dyn Driver>, DriverError> {
    let settings = PhoneSettings { looking, ..PhoneSettings::default() };
    let spec = super::provider::spec(SERIAL, None, settings, "a phone".to_string());
    AndroidDriver::open(&spec, adb.device(), &budget()).await.map(|driver| Arc::new(driver) as Arc<dyn Driver>)
}

/// What a phone is told to do for a command to it as a whole, after it was opened.
async fn sent(script: Script, command: DeviceCommand) -> (Result<ActionOutput, DriverError>, Vec<String>) {
    let adb = phone(script).await;
    let driver = open(&adb).await.expect("it opens");
    let before = adb.commands().len();
    let acted = command.carry_out(&*driver, &budget()).await;
    (acted, adb.commands().split_off(before))
}

/// What a phone is told to do for an action, after it was opened.
async fn commands(
    script: Script,
    target: ActionTarget,
    action: Action,
) -> (Result<ActionOutput, DriverError>, Vec<String>) {
    let adb = phone(script).await;
    let driver = open(&adb).await.expect("it opens");
    let before = adb.commands().len();
    let acted = driver.act(&budget(), &target, &action).await;
    (acted, adb.commands().split_off(before))
}

fn at(x: i32, y: i32) -> ActionTarget {
    ActionTarget::Point(Point { x, y })
}
