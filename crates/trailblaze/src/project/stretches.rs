//! The files of stretches that trails use.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use trailblaze_core::trail::{StretchDocument, Trail, beside, is_trail};
use trailblaze_core::yaml::{Problem, Source};

use crate::files::is_inside;
use crate::project::source::{read_source, shown};

/// How many folders deep stretches are looked for.
const DEPTH: usize = 4;

/// The stretches of a project, each file read once.
pub struct Stretches<'p> {
    root: &'p Path,
    known: HashMap<String, Result<Arc<Source>, String>>,
}

impl Stretches<'_> {
    pub fn new(root: &Path) -> Stretches<'_> {
        Stretches { root, known: HashMap::new() }
    }

    /// Puts the steps of stretches into a trail that uses them.
    pub fn complete(&mut self, trail: &mut Trail) -> Vec<Problem> {
        trail.take_stretches(&mut |path: &str| self.source(path))
    }

    /// What is wrong in a stretch that no trail uses.
    pub fn problems_of(&mut self, path: &str) -> Vec<Problem> {
        let source = self.source(path);
        source.map_or_else(
            |_| Vec::new(),
            |source| StretchDocument::problems_of(&source, &mut |path: &str| self.source(path)),
        )
    }

    /// Whether a file of the project is a stretch.
    pub fn is_one(&mut self, path: &str) -> bool {
        self.source(path).is_ok_and(|source| StretchDocument::is_one(&source))
    }

    fn source(&mut self, path: &str) -> Result<Arc<Source>, String> {
        let known = self.known.entry(path.to_string());
        known.or_insert_with(|| read(self.root, path)).clone()
    }
}

/// The file that `use:` of another file names, if it exists.
pub fn file(root: &Path, from: &str, used: &str) -> Option<PathBuf> {
    let file = root.join(beside(from, used)?);
    (is_inside(root, &file) && file.is_file()).then_some(file)
}

/// The files that a file can use, as it names them: the stretches in its folder and in those below.
pub fn files(root: &Path, from: &str) -> Vec<String> {
    let folder = root.join(from).parent().map(Path::to_path_buf).unwrap_or_default();
    files_in(&folder, Some(DEPTH)).iter().map(|path| shown(&folder, path)).collect()
}

/// The stretches in a folder and in those below, down to a depth.
pub fn files_in(folder: &Path, depth: Option<usize>) -> Vec<PathBuf> {
    let is_stretch = |path: &Path| {
        path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml")
            && !is_trail(path)
            && std::fs::read_to_string(path).is_ok_and(|text| text.lines().any(|line| line.starts_with("steps:")))
    };
    let found = ignore::WalkBuilder::new(folder).max_depth(depth).sort_by_file_path(Ord::cmp).build();
    found.flatten().map(ignore::DirEntry::into_path).filter(|path| path.is_file() && is_stretch(path)).collect()
}

fn read(root: &Path, path: &str) -> Result<Arc<Source>, String> {
    let file = root.join(path);
    if !is_inside(root, &file) || !file.is_file() {
        return Err(format!("there is no file `{path}` in the project"));
    }
    let mut problems = Vec::new();
    let source = read_source(root, &file, &mut problems);
    source.ok_or_else(|| problems.first().map_or_else(String::new, |problem| format!("`{path}`: {}", problem.message)))
}
