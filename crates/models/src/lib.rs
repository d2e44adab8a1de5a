//! Providers of language models, behind the port `trailblaze_core::model::Model`: four protocols over HTTP, and replies from a
//! file. Nothing here knows devices, the bodies of tools, or trails.
//!
//! Modules are listed in reading order.

mod estimate;
mod text;
pub mod script;

mod http;
mod settings;
mod failure;
pub mod api;
mod retry;
mod provider;

pub use estimate::estimated_tokens;
pub use http::ProxySettings;
pub use provider::open;
pub use settings::{Endpoint, Secret, Settings};
