//! The project's lock, held by a process while it changes trails.

use std::fs::File;
use std::io;
use std::path::Path;

use super::{check_links, private};

/// The lock's file, relative to the project.
pub const PATH: &str = ".trailblaze/save.lock";

/// Held while a trail or its effects file is changed. The operating system releases it when the process ends.
pub struct ProjectLock(#[allow(dead_code, reason = "it is held, not used")] File);

impl ProjectLock {
    /// Waits until no other process holds it.
    pub fn take(root: &Path) -> io::Result<ProjectLock> {
        let path = root.join(PATH);
        check_links(root, &path)?;
        private::create_dir_all(path.parent().unwrap_or(root))?;
        let file = private::open(&path)?;
        file.lock()?;
        Ok(ProjectLock(file))
    }
}
