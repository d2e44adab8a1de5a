//! The record of a run: the event sink, and what is derived from events.

pub mod artifacts;
pub mod events;
pub mod expected_pictures;
pub mod feed;
pub mod fold;
pub mod effects;
pub mod healing;
pub mod trace;
