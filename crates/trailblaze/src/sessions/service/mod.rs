//! What clients ask of the process that keeps sessions open: typed requests, and the port that answers them. The command line, the
//! MCP server and the listener only know this port; the daemon implements it.

mod answer;
mod request;
#[rustfmt::skip]
pub mod studio;

pub use answer::{
    Answer, Checked, ClosedSession, DaemonStatus, DeviceInfo, Edited, Ran, ServiceError, SessionAccess, SessionInfo,
};
pub use request::{
    CheckRequest, ClientPlace, DevicesRequest, EditRequest, ExecuteRequest, OpenRequest, ReplayRequest, ReportRequest,
    Request, RunRequest, SessionChoice, ToolboxRequest,
};

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

/// Answers requests. Implementations must return soon after `cancel` is cancelled.
#[async_trait]
pub trait Service: Send + Sync {
    async fn request(
        &self,
        request: Request,
        progress: &dyn ProgressSink,
        cancel: &CancellationToken,
    ) -> Result<Answer, ServiceError>;
}

/// Receives a line for people each time that long work moves on.
pub trait ProgressSink: Send + Sync {
    fn say(&self, text: &str);
}

/// Discards progress.
pub struct NoProgress;

impl ProgressSink for NoProgress {
    fn say(&self, _: &str) {}
}
