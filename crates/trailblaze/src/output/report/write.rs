//! Writes the three report files into the run folder, each completely or not at all.

use std::io;
use std::path::{Path, PathBuf};

use super::html::html;
use super::junit::junit;
use super::model::{ReadError, RunRecord};
use super::summary::summary;
use crate::files::private;

#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("cannot write `{}`: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("cannot write the run as JUnit XML")]
    Junit(#[from] quick_junit::SerializeError),
    #[error("cannot write the run as JSON")]
    Json(#[from] serde_json::Error),
}

#[derive(Debug)]
pub struct Written {
    pub html: PathBuf,
    pub junit: PathBuf,
    pub summary: PathBuf,
    pub run: RunRecord,
}

/// Reads a run folder and writes `report.html`, `junit.xml` and `summary.json` into it.
pub fn write(folder: &Path) -> Result<Written, WriteError> {
    let run = RunRecord::read(folder)?;
    let junit = put(folder, "junit.xml", &junit(&run)?)?;
    let (summary, html) = write_page(folder, &run)?;
    Ok(Written { summary, junit, html, run })
}

/// Writes the preliminary report that remains if the run is killed. `junit.xml` is written only at the end: CI systems
/// would treat one without failures as a run that passed.
pub fn write_unfinished(folder: &Path) -> Result<(), WriteError> {
    write_page(folder, &RunRecord::read(folder)?).map(drop)
}

fn write_page(folder: &Path, run: &RunRecord) -> Result<(PathBuf, PathBuf), WriteError> {
    let mut json = serde_json::to_string_pretty(&summary(run))?;
    json.push('\n');
    Ok((put(folder, "summary.json", &json)?, put(folder, "report.html", &html(run, folder))?))
}

fn put(folder: &Path, name: &str, text: &str) -> Result<PathBuf, WriteError> {
    let path = folder.join(name);
    match private::write(&path, text) {
        Ok(()) => Ok(path),
        Err(source) => Err(WriteError::Io { path, source }),
    }
}
