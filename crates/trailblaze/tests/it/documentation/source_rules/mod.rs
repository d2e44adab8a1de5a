//! The walls between the crates, and the rules for sources, documents and dependencies that no compiler checks. A failure
//! names the place and the rule.

mod support;

mod arrows;
mod circles;
mod commands;
mod dependencies;
mod documents;
mod sources;
