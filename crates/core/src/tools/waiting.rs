//! Waits, and scrolls until an element is visible.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use trailblaze_protocol::event::ToolKind;
use trailblaze_protocol::outcome::{Outcome, Variant};

use super::arguments::timeout;
use super::elements::index;
use super::row::{ParamType, Preset, REASON, Row, defaulted, optional, required};
use crate::driver::{Action, ActionTarget, Direction};
use crate::engine::cx::Cx;
use crate::engine::fault::{Fault, Stop};
use crate::engine::tool::{Args, Need};
use crate::limits;
use crate::query::{Checks, ElementProperties, Find, Query, QueryTarget, Reason, TextMatch};
use crate::snapshot;

const SCROLLED_TO: Need =
    Need { one_of: &["text", "textRegex", "id"], otherwise: "nothing to scroll to: pass `text`, `textRegex` or `id`" };

pub const ROWS: &[Row] = &[
    Row::action(
        "wait",
        "Wait for a fixed time. Prefer waiting for the element that you expect.",
        &[
            defaulted("timeToWaitInSeconds", ParamType::Number, Preset::Number(1.0), "How long to wait, in seconds."),
            REASON,
        ],
        |cx, args| Box::pin(async move { wait_for(cx, args.number("timeToWaitInSeconds").unwrap_or(1.0)).await }),
    ),
    Row::action(
        "waitForChange",
        "Wait until the screen changes and then stops changing.",
        &[
            defaulted(
                "timeoutMs",
                ParamType::Integer,
                Preset::Integer(5000),
                "The longest time to wait, in milliseconds.",
            ),
            defaulted(
                "quietWindowMs",
                ParamType::Integer,
                Preset::Integer(300),
                "How long the screen must stay unchanged, in milliseconds.",
            ),
            defaulted("requireChange", ParamType::Flag, Preset::Flag(false), "Fail if the screen does not change."),
            REASON,
        ],
        |cx, args| Box::pin(wait_for_change(cx, args)),
    ),
    Row::action(
        "scrollUntilTextIsVisible",
        "Scroll until an element is visible.",
        &[
            optional("text", ParamType::Text, "Part of the element's text."),
            optional("textRegex", ParamType::Pattern, "A regular expression that matches the element's full text."),
            optional("id", ParamType::Text, "The element's id."),
            defaulted("index", ParamType::Integer, Preset::Integer(0), "Which match to use, from 0."),
            defaulted(
                "direction",
                ParamType::Word(Direction::NAMES),
                Preset::Word("DOWN"),
                "The direction that the view moves in.",
            ),
            defaulted(
                "timeoutMs",
                ParamType::Integer,
                Preset::Integer(20_000),
                "The longest time to keep scrolling, in milliseconds.",
            ),
            REASON,
        ],
        |cx, args| Box::pin(scroll_until_visible(cx, args)),
    )
    .needing(&[SCROLLED_TO]),
    Row::query(
        "takeSnapshot",
        "Save a screenshot to the report.",
        &[
            required("screenName", ParamType::Text, "A name for the screen."),
            optional("description", ParamType::Text, "More about the screen."),
        ],
        |cx, args| Box::pin(take_snapshot(cx, args)),
    ),
    Row::new(
        "objectiveStatus",
        ToolKind::Meta,
        "Report the status of the current step.",
        &[
            required("explanation", ParamType::Text, "What you did or saw."),
            required("status", ParamType::Word(&["IN_PROGRESS", "COMPLETED", "FAILED"]), "The status of the step."),
        ],
        |_, args| Box::pin(async move { objective_status(args) }),
    ),
];

pub async fn wait_for(cx: &Cx, seconds: f64) -> Result<Outcome, Stop> {
    let seconds = seconds.clamp(0.0, limits::CALL_TOTAL.as_secs_f64());
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    while Instant::now() < end {
        cx.renew();
        tokio::select! {
            () = cx.cancel.cancelled() => return Err(Fault::Cancelled.into()),
            () = tokio::time::sleep_until(end.min(Instant::now() + limits::CALL_IDLE / 2)) => {}
        }
    }
    Ok(Outcome::success(format!("waited {seconds} s")))
}

async fn wait_for_change(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let quiet = args.count("quietWindowMs")?.unwrap_or(300);
    let must_change = args.flag("requireChange").unwrap_or(false);
    settle(cx, timeout(args, Duration::from_secs(5)), Duration::from_millis(quiet), must_change).await
}

