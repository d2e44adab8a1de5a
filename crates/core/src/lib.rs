//! The engine: reads trails and tools, makes every call through one door, records what happened and replays it.
//! It takes text and ports, and gives values and events: no sockets, files, processes or printing here.

pub mod config;
pub mod driver;
pub mod limits;
pub mod memory;
pub mod names;
pub mod query;
pub mod schema;
pub mod screen;
pub mod secret;
pub mod selector;
pub mod template;
pub mod trail;
pub mod yaml;
