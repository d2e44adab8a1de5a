//! Values that calls are made with: schemas, templates, memory and secrets.

pub mod schema;
pub mod template;
pub mod memory;
pub mod secret;
pub(crate) mod redact;
