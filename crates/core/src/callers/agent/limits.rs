//! Limits of the agent that are not a matter of money.

/// After this many replies in a row that led to nothing but errors, the step fails.
pub const MISTAKES: usize = 3;
/// How often the same calls may be made on the same screen.
pub const REPEATS: usize = 3;
/// How many calls of one reply are made.
pub const CALLS_PER_REPLY: usize = 20;
