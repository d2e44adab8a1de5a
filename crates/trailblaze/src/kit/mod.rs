//! What tool authors need besides a device: files to start from, what a tool costs a model, and what is odd about it.

pub mod blueprint;
pub mod cost;
pub mod lint;
pub mod scripting;
pub mod test_files;
