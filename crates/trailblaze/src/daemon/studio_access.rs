//! Who may use the studio, and for which projects. A command gets an address with a key; the page exchanges the key for a cookie.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use trailblaze_core::ids;

use crate::files::slug;
use crate::output::report::served;
use crate::sessions::service::{ClientPlace, Entrance, ServiceError};

/// How long the key in an address can be used.
const KEY_LIFE: Duration = Duration::from_secs(10 * 60);
/// How many keys and cookies are known at a time; the oldest end first.
const MOST_KEYS: usize = 64;
const MOST_COOKIES: usize = 256;

/// The keys and cookies that were given out, and the projects that the studio was opened for.
#[derive(Default)]
pub struct StudioAccess {
    keys: Mutex<Vec<(Digested, Instant)>>,
    cookies: Mutex<Vec<Digested>>,
    workspaces: Mutex<HashMap<String, Workplace>>,
}

/// Compared instead of the text itself, so that the time that takes says nothing about it.
type Digested = [u8; 32];

/// A project that the studio was opened for.
#[derive(Debug, Clone)]
pub struct Workplace {
    pub id: String,
    pub client: ClientPlace,
    pub root: PathBuf,
    /// The device that was named.
    pub device: Option<String>,
}

impl Workplace {
    /// The folder that a run with this name would have. `None` if it is not the name of a folder.
    pub fn run_folder(&self, run: &str) -> Option<PathBuf> {
        let is_name = !run.is_empty() && !run.contains(['/', '\\']) && !run.starts_with('.');
        is_name.then(|| self.root.join("logs").join(run))
    }
}

impl StudioAccess {
    /// Admits a page to a project. Returns the id of the workspace, and a key that can be used once.
    pub fn open(&self, client: ClientPlace, root: &Path, device: Option<String>) -> (String, String) {
        let id = workspace_id(root);
        let client = ClientPlace { project: Some(root.to_path_buf()), ..client };
        let place = Workplace { id: id.clone(), client, root: root.to_path_buf(), device };
        self.workspaces.lock().insert(id.clone(), place);
        let key = ids::session_key();
        let mut keys = self.keys.lock();
        keys.retain(|(_, made)| made.elapsed() < KEY_LIFE);
        if keys.len() >= MOST_KEYS {
            keys.remove(0);
        }
        keys.push((digest(&key), Instant::now()));
        (id, key)
    }

    /// The project of a request.
    pub fn workplace(&self, id: &str) -> Result<Workplace, ServiceError> {
        let found = self.workspaces.lock().get(id).cloned();
        found.ok_or_else(|| {
            ServiceError::invalid("this page was opened for a project that is no longer known")
                .with_hint("run `trailblaze studio` in the project's folder again")
        })
    }
}

impl Entrance for StudioAccess {
    fn enter(&self, key: &str) -> Option<String> {
        let presented = digest(key);
        let mut keys = self.keys.lock();
        keys.retain(|(_, made)| made.elapsed() < KEY_LIFE);
        let place = keys.iter().position(|(known, _)| *known == presented)?;
        keys.remove(place);
        let cookie = ids::session_key();
        let mut cookies = self.cookies.lock();
        if cookies.len() >= MOST_COOKIES {
            cookies.remove(0);
        }
        cookies.push(digest(&cookie));
        Some(cookie)
    }

    fn admits(&self, cookie: &str) -> bool {
        let presented = digest(cookie);
        self.cookies.lock().contains(&presented)
    }

    fn run_file(&self, workspace: &str, run: &str, file: &str) -> Option<PathBuf> {
        let place = self.workplace(workspace).ok()?;
        served::file(&place.run_folder(run)?, file)
    }
}

fn digest(text: &str) -> Digested {
    Sha256::digest(text.as_bytes()).into()
}

/// The same for the same folder, so that a page stays valid when the daemon is replaced.
fn workspace_id(root: &Path) -> String {
    let hash = digest(&root.to_string_lossy());
    let name = slug(root.file_name().and_then(|name| name.to_str()).unwrap_or("project"));
    let hash: String = hash.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{name}-{hash}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_exchanged_once_for_a_cookie() {
        let access = StudioAccess::default();
        let (workspace, key) = access.open(ClientPlace::default(), Path::new("/projects/My Shop"), None);
        assert!(workspace.starts_with("My-Shop-"), "{workspace}");
        assert!(access.enter("nonsense").is_none() && !access.admits("nonsense") && !access.admits(&key));
        let cookie = access.enter(&key).unwrap();
        assert!(access.admits(&cookie) && access.enter(&key).is_none());
        assert!(access.workplace(&workspace).is_ok() && access.workplace("other").is_err());
    }
}
