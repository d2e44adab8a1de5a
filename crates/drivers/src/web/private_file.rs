//! Files that only this user may read.

use std::path::Path;

/// Replaces a file as a whole by one that only this user may read.
pub fn write_private(file: &Path, content: &str) -> std::io::Result<()> {
    use std::io::Write;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let new = folder.join(format!(".trailblaze-{}", trailblaze_core::ids::run_suffix()));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&new).and_then(|mut opened| opened.write_all(content.as_bytes()));
    let written = written.and_then(|()| std::fs::rename(&new, file));
    if written.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    written
}
