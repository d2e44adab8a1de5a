//! Running trails: from a plan to a result.

pub mod job;
pub mod plan;
pub mod preflight;
pub mod queue;
pub mod late_files;
pub mod slow_slots;
pub mod history;
pub mod affected;
pub mod watch;
pub mod check;
pub mod execute;
pub mod record;
