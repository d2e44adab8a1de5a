//! Clicks, hovers, drags, presses keys and uploads files.

use std::ops::RangeInclusive;

use trailblaze_protocol::geometry::Point;
use trailblaze_protocol::outcome::{Outcome, Variant};

use super::super::arguments::{find_wait, texts};
use super::super::elements::{act_on, present};
use super::super::requests::act;
use super::super::row::{ParamRow, ParamType, Preset, REASON, Row, TIMEOUT, WEB, defaulted, optional, required};
use super::aim::{AIM, ELEMENT, ElementParamNames, INDEX, REF, SELECTOR, WebTarget, restate, restate_under};
use crate::driver::{Action, Button, ClickOptions, Direction, DragEnd, Modifier, Offset};
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::engine::tool::Args;

const TO_REF: ParamRow = optional("toRef", ParamType::Text, "The element to drop it on, in the same form as ref.");
const TO_SELECTOR: ParamRow =
    optional("toNodeSelector", ParamType::Selector, "A selector for the element to drop it on, as used in recordings.");
const TO_INDEX: ParamRow = optional("toIndex", ParamType::Integer, "Which match of toRef to use, from 0.");
const TO: ElementParamNames = ElementParamNames { reference: "toRef", selector: "toNodeSelector", index: "toIndex" };
const TO_OFFSET_X: ParamRow = optional(
    "toOffsetX",
    ParamType::Integer,
    "Where in the element to drop it, in pixels from its left edge (default: its center); requires toOffsetY.",
);
const TO_OFFSET_Y: ParamRow = optional(
    "toOffsetY",
    ParamType::Integer,
    "Where in the element to drop it, in pixels from its top edge; requires toOffsetX.",
);
const OFFSET_X: ParamRow = optional(
    "offsetX",
    ParamType::Integer,
    "Where in the element, in pixels from its left edge (default: its center); requires offsetY.",
);
const OFFSET_Y: ParamRow =
    optional("offsetY", ParamType::Integer, "Where in the element, in pixels from its top edge; requires offsetX.");

/// The most clicks or key presses in one call.
const REPETITIONS: u32 = 100;
/// The furthest that one call may scroll.
const MOST_PIXELS: u32 = 1_000_000;

