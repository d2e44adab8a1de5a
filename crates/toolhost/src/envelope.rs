//! What rides along with every call: which device it is for, what is remembered, and where to call back.

use serde_json::{Map, Value, json};
use trailblaze_core::cx::Cx;

/// Whether a tool's arguments carry the context too, besides `_meta`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    /// Older tools read it from their arguments.
    ArgumentsAndMeta,
    /// Strict ones refuse an argument that they did not declare.
    Meta,
}

/// The name of the argument that carries the context.
pub const ARGUMENT: &str = "_trailblazeContext";

/// The parameters of `tools/call`.
pub fn call(cx: &Cx, tool: &str, args: &Map<String, Value>, carrier: Carrier, base_url: &str) -> Map<String, Value> {
    let description = cx.session.device.description();
    let memory = memory(cx);
    let platform = description.platform.name();
    let size = description.size;
    let driver = description.driver.to_string();
    let id = cx.call_id().map(ToString::to_string).unwrap_or_default();
    let mut arguments = args.clone();
    if carrier == Carrier::ArgumentsAndMeta {
        let context = json!({
            "memory": memory,
            "device": {
                "platform": platform.to_uppercase(), "widthPixels": size.width, "heightPixels": size.height,
                "driverType": driver,
            },
        });
        arguments.insert(ARGUMENT.to_string(), context);
    }
    let meta = json!({
        "trailblaze": {
            "baseUrl": base_url,
            "sessionId": cx.session.id,
            "invocationId": id,
            "device": {
                "id": description.id, "platform": platform, "widthPixels": size.width, "heightPixels": size.height,
                "driverType": driver,
            },
            "memory": memory,
            "capabilities": {"sampling": false},
        },
        "trailblazeInvocationId": id,
    });
    let mut params = Map::new();
    params.insert("name".to_string(), tool.into());
    params.insert("arguments".to_string(), arguments.into());
    params.insert("_meta".to_string(), meta);
    params
}

/// What is remembered, less what is secret.
fn memory(cx: &Cx) -> Map<String, Value> {
    let memory = cx.attempt.memory();
    let is_open = |value: &Value| {
        let mut redacted = value.clone();
        cx.session.secrets.redact_value(&mut redacted);
        redacted == *value
    };
    memory
        .values()
        .iter()
        .filter(|(_, value)| is_open(value))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}
