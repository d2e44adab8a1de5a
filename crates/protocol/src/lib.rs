//! Wire shapes: what is written to a run folder and sent between processes. No engine lives here.

pub mod callback;
pub mod driver;
pub mod event;
pub mod exit;
pub mod geometry;
pub mod ids;
pub mod outcome;
