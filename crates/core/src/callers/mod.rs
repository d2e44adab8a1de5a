//! Callers of `dispatch` within the engine.

pub mod passwords;
pub mod preflight;
pub mod shadow;
pub mod step_result;
mod soft;
pub mod agent;
pub mod attempt_sessions;
pub mod heal;
pub mod sampling;
pub mod recorded_effects;
pub mod replay;
