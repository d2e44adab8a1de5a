//! What only phones have: apps that are installed, files, settings of the whole device, recordings of the screen.

use std::time::Duration;

use serde_json::Value;
use trailblaze_protocol::geometry::Point;
use trailblaze_protocol::outcome::{Outcome, Variant};

use super::apps::target_app;
use super::arguments::{element, find_wait};
use super::elements::{act_on, visible};
use super::requests::{press, send};
use super::row::{MOBILE, ParamRow, ParamType, Preset, REASON, Row, TIMEOUT, defaulted, optional, required};
use super::waiting::wait_for;
use crate::driver::{Action, Appearance, DeviceCommand, DeviceSetting, DragEnd, Key, LaunchMode, Offset, Orientation};
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::engine::tool::{Args, Need};
use crate::query::Query;

const FILE: ParamRow = required("file", ParamType::Text, "The path of a file here, relative to the trail or absolute.");
const PATH: ParamRow = required("path", ParamType::Text, "The path on the device.");
const APP: ParamRow = required("appId", ParamType::Text, "The app's package or bundle id.");
const OWN_APP: ParamRow =
    optional("appId", ParamType::Text, "The app's package or bundle id; by default, that of the target.");
const PERMISSION: ParamRow = required("permission", ParamType::Text, "The permission, such as CAMERA.");

/// What is dragged, and where to.
pub const DRAG: &[ParamRow] = &[
    optional("text", ParamType::Text, "The element's text."),
    optional("id", ParamType::Text, "The element's id."),
    optional("toText", ParamType::Text, "The text of the element to drop it on."),
    optional("toId", ParamType::Text, "The id of the element to drop it on."),
    optional("toX", ParamType::Integer, "Where to drop it, in pixels from the left edge; requires toY."),
    optional("toY", ParamType::Integer, "Where to drop it, in pixels from the top edge; requires toX."),
    optional("byX", ParamType::Integer, "How far to drag it to the right, in pixels; to the left if negative."),
    optional("byY", ParamType::Integer, "How far to drag it down, in pixels; up if negative."),
    TIMEOUT,
    REASON,
];
pub const DESCRIBED: Need = Need { one_of: &["text", "id"], otherwise: "no element: pass `text` or `id`" };

/// The longest recording that Android makes.
const RECORDING: i64 = 180;

pub const ROWS: &[Row] = &[
    Row::query("mobile_currentApp", "Name the app that is in front.", &[], |cx, _| {
        Box::pin(async move { send(cx, &DeviceCommand::CurrentApp).await })
    })
    .on(MOBILE),
    Row::action(
        "mobile_backgroundApp",
        "Leave the app for the home screen, and come back to it.",
        &[defaulted("seconds", ParamType::Number, Preset::Number(1.0), "How long to stay on the home screen."), REASON],
        |cx, args| Box::pin(background(cx, args.number("seconds").unwrap_or(1.0))),
    )
    .on(MOBILE),
    Row::action(
        "mobile_drag",
        "Drag an element onto another element, to a point on the screen, or by a distance.",
        DRAG,
        |cx, args| Box::pin(drag(cx, args)),
    )
    .needing(&[DESCRIBED])
    .on(MOBILE),
    Row::action(
        "mobile_installApp",
        "Install an app from a file. A version that is installed already is replaced and keeps its data.",
        &[FILE, REASON],
        |cx, args| {
            let file = cx.resolve_path(args.required("file"));
            Box::pin(async move { send(cx, &DeviceCommand::InstallApp { file }).await })
        },
    )
    .on(MOBILE),
    Row::action("mobile_uninstallApp", "Remove an app and its data.", &[APP, REASON], |cx, args| {
        let app = args.required("appId").to_string();
        Box::pin(async move { send(cx, &DeviceCommand::UninstallApp { app }).await })
    })
    .on(MOBILE),
    Row::action(
        "mobile_revokePermission",
        "Take a permission away from an app. Android ends the app if it runs.",
        &[OWN_APP, PERMISSION, REASON],
        |cx, args| {
            Box::pin(async move {
                let permission = args.required("permission").to_string();
                let app = named_app(cx, args)?;
                send(cx, &DeviceCommand::RevokePermission { app, permission }).await
            })
        },
    )
    .on(MOBILE),
    Row::action("mobile_pushFile", "Copy a file to the device.", &[FILE, PATH, REASON], |cx, args| {
        let (file, path) = (cx.resolve_path(args.required("file")), args.required("path").to_string());
        Box::pin(async move { send(cx, &DeviceCommand::PushFile { file, path }).await })
    })
    .on(MOBILE),
    Row::query(
        "mobile_pullFile",
        "Read a file of the device. It is attached to the report; a short text is also returned.",
        &[PATH],
        |cx, args| {
            let path = args.required("path").to_string();
            Box::pin(async move { send(cx, &DeviceCommand::PullFile { path }).await })
        },
    )
    .on(MOBILE),
    Row::action(
        "mobile_setOrientation",
        "Turn the device, until the end of the session.",
        &[required("orientation", ParamType::Word(Orientation::NAMES), "How it is held."), REASON],
        |cx, args| {
            let orientation = Orientation::parse(args.required("orientation")).unwrap_or(Orientation::Portrait);
            Box::pin(change(cx, DeviceSetting::Orientation(orientation)))
        },
    )
    .on(MOBILE),
    Row::action(
        "mobile_setAppearance",
        "Switch between light and dark mode, until the end of the session.",
        &[required("appearance", ParamType::Word(Appearance::NAMES), "The mode."), REASON],
        |cx, args| {
            let appearance = Appearance::parse(args.required("appearance")).unwrap_or(Appearance::Light);
            Box::pin(change(cx, DeviceSetting::Appearance(appearance)))
        },
    )
    .on(MOBILE),
    Row::action(
        "mobile_setLocale",
        "Set the language and region of an app, until the end of the session.",
        &[required("locale", ParamType::Text, "A language tag, such as de-DE."), OWN_APP, REASON],
        |cx, args| {
            Box::pin(async move {
                let locale = checked_locale(args.required("locale").to_string())?;
                let app = named_app(cx, args)?;
                change(cx, DeviceSetting::Locale { app, locale }).await
            })
        },
    )
    .on(MOBILE),
    Row::action(
        "mobile_setLocation",
        "Set where the device is, until the end of the session.",
        &[
            required("latitude", ParamType::Number, "In degrees, from -90 to 90."),
            required("longitude", ParamType::Number, "In degrees, from -180 to 180."),
            REASON,
        ],
        |cx, args| {
            Box::pin(async move {
                let (latitude, longitude) = (degrees(args, "latitude", 90.0)?, degrees(args, "longitude", 180.0)?);
                change(cx, DeviceSetting::Location { latitude, longitude }).await
            })
        },
    )
    .on(MOBILE),
    Row::action(
        "mobile_startRecording",
        "Start to record the screen as a video.",
        &[
            defaulted(
                "limitInSeconds",
                ParamType::Integer,
                Preset::Integer(RECORDING),
                "When the recording ends by itself; at most 180.",
            ),
            REASON,
        ],
        |cx, args| {
            Box::pin(async move {
                let limit = args.integer("limitInSeconds").unwrap_or(RECORDING);
                let seconds = u64::try_from(limit).ok().filter(|_| (1..=RECORDING).contains(&limit));
                let seconds = seconds.ok_or_else(|| {
                    Stop::failed(format!("`limitInSeconds` must be between 1 and {RECORDING}, got {limit}"))
                })?;
                send(cx, &DeviceCommand::StartRecording { limit: Duration::from_secs(seconds) }).await
            })
        },
    )
    .on(MOBILE),
    Row::action(
        "mobile_stopRecording",
        "End the recording of the screen, and attach it to the report.",
        &[REASON],
        |cx, _| Box::pin(async move { send(cx, &DeviceCommand::StopRecording).await }),
    )
    .on(MOBILE),
];

