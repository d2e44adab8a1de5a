//! Which files are tests of tools, and which runner runs them.

use std::path::Path;

/// The runner of a test file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Runner {
    /// `bun test` or `node --test`.
    Script,
    /// pytest or unittest.
    Python,
    /// Maven.
    Kotlin,
}

/// The runner for a file, or `None` if it is not a test file.
pub fn runner_of(path: &Path) -> Option<Runner> {
    let name = path.file_name()?.to_str()?;
    let (stem, ending) = name.rsplit_once('.')?;
    match ending {
        "ts" | "mts" | "cts" | "js" | "mjs" | "cjs" if stem.ends_with(".test") => Some(Runner::Script),
        "py" if stem.starts_with("test_") || stem.ends_with("_test") => Some(Runner::Python),
        "kt" if stem.ends_with("Test") => Some(Runner::Kotlin),
        _ => None,
    }
}
