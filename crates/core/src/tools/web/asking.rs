//! Queries of a page. They change nothing.

use serde_json::Value;
use trailblaze_protocol::outcome::Outcome;

use super::super::requests::send;
use super::super::row::{ParamType, REASON, Row, WEB, optional, required};
use super::touching::texts;
use crate::driver::{Browse, DeviceCommand};
use crate::engine::cx::Cx;
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
    let told = send(cx, &DeviceCommand::Browse(Browse::Console)).await?;
    let Some(level) = args.text("level") else { return Ok(told) };
    let lines = told.structured.as_ref().and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let start = format!("{}: ", level.to_ascii_lowercase());
    let of_level = |line: &&Value| line.as_str().is_some_and(|line| line.starts_with(&start));
    let kept: Vec<Value> = lines.iter().filter(of_level).cloned().collect();
    let text = kept.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n");
    Ok(Outcome::value(text, kept.into()))
}
