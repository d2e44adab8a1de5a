//! How clients find the daemon: a file with its address and key, and a lock that it holds while it lives.

use std::fs::{File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use crate::files::{private, runtime, slug};
use crate::project::environment::Environment;

/// The daemon's files. A program that a team built with its own tools has a daemon of its own.
#[derive(Debug, Clone)]
pub struct DaemonFiles {
    folder: PathBuf,
    program: String,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot use `{}`: {source}", folder.display())]
pub struct FilesError {
    folder: PathBuf,
    source: io::Error,
}

/// What clients need to know to use a daemon. Any program that can read it may use all sessions.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyFile {
    pub version: Version,
    pub pid: u32,
    /// Such as `http://127.0.0.1:52525`.
    pub address: String,
    pub key: String,
}

/// The version of a program: its number, and when and how large its file was built.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Version(pub String);

impl Version {
    /// The version of the program in this file.
    pub fn of_program(number: &str, file: Option<&Path>) -> Version {
        let facts = file.and_then(|file| std::fs::metadata(file).ok());
        let stamp = facts.and_then(|facts| {
            let built = facts.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
            Some(format!("{:x}-{:x}", built.as_millis(), facts.len()))
        });
        Version(format!("{number}+{}", stamp.unwrap_or_default()))
    }
}

impl DaemonFiles {
    /// The files of a program's daemon, in a folder that only this user can use.
    pub fn of(environment: &Environment, program: &str) -> Result<DaemonFiles, FilesError> {
        let folder = runtime::folder(environment.text("XDG_RUNTIME_DIR"), environment.text("TMPDIR"));
        let program = slug(program);
        match runtime::create(&folder) {
            Ok(()) => Ok(DaemonFiles { folder, program }),
            Err(source) => Err(FilesError { folder, source }),
        }
    }

    pub fn key(&self) -> PathBuf {
        self.folder.join(format!("{}.daemon.json", self.program))
    }

    fn lock(&self) -> PathBuf {
        self.folder.join(format!("{}.daemon.lock", self.program))
    }

    pub fn log(&self) -> PathBuf {
        self.folder.join(format!("{}.daemon.log", self.program))
    }

    /// Held by the daemon while it lives. `None` if another process holds it.
    pub fn take_lock(&self) -> io::Result<Option<DaemonLock>> {
        let file = private::open(&self.lock())?;
        match file.try_lock() {
            Ok(()) => Ok(Some(DaemonLock(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Whether a daemon lives.
    pub fn is_locked(&self) -> bool {
        // A shared lock, so that two clients that ask at the same time do not take each other for a daemon.
        let Ok(file) = File::open(self.lock()) else { return false };
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
    }

    /// The file of the daemon that lives, if there is one. What a killed daemon left is ignored.
    pub fn read(&self) -> Option<KeyFile> {
        let path = self.key();
        runtime::is_ours(&path).ok()?;
        let mut file = File::open(&path).ok()?;
        let is_live = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
        let mut text = String::new();
        file.read_to_string(&mut text).ok().filter(|_| is_live)?;
        serde_json::from_str(&text).ok()
    }

    /// Writes the file. It stays locked while the returned handle lives, so a key file without a lock was left by a
    /// daemon that was killed.
    pub fn write(&self, file: &KeyFile) -> io::Result<DaemonLock> {
        private::write_locked(&self.key(), serde_json::to_vec(file)?).map(DaemonLock)
    }

    /// Whether the lock that clients see is this one. It is not if someone removed the folder.
    pub fn is_own_lock(&self, lock: &DaemonLock) -> bool {
        is_at(&lock.0, &self.lock())
    }

    /// Whether the key file that clients see is this one.
    pub fn is_own_key(&self, key: &DaemonLock) -> bool {
        is_at(&key.0, &self.key())
    }

    /// Whether the key file says this. Someone may have overwritten it in place.
    pub fn says(&self, file: &KeyFile) -> bool {
        std::fs::read(self.key()).ok() == serde_json::to_vec(file).ok()
    }
}

/// Whether a path still leads to this open file, and other users have no access to it.
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(open), Ok(found)) = (file.metadata(), path.symlink_metadata()) else { return false };
    (open.dev(), open.ino()) == (found.dev(), found.ino()) && found.mode() & 0o077 == 0
}

/// The operating system releases it when the process ends.
pub struct DaemonLock(#[allow(dead_code, reason = "it is held, not used")] File);
