//! From the outcome of a tool to the message of its method, by the shape of the message.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use trailblaze_contract::Method;
use trailblaze_protocol::outcome::{Outcome, Variant};

use super::{Fields, RpcCode, TypedError};

/// The answer of a command: whether it succeeded, if its message says that; a value, if its message has one; otherwise what the
/// tool returned as data.
pub fn of_command(method: &Method, outcome: Outcome) -> Result<Fields, TypedError> {
    let has = |name: &str| method.response.fields.iter().any(|field| field.json == name);
    let mut fields = if has("success") { result(&outcome) } else { Map::new() };
    if outcome.is_error() {
        return match outcome.variant {
            _ if has("success") => Ok(fields),
            Variant::MissingRequiredArgs { .. } => Err(TypedError::new(RpcCode::InvalidArgument, outcome.text)),
            _ => Err(TypedError::new(RpcCode::FailedPrecondition, outcome.text)),
        };
    }
    let returned = match outcome.structured {
        value if has("value") => Map::from_iter([("value".to_string(), value.unwrap_or_default())]),
        Some(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    // Fields that the message does not have are left out when it is written.
    fields.extend(returned);
    if let (true, Some(picture)) = (has("picture"), outcome.attachments.first()) {
        fields.insert("picture".into(), json!({"mime": picture.mime, "data": STANDARD.encode(&picture.bytes)}));
    }
    Ok(fields)
}

/// The result of any tool.
pub fn of_tool(outcome: Outcome) -> Fields {
    let mut fields = result(&outcome);
    fields.extend(outcome.structured.map(|value| ("structured".to_string(), value)));
    fields
}

fn result(outcome: &Outcome) -> Fields {
    let variant = if outcome.is_error() { outcome.variant.name() } else { "" };
    let fields = json!({"success": !outcome.is_error(), "message": outcome.text, "variant": variant});
    fields.as_object().cloned().unwrap_or_default()
}
