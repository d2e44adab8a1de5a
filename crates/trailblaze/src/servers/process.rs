//! What tool servers of one process share.

use std::sync::Arc;

use trailblaze_toolhost::spin_wait::SpinTurn;

use crate::servers::callback::CallbackAddress;

#[derive(Clone)]
pub struct ProcessParts {
    /// Where tools call back to.
    pub callback: Arc<dyn CallbackAddress>,
    /// The turn to poll for an answer, which one connection has at a time.
    pub spin_turn: Arc<SpinTurn>,
}
