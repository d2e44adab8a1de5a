//! Queries of a page. They change nothing.

use serde_json::Value;
use trailblaze_protocol::outcome::Outcome;

use super::super::arguments::texts;
use super::super::requests::send;
use super::super::row::{ParamType, REASON, Row, WEB, optional, required};
use crate::driver::{Browse, DeviceCommand};
use crate::engine::cx::Cx;
use crate::engine::device_history::ConsoleLine;
use crate::engine::fault::Stop;
use crate::engine::tool::Args;
use crate::snapshot::{self, Details};

const DETAILS: &[&str] = &["BOUNDS", "OFFSCREEN_ELEMENTS", "OCCLUDED_ELEMENTS", "CSS_SELECTORS", "ALL_ELEMENTS"];

pub const ROWS: &[Row] = &[
    Row::query("web_currentUrl", "Get the URL of the page.", &[REASON], |cx, _| {
        Box::pin(async move {
            let url = cx.session.device.look(cx).await?.app.unwrap_or_default();
            Ok(Outcome::value(url.clone(), Value::String(url)))
        })
    })
    .on(WEB),
    Row::query(
        "web_snapshot",
        "Save a screenshot of the page to the report.",
        &[required("screenName", ParamType::Text, "A name for the page."), REASON],
        |cx, args| Box::pin(super::super::waiting::take_snapshot(cx, args)),
    )
    .on(WEB),
    Row::query(
        "web_requestDetails",
        "Get a snapshot of the page with more details.",
        &[
            required(
                "include",
                ParamType::Words(DETAILS),
                "What to add: the bounds of elements, elements that are off-screen, which elements are covered, a CSS \
                 selector for each element, or elements that a snapshot leaves out.",
            ),
            REASON,
        ],
        |cx, args| Box::pin(details(cx, args)),
    )
    .on(WEB),
    Row::query(
        "web_console",
        "List the console messages of the pages so far.",
        &[
            optional(
                "level",
                ParamType::Word(&["ERROR", "WARNING", "LOG", "INFO", "DEBUG"]),
                "Only messages of this level.",
            ),
            REASON,
        ],
        |cx, args| Box::pin(console(cx, args)),
    )
    .on(WEB),
    Row::query("web_getStorageState", "Get cookies and local storage, as JSON.", &[REASON], |cx, _| {
        Box::pin(async move { send(cx, &DeviceCommand::Browse(Browse::StorageState)).await })
    })
    .on(WEB),
    Row::action(
        "web_evaluate",
        "Evaluate JavaScript in the page.",
        &[required("script", ParamType::Text, "A JavaScript expression."), REASON],
        |cx, args| {
            Box::pin(
                async move { send(cx, &DeviceCommand::EvaluateJs { script: args.required("script").into() }).await },
            )
        },
    )
    .on(WEB)
    .hidden(),
];

async fn details(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let include = texts(args, "include");
    let has = |name: &str| include.iter().any(|word| word == name);
    let details = Details {
        bounds: has("BOUNDS"),
        offscreen: has("OFFSCREEN_ELEMENTS"),
        covered: has("OCCLUDED_ELEMENTS"),
        css: has("CSS_SELECTORS"),
        all: has("ALL_ELEMENTS"),
        ..Details::default()
    };
    let screen = cx.session.device.show_with(cx, &details).await?;
    Ok(Outcome::success(snapshot::text(&screen, &details)))
}

async fn console(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let level = args.text("level").map(str::to_ascii_lowercase);
    let lines = cx.session.device.console(cx)?;
    let of_level = lines.iter().filter(|line| level.as_ref().is_none_or(|level| line.kind == *level));
    let lines: Vec<String> = of_level.map(|ConsoleLine { kind, text }| format!("{kind}: {text}")).collect();
    Ok(Outcome::value(lines.join("\n"), lines.into()))
}
