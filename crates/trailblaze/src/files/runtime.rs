//! The folder for files that last as long as a process: keys, locks, the daemon's log.

use std::io;
use std::path::{Path, PathBuf};

use super::private;

/// Where the folder is, given XDG_RUNTIME_DIR and TMPDIR: for this user alone, as far as the system has such a place.
///
/// Agents start MCP servers without most variables, so the usual value of XDG_RUNTIME_DIR counts if it is not set. The clients of
/// the typed API look for the folder in the same way.
pub fn folder(runtime_dir: Option<&str>, temp_dir: Option<&str>) -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    let usual = PathBuf::from(format!("/run/user/{user}"));
    match runtime_dir.map(PathBuf::from).into_iter().chain([usual]).find(|folder| folder.is_dir()) {
        Some(folder) => folder.join("trailblaze"),
        None => {
            let temp = temp_dir.filter(|temp| !temp.is_empty()).unwrap_or("/tmp");
            Path::new(temp).join(format!("trailblaze-{user}"))
        }
    }
}

/// Creates the folder if it is missing. Fails if it belongs to another user, who may have created it first in a folder that all
/// users share.
pub fn create(folder: &Path) -> io::Result<()> {
    private::create_dir_all(folder)?;
    is_ours(folder)
}

/// Fails unless a file or folder belongs to this user and no other user may use it.
pub fn is_ours(path: &Path) -> io::Result<()> {
    let facts = path.symlink_metadata()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if facts.is_symlink() || facts.uid() != rustix::process::geteuid().as_raw() || facts.mode() & 0o077 != 0 {
            let text =
                "it belongs to another user, or other users may use it; remove it, or make it private with `chmod`";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
        }
    }
    Ok(())
}
