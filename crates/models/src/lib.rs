//! Providers of language models, behind the port `trailblaze_core::model::Model`: four protocols over HTTP, and replies from a
//! file. Nothing here knows devices, the bodies of tools, or trails.
//!
//! Modules are listed in reading order.

mod estimate;
mod text;
pub mod script;

pub use estimate::estimated_tokens;
