//! The port to tools that run elsewhere, such as in a tool server or an embedded script engine.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value};
use trailblaze_protocol::outcome::Outcome;

use crate::engine::cx::Cx;
use crate::engine::registry::{Batch, Registry, ToolGroup};
use crate::engine::session::Session;
use crate::engine::tool::{Contributor, Tool};

/// A source of tools.
///
/// The engine calls `start` and `stop` once each, and `list` after `start` and again after `changes` returns. Calls may
/// run concurrently. Once a source has died, it must return the error from every later call.
#[async_trait]
pub trait ToolSource: Send + Sync {
    fn name(&self) -> &str;

    /// The contributor that its tools are attributed to.
    fn contributor(&self) -> Contributor;

    async fn start(&self) -> Result<(), SourceError>;

    async fn list(&self) -> Result<Listing, SourceError>;

    /// Carries out one call. `cx` is the context for callbacks; it also holds the deadline.
    async fn call(&self, cx: &Cx, tool: &str, args: &Map<String, Value>) -> Result<Outcome, SourceError>;

    /// How long a call may be silent before it times out; `None` for the default.
    fn call_idle(&self) -> Option<Duration> {
        None
    }

    /// The names of the secrets whose values the source may receive.
    fn secrets(&self) -> &[String] {
        &[]
    }

    /// Whether its tools may make requests to a model.
    fn may_sample(&self) -> bool {
        false
    }

    /// Returns once it is known whether the source can carry out calls, if that is in doubt. Must be bounded.
    async fn settled(&self) {}

    /// What is known about a call of this tool that timed out, once the source has settled.
    fn silence(&self, _tool: &str) -> Silence {
        Silence::Unknown
    }

    /// Why the source can no longer carry out calls; `None` while it is alive.
    fn death(&self) -> Option<SourceError> {
        None
    }

    /// Why it cannot carry out calls: it died, or it could not be started.
    fn unavailable(&self) -> Option<SourceError> {
        self.death()
    }

    /// Whether its death ends the session, because its tools may have been interrupted halfway. If not, only its own tools
    /// become unavailable.
    fn is_vital(&self) -> bool {
        true
    }

    /// Whether it is started only when it is needed, and was not needed yet, or could not be started.
    fn is_idle(&self) -> bool {
        false
    }

    /// Called when a session does not have a tool: a source whose tools are not known because it is idle starts now.
    async fn wake(&self) {}

    /// Counts how often its tools may have changed since it started.
    fn revision(&self) -> u64 {
        0
    }

    /// Returns once the tools may have changed since that revision; never returns if they cannot change.
    async fn changes(&self, _since: u64) {
        std::future::pending().await
    }

    async fn stop(&self) {}
}

/// Why a call was silent for too long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Silence {
    Unknown,
    /// The source responds, so that only the tool is silent. Its code was at these places, if it said so.
    Responds {
        places: Vec<String>,
    },
    /// The source did not respond to anything any more and was stopped. Its code was at these places, if it said so.
    Hung {
        places: Vec<String>,
    },
}

/// The tools that a source offers.
#[derive(Clone, Default)]
pub struct Listing {
    pub tools: Vec<Tool>,
    pub groups: BTreeMap<String, ToolGroup>,
    /// Tools that cannot be used, each with the reason.
    pub unusable: Vec<(String, String)>,
    /// Warnings, as sentences that name the tool.
    pub warnings: Vec<String>,
}

impl Listing {
    pub fn batch(self, contributor: Contributor) -> Batch {
        let Listing { tools, groups, unusable, warnings } = self;
        Batch { groups, unusable, warnings, ..Batch::new(contributor, tools) }
    }
}

/// Why a tool source could not do what it was asked to do.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SourceError {
    #[error("server `{source_name}` did not start: {evidence}")]
    NotStarted { source_name: String, evidence: String },
    #[error("server `{source_name}` did not list its tools: {evidence}")]
    NotListed { source_name: String, evidence: String },
    #[error("server `{source_name}` died: {evidence}")]
    Died { source_name: String, evidence: String },
    /// It may still be running.
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

/// The port that tools are reloaded from: tool files and running servers.
#[async_trait]
pub trait ToolReloader: Send + Sync {
    /// Builds a registry with the session's current tools.
    async fn registry(&self, generation: u64) -> Result<Registry, ReloadError>;

    /// Loads what changed since the session's tools were loaded, and waits for it, if the session follows changes or
    /// `is_asked`. Fails if the tool files that changed cannot be used, or if `is_asked` and a changed source does not start.
    async fn refresh(&self, _session: &Session, _is_asked: bool) -> Result<(), ReloadError> {
        Ok(())
    }
}

/// Why tools could not be reloaded.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ReloadError {
    #[error("this session has no tools to reload")]
    Nothing,
    /// The problems of the tool files.
    #[error("{0}")]
    Files(String),
    #[error(transparent)]
    Source(#[from] SourceError),
}
