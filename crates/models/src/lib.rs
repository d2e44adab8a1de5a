//! Providers of language models, behind the port `trailblaze_core::model::Model`: four protocols over HTTP, and replies from a
//! file. Nothing here knows devices, the bodies of tools, or trails.
//!
//! A protocol (`api`) is a pair of pure functions, from a request to a JSON body and from a response to a reply; `provider` sends, retries
//! and explains failures for all of them. What providers refuse is avoided where it can be known, and otherwise learned from their errors.
//! The protocols are our own instead of `genai`, which has no pictures or errors in results of tools and no retries, and brings a second
//! HTTP client. Replies are not streamed, because nothing can be done with half a call.
//!
//! Modules are listed in reading order.

mod estimate;
mod text;
pub mod canned;

mod http;
mod settings;
mod failure;
pub mod api;
mod retry;
mod provider;

pub use estimate::estimated_tokens;
pub use provider::open;
pub use settings::{Endpoint, Secret, Settings};
