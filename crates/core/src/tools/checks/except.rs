//! Elements that a check leaves out.

use serde_json::{Value, json};
use trailblaze_protocol::outcome::Outcome;

use super::super::assertions::differs;
use super::target::CheckTarget;
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::engine::tool::Args;
use crate::query::{Checks, Find, Found, Query};
use crate::selector;

/// The schema of an element in a list.
pub fn element_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "text": {"type": "string"}, "id": {"type": "string"}, "ref": {"type": "string"},
            "nodeSelector": selector::json_schema(),
        },
        "minProperties": 1,
        "additionalProperties": false,
    })
}

/// The elements in a list of arguments.
pub fn exceptions(cx: &Cx, args: &Args, name: &str) -> Result<Vec<Query>, Stop> {
    let given = args.value(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let query = |element: &Value| {
        let args = Args(element.as_object().cloned().unwrap_or_default());
        match CheckTarget::of(cx, &args)? {
            CheckTarget::Stable(query) => Ok(query),
            CheckTarget::Ref(reference) => Err(Stop::failed(format!(
                "`{reference}` in `{name}` is only known now; describe the element, as in `button \"Pay\"`"
            ))),
        }
    };
    given.iter().map(query).collect()
}

/// All elements that match; the failure of the check if nothing matches one of them: it could be misspelled.
pub async fn find_each(cx: &Cx, queries: &[Query]) -> Result<Result<Vec<Found>, Box<Outcome>>, Stop> {
    let mut all = Vec::new();
    for query in queries {
        for index in 0.. {
            let nth = Query { index: Some(index), ..query.clone() };
            match cx.session.device.find(cx, &nth, Checks::Present).await? {
                Find::Found(found) => {
                    let is_last = index + 1 >= found.count;
                    all.push(found);
                    if is_last {
                        break;
                    }
                }
                Find::Not(_) if index > 0 => break,
                Find::Not(why) => return Ok(Err(differs(&format!("{query}, to leave it out"), &why.to_string()))),
            }
        }
    }
    Ok(Ok(all))
}
