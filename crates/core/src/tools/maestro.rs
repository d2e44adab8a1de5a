//! The `maestro` tool: Maestro commands, carried out by our own actions. The commands are a table; what is not in it
//! is unsupported, by name.

use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use trailblaze_protocol::event::Moment;
use trailblaze_protocol::geometry::{Point, Size};
use trailblaze_protocol::outcome::{MemoryChanges, Outcome, Variant};

use super::apps::target_app;
use super::assertions::{expect_gone, expect_visible};
use super::commands::{act, toward};
use super::elements::{act_on, visible};
use super::row::{Row, Ty, required};
use super::waiting::{scroll_to, settle};
use crate::cx::Cx;
use crate::driver::{Action, Direction, Key, LaunchMode, Target};
use crate::fault::Stop;
use crate::limits;
use crate::query::{Element, Query, TextMatch, What};
use crate::tool::Args;

pub const ROWS: &[Row] = &[Row::action(
    "maestro",
    "Run Maestro commands.",
    &[required("commands", Ty::Commands, "Each `name: {parameters}`, or a lone name.")],
    |cx, args| Box::pin(maestro(cx, args)),
)
.hidden()];

type Run = for<'a> fn(&'a Cx, &'a Params) -> BoxFuture<'a, Result<Outcome, Stop>>;

struct Command {
    name: &'static str,
    takes: Takes,
    run: Run,
}

