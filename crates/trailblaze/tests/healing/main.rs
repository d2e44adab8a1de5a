//! Calls whose element was not found because the app has changed: suggestions, repairs, and what is never touched.
#![cfg(target_os = "linux")]

#[path = "../support/mod.rs"]
mod support;

mod corpus;
mod simulated;