pub const ROWS: &[Row] = &[
    Row::action(
        "web_click",
        "Click an element. Waits until it is visible, stable, enabled and not covered.",
        &[
            REF,
            SELECTOR,
            INDEX,
            defaulted("button", ParamType::Word(Button::NAMES), Preset::Word("LEFT"), "The mouse button."),
            defaulted("clickCount", ParamType::Integer, Preset::Integer(1), "How many clicks; 2 is a double click."),
            optional("modifiers", ParamType::Words(Modifier::NAMES), "Keys to hold down while clicking."),
            OFFSET_X,
            OFFSET_Y,
            TIMEOUT,
            REASON,
        ],
        |cx, args| Box::pin(async move { on_element(cx, "web_click", args, click(args)?).await }),
    )
    .needing(&[AIM])
    .on(WEB),
    Row::action(
        "web_hover",
        "Move the mouse pointer over an element.",
        &[REF, SELECTOR, INDEX, OFFSET_X, OFFSET_Y, TIMEOUT, REASON],
        |cx, args| {
            Box::pin(async move { on_element(cx, "web_hover", args, Action::Hover { at: offset(args)? }).await })
        },
    )
    .needing(&[AIM])
    .on(WEB),
    Row::action(
        "web_check",
        "Check or uncheck a checkbox, radio button or switch. Does nothing if it already has that state.",
        &[
            REF,
            SELECTOR,
            INDEX,
            defaulted("checked", ParamType::Flag, Preset::Flag(true), "false unchecks it."),
            TIMEOUT,
            REASON,
        ],
        |cx, args| {
            let checked = args.flag("checked").unwrap_or(true);
            Box::pin(on_element(cx, "web_check", args, Action::SetChecked { checked }))
        },
    )
    .needing(&[AIM])
    .on(WEB),
    Row::action(
        "web_selectOption",
        "Select options of a list, by value or by label.",
        &[
            required("values", ParamType::Texts, "The options to select; several if the list allows it."),
            REF,
            SELECTOR,
            INDEX,
            TIMEOUT,
            REASON,
        ],
        |cx, args| {
            let values = texts(args, "values");
            Box::pin(on_element(cx, "web_selectOption", args, Action::Choose { values }))
        },
    )
    .needing(&[AIM])
    .on(WEB),
    Row::action(
        "web_drag",
        "Drag an element onto another element, to a point in the window, or by a distance.",
        &[
            REF,
            SELECTOR,
            INDEX,
            OFFSET_X,
            OFFSET_Y,
            TO_REF,
            TO_SELECTOR,
            TO_INDEX,
            TO_OFFSET_X,
            TO_OFFSET_Y,
            optional(
                "toX",
                ParamType::Integer,
                "Where to drop it, in pixels from the left edge of the window; requires toY.",
            ),
            optional(
                "toY",
                ParamType::Integer,
                "Where to drop it, in pixels from the top edge of the window; requires toX.",
            ),
            optional("byX", ParamType::Integer, "How far to drag it to the right, in pixels; to the left if negative."),
            optional("byY", ParamType::Integer, "How far to drag it down, in pixels; up if negative."),
            TIMEOUT,
            REASON,
        ],
        |cx, args| Box::pin(drag(cx, args)),
    )
    .needing(&[AIM])
    .on(WEB),
    Row::action(
        "web_upload",
        "Upload files to a file input, or to the file chooser that opens when the element is clicked.",
        &[
            required("files", ParamType::Texts, "Paths of the files, relative to the trail or absolute."),
            REF,
            SELECTOR,
            INDEX,
            TIMEOUT,
            REASON,
        ],
        |cx, args| {
            let files = texts(args, "files").iter().map(|file| cx.resolve_path(file)).collect();
            Box::pin(on_element(cx, "web_upload", args, Action::Upload { files }))
        },
    )
    .needing(&[AIM])
    .on(WEB),
    Row::action(
        "web_scroll",
        "Scroll the page, or the scrollable area around an element.",
        &[
            defaulted(
                "direction",
                ParamType::Word(Direction::NAMES),
                Preset::Word("DOWN"),
                "The direction that the view moves in.",
            ),
            optional("amount", ParamType::Integer, "How far to scroll, in pixels (default: most of the visible area)."),
            REF,
            SELECTOR,
            INDEX,
            TIMEOUT,
            REASON,
        ],
        |cx, args| Box::pin(scroll(cx, args)),
    )
    .on(WEB),
    Row::action(
        "web_pressKey",
        "Press a key or a key combination.",
        &[
            required("key", ParamType::Text, "The key, such as Enter, ArrowDown, a or Control+K."),
            defaulted("count", ParamType::Integer, Preset::Integer(1), "How many times to press and release it."),
            defaulted(
                "repeats",
                ParamType::Integer,
                Preset::Integer(0),
                "How many times the key auto-repeats before it is released, as when it is held down.",
            ),
            REASON,
        ],
        |cx, args| Box::pin(press_key(cx, args)),
    )
    .on(WEB),
];

/// A number of pixels, clicks or presses.
fn count(args: &Args, name: &str, allowed: RangeInclusive<u32>) -> Result<Option<u32>, Stop> {
    let Some(given) = args.integer(name) else { return Ok(None) };
    match u32::try_from(given).ok().filter(|number| allowed.contains(number)) {
        Some(number) => Ok(Some(number)),
        None => {
            let (least, most) = allowed.into_inner();
            Err(Stop::failed(format!("`{name}` must be between {least} and {most}, got {given}")))
        }
    }
}

fn click(args: &Args) -> Result<Action, Stop> {
    let click = ClickOptions {
        button: args.text("button").and_then(Button::parse).unwrap_or(Button::Left),
        count: count(args, "clickCount", 1..=REPETITIONS)?.unwrap_or(1),
        modifiers: texts(args, "modifiers").iter().filter_map(|word| Modifier::parse(word)).collect(),
        at: offset(args)?,
    };
    // A plain click is the `Tap` that every device supports.
    Ok(match click {
        ClickOptions { button: Button::Left, count: 1, ref modifiers, at: None } if modifiers.is_empty() => Action::Tap,
        ClickOptions { button: Button::Left, count: 2, ref modifiers, at: None } if modifiers.is_empty() => {
            Action::DoubleTap
        }
        click => Action::Click(click),
    })
}

