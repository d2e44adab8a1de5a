//! Requests to send.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_core::driver::Budget;
use trailblaze_core::model::{
    Arguments, Message, OfferedTool, Part, Picture, Reply, Request, RequestedCall, ToolResult,
};

/// Enough for anything that is not expected to end by the budget.
pub fn budget() -> Budget {
    Budget::new(Instant::now() + Duration::from_secs(60), CancellationToken::new())
}

pub fn tool(name: &str) -> OfferedTool {
    let parameters = json!({"type": "object", "properties": {"ref": {"type": "string"}}, "required": ["ref"]});
    OfferedTool { name: name.to_string(), description: format!("The tool {name}."), parameters }
}

pub fn with_tools(request: Request, tools: impl IntoIterator<Item = OfferedTool>) -> Request {
    Request { tools: Arc::from_iter(tools), ..request }
}

/// A system prompt, one message, one tool.
pub fn plain() -> Request {
    with_tools(Request::new("Be brief.", vec![Message::user("Tap Pay.")]), [tool("tap")])
}

pub fn picture() -> Part {
    Part::Picture(Picture { media_type: "image/png".to_string(), bytes: Arc::from(&b"pixels"[..]) })
}

pub fn call(id: &str, name: &str, arguments: Value) -> RequestedCall {
    let arguments = Arguments::Object(arguments.as_object().expect("an object").clone());
    RequestedCall { id: id.to_string(), name: name.to_string(), arguments }
}

pub fn result(id: &str, name: &str, parts: Vec<Part>, is_error: bool) -> ToolResult {
    ToolResult { id: id.to_string(), name: name.to_string(), parts, is_error }
}

/// The plain request, continued by two calls: one failed, one returned a picture.
pub fn continued() -> Request {
    let mut request = with_tools(plain(), [tool("tap"), tool("look")]);
    let calls = vec![call("a1", "tap", json!({"ref": "e1"})), call("a2", "look", json!({}))];
    let failed = result("a1", "tap", vec![Part::Text("no such element".into())], true);
    let seen = result("a2", "look", vec![Part::Text("a form".into()), picture()], false);
    request.messages.push(Message::Assistant(Box::new(Reply { text: "I try.".into(), calls, ..Reply::default() })));
    request.messages.push(Message::Results(vec![failed, seen]));
    request.messages.push(Message::user("The screen: Pay"));
    request
}
