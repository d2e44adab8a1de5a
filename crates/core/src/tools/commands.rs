//! The commands API: what tools in any language can do with a device.

use std::time::Duration;

use serde_json::{Value, json};
use trailblaze_protocol::geometry::{Point, Size};
use trailblaze_protocol::outcome::Outcome;

use super::elements::{self, Aim};
use super::row::{ANDROID, MOBILE, P, Preset, REASON, Row, TIMEOUT, Ty, WEB, defaulted, optional, required};
use super::{apps, assertions};
use crate::driver::{Action, Direction, Key, LaunchMode, Target};
use crate::engine::cx::Cx;
use crate::engine::device::{Goal, Reached};
use crate::engine::fault::Stop;
use crate::engine::tool::Args;
use crate::limits;
use crate::query::{Checks, Element, Find, Query, Reason, TextMatch, What};
use crate::selector::Selector;
use crate::snapshot;

const TEXT: P = optional("text", Ty::Text, "The element's full text.");
const ID: P = optional("id", Ty::Text, "The element's developer-assigned id.");
/// How long a page may take to load. Drivers have their own defaults.
pub const LOAD_TIMEOUT: P = optional(
    "timeoutMs",
    Ty::Integer,
    "How long the page may take to load, in milliseconds (default 15000 to respond, then 10000 to finish).",
);
const PACKAGE: P = required("packageId", Ty::Text, "The app's package, bundle id or URL.");