/// What a command is written with, besides its parameters by name.
#[derive(Clone, Copy)]
enum Takes {
    /// Which element: a text, or a selector.
    Selector,
    /// One text, under this name.
    Text(&'static str),
    /// One whole number, or none, under this name.
    Count(&'static str),
    Nothing,
}

const COMMANDS: &[Command] = &[
    Command { name: "tapOn", takes: Takes::Selector, run: |cx, params| Box::pin(touch(cx, params, Action::Tap)) },
    Command {
        name: "doubleTapOn",
        takes: Takes::Selector,
        run: |cx, params| Box::pin(touch(cx, params, Action::DoubleTap)),
    },
    Command {
        name: "longPressOn",
        takes: Takes::Selector,
        run: |cx, params| Box::pin(touch(cx, params, Action::LongPress)),
    },
    Command {
        name: "inputText",
        takes: Takes::Text("text"),
        run: |cx, params| Box::pin(async move { act(cx, &Action::InputText { text: params.text("text")? }).await }),
    },
    Command {
        name: "eraseText",
        takes: Takes::Count("charactersToErase"),
        run: |cx, params| {
            Box::pin(async move { act(cx, &Action::EraseText { count: params.count("charactersToErase")? }).await })
        },
    },
    Command {
        name: "pasteText",
        takes: Takes::Nothing,
        run: |cx, _| Box::pin(async move { act(cx, &Action::PasteClipboard).await }),
    },
    Command { name: "copyTextFrom", takes: Takes::Selector, run: |cx, params| Box::pin(copy_text(cx, params)) },
    Command {
        name: "hideKeyboard",
        takes: Takes::Nothing,
        run: |cx, _| Box::pin(async move { act(cx, &Action::HideKeyboard).await }),
    },
    Command { name: "pressKey", takes: Takes::Text("code"), run: |cx, params| Box::pin(press_key(cx, params)) },
    Command {
        name: "back",
        takes: Takes::Nothing,
        run: |cx, _| Box::pin(async move { act(cx, &Action::PressKey { key: Key::Back }).await }),
    },
    Command {
        name: "assertVisible",
        takes: Takes::Selector,
        run: |cx, params| Box::pin(async move { expect_visible(cx, params.query()?, limits::ASSERT_WAIT, None).await }),
    },
    Command {
        name: "assertNotVisible",
        takes: Takes::Selector,
        run: |cx, params| Box::pin(async move { expect_gone(cx, params.query()?, limits::ASSERT_WAIT).await }),
    },
    Command { name: "extendedWaitUntil", takes: Takes::Nothing, run: |cx, params| Box::pin(wait_until(cx, params)) },
    Command {
        name: "waitForAnimationToEnd",
        takes: Takes::Nothing,
        run: |cx, params| {
            Box::pin(
                async move { settle(cx, params.millis("timeout", 15_000)?, Duration::from_millis(300), false).await },
            )
        },
    },
    Command {
        name: "scroll",
        takes: Takes::Nothing,
        run: |cx, _| {
            Box::pin(async move { act(cx, &Action::Scroll { direction: Direction::Down, amount: None }).await })
        },
    },
    Command {
        name: "scrollUntilVisible",
        takes: Takes::Nothing,
        run: |cx, params| Box::pin(scroll_until_visible(cx, params)),
    },
    Command { name: "swipe", takes: Takes::Nothing, run: |cx, params| Box::pin(swipe(cx, params)) },
    Command { name: "launchApp", takes: Takes::Text("appId"), run: |cx, params| Box::pin(launch(cx, params)) },
    Command {
        name: "stopApp",
        takes: Takes::Text("appId"),
        run: |cx, params| Box::pin(async move { act(cx, &Action::StopApp { app: params.app(cx)? }).await }),
    },
    Command {
        name: "killApp",
        takes: Takes::Text("appId"),
        run: |cx, params| Box::pin(async move { act(cx, &Action::StopApp { app: params.app(cx)? }).await }),
    },
    Command {
        name: "clearState",
        takes: Takes::Text("appId"),
        run: |cx, params| Box::pin(async move { act(cx, &Action::ClearAppData { app: params.app(cx)? }).await }),
    },
    Command {
        name: "openLink",
        takes: Takes::Text("link"),
        run: |cx, params| Box::pin(async move { act(cx, &Action::OpenUrl { url: params.text("link")? }).await }),
    },
    Command {
        name: "takeScreenshot",
        takes: Takes::Text("path"),
        run: |cx, params| Box::pin(take_screenshot(cx, params)),
    },
];

/// The schema of a list of commands. Parameters of a command that is not in the table are read as YAML does, so that
/// it is the command that is refused, by name.
pub fn schema() -> Value {
    let selector = json!({"type": ["object", "string"], "properties": selector_properties()});
    let mut commands = Map::new();
    for command in COMMANDS {
        let mut properties = selector_properties();
        for name in ["timeout", "duration", "repeat"] {
            properties.insert(name.into(), json!({"type": "integer"}));
        }
        for name in ["visible", "notVisible", "element"] {
            properties.insert(name.into(), selector.clone());
        }
        for name in ["direction", "start", "end", "label"] {
            properties.insert(name.into(), json!({"type": "string"}));
        }
        for name in ["clearState", "stopApp", "optional"] {
            properties.insert(name.into(), json!({"type": "boolean"}));
        }
        let (types, own) = match command.takes {
            Takes::Text(name) => (vec!["object", "string", "null"], Some((name, json!({"type": "string"})))),
            Takes::Count(name) => {
                (vec!["object", "integer", "null"], Some((name, json!({"type": ["integer", "null"]}))))
            }
            Takes::Selector => (vec!["object", "string"], None),
            Takes::Nothing => (vec!["object", "null"], None),
        };
        properties.extend(own.map(|(name, schema)| (name.to_string(), schema)));
        commands.insert(command.name.into(), json!({"type": types, "properties": properties}));
    }
    json!({"type": "array", "items": {
        "type": ["object", "string"], "properties": commands, "additionalProperties": {"x-scalars": "yaml"},
    }})
}

fn selector_properties() -> Map<String, Value> {
    let types = [
        ("text", "string"),
        ("id", "string"),
        ("index", "integer"),
        ("enabled", "boolean"),
        ("selected", "boolean"),
        ("point", "string"),
    ];
    types.into_iter().map(|(name, kind)| (name.to_string(), json!({"type": kind}))).collect()
}

async fn maestro(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let commands = args.value("commands").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut memory = MemoryChanges::default();
    for command in &commands {
        let (name, params) = split(command)?;
        let Some(row) = COMMANDS.iter().find(|row| row.name == name) else {
            return Err(Stop::error(Variant::Unsupported, format!("the Maestro command `{name}` is unsupported")));
        };
        let params = Params::read(row, params)?;
        match (row.run)(cx, &params).await {
            Ok(outcome) => memory.set.extend(outcome.memory.set),
            Err(Stop::Failed(outcome)) if params.is_optional() => {
                cx.progress(format!("`{name}` is optional and failed: {}", outcome.text))
            }
            Err(Stop::Failed(outcome)) => {
                let text = format!("`{name}`: {}", outcome.text);
                return Err(Stop::Failed(Box::new(Outcome { text, ..*outcome })));
            }
            Err(fault) => return Err(fault),
        }
    }
    let n = commands.len();
    Ok(Outcome { memory, ..Outcome::success(if n == 1 { "1 command".to_string() } else { format!("{n} commands") }) })
}

fn split(command: &Value) -> Result<(&str, &Value), Stop> {
    match command {
        Value::String(name) => Ok((name, &Value::Null)),
        Value::Object(map) if map.len() == 1 => map
            .iter()
            .next()
            .map(|(name, params)| (name.as_str(), params))
            .ok_or_else(|| invalid("a command has a name")),
        _ => Err(invalid(format!("a command is `name: {{parameters}}`, not {command}"))),
    }
}

fn invalid(text: impl Into<String>) -> Stop {
    Stop::error(Variant::MaestroValidationError, text)
}

/// The parameters of one command, by name.
struct Params {
    command: &'static str,
    values: Map<String, Value>,
}

impl Params {
    fn read(row: &Command, value: &Value) -> Result<Params, Stop> {
        let values = match (row.takes, value) {
            (_, Value::Object(map)) => map.clone(),
            (_, Value::Null) => Map::new(),
            (Takes::Selector, text @ Value::String(_)) => [("text".to_string(), text.clone())].into_iter().collect(),
            (Takes::Text(name) | Takes::Count(name), single) => {
                [(name.to_string(), single.clone())].into_iter().collect()
            }
            (_, other) => return Err(invalid(format!("`{}` cannot be written with {other}", row.name))),
        };
        Ok(Params { command: row.name, values })
    }

    fn is_optional(&self) -> bool {
        self.values.get("optional").and_then(Value::as_bool).unwrap_or(false)
    }

    fn given(&self, name: &str) -> Option<String> {
        self.values.get(name).and_then(Value::as_str).map(str::to_string)
    }

    fn text(&self, name: &str) -> Result<String, Stop> {
        self.given(name).ok_or_else(|| invalid(format!("`{}` needs `{name}`", self.command)))
    }

    fn count(&self, name: &str) -> Result<Option<u32>, Stop> {
        match self.values.get(name).filter(|count| !count.is_null()) {
            None => Ok(None),
            Some(count) => match count.as_u64().and_then(|count| u32::try_from(count).ok()) {
                Some(count) => Ok(Some(count)),
                None => Err(invalid(format!("`{}` takes a whole number, not {count}", self.command))),
            },
        }
    }

    fn millis(&self, name: &str, otherwise: u32) -> Result<Duration, Stop> {
        Ok(Duration::from_millis(u64::from(self.count(name)?.unwrap_or(otherwise))).min(limits::CALL_TOTAL))
    }

    fn direction(&self, otherwise: Direction) -> Result<Direction, Stop> {
        match self.given("direction") {
            None => Ok(otherwise),
            Some(word) => Direction::parse(&word).ok_or_else(|| {
                invalid(format!("`{word}` is no direction; it is one of {}", Direction::NAMES.join(", ")))
            }),
        }
    }

    /// The app that is named, or the target's.
    fn app(&self, cx: &Cx) -> Result<String, Stop> {
        self.given("appId")
            .or_else(|| target_app(cx))
            .ok_or_else(|| invalid(format!("`{}` needs `appId`: there is no target", self.command)))
    }

    fn query(&self) -> Result<Query, Stop> {
        query(self.command, &self.values)
    }

    fn nested_query(&self, name: &str) -> Result<Option<Query>, Stop> {
        match self.values.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => {
                query(self.command, &[("text".to_string(), json!(text))].into_iter().collect()).map(Some)
            }
            Some(Value::Object(map)) => query(self.command, map).map(Some),
            Some(other) => Err(invalid(format!("`{name}` of `{}` is a selector, not {other}", self.command))),
        }
    }
}

/// Which element, in Maestro's words: text and id are regular expressions for the whole value.
fn query(command: &str, values: &Map<String, Value>) -> Result<Query, Stop> {
    for name in [
        "below",
        "above",
        "leftOf",
        "rightOf",
        "childOf",
        "containsChild",
        "containsDescendants",
        "width",
        "height",
        "traits",
        "checked",
        "focused",
    ] {
        if values.contains_key(name) {
            return Err(Stop::error(
                Variant::Unsupported,
                format!("`{name}` of `{command}` is unsupported; tapOnElementBySelector has relations"),
            ));
        }
    }
    let text = |name: &str| values.get(name).and_then(Value::as_str).map(str::to_string);
    let flag = |name: &str| values.get(name).and_then(Value::as_bool);
    let element = Element {
        text: text("text").map(TextMatch::Pattern),
        id: text("id"),
        enabled: flag("enabled"),
        selected: flag("selected"),
    };
    if element.text.is_none() && element.id.is_none() {
        return Err(invalid(format!("`{command}` needs `text` or `id`")));
    }
    let index = values.get("index").and_then(Value::as_u64).and_then(|index| usize::try_from(index).ok());
    Ok(Query { what: What::Element(element), index: Some(index.unwrap_or(0)) })
}

async fn touch(cx: &Cx, params: &Params, action: Action) -> Result<Outcome, Stop> {
    let times = params.count("repeat")?.unwrap_or(1).clamp(1, 100);
    for _ in 0..times {
        match params.given("point") {
            Some(text) => {
                let point = point(&text, cx.session.device.description().size)?;
                cx.session.device.act(cx, &Target::Point(point), &action).await?;
            }
            None => {
                act_on(cx, params.query()?, &action).await?;
            }
        }
    }
    Ok(Outcome::default())
}

/// `50%,80%` of the screen, or `540,1200` in pixels.
fn point(text: &str, size: Size) -> Result<Point, Stop> {
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
        .and_then(|(x, y)| Some(Point { x: coordinate(x, size.width)?, y: coordinate(y, size.height)? }));
    parsed.ok_or_else(|| invalid(format!("`{text}` is no point of the screen; write `50%,50%` or `540,1200`")))
}

async fn copy_text(cx: &Cx, params: &Params) -> Result<Outcome, Stop> {
    let found = visible(cx, &params.query()?).await?;
    let text = found.text.unwrap_or_default();
    act(cx, &Action::SetClipboard { text: text.clone() }).await?;
    let set = [("maestro.copiedText".to_string(), Value::from(text))].into_iter().collect();
    Ok(Outcome { memory: MemoryChanges { set, deleted: Vec::new() }, ..Outcome::default() })
}

async fn press_key(cx: &Cx, params: &Params) -> Result<Outcome, Stop> {
    let code = params.text("code")?;
    let key = Key::parse(&code)
        .ok_or_else(|| invalid(format!("`pressKey` knows no key `{code}`; it knows {}", Key::NAMES.join(", "))))?;
    act(cx, &Action::PressKey { key }).await
}

async fn wait_until(cx: &Cx, params: &Params) -> Result<Outcome, Stop> {
    let end = Instant::now() + params.millis("timeout", 5000)?;
    let (visible, gone) = (params.nested_query("visible")?, params.nested_query("notVisible")?);
    if visible.is_none() && gone.is_none() {
        return Err(invalid("`extendedWaitUntil` needs `visible` or `notVisible`"));
    }
    if let Some(query) = visible {
        expect_visible(cx, query, end.saturating_duration_since(Instant::now()), None).await?;
    }
    if let Some(query) = gone {
        expect_gone(cx, query, end.saturating_duration_since(Instant::now())).await?;
    }
    Ok(Outcome::default())
}

async fn scroll_until_visible(cx: &Cx, params: &Params) -> Result<Outcome, Stop> {
    let query = params.nested_query("element")?.ok_or_else(|| invalid("`scrollUntilVisible` needs `element`"))?;
    scroll_to(cx, &query, params.direction(Direction::Down)?, params.millis("timeout", 20_000)?).await
}

async fn swipe(cx: &Cx, params: &Params) -> Result<Outcome, Stop> {
    let size = cx.session.device.description().size;
    let duration = params.millis("duration", 400)?;
    let (from, to) = match (params.given("start"), params.given("end")) {
        (Some(start), Some(end)) => (point(&start, size)?, point(&end, size)?),
        (None, None) => {
            let from = match params.nested_query("element")? {
                Some(query) => visible(cx, &query).await?.point,
                None => point("50%,50%", size)?,
            };
            (from, toward(from, params.direction(Direction::Up)?, size))
        }
        _ => return Err(invalid("`swipe` needs both `start` and `end`, or a `direction`")),
    };
    cx.session.device.act(cx, &Target::Point(from), &Action::Swipe { from, to, duration }).await?;
    Ok(Outcome::default())
}

async fn launch(cx: &Cx, params: &Params) -> Result<Outcome, Stop> {
    let flag = |name: &str| params.values.get(name).and_then(Value::as_bool);
    let mode = match (flag("clearState"), flag("stopApp")) {
        (Some(true), _) => LaunchMode::Reinstall,
        (_, Some(false)) => LaunchMode::Resume,
        _ => LaunchMode::ForceRestart,
    };
    act(cx, &Action::LaunchApp { app: params.app(cx)?, mode }).await
}

async fn take_screenshot(cx: &Cx, params: &Params) -> Result<Outcome, Stop> {
    cx.session.device.shoot(cx, cx.parent(), Moment::After).await?;
    Ok(Outcome::success(format!("kept a picture: {}", params.given("path").unwrap_or_default())))
}
