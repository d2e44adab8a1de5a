//! The supported Maestro commands: the parameters of each, and what it does.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value, json};
use trailblaze_protocol::outcome::Variant;

use super::params::{MaestroParam, MaestroParams, MaestroType, SELECTOR, invalid, properties};
use crate::driver::{Action, DeviceCommand, Direction, Key, LaunchMode};
use crate::engine::fault::Stop;
use crate::query::Query;

/// A parsed command.
pub struct MaestroCommand {
    pub name: &'static str,
    pub label: Option<String>,
    pub is_optional: bool,
    pub step: MaestroStep,
}

impl fmt::Display for MaestroCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.label {
            Some(label) => write!(f, "`{}` \"{label}\"", self.name),
            None => write!(f, "`{}`", self.name),
        }
    }
}

/// What a command does.
pub enum MaestroStep {
    Act(Action),
    Send(DeviceCommand),
    Touch {
        on: TouchSpot,
        action: Action,
        times: u32,
    },
    CopyText(Query),
    /// Without a timeout, the timeout of the call applies.
    Expect {
        visible: Option<Query>,
        gone: Option<Query>,
        timeout: Option<Duration>,
    },
    Settle {
        timeout: Duration,
    },
    ScrollTo {
        query: Query,
        direction: Direction,
        timeout: Duration,
    },
    Swipe {
        stroke: Stroke,
        duration: Duration,
    },
    Launch(NamedApp, LaunchMode),
    Stop(NamedApp),
    Clear(NamedApp),
    Picture(Option<String>),
}

/// Where to touch. Points are kept as written.
pub enum TouchSpot {
    Element(Query),
    Screen(String),
    Within(Query, String),
}

/// Where a swipe starts and ends.
pub enum Stroke {
    Points { start: String, end: String },
    Middle(Direction),
    Element(Query, Direction),
}

/// An app id; `None` for the target's app.
pub type NamedApp = Option<String>;

struct MaestroRow {
    name: &'static str,
    /// What may be written in place of the mapping.
    lone: LoneArgument,
    params: &'static [&'static [MaestroParam]],
    read: fn(&mut MaestroParams) -> Result<MaestroStep, Stop>,
}