/// Waits until the screen has changed and stays unchanged for `quiet`.
pub async fn settle(cx: &Cx, timeout: Duration, quiet: Duration, must_change: bool) -> Result<Outcome, Stop> {
    let device = &cx.session.device;
    let end = Instant::now() + timeout;
    let mut last = device.look(cx).await?.snapshot;
    let mut has_changed = false;
    loop {
        let remaining = end.saturating_duration_since(Instant::now());
        // Wait for the first change if one is required, and for changes to stop otherwise.
        let window = if has_changed || !must_change { quiet.min(remaining) } else { remaining };
        match device.await_change(cx, last, window).await? {
            true => has_changed = true,
            false if has_changed => return Ok(Outcome::success("the screen changed and is stable")),
            false if must_change => {
                return Err(Stop::error(Variant::AssertionFailed, "the screen did not change"));
            }
            false => return Ok(Outcome::success("the screen is stable")),
        }
        last = device.look(cx).await?.snapshot;
        if Instant::now() >= end {
            return Ok(Outcome::success("the screen is still changing"));
        }
    }
}

async fn scroll_until_visible(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    if args.text("text").is_some() && args.text("textRegex").is_some() {
        return Err(Stop::failed("use either `text` or `textRegex` to scroll to, not both"));
    }
    let text = args.text("textRegex").map(|text| TextMatch::Pattern(text.to_string()));
    let text = text.or_else(|| args.text("text").map(|text| TextMatch::Contains(text.to_string())));
    let id = args.text("id").map(str::to_string);
    if text.is_none() && id.is_none() {
        return Err(SCROLLED_TO.stop());
    }
    let query = Query {
        what: QueryTarget::Element(ElementProperties { text, id, ..ElementProperties::default() }),
        index: index(args)?,
    };
    let direction = args.text("direction").and_then(Direction::parse).unwrap_or(Direction::Down);
    scroll_to(cx, &query, direction, timeout(args, Duration::from_secs(20))).await
}

/// Scrolls until the element is visible or the view cannot scroll further.
pub async fn scroll_to(cx: &Cx, query: &Query, direction: Direction, timeout: Duration) -> Result<Outcome, Stop> {
    let end = Instant::now() + timeout;
    let device = &cx.session.device;
    let mut unmoved = 0;
    let mut was_revealed = false;
    loop {
        let why = match device.find(cx, query, Checks::InView).await? {
            Find::Found(found) => return Ok(Outcome::success(format!("{} is visible", found.summary))),
            Find::Not(why) => why,
        };
        // An element that the device knows but does not show is brought into view wherever it is, such as in a list
        // within the page, which scrolling the page does not move.
        if !was_revealed
            && matches!(why.reason, Reason::Offscreen { .. })
            && let Find::Found(found) = device.find(cx, query, Checks::Visible).await?
        {
            device.act(cx, &ActionTarget::Element(found), &Action::ScrollIntoView).await?;
            was_revealed = true;
            continue;
        }
        // Two scrolls without effect mean the end of the list.
        if Instant::now() >= end || unmoved == 2 {
            let reason = if unmoved == 2 { "the view cannot scroll further" } else { "the time ran out" };
            let structured = json!({"expected": query.to_string(), "saw": why.to_string()});
            let text = format!("could not scroll to {query}: {reason}; {why}");
            return Err(Stop::Failed(Box::new(Outcome { structured: Some(structured), ..Outcome::failed(text) })));
        }
        let before = device.look(cx).await?;
        device.act(cx, &ActionTarget::Device, &Action::Scroll { direction, amount: None }).await?;
        let after = device.look(cx).await?;
        unmoved = if snapshot_text(&before) == snapshot_text(&after) { unmoved + 1 } else { 0 };
    }
}

fn snapshot_text(screen: &crate::screen::Screen) -> String {
    snapshot::text(screen, &snapshot::Details { bounds: true, ..snapshot::Details::default() })
}

pub async fn take_snapshot(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let shot = cx.session.device.shoot(cx, cx.parent(), trailblaze_protocol::event::Moment::After).await?;
    let about = args.text("description").map(|text| format!(": {text}")).unwrap_or_default();
    let name = format!("{}{about}", args.required("screenName"));
    let file = shot.and_then(|shot| cx.session.artifacts.picture_file(&shot));
    Ok(match file {
        Some(file) => Outcome::value(format!("saved a screenshot of {name} to {file}"), json!({"file": file})),
        None => Outcome::success(format!("no screenshot of {name} was saved")),
    })
}

fn objective_status(args: &Args) -> Result<Outcome, Stop> {
    let explanation = args.required("explanation").to_string();
    match args.required("status") {
        "FAILED" => Err(Stop::failed(explanation)),
        status => Ok(Outcome::value(explanation, json!(status))),
    }
}
