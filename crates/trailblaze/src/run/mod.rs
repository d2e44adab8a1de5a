//! Running trails: from a plan to a result.

pub mod preflight;
pub mod queue;
pub mod device_log;
pub mod history;
pub mod affected;
pub mod record;
