//! Copies files to and from the phone.

use std::path::Path;

use trailblaze_core::driver::{Budget, DriverError};

use super::adb::AdbError;
use super::automation::random_name;
use super::phone::Phone;
use super::readiness;

/// The largest file that is copied.
const LARGEST: usize = 512 * 1024 * 1024;
const FOLDER: &str = "/data/local/tmp";

/// A file of this machine.
pub async fn read(file: &str) -> Result<Vec<u8>, DriverError> {
    let path = file.to_string();
    let read = tokio::task::spawn_blocking(move || content(Path::new(&path))).await;
    let why = match read {
        Ok(Ok(content)) => return Ok(content),
        Ok(Err(why)) => why,
        Err(error) => error.to_string(),
    };
    Err(DriverError::Refused { reason: format!("`{file}` cannot be read: {why}") })
}

fn content(path: &Path) -> Result<Vec<u8>, String> {
    let about = path.metadata().map_err(|error| error.to_string())?;
    if !about.is_file() {
        return Err("it is not a file".to_string());
    }
    if about.len() > LARGEST as u64 {
        return Err(format!("it is larger than {} MB", LARGEST / 1024 / 1024));
    }
    std::fs::read(path).map_err(|error| error.to_string())
}

pub async fn push(phone: &Phone, budget: &Budget, file: &str, path: &str) -> Result<(), DriverError> {
    write(phone, budget, in_full(path)?, &read(file).await?).await
}

/// Writes a file on the phone. A daemon whose disk is full may say so, or only close the connection.
pub async fn write(phone: &Phone, budget: &Budget, path: &str, content: &[u8]) -> Result<(), DriverError> {
    let why = match phone.device.push(budget, path, content, 0o644).await {
        Ok(()) => return Ok(()),
        Err(AdbError::Refused { reason, .. }) => reason,
        Err(error @ AdbError::Closed { .. }) => error.to_string(),
        Err(error) => return Err(error.into()),
    };
    let why = readiness::why_full(phone, budget).await.unwrap_or(why);
    Err(DriverError::Refused { reason: format!("`{path}` cannot be written on the phone: {why}") })
}

pub async fn pull(phone: &Phone, budget: &Budget, path: &str) -> Result<Vec<u8>, DriverError> {
    match phone.device.pull(budget, in_full(path)?, LARGEST).await {
        Ok(content) => Ok(content),
        Err(AdbError::Refused { reason, .. }) => {
            Err(DriverError::Refused { reason: format!("`{path}` cannot be read on the phone: {reason}") })
        }
        Err(error) => Err(error.into()),
    }
}

fn in_full(path: &str) -> Result<&str, DriverError> {
    match path.starts_with('/') {
        true => Ok(path),
        false => Err(DriverError::Refused {
            reason: format!("`{path}` is no full path; write one such as /sdcard/Download/{path}"),
        }),
    }
}

/// The path of a file on the phone that is only there for a moment. Nobody else on the phone can guess it.
pub fn passing(kind: &str) -> Result<String, DriverError> {
    Ok(format!("{FOLDER}/trailblaze-{}.{kind}", random_name()?))
}
