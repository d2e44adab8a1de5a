//! Files of other tools as trails and projects: Maestro's flows, Playwright's tests, projects of the Kotlin Trailblaze. Takes the texts
//! of files and returns texts of files, and says for each statement of the original what became of it. Knows no devices, sessions,
//! terminal or file system.
//!
//! What has no counterpart is never dropped: it is kept as a comment at its place, and listed with the reason.

mod draft;
mod grouping;
mod naming;
mod statement;
mod words;

pub mod kotlin;
pub mod maestro;
pub mod playwright;

pub use statement::{ImportedStatement, Share, StatementFate};

use trailblaze_core::yaml::Problem;

/// A file of another tool, as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignFile {
    /// The path, as shown to the user. What the file names is relative to it.
    pub path: String,
    pub text: String,
}

impl ForeignFile {
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> ForeignFile {
        ForeignFile { path: path.into(), text: text.into() }
    }
}

/// A file of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedFile {
    /// The path in the project, with `/`.
    pub path: String,
    pub text: String,
}

/// What was made of files of another tool.
#[derive(Debug, Clone, Default)]
pub struct Imported {
    pub files: Vec<ImportedFile>,
    /// What became of each statement of the originals, in their order.
    pub statements: Vec<ImportedStatement>,
    /// Files that cannot be read.
    pub problems: Vec<Problem>,
}

impl Imported {
    /// How much was translated.
    pub fn share(&self) -> Share {
        Share::of(&self.statements)
    }

    /// Adds a file. If another one has its path, it gets a number.
    fn add(&mut self, folder: &str, stem: &str, ending: &str, text: String) -> String {
        let path = (1..)
            .map(|n| if n == 1 { format!("{folder}{stem}{ending}") } else { format!("{folder}{stem}-{n}{ending}") })
            .find(|path| self.files.iter().all(|file| file.path != *path))
            .unwrap_or_default();
        self.files.push(ImportedFile { path: path.clone(), text });
        path
    }
}
