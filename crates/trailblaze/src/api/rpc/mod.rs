//! The typed API over Connect, gRPC and gRPC-Web. The protocols are those of `connectrpc`; what a method is, and how its messages
//! are encoded, is in the table of the contract. Each request becomes a call of the engine.

mod error;
mod streams;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::{ConnectInfo, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::IntoResponse;
use bytes::Bytes;
use connectrpc::codec::CodecFormat;
use connectrpc::dispatcher::{RequestStream, StreamingResult, UnaryResult};
use connectrpc::payload::Payload;
use connectrpc::{
    ConnectError, ConnectRpcService, Dispatcher, EncodedBody, Limits, MethodDescriptor, RequestContext, Response,
};
use futures::StreamExt;
use futures::stream::{BoxStream, unfold};
use serde_json::{Map, Value, json};
use tokio::time::timeout_at;
use trailblaze_contract::{Method, SessionMethod, Target, codec};
use trailblaze_core::template::{Token, tokens};
use trailblaze_core::values::secret::Secrets;
use trailblaze_protocol::event::CallOrigin;
use trailblaze_toolhost::typed::{self, RpcCode, TypedError};

use super::body::{self, BodyError};
use super::caller::{Caller, Callers, Ids, place};

/// How many bytes the frames of the protocols add at most, and gzip to what it cannot compress.
const FRAME_BYTES: usize = 1024;

/// The header of a request that the code of a tool made and never awaited, so that its client did not send it. It is not carried
/// out, but fails the tool call that it belongs to: a test must not pass because of a forgotten `await`. Its value is the place of the
/// call in the author's code, or 1.
const NEVER_AWAITED: &str = "trailblaze-never-awaited";

/// The header with the accepted content types.
const ACCEPT_POST: &str = "accept-post";

/// The routes of all methods, whose messages have at most this many bytes.
pub fn routes<D: Dispatcher>(dispatcher: D, message_bytes: usize) -> Router {
    let body_bytes = message_bytes + FRAME_BYTES;
    let limits = Limits::default().with_max_request_body_size(body_bytes).with_max_message_size(message_bytes);
    let service = ConnectRpcService::new(dispatcher).with_limits(limits);
    let limited = axum::middleware::from_fn_with_state(message_bytes, whole_body);
    let explained = axum::middleware::from_fn(explain_content_type);
    Router::new().route_service("/{service}/{method}", service).layer(limited).layer(explained)
}

/// Says in the body which content types are accepted; `connectrpc` says it only in a header.
async fn explain_content_type(request: axum::extract::Request, next: Next) -> axum::response::Response {
    let got = request.headers().get(header::CONTENT_TYPE).cloned();
    let response = next.run(request).await;
    if response.status() != StatusCode::UNSUPPORTED_MEDIA_TYPE {
        return response;
    }
    let accepted = response.headers().get(ACCEPT_POST).and_then(|types| types.to_str().ok()).unwrap_or_default();
    let got = got.map_or("none".to_string(), |got| format!("`{}`", String::from_utf8_lossy(got.as_bytes())));
    let message = format!("the content type must be one of {accepted}; got {got}");
    let body = json!({"code": "unknown", "message": message});
    (response.status(), [(ACCEPT_POST, accepted.to_string())], axum::Json(body)).into_response()
}

/// Reads the whole body of a request before it is handled: every method takes a single message.
async fn whole_body(
    State(message_bytes): State<usize>,
    request: axum::extract::Request,
    next: Next,
) -> axum::response::Response {
    let (parts, body) = request.into_parts();
    let error = match body::read(body, message_bytes + FRAME_BYTES).await {
        Ok(bytes) => return next.run(axum::extract::Request::from_parts(parts, bytes.into())).await,
        Err(BodyError::TooLarge(_)) => ConnectError::resource_exhausted(BodyError::TooLarge(message_bytes).to_string()),
        Err(error @ BodyError::TooSlow) => ConnectError::deadline_exceeded(error.to_string()),
        Err(error @ BodyError::Broken) => ConnectError::invalid_argument(error.to_string()),
    };
    error.into_http_response(&parts.headers).into_response()
}

/// Passes requests on to the engine.
#[derive(Clone)]
pub struct Rpc(pub Callers);

/// A request that was read.
struct RpcRequest {
    method: &'static Method,
    fields: Map<String, Value>,
    caller: Caller,
    /// The id that the caller gave.
    invocation: String,
}

impl Rpc {
    fn read(
        &self,
        path: &str,
        cx: &RequestContext,
        bytes: &[u8],
        format: CodecFormat,
    ) -> Result<RpcRequest, ConnectError> {
        let method = trailblaze_contract::method(path)
            .ok_or_else(|| ConnectError::unimplemented(format!("there is no method {path}")))?;
        let read = match format {
            CodecFormat::Json => codec::from_json(method.request, bytes),
            _ => codec::from_binary(method.request, bytes),
        };
        let mut fields =
            read.map_err(|error| ConnectError::invalid_argument(self.0.invocations.redact(error.to_string())))?;
        let mut take = |name: &str| match fields.remove(name) {
            Some(Value::String(id)) => id,
            _ => String::new(),
        };
        let ids = Ids { invocation: take("invocationId"), session: take("sessionId"), device: take("deviceId") };
        let peer = cx.extensions().get::<ConnectInfo<SocketAddr>>();
        let peer = peer.map(|ConnectInfo(peer)| *peer).ok_or_else(|| ConnectError::internal("the peer is unknown"))?;
        let caller = self.0.find(&ids, method.name, cx.headers(), peer).map_err(error::no_caller)?;
        if cx.headers().contains_key(NEVER_AWAITED) {
            let mistake = format!("the tool called `{}` and never awaited it, so nothing was done", method.name);
            if caller.is_tool {
                let place = place(cx.headers(), NEVER_AWAITED).filter(|place| *place != "1");
                let place = place.map(|place| format!(" ({place})")).unwrap_or_default();
                caller.cx.report_mistake(format!("{mistake}; await every call{place}"));
            }
            return Err(ConnectError::failed_precondition(mistake));
        }
        Ok(RpcRequest { method, fields, caller, invocation: ids.invocation })
    }

