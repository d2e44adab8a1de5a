//! Taps elements: by ref or node id, which delegate to a stable description, or by a stable description directly.

use std::time::Duration;

use serde_json::{Map, Value, json};
use trailblaze_protocol::geometry::Point;
use trailblaze_protocol::outcome::{Delegate, Outcome, Variant};

use super::arguments::{count, element, find_wait};
use super::contract::Tap;
use super::row::{ParamRow, ParamType, Preset, REASON, Row, TIMEOUT, WHY, defaulted, optional, required};
use crate::driver::{Action, ActionTarget};
use crate::engine::cx::Cx;
use crate::engine::device::{Goal, NOT_FOUND, OTHER_NAME, Reached};
use crate::engine::fault::Stop;
use crate::engine::tool::{Args, Need};
use crate::query::{
    Checks, ElementDescription, ElementProperties, Find, Found, NoDescription, Query, QueryTarget, TextMatch,
};
use crate::query::{Stable, stable};
use crate::refs;
use crate::screen::Screen;
use crate::selector::Selector;

const SELECTOR: ParamRow =
    required("nodeSelector", ParamType::Selector, "A selector for the element, in its platform's properties.");
const LONG: ParamRow = defaulted("longPress", ParamType::Flag, Preset::Flag(false), "Long-press it instead.");
pub const TAPPED: Need = Need {
    one_of: &["ref", "text", "id", "x", "y"],
    otherwise: "nothing to tap: pass `ref`, `text`, `id`, or `x` and `y`",
};

pub const ROWS: &[Row] = &[
    Row::action(
        "tapOnElementByNodeId",
        "Tap an element by its node id in the last captureScreen.",
        &[
            required(
                "nodeId",
                ParamType::Integer,
                "The `nodeId` of the element in the last captureScreen; only its JSON has it.",
            ),
            LONG,
            TIMEOUT,
            WHY,
            REASON,
        ],
        |cx, args| Box::pin(tap_by_node(cx, args)),
    )
    .delegating()
    .hidden(),
    Row::action(
        "longPress",
        "Long-press an element, by its ref in a snapshot.",
        &[
            required("ref", ParamType::Text, "The element's ref in the last snapshot, or its description there."),
            TIMEOUT,
            REASON,
        ],
        |cx, args| {
            Box::pin(async move {
                match described(cx, args.required("ref"), None)? {
                    Some(query) => act_on(cx, query, &Action::LongPress, find_wait(args)).await,
                    None => {
                        delegate_by_ref(cx, args.required("ref"), args.integer("timeoutMs"), &Action::LongPress).await
                    }
                }
            })
        },
    )
    .delegating(),
    Row::action(
        "tapOnPoint",
        "Tap a point on the screen. Prefer tap with a ref.",
        &[
            required("x", ParamType::Integer, "Pixels from the left edge."),
            required("y", ParamType::Integer, "Pixels from the top edge."),
            LONG,
            REASON,
        ],
        |cx, args| Box::pin(tap_on_point(cx, args)),
    ),
    Row::action(
        "tapOnElementBySelector",
        "Tap the element that a selector matches.",
        &[SELECTOR, LONG, TIMEOUT, WHY, REASON],
        |cx, args| Box::pin(async move { act_on(cx, by_selector(args)?, &press(args), find_wait(args)).await }),
    )
    .hidden(),
    Row::action(
        "tapOnElementWithText",
        "Tap an element whose text contains the given text.",
        &[
            required("text", ParamType::Text, "A distinctive part of the element's text."),
            defaulted("index", ParamType::Integer, Preset::Integer(0), "Which match to use, from 0."),
            optional("id", ParamType::Text, "The element's id."),
            optional("enabled", ParamType::Flag, "Only match an enabled (true) or disabled (false) element."),
            optional("selected", ParamType::Flag, "Only match a selected (true) or unselected (false) element."),
            TIMEOUT,
            REASON,
        ],
        |cx, args| Box::pin(async move { act_on(cx, with_text(args)?, &Action::Tap, find_wait(args)).await }),
    ),
    Row::action(
        "longPressOnElementWithText",
        "Long-press an element whose text contains the given text.",
        &[
            required("text", ParamType::Text, "A distinctive part of the element's text."),
            defaulted("index", ParamType::Integer, Preset::Integer(0), "Which match to use, from 0."),
            TIMEOUT,
            REASON,
        ],
        |cx, args| Box::pin(async move { act_on(cx, with_text(args)?, &Action::LongPress, find_wait(args)).await }),
    )
    .hidden(),
];

