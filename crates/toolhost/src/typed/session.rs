//! The methods that are not commands: the session, its tools and the devices.

use serde_json::{Map, Value, json};
use trailblaze_contract::{Method, SessionMethod};
use trailblaze_core::callers::sampling::{Sample, Sampled, sample};
use trailblaze_core::engine::cx::Cx;
use trailblaze_core::engine::invocations::Invocations;
use trailblaze_core::engine::session::Session;
use trailblaze_core::engine::tool::Tool;
use trailblaze_core::model::{ChatMessage, ModelRequest};
use trailblaze_protocol::event::CallOrigin;

use super::{Fields, RpcCode, TypedError, answer, call_tool};

pub async fn answer(
    cx: &Cx,
    origin: CallOrigin,
    method: &Method,
    session_method: SessionMethod,
    mut fields: Fields,
) -> Result<Fields, TypedError> {
    let session = &cx.session;
    match session_method {
        SessionMethod::GetSession => Ok(message(json!({"sessionId": session.id, "device": device(session)}))),
        SessionMethod::ListTools => {
            let registry = session.registry();
            Ok(message(json!({"tools": registry.tools().map(|tool| describe(tool)).collect::<Vec<_>>()})))
        }
        SessionMethod::CallTool => {
            let name = fields.get("name").and_then(Value::as_str).unwrap_or_default().to_string();
            if name.is_empty() {
                return Err(TypedError::new(RpcCode::InvalidArgument, "`name` is missing"));
            }
            let args = fields.remove("args").map(message).unwrap_or_default();
            call_tool(cx, origin, &name, args).await.map(answer::of_tool)
        }
        SessionMethod::ReloadTools => {
            let outcome = call_tool(cx, origin, "reloadTools", Map::new()).await?;
            match outcome.structured {
                Some(Value::Object(changes)) if outcome.variant.is_success() => Ok(changes),
                _ => Err(TypedError::new(RpcCode::FailedPrecondition, outcome.text)),
            }
        }
        SessionMethod::AskModel => ask_model(cx, &fields).await,
        SessionMethod::ListDevices => Ok(devices(&session.invocations)),
        SessionMethod::WatchEvents | SessionMethod::WatchDevices => {
            Err(TypedError::new(RpcCode::Unimplemented, format!("{} returns a stream", method.name)))
        }
    }
}

/// Asks the model, on behalf of the tool call that `cx` belongs to.
async fn ask_model(cx: &Cx, fields: &Fields) -> Result<Fields, TypedError> {
    let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
    if text("prompt").trim().is_empty() {
        return Err(TypedError::new(RpcCode::InvalidArgument, "`prompt` is missing"));
    }
    let max_output_tokens = match fields.get("maxTokens").and_then(Value::as_i64) {
        None => None,
        Some(most @ 1..) => u64::try_from(most).ok(),
        Some(_) => return Err(TypedError::new(RpcCode::InvalidArgument, "`maxTokens` must be at least 1")),
    };
    let messages = vec![ChatMessage::user(text("prompt"))];
    let request = ModelRequest { max_output_tokens, ..ModelRequest::new(text("system"), messages) };
    let has_screen = fields.get("screen").and_then(Value::as_bool).unwrap_or(false);
    let Sampled { text, model, .. } = sample(cx, Sample { request, has_screen }).await?;
    Ok(message(json!({"text": text, "model": model})))
}

/// The devices of all open sessions, as a message.
pub fn devices(invocations: &Invocations) -> Fields {
    // Read first: a change in between is then reported once more rather than never.
    let number = *invocations.changes().borrow();
    let mut sessions = invocations.sessions();
    sessions.sort_by(|a, b| a.device.description().id.cmp(&b.device.description().id));
    message(json!({"number": number, "devices": sessions.iter().map(|session| device(session)).collect::<Vec<_>>()}))
}

fn device(session: &Session) -> Value {
    let device = session.device.description();
    json!({
        "id": device.id, "platform": device.platform.name(), "driver": device.driver.as_str(),
        "width": device.size.width, "height": device.size.height,
    })
}

fn describe(tool: &Tool) -> Value {
    let platforms: Vec<&str> = tool.supported_platforms.iter().map(|platform| platform.name()).collect();
    json!({
        "name": tool.name, "description": tool.description, "inputSchema": tool.schema.json(),
        "metadata": {
            "platforms": platforms, "groups": tool.groups, "exposedToLlm": tool.is_for_llm,
            "isRecordable": tool.is_recordable, "isDelegating": tool.is_delegating,
        },
    })
}

fn message(value: Value) -> Fields {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
