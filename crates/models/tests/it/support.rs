//! Requests to send.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_core::driver::Budget;
use trailblaze_core::model::{
    ChatMessage, ContentPart, EncodedPicture, ModelReply, ModelRequest, OfferedTool, RequestedArguments, RequestedCall,
    RequestedCallResult,
};

/// Enough for anything that is not expected to end by the budget.
pub fn budget() -> Budget {
    Budget::new(Instant::now() + Duration::from_secs(60), CancellationToken::new())
}

pub fn tool(name: &str) -> OfferedTool {
    let parameters = json!({"type": "object", "properties": {"ref": {"type": "string"}}, "required": ["ref"]});
    OfferedTool { name: name.to_string(), description: format!("The tool {name}."), parameters }
}

pub fn with_tools(request: ModelRequest, tools: impl IntoIterator<Item = OfferedTool>) -> ModelRequest {
    ModelRequest { tools: Arc::from_iter(tools), ..request }
}

/// A system prompt, one message, one tool.
pub fn plain() -> ModelRequest {
    with_tools(ModelRequest::new("Be brief.", vec![ChatMessage::user("Tap Pay.")]), [tool("tap")])
}

pub fn picture() -> ContentPart {
    ContentPart::Picture(EncodedPicture { media_type: "image/png".to_string(), bytes: Arc::from(&b"pixels"[..]) })
}

pub fn call(id: &str, name: &str, arguments: Value) -> RequestedCall {
    let arguments = RequestedArguments::Object(arguments.as_object().expect("an object").clone());
    RequestedCall { id: id.to_string(), name: name.to_string(), arguments }
}

pub fn result(id: &str, name: &str, parts: Vec<ContentPart>, is_error: bool) -> RequestedCallResult {
    RequestedCallResult { id: id.to_string(), name: name.to_string(), parts, is_error }
}

/// The plain request, continued by two calls: one failed, one returned a picture.
pub fn continued() -> ModelRequest {
    let mut request = with_tools(plain(), [tool("tap"), tool("look")]);
    let calls = vec![call("a1", "tap", json!({"ref": "e1"})), call("a2", "look", json!({}))];
    let failed = result("a1", "tap", vec![ContentPart::Text("no such element".into())], true);
    let seen = result("a2", "look", vec![ContentPart::Text("a form".into()), picture()], false);
    request.messages.push(ChatMessage::Assistant(Box::new(ModelReply {
        text: "I try.".into(),
        calls,
        ..ModelReply::default()
    })));
    request.messages.push(ChatMessage::Results(vec![failed, seen]));
    request.messages.push(ChatMessage::user("The screen: Pay"));
    request
}
