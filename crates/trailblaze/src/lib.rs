//! The command line, the run folder, the report, and the wiring between devices, tools and the engine.

pub mod cli;
pub mod run;
pub mod sessions;
pub mod api;
pub mod servers;
pub mod kit;
pub mod project;
pub mod output;
pub mod files;
