//! Reading the text files of a project.

use std::path::Path;
use std::sync::Arc;

use trailblaze_core::limits;
use trailblaze_core::yaml::{Problem, Problems, Source, Span};

/// The span of a problem that concerns the whole file.
pub const FILE_START: Span = Span { start: 0, end: 0, line: 1, column: 1 };

/// Reads a file written by the user; it must be text within the size limit.
pub fn read_source(root: &Path, path: &Path, problems: &mut Vec<Problem>) -> Option<Arc<Source>> {
    let name = shown(root, path);
    let wrong = match read_text(path) {
        Ok(text) => return Some(Source::new(name, text)),
        Err(wrong) => wrong,
    };
    // There is no text to point into, so the problem is placed at the beginning of the file.
    let mut found = Problems::new(&Source::new(name, ""));
    found.error(FILE_START, wrong.to_string());
    problems.extend(found.into_vec());
    None
}

#[derive(Debug, thiserror::Error)]
enum TextError {
    #[error("the file cannot be read: {0}")]
    Read(#[from] std::io::Error),
    #[error("the file has {bytes} bytes; the limit is {}", limits::FILE_BYTES)]
    TooLarge { bytes: u64 },
    #[error("the file is not UTF-8 text")]
    NotText(#[from] std::string::FromUtf8Error),
}

fn read_text(path: &Path) -> Result<String, TextError> {
    let bytes = std::fs::metadata(path)?.len();
    if bytes > limits::FILE_BYTES as u64 {
        return Err(TextError::TooLarge { bytes });
    }
    Ok(String::from_utf8(std::fs::read(path)?)?)
}

/// A path for display: relative to the project's root, with forward slashes; absolute if it is outside.
pub fn shown(root: &Path, path: &Path) -> String {
    let Ok(inside) = path.strip_prefix(root) else { return path.display().to_string() };
    inside.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}
