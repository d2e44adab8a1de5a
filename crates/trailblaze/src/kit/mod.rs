//! For tool authors: templates, the cost of a tool for a model, and lint rules.

pub mod blueprint;
pub mod cost;
pub mod kotlin_sdk;
pub mod lint;
pub mod python_sdk;
pub mod rust_sdk;
pub mod scripting;
pub mod test_files;
pub mod types;
