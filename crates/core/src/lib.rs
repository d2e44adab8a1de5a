//! The engine: reads trails and tools, dispatches every call, records what happened and replays it. It takes text and
//! ports and returns values and events. It has no access to sockets, files, processes or the terminal.
//!
//! Modules are listed in reading order: each uses only those above it and, in `engine`, those of its own folder.

pub mod ids;
pub mod limits;
pub mod foreign_json;

pub mod diff;
pub mod nearest;
pub mod template;
pub mod schema;
pub mod yaml;
pub mod names;
pub mod values;

pub mod screen;
pub mod refs;
pub mod selector;
pub mod snapshot;
pub mod query;
pub mod expected_tree;
pub mod driver;
pub mod finding;
pub mod device_source;
pub mod model;

pub mod trail;
pub mod config;

pub mod record;
pub mod engine;
pub mod tool_files;
pub mod callers;
pub mod tools;

pub mod testing;
