//! The port to tools that live elsewhere: a tool server, an embedded engine, a team's own code.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value};
use trailblaze_protocol::outcome::Outcome;

use crate::engine::cx::Cx;
use crate::engine::registry::{Batch, Group, Registry};
use crate::engine::tool::{Contributor, Tool};

/// A source of tools.
///
/// `start` and `stop` are called once each; `list` after `start`, and again when `changes` answers. Calls may run
/// side by side. A source that dies says so in every later answer.
#[async_trait]
pub trait ToolSource: Send + Sync {
    fn name(&self) -> &str;

    /// Who is named as the one who brings its tools.
    fn contributor(&self) -> Contributor;

    async fn start(&self) -> Result<(), SourceError>;

    async fn list(&self) -> Result<Listing, SourceError>;

    /// Carries out one call. `cx` is the context to call back with; it says how long the call may take.
    async fn call(&self, cx: &Cx, tool: &str, args: &Map<String, Value>) -> Result<Outcome, SourceError>;

    /// How long one of its calls may be silent, where it is not the usual time.
    fn call_idle(&self) -> Option<Duration> {
        None
    }

    /// The secrets whose values it may have.
    fn secrets(&self) -> &[String] {
        &[]
    }

    /// Why it can carry out no more calls.
    fn death(&self) -> Option<SourceError> {
        None
    }

    /// Whether its death takes the session with it, since what its tools did may be half done. If not, only its own tools
    /// are gone.
    fn is_vital(&self) -> bool {
        true
    }

    /// How often its tools may have changed since it started.
    fn revision(&self) -> u64 {
        0
    }

    /// Returns when the tools may have changed since that revision; never, if they cannot.
    async fn changes(&self, _since: u64) {
        std::future::pending().await
    }

    async fn stop(&self) {}
}

/// What a source offers.
#[derive(Clone, Default)]
pub struct Listing {
    pub tools: Vec<Tool>,
    pub groups: BTreeMap<String, Group>,
    /// Tools that cannot be used, each with the reason.
    pub unusable: Vec<(String, String)>,
    /// What is odd about it, in sentences that name the tool.
    pub warnings: Vec<String>,
}

impl Listing {
    pub fn batch(self, contributor: Contributor) -> Batch {
        let Listing { tools, groups, unusable, warnings } = self;
        Batch { contributor, tools, groups, unusable, warnings }
    }
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SourceError {
    #[error("server `{source_name}` did not start: {evidence}")]
    NotStarted { source_name: String, evidence: String },
    #[error("server `{source_name}` did not list its tools: {evidence}")]
    NotListed { source_name: String, evidence: String },
    #[error("server `{source_name}` died: {evidence}")]
    Died { source_name: String, evidence: String },
    /// It may still be there.
    #[error("server `{source_name}` did not answer: {evidence}")]
    NotAnswered { source_name: String, evidence: String },
}

impl SourceError {
    /// What happened, without the server's name.
    pub fn evidence(&self) -> &str {
        match self {
            SourceError::NotStarted { evidence, .. }
            | SourceError::NotListed { evidence, .. }
            | SourceError::Died { evidence, .. }
            | SourceError::NotAnswered { evidence, .. } => evidence,
        }
    }
}

/// The port to where tools are kept: files, and the servers that are running.
#[async_trait]
pub trait Shelf: Send + Sync {
    /// The session's tools as they are now.
    async fn registry(&self, generation: u64) -> Result<Registry, ShelfError>;
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ShelfError {
    #[error("this session has no tools that could be read again")]
    Nothing,
    /// What is wrong with the files.
    #[error("{0}")]
    Files(String),
    #[error(transparent)]
    Source(#[from] SourceError),
}
