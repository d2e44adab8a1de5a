//! The methods of the studio over Connect, with messages in JSON.

use std::sync::Arc;

use axum::Router;
use bytes::Bytes;
use connectrpc::codec::CodecFormat;
use connectrpc::dispatcher::{RequestStream, StreamingResult, UnaryResult};
use connectrpc::payload::Payload;
use connectrpc::{ConnectError, ConnectRpcService, Dispatcher, Limits, MethodDescriptor, RequestContext, Response};
use futures::StreamExt;
use tokio_util::sync::CancellationToken;
use trailblaze_protocol::exit::Exit;

use crate::sessions::service::ServiceError;
use crate::sessions::service::generated::{self as studio, CallError, Studio};

/// The routes of all methods.
pub fn routes<S: Clone + Send + Sync + 'static>(studio: Arc<dyn Studio>, message_bytes: usize) -> Router<S> {
    let limits = Limits::default().with_max_request_body_size(message_bytes).with_max_message_size(message_bytes);
    let service = ConnectRpcService::new(Methods(studio)).with_limits(limits);
    Router::new().route_service("/trailblaze.v1.TrailblazeStudio/{method}", service)
}

/// Passes requests on to the studio.
struct Methods(Arc<dyn Studio>);

impl Dispatcher for Methods {
    fn lookup(&self, path: &str) -> Option<MethodDescriptor> {
        let is_streaming = studio::is_streaming(path)?;
        Some(if is_streaming { MethodDescriptor::server_streaming() } else { MethodDescriptor::unary(false) })
    }

    fn call_unary(&self, path: &str, _: RequestContext, request: Payload, format: CodecFormat) -> UnaryResult {
        let (studio, path) = (Arc::clone(&self.0), path.to_string());
        Box::pin(async move {
            only_json(format)?;
            let request = request.encoded()?;
            // If the page goes away, what it asked for is cancelled.
            let cancel = CancellationToken::new();
            let _cancels = cancel.clone().drop_guard();
            let answered = studio::call(&*studio, &path, &request, &cancel).await.ok_or_else(|| missing(&path))?;
            Response::ok(Bytes::from(answered.map_err(error)?).into())
        })
    }

    fn call_server_streaming(
        &self,
        path: &str,
        _: RequestContext,
        request: Bytes,
        format: CodecFormat,
    ) -> StreamingResult {
        let (studio, path) = (Arc::clone(&self.0), path.to_string());
        Box::pin(async move {
            only_json(format)?;
            let updates = studio::follow(&*studio, &path, &request).await.ok_or_else(|| missing(&path))?;
            let updates = updates.map_err(error)?;
            let body = updates.map(|update| match update {
                Ok(message) => Ok(Bytes::from(message).into()),
                Err(failed) => Err(error(CallError::Service(failed))),
            });
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

fn only_json(format: CodecFormat) -> Result<(), ConnectError> {
    match format {
        CodecFormat::Json => Ok(()),
        _ => Err(ConnectError::unimplemented("the studio's methods take JSON")),
    }
}

fn missing(path: &str) -> ConnectError {
    ConnectError::unimplemented(format!("there is no method {path}"))
}

fn error(error: CallError) -> ConnectError {
    match error {
        CallError::Unreadable(error) => {
            ConnectError::invalid_argument(format!("not a message of this method: {error}"))
        }
        CallError::Service(ServiceError { message, hint, exit, is_no_session }) => {
            let text = hint.map_or_else(|| message.clone(), |hint| format!("{message}\n{hint}"));
            match exit {
                _ if is_no_session => ConnectError::not_found(text),
                Exit::Invalid => ConnectError::failed_precondition(text),
                Exit::Environment | Exit::Failed | Exit::Passed => ConnectError::unavailable(text),
                Exit::Bug => ConnectError::internal(text),
            }
        }
    }
}
