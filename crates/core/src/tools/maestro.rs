//! The `maestro` tool: Maestro commands, carried out by our own actions.

use serde_json::{Map, Value, json};
use trailblaze_protocol::outcome::{Outcome, Variant};

use super::row::{Row, Ty, required};
use crate::cx::Cx;
use crate::driver::{Action, Key};
use crate::fault::Stop;
use crate::tool::Args;

pub const ROWS: &[Row] = &[Row::action(
    "maestro",
    "Run Maestro commands.",
    &[required("commands", Ty::Commands, "Each `name: {parameters}`, or a lone name.")],
    |cx, args| Box::pin(maestro(cx, args)),
)
.hidden()];

const NUMBER_OR_NULL: &str = "charactersToErase";

/// The commands that are carried out, with the types of their parameters.
pub fn schema() -> Value {
    let command = json!({
        "eraseText": {"type": ["object", "null"], "properties": {NUMBER_OR_NULL: {"type": ["integer", "null"]}}},
        "inputText": {"type": ["object", "string"], "properties": {"text": {"type": "string"}}},
        "pressKey": {"type": ["object", "string"], "properties": {"code": {"type": "string"}}},
    });
    json!({"type": "array", "items": {"type": ["object", "string"], "properties": command}})
}

async fn maestro(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let commands = args.value("commands").and_then(Value::as_array).cloned().unwrap_or_default();
    for command in &commands {
        let (name, params) = split(command)?;
        let action = action(name, &params)?;
        super::commands::act(cx, &action).await?;
    }
    let plural = if commands.len() == 1 { "" } else { "s" };
    Ok(Outcome::success(format!("{} command{plural}", commands.len())))
}

fn split(command: &Value) -> Result<(&str, Map<String, Value>), Stop> {
    let invalid =
        || Stop::error(Variant::MaestroValidationError, format!("a command is `name: {{parameters}}`, not {command}"));
    match command {
        Value::String(name) => Ok((name, Map::new())),
        Value::Object(map) if map.len() == 1 => {
            let (name, params) = map.iter().next().ok_or_else(invalid)?;
            match params {
                Value::Object(params) => Ok((name, params.clone())),
                Value::Null => Ok((name, Map::new())),
                single => Ok((name, [(String::new(), single.clone())].into_iter().collect())),
            }
        }
        _ => Err(invalid()),
    }
}

fn action(name: &str, params: &Map<String, Value>) -> Result<Action, Stop> {
    let invalid = |text: String| Stop::error(Variant::MaestroValidationError, text);
    let text = |key: &str| params.get(key).or(params.get("")).and_then(Value::as_str);
    match name {
        "eraseText" => {
            let count = params.get(NUMBER_OR_NULL).or(params.get(""));
            let count = match count.filter(|count| !count.is_null()) {
                None => None,
                Some(count) => {
                    Some(count.as_u64().and_then(|count| u32::try_from(count).ok()).ok_or_else(|| {
                        invalid(format!("`eraseText` takes a whole number of characters, not {count}"))
                    })?)
                }
            };
            Ok(Action::EraseText { count })
        }
        "inputText" => {
            let text = text("text").ok_or_else(|| invalid("`inputText` needs a text".to_string()))?;
            Ok(Action::InputText { text: text.to_string() })
        }
        "pressKey" => {
            let code = text("code").unwrap_or_default();
            let key = Key::parse(code).ok_or_else(|| invalid(format!("`pressKey` knows no key `{code}`")))?;
            Ok(Action::PressKey { key })
        }
        "back" => Ok(Action::PressKey { key: Key::Back }),
        "hideKeyboard" => Ok(Action::HideKeyboard),
        other => Err(Stop::error(Variant::Unsupported, format!("the Maestro command `{other}` is unsupported"))),
    }
}
