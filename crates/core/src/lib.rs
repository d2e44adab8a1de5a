//! The engine: reads trails and tools, makes every call through one door, records what happened and replays it.
//! It takes text and ports, and gives values and events: no sockets, files, processes or printing here.

pub mod config;
pub mod cx;
pub mod device;
pub mod diff;
pub mod dispatch;
pub mod driver;
pub mod effects;
pub mod events;
pub mod fault;
pub mod ids;
pub mod invocations;
pub mod limits;
pub mod memory;
pub mod names;
pub mod preflight;
pub mod query;
pub mod record;
mod redact;
pub mod refs;
pub mod registry;
pub mod replay;
pub mod schema;
pub mod screen;
pub mod secret;
pub mod selector;
pub mod session;
pub mod snapshot;
pub mod source;
pub mod template;
pub mod testing;
pub mod tool;
pub mod tool_changes;
pub mod tool_files;
pub mod tools;
pub mod trail;
pub mod yaml;
