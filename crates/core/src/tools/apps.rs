//! Apps, links and the network.

use serde_json::Value;
use trailblaze_protocol::outcome::{Outcome, Variant};

use super::arguments::LOAD_TIMEOUT;
use super::contract::LaunchApp;
use super::requests::{send, send_within};
use super::row::{MOBILE, ParamType, REASON, Row, required};
use crate::driver::{DeviceCommand, LaunchMode};
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;

pub const ROWS: &[Row] = &[
    Row::action(
        "stopApp",
        "Stop an app.",
        &[required("appId", ParamType::Text, "The app's package or bundle id."), REASON],
        |cx, args| {
            Box::pin(async move { send(cx, &DeviceCommand::StopApp { app: args.required("appId").into() }).await })
        },
    ),
    Row::action(
        "openUrl",
        "Open a URL or deep link.",
        &[required("url", ParamType::Text, "The URL."), LOAD_TIMEOUT, REASON],
        |cx, args| {
            Box::pin(async move {
                send_within(cx, args.integer("timeoutMs"), &DeviceCommand::OpenUrl { url: args.required("url").into() })
                    .await
            })
        },
    ),
    Row::action(
        "networkConnection",
        "Connect the device to the network, or disconnect it.",
        &[required("connected", ParamType::Flag, "true connects, false disconnects."), REASON],
        |cx, args| {
            Box::pin(async move {
                send(cx, &DeviceCommand::SetNetwork { connected: args.flag("connected").unwrap_or(true) }).await
            })
        },
    )
    .on(MOBILE),
    Row::query("mobile_listInstalledApps", "List the apps installed on the device.", &[], |cx, _| {
        Box::pin(async move { send(cx, &DeviceCommand::ListApps).await })
    })
    .on(MOBILE),
];

pub async fn launch(cx: &Cx, args: LaunchApp<'_>) -> Result<Outcome, Stop> {
    if let (Some(package), Some(app)) = (args.package_id(), args.app_id())
        && package != app
    {
        return Err(Stop::failed(format!("`packageId` and `appId` name different apps: {package} and {app}")));
    }
    let Some(app) = args.package_id().or(args.app_id()).map(str::to_string).or_else(|| target_app(cx)) else {
        let missing = vec!["packageId".to_string()];
        let text = "no app to launch: pass `packageId`; the session has no target app";
        return Err(Stop::error(Variant::MissingRequiredArgs { missing }, text));
    };
    let mode = args.launch_mode().and_then(LaunchMode::parse).unwrap_or(LaunchMode::Reinstall);
    send_within(cx, args.timeout_ms(), &DeviceCommand::LaunchApp { app, mode }).await
}

/// The app of the session's target.
pub fn target_app(cx: &Cx) -> Option<String> {
    cx.attempt.memory().values().get("target.appId").and_then(Value::as_str).map(str::to_string)
}
