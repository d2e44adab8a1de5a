//! The commands API: what tools in any language can do with a device.

use std::time::Duration;

use serde_json::{Value, json};
use trailblaze_protocol::geometry::{Point, Size};
use trailblaze_protocol::outcome::{Attachment, Outcome};

use super::arguments::{count, element, millis, wait};
use super::contract::{self, Command};
use super::elements::{self, TapTarget};
use super::requests::{act, press, send, send_within};
use super::row::{ParamRow, ParamType, Preset, Row, defaulted};
use super::{apps, assertions, remember};
use crate::driver::{Action, ActionTarget, DeviceCommand, Direction, Key};
use crate::engine::cx::Cx;
use crate::engine::device::{Goal, Reached};
use crate::engine::fault::Stop;
use crate::engine::tool::{Args, BuiltIn, Need};
use crate::limits;
use crate::query::{Checks, Find, Query, QueryTarget, Reason};
use crate::selector::Selector;
use crate::snapshot;

/// The commands of the contract, in its order.
pub fn rows() -> impl Iterator<Item = Row> {
    Command::ALL.iter().map(|command| {
        let row = command.row(body(*command)).and(more(*command)).needing(needs(*command));
        match command {
            Command::InputText => row.typing("text"),
            Command::Fill => row.typing("value"),
            _ => row,
        }
    })
}

/// What a command does. A new command does not compile until it has a body.
fn body(command: Command) -> BuiltIn {
    match command {
        Command::Tap => |cx, args| Box::pin(tap(cx, contract::Tap(args))),
        Command::InputText => |cx, args| Box::pin(input_text(cx, contract::InputText(args))),
        Command::LaunchApp => |cx, args| Box::pin(apps::launch(cx, contract::LaunchApp(args))),
        Command::ClearAppData => |cx, args| {
            let app = contract::ClearAppData(args).package_id().to_string();
            Box::pin(async move { send(cx, &DeviceCommand::ClearAppData { app }).await })
        },
        Command::IsVisible => |cx, args| Box::pin(is_visible(cx, contract::IsVisible(args))),
        Command::HasText => |cx, args| Box::pin(has_text(cx, contract::HasText(args).text())),
        Command::GetElementText => |cx, args| Box::pin(get_element_text(cx, contract::GetElementText(args).id())),
        Command::GetElementCount => |cx, args| Box::pin(get_element_count(cx, contract::GetElementCount(args))),
        Command::CaptureScreen => |cx, args| Box::pin(capture_screen(cx, args)),
        Command::AssertVisible => |cx, args| Box::pin(assertions::assert_visible(cx, contract::AssertVisible(args))),
        Command::WaitUntilVisible => |cx, args| Box::pin(wait_until_visible(cx, contract::WaitUntilVisible(args))),
        Command::AdbShell => |cx, args| {
            let command = contract::AdbShell(args).command().to_string();
            Box::pin(async move {
                let outcome = send(cx, &DeviceCommand::Shell { command }).await?;
                let exit_code = outcome.structured.as_ref().map_or(Value::Null, |value| value["exitCode"].clone());
                let structured = Some(json!({"output": outcome.text, "exitCode": exit_code}));
                Ok(Outcome { structured, ..outcome })
            })
        },
        Command::GrantPermission => |cx, args| {
            let args = contract::GrantPermission(args);
            let (app, permission) = (args.package_id().to_string(), args.permission().to_string());
            Box::pin(async move { send(cx, &DeviceCommand::GrantPermission { app, permission }).await })
        },
        Command::PressBack => |cx, _| Box::pin(press(cx, Key::Back)),
        Command::PressHome => |cx, _| Box::pin(press(cx, Key::Home)),
        Command::Swipe => |cx, args| Box::pin(swipe(cx, contract::Swipe(args))),
        Command::Scroll => |cx, args| {
            let args = contract::Scroll(args);
            Box::pin(scroll(cx, args.direction(), args.amount()))
        },
        Command::Pinch => |cx, args| {
            let scale = contract::Pinch(args).scale().unwrap_or(1.0);
            Box::pin(async move { act(cx, &Action::Pinch { scale }).await })
        },
        Command::Navigate => |cx, args| {
            let args = contract::Navigate(args);
            let url = args.url().to_string();
            Box::pin(async move { send_within(cx, args.timeout_ms(), &DeviceCommand::OpenUrl { url }).await })
        },
        Command::Click => |cx, args| {
            let args = contract::Click(args);
            Box::pin(
                async move { elements::act_on(cx, css(args.selector()), &Action::Tap, wait(args.timeout_ms())).await },
            )
        },
        Command::Fill => |cx, args| {
            let args = contract::Fill(args);
            let action = Action::SetText { text: args.value().to_string() };
            Box::pin(async move { elements::act_on(cx, css(args.selector()), &action, wait(args.timeout_ms())).await })
        },
        Command::WaitForSelector => |cx, args| {
            let args = contract::WaitForSelector(args);
            Box::pin(async move {
                let wait = millis(args.timeout_ms(), limits::ASSERT_WAIT);
                assertions::expect_visible(cx, css(args.selector()), wait, None).await
            })
        },
        Command::EvaluateJs => |cx, args| {
            let script = contract::EvaluateJs(args).script().to_string();
            Box::pin(async move { send(cx, &DeviceCommand::EvaluateJs { script }).await })
        },
        Command::Windows => |cx, _| Box::pin(async move { send(cx, &DeviceCommand::Windows).await }),
        Command::ActivateWindow => |cx, args| {
            let window = contract::ActivateWindow(args).id().to_string();
            Box::pin(async move { send(cx, &DeviceCommand::ActivateWindow { window }).await })
        },
        Command::Menu => |cx, args| {
            let path = contract::Menu(args).path().into_iter().map(str::to_string).collect();
            Box::pin(async move { send(cx, &DeviceCommand::ChooseMenu { path }).await })
        },
        Command::PressKeys => |cx, args| {
            let chord = contract::PressKeys(args).keys().to_string();
            Box::pin(async move { act(cx, &Action::PressChord { chord, count: 1, repeats: 0 }).await })
        },
        Command::GetClipboard => |cx, _| Box::pin(async move { send(cx, &DeviceCommand::GetClipboard).await }),
        Command::SetClipboard => |cx, args| {
            let text = contract::SetClipboard(args).text().to_string();
            Box::pin(async move { send(cx, &DeviceCommand::SetClipboard { text }).await })
        },
        Command::Close => |cx, args| {
            let window = contract::Close(args).id().to_string();
            Box::pin(async move { send(cx, &DeviceCommand::CloseWindow { window }).await })
        },
        Command::Remember => |_, args| {
            let args = contract::Remember(args);
            Box::pin(async move { Ok(remember::remembering(args.variable(), args.value())) })
        },
        Command::Forget => |_, args| {
            let args = contract::Forget(args);
            Box::pin(async move { Ok(remember::forgetting(args.variable())) })
        },
        Command::DumpMemory => |cx, _| Box::pin(async move { Ok(remember::dump(cx)) }),
    }
}