/// Two numbers that must be given together or not at all.
fn pair(args: &Args, x: &str, y: &str) -> Result<Option<(i32, i32)>, Stop> {
    let number = |name: &str| {
        let given = args.integer(name);
        given.map(|number| {
            i32::try_from(number).map_err(|_| Stop::failed(format!("`{name}` is out of range: {number}")))
        })
    };
    match (number(x).transpose()?, number(y).transpose()?) {
        (None, None) => Ok(None),
        (Some(x), Some(y)) => Ok(Some((x, y))),
        (given, _) => {
            let missing = if given.is_some() { y } else { x };
            let text = format!("`{x}` and `{y}` must be given together; `{missing}` is missing");
            Err(Stop::error(Variant::MissingRequiredArgs { missing: vec![missing.to_string()] }, text))
        }
    }
}

fn offset(args: &Args) -> Result<Option<Offset>, Stop> {
    Ok(pair(args, "offsetX", "offsetY")?.map(|(x, y)| Offset { x, y }))
}

/// Acts on an element. A ref is first replaced by a stable description.
pub async fn on_element(cx: &Cx, tool: &str, args: &Args, action: Action) -> Result<Outcome, Stop> {
    match WebTarget::of(cx, args)? {
        WebTarget::Ref(reference) => restate(cx, tool, &reference).await,
        WebTarget::Stable(query) => act_on(cx, query, &action, find_wait(args)).await,
    }
}

async fn drag(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let element = WebTarget::under(cx, args, &TO)?;
    let point = pair(args, "toX", "toY")?;
    let by = match (args.integer("byX"), args.integer("byY")) {
        (None, None) => None,
        (x, y) => {
            let pixels = |number: Option<i64>| i32::try_from(number.unwrap_or(0)).unwrap_or(i32::MAX);
            Some(Offset { x: pixels(x), y: pixels(y) })
        }
    };
    let end = match (&element, point, by) {
        (Some(_), None, None) => None,
        (None, Some((x, y)), None) => Some(DragEnd::Point(Point { x, y })),
        (None, None, Some(by)) => Some(DragEnd::By(by)),
        (None, None, None) => {
            let missing = vec!["toRef".to_string(), "toX".to_string(), "byX".to_string()];
            let text = "nowhere to drop it: pass `toRef` or `toNodeSelector`, `toX` and `toY`, or `byX` and `byY`";
            return Err(Stop::error(Variant::MissingRequiredArgs { missing }, text));
        }
        _ => {
            let ways = "an element, a point (`toX`, `toY`) or a distance (`byX`, `byY`)";
            return Err(Stop::failed(format!("pass only one place to drop it: {ways}")));
        }
    };
    let at = pair(args, "toOffsetX", "toOffsetY")?.map(|(x, y)| Offset { x, y });
    if at.is_some() && element.is_none() {
        return Err(Stop::failed("`toOffsetX` and `toOffsetY` require `toRef` or `toNodeSelector`"));
    }
    let from = WebTarget::of(cx, args)?;
    let mut names: Vec<(&str, &str, &str)> = Vec::new();
    if let WebTarget::Ref(reference) = &from {
        names.push(("ref", "nodeSelector", reference));
    }
    if let Some(WebTarget::Ref(reference)) = &element {
        names.push(("toRef", "toNodeSelector", reference));
    }
    let WebTarget::Stable(from) = &from else { return restate_under(cx, "web_drag", &names).await };
    let to = match (end, &element) {
        (Some(end), _) => end,
        (None, Some(WebTarget::Stable(to))) => {
            DragEnd::Element { found: Box::new(present(cx, to, find_wait(args)).await?), at }
        }
        (None, _) => return restate_under(cx, "web_drag", &names).await,
    };
    act_on(cx, from.clone(), &Action::Drag { at: offset(args)?, to }, find_wait(args)).await
}

async fn scroll(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let direction = args.text("direction").and_then(Direction::parse).unwrap_or(Direction::Down);
    let action = Action::Scroll { direction, amount: count(args, "amount", 1..=MOST_PIXELS)? };
    match WebTarget::under(cx, args, &ELEMENT)? {
        None => act(cx, &action).await,
        Some(_) => on_element(cx, "web_scroll", args, action).await,
    }
}

async fn press_key(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let action = Action::PressChord {
        chord: args.required("key").to_string(),
        count: count(args, "count", 1..=REPETITIONS)?.unwrap_or(1),
        repeats: count(args, "repeats", 0..=REPETITIONS)?.unwrap_or(0),
    };
    act(cx, &action).await
}
