//! What is inside a project, in fact and not only by name. A project may come from somebody else: a link in it must not make us
//! overwrite files of this user that have nothing to do with it.

use std::io;
use std::path::{Component, Path, PathBuf};

use super::atomic::followed;
use super::{private, write_atomically};

/// Whether a path leads into a folder, links included. The file need not exist.
pub fn is_inside(root: &Path, path: &Path) -> bool {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
    is_plain(path) && existing_part(path).is_some_and(|existing| existing.starts_with(&root))
}

/// The part of a path that exists, without links. `None` if the rest could lead anywhere.
fn existing_part(path: &Path) -> Option<PathBuf> {
    let path = followed(path).ok()?;
    let existing = path.ancestors().find(|folder| folder.symlink_metadata().is_ok())?;
    let rest = path.strip_prefix(existing).ok()?;
    is_plain(rest).then(|| existing.canonicalize().ok()).flatten()
}

/// Fails if a path is in a project by its name, but a link leads out of it. What is outside by name was chosen by the user.
pub fn check_links(root: &Path, path: &Path) -> io::Result<()> {
    if !path.starts_with(root) || !is_plain(path) || is_inside(root, path) {
        return Ok(());
    }
    let is_link = |path: &&Path| path.symlink_metadata().is_ok_and(|facts| facts.is_symlink());
    let link = path.ancestors().take_while(|folder| *folder != root).filter(is_link).last().unwrap_or(path);
    let name = link.strip_prefix(root).unwrap_or(link).display();
    let text = format!("`{name}` is a link that leads out of the project, and is not followed; remove it");
    Err(io::Error::new(io::ErrorKind::PermissionDenied, text))
}

/// Writes a file of a project completely or not at all, and creates its folder if it is missing. Links are followed within the project
/// only, and an existing file keeps its permissions.
pub fn write_in_project(root: &Path, path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    check_links(root, path)?;
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    write_atomically(path, content)
}

/// Like [`write_in_project`], for a file that only this user may read. A link is replaced.
pub fn write_private(root: &Path, path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    check_links(root, path.parent().unwrap_or(root))?;
    private::write(path, content)
}

fn is_plain(path: &Path) -> bool {
    path.components().all(|part| !matches!(part, Component::ParentDir))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_followed_within_the_project_only() {
        let home = tempfile::tempdir().expect("a folder");
        let root = home.path().join("project");
        std::fs::create_dir_all(root.join("trails")).expect("a folder");
        std::fs::write(home.path().join("own"), "mine").expect("a file");
        std::fs::write(root.join("trails/real"), "old").expect("a file");
        symlink(home.path().join("own"), root.join("file")).expect("a link");
        symlink("../own", root.join("relative")).expect("a link");
        symlink(home.path().join("nowhere"), root.join("dangling")).expect("a link");
        symlink(home.path(), root.join("folder")).expect("a link");
        symlink("trails/real", root.join("within")).expect("a link");
        symlink("../fresh", root.join("trails/fresh")).expect("a link");
        symlink("nowhere/../../own", root.join("winding")).expect("a link");
        for (path, link) in [
            ("file", "file"),
            ("relative", "relative"),
            ("dangling", "dangling"),
            ("winding", "winding"),
            ("folder/own", "folder"),
            ("folder/a/b", "folder"),
        ] {
            let error = write_in_project(&root, &root.join(path), "changed").expect_err("it is refused").to_string();
            assert!(error.starts_with(&format!("`{link}` is a link that leads out of the project")), "{path}: {error}");
        }
        assert_eq!(std::fs::read_to_string(home.path().join("own")).expect("it is there"), "mine");
        assert!(!home.path().join("nowhere").exists() && !home.path().join("a").exists());
        write_in_project(&root, &root.join("within"), "new").expect("it is written");
        write_in_project(&root, &root.join("new/file"), "new").expect("it is written");
        write_in_project(&root, &root.join("trails/fresh"), "new").expect("it is written");
        assert_eq!(std::fs::read_to_string(root.join("fresh")).expect("it is there"), "new");
        assert_eq!(std::fs::read_to_string(root.join("trails/real")).expect("it is there"), "new");
        // The user named it.
        write_in_project(&root, &home.path().join("outside"), "new").expect("it is written");
        write_in_project(&root, &root.join("../outside"), "new").expect("it is written");
        write_private(&root, &root.join("file"), "new").expect("the link is replaced");
        assert!(write_private(&root, &root.join("folder/own"), "new").is_err());
        assert_eq!(std::fs::read_to_string(home.path().join("own")).expect("it is there"), "mine");
    }
}