const FORMAT: ParamRow = defaulted(
    "format",
    ParamType::Word(&["text", "json"]),
    Preset::Word("text"),
    "json returns the elements as data, with their bounds.",
);

/// Parameters that only trails, callbacks and models use.
fn more(command: Command) -> &'static [ParamRow] {
    match command {
        Command::CaptureScreen => &[FORMAT],
        _ => &[],
    }
}

fn needs(command: Command) -> &'static [Need] {
    match command {
        Command::Tap => &[elements::TAPPED],
        Command::AssertVisible => &[assertions::SEEN],
        Command::IsVisible | Command::GetElementCount => &[assertions::LOOKED_FOR],
        _ => &[],
    }
}

fn css(selector: &str) -> Query {
    let selector = json!({"web": {"cssSelector": selector}});
    let selector = Selector::parse(&selector).expect("the selector is well-formed");
    Query { what: QueryTarget::Selector(Box::new(selector)), index: None }
}

async fn tap(cx: &Cx, args: contract::Tap<'_>) -> Result<Outcome, Stop> {
    let action = elements::touch(args.long_press());
    match TapTarget::of(cx, args)? {
        TapTarget::Reference => {
            elements::delegate_by_ref(cx, args.reference().unwrap_or_default(), args.timeout_ms(), &action).await
        }
        TapTarget::Described(query) | TapTarget::Element(query) => {
            elements::act_on(cx, query, &action, wait(args.timeout_ms())).await
        }
        TapTarget::Point(point) => {
            cx.session.device.act(cx, &ActionTarget::Point(point), &action).await?;
            Ok(Outcome::success(format!("tapped {},{}", point.x, point.y)))
        }
    }
}

async fn input_text(cx: &Cx, args: contract::InputText<'_>) -> Result<Outcome, Stop> {
    let outcome = act(cx, &Action::InputText { text: args.text().into() }).await?;
    if args.hide_keyboard_after().unwrap_or(true) && cx.session.device.description().platform.is_mobile() {
        act(cx, &Action::HideKeyboard).await?;
    }
    Ok(outcome)
}

