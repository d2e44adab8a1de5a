//! The port to tools that live elsewhere: a tool server, an embedded engine, a team's own code.

use async_trait::async_trait;
use serde_json::{Map, Value};
use trailblaze_protocol::outcome::Outcome;

use crate::cx::Cx;
use crate::driver::Description;
use crate::registry::Registry;
use crate::tool::Tool;

/// A source of tools.
///
/// `start` and `stop` are called once each; `list` after `start`, and again when `changes` answers. Calls may run
/// side by side. A source that dies says so in every later answer.
#[async_trait]
pub trait ToolSource: Send + Sync {
    fn name(&self) -> &str;

    async fn start(&self, device: &Description) -> Result<(), SourceError>;

    async fn list(&self) -> Result<Vec<Tool>, SourceError>;

    /// Carries out one call. `cx` is the context to call back with; it says how long the call may take.
    async fn call(&self, cx: &Cx, tool: &str, args: &Map<String, Value>) -> Result<Outcome, SourceError>;

    /// Returns when the tools may have changed; never, if they cannot.
    async fn changes(&self) {
        std::future::pending().await
    }

    async fn stop(&self) {}
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SourceError {
    #[error("`{source_name}` did not start: {evidence}")]
    NotStarted { source_name: String, evidence: String },
    #[error("`{source_name}` died: {evidence}")]
    Died { source_name: String, evidence: String },
}

/// The port to where tools are kept: files, and the servers that are running.
pub trait Shelf: Send + Sync {
    /// The session's tools as they are now, or what is wrong with them.
    fn registry(&self, generation: u64) -> Result<Registry, String>;
}
