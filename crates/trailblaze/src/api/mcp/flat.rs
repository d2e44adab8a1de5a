//! The tools of the project under their own names, for agents that should call them directly: `--tools flat`.

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value};

use super::answer::{McpCallError, McpCallResult};
use super::calls::{McpRequest, at};
use super::tools;
use crate::sessions::service::{ServiceAnswer, ServiceRequest, ToolboxRequest};

pub const INSTRUCTIONS: &str = r#"Trailblaze drives apps through their UI, in a browser or on a phone, and records what you do as a trail: a UI test that replays without a model.

`session` {"action":"open"} opens a device and shows the screen. `snapshot` shows the screen as text; elements have refs, as in [e7], which belong to the latest snapshot or answer. `trail` {"action":"save","path":"trails/checkout.trail.yaml"} saves what you did, and runs it. All other tools act on the device or check something, and answer with what changed on the screen."#;

/// Tools that are needed besides those of the project.
const OURS: [&str; 3] = ["session", "snapshot", "trail"];

/// The tools in the order of the list: ours, and those of the project by name.
pub async fn list(client: &McpRequest<'_>) -> Result<Vec<Tool>, McpCallError> {
    let ours = tools::standard().into_iter().filter(|tool| OURS.contains(&&*tool.name));
    let theirs = offered(client).await?;
    let mut listed: Vec<Tool> = ours.chain(theirs.iter().filter_map(tool)).collect();
    listed[OURS.len()..].sort_by(|one, other| one.name.cmp(&other.name));
    *client.server.offered.lock() = listed.iter().map(|tool| tool.name.to_string()).collect();
    Ok(listed)
}

/// The tools that models are offered.
async fn offered(client: &McpRequest<'_>) -> Result<Vec<Value>, McpCallError> {
    let mut catalog = catalog(client).await?;
    let tools = catalog.get_mut("tools").and_then(Value::as_array_mut).map(std::mem::take).unwrap_or_default();
    Ok(tools.into_iter().filter(|tool| tool["isOffered"] == true).collect())
}

/// All tools and groups, as the service lists them.
pub async fn catalog(client: &McpRequest<'_>) -> Result<Value, McpCallError> {
    let place = client.place(None).await?;
    let place = match &place.project {
        Some(project) => at(&place, project),
        None => place,
    };
    let request =
        ToolboxRequest { client: place, session: client.choice(None), has_schemas: true, ..ToolboxRequest::default() };
    match client.request(ServiceRequest::Toolbox(request)).await? {
        ServiceAnswer::Toolbox(listed) => Ok(listed.value),
        other => Err(McpCallError::unexpected(&other)),
    }
}

fn tool(entry: &Value) -> Option<Tool> {
    let name = entry["name"].as_str().filter(|name| !OURS.contains(name))?;
    let about = entry["description"].as_str().unwrap_or_default();
    let schema = entry["inputSchema"].as_object()?;
    let tool = Tool::new(name.to_string(), about.to_string(), Arc::new(schema.clone()));
    let only_reads = matches!(entry["kind"].as_str(), Some("query" | "assertion"));
    Some(if only_reads { tool.with_annotations(ToolAnnotations::new().read_only(true)) } else { tool })
}

pub async fn call(client: &McpRequest<'_>, name: &str, args: Map<String, Value>) -> McpCallResult {
    if OURS.contains(&name) {
        return client.call(name, args).await;
    }
    let is_offered = || client.server.offered.lock().iter().any(|known| known == name);
    if !is_offered() {
        list(client).await?;
    }
    if !is_offered() {
        let message = format!("unknown tool `{name}`");
        return Err(McpCallError::Broken(ErrorData::invalid_params(message, None)));
    }
    client.make(name, args).await
}
