//! What the tool servers of a process share.

use std::sync::Arc;

use trailblaze_toolhost::spin_wait::SpinTurn;

use crate::servers::callback::CallbackAddress;

#[derive(Clone)]
pub struct ProcessParts {
    /// The address that tools call back to.
    pub callback: Arc<dyn CallbackAddress>,
    /// The turn to poll for an answer, which one connection has at a time.
    pub spin_turn: Arc<SpinTurn>,
}
