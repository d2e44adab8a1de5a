//! Values that calls use: memory and secrets.

pub mod memory;
pub mod origin;
pub mod secret;
pub(crate) mod redact;
