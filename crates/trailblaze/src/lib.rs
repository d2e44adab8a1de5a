//! The command line, the run folder, the report, and the wiring between devices, tools and the engine.
//!
//! Modules are listed in reading order: each uses only those above it.
//!
//! A team compiles its own tools into the program with [`app`].

pub mod files;
pub mod output;
pub mod project;
pub mod kit;
pub mod servers;
pub mod sessions;
pub mod api;
pub mod run;
pub mod daemon;
pub mod lsp;
pub mod cli;

pub use cli::app::{App, app};
