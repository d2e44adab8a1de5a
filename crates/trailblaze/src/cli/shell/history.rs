//! The lines typed in earlier shells. The file is readable only by the user.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::PathBuf;

use super::parse::split;
use crate::files::write_atomically;
use crate::project::environment::Environment;
use crate::sessions::interactive::Interactive;

/// How many lines the history keeps.
pub const LINES: usize = 1_000;

/// The file may grow to twice as many lines before it is truncated.
pub struct ShellHistory {
    file: Option<File>,
}

impl ShellHistory {
    /// Opens the user's history and returns its lines, oldest first. If it cannot be opened, nothing is kept.
    pub fn open(environment: &Environment) -> (ShellHistory, Vec<String>) {
        let none = || (ShellHistory { file: None }, Vec::new());
        let Some(path) = path(environment) else { return none() };
        let Some(folder) = path.parent() else { return none() };
        if DirBuilder::new().recursive(true).mode(0o700).create(folder).is_err() {
            return none();
        }
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let all: Vec<&str> = text.lines().collect();
        let lines = &all[all.len().saturating_sub(LINES)..];
        if all.len() > 2 * LINES {
            let _ = write_atomically(&path, lines.join("\n") + "\n");
        }
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(&path);
        let file = file.and_then(|file| file.set_permissions(Permissions::from_mode(0o600)).map(|()| file)).ok();
        (ShellHistory { file }, lines.iter().map(ToString::to_string).collect())
    }

    /// Appends a line.
    pub fn add(&mut self, line: &str) {
        if let Some(file) = &mut self.file
            && writeln!(file, "{line}").is_err()
        {
            // A full disk should not disturb the session, and retrying at every line would not help.
            self.file = None;
        }
    }
}

/// `$XDG_STATE_HOME/trailblaze/shell-history`, by default in `~/.local/state`.
fn path(environment: &Environment) -> Option<PathBuf> {
    let absolute = |name: &str| environment.var(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
    Some(state.join("trailblaze").join("shell-history"))
}

/// A line as it is saved, with the names of secrets in place of their values. `None` if it must not be saved, because
/// it is blank, begins with a space, or contains a secret that is split by quoting.
pub fn fit_to_keep(session: &Interactive, line: &str) -> Option<String> {
    let secrets = session.secrets();
    if line.trim().is_empty() || line.starts_with(' ') || line.contains(char::is_control) {
        return None;
    }
    let kept = secrets.redact(line).into_owned();
    let words = split(&kept).ok()?;
    let is_clean = words.iter().all(|word| secrets.redact(word) == word.as_str());
    is_clean.then_some(kept)
}
