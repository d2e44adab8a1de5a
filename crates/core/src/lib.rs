//! The engine: reads trails and tools, makes every call through one door, records what happened and replays it.
//! It takes text and ports, and gives values and events: no sockets, files, processes or printing here.
//!
//! Modules are listed in reading order: each uses only those above it and, in `engine`, its own folder.

pub mod ids;
pub mod limits;
pub mod foreign_json;

pub mod yaml;
pub mod values;

pub mod screen;
pub mod selector;
pub mod query;
pub mod refs;
pub mod snapshot;
pub mod driver;

pub mod trail;
pub mod config;
pub mod tool_files;
pub mod diff;

pub mod engine;
pub mod record;
pub mod callers;
pub mod tools;

pub mod testing;
