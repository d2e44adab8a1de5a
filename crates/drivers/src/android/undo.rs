//! Puts back what a session changed on the phone, whatever happens.
//!
//! The commands that do so are kept by a shell on the phone itself. It runs them when its input ends: when the session is closed, and also
//! when this program is killed, the cable is pulled or the adb server ends.

use tokio::sync::Mutex;
use trailblaze_core::driver::{Budget, DriverError};

use super::adb::{AdbError, ShellSession};
use super::phone::Phone;

/// Keeps each line that it reads, newest first, and runs them when there are no more. The daemon of adb hangs up on a shell whose
/// connection is gone, so that is ignored.
const SCRIPT: &str = "trap '' HUP INT TERM; undo=; \
    while IFS= read -r line; do undo=\"$line; $undo\"; echo ok; done; eval \"$undo\" >/dev/null 2>&1";

/// The shell that keeps the commands; it is started with the first of them.
#[derive(Default)]
pub struct UndoShell {
    session: Mutex<Option<ShellSession>>,
}

impl UndoShell {
    /// Makes sure that `command` is run at the end, whatever happens. Must be called before what it undoes is done.
    pub async fn keep(&self, phone: &Phone, budget: &Budget, command: &str) -> Result<(), DriverError> {
        let mut session = budget.run("a command of the device", self.session.lock()).await?;
        if session.is_none() {
            *session = Some(phone.device.start(budget, SCRIPT).await?);
        }
        let Some(shell) = session.as_mut() else { return Ok(()) };
        match shell.exchange(budget, command).await {
            Ok(answer) if answer == "ok" => Ok(()),
            Ok(answer) => {
                *session = None;
                Err(AdbError::Protocol { what: format!("a shell that answers `{}`", answer.escape_debug()) }.into())
            }
            Err(error) => {
                *session = None;
                Err(error.into())
            }
        }
    }

    /// Runs the commands now, and waits until they are done.
    pub async fn run(&self, budget: &Budget) -> Result<(), DriverError> {
        let session = budget.run("a command of the device", self.session.lock()).await?.take();
        match session {
            Some(session) => session.finish(budget).await.map(|_| ()).map_err(DriverError::from),
            None => Ok(()),
        }
    }
}
