//! `POST /scripting/callback`: a running tool calls another tool, on its own device and in its own session.
//!
//! The checks, in order: peer, target, Host and Origin (in `guard`), content type, size, JSON, version, fields, invocation,
//! session, depth, tool, arguments. A request that passes is sent through `dispatch`, with its usual deadlines.

use std::net::SocketAddr;

use axum::Json;
use axum::extract::{self, ConnectInfo, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use serde_json::Value;
use trailblaze_core::engine::fault::Fault;
use trailblaze_core::foreign_json;
use trailblaze_core::limits;
use trailblaze_protocol::callback::{CallbackAction, CallbackRequest, CallbackResponse, CallbackResult};
use trailblaze_protocol::outcome::Outcome;

use super::body::{self, BodyError, MESSAGE_BYTES};
use super::caller::{Caller, Callers, Ids};

type Refused = (StatusCode, Json<CallbackResponse>);

pub async fn callback(
    State(callers): State<Callers>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: extract::Request,
) -> Result<Json<CallbackResponse>, Refused> {
    let (Parts { headers, .. }, body) = request.into_parts();
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("application/json") {
        let text = format!("the content type must be application/json, not `{kind}`");
        return Err(refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, &text));
    }
    let unread = |error: BodyError| {
        let status = match error {
            BodyError::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            BodyError::TooSlow => StatusCode::REQUEST_TIMEOUT,
            BodyError::Broken => StatusCode::BAD_REQUEST,
        };
        refuse(status, &error.to_string())
    };
    // If the declared length is too large, refuse before the body is sent.
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > MESSAGE_BYTES as u64) {
        return Err(unread(BodyError::TooLarge(MESSAGE_BYTES)));
    }
    let bytes = body::read(body, MESSAGE_BYTES).await.map_err(unread)?;
    let broken = |error| refuse(StatusCode::BAD_REQUEST, &format!("the request is not JSON: {error}"));
    let request = foreign_json::read::<Value>(&bytes).map_err(broken)?;
    let response = match CallbackRequest::read(request.value) {
        Ok(request) => answer(&callers, request, &headers, peer).await,
        Err(bad) => CallbackResponse::error(bad.to_string()),
    };
    Ok(Json(response))
}

/// The response to a request that was refused unread.
pub fn refuse(status: StatusCode, message: &str) -> Refused {
    (status, Json(CallbackResponse::error(message)))
}

async fn answer(
    callers: &Callers,
    request: CallbackRequest,
    headers: &HeaderMap,
    peer: SocketAddr,
) -> CallbackResponse {
    let ids = Ids { invocation: request.invocation_id, session: request.session_id, device: String::new() };
    let CallbackAction::CallTool { tool_name, arguments_json } = request.action;
    let cx = match callers.find_tool(&ids, &tool_name, headers, peer) {
        Ok(Caller { cx, .. }) => cx,
        Err(refused) => return CallbackResponse::error(refused.to_string()),
    };
    if cx.depth() >= limits::CALL_DEPTH {
        return CallbackResponse::error(format!(
            "`{tool_name}` was not called: calls nest deeper than {}",
            limits::CALL_DEPTH
        ));
    }
    let registry = cx.session.registry_with(&tool_name).await;
    let redacted = |text: String| CallbackResponse::error(cx.session.secrets.redact(&text));
    if registry.get(&tool_name).is_none() {
        return redacted(registry.explain_missing(&tool_name).to_string());
    }
    match foreign_json::read::<Value>(arguments_json.as_bytes()).map(|arguments| arguments.value) {
        Ok(Value::Object(args)) => match cx.call(&tool_name, args).await {
            // If the calling tool has ended in the meantime, this call was cancelled with it.
            Err(Fault::Cancelled) => match callers.ended(&cx) {
                Some(ended) => CallbackResponse::error(ended.to_string()),
                None => told(Err(Fault::Cancelled)),
            },
            answer => told(answer),
        },
        Ok(other) => redacted(format!("`arguments_json` of `{tool_name}` must be a JSON object, got {other}")),
        Err(error) => redacted(format!("`arguments_json` of `{tool_name}` is not JSON: {error}")),
    }
}

fn told(answer: Result<Outcome, Fault>) -> CallbackResponse {
    let (success, text_content, error_message) = match answer {
        Ok(outcome) if outcome.is_error() => (false, String::new(), outcome.text),
        Ok(outcome) => (true, outcome.text, String::new()),
        Err(fault @ (Fault::BadArguments { .. } | Fault::UnknownTool { .. })) => {
            return CallbackResponse::error(fault.to_string());
        }
        Err(fault) => (false, String::new(), fault.to_string()),
    };
    CallbackResponse { result: CallbackResult::CallToolResult { success, text_content, error_message } }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The scripting package waits slightly longer than this for a response.
    #[test]
    fn the_longest_call_is_what_the_contract_says() {
        let contract = include_str!("../../../../sdks/typescript/scripting/wire/callback-v1.json");
        let contract: Value = serde_json::from_str(contract).unwrap();
        assert_eq!(contract["longestCallMs"], limits::CALL_TOTAL.as_millis() as u64);
    }
}
