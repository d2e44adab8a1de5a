//! What a run writes beside and into trails.

pub(crate) mod recordings;
pub mod effects_file;
pub mod tool_lock;
