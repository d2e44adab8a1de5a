//! What an app writes to the log of the phone, as events of the device.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use trailblaze_core::driver::{Budget, DeviceEvents, LaunchMode};
use trailblaze_protocol::device_event::DeviceEvent;
use trailblaze_protocol::event::Level;

use super::adb::{ShellSession, quote};
use super::phone::Phone;

/// An app may be silent for this long.
const SILENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// Follows the log of the app that was launched last.
#[derive(Default)]
pub struct AppLog {
    /// The process, until another one is followed or the phone is closed.
    following: Mutex<Option<(u32, AbortOnDropHandle<()>)>>,
}

impl AppLog {
    /// Follows an app that was launched, if it has a process. A log that cannot be followed is no reason to fail.
    pub async fn follow(
        &self,
        phone: &Phone,
        events: &Arc<DeviceEvents>,
        budget: &Budget,
        (app, mode): (&str, LaunchMode),
    ) {
        let Ok(printed) = phone.run(budget, &format!("pidof {}", quote(app))).await else { return };
        let printed = printed.text();
        let Some(pid) = printed.split_whitespace().next().and_then(|pid| pid.parse().ok()) else { return };
        if self.following.lock().as_ref().is_some_and(|(known, _)| *known == pid) {
            return;
        }
        // What a process logged before this launch is left out.
        let since = if mode == LaunchMode::Resume { " -T 1" } else { "" };
        let Ok(session) = phone.device.start(budget, &format!("logcat -v brief{since} --pid={pid} '*:I'")).await else {
            return;
        };
        let following = AbortOnDropHandle::new(tokio::spawn(pass_on(session, Arc::clone(events))));
        *self.following.lock() = Some((pid, following));
    }

    pub fn stop(&self) {
        self.following.lock().take();
    }
}

async fn pass_on(mut log: ShellSession, events: Arc<DeviceEvents>) {
    loop {
        let budget = Budget::new(Instant::now() + SILENCE, CancellationToken::new());
        let Ok(line) = log.next_line(&budget).await else { return };
        if let Some(event) = entry(&line) {
            events.add(event);
        }
    }
}

/// Reads `W/Wallet  ( 4242): no card`.
fn entry(line: &str) -> Option<DeviceEvent> {
    let (level, rest) = line.split_once('/')?;
    let level = match level {
        "I" => Level::Info,
        "W" => Level::Warning,
        "E" | "F" => Level::Error,
        _ => return None,
    };
    let (source, message) = rest.split_once("): ").or_else(|| rest.strip_suffix("):").map(|source| (source, "")))?;
    let (tag, _) = source.rsplit_once('(')?;
    Some(DeviceEvent::Log { level, text: format!("{}: {message}", tag.trim_end()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_log_are_read_and_others_left_out() {
        let check = |line: &str, expected: Option<(Level, &str)>| {
            let read = entry(line);
            let expected = expected.map(|(level, text)| DeviceEvent::Log { level, text: text.to_string() });
            assert_eq!(read, expected, "{line}");
        };
        check("W/Wallet  ( 4242): no card", Some((Level::Warning, "Wallet: no card")));
        check("I/Net(log)(  7): (a): b", Some((Level::Info, "Net(log): (a): b")));
        check("E/AndroidRuntime(4242): ", Some((Level::Error, "AndroidRuntime: ")));
        check("E/AndroidRuntime(4242):", Some((Level::Error, "AndroidRuntime: ")));
        check("D/Wallet( 4242): noise", None);
        check("--------- beginning of main", None);
        check("", None);
    }
}
