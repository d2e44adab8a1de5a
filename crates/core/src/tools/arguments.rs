//! Arguments that several tools have.

use std::time::Duration;

use serde_json::Value;

use super::row::{ParamRow, ParamType, optional};
use crate::engine::fault::Stop;
use crate::engine::tool::Args;
use crate::limits;
use crate::query::{ElementProperties, Query, QueryTarget, TextMatch};

/// How long a page may take to load. Drivers have their own defaults.
pub const LOAD_TIMEOUT: ParamRow = optional(
    "timeoutMs",
    ParamType::Integer,
    "How long the page may take to load, in milliseconds (default 15000 to respond, then 10000 to finish).",
);

/// The texts of a list; none if it is not given.
pub fn texts(args: &Args, name: &str) -> Vec<String> {
    let values = args.value(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    values.iter().filter_map(Value::as_str).map(str::to_string).collect()
}

/// The element that matches both, where given.
pub fn element(text: Option<&str>, id: Option<&str>) -> Query {
    let text = text.map(|text| TextMatch::Exact(text.to_string()));
    Query {
        what: QueryTarget::Element(ElementProperties {
            text,
            id: id.map(str::to_string),
            ..ElementProperties::default()
        }),
        index: None,
    }
}

/// The `timeoutMs` of a call.
pub fn timeout(args: &Args, otherwise: Duration) -> Duration {
    millis(args.integer("timeoutMs"), otherwise)
}

pub fn millis(given: Option<i64>, otherwise: Duration) -> Duration {
    let given = given.map(|millis| Duration::from_millis(u64::try_from(millis).unwrap_or(0)));
    given.unwrap_or(otherwise).min(limits::CALL_TOTAL)
}

/// How long an action waits for its element, given its `timeoutMs`.
pub fn wait(given: Option<i64>) -> Duration {
    millis(given, limits::FIND_WAIT)
}

/// A number that may not be negative.
pub fn count(name: &str, number: i64) -> Result<u64, Stop> {
    u64::try_from(number).map_err(|_| Stop::failed(format!("`{name}` must be a non-negative integer, got {number}")))
}

/// How long an action waits for its element.
pub fn find_wait(args: &Args) -> Duration {
    wait(args.integer("timeoutMs"))
}
