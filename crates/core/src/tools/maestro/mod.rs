//! The `maestro` tool: runs Maestro commands with our own actions. All commands of a call are parsed before the first one
//! runs.

mod params;
mod table;

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use trailblaze_protocol::event::Moment;
use trailblaze_protocol::geometry::{Point, Size};
use trailblaze_protocol::outcome::{MemoryChanges, Outcome, Variant};

use self::params::invalid;
pub use self::table::schema;
use self::table::{MaestroCommand, MaestroStep, NamedApp, Stroke, TouchSpot};
use super::apps::target_app;
use super::arguments::find_wait;
use super::assertions::{expect_gone, expect_visible};
use super::commands::toward;
use super::elements::{act_on, visible};
use super::requests::{act, send};
use super::row::{ParamType, Row, optional, required};
use super::waiting::{scroll_to, settle};
use crate::driver::{Action, ActionTarget, DeviceCommand};
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::engine::tool::Args;
use crate::limits;

pub const ROWS: &[Row] = &[Row::action(
    "maestro",
    "Run Maestro commands.",
    &[
        required("commands", ParamType::Commands, "A list of commands, each `name: {parameters}` or just `name`."),
        optional(
            "timeoutMs",
            ParamType::Integer,
            "How long each command waits for its element, in milliseconds (default 5000).",
        ),
    ],
    |cx, args| Box::pin(maestro(cx, args)),
)
.hidden()];

/// How long the screen must stay unchanged for an animation to count as ended.
const QUIET: Duration = Duration::from_millis(300);

async fn maestro(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let commands = args.value("commands").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let commands: Vec<MaestroCommand> = commands.iter().map(MaestroCommand::read).collect::<Result<_, _>>()?;
    let mut memory = MemoryChanges::default();
    for command in &commands {
        match carry_out(cx, &command.step, find_wait(args)).await {
            Ok(outcome) => memory.set.extend(outcome.memory.set),
            Err(Stop::Failed(outcome)) if command.is_optional => {
                cx.progress(format!("optional command {command} failed: {}", outcome.text));
            }
            Err(Stop::Failed(outcome)) => {
                let text = format!("{command}: {}", outcome.text);
                return Err(Stop::Failed(Box::new(Outcome { text, ..*outcome })));
            }
            Err(fault) => return Err(fault),
        }
    }
    let n = commands.len();
    Ok(Outcome { memory, ..Outcome::success(if n == 1 { "1 command".to_string() } else { format!("{n} commands") }) })
}

/// Runs one command. `wait` is how long to wait for an element.
async fn carry_out(cx: &Cx, step: &MaestroStep, wait: Duration) -> Result<Outcome, Stop> {
    let device = &cx.session.device;
    let size = device.description().size;
    match step {
        MaestroStep::Act(action) => act(cx, action).await,
        MaestroStep::Send(command) => send(cx, command).await,
        MaestroStep::Touch { on, action, times } => {
            for _ in 0..*times {
                touch(cx, on, action, wait).await?;
            }
            Ok(Outcome::default())
        }
        MaestroStep::CopyText(query) => copy_text(cx, visible(cx, query, wait).await?.text.unwrap_or_default()).await,
        MaestroStep::Expect { visible, gone, timeout } => {
            let end = Instant::now() + timeout.unwrap_or(wait);
            let left = || end.saturating_duration_since(Instant::now());
            if let Some(query) = visible {
                expect_visible(cx, query.clone(), left(), None).await?;
            }
            if let Some(query) = gone {
                expect_gone(cx, query.clone(), left()).await?;
            }
            Ok(Outcome::default())
        }
        MaestroStep::Settle { timeout } => settle(cx, *timeout, QUIET, false).await,
        MaestroStep::ScrollTo { query, direction, timeout } => scroll_to(cx, query, *direction, *timeout).await,
        MaestroStep::Swipe { stroke, duration } => {
            let (from, to) = match stroke {
                Stroke::Points { start, end } => (point(start, size)?, point(end, size)?),
                Stroke::Middle(direction) => {
                    let from = point("50%,50%", size)?;
                    (from, toward(from, *direction, size))
                }
                Stroke::Element(query, direction) => {
                    let from = visible(cx, query, wait).await?.point;
                    (from, toward(from, *direction, size))
                }
            };
            device.act(cx, &ActionTarget::Point(from), &Action::Swipe { from, to, duration: *duration }).await?;
            Ok(Outcome::default())
        }
        MaestroStep::Launch(named, mode) => {
            send(cx, &DeviceCommand::LaunchApp { app: app(cx, named)?, mode: *mode }).await
        }
        MaestroStep::Stop(named) => send(cx, &DeviceCommand::StopApp { app: app(cx, named)? }).await,
        MaestroStep::Clear(named) => send(cx, &DeviceCommand::ClearAppData { app: app(cx, named)? }).await,
        MaestroStep::Picture(name) => {
            device.shoot(cx, cx.parent(), Moment::After).await?;
            Ok(Outcome::success(format!("saved a screenshot: {}", name.as_deref().unwrap_or_default())))
        }
    }
}

