//! Atomic writes of user files.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes a file completely or not at all. A link is followed, and an existing file keeps its permissions.
pub fn write_atomically(path: &Path, content: impl AsRef<[u8]>) -> std::io::Result<()> {
    let path = followed(path)?;
    let mut beside = path.clone();
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("file");
    beside.set_file_name(format!(".{name}.{}.part", std::process::id()));
    let permissions = std::fs::metadata(&path).ok().map(|facts| facts.permissions());
    let write = || -> std::io::Result<()> {
        // What is there was left by a killed process, or is a link.
        let _ = std::fs::remove_file(&beside);
        let mut file = OpenOptions::new().write(true).create_new(true).open(&beside)?;
        // First, so that nothing is readable for longer than it was.
        if let Some(permissions) = permissions {
            file.set_permissions(permissions)?;
        }
        file.write_all(content.as_ref())?;
        std::fs::rename(&beside, &path)
    };
    write().inspect_err(|_| {
        // On a full disk, a part of it may have been written.
        let _ = std::fs::remove_file(&beside);
    })
}

/// Where a path leads: to the file itself, which need not exist yet.
pub(super) fn followed(path: &Path) -> std::io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    // As many as Linux follows.
    for _ in 0..40 {
        match std::fs::read_link(&path) {
            // A relative link starts in its own folder; an absolute one replaces the whole path.
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "too many levels of links"))
}
