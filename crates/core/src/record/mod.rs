//! What happened: the event sink, and what is folded from events.

pub mod events;
pub mod fold;
pub mod effects;
