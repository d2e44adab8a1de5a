//! Why a program cannot be linked.

use std::fmt;

use crate::text::Position;

/// What is wrong with a module of a program, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkError {
    /// The id of the module: its path from the root of the project.
    pub module: String,
    /// The import, if it is about one.
    pub at: Option<Position>,
    pub message: String,
    pub hint: Option<String>,
    /// The imports that lead here from the entry, each with its place; empty if the module is the entry.
    pub chain: Vec<String>,
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.module)?;
        if let Some(Position { line, column }) = self.at {
            write!(f, "{line}:{column}:")?;
        }
        write!(f, " {}", self.message)?;
        match &self.chain[..] {
            [] => Ok(()),
            chain => write!(f, " (imported by {})", chain.join(", imported by ")),
        }
    }
}

impl std::error::Error for LinkError {}