/// The target of `tap`.
pub enum TapTarget {
    Reference,
    Described(Query),
    Point(Point),
    Element(Query),
}

impl TapTarget {
    pub fn of(cx: &Cx, args: Tap<'_>) -> Result<TapTarget, Stop> {
        let ways = [
            args.reference().is_some(),
            args.x().is_some() || args.y().is_some(),
            args.text().is_some() || args.id().is_some(),
        ];
        let index = args.index().map(|index| count("index", index)).transpose()?;
        let index = index.map(|index| usize::try_from(index).unwrap_or(usize::MAX));
        let described = match (ways, args.reference()) {
            ([true, false, false], Some(reference)) => described(cx, reference, index)?,
            _ => None,
        };
        if index.is_some() && described.is_none() && ways != [false, false, true] {
            return Err(Stop::failed("`index` requires `text`, `id` or a description in `ref`"));
        }
        if let Some(query) = described {
            return Ok(TapTarget::Described(query));
        }
        match ways {
            [true, false, false] => Ok(TapTarget::Reference),
            [false, true, false] => match (args.x(), args.y()) {
                (Some(x), Some(y)) => Ok(TapTarget::Point(point(count("x", x)?, count("y", y)?))),
                _ => Err(missing(&["x", "y"], "a point needs both `x` and `y`")),
            },
            [false, false, true] => Ok(TapTarget::Element(Query { index, ..element(args.text(), args.id()) })),
            [false, false, false] => Err(TAPPED.stop()),
            _ => Err(Stop::failed("pass only one of: `ref`; `text` and `id`; `x` and `y`")),
        }
    }
}

fn missing(names: &[&str], text: &str) -> Stop {
    let missing = names.iter().map(ToString::to_string).collect();
    Stop::error(Variant::MissingRequiredArgs { missing }, text)
}

fn point(x: u64, y: u64) -> Point {
    let clamp = |value: u64| i32::try_from(value).unwrap_or(i32::MAX);
    Point { x: clamp(x), y: clamp(y) }
}

fn press(args: &Args) -> Action {
    touch(args.flag("longPress"))
}

/// A tap or a long press.
pub fn touch(is_long: Option<bool>) -> Action {
    if is_long.unwrap_or(false) { Action::LongPress } else { Action::Tap }
}

async fn tap_on_point(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let point = point(args.count("x")?.unwrap_or(0), args.count("y")?.unwrap_or(0));
    cx.session.device.act(cx, &ActionTarget::Point(point), &press(args)).await?;
    Ok(Outcome::success(format!("tapped {},{}", point.x, point.y)))
}

async fn tap_by_node(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let node = args.count("nodeId")?.unwrap_or_default();
    let (screen, node) = cx.session.device.resolve_node(cx, node).await?;
    delegate_tap(&screen, node, &press(args), args.value("timeoutMs"))
}

/// The element that a `ref` describes as a snapshot does, such as `button "Pay"`; `None` if it is a plain ref.
pub fn described(cx: &Cx, reference: &str, index: Option<usize>) -> Result<Option<Query>, Stop> {
    let is_description = match refs::of_line(reference) {
        Some(_) => is_unknown_line(cx, reference),
        None => !is_word(reference),
    };
    is_description.then(|| describing("ref", reference, index)).transpose()
}

