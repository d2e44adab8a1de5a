//! Callers of the door that live in the engine.

pub mod preflight;
pub mod shadow;
pub mod script;
pub mod replay;
