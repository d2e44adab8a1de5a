//! The codes of errors. A tool that failed is a result, not an error.

use connectrpc::{ConnectError, ErrorCode};
use trailblaze_core::engine::invocations::Refused;
use trailblaze_toolhost::typed::{RpcCode, TypedError};

use crate::api::caller::NoCaller;

/// The error of a request that belongs to nothing.
pub fn no_caller(error: NoCaller) -> ConnectError {
    let text = error.to_string();
    match error {
        NoCaller::Refused(Refused::Unknown(_)) => ConnectError::not_found(text),
        NoCaller::UnknownKey => ConnectError::unauthenticated(text),
        NoCaller::Refused(_) | NoCaller::OtherSession(_) | NoCaller::OtherDevice(_) | NoCaller::OtherUser => {
            ConnectError::permission_denied(text)
        }
        NoCaller::NoChain(_) | NoCaller::NoSession | NoCaller::SeveralSessions { .. } | NoCaller::NotAdmitted => {
            ConnectError::failed_precondition(text)
        }
    }
}

/// The error of a method that could not be carried out.
pub fn of_method(error: TypedError) -> ConnectError {
    let code = match error.code {
        RpcCode::Canceled => ErrorCode::Canceled,
        RpcCode::InvalidArgument => ErrorCode::InvalidArgument,
        RpcCode::FailedPrecondition => ErrorCode::FailedPrecondition,
        RpcCode::Unimplemented => ErrorCode::Unimplemented,
        RpcCode::Internal => ErrorCode::Internal,
        RpcCode::Unavailable => ErrorCode::Unavailable,
    };
    ConnectError::new(code, error.message)
}