#[derive(Clone, Copy)]
enum LoneArgument {
    /// One value, for this parameter.
    Value(&'static str, MaestroType),
    /// The same, or nothing.
    ValueOrNothing(&'static str, MaestroType),
    Nothing,
}

/// Parameters of every command.
const COMMON: &[MaestroParam] = &[("label", MaestroType::Text), ("optional", MaestroType::Flag)];
const APP: &[MaestroParam] = &[("appId", MaestroType::Text)];
const TOUCH: &[&[MaestroParam]] = &[SELECTOR, &[("point", MaestroType::Text), ("repeat", MaestroType::Count)]];
const ELEMENT: LoneArgument = LoneArgument::Value("text", MaestroType::Text);
const OWN_APP: LoneArgument = LoneArgument::ValueOrNothing("appId", MaestroType::Text);

const ROWS: &[MaestroRow] = &[
    MaestroRow { name: "tapOn", lone: ELEMENT, params: TOUCH, read: |params| touch(params, Action::Tap) },
    MaestroRow { name: "doubleTapOn", lone: ELEMENT, params: TOUCH, read: |params| touch(params, Action::DoubleTap) },
    MaestroRow { name: "longPressOn", lone: ELEMENT, params: TOUCH, read: |params| touch(params, Action::LongPress) },
    MaestroRow {
        name: "inputText",
        lone: LoneArgument::Value("text", MaestroType::Text),
        params: &[&[("text", MaestroType::Text)]],
        read: |params| Ok(MaestroStep::Act(Action::InputText { text: params.required("text")? })),
    },
    MaestroRow {
        name: "eraseText",
        lone: LoneArgument::ValueOrNothing("charactersToErase", MaestroType::Count),
        params: &[&[("charactersToErase", MaestroType::CountOrNull)]],
        read: |params| Ok(MaestroStep::Act(Action::EraseText { count: params.count("charactersToErase")? })),
    },
    MaestroRow {
        name: "pasteText",
        lone: LoneArgument::Nothing,
        params: &[],
        read: |_| Ok(MaestroStep::Send(DeviceCommand::PasteClipboard)),
    },
    MaestroRow {
        name: "copyTextFrom",
        lone: ELEMENT,
        params: &[SELECTOR],
        read: |params| Ok(MaestroStep::CopyText(params.query()?)),
    },
    MaestroRow {
        name: "hideKeyboard",
        lone: LoneArgument::Nothing,
        params: &[],
        read: |_| Ok(MaestroStep::Act(Action::HideKeyboard)),
    },
    MaestroRow {
        name: "pressKey",
        lone: LoneArgument::Value("code", MaestroType::Text),
        params: &[&[("code", MaestroType::Text)]],
        read: |params| Ok(MaestroStep::Act(Action::PressKey { key: key(params)? })),
    },
    MaestroRow {
        name: "back",
        lone: LoneArgument::Nothing,
        params: &[],
        read: |_| Ok(MaestroStep::Act(Action::PressKey { key: Key::Back })),
    },
    MaestroRow {
        name: "assertVisible",
        lone: ELEMENT,
        params: &[SELECTOR],
        read: |params| Ok(MaestroStep::Expect { visible: Some(params.query()?), gone: None, timeout: None }),
    },
    MaestroRow {
        name: "assertNotVisible",
        lone: ELEMENT,
        params: &[SELECTOR],
        read: |params| Ok(MaestroStep::Expect { visible: None, gone: Some(params.query()?), timeout: None }),
    },
    MaestroRow {
        name: "extendedWaitUntil",
        lone: LoneArgument::Nothing,
        params: &[&[
            ("visible", MaestroType::Selector),
            ("notVisible", MaestroType::Selector),
            ("timeout", MaestroType::Count),
        ]],
        read: wait_until,
    },
    MaestroRow {
        name: "waitForAnimationToEnd",
        lone: LoneArgument::Nothing,
        params: &[&[("timeout", MaestroType::Count)]],
        read: |params| Ok(MaestroStep::Settle { timeout: params.millis("timeout", 15_000)? }),
    },
    MaestroRow {
        name: "scroll",
        lone: LoneArgument::Nothing,
        params: &[],
        read: |_| Ok(MaestroStep::Act(Action::Scroll { direction: Direction::Down, amount: None })),
    },
    MaestroRow {
        name: "scrollUntilVisible",
        lone: LoneArgument::Nothing,
        params: &[&[
            ("element", MaestroType::Selector),
            ("direction", MaestroType::Text),
            ("timeout", MaestroType::Count),
        ]],
        read: |params| {
            Ok(MaestroStep::ScrollTo {
                query: params.query_under("element")?.ok_or_else(|| params.lacks("`element`"))?,
                direction: params.direction(Direction::Down)?,
                timeout: params.millis("timeout", 20_000)?,
            })
        },
    },
    MaestroRow {
        name: "swipe",
        lone: LoneArgument::Nothing,
        params: &[&[
            ("start", MaestroType::Text),
            ("end", MaestroType::Text),
            ("direction", MaestroType::Text),
            ("from", MaestroType::Selector),
            ("duration", MaestroType::Count),
        ]],
        read: swipe,
    },
    MaestroRow {
        name: "launchApp",
        lone: OWN_APP,
        params: &[APP, &[("clearState", MaestroType::Flag), ("stopApp", MaestroType::Flag)]],
        read: launch,
    },
    MaestroRow {
        name: "stopApp",
        lone: OWN_APP,
        params: &[APP],
        read: |params| Ok(MaestroStep::Stop(params.text("appId"))),
    },
    MaestroRow {
        name: "killApp",
        lone: OWN_APP,
        params: &[APP],
        read: |params| Ok(MaestroStep::Stop(params.text("appId"))),
    },
    MaestroRow {
        name: "clearState",
        lone: OWN_APP,
        params: &[APP],
        read: |params| Ok(MaestroStep::Clear(params.text("appId"))),
    },
    MaestroRow {
        name: "openLink",
        lone: LoneArgument::Value("link", MaestroType::Text),
        params: &[&[("link", MaestroType::Text)]],
        read: |params| Ok(MaestroStep::Send(DeviceCommand::OpenUrl { url: params.required("link")? })),
    },
    MaestroRow {
        name: "takeScreenshot",
        lone: LoneArgument::ValueOrNothing("path", MaestroType::Text),
        params: &[&[("path", MaestroType::Text)]],
        read: |params| Ok(MaestroStep::Picture(params.text("path"))),
    },
];

impl MaestroRow {
    fn params(&self) -> impl Iterator<Item = &'static MaestroParam> {
        self.params.iter().copied().flatten().chain(COMMON)
    }
}

/// The JSON schema of a list of commands. Accepts no parameter that has no effect.
pub fn schema() -> Value {
    let mut commands = Map::new();
    for row in ROWS {
        let mut types = vec!["object"];
        match row.lone {
            LoneArgument::Value(_, ty) => types.push(single(ty)),
            LoneArgument::ValueOrNothing(_, ty) => types.extend([single(ty), "null"]),
            LoneArgument::Nothing => types.push("null"),
        }
        let schema = json!({"type": types, "properties": properties(row.params()), "additionalProperties": false});
        commands.insert(row.name.into(), schema);
    }
    json!({"type": "array", "items": {
        "type": ["object", "string"], "properties": commands, "additionalProperties": false,
    }})
}

fn single(ty: MaestroType) -> &'static str {
    match ty {
        MaestroType::Count | MaestroType::CountOrNull => "integer",
        MaestroType::Flag => "boolean",
        MaestroType::Text | MaestroType::Selector => "string",
    }
}

