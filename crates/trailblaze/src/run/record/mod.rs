//! What a run writes beside and into trails.

mod error;
pub mod effects_file;
pub mod tool_lock;
pub(crate) mod recordings;

pub mod save;

pub use error::RecordError;
