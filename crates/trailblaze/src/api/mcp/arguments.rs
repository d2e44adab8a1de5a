//! The arguments of the tools. `tools` has their schemas.

use std::path::PathBuf;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::answer::McpCallError;

/// Reads the arguments of a tool. What is wrong with them is told to the model.
pub fn read<T: DeserializeOwned>(tool: &str, args: Map<String, Value>) -> Result<T, McpCallError> {
    serde_json::from_value(Value::Object(args)).map_err(|error| {
        McpCallError::Failed(format!("wrong arguments of `{tool}`: {}", without_texts(&error.to_string())))
    })
}

/// A message without the texts that were passed: one of them may be a password, and it is not known of which session.
fn without_texts(error: &str) -> String {
    match error.split_once(": string \"") {
        Some((before, rest)) => {
            let after = rest.rsplit_once("\", expected ").map_or("", |(_, expected)| expected);
            format!("{before}: a string, expected {after}")
        }
        None => error.to_string(),
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct DevicesArgs {
    pub session: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct McpSessionArgs {
    pub action: SessionAction,
    pub session: Option<String>,
    pub device: Option<String>,
    pub target: Option<String>,
    pub project: Option<PathBuf>,
    pub url: Option<String>,
    #[serde(default)]
    pub secrets: Vec<String>,
    #[serde(default)]
    pub headed: bool,
    #[serde(default)]
    pub take_over: bool,
    pub from: Option<usize>,
    pub to: Option<usize>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SessionAction {
    Open,
    List,
    Close,
    Steps,
    Undo,
    Replay,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct McpSnapshotArgs {
    pub find: Option<String>,
    pub within: Option<String>,
    pub depth: Option<usize>,
    pub since: Option<u64>,
    #[serde(default)]
    pub offscreen: bool,
    pub session: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ActArgs {
    pub calls: Vec<McpToolCall>,
    pub step: Option<String>,
    pub verify: Option<String>,
    pub session: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpToolCall {
    pub tool: String,
    #[serde(default)]
    pub args: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WordsArgs {
    pub text: String,
    pub session: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TrailArgs {
    pub action: TrailAction,
    pub path: Option<PathBuf>,
    pub title: Option<String>,
    pub merge: Option<MergeWord>,
    pub from: Option<usize>,
    pub to: Option<usize>,
    pub text: Option<String>,
    pub old: Option<String>,
    pub new: Option<String>,
    pub device: Option<String>,
    #[serde(default)]
    pub record: bool,
    pub session: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TrailAction {
    List,
    Read,
    Save,
    Run,
    Check,
    Edit,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MergeWord {
    Append,
    Replace,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpToolboxArgs {
    pub search: Option<String>,
    pub tool: Option<String>,
    pub session: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpReportArgs {
    pub run: Option<String>,
    pub session: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScreenshotArgs {
    #[serde(default)]
    pub marks: bool,
    pub session: Option<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_wrong_argument_is_not_repeated() {
        let args = json!({"calls": "hunter2\", expected secret"}).as_object().cloned().expect("an object");
        let Err(McpCallError::Failed(message)) = read::<ActArgs>("act", args) else { panic!("it is refused") };
        assert_eq!(message, "wrong arguments of `act`: invalid type: a string, expected a sequence");
    }
}
