//! The repository: its documents, its examples, and the rules for its sources.

mod book;
mod examples;
mod source_rules;
