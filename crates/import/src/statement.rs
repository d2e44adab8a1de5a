//! What became of the statements of a file.

use trailblaze_core::yaml::Span;

/// A statement of a file: a command of a flow, a statement of a test, a key of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedStatement {
    pub path: String,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// What it is called in the other tool: `tapOn`, `page.goto`.
    pub name: String,
    pub fate: StatementFate,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatementFate {
    Translated,
    /// Translated, but something of it is missing or different.
    Partly(String),
    /// Kept as a comment.
    Kept(String),
}

impl ImportedStatement {
    pub fn new(path: &str, at: Span, name: impl Into<String>, fate: StatementFate) -> ImportedStatement {
        ImportedStatement { path: path.to_string(), line: at.line, column: at.column, name: name.into(), fate }
    }

    /// The word for what became of it, as in JSON.
    pub fn outcome(&self) -> &'static str {
        match self.fate {
            StatementFate::Translated => "translated",
            StatementFate::Partly(_) => "partly",
            StatementFate::Kept(_) => "kept",
        }
    }

    /// What is missing or different.
    pub fn note(&self) -> Option<&str> {
        match &self.fate {
            StatementFate::Translated => None,
            StatementFate::Partly(note) | StatementFate::Kept(note) => Some(note),
        }
    }
}

/// How many statements were translated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Share {
    pub n_translated: usize,
    pub n_partly: usize,
    pub n_kept: usize,
}

impl Share {
    pub fn of<'s>(statements: impl IntoIterator<Item = &'s ImportedStatement>) -> Share {
        let mut share = Share::default();
        for statement in statements {
            match statement.fate {
                StatementFate::Translated => share.n_translated += 1,
                StatementFate::Partly(_) => share.n_partly += 1,
                StatementFate::Kept(_) => share.n_kept += 1,
            }
        }
        share
    }

    pub fn n_all(&self) -> usize {
        self.n_translated + self.n_partly + self.n_kept
    }

    /// The completely translated ones, in whole per cent, rounded down. 100 if there are none.
    pub fn per_cent(&self) -> usize {
        (self.n_translated * 100).checked_div(self.n_all()).unwrap_or(100)
    }
}
