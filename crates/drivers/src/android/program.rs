//! Where the program `adb` is.

use std::ffi::OsStr;
use std::path::PathBuf;

use crate::provider::Machine;

#[cfg(windows)]
const NAME: &str = "adb.exe";
#[cfg(not(windows))]
const NAME: &str = "adb";

/// The program of the PATH, or else that of an installed SDK.
pub fn find_adb(machine: &Machine) -> Option<PathBuf> {
    let path = machine.var("PATH").unwrap_or(OsStr::new(""));
    let sdk = ["ANDROID_HOME", "ANDROID_SDK_ROOT"].into_iter().filter_map(|name| machine.var(name));
    let folders = std::env::split_paths(path).chain(sdk.map(|sdk| PathBuf::from(sdk).join("platform-tools")));
    folders.filter(|folder| folder.is_absolute()).map(|folder| folder.join(NAME)).find(|program| program.is_file())
}
