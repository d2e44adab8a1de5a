//! Firefox, for tests. Each device has one of its own, so that none is shared.

use std::path::PathBuf;
use std::sync::OnceLock;

use super::skip;

/// Where Firefox is. Without one, the test is skipped locally and fails in CI.
pub fn find() -> Option<PathBuf> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        if let Some(path) = std::env::var_os("TRAILBLAZE_TEST_FIREFOX").filter(|path| !path.is_empty()) {
            return Some(PathBuf::from(path));
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
        let mut places =
            ["firefox-esr", "firefox"].iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
        places.find(|place| place.is_file())
    });
    if found.is_none() {
        skip::without_part("there is no Firefox: `scripts/parts` installs one, or name it in TRAILBLAZE_TEST_FIREFOX");
    }
    found.clone()
}
