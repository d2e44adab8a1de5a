//! The methods that are not commands: the session, its tools, its events and the devices.

use std::sync::Arc;

use connectrpc::ConnectError;
use futures::Stream;
use futures::stream::{BoxStream, unfold};
use serde_json::{Map, Value, json};
use trailblaze_contract::{SessionMethod, Target};
use trailblaze_core::engine::invocations::Invocations;
use trailblaze_core::engine::session::Session;
use trailblaze_core::engine::tool::Tool;
use trailblaze_core::record::feed::{Feed, Next};

use super::{Request, Rpc, answer};

type Message = Map<String, Value>;

pub async fn answer(
    rpc: &Rpc,
    method: SessionMethod,
    request: &Request,
    mut fields: Message,
) -> Result<Message, ConnectError> {
    let session = &request.caller.cx.session;
    match method {
        SessionMethod::GetSession => Ok(message(json!({"sessionId": session.id, "device": device(session)}))),
        SessionMethod::ListTools => {
            let registry = session.registry();
            Ok(message(json!({"tools": registry.tools().map(|tool| describe(tool)).collect::<Vec<_>>()})))
        }
        SessionMethod::CallTool => {
            let name = fields.get("name").and_then(Value::as_str).unwrap_or_default().to_string();
            if name.is_empty() {
                return Err(ConnectError::invalid_argument("`name` is missing"));
            }
            let args = fields.remove("args").map(message).unwrap_or_default();
            rpc.call(&request.caller, &name, args).await.map(answer::of_tool)
        }
        SessionMethod::ReloadTools => {
            let outcome = rpc.call(&request.caller, "reloadTools", Map::new()).await?;
            match outcome.structured {
                Some(Value::Object(changes)) if outcome.variant.is_success() => Ok(changes),
                _ => Err(ConnectError::failed_precondition(outcome.text)),
            }
        }
        SessionMethod::AskModel if request.invocation.is_empty() => {
            Err(ConnectError::failed_precondition("`invocation_id` is missing: AskModel always needs it"))
        }
        SessionMethod::AskModel => Err(ConnectError::failed_precondition("no model is configured")),
        SessionMethod::ListDevices => Ok(devices(&rpc.0.invocations)),
        SessionMethod::WatchEvents | SessionMethod::WatchDevices => {
            Err(ConnectError::unimplemented(format!("{} returns a stream", request.method.name)))
        }
    }
}

/// The messages of a method that returns a stream.
pub fn follow(
    invocations: Arc<Invocations>,
    request: Request,
) -> Result<BoxStream<'static, Result<Message, ConnectError>>, ConnectError> {
    let after = request.fields.get("after").and_then(Value::as_i64).unwrap_or(0);
    let after = i32::try_from(after).ok().filter(|after| *after >= 0);
    let after = after.ok_or_else(|| ConnectError::invalid_argument("`after` must not be negative"))?;
    match request.method.target {
        Target::Session(SessionMethod::WatchEvents) => {
            Ok(Box::pin(events(Arc::clone(request.caller.cx.session.feed()), after)))
        }
        Target::Session(SessionMethod::WatchDevices) => Ok(Box::pin(device_lists(invocations, after))),
        _ => Err(ConnectError::unimplemented(format!("{} does not return a stream", request.method.name))),
    }
}

/// The events of a session after a number, until it ends. A reader that is too slow gets an error with its last number.
fn events(feed: Arc<Feed>, after: i32) -> impl Stream<Item = Result<Message, ConnectError>> {
    let last = feed.subscribe();
    unfold(Some((feed, last, after)), |state| async move {
        let (feed, mut last, after) = state?;
        loop {
            match feed.next(after) {
                Ok(Next::Event(event)) => {
                    // An event is written as `{"type": {fields}}`.
                    let kind = event.json.split('"').nth(1).unwrap_or_default();
                    let fields = message(json!({"number": event.number, "type": kind, "json": &*event.json}));
                    return Some((Ok(fields), Some((feed, last, event.number))));
                }
                Ok(Next::Wait) => last.changed().await.ok()?,
                Ok(Next::End) => return None,
                Err(lagged) => return Some((Err(ConnectError::out_of_range(lagged.to_string())), None)),
            }
        }
    })
}

/// The list of devices, at once if it changed since the caller's, and then each time that it changes.
fn device_lists(invocations: Arc<Invocations>, after: i32) -> impl Stream<Item = Result<Message, ConnectError>> {
    let changes = invocations.changes();
    unfold((invocations, changes, after), |(invocations, mut changes, after)| async move {
        if *changes.borrow_and_update() <= after {
            changes.changed().await.ok()?;
        }
        let list = devices(&invocations);
        let number = list.get("number").and_then(Value::as_i64).and_then(|number| i32::try_from(number).ok());
        Some((Ok(list), (invocations, changes, number.unwrap_or(after))))
    })
}

fn devices(invocations: &Invocations) -> Message {
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

fn message(value: Value) -> Message {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