pub const ROWS: &[Row] = &[
    // Actions.
    Row::action(
        "tap",
        "Tap an element, by its ref in a snapshot, its full text or its id, or tap a point. Waits until it can be tapped.",
        &[
            optional(
                "ref",
                Ty::Text,
                "The element's ref in the last snapshot, such as y778, or its description there.",
            ),
            TEXT,
            ID,
            optional("index", Ty::Integer, "Which match to use, from 0."),
            optional("x", Ty::Integer, "Pixels from the left edge; requires y."),
            optional("y", Ty::Integer, "Pixels from the top edge; requires x."),
            optional("longPress", Ty::Flag, "Long-press it instead."),
            TIMEOUT,
            REASON,
        ],
        |cx, args| Box::pin(tap(cx, args)),
    ),
    Row::action(
        "inputText",
        "Type text into the focused field.",
        &[
            required("text", Ty::Text, "The text to type."),
            defaulted("hideKeyboardAfter", Ty::Flag, Preset::Flag(true), "On a phone, hide the keyboard afterwards."),
            REASON,
        ],
        |cx, args| Box::pin(input_text(cx, args)),
    ),
    Row::action(
        "launchApp",
        "Launch an app. REINSTALL clears its data first, FORCE_RESTART keeps its data, RESUME brings it to the front.",
        &[
            optional("packageId", Ty::Text, "The app's package, bundle id or URL (default: the target's app)."),
            optional("appId", Ty::Text, "Alias of packageId."),
            defaulted("launchMode", Ty::Word(LaunchMode::NAMES), Preset::Word("REINSTALL"), "How to launch the app."),
            LOAD_TIMEOUT,
            REASON,
        ],
        |cx, args| Box::pin(apps::launch(cx, args)),
    ),
    Row::action("clearAppData", "Clear all data of an app.", &[PACKAGE], |cx, args| {
        Box::pin(async move { act(cx, &Action::ClearAppData { app: args.required("packageId").into() }).await })
    }),
    // Queries: they return a value and never fail because of what is on the screen.
    Row::query(
        "isVisible",
        "Check whether an element is visible. Returns true or false.",
        &[
            TEXT,
            ID,
            defaulted(
                "timeoutMs",
                Ty::Integer,
                Preset::Integer(0),
                "How long to wait for the element, in milliseconds.",
            ),
        ],
        |cx, args| Box::pin(is_visible(cx, args)),
    ),
    Row::query(
        "hasText",
        "Check whether text is visible anywhere, also as part of a longer text. Returns true or false.",
        &[required("text", Ty::Text, "The text.")],
        |cx, args| Box::pin(has_text(cx, args)),
    ),
    Row::query(
        "getElementText",
        "Get the text of an element; null if there is none.",
        &[required("id", Ty::Text, "The element's id.")],
        |cx, args| Box::pin(get_element_text(cx, args)),
    ),
    Row::query("getElementCount", "Count the elements that match.", &[TEXT, ID], |cx, args| {
        Box::pin(get_element_count(cx, args))
    }),
    Row::query(
        "captureScreen",
        "Capture the current screen: its elements, with refs to tap.",
        &[defaulted(
            "format",
            Ty::Word(&["text", "json"]),
            Preset::Word("text"),
            "json returns the elements as data, with their bounds.",
        )],
        |cx, args| Box::pin(capture_screen(cx, args)),
    ),
    // Assertions.
    Row::assertion(
        "assertVisible",
        "Assert that an element is visible, or becomes visible within the timeout.",
        &[
            optional("ref", Ty::Text, "The element's ref in the last snapshot, or its description there."),
            TEXT,
            ID,
            TIMEOUT,
            optional("expectedText", Ty::Text, "The text that the element must have."),
            REASON,
        ],
        |cx, args| Box::pin(assertions::assert_visible(cx, args)),
    ),
    Row::assertion(
        "waitUntilVisible",
        "Wait until an element with the text is visible; fail if it does not appear.",
        &[
            required("text", Ty::Text, "The element's full text."),
            required("timeoutMs", Ty::Integer, "How long to wait, in milliseconds."),
        ],
        |cx, args| Box::pin(assertions::assert_visible(cx, args)),
    ),
    // Mobile.
    Row::action(
        "adbShell",
        "Run a shell command on the device.",
        &[required("command", Ty::Text, "The command line.")],
        |cx, args| Box::pin(async move { act(cx, &Action::Shell { command: args.required("command").into() }).await }),
    )
    .on(ANDROID)
    .hidden(),
    Row::action(
        "grantPermission",
        "Grant a permission to an app.",
        &[PACKAGE, required("permission", Ty::Text, "The permission, such as android.permission.CAMERA.")],
        |cx, args| {
            Box::pin(async move {
                let (app, permission) = (args.required("packageId").into(), args.required("permission").into());
                act(cx, &Action::GrantPermission { app, permission }).await
            })
        },
    )
    .on(MOBILE)
    .hidden(),
    Row::action("pressBack", "Go back.", &[REASON], |cx, _| Box::pin(press(cx, Key::Back))).on(MOBILE),
    Row::action("pressHome", "Go to the home screen.", &[REASON], |cx, _| Box::pin(press(cx, Key::Home))).on(MOBILE),
    Row::action(
        "swipe",
        "Swipe in a direction.",
        &[
            defaulted(
                "direction",
                Ty::Word(Direction::NAMES),
                Preset::Word("UP"),
                "The direction that the finger moves in.",
            ),
            optional("swipeOnElementText", Ty::Text, "Start the swipe on the element with this text."),
            optional("durationMs", Ty::Integer, "How long the swipe takes, in milliseconds."),
            TIMEOUT,
            REASON,
        ],
        |cx, args| Box::pin(swipe(cx, args)),
    ),
    Row::action(
        "scroll",
        "Scroll the view in a direction.",
        &[
            defaulted(
                "direction",
                Ty::Word(Direction::NAMES),
                Preset::Word("DOWN"),
                "The direction that the view moves in.",
            ),
            optional("amount", Ty::Integer, "How far to scroll, in pixels (default: most of a screen)."),
            REASON,
        ],
        |cx, args| Box::pin(scroll(cx, args)),
    ),
    Row::action(
        "pinch",
        "Pinch with two fingers.",
        &[required("scale", Ty::Number, "Above 1 zooms in, below 1 zooms out.")],
        |cx, args| {
            Box::pin(async move { act(cx, &Action::Pinch { scale: args.number("scale").unwrap_or(1.0) }).await })
        },
    )
    .on(MOBILE),
    // Web.
    Row::action("navigate", "Open a URL.", &[required("url", Ty::Text, "The URL."), LOAD_TIMEOUT], |cx, args| {
        Box::pin(async move { act_waiting(cx, args, &Action::OpenUrl { url: args.required("url").into() }).await })
    })
    .on(WEB),
    Row::action(
        "click",
        "Click the element that a CSS selector matches.",
        &[required("selector", Ty::Text, "The CSS selector."), TIMEOUT],
        |cx, args| Box::pin(async move { elements::act_on(cx, css(args), &Action::Tap, find_wait(args)).await }),
    )
    .on(WEB)
    .hidden(),
    Row::action(
        "fill",
        "Replace the value of the field that a CSS selector matches.",
        &[required("selector", Ty::Text, "The CSS selector."), required("value", Ty::Text, "The new value."), TIMEOUT],
        |cx, args| {
            Box::pin(async move {
                let action = Action::SetText { text: args.required("value").into() };
                elements::act_on(cx, css(args), &action, find_wait(args)).await
            })
        },
    )
    .on(WEB)
    .hidden(),
    Row::assertion(
        "waitForSelector",
        "Wait until a CSS selector matches an element on the page.",
        &[required("selector", Ty::Text, "The CSS selector."), TIMEOUT],
        |cx, args| {
            Box::pin(async move {
                assertions::expect_visible(cx, css(args), timeout(args, limits::ASSERT_WAIT), None).await
            })
        },
    )
    .on(WEB)
    .hidden(),
    Row::action(
        "evaluateJs",
        "Evaluate JavaScript in the page.",
        &[required("script", Ty::Text, "A JavaScript expression.")],
        |cx, args| {
            Box::pin(async move { act(cx, &Action::EvaluateJs { script: args.required("script").into() }).await })
        },
    )
    .on(WEB)
    .hidden(),
];