/// Whether a text is a ref or a line of the last snapshot. A role alone, such as `textbox`, is a description.
pub fn is_plain_ref(cx: &Cx, text: &str) -> bool {
    match refs::of_line(text) {
        Some(_) => !is_unknown_line(cx, text),
        None => is_word(text) && text.chars().any(|c| c.is_ascii_digit()),
    }
}

fn is_word(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(char::is_alphabetic) && text.chars().all(|c| c.is_ascii_alphanumeric())
}

/// The element that a text describes. A ref at the start of a line of a snapshot is ignored.
pub fn describing(parameter: &str, text: &str, index: Option<usize>) -> Result<Query, Stop> {
    let words = refs::split_line(text).map_or(text, |(_, words)| words);
    let description = ElementDescription::parse(words).map_err(|error| match error {
        NoDescription::Empty => Stop::failed(format!("`{parameter}` is empty")),
        error => Stop::failed(format!("`{parameter}` does not describe an element: {error}")),
    })?;
    Ok(Query { what: QueryTarget::Described(Box::new(description)), index })
}

/// Whether a text is a line of a snapshot that was not shown in this session, such as one from a file.
pub fn is_unknown_line(cx: &Cx, text: &str) -> bool {
    refs::split_line(text)
        .is_some_and(|(reference, words)| !words.is_empty() && !cx.session.device.has_shown(reference))
}

/// Delegates to a tap that will find the same element in later runs.
pub async fn delegate_by_ref(cx: &Cx, reference: &str, wait: Option<i64>, action: &Action) -> Result<Outcome, Stop> {
    let (screen, node) = cx.session.device.resolve_ref(cx, reference).await?;
    delegate_tap(&screen, node, action, wait.map(Value::from).as_ref())
}

fn delegate_tap(screen: &Screen, node: u64, action: &Action, wait: Option<&Value>) -> Result<Outcome, Stop> {
    let mut delegate = tap_on(&find_stable(screen, node)?);
    if *action == Action::LongPress {
        delegate.args.insert("longPress".into(), Value::Bool(true));
    }
    // A point needs no wait.
    if let Some(wait) = wait.filter(|_| delegate.tool != "tapOnPoint") {
        delegate.args.insert("timeoutMs".into(), wait.clone());
    }
    Ok(Outcome::delegating(vec![delegate]))
}

/// The call that taps the element with this description.
pub fn tap_on(stable: &Stable) -> Delegate {
    match stable {
        Stable::Id(id) => delegate("tap", json!({"id": id})),
        Stable::Text(text) => delegate("tap", json!({"text": text})),
        Stable::Selector(selector) => delegate("tapOnElementBySelector", json!({"nodeSelector": selector.to_json()})),
        Stable::Point(point) => delegate("tapOnPoint", json!({"x": point.x, "y": point.y})),
    }
}

pub fn find_stable(screen: &Screen, node: u64) -> Result<Stable, Stop> {
    let node = screen.root.walk().find(|candidate| candidate.id == node);
    let node = node.ok_or_else(|| Stop::failed("no element has this node id; call `captureScreen` again"))?;
    Ok(stable(screen, node))
}

pub fn delegate(tool: &str, args: Value) -> Delegate {
    let args = args.as_object().cloned().unwrap_or_else(Map::new);
    Delegate { tool: tool.to_string(), args }
}

pub fn by_selector(args: &Args) -> Result<Query, Stop> {
    let value = args.value("nodeSelector").cloned().unwrap_or_default();
    let selector = Selector::parse(&value).map_err(|error| Stop::failed(format!("invalid selector: {error}")))?;
    Ok(Query { what: QueryTarget::Selector(Box::new(selector)), index: None })
}

/// Which of several matches.
pub fn index(args: &Args) -> Result<Option<usize>, Stop> {
    let index = args.count("index")?;
    Ok(index.map(|index| usize::try_from(index).unwrap_or(usize::MAX)))
}

