//! Values that calls are made with: memory and secrets.

pub mod memory;
pub mod secret;
pub(crate) mod redact;
