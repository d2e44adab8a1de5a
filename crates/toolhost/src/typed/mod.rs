//! The methods of the typed API as calls of the engine. Over the wire they are called through the process's listener; code that
//! runs in this process calls them here, without it.

mod answer;
mod session;

use serde_json::{Map, Value};
use trailblaze_contract::codec::{self, CodecError};
use trailblaze_contract::{Method, Target};
use trailblaze_core::callers::passwords;
use trailblaze_core::callers::sampling::SamplingError;
use trailblaze_core::engine::cx::Cx;
use trailblaze_core::engine::dispatch::{Arguments, Call, dispatch};
use trailblaze_core::engine::fault::Fault;
use trailblaze_protocol::event::CallOrigin;
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::outcome::Outcome;

pub use session::devices;

/// The fields of a message, as [`codec`] reads and writes them.
pub type Fields = Map<String, Value>;

/// Why a method could not be carried out. A tool that failed is an answer, not an error.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message} ({})", code.as_str())]
pub struct TypedError {
    pub code: RpcCode,
    pub message: String,
    /// What happened to the call, if one was made.
    pub fault: Option<Box<Fault>>,
}

/// The codes of Connect and gRPC that methods answer with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RpcCode {
    Canceled,
    InvalidArgument,
    FailedPrecondition,
    Unimplemented,
    Internal,
    Unavailable,
}

impl RpcCode {
    /// As it is sent.
    pub fn as_str(self) -> &'static str {
        match self {
            RpcCode::Canceled => "canceled",
            RpcCode::InvalidArgument => "invalid_argument",
            RpcCode::FailedPrecondition => "failed_precondition",
            RpcCode::Unimplemented => "unimplemented",
            RpcCode::Internal => "internal",
            RpcCode::Unavailable => "unavailable",
        }
    }
}

/// Carries out a method that returns one message. `fields` has no ids: `cx` says on whose behalf the method is called.
pub async fn call(cx: &Cx, origin: CallOrigin, method: &'static Method, fields: Fields) -> Result<Fields, TypedError> {
    match &method.target {
        Target::Command(command) => answer::of_command(method, call_tool(cx, origin, command.tool, fields).await?),
        Target::Session(session_method) => session::answer(cx, origin, method, *session_method, fields).await,
    }
}

/// Carries out a method by its path, `Service/Method` with or without its package, from and to JSON as clients write and read it.
/// Ids in the request are ignored.
pub async fn call_json(cx: &Cx, origin: CallOrigin, path: &str, request: Value) -> Result<Value, TypedError> {
    let method = trailblaze_contract::method(path)
        .or_else(|| trailblaze_contract::method(&format!("trailblaze.v1.{path}")))
        .ok_or_else(|| TypedError::new(RpcCode::Unimplemented, format!("there is no method {path}")))?;
    let mut fields = codec::from_value(method.request, request)?;
    for id in ["invocationId", "sessionId", "deviceId"] {
        fields.remove(id);
    }
    let answer = call(cx, origin, method, fields).await?;
    codec::to_value(method.response, &answer).map_err(|error| TypedError::bug(&error))
}

async fn call_tool(cx: &Cx, origin: CallOrigin, tool: &str, mut args: Fields) -> Result<Outcome, TypedError> {
    // The step of a program is saved as it is; what a tool does beneath its own call is not.
    let hidden = match (origin, cx.session.registry().get(tool)) {
        (CallOrigin::Step, Some(known)) => passwords::hide(cx, known, &mut args).await,
        _ => Vec::new(),
    };
    let mut outcome = dispatch(cx, Call::new(tool, Arguments::Json(args), origin)).await?;
    if !hidden.is_empty() && !outcome.is_error() {
        let separator = if outcome.text.is_empty() { "" } else { "\n" };
        outcome.text.push_str(&format!("{separator}warning: {}", passwords::warning(&hidden)));
    }
    Ok(outcome)
}

impl TypedError {
    fn new(code: RpcCode, message: impl Into<String>) -> TypedError {
        TypedError { code, message: message.into(), fault: None }
    }

    /// The error of an answer that cannot be written. What tools return is checked where it is made, so this is a mistake in a
    /// built-in tool.
    pub fn bug(error: &CodecError) -> TypedError {
        TypedError::new(RpcCode::Internal, format!("this is a bug in Trailblaze: {error}"))
    }
}

impl From<CodecError> for TypedError {
    fn from(error: CodecError) -> TypedError {
        TypedError::new(RpcCode::InvalidArgument, error.to_string())
    }
}

impl From<SamplingError> for TypedError {
    fn from(error: SamplingError) -> TypedError {
        match error {
            SamplingError::Ask(error) => {
                let is_environment = error.exit() == Exit::Environment;
                let error = TypedError::from(Fault::from(error));
                let is_unavailable = is_environment && error.code != RpcCode::Canceled;
                TypedError { code: if is_unavailable { RpcCode::Unavailable } else { error.code }, ..error }
            }
            SamplingError::TooLarge => TypedError::new(RpcCode::InvalidArgument, error.to_string()),
            SamplingError::NoScreen(_) => TypedError::new(RpcCode::Unavailable, error.to_string()),
            other => TypedError::new(RpcCode::FailedPrecondition, other.to_string()),
        }
    }
}

impl From<Fault> for TypedError {
    fn from(fault: Fault) -> TypedError {
        let code = match fault {
            Fault::UnknownTool { .. } => RpcCode::Unimplemented,
            Fault::BadArguments { .. } | Fault::BadFile(_) | Fault::BadTemplate { .. } => RpcCode::InvalidArgument,
            Fault::DeviceLost { .. }
            | Fault::DeviceNotStarted { .. }
            | Fault::DeviceSilent { .. }
            | Fault::Source(_) => RpcCode::Unavailable,
            Fault::Model { .. } => RpcCode::FailedPrecondition,
            Fault::Cancelled => RpcCode::Canceled,
            Fault::Bug { .. } => RpcCode::Internal,
        };
        TypedError { code, message: fault.to_string(), fault: Some(Box::new(fault)) }
    }
}
