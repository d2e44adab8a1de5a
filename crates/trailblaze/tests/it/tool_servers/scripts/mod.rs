//! Tools whose code is a script, in the embedded engine.

mod authoring;
mod files;
mod grants;
mod mistakes;
mod recording;

use crate::support::{Project, Ran};
use serde_json::Value;

/// The file of a tool without parameters whose script is this source.
pub fn tool(name: &str, source: &str) -> String {
    tool_within("60s", name, source)
}

/// Like [`tool`], with a limit to how long it may compute.
pub fn tool_within(limit: &str, name: &str, source: &str) -> String {
    let lines: String = source.lines().map(|line| format!("    {line}\n")).collect();
    format!("id: {name}\ndescription: A script.\nparameters: []\nscript:\n  timeout: {limit}\n  source: |\n{lines}")
}

/// The counter app with one tool.
pub fn with_tool(source: &str) -> Project {
    Project::counter().with("trailblaze-config/tools/tryIt.yaml", tool("tryIt", source))
}

/// Calls the tool once, in a session of its own.
pub fn call(project: &Project) -> Ran {
    project.run(&["tool", "tryIt", "-d", "android/sim-1"])
}

/// The message of the tool's failure.
pub fn failure(source: &str) -> String {
    failure_in(&with_tool(source))
}

/// The message of the failure of this project's tool.
pub fn failure_in(project: &Project) -> String {
    let ran = call(project).exits(1);
    let error = ran.stderr.lines().find_map(|line| line.strip_prefix("error: ")).unwrap_or_default();
    error.to_string()
}

/// What the tool returned, as data.
pub fn value(source: &str) -> Value {
    let project = with_tool(source);
    let ran = project.run(&["tool", "tryIt", "-d", "android/sim-1", "--json"]).exits(0);
    ran.json()
}
