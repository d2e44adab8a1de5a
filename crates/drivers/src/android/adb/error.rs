//! Why a request to the adb server, or to a device behind it, failed.

use std::time::Duration;

use trailblaze_core::driver::{Budget, DriverError};

use super::address::AdbAddress;
use super::devices::AdbConnectionState;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AdbError {
    #[error("`{name}={value}` names no adb server; write {name}={example}")]
    Address { name: &'static str, value: String, example: &'static str },
    #[error(
        "no adb server runs at {address}, and there is no program `adb` on the PATH to start one; install Android's platform-tools"
    )]
    NoProgram { address: AdbAddress },
    #[error("the adb server at {address} cannot be reached: {why}")]
    NoServer { address: AdbAddress, why: String },
    #[error("`adb start-server` failed: {why}")]
    NotStarted { why: String },
    #[error("`{serial}` is not connected; connected: {}", list(.connected))]
    NotConnected { serial: String, connected: Vec<String> },
    #[error("`{serial}` is {state}; {}", .state.advice())]
    NotReady { serial: String, state: AdbConnectionState },
    /// The server, or the daemon on the device, refused a request.
    #[error("adb refused `{service}`: {reason}")]
    Refused { service: String, reason: String },
    /// The connection ended before the answer was complete.
    #[error("the connection to adb was closed while {doing}")]
    Closed { doing: String },
    /// What arrived is not the protocol of adb.
    #[error("adb sent what is not its protocol: {what}")]
    Protocol { what: String },
    #[error("{what} is larger than {limit} bytes")]
    TooLarge { what: String, limit: usize },
    #[error("{what} took too long")]
    TimedOut { what: String },
    #[error("cancelled")]
    Cancelled,
}

impl AdbError {
    /// The error of a device that could not be acquired.
    pub fn not_started(self) -> DriverError {
        match self {
            AdbError::TimedOut { .. } | AdbError::Cancelled => self.into(),
            error => DriverError::NotStarted { evidence: error.to_string() },
        }
    }

    /// Whether the device answers no more, rather than one of its commands.
    pub fn is_lost(&self) -> bool {
        matches!(
            self,
            AdbError::NoProgram { .. }
                | AdbError::NoServer { .. }
                | AdbError::NotStarted { .. }
                | AdbError::NotConnected { .. }
                | AdbError::NotReady { .. }
        )
    }
}

/// The error of a device in use.
impl From<AdbError> for DriverError {
    fn from(error: AdbError) -> DriverError {
        match error {
            AdbError::TimedOut { what } => DriverError::TimedOut { what },
            AdbError::Cancelled => DriverError::Cancelled,
            error if error.is_lost() => DriverError::Lost { evidence: error.to_string() },
            error => DriverError::Refused { reason: error.to_string() },
        }
    }
}

/// Waits for a request, but not past the budget.
pub(super) async fn within<T>(
    budget: &Budget,
    what: &str,
    work: impl Future<Output = Result<T, AdbError>>,
) -> Result<T, AdbError> {
    match budget.run(what, work).await {
        Ok(done) => done,
        Err(DriverError::Cancelled) => Err(AdbError::Cancelled),
        Err(_) => Err(AdbError::TimedOut { what: what.to_string() }),
    }
}

/// A budget that ends earlier than another.
pub(super) fn at_most(budget: &Budget, limit: Duration) -> Budget {
    let deadline = budget.deadline.min(tokio::time::Instant::now() + limit);
    Budget::new(deadline, budget.cancel.clone())
}

fn list(serials: &[String]) -> String {
    if serials.is_empty() { "nothing; plug it in, or run `adb connect`".to_string() } else { serials.join(", ") }
}
