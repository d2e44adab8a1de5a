//! A run for a page that gets it from a server, also while it runs.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::html;
use super::model::{ReadError, RunRecord};
use super::page_files::{self, PageFiles};
use crate::output::run_folder::is_inert;

/// The index of a run, as in its page. All files are next to the page.
pub fn index(run: &RunRecord, folder: &Path) -> Value {
    json!(html::index(run, &mut PageFiles::served(folder)))
}

/// The details of an attempt. `None` if there is no such attempt.
pub fn detail(folder: &Path, attempt: usize) -> Result<Option<Value>, ReadError> {
    let run = RunRecord::read(folder)?;
    Ok(run.attempts.get(attempt).map(|attempt| json!(html::detail(attempt, &mut PageFiles::served(folder)))))
}

/// A file of a run that may be shown: its report, or one that a browser does not run as a page.
pub fn file(folder: &Path, name: &str) -> Option<PathBuf> {
    // Sent as text: the page reads them.
    let is_trace = name.starts_with("traces/") && (name.ends_with(".js") || name.ends_with(".css"));
    let is_shown = name == "report.html" || is_inert(name) || is_trace;
    page_files::find(folder, name).ok().filter(|path| is_shown && path.is_file())
}
