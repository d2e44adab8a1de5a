//! The port to the code of tools that run in this process: scripts, and tools that are compiled into a team's own binary.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value};
use trailblaze_protocol::outcome::Outcome;

use crate::engine::cx::Cx;
use crate::engine::fault::Stop;

/// The code of one tool. Calls may run concurrently.
#[async_trait]
pub trait ToolCode: Send + Sync {
    /// Carries out one call. The code makes calls of its own with `cx`; those that it leaves in flight are cancelled when it
    /// returns. Secrets are templates in `args`, which are resolved when they are passed to another tool.
    async fn call(&self, cx: &Cx, args: &Map<String, Value>) -> Result<Outcome, Stop>;

    /// How long a call may be silent before it times out; `None` for the default.
    fn call_idle(&self) -> Option<Duration> {
        None
    }

    /// Whether it may make requests to a model.
    fn may_sample(&self) -> bool {
        false
    }

    /// What decides its behavior: the texts of its files and its permissions, which are pinned when a trail is recorded. `None`
    /// if that is not known.
    fn definition(&self) -> Option<&[u8]> {
        None
    }

    /// What the code may do besides calling tools, for people.
    fn permissions(&self) -> &[String] {
        &[]
    }

    /// The files that it is made of, relative to the project's root, besides the file that defines the tool.
    fn files(&self) -> &[String] {
        &[]
    }
}
