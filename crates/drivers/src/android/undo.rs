//! Puts back what a session changed on the phone, whatever happens.
//!
//! The commands that do so are kept by a shell on the phone itself. It runs them when its input ends: when the session is closed, and also
//! when this program is killed, the cable is pulled or the adb server ends. Android ends that shell too if it starts the daemon of adb
//! again or the phone restarts; therefore it has them in a file as well, which the next session runs.

use tokio::sync::Mutex;
use trailblaze_core::driver::{Budget, DriverError};

use super::adb::{AdbError, ShellSession};
use super::phone::{Phone, refused};

/// Keeps each line that it reads, newest first, and runs them when it is told to or there are no more. A line that begins with `!` is run
/// at once, so that it has ended before it is undone. The daemon of adb hangs up on a shell whose connection is gone, so that is ignored.
/// Files may still be written then over other connections, so it waits for a moment, and does it again a little later.
const SCRIPT: &str = "trap '' HUP INT TERM PIPE; undo=; line=; file=/data/local/tmp/trailblaze-undo.$$; \
    while IFS= read -r line; do case \"$line\" in now) break;; \
    '!'*) said=$(eval \"${line#?}\" 2>&1 </dev/null) && echo ok || echo \"no $(printf %s \"$said\" | tr '\\n' ' ')\"; continue;; esac; \
    undo=\"$line; $undo\"; \
    printf %s \"$undo\" 2>/dev/null >\"$file\"; echo ok; done; [ \"$line\" = now ] && echo ok || \
    { sleep 1; eval \"$undo\" >/dev/null 2>&1; sleep 2; }; eval \"$undo\" >/dev/null 2>&1; rm -f \"$file\"";
const NOW: &str = "now";

/// Runs the files of shells that are gone, and waits for those that are about to put something back, so that their values are not taken for
/// those of the phone. A shell is one that has this script; one that stays belongs to another session.
const LEFT_BEHIND: &str = "is_there() { tr '\\0' ' ' 2>/dev/null </proc/$1/cmdline | grep -q trailblaze-undo; }; \
    for file in /data/local/tmp/trailblaze-undo.*; do [ -f \"$file\" ] || continue; \
    for second in 1 2 3 4 5; do is_there ${file##*.} && sleep 1; done; [ -f \"$file\" ] || continue; \
    is_there ${file##*.} && continue; \
    sh \"$file\" >/dev/null 2>&1; rm -f \"$file\"; echo \"$file\"; done; true";

/// Puts back what sessions left behind whose shell was ended before it could. Returns whether there were any.
pub async fn put_back_left_behind(phone: &Phone, budget: &Budget) -> Result<bool, DriverError> {
    Ok(!phone.run(budget, LEFT_BEHIND).await?.text().trim().is_empty())
}

/// The command that ends processes with a mark among their arguments. Those that were started while their connection ended are not ended
/// by the daemon of adb.
pub fn ends_processes(mark: &str) -> String {
    format!(
        "for one in $(grep -l {mark} /proc/[0-9]*/cmdline 2>/dev/null); do one=${{one#/proc/}}; \
         kill ${{one%/cmdline}}; done"
    )
}

/// The shell that keeps the commands; it is started with the first of them.
#[derive(Default)]
pub struct UndoShell {
    session: Mutex<Option<ShellSession>>,
}

impl UndoShell {
    /// Makes sure that `command` is run at the end, whatever happens. Must be called before what it undoes is done.
    pub async fn keep(&self, phone: &Phone, budget: &Budget, command: &str) -> Result<(), DriverError> {
        match self.exchange(phone, budget, command).await?.as_str() {
            "ok" => Ok(()),
            answer => {
                *self.session.lock().await = None;
                Err(AdbError::Protocol { what: format!("a shell that answers `{}`", answer.escape_debug()) }.into())
            }
        }
    }

    /// Runs a command that changes what the commands before it put back. It must succeed.
    pub async fn change(&self, phone: &Phone, budget: &Budget, command: &str) -> Result<(), DriverError> {
        let answer = self.exchange(phone, budget, &format!("!{command}")).await?;
        match answer.strip_prefix("no") {
            Some(complaint) => Err(refused(command, complaint.trim())),
            None => Ok(()),
        }
    }

    /// Sends a line to the shell, which is started with the first, and returns its answer.
    async fn exchange(&self, phone: &Phone, budget: &Budget, line: &str) -> Result<String, DriverError> {
        let mut session = budget.run("a command of the device", self.session.lock()).await?;
        let mut shell = match session.take() {
            Some(shell) => shell,
            None => phone.device.start(budget, SCRIPT).await?,
        };
        // One that did not answer is not used again: its connection ends here, and it undoes what it has.
        let answer = shell.exchange(budget, line).await;
        let answer = phone.device.explained(budget, answer).await?;
        *session = Some(shell);
        Ok(answer)
    }

    /// Runs the commands now, and waits until they are done.
    pub async fn run(&self, budget: &Budget) -> Result<(), DriverError> {
        let session = budget.run("a command of the device", self.session.lock()).await?.take();
        match session {
            Some(mut session) => {
                session.exchange(budget, NOW).await?;
                session.finish(budget).await.map(|_| ()).map_err(DriverError::from)
            }
            None => Ok(()),
        }
    }
}
