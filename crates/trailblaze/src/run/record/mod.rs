//! What a run writes into trails and into the effects files next to them.

mod error;
pub mod effects_file;
pub mod heal;
pub mod tool_lock;
pub(crate) mod recordings;

pub mod save;

pub use error::RecordError;
