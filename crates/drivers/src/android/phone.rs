//! The shell of a phone.

use trailblaze_core::driver::{Budget, DriverError};

use super::adb::{AdbDevice, AdbError, AdbShellOutput};

/// The most that a command may print.
const OUTPUT: usize = 4 * 1024 * 1024;

/// A phone whose commands can be run.
#[derive(Debug, Clone)]
pub struct Phone {
    pub device: AdbDevice,
}

impl Phone {
    /// Runs a command, whether or not it succeeds.
    pub async fn run(&self, budget: &Budget, command: &str) -> Result<AdbShellOutput, AdbError> {
        self.device.shell(budget, command, OUTPUT).await
    }

    /// Runs a command that must succeed, and returns what it prints.
    pub async fn must(&self, budget: &Budget, command: &str) -> Result<String, DriverError> {
        let output = self.run(budget, command).await?;
        match output.is_success() {
            true => Ok(output.text()),
            false => Err(refused(command, &output.complaint())),
        }
    }
}

/// The error of a command that a phone refused. The message has only the name of the command: its arguments may be secret.
pub fn refused(command: &str, complaint: &str) -> DriverError {
    let name = command.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    DriverError::Refused { reason: format!("`{name}` failed on the phone: {}", with_hint(complaint)) }
}

/// A complaint of the phone, with what to do about it where that is known.
pub fn with_hint(complaint: &str) -> String {
    let hint = match complaint.contains("INJECT_EVENTS") {
        true => "; some phones allow it only with \"USB debugging (Security settings)\" in their developer options",
        false => "",
    };
    format!("{complaint}{hint}")
}