/// Refuses a question about no element in particular.
fn named(text: Option<&str>, id: Option<&str>) -> Result<(), Stop> {
    if text.is_some() || id.is_some() {
        return Ok(());
    }
    Err(assertions::LOOKED_FOR.stop())
}

async fn is_visible(cx: &Cx, args: contract::IsVisible<'_>) -> Result<Outcome, Stop> {
    named(args.text(), args.id())?;
    let query = Query { index: Some(0), ..element(args.text(), args.id()) };
    let wait = millis(args.timeout_ms(), Duration::ZERO);
    let reached = cx.session.device.wait_for(cx, &query, Goal::Visible, wait).await?;
    Ok(answer(matches!(reached, Reached::Met { .. })))
}

async fn wait_until_visible(cx: &Cx, args: contract::WaitUntilVisible<'_>) -> Result<Outcome, Stop> {
    let query = Query { index: Some(0), ..element(Some(args.text()), None) };
    assertions::expect_visible(cx, query, millis(args.timeout_ms(), limits::ASSERT_WAIT), None).await
}

async fn has_text(cx: &Cx, text: &str) -> Result<Outcome, Stop> {
    let find = cx.session.device.find(cx, &elements::containing(text), Checks::Visible).await?;
    Ok(answer(matches!(find, Find::Found(_))))
}

async fn get_element_text(cx: &Cx, id: &str) -> Result<Outcome, Stop> {
    let query = Query { index: Some(0), ..element(None, Some(id)) };
    let text = match cx.session.device.find(cx, &query, Checks::Visible).await? {
        Find::Found(found) => found.text,
        Find::Not(_) => None,
    };
    Ok(answer(text))
}

async fn get_element_count(cx: &Cx, args: contract::GetElementCount<'_>) -> Result<Outcome, Stop> {
    named(args.text(), args.id())?;
    let query = Query { index: Some(0), ..element(args.text(), args.id()) };
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
    let device = &cx.session.device;
    let mut attachments = Vec::new();
    let screen = if contract::CaptureScreen(args).picture().unwrap_or(false) {
        let (screen, masks) = device.show_pictured(cx, &snapshot::Details::default()).await?;
        let encoded =
            screen.picture.as_ref().and_then(|picture| cx.session.artifacts.encode(picture, &masks, screen.size));
        let encoded = encoded.ok_or_else(|| Stop::failed("the device cannot take screenshots"))?;
        attachments.push(Attachment { name: "screen".into(), mime: "image/png".into(), file: None, bytes: encoded });
        screen
    } else {
        device.show(cx).await?
    };
    let state = json!({
        "platform": device.description().platform.name(), "width": screen.size.width, "height": screen.size.height,
        "app": screen.app, "root": snapshot::tree(&screen.root),
    });
    // Callbacks return only text.
    let text = match args.text("format") {
        Some("json") => state.to_string(),
        _ => snapshot::text(&screen, &snapshot::Details::default()),
    };
    Ok(Outcome { attachments, ..Outcome::value(text, state) })
}

/// The outcome of a query.
fn answer(value: impl Into<Value>) -> Outcome {
    let value = value.into();
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
    Outcome::value(text, value)
}

async fn swipe(cx: &Cx, args: contract::Swipe<'_>) -> Result<Outcome, Stop> {
    let direction = args.direction().and_then(Direction::parse).unwrap_or(Direction::Up);
    let size = cx.session.device.description().size;
    let wait = wait(args.timeout_ms());
    let from = match args.swipe_on_element_text() {
        Some(text) => elements::in_view(cx, &elements::containing(text), wait).await?.point,
        None => center(size),
    };
    let duration = args.duration_ms().map(|millis| count("durationMs", millis)).transpose()?.unwrap_or(400);
    let action = Action::Swipe { from, to: toward(from, direction, size), duration: Duration::from_millis(duration) };
    cx.session.device.act(cx, &ActionTarget::Point(from), &action).await?;
    Ok(Outcome::success(format!("swiped {}", direction.name().to_lowercase())))
}

pub async fn scroll(cx: &Cx, direction: Option<&str>, amount: Option<i64>) -> Result<Outcome, Stop> {
    let direction = direction.and_then(Direction::parse).unwrap_or(Direction::Down);
    let amount = amount.map(|amount| count("amount", amount)).transpose()?;
    let amount = amount.map(|amount| u32::try_from(amount).unwrap_or(u32::MAX));
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
