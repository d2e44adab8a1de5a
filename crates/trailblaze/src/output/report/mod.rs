//! The reports of a run: a page, JUnit XML and a summary, all generated from its event file alone.

mod activity;
mod next;
mod page_data;
mod page_files;
pub mod served;
pub mod heals;
pub mod alike;
mod clip;
pub mod html;
pub mod junit;
pub mod markdown;
pub mod merge;
mod merge_files;
pub mod model;
mod reader;
pub mod summary;
pub mod turns;
mod write;

pub use model::{ReadError, RunRecord};
pub use write::{WriteError, Written, write, write_unfinished};
