//! What the files of a project say.

pub mod environment;
pub mod source;
pub mod loaded;
pub mod select;
pub mod devices;
pub mod sim;
pub mod changes;
pub mod test_runner;
