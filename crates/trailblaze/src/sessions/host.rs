//! What the process provides to all of its sessions.

use std::sync::Arc;

use trailblaze_core::engine::invocations::Invocations;

use crate::servers::process::ProcessParts;
use crate::sessions::pool::DevicePool;

/// The calls in flight of the process, its devices, and what its tool servers share. Sessions of several commands may share it.
#[derive(Clone)]
pub struct Host {
    pub invocations: Arc<Invocations>,
    pub devices: Arc<DevicePool>,
    /// What tool servers share.
    pub process: ProcessParts,
}
