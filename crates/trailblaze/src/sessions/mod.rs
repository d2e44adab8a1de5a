//! Sessions: a device, its tools and its servers, opened and kept.

pub mod drivers;
pub mod pool;
pub mod host;
pub mod wiring;
pub mod hot_swap;
pub mod device_log;
pub mod arguments;
pub mod interactive;
