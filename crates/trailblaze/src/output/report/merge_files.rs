//! Copies the files of merged runs other than the events. Links are left out: they may point outside the folder, and a
//! report is shared with others.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::merge::MergeError;
use super::model::RunRecord;
use crate::files::{private, slug, unlike};
use crate::output::run_folder::{RECORDING, RECORDINGS, TRAIL_ENDING};

/// Folders whose files are named by their content, or at random, so that equal names mean equal files.
const BY_CONTENT: [&str; 6] = ["pictures", "trees", "attachments", "servers", "sources", "traces/sheets"];
/// The folder with a folder for each trace, named by its attempt.
const TRACES: &str = "traces";

/// Copies the files that events name.
pub fn copy_by_content(from: &Path, to: &Path) -> Result<(), MergeError> {
    let traces: Vec<String> = folders(&from.join(TRACES))?.into_iter().map(|name| format!("{TRACES}/{name}")).collect();
    for name in BY_CONTENT.iter().copied().chain(traces.iter().map(String::as_str)) {
        let to = to.join(name);
        for from in files(&from.join(name))? {
            let Some(file) = from.file_name() else { continue };
            let to = to.join(file);
            if !to.exists() {
                copy(&from, &to)?;
            } else if !is_same(&from, &to)? {
                let name = format!("{name}/{}", file.to_string_lossy());
                let folder = from.parent().and_then(Path::parent).unwrap_or(&from).to_path_buf();
                return Err(MergeError::Differs { folder, name });
            }
        }
    }
    Ok(())
}

/// Recordings are named by their trails, and one trail may be recorded in several runs.
#[derive(Default)]
pub struct Recordings {
    taken: HashSet<String>,
}

impl Recordings {
    pub fn copy(&mut self, from: &Path, run: &RunRecord, to: &Path) -> Result<(), MergeError> {
        let name = |file: &Path| {
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.strip_suffix(TRAIL_ENDING).unwrap_or(name).to_string()
        };
        let mut found: Vec<(String, PathBuf)> =
            files(&from.join(RECORDINGS))?.into_iter().map(|file| (name(&file), file)).collect();
        found.sort();
        // The recording of a run's only trail is not named after the trail.
        let one = from.join(RECORDING);
        if let Some(attempt) = run.attempts.first().filter(|_| is_file(&one)) {
            found.push((slug(&attempt.trail.id), one));
        }
        for (name, file) in found {
            let path = |name: &str| to.join(RECORDINGS).join(format!("{name}{}", TRAIL_ENDING));
            if self.taken.contains(&name) && is_same(&file, &path(&name))? {
                continue;
            }
            copy(&file, &path(&unlike(&mut self.taken, name)))?;
        }
        Ok(())
    }
}

/// The names of the folders in a folder, if there is one.
fn folders(folder: &Path) -> Result<Vec<String>, MergeError> {
    let failed = |source| MergeError::Files { path: folder.to_path_buf(), source };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(failed(source)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            names.extend(entry.file_name().into_string());
        }
    }
    Ok(names)
}

/// The plain files of a folder, if there is one.
fn files(folder: &Path) -> Result<Vec<PathBuf>, MergeError> {
    let failed = |source| MergeError::Files { path: folder.to_path_buf(), source };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(failed(source)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        files.extend(is_file(&path).then_some(path));
    }
    Ok(files)
}

fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
}

fn copy(from: &Path, to: &Path) -> Result<(), MergeError> {
    let copy = || {
        to.parent().map_or(Ok(()), private::create_dir_all)?;
        io::copy(&mut fs::File::open(from)?, &mut private::create_new(to)?)
    };
    copy().map(drop).map_err(|source| MergeError::Write { path: to.to_path_buf(), source })
}

fn is_same(one: &Path, other: &Path) -> Result<bool, MergeError> {
    let same = || Ok(fs::metadata(one)?.len() == fs::metadata(other)?.len() && fs::read(one)? == fs::read(other)?);
    same().map_err(|source| MergeError::Files { path: one.to_path_buf(), source })
}
