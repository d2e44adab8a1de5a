//! What the process provides to all of its sessions.

use std::sync::Arc;

use trailblaze_core::engine::invocations::Invocations;

use crate::servers::callback::CallbackAddress;

/// The calls in flight of the process, and the address where tools call back. Sessions of several commands may share it.
#[derive(Clone)]
pub struct Host {
    pub invocations: Arc<Invocations>,
    pub callback: Arc<dyn CallbackAddress>,
}
