//! The messages that tools use to call back into Trailblaze, over `POST /scripting/callback`.
//!
//! Version 1 is frozen: an incompatible change becomes a new version next to it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version that this build speaks. The TypeScript package has the same number.
pub const VERSION: u64 = 1;

/// The path of the callback endpoint, below the base URL.
pub const PATH: &str = "/scripting/callback";

/// A request that a running tool sends.
#[derive(Debug, Clone, PartialEq)]
pub struct CallbackRequest {
    /// The session that the tool runs in. Empty if both ids were left out.
    pub session_id: String,
    /// The call that sends the request. It must be in flight. Empty if both ids were left out, which is allowed while only one
    /// tool is being called.
    pub invocation_id: String,
    pub action: CallbackAction,
}

/// What a request asks Trailblaze to do.
#[derive(Debug, Clone, PartialEq)]
pub enum CallbackAction {
    /// Call a tool. `arguments_json` is a JSON object, encoded as text.
    CallTool { tool_name: String, arguments_json: String },
}

/// Why a request could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRequest {
    #[error("the request must be a JSON object")]
    NoObject,
    #[error("version {0} of the callback is newer than this Trailblaze, which speaks {VERSION}; upgrade Trailblaze")]
    NewerVersion(u64),
    #[error("`version` must be a positive integer, got {0}")]
    NoVersion(Value),
    #[error("`{0}` is missing or not a string")]
    Missing(&'static str),
    #[error("`{missing}` is missing: a callback names its session and its call, or neither")]
    OneId { missing: &'static str },
    #[error("unknown action `{0}`; this Trailblaze supports `call_tool`")]
    UnknownAction(String),
}

impl CallbackRequest {
    /// Reads a request. Checks the version first: a newer version may have a different shape.
    pub fn read(mut value: Value) -> Result<CallbackRequest, BadRequest> {
        let object = value.as_object_mut().ok_or(BadRequest::NoObject)?;
        match object.get("version").map(|version| version.as_u64().ok_or(version)) {
            None | Some(Ok(VERSION)) => {}
            Some(Ok(newer @ 1..)) => return Err(BadRequest::NewerVersion(newer)),
            Some(Ok(0)) => return Err(BadRequest::NoVersion(0.into())),
            Some(Err(other)) => return Err(BadRequest::NoVersion(other.clone())),
        }
        let session_id = take_id(object.get_mut("session_id"), "session_id")?;
        let invocation_id = take_id(object.get_mut("invocation_id"), "invocation_id")?;
        match (session_id.is_empty(), invocation_id.is_empty()) {
            (true, false) => return Err(BadRequest::OneId { missing: "session_id" }),
            (false, true) => return Err(BadRequest::OneId { missing: "invocation_id" }),
            (true, true) | (false, false) => {}
        }
        let mut action = object.get_mut("action");
        let mut of_action = |key: &str, name| take_text(action.as_mut().and_then(|action| action.get_mut(key)), name);
        let kind = of_action("type", "action.type")?;
        if kind != "call_tool" {
            return Err(BadRequest::UnknownAction(kind));
        }
        let tool_name = of_action("tool_name", "action.tool_name")?;
        let arguments_json = of_action("arguments_json", "action.arguments_json")?;
        Ok(CallbackRequest {
            session_id,
            invocation_id,
            action: CallbackAction::CallTool { tool_name, arguments_json },
        })
    }
}

/// The same for an id, which may be left out.
fn take_id(found: Option<&mut Value>, name: &'static str) -> Result<String, BadRequest> {
    match found {
        None | Some(Value::Null) => Ok(String::new()),
        found => take_text(found, name),
    }
}

/// Moves a string out of the value that holds it.
fn take_text(found: Option<&mut Value>, name: &'static str) -> Result<String, BadRequest> {
    match found.map(Value::take) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(BadRequest::Missing(name)),
    }
}

/// The response to a [`CallbackRequest`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallbackResponse {
    pub result: CallbackResult,
}

/// The result of a [`CallbackRequest`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum CallbackResult {
    /// The tool was called. `error_message` is empty if it succeeded.
    CallToolResult { success: bool, text_content: String, error_message: String },
    /// No tool was called: the request was refused.
    Error { message: String },
}

impl CallbackResponse {
    pub fn error(message: impl Into<String>) -> CallbackResponse {
        CallbackResponse { result: CallbackResult::Error { message: message.into() } }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(request: Value, expected: Result<&str, &str>) {
        let read = CallbackRequest::read(request.clone());
        let read = match &read {
            Ok(CallbackRequest { action: CallbackAction::CallTool { tool_name, .. }, .. }) => Ok(tool_name.clone()),
            Err(error) => Err(error.to_string()),
        };
        let read = read.as_ref().map(String::as_str).map_err(String::as_str);
        assert_eq!(read, expected, "{request}");
    }

    #[test]
    fn the_version_of_a_request_is_checked_first() {
        let action = json!({"type": "call_tool", "tool_name": "tap", "arguments_json": "{}"});
        check(json!({"version": 1, "session_id": "s", "invocation_id": "c", "action": action}), Ok("tap"));
        check(json!({"session_id": "s", "invocation_id": "c", "action": action}), Ok("tap"));
        let newer = "version 2 of the callback is newer than this Trailblaze, which speaks 1; upgrade Trailblaze";
        check(json!({"version": 2, "nothing": "else"}), Err(newer));
        for (version, shown) in [(json!(-1), "-1"), (json!(0), "0"), (json!(1.5), "1.5"), (json!("1"), "\"1\"")] {
            let none = format!("`version` must be a positive integer, got {shown}");
            check(json!({"version": version, "nothing": "else"}), Err(&none));
        }
        check(json!([]), Err("the request must be a JSON object"));
        check(json!({"session_id": 5}), Err("`session_id` is missing or not a string"));
        for (given, missing) in [("session_id", "invocation_id"), ("invocation_id", "session_id")] {
            let one = format!("`{missing}` is missing: a callback names its session and its call, or neither");
            check(json!({given: "x", "action": action}), Err(&one));
            check(json!({given: "x", missing: "", "action": action}), Err(&one));
        }
        check(json!({"action": action}), Ok("tap"));
        let action = json!({"type": "fly"});
        let unknown = "unknown action `fly`; this Trailblaze supports `call_tool`";
        check(json!({"session_id": "s", "invocation_id": "c", "action": action}), Err(unknown));
    }

    #[test]
    fn responses_have_the_shape_of_version_one() {
        let result =
            CallbackResult::CallToolResult { success: true, text_content: "ok".into(), error_message: String::new() };
        let expected =
            json!({"result": {"type": "call_tool_result", "success": true, "textContent": "ok", "errorMessage": ""}});
        assert_eq!(serde_json::to_value(CallbackResponse { result }).unwrap(), expected);
        let expected = json!({"result": {"type": "error", "message": "no"}});
        assert_eq!(serde_json::to_value(CallbackResponse::error("no")).unwrap(), expected);
    }
}
