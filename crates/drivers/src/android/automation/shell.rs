//! Looking at the screen without anything installed on the phone: `uiautomator dump` for the tree and `screencap` for the picture.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use trailblaze_core::driver::{Budget, DriverError};
use trailblaze_core::screen::{Picture, Pixels, Shape};
use trailblaze_protocol::geometry::Size;

use super::adb::{AdbError, ShellOutput};
use super::hierarchy::{DumpFault, ViewHierarchy};
use super::phone::Phone;
use super::readiness;

/// The most that a tree and a picture may have.
const TREE: usize = 32 * 1024 * 1024;
const PICTURE: usize = 128 * 1024 * 1024;
/// How many times a tree or a picture is asked for before it is given up.
const TRIES: u32 = 5;
/// The pause before the second try; each one after it is longer by this.
const PAUSE: Duration = Duration::from_millis(100);

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
/// The last chunk of a picture.
const PNG_END: &[u8] = b"IEND\xaeB`\x82";

/// The tree. The command needs a terminal: without one it prints nothing but that it succeeded.
pub async fn tree(phone: &Phone, budget: &Budget, shape: Shape) -> Result<ViewHierarchy, DriverError> {
    let started = Instant::now();
    let mut last = None;
    for number in 1..=TRIES {
        let printed = match phone.device.exec(budget, "uiautomator dump /dev/tty", TREE).await {
            Ok(printed) => printed,
            Err(error) => return Err(with_reason(error, last.as_ref())),
        };
        match ViewHierarchy::read(&printed, shape) {
            Ok(hierarchy) => {
                tracing::debug!(target: "trailblaze::android", took = ?started.elapsed(), number, "tree");
                return Ok(hierarchy);
            }
            Err(fault) => last = Some(fault),
        }
        if pause(budget, number).await.is_err() {
            break;
        }
    }
    let fault = last.map_or_else(String::new, |fault| fault.to_string());
    if let Some(why) = readiness::why_dark(phone, budget).await {
        return Err(DriverError::Refused { reason: why });
    }
    Err(DriverError::Refused { reason: fault })
}

/// The picture.
pub async fn picture(phone: &Phone, budget: &Budget) -> Result<Picture, DriverError> {
    let started = Instant::now();
    let mut last = String::new();
    for number in 1..=TRIES {
        let output = match phone.device.shell(budget, "screencap -p", PICTURE).await {
            // Taking it again does no harm.
            Err(AdbError::Closed { .. }) => ShellOutput::default(),
            output => output?,
        };
        match read_picture(&output.stdout) {
            Some(size) => {
                tracing::debug!(target: "trailblaze::android", took = ?started.elapsed(), number, "picture");
                return Ok(Picture { size, pixels: Pixels::Png(Arc::from(output.stdout)) });
            }
            None if output.stdout.starts_with(PNG) => {
                last = format!("the picture of `screencap` is cut off after {} bytes", output.stdout.len());
            }
            None => last = format!("`screencap` printed no picture: {}", output.complaint()),
        }
        if pause(budget, number).await.is_err() {
            break;
        }
    }
    Err(DriverError::Refused { reason: last })
}

/// The size of a picture, if it is whole.
fn read_picture(bytes: &[u8]) -> Option<Size> {
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let is_whole = bytes.starts_with(PNG) && bytes.ends_with(PNG_END);
    is_whole.then(|| Some(Size { width: number(16)?, height: number(20)? }))?
}

/// Waits before another try; an error if none is left or the time is up.
async fn pause(budget: &Budget, number: u32) -> Result<(), DriverError> {
    let pause = PAUSE * number;
    if number == TRIES || budget.remaining() <= pause {
        return Err(DriverError::TimedOut { what: "looking at the screen".to_string() });
    }
    budget.run("looking at the screen", tokio::time::sleep(pause)).await
}

/// A time-out says what the tries before it saw.
fn with_reason(error: AdbError, last: Option<&DumpFault>) -> DriverError {
    match (DriverError::from(error), last) {
        (DriverError::TimedOut { .. }, Some(fault)) => {
            DriverError::TimedOut { what: format!("looking at the screen: {fault}") }
        }
        (DriverError::TimedOut { .. }, None) => DriverError::TimedOut { what: "looking at the screen".to_string() },
        (error, _) => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_a_size_only_if_it_is_whole() {
        let whole = [PNG, b"\0\0\0\x0dIHDR\0\0\x04\x38\0\0\x09\x60\x08\x06\0\0\0", PNG_END].concat();
        assert_eq!(read_picture(&whole), Some(Size { width: 1080, height: 2400 }));
        assert_eq!(read_picture(&whole[..whole.len() - 1]), None);
        assert_eq!(read_picture(&[PNG, PNG_END].concat()), None);
        assert_eq!(read_picture(b""), None);
    }
}
