//! Removes the folders of a child: only registered ones, and only paths that cannot be a mistake.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::thread;
use std::time::Duration;

/// Retries, because a process that is still exiting, or could not be killed, may write into the folder meanwhile.
const TRIES: usize = 5;

/// How long removing all folders of a child may take.
pub(crate) const TO_REMOVE: Duration = Duration::from_secs(20);

/// Removes folders on another thread, with a time limit, so that a hanging disk does not block anything.
pub(crate) async fn remove_all(paths: Vec<PathBuf>) {
    if paths.is_empty() {
        return;
    }
    let removal = tokio::task::spawn_blocking(move || paths.iter().for_each(|path| remove(path)));
    let _ = tokio::time::timeout(TO_REMOVE, removal).await;
}

/// Removes a folder and its contents. A symbolic link is removed, not followed. Errors are ignored.
pub(crate) fn remove(path: &Path) {
    if !may_remove(path) {
        return;
    }
    for n in 1..=TRIES {
        match std::fs::remove_dir_all(path) {
            Ok(()) => return,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return,
            Err(_) => thread::sleep(Duration::from_millis(20 * n as u64)),
        }
    }
}

/// Absolute, without `..`, and not at the top of the file system.
fn may_remove(path: &Path) -> bool {
    let names = path.components().filter(|component| matches!(component, Component::Normal(_))).count();
    path.is_absolute() && names >= 2 && !path.components().any(|component| component == Component::ParentDir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_absolute_paths_below_the_top_are_removed() {
        for (path, expected) in
            [("/", false), ("/tmp", false), ("/a/b/..", false), ("a/b", false), ("", false), ("/a/b", true)]
        {
            assert_eq!(may_remove(Path::new(path)), expected, "{path}");
        }
    }
}