/// Acts on the device as a whole.
pub async fn act(cx: &Cx, action: &Action) -> Result<Outcome, Stop> {
    let acted = cx.session.device.act(cx, &Target::Device, action).await?;
    Ok(Outcome { text: acted.text, structured: acted.value, attachments: acted.files, ..Outcome::default() })
}

/// Acts on the device as a whole; the device may wait for up to `timeoutMs`.
pub async fn act_waiting(cx: &Cx, args: &Args, action: &Action) -> Result<Outcome, Stop> {
    let Some(wait) = args.value("timeoutMs").map(|_| timeout(args, Duration::ZERO)) else {
        return act(cx, action).await;
    };
    let acted = cx.session.device.act_waiting(cx, &Target::Device, action, wait).await?;
    Ok(Outcome { text: acted.text, structured: acted.value, attachments: acted.files, ..Outcome::default() })
}

/// The element that matches both `text` and `id`.
pub fn element(args: &Args) -> Result<Query, Stop> {
    Ok(Query {
        what: What::Element(Element {
            text: args.text("text").map(|text| TextMatch::Exact(text.to_string())),
            id: args.text("id").map(str::to_string),
            ..Element::default()
        }),
        index: elements::index(args)?,
    })
}

pub fn timeout(args: &Args, otherwise: Duration) -> Duration {
    let given = args.integer("timeoutMs").map(|millis| Duration::from_millis(u64::try_from(millis).unwrap_or(0)));
    given.unwrap_or(otherwise).min(limits::CALL_TOTAL)
}

/// How long an action waits for its element.
pub fn find_wait(args: &Args) -> Duration {
    timeout(args, limits::FIND_WAIT)
}

fn css(args: &Args) -> Query {
    let selector = json!({"web": {"cssSelector": args.required("selector")}});
    let selector = Selector::parse(&selector).expect("the selector is well-formed");
    Query { what: What::Selector(Box::new(selector)), index: None }
}

async fn tap(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let action = elements::press(args);
    match Aim::of(cx, args)? {
        Aim::Reference => elements::delegate_by_ref(cx, args, action).await,
        Aim::Described(query) => elements::act_on(cx, query, &action, find_wait(args)).await,
        Aim::Point(point) => {
            cx.session.device.act(cx, &Target::Point(point), &action).await?;
            Ok(Outcome::success(format!("tapped {},{}", point.x, point.y)))
        }
        Aim::Element => elements::act_on(cx, element(args)?, &action, find_wait(args)).await,
    }
}

