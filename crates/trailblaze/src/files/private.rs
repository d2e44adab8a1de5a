//! Private files, which only this user may read: folders 0700 and files 0600, regardless of the umask. They contain what
//! the app under test showed, and the ids of calls in flight.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[cfg(unix)]
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};

/// Creates a folder, and those above it that are missing.
pub fn create_dir_all(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    builder.mode(0o700);
    builder.recursive(true).create(path)
}

/// Creates a file that does not exist yet.
pub fn create_new(path: &Path) -> io::Result<File> {
    options().create_new(true).open(path)
}

/// Opens a file for writing, and creates it if it is missing.
pub fn open(path: &Path) -> io::Result<File> {
    options().create(true).truncate(false).open(path)
}

/// Opens a file for reading and writing, and creates it if it is missing.
pub fn open_to_update(path: &Path) -> io::Result<File> {
    options().read(true).create(true).truncate(false).open(path)
}

/// Opens a file to add to it, and creates it if it is missing.
pub fn append(path: &Path) -> io::Result<File> {
    options().create(true).append(true).open(path)
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    options.mode(0o600);
    options.write(true);
    options
}

/// Writes a file completely or not at all, and creates its folder if it is missing.
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    write_prepared(path, content.as_ref(), |_| Ok(())).map(drop)
}

/// Like [`write`]. Nobody sees the file without its lock, which lasts as long as the returned handle.
pub fn write_locked(path: &Path, content: impl AsRef<[u8]>) -> io::Result<File> {
    write_prepared(path, content.as_ref(), File::lock)
}

fn write_prepared(path: &Path, content: &[u8], prepare: impl FnOnce(&File) -> io::Result<()>) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        create_dir_all(folder)?;
    }
    let beside = beside(path);
    // Left behind by a killed process with the same id, or created by another user.
    let _ = std::fs::remove_file(&beside);
    let written = create_new(&beside).and_then(|mut file| {
        prepare(&file)?;
        file.write_all(content)?;
        std::fs::rename(&beside, path)?;
        Ok(file)
    });
    written.inspect_err(|_| {
        // On a full disk, a part of it may have been written.
        let _ = std::fs::remove_file(&beside);
    })
}

fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("file");
    path.with_file_name(format!(".{name}.{}.part", std::process::id()))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().expect("it is there").permissions().mode() & 0o777
    }

    #[test]
    fn what_is_written_is_for_this_user_alone_and_links_are_not_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a/b/file.txt");
        write(&path, "first").expect("it is written");
        let elsewhere = folder.path().join("elsewhere");
        symlink(&elsewhere, beside(&path)).expect("a link");
        write(&path, "second").expect("it is written");
        assert_eq!(std::fs::read_to_string(&path).expect("it is read"), "second");
        assert_eq!(
            (mode(&path), mode(&folder.path().join("a")), mode(&folder.path().join("a/b"))),
            (0o600, 0o700, 0o700)
        );
        assert!(!elsewhere.exists());
    }
}
