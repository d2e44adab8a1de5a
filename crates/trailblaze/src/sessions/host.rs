//! What the process provides to all of its sessions.

use std::sync::Arc;

use trailblaze_core::engine::invocations::Invocations;
use trailblaze_toolhost::spin_wait::SpinTurn;

use crate::project::changes::FileWatch;
use crate::servers::callback::CallbackAddress;
use crate::servers::process::ProcessParts;

/// The calls in flight of the process, and what its tool servers share. A process has one, which the sessions of
/// several commands may share.
#[derive(Clone)]
pub struct SessionHost {
    pub invocations: Arc<Invocations>,
    /// What tool servers share.
    pub process: ProcessParts,
    /// Watches the files of all projects.
    pub files: FileWatch,
}

impl SessionHost {
    pub fn new(invocations: Arc<Invocations>, callback: Arc<dyn CallbackAddress>) -> SessionHost {
        let process = ProcessParts { callback, spin_turn: SpinTurn::new() };
        SessionHost { invocations, process, files: FileWatch::default() }
    }
}
