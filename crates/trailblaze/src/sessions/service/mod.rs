//! What clients ask of the process that keeps sessions open: typed requests, and the port that answers them. The command line, the
//! MCP server and the listener only know this port; the daemon implements it.

mod answer;
#[rustfmt::skip]
pub mod generated;
mod request;

pub use answer::{
    Checked, ClosedSession, DaemonStatus, DeviceInfo, Edited, Ran, ServiceAnswer, ServiceError, SessionAccess,
    SessionInfo, StudioAddress,
};
pub use request::{
    AllowedSecrets, CheckRequest, ClientPlace, DevicesRequest, EditRequest, ExecuteRequest, OpenRequest, ReplayRequest,
    ReportRequest, RunRequest, ServiceRequest, SessionChoice, StudioRequest, ToolboxRequest,
};

use std::path::PathBuf;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

/// Answers requests. Implementations must return soon after `cancel` is cancelled.
#[async_trait]
pub trait Service: Send + Sync {
    async fn request(
        &self,
        request: ServiceRequest,
        progress: &dyn ProgressSink,
        cancel: &CancellationToken,
    ) -> Result<ServiceAnswer, ServiceError>;
}

/// Decides who may use the studio.
pub trait Entrance: Send + Sync {
    /// Exchanges the key in a page's address for the value of a cookie. A key can be used once.
    fn enter(&self, key: &str) -> Option<String>;

    /// Whether this is the value of a cookie that was given out.
    fn admits(&self, cookie: &str) -> bool;

    /// A file of a run that the page may show.
    fn run_file(&self, workspace: &str, run: &str, file: &str) -> Option<PathBuf>;
}

/// Receives a line for people each time that long work moves on.
pub trait ProgressSink: Send + Sync {
    fn say(&self, text: &str);

    /// Receives what a tool says while it runs.
    fn tool_output(&self, _text: &str) {}

    /// Is told of lines of tools that came faster than they were passed on.
    fn tool_output_dropped(&self, _n_lines: usize) {}
}

/// Discards progress.
pub struct NoProgress;

impl ProgressSink for NoProgress {
    fn say(&self, _: &str) {}
}
