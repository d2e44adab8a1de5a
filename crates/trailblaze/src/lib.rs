//! The command line, the run folder, the report, and the wiring between devices, tools and the engine.

pub mod beside;
pub mod cassettes;
pub mod cli;
pub mod devices;
pub mod github;
pub mod history;
pub mod jobs;
pub mod kit;
pub mod lane;
pub mod marks;
pub mod print;
pub mod progress;
pub mod project;
pub mod reach;
mod recordings;
pub mod report;
pub mod run_folder;
pub mod runner;
pub mod select;
mod server;
pub mod server_files;
pub mod shell;
pub mod sim;
mod tool_cache;
pub mod tool_lock;
pub mod tool_servers;
pub mod wire;
