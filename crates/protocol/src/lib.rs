//! Wire types: everything that is written to a run folder or sent between processes. Contains no engine code.

pub mod callback;
pub mod device_event;
pub mod driver;
pub mod event;
pub mod exit;
pub mod geometry;
pub mod heal;
pub mod ids;
pub mod outcome;