fn with_text(args: &Args) -> Result<Query, Stop> {
    let element = ElementProperties {
        text: Some(TextMatch::Contains(args.required("text").to_string())),
        id: args.text("id").map(str::to_string),
        enabled: args.flag("enabled"),
        selected: args.flag("selected"),
    };
    Ok(Query { what: QueryTarget::Element(element), index: index(args)? })
}

/// The first element whose text contains `text`.
pub fn containing(text: &str) -> Query {
    let element =
        ElementProperties { text: Some(TextMatch::Contains(text.to_string())), ..ElementProperties::default() };
    Query { what: QueryTarget::Element(element), index: Some(0) }
}

/// Waits for the element, then acts on it.
pub async fn act_on(cx: &Cx, query: Query, action: &Action, wait: Duration) -> Result<Outcome, Stop> {
    match cx.session.device.wait_for(cx, &query, Goal::Acted(action), wait).await? {
        Reached::Met { found, acted } => {
            let what = found.map(|found| found.summary).unwrap_or_default();
            Ok(Outcome { text: format!("{} on {what}", action.name()), structured: acted.value, ..Outcome::default() })
        }
        Reached::Missed { saw, waited, is_absent, is_renamed } => {
            let mut stop = missed(&query, action.name(), &saw, waited, Variant::ExceptionThrown);
            if let Stop::Failed(outcome) = &mut stop
                && let Some(Value::Object(facts)) = outcome.structured.as_mut()
            {
                let told = [(NOT_FOUND, is_absent), (OTHER_NAME, is_renamed)].into_iter().filter(|(_, is_so)| *is_so);
                facts.extend(told.map(|(key, _)| (key.to_string(), true.into())));
            }
            Err(stop)
        }
    }
}

/// Waits for the element to be on the screen.
pub async fn visible(cx: &Cx, query: &Query, wait: Duration) -> Result<Found, Stop> {
    found(cx, query, Goal::Visible, wait).await
}

/// Waits for the element to be there, even if nobody can see it yet.
pub async fn present(cx: &Cx, query: &Query, wait: Duration) -> Result<Found, Stop> {
    found(cx, query, Goal::Present, wait).await
}

async fn found(cx: &Cx, query: &Query, goal: Goal<'_>, wait: Duration) -> Result<Found, Stop> {
    match cx.session.device.wait_for(cx, query, goal, wait).await? {
        Reached::Met { found: Some(found), .. } => Ok(found),
        Reached::Met { found: None, .. } => Err(Stop::failed(format!("{query} has no position on the screen"))),
        Reached::Missed { saw, waited, .. } => Err(missed(query, "find", &saw, waited, Variant::ExceptionThrown)),
    }
}

/// The same, and scrolls the element into view if the device reports elements that are not visible.
pub async fn in_view(cx: &Cx, query: &Query, wait: Duration) -> Result<Found, Stop> {
    let found = visible(cx, query, wait).await?;
    let device = &cx.session.device;
    if let Find::Found(found) = device.find(cx, query, Checks::InView).await? {
        return Ok(found);
    }
    device.act(cx, &ActionTarget::Element(found), &Action::ScrollIntoView).await?;
    match device.find(cx, query, Checks::InView).await? {
        Find::Found(found) => Ok(found),
        Find::Not(why) => Err(missed(query, "find", &why.to_string(), Duration::ZERO, Variant::ExceptionThrown)),
    }
}

/// The failure of a wait: what was expected, and what was seen instead.
pub fn missed(query: &Query, action: &str, saw: &str, waited: Duration, variant: Variant) -> Stop {
    let within = match waited.as_secs_f64() {
        seconds if seconds < 0.1 => String::new(),
        seconds => format!(" within {seconds:.1} s"),
    };
    let text = format!("could not {action} {query}{within}: {saw}");
    let structured = json!({"expected": query.to_string(), "saw": saw});
    Stop::Failed(Box::new(Outcome { variant, text, structured: Some(structured), ..Outcome::default() }))
}