async fn change(cx: &Cx, setting: DeviceSetting) -> Result<Outcome, Stop> {
    send(cx, &DeviceCommand::Change(setting)).await
}

async fn background(cx: &Cx, seconds: f64) -> Result<Outcome, Stop> {
    let current = send(cx, &DeviceCommand::CurrentApp).await?;
    let app = current.structured.as_ref().and_then(|value| value["appId"].as_str()).unwrap_or_default().to_string();
    press(cx, Key::Home).await?;
    wait_for(cx, seconds).await?;
    send(cx, &DeviceCommand::LaunchApp { app: app.clone(), mode: LaunchMode::Resume }).await?;
    Ok(Outcome { structured: Some(Value::from(app.as_str())), ..Outcome::success(format!("left {app} and came back")) })
}

pub async fn drag(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let wait = find_wait(args);
    let pixels = |name| args.integer(name).map(|number| i32::try_from(number).unwrap_or(i32::MAX));
    let end = match (pixels("toX"), pixels("toY"), pixels("byX"), pixels("byY")) {
        (None, None, None, None) => None,
        (Some(x), Some(y), None, None) => Some(DragEnd::Point(Point { x, y })),
        (None, None, x, y) => Some(DragEnd::By(Offset { x: x.unwrap_or(0), y: y.unwrap_or(0) })),
        _ => return Err(Stop::failed("pass `toX` and `toY`, or `byX` and `byY`")),
    };
    let (from, onto) = (described(args, "text", "id"), described(args, "toText", "toId"));
    let from = from.ok_or_else(|| DESCRIBED.stop())?;
    let to = match (end, onto) {
        (Some(end), None) => end,
        (None, Some(query)) => DragEnd::Element { found: Box::new(visible(cx, &query, wait).await?), at: None },
        _ => {
            let ways = "an element (`toText`, `toId`), a point (`toX`, `toY`) or a distance (`byX`, `byY`)";
            return Err(Stop::failed(format!("pass one place to drop it: {ways}")));
        }
    };
    act_on(cx, from, &Action::Drag { at: None, to }, wait).await
}

pub fn described(args: &Args, text: &str, id: &str) -> Option<Query> {
    let (text, id) = (args.text(text), args.text(id));
    (text.is_some() || id.is_some()).then(|| element(text, id))
}

fn named_app(cx: &Cx, args: &Args) -> Result<String, Stop> {
    args.text("appId").map(str::to_string).or_else(|| target_app(cx)).ok_or_else(|| {
        let missing = vec!["appId".to_string()];
        Stop::error(Variant::MissingRequiredArgs { missing }, "no app: pass `appId`; the session has no target app")
    })
}

/// A tag that devices can be given: letters, digits and hyphens.
fn checked_locale(locale: String) -> Result<String, Stop> {
    let is_part = |part: &str| (1..=8).contains(&part.len()) && part.chars().all(|sign| sign.is_ascii_alphanumeric());
    match locale.split('-').all(is_part) {
        true => Ok(locale),
        false => Err(Stop::failed(format!("`locale` must be a language tag such as de-DE, got `{locale}`"))),
    }
}

pub fn degrees(args: &Args, name: &str, most: f64) -> Result<f64, Stop> {
    let given = args.number(name).unwrap_or_default();
    match given.abs() <= most {
        true => Ok(given),
        false => Err(Stop::failed(format!("`{name}` must be between -{most} and {most}, got {given}"))),
    }
}
