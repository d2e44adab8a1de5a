//! The typed API over Connect, gRPC and gRPC-Web. The protocols are those of `connectrpc`; what a method is, and how its messages
//! are encoded, is in the table of the contract. Each request becomes a call of the engine.

mod answer;
mod error;
mod session;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, State};
use axum::middleware::Next;
use axum::response::IntoResponse;
use bytes::{Bytes, BytesMut};
use connectrpc::codec::CodecFormat;
use connectrpc::dispatcher::{RequestStream, StreamingResult, UnaryResult};
use connectrpc::payload::Payload;
use connectrpc::{
    ConnectError, ConnectRpcService, Dispatcher, EncodedBody, Limits, MethodDescriptor, RequestContext, Response,
};
use futures::StreamExt;
use futures::stream::{BoxStream, unfold};
use http_body_util::BodyExt;
use serde_json::{Map, Value};
use tokio::time::{timeout, timeout_at};
use trailblaze_contract::{Method, codec};
use trailblaze_core::engine::dispatch::{Arguments, Call, dispatch};
use trailblaze_core::engine::fault::Fault;
use trailblaze_core::engine::invocations::Invocations;
use trailblaze_protocol::event::CallOrigin;
use trailblaze_protocol::outcome::Outcome;

use super::caller::{self, Caller, Connection, Ids};

/// The largest request, in bytes, as it arrives and unpacked.
pub const REQUEST_BYTES: usize = 1 << 20;

/// How many bytes the frames of the protocols add at most, and gzip to what it cannot compress.
const FRAME_BYTES: usize = 1024;
/// How many bytes of a request are read that is too large.
const DROPPED_BYTES: usize = 64 << 20;
/// How long a request may take to arrive.
const BODY_TIME: Duration = Duration::from_secs(30);

/// The routes of all methods, whose requests have at most this many bytes.
pub fn routes<D: Dispatcher>(dispatcher: D, request_bytes: usize) -> Router {
    let body_bytes = request_bytes + FRAME_BYTES;
    let limits = Limits::default().with_max_request_body_size(body_bytes).with_max_message_size(request_bytes);
    let service = ConnectRpcService::new(dispatcher).with_limits(limits);
    let limited = axum::middleware::from_fn_with_state(body_bytes, whole_body);
    Router::new().route_service("/{service}/{method}", service).layer(limited)
}

/// Reads the whole body of a request before it is handled, with limits: every method takes a single message.
async fn whole_body(
    State(body_bytes): State<usize>,
    request: axum::extract::Request,
    next: Next,
) -> axum::response::Response {
    let (parts, body) = request.into_parts();
    let refuse = |error: ConnectError| error.into_http_response(&parts.headers).into_response();
    match timeout(BODY_TIME, read_whole(body, body_bytes)).await {
        Ok(Ok(bytes)) => next.run(axum::extract::Request::from_parts(parts, bytes.into())).await,
        Ok(Err(_)) => refuse(ConnectError::resource_exhausted(format!(
            "a request has at most {} bytes",
            body_bytes - FRAME_BYTES
        ))),
        Err(_) => {
            let text = format!("the request took longer than {} s to arrive", BODY_TIME.as_secs());
            refuse(ConnectError::deadline_exceeded(text))
        }
    }
}

/// A body that is too large, or that broke off.
struct NotWhole;

/// Reads a body up to a limit. The rest of a larger one is read too, up to a limit of its own, and dropped: a client that is still
/// sending does not read the answer.
async fn read_whole(mut body: Body, most: usize) -> Result<Bytes, NotWhole> {
    let (mut bytes, mut n_bytes) = (BytesMut::new(), 0);
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| NotWhole)?.into_data() else { continue };
        n_bytes += data.len();
        if n_bytes <= most {
            bytes.extend_from_slice(&data);
        } else if n_bytes > DROPPED_BYTES {
            break;
        }
    }
    if n_bytes <= most { Ok(bytes.freeze()) } else { Err(NotWhole) }
}

/// Passes requests on to the engine.
#[derive(Clone)]
pub struct Rpc {
    pub invocations: Arc<Invocations>,
    pub our_port: u16,
}

/// A request that was read.
struct Request {
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
    ) -> Result<Request, ConnectError> {
        let method = trailblaze_contract::method(path)
            .ok_or_else(|| ConnectError::unimplemented(format!("there is no method {path}")))?;
        let read = match format {
            CodecFormat::Json => codec::from_json(method.request, bytes),
            _ => codec::from_binary(method.request, bytes),
        };
        let mut fields = read.map_err(|error| ConnectError::invalid_argument(error.to_string()))?;
        let mut take = |name: &str| match fields.remove(name) {
            Some(Value::String(id)) => id,
            _ => String::new(),
        };
        let ids = Ids { invocation: take("invocationId"), session: take("sessionId"), device: take("deviceId") };
        let peer = cx.extensions().get::<ConnectInfo<SocketAddr>>();
        let peer = peer.map(|ConnectInfo(peer)| *peer).ok_or_else(|| ConnectError::internal("the peer is unknown"))?;
        let connection = Connection { peer, our_port: self.our_port };
        let caller = caller::find(&self.invocations, &ids, cx.headers(), connection).map_err(error::no_caller)?;
        Ok(Request { method, fields, caller, invocation: ids.invocation })
    }

    async fn answer(self, request: Request) -> Result<Map<String, Value>, ConnectError> {
        let Some(command) = &request.method.command else {
            return session::answer(&self, request).await;
        };
        let method = request.method;
        let outcome = self.call(&request, command.tool, request.fields.clone()).await?;
        answer::of_command(method, outcome)
    }

    /// Calls a tool on behalf of the caller.
    async fn call(&self, request: &Request, tool: &str, args: Map<String, Value>) -> Result<Outcome, ConnectError> {
        let Caller { cx, is_tool } = &request.caller;
        let origin = if *is_tool { CallOrigin::Callback } else { CallOrigin::Step };
        match dispatch(cx, Call::new(tool, Arguments::Json(args), origin)).await {
            Ok(outcome) => Ok(outcome),
            // If the calling tool has ended in the meantime, this call was cancelled with it.
            Err(Fault::Cancelled) if *is_tool && !self.is_in_flight(request) => {
                Err(ConnectError::not_found(error::unknown_invocation(cx)))
            }
            Err(fault) => Err(error::fault(&fault)),
        }
    }

    fn is_in_flight(&self, request: &Request) -> bool {
        request.caller.cx.call_id().is_some_and(|call| self.invocations.find(call, None, None).is_ok())
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
    // What tools return is checked where it is made, so this is a mistake in a built-in tool.
    let encoded = encoded.map_err(|error| ConnectError::internal(format!("this is a bug in Trailblaze: {error}")))?;
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
        let invocations = Arc::clone(&self.invocations);
        Box::pin(async move {
            let request = read?;
            let method = request.method;
            let messages = until(cx.deadline(), session::follow(invocations, request)?);
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