    async fn answer(self, request: RpcRequest) -> Result<Map<String, Value>, ConnectError> {
        let RpcRequest { method, fields, caller, invocation } = request;
        if invocation.is_empty() && matches!(method.target, Target::Session(SessionMethod::AskModel)) {
            let text = "`invocation_id` is missing: AskModel always needs it";
            return Err(ConnectError::failed_precondition(text));
        }
        let secrets = &caller.cx.session.secrets;
        if let Some(secret) = fields.values().find_map(|value| secret_in(value, secrets)).filter(|_| caller.is_bare) {
            let text = format!(
                "`{secret}` is a secret, which needs the id of a tool call, or the key of the session: `Authorization: Bearer KEY`"
            );
            return Err(ConnectError::failed_precondition(text));
        }
        let origin = if caller.is_tool { CallOrigin::Callback } else { CallOrigin::Step };
        let answer = typed::call(&caller.cx, origin, method, fields).await;
        answer.map_err(|error| match self.0.ended(&caller.cx) {
            // If the calling tool has ended in the meantime, this call was cancelled with it.
            Some(ended) if error.code == RpcCode::Canceled => ConnectError::not_found(ended.to_string()),
            _ => error::of_method(error),
        })
    }
}

/// The template of a secret in an argument.
fn secret_in(value: &Value, secrets: &Secrets) -> Option<String> {
    match value {
        Value::String(text) => {
            let is_secret =
                |token: &Token<'_>| secrets.seal(token.path.strip_prefix("memory.").unwrap_or(token.path)).is_some();
            tokens(text).find(is_secret).map(|token| token.raw.to_string())
        }
        Value::Array(items) => items.iter().find_map(|item| secret_in(item, secrets)),
        Value::Object(map) => map.values().find_map(|value| secret_in(value, secrets)),
        _ => None,
    }
}

/// A stream that ends with an error at its deadline.
fn until<T: Send + 'static>(
    deadline: Option<Instant>,
    stream: BoxStream<'static, Result<T, ConnectError>>,
) -> BoxStream<'static, Result<T, ConnectError>> {
    let Some(deadline) = deadline else { return stream };
    let next = move |state: Option<BoxStream<'static, Result<T, ConnectError>>>| async move {
        let mut stream = state?;
        match timeout_at(deadline.into(), stream.next()).await {
            Ok(item) => item.map(|item| (item, Some(stream))),
            Err(_) => Some((Err(ConnectError::deadline_exceeded("the stream took too long")), None)),
        }
    };
    unfold(Some(stream), next).boxed()
}

fn encode(method: &Method, fields: &Map<String, Value>, format: CodecFormat) -> Result<EncodedBody, ConnectError> {
    let encoded = match format {
        CodecFormat::Json => codec::to_json(method.response, fields),
        _ => codec::to_binary(method.response, fields),
    };
    let encoded = encoded.map_err(|error| error::of_method(TypedError::bug(&error)))?;
    Ok(Bytes::from(encoded).into())
}

impl Dispatcher for Rpc {
    fn lookup(&self, path: &str) -> Option<MethodDescriptor> {
        let method = trailblaze_contract::method(path)?;
        Some(if method.is_streaming { MethodDescriptor::server_streaming() } else { MethodDescriptor::unary(false) })
    }

    fn call_unary(&self, path: &str, cx: RequestContext, request: Payload, format: CodecFormat) -> UnaryResult {
        let this = self.clone();
        let read = request.encoded().and_then(|bytes| this.read(path, &cx, &bytes, format));
        Box::pin(async move {
            let request = read?;
            let method = request.method;
            let answered = match cx.deadline() {
                Some(deadline) => match timeout_at(deadline.into(), this.answer(request)).await {
                    Ok(answered) => answered,
                    Err(_) => Err(ConnectError::deadline_exceeded(format!("{} took too long", method.name))),
                },
                None => this.answer(request).await,
            };
            Response::ok(encode(method, &answered?, format)?)
        })
    }

    fn call_server_streaming(
        &self,
        path: &str,
        cx: RequestContext,
        request: Bytes,
        format: CodecFormat,
    ) -> StreamingResult {
        let read = self.read(path, &cx, &request, format);
        let invocations = Arc::clone(&self.0.invocations);
        Box::pin(async move {
            let request = read?;
            let method = request.method;
            let messages = until(cx.deadline(), streams::follow(invocations, request)?);
            let body = messages.map(move |message| encode(method, &message?, format));
            Response::ok(body.boxed() as connectrpc::EncodedStream)
        })
    }

    fn call_client_streaming(&self, path: &str, _: RequestContext, _: RequestStream, _: CodecFormat) -> UnaryResult {
        let error = ConnectError::unimplemented(format!("{path} takes a single request"));
        Box::pin(async move { Err(error) })
    }

    fn call_bidi_streaming(&self, path: &str, _: RequestContext, _: RequestStream, _: CodecFormat) -> StreamingResult {
        let error = ConnectError::unimplemented(format!("{path} takes a single request"));
        Box::pin(async move { Err(error) })
    }
}
