//! The `_folder.yaml` files of folders of trails.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use trailblaze_core::trail::{FOLDER_FILE, TrailFolder};
use trailblaze_core::yaml::Problem;

use crate::project::source::read_source;

/// The folders of a project's trails, each read once.
pub struct TrailFolders<'p> {
    root: &'p Path,
    known: HashMap<PathBuf, (Option<Arc<TrailFolder>>, Vec<Problem>)>,
}

impl TrailFolders<'_> {
    pub fn new(root: &Path) -> TrailFolders<'_> {
        TrailFolders { root, known: HashMap::new() }
    }

    /// The folders of a trail that have such a file, the outermost first, and what is wrong with these files.
    pub fn of(&mut self, trail: &Path) -> (Vec<Arc<TrailFolder>>, Vec<Problem>) {
        let root = self.root;
        let above: Vec<&Path> = trail.ancestors().skip(1).take_while(|folder| folder.starts_with(root)).collect();
        let (mut folders, mut problems) = (Vec::new(), Vec::new());
        for folder in above.into_iter().rev() {
            let (found, wrong) = self.known.entry(folder.to_path_buf()).or_insert_with(|| read(root, folder));
            folders.extend(found.clone());
            problems.extend(wrong.clone());
        }
        (folders, problems)
    }
}

fn read(root: &Path, folder: &Path) -> (Option<Arc<TrailFolder>>, Vec<Problem>) {
    let file = folder.join(FOLDER_FILE);
    let mut problems = Vec::new();
    if !file.is_file() {
        return (None, problems);
    }
    let Some(source) = read_source(root, &file, &mut problems) else { return (None, problems) };
    let (folder, problems) = TrailFolder::read(&source);
    (folder.map(Arc::new), problems)
}