impl MaestroCommand {
    pub fn read(value: &Value) -> Result<MaestroCommand, Stop> {
        let (name, given) = match value {
            Value::String(name) => (name.as_str(), &Value::Null),
            Value::Object(map) if map.len() == 1 => {
                map.iter().next().map(|(name, given)| (name.as_str(), given)).unwrap_or(("", &Value::Null))
            }
            _ => return Err(invalid(format!("a command must be `name: {{parameters}}`, got {value}"))),
        };
        let Some(row) = ROWS.iter().find(|row| row.name == name) else {
            return Err(Stop::error(Variant::Unsupported, format!("the Maestro command `{name}` is not supported")));
        };
        let values = match (row.lone, given) {
            (_, Value::Object(map)) => map.clone(),
            (_, Value::Null) => Map::new(),
            (LoneArgument::Value(name, _) | LoneArgument::ValueOrNothing(name, _), lone) => {
                Map::from_iter([(name.to_string(), lone.clone())])
            }
            (LoneArgument::Nothing, other) => return Err(invalid(format!("`{name}` does not accept {other}"))),
        };
        let mut params = MaestroParams { command: row.name, values };
        let (label, is_optional) = (params.text("label"), params.flag("optional").unwrap_or(false));
        let step = (row.read)(&mut params)?;
        params.finish()?;
        Ok(MaestroCommand { name: row.name, label, is_optional, step })
    }
}

fn touch(params: &mut MaestroParams, action: Action) -> Result<MaestroStep, Stop> {
    let times = params.count("repeat")?.unwrap_or(1);
    if !(1..=100).contains(&times) {
        return Err(invalid(format!("`repeat` of `{}` must be between 1 and 100, got {times}", params.command)));
    }
    let on = match (params.own_query()?, params.text("point")) {
        (Some(query), None) => TouchSpot::Element(query),
        (None, Some(point)) => TouchSpot::Screen(point),
        (Some(query), Some(point)) => TouchSpot::Within(query, point),
        (None, None) => return Err(params.lacks("`text`, `id` or `point`")),
    };
    Ok(MaestroStep::Touch { on, action, times })
}

fn key(params: &mut MaestroParams) -> Result<Key, Stop> {
    let code = params.required("code")?;
    let names = || Key::NAMES.join(", ");
    Key::parse(&code).ok_or_else(|| invalid(format!("unknown key `{code}` for `pressKey`; use one of {}", names())))
}

fn wait_until(params: &mut MaestroParams) -> Result<MaestroStep, Stop> {
    let (visible, gone) = (params.query_under("visible")?, params.query_under("notVisible")?);
    if visible.is_none() && gone.is_none() {
        return Err(params.lacks("`visible` or `notVisible`"));
    }
    let timeout = params.has("timeout").then(|| params.millis("timeout", 0)).transpose()?;
    Ok(MaestroStep::Expect { visible, gone, timeout })
}

