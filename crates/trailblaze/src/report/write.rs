//! Writes the three files into the run folder.

use std::path::{Path, PathBuf};
use std::{fs, io, process};

use super::html::html;
use super::junit::junit;
use super::model::{ReadError, Run};
use super::summary::summary;

#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("cannot write `{}`: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("cannot put the run into JUnit XML")]
    Junit(#[from] quick_junit::SerializeError),
    #[error("cannot put the run into JSON")]
    Json(#[from] serde_json::Error),
}

#[derive(Debug)]
pub struct Written {
    pub html: PathBuf,
    pub junit: PathBuf,
    pub summary: PathBuf,
    pub run: Run,
}

/// Reads a run folder and writes `report.html`, `junit.xml` and `summary.json` into it.
pub fn write(folder: &Path) -> Result<Written, WriteError> {
    let run = Run::read(folder)?;
    let mut json = serde_json::to_string_pretty(&summary(&run))?;
    json.push('\n');
    Ok(Written {
        summary: put(folder, "summary.json", &json)?,
        junit: put(folder, "junit.xml", &junit(&run)?)?,
        html: put(folder, "report.html", &html(&run, folder))?,
        run,
    })
}

/// Writes beside and renames, so that nobody ever reads half a file.
fn put(folder: &Path, name: &str, text: &str) -> Result<PathBuf, WriteError> {
    let path = folder.join(name);
    let beside = folder.join(format!(".{name}.{}", process::id()));
    let written = fs::write(&beside, text).and_then(|()| fs::rename(&beside, &path));
    if let Err(source) = written {
        // The write has already failed; what is left of it may stay.
        let _ = fs::remove_file(&beside);
        return Err(WriteError::Io { path, source });
    }
    Ok(path)
}
