//! Memory: values that one call stores and a later call uses as `{{name}}`.

use serde_json::{Value, json};
use trailblaze_protocol::outcome::{MemoryChanges, Outcome};

use super::arguments::{element, find_wait};
use super::elements::visible;
use super::row::{ParamType, Row, TIMEOUT, optional, required};
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::engine::tool::Args;
use crate::query::Query;

pub const ROWS: &[Row] = &[Row::action(
    "rememberElementText",
    "Remember the text of an element for later steps.",
    &[
        required("variable", ParamType::Text, "The name to store it under."),
        optional("id", ParamType::Text, "The element's id."),
        optional("text", ParamType::Text, "The element's full text."),
        TIMEOUT,
    ],
    |cx, args| Box::pin(remember_element(cx, args)),
)];

pub fn remembering(variable: &str, value: &str) -> Outcome {
    let set = [(variable.to_string(), Value::from(value))].into_iter().collect();
    let memory = MemoryChanges { set, deleted: Vec::new() };
    Outcome { memory, ..Outcome::success(format!("{variable} = {value}")) }
}

pub fn forgetting(variable: &str) -> Outcome {
    let memory = MemoryChanges { deleted: vec![variable.to_string()], ..MemoryChanges::default() };
    Outcome { memory, ..Outcome::success(format!("forgot {variable}")) }
}

async fn remember_element(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let query = Query { index: Some(0), ..element(args.text("text"), args.text("id")) };
    let found = visible(cx, &query, find_wait(args)).await?;
    let text = found.text.ok_or_else(|| Stop::failed(format!("{query} has no text")))?;
    Ok(remembering(args.required("variable"), &text))
}

pub fn dump(cx: &Cx) -> Outcome {
    let values = Value::Object(cx.attempt.memory().values().clone());
    Outcome::value(values.to_string(), json!(values))
}
