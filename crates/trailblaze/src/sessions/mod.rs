//! Sessions: a device with its tools and servers.

pub mod devices;
pub mod editor_schema;
pub mod host;
pub mod models;
pub mod viewing;
pub mod wiring;
pub mod hot_swap;
pub mod device_log;
pub mod arguments;
pub mod toolbox;
pub mod interactive;
pub mod service;
