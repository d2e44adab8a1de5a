//! What a run leaves for people and machines to read: a page, JUnit XML and a summary, all made from its
//! event file and nothing else.

pub mod model;
pub mod summary;
pub mod junit;
pub mod html;
mod album;
mod clip;
mod write;

pub use model::{ReadError, Run};
pub use write::{WriteError, Written, write};