async fn touch(cx: &Cx, on: &TouchSpot, action: &Action, wait: Duration) -> Result<(), Stop> {
    let device = &cx.session.device;
    let point = match on {
        TouchSpot::Element(query) => return act_on(cx, query.clone(), action, wait).await.map(drop),
        TouchSpot::Screen(text) => point(text, device.description().size)?,
        TouchSpot::Within(query, text) => {
            let bounds = visible(cx, query, wait).await?.bounds;
            let size = Size { width: bounds.width().unsigned_abs(), height: bounds.height().unsigned_abs() };
            let inside = point(text, size)?;
            Point { x: bounds.left + inside.x, y: bounds.top + inside.y }
        }
    };
    device.act(cx, &ActionTarget::Point(point), action).await.map(drop)
}

async fn copy_text(cx: &Cx, text: String) -> Result<Outcome, Stop> {
    send(cx, &DeviceCommand::SetClipboard { text: text.clone() }).await?;
    let set = [("maestro.copiedText".to_string(), Value::from(text))].into_iter().collect();
    Ok(Outcome { memory: MemoryChanges { set, deleted: Vec::new() }, ..Outcome::default() })
}

/// The given app, or the target's.
fn app(cx: &Cx, named: &NamedApp) -> Result<String, Stop> {
    named.clone().or_else(|| target_app(cx)).ok_or_else(|| {
        let missing = vec!["appId".to_string()];
        Stop::error(Variant::MissingRequiredArgs { missing }, "no app: pass `appId`; the session has no target app")
    })
}

/// Parses a point: `50%,80%` of an area, or `540,1200` in pixels.
fn point(text: &str, area: Size) -> Result<Point, Stop> {
    let coordinate = |part: &str, length: u32| -> Option<i32> {
        let part = part.trim();
        let pixels = match part.strip_suffix('%') {
            Some(percent) => f64::from(length) * percent.trim().parse::<f64>().ok()? / 100.0,
            None => part.parse::<f64>().ok()?,
        };
        (0.0..=f64::from(length)).contains(&pixels).then_some(pixels as i32)
    };
    let parsed = text
        .split_once(',')
        .and_then(|(x, y)| Some(Point { x: coordinate(x, area.width)?, y: coordinate(y, area.height)? }));
    let Size { width, height } = area;
    parsed.ok_or_else(|| {
        invalid(format!("`{text}` is not a point within {width}×{height}; use percentages such as `50%,50%` or pixels such as `540,1200`"))
    })
}

/// The longest time that a command may wait.
fn bounded(millis: u32) -> Duration {
    Duration::from_millis(u64::from(millis)).min(limits::CALL_TOTAL)
}
