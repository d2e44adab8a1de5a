//! Whether files changed, judging by their sizes and times.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// The state of some files. Two that are equal mean that, very probably, nothing was written between them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stamp(Vec<(PathBuf, Option<FileState>)>);

/// Size, time and number of a file: an editor may write a new one and rename it.
type FileState = (u64, i64, i64, u64);

impl Stamp {
    pub fn of(files: impl IntoIterator<Item = PathBuf>) -> Stamp {
        let state = |path: PathBuf| {
            let about = std::fs::metadata(&path).ok();
            let state = about.map(|about| (about.len(), about.mtime(), about.mtime_nsec(), about.ino()));
            (path, state)
        };
        let mut files: Vec<_> = files.into_iter().map(state).collect();
        files.sort();
        files.dedup();
        Stamp(files)
    }

    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.0.iter().map(|(path, _)| path)
    }

    /// The same files, with the states that `earlier` has of them: a file that was written since then counts as changed.
    pub fn as_of(mut self, earlier: &Stamp) -> Stamp {
        for (path, state) in &mut self.0 {
            if let Some((_, known)) = earlier.0.iter().find(|(known, _)| known == path) {
                *state = *known;
            }
        }
        self
    }

    /// Whether one of the files changed since.
    pub fn is_outdated(&self) -> bool {
        Stamp::of(self.paths().cloned()) != *self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_written_while_it_is_read_counts_as_changed() {
        let folder = tempfile::tempdir().expect("a folder");
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        std::fs::write(&old, "1").expect("written");
        let before = Stamp::of([old.clone()]);
        std::fs::write(&old, "12").expect("written");
        std::fs::write(&new, "1").expect("written");
        let after = Stamp::of([old, new]);
        assert!(!after.is_outdated());
        assert!(after.as_of(&before).is_outdated());
    }
}