fn swipe(params: &mut MaestroParams) -> Result<MaestroStep, Stop> {
    let duration = params.millis("duration", 400)?;
    let stroke = match (params.text("start"), params.text("end")) {
        (Some(start), Some(end)) => Stroke::Points { start, end },
        (None, None) => match params.query_under("from")? {
            Some(query) => Stroke::Element(query, params.direction(Direction::Up)?),
            None => Stroke::Middle(params.direction(Direction::Up)?),
        },
        _ => return Err(params.lacks("both `start` and `end`, or a `direction`")),
    };
    Ok(MaestroStep::Swipe { stroke, duration })
}

fn launch(params: &mut MaestroParams) -> Result<MaestroStep, Stop> {
    let mode = match (params.flag("clearState"), params.flag("stopApp")) {
        (Some(true), Some(false)) => {
            return Err(invalid("`launchApp` cannot clear the state of an app that keeps running"));
        }
        (Some(true), _) => LaunchMode::Reinstall,
        (_, Some(false)) => LaunchMode::Resume,
        _ => LaunchMode::ForceRestart,
    };
    Ok(MaestroStep::Launch(params.text("appId"), mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value that a parameter takes.
    fn sample(name: &str, ty: MaestroType) -> Value {
        match (name, ty) {
            ("direction", _) => json!("LEFT"),
            ("code", _) => json!("Enter"),
            ("point" | "start" | "end", _) => json!("50%,50%"),
            (_, MaestroType::Text) => json!("x"),
            (_, MaestroType::Flag) => json!(true),
            (_, MaestroType::Count | MaestroType::CountOrNull) => json!(2),
            (_, MaestroType::Selector) => json!({"text": "x", "index": 1}),
        }
    }

    /// The other parameters that a command needs to be valid.
    fn needed(command: &str, param: &str) -> Value {
        match (command, param) {
            ("tapOn" | "doubleTapOn" | "longPressOn" | "copyTextFrom" | "assertVisible" | "assertNotVisible", _) => {
                json!({"id": "y"})
            }
            ("inputText", _) => json!({"text": "y"}),
            ("pressKey", _) => json!({"code": "Home"}),
            ("openLink", _) => json!({"link": "y"}),
            ("extendedWaitUntil", _) => json!({"notVisible": "y"}),
            ("scrollUntilVisible", _) => json!({"element": "y"}),
            ("swipe", "start") => json!({"end": "10%,10%"}),
            ("swipe", "end") => json!({"start": "10%,10%"}),
            _ => json!({}),
        }
    }

    #[test]
    fn every_parameter_that_a_command_takes_is_read() {
        for row in ROWS {
            for (name, ty) in row.params() {
                let mut given = needed(row.name, name);
                given[*name] = sample(name, *ty);
                let command = json!({row.name: given});
                assert!(
                    MaestroCommand::read(&command).is_ok(),
                    "{command}: {:?}",
                    MaestroCommand::read(&command).err()
                );
            }
        }
    }

    #[test]
    fn every_command_can_be_written_as_its_schema_allows() {
        for row in ROWS {
            match row.lone {
                LoneArgument::Value(name, ty) | LoneArgument::ValueOrNothing(name, ty) => {
                    assert!(row.params().any(|(param, _)| *param == name), "{}: {name}", row.name);
                    let command = json!({row.name: sample(name, ty)});
                    assert!(MaestroCommand::read(&command).is_ok(), "{command}");
                }
                LoneArgument::Nothing => {}
            }
            let is_sound = MaestroCommand::read(&json!(row.name)).is_ok();
            let needs_none = needed(row.name, "") == json!({});
            assert_eq!(is_sound, needs_none, "{}", row.name);
        }
    }

    #[test]
    fn parameters_without_effect_are_rejected() {
        for (command, expected) in [
            (
                json!({"swipe": {"start": "1,1", "end": "2,2", "direction": "UP"}}),
                "`direction` of `swipe` has no effect here",
            ),
            (json!({"tapOn": {"id": "y", "repeat": 101}}), "`repeat` of `tapOn` must be between 1 and 100, got 101"),
            (json!({"tapOn": {"text": "x", "below": "y"}}), "`below` of `tapOn` has no effect here"),
            (json!({"launchApp": {"clearState": true, "stopApp": false}}), "`launchApp` cannot clear the state"),
        ] {
            match MaestroCommand::read(&command) {
                Err(Stop::Failed(outcome)) => assert!(outcome.text.starts_with(expected), "{}", outcome.text),
                _ => panic!("{command} is taken"),
            }
        }
    }
}
