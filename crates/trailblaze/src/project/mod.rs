//! The project on disk: environment, files, devices and changes.

pub mod compiled_in;
pub mod environment;
pub mod source;
pub mod scripts;
pub mod providers;
pub mod server_entry;
mod folders;
pub mod stretches;
pub mod loaded;
pub mod select;
pub mod devices;
pub mod sim;
pub mod models;
pub mod changes;
pub mod test_runner;
pub mod trail_schema;
