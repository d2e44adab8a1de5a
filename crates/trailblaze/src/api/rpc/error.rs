//! The codes of errors. A tool that failed is a result, not an error.

use connectrpc::ConnectError;
use trailblaze_core::engine::fault::Fault;
use trailblaze_core::engine::invocations::Refused;

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
        NoCaller::NoChain(_) | NoCaller::NotAdmitted => ConnectError::failed_precondition(text),
    }
}

/// The error of a call that could not be carried out.
pub fn fault(fault: &Fault) -> ConnectError {
    let text = fault.to_string();
    match fault {
        Fault::UnknownTool { .. } => ConnectError::unimplemented(text),
        Fault::BadArguments { .. } | Fault::BadFile(_) | Fault::BadTemplate { .. } => {
            ConnectError::invalid_argument(text)
        }
        Fault::DeviceLost { .. } | Fault::DeviceNotStarted { .. } | Fault::DeviceSilent { .. } | Fault::Source(_) => {
            ConnectError::unavailable(text)
        }
        Fault::Cancelled => ConnectError::canceled(text),
        Fault::Bug { .. } => ConnectError::internal(text),
    }
}
