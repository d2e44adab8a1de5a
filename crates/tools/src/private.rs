//! What `#[toolset]` writes, and what calls toolsets, uses this module. Nothing else should.

use schemars::JsonSchema as DerivedSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::ToolError;
pub use crate::output::IntoOutput;
pub use crate::place::{LateReport, WatchedCall, add_source_root, from_project};
use crate::strict_json;
pub use crate::toolset::Answer;
pub use schemars::{self, JsonSchema};
pub use serde::{self, Deserialize};
pub use serde_json::{Map, Value};

/// The schema of a tool's arguments.
pub fn schema<T: DerivedSchema>() -> Value {
    crate::schema::of::<T>()
}

/// Reads the arguments of a call. They match the schema if Trailblaze makes the call.
pub fn read<T: DeserializeOwned>(args: Map<String, Value>) -> Result<T, ToolError> {
    let read = serde_json::from_value(Value::Object(args));
    read.map_err(|error| ToolError::failed(format!("wrong arguments: {error}")))
}

/// A value of a `json!` literal.
///
/// # Panics
///
/// If JSON does not have it; the place is that of the caller.
#[track_caller]
pub fn json_value(value: &(impl Serialize + ?Sized)) -> Value {
    match strict_json::to_value(value) {
        Ok(value) => value,
        Err(why) => panic!("this value cannot be JSON: {why}"),
    }
}

/// The answer of a tool that the toolset does not have.
pub fn unknown<'a>(name: &str) -> Answer<'a> {
    let error = ToolError::failed(format!("unknown tool `{name}`"));
    Box::pin(async move { Err(error) })
}
