//! What only phones have: a lock, alerts of the system, processes of apps.

use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::outcome::Outcome;

use super::arguments::texts;
use super::requests::{act, send};
use super::row::{MOBILE, ParamRow, ParamType, REASON, Row, optional, required};
use crate::driver::{Action, DeviceCommand, LaunchMode, LaunchSettings, PhoneCommand};
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::engine::tool::Args;

const IOS: &[Platform] = &[Platform::Ios];
const APP: ParamRow = required("appId", ParamType::Text, "The app's package or bundle id.");
const BUTTON: ParamRow = optional("button", ParamType::Text, "The label of a button, if another one is meant.");

pub const ROWS: &[Row] = &[
    Row::action("mobile_lock", "Lock the screen.", &[REASON], |cx, _| {
        Box::pin(async move { phone(cx, PhoneCommand::Lock).await })
    })
    .on(MOBILE),
    Row::action("mobile_unlock", "Wake the device and unlock it, if it has no code.", &[REASON], |cx, _| {
        Box::pin(async move { phone(cx, PhoneCommand::Unlock).await })
    })
    .on(MOBILE),
    Row::query("mobile_getClipboard", "Read the clipboard.", &[], |cx, _| {
        Box::pin(async move { phone(cx, PhoneCommand::GetClipboard).await })
    })
    .on(IOS),
    Row::query(
        "mobile_getAppState",
        "Whether an app is not installed, not running, in the background or in front.",
        &[APP],
        |cx, args| {
            Box::pin(
                async move { phone(cx, PhoneCommand::GetAppState { app: args.required("appId").to_string() }).await },
            )
        },
    )
    .on(MOBILE),
    Row::action(
        "mobile_twist",
        "Turn two fingers in the middle of the screen.",
        &[required("degrees", ParamType::Number, "How far, clockwise; at most 170."), REASON],
        |cx, args| {
            let degrees = args.number("degrees").unwrap_or_default();
            Box::pin(async move { act(cx, &Action::Twist { degrees }).await })
        },
    )
    .on(MOBILE),
    Row::action(
        "ios_launchApp",
        "Launch an app with arguments and environment variables.",
        &[
            APP,
            optional(
                "launchMode",
                ParamType::Word(LaunchMode::NAMES),
                "What becomes of a running app and of its data (default FORCE_RESTART).",
            ),
            optional("arguments", ParamType::Texts, "The arguments."),
            optional("environment", ParamType::Texts, "Environment variables, each as NAME=value."),
            REASON,
        ],
        |cx, args| Box::pin(launch(cx, args)),
    )
    .on(IOS),
    Row::query("ios_getAlert", "Read the alert in front of the app, and its buttons.", &[], |cx, _| {
        Box::pin(async move { phone(cx, PhoneCommand::GetAlert).await })
    })
    .on(IOS),
    Row::action("ios_acceptAlert", "Agree to the alert in front of the app.", &[BUTTON, REASON], |cx, args| {
        Box::pin(answer_alert(cx, args, true))
    })
    .on(IOS),
    Row::action("ios_dismissAlert", "Refuse the alert in front of the app.", &[BUTTON, REASON], |cx, args| {
        Box::pin(answer_alert(cx, args, false))
    })
    .on(IOS),
];

async fn phone(cx: &Cx, command: PhoneCommand) -> Result<Outcome, Stop> {
    send(cx, &DeviceCommand::Phone(command)).await
}

async fn launch(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let (app, arguments) = (args.required("appId").to_string(), texts(args, "arguments"));
    let mode = args.text("launchMode").and_then(LaunchMode::parse).unwrap_or(LaunchMode::ForceRestart);
    let environment = texts(args, "environment").into_iter().map(variable).collect::<Result<Vec<_>, _>>()?;
    phone(cx, PhoneCommand::LaunchWith { app, how: LaunchSettings { mode, arguments, environment } }).await
}

fn variable(text: String) -> Result<(String, String), Stop> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_string(), value.to_string())),
        _ => Err(Stop::failed(format!("`{text}` is no environment variable; write it as NAME=value"))),
    }
}

async fn answer_alert(cx: &Cx, args: &Args, accept: bool) -> Result<Outcome, Stop> {
    let button = args.text("button").map(str::to_string);
    phone(cx, PhoneCommand::AnswerAlert { accept, button }).await
}
