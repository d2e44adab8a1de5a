//! A model's verdict about a statement, in a request of its own.

use std::sync::Arc;

use serde_json::{Value, json};
use trailblaze_protocol::event::ModelPurpose;

use crate::engine::ask::{AskError, ask};
use crate::engine::cx::Cx;
use crate::model::{ChatMessage, Choice, ContentPart, ModelReply, ModelRequest, OfferedTool, RequestedArguments};

/// What the model said.
pub enum Judgement {
    Given {
        holds: bool,
        reason: String,
    },
    /// It answered with something else.
    None(ModelReply),
}

/// Asks for a verdict.
pub async fn judge(cx: &Cx, system: &str, parts: Vec<ContentPart>) -> Result<Judgement, AskError> {
    let verdict = OfferedTool {
        name: "verdict".to_string(),
        description: "Give your judgement.".to_string(),
        parameters: json!({
            "type": "object",
            "properties": {"holds": {"type": "boolean"}, "reason": {"type": "string"}},
            "required": ["holds", "reason"],
        }),
    };
    let request = ModelRequest {
        tools: Arc::new([verdict]),
        choice: Choice::Required,
        ..ModelRequest::new(system, vec![ChatMessage::User(parts)])
    };
    let reply = ask(cx, ModelPurpose::Judgement, request).await?;
    let given = reply.calls.iter().find_map(|call| match &call.arguments {
        RequestedArguments::Object(args) => {
            Some((args.get("holds")?.as_bool()?, args.get("reason").and_then(Value::as_str)))
        }
        RequestedArguments::Malformed(_) => None,
    });
    Ok(match given {
        Some((holds, reason)) => Judgement::Given { holds, reason: reason.unwrap_or_default().to_string() },
        None => Judgement::None(reply),
    })
}
