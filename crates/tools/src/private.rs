//! What `#[toolset]` writes, and what calls toolsets, uses this module. Nothing else should.

use schemars::JsonSchema as DerivedSchema;
use serde::de::DeserializeOwned;

use crate::ToolError;
pub use crate::output::IntoOutput;
pub use crate::place::{LateReport, WatchedCall, add_source_root, from_project};
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

/// The answer of a tool that the toolset does not have.
pub fn unknown<'a>(name: &str) -> Answer<'a> {
    let error = ToolError::failed(format!("unknown tool `{name}`"));
    Box::pin(async move { Err(error) })
}
