//! Limits of the agent that are not a matter of money.

/// After this many replies in a row that led to nothing but errors, the step fails.
pub const MISTAKES: usize = 3;
/// How often the same calls may be made on the same screen.
pub const REPEATS: usize = 3;
/// How many calls of one reply are made.
pub const CALLS_PER_REPLY: usize = 20;
/// How long a reply may be that is repeated to the model with what is wrong with it, in characters. Longer ones are not repeated.
pub const REPEATED_REPLY: usize = 20_000;
