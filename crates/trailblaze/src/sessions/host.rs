//! What the process provides to all of its sessions.

use std::sync::Arc;

use trailblaze_core::engine::invocations::Invocations;

use crate::servers::process::ProcessParts;

/// The calls in flight of the process, and the address where tools call back. Sessions of several commands may share it.
#[derive(Clone)]
pub struct Host {
    pub invocations: Arc<Invocations>,
    /// What tool servers share.
    pub process: ProcessParts,
}
