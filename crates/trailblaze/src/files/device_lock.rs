//! Locks for devices that only one session on this machine can use, such as phones, across projects and processes.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use super::{private, runtime, slug};

/// The most that is read of what a holder wrote about itself.
const MOST_BYTES: u64 = 1000;

/// Held while a session uses a device. The operating system releases it when the process ends.
#[derive(Debug)]
pub struct DeviceLock(File);

impl Drop for DeviceLock {
    /// Closing the file is not enough: a child process that is just being started has a copy of it for a moment.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Why a device cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("{holder} uses it")]
    Held { holder: String },
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl DeviceLock {
    /// Locks a device by the id that it has on this machine. Others who want it are told who has it.
    pub fn take(folder: &Path, id: &str, holder: &str) -> Result<DeviceLock, LockError> {
        runtime::create(folder)?;
        let path = folder.join(format!("{}.device.lock", slug(id)));
        let mut file = private::open_to_update(&path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::Error(error)) => return Err(error.into()),
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                let _ = file.take(MOST_BYTES).read_to_string(&mut text);
                let known = text.lines().next().filter(|line| !line.is_empty());
                return Err(LockError::Held { holder: known.unwrap_or("another process").to_string() });
            }
        }
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{}", holder.replace(['\n', '\r'], " "))?;
        Ok(DeviceLock(file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_belongs_to_one_holder_until_it_lets_go() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = place.path().join("locks");
        let first = DeviceLock::take(&folder, "emulator-5554", "run 7 of shop").expect("nobody has it");
        let held = DeviceLock::take(&folder, "emulator-5554", "another").expect_err("it is taken");
        assert_eq!(held.to_string(), "run 7 of shop uses it");
        DeviceLock::take(&folder, "emulator-5556", "another").expect("this is another device");
        drop(first);
        DeviceLock::take(&folder, "emulator-5554", "another").expect("it is free again");
    }
}