async fn input_text(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let outcome = act(cx, &Action::InputText { text: args.required("text").into() }).await?;
    if args.flag("hideKeyboardAfter").unwrap_or(true) && cx.session.device.description().platform.is_mobile() {
        act(cx, &Action::HideKeyboard).await?;
    }
    Ok(outcome)
}

pub async fn press(cx: &Cx, key: Key) -> Result<Outcome, Stop> {
    act(cx, &Action::PressKey { key }).await
}

async fn is_visible(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let query = Query { index: Some(0), ..element(args)? };
    let reached = cx.session.device.wait_for(cx, &query, Goal::Visible, timeout(args, Duration::ZERO)).await?;
    Ok(answer(matches!(reached, Reached::Met { .. })))
}

async fn has_text(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let element = Element { text: Some(TextMatch::Contains(args.required("text").to_string())), ..Element::default() };
    let query = Query { what: What::Element(element), index: Some(0) };
    let find = cx.session.device.find(cx, &query, Checks::Visible).await?;
    Ok(answer(matches!(find, Find::Found(_))))
}

async fn get_element_text(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let query = Query { index: Some(0), ..element(args)? };
    let text = match cx.session.device.find(cx, &query, Checks::Visible).await? {
        Find::Found(found) => found.text,
        Find::Not(_) => None,
    };
    Ok(answer(text))
}

async fn get_element_count(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let query = Query { index: Some(0), ..element(args)? };
    let count = match cx.session.device.find(cx, &query, Checks::Visible).await? {
        Find::Found(found) => found.count,
        Find::Not(why) => match why.reason {
            Reason::OutOfRange { count, .. } => count,
            _ => 0,
        },
    };
    Ok(answer(count))
}

async fn capture_screen(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let screen = cx.session.device.show(cx).await?;
    let description = cx.session.device.description();
    let elements = snapshot::elements(&screen);
    let state = json!({
        "platform": description.platform.name(), "app": screen.app, "width": screen.size.width,
        "height": screen.size.height, "elements": elements,
    });
    // Callbacks return only text.
    let text = match args.text("format") {
        Some("json") => state.to_string(),
        _ => snapshot::text(&screen, &snapshot::Details::default()),
    };
    Ok(Outcome::value(text, state))
}

/// The outcome of a query.
fn answer(value: impl Into<Value>) -> Outcome {
    let value = value.into();
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
    Outcome::value(text, value)
}

async fn swipe(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let direction = args.text("direction").and_then(Direction::parse).unwrap_or(Direction::Up);
    let size = cx.session.device.description().size;
    let wait = find_wait(args);
    let from = match args.text("swipeOnElementText") {
        Some(text) => elements::in_view(cx, &elements::containing(text), wait).await?.point,
        None => center(size),
    };
    let action = Action::Swipe {
        from,
        to: toward(from, direction, size),
        duration: Duration::from_millis(args.count("durationMs")?.unwrap_or(400)),
    };
    cx.session.device.act(cx, &Target::Point(from), &action).await?;
    Ok(Outcome::success(format!("swiped {}", direction.name().to_lowercase())))
}

pub async fn scroll(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let direction = args.text("direction").and_then(Direction::parse).unwrap_or(Direction::Down);
    let amount = args.count("amount")?.map(|amount| u32::try_from(amount).unwrap_or(u32::MAX));
    act(cx, &Action::Scroll { direction, amount }).await
}

fn center(size: Size) -> Point {
    let half = |length: u32| i32::try_from(length / 2).unwrap_or(0);
    Point { x: half(size.width), y: half(size.height) }
}

/// A point a third of the screen away, clamped to the screen.
pub fn toward(from: Point, direction: Direction, size: Size) -> Point {
    let width = i32::try_from(size.width).unwrap_or(i32::MAX);
    let height = i32::try_from(size.height).unwrap_or(i32::MAX);
    let (dx, dy) = match direction {
        Direction::Up => (0, -height / 3),
        Direction::Down => (0, height / 3),
        Direction::Left => (-width / 3, 0),
        Direction::Right => (width / 3, 0),
    };
    Point { x: (from.x + dx).clamp(1, width - 2), y: (from.y + dy).clamp(1, height - 2) }
}
