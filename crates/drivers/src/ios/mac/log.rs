//! What an app on a simulator logs, as events of the device.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio_util::task::AbortOnDropHandle;
use trailblaze_core::driver::{Budget, DeviceEvents};
use trailblaze_protocol::device_event::DeviceEvent;
use trailblaze_protocol::event::Level;
use trailblaze_supervise::{Child, Running};

use super::simulator::Simulator;

/// The log of the app that was launched last.
#[derive(Default)]
pub struct SimulatorLog {
    following: Mutex<Option<FollowedLog>>,
}

struct FollowedLog {
    process: String,
    _log: Child,
    _reading: AbortOnDropHandle<()>,
}

impl SimulatorLog {
    /// Follows what an app logs from now on. A log that cannot be followed is no reason to fail.
    pub async fn follow(&self, simulator: &Simulator, events: &Arc<DeviceEvents>, app: &str, budget: &Budget) {
        let Some(process) = simulator.process_name(budget, app).await else { return };
        if self.following.lock().as_ref().is_some_and(|known| known.process == process) {
            return;
        }
        let predicate = format!("process == \"{process}\"");
        let arguments = ["spawn", &simulator.udid, "log", "stream", "--style", "ndjson", "--predicate", &predicate];
        let Ok(Running { stdout, child, .. }) = simulator.programs.start_simctl(&arguments).await else { return };
        let events = Arc::clone(events);
        let reading = AbortOnDropHandle::new(tokio::spawn(async move {
            let mut lines = BufReader::new(stdout).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                if let Some(event) = entry(&line) {
                    events.add(event);
                }
            }
        }));
        *self.following.lock() = Some(FollowedLog { process, _log: child, _reading: reading });
    }

    pub fn stop(&self) {
        self.following.lock().take();
    }
}

/// Reads one line of `log stream --style ndjson`. Others, such as the first one, are left out.
fn entry(line: &str) -> Option<DeviceEvent> {
    let entry: Value = serde_json::from_str(line).ok()?;
    let text = entry.get("eventMessage")?.as_str()?.to_string();
    let level = match entry.get("messageType")?.as_str()? {
        "Error" | "Fault" => Level::Error,
        "Default" | "Info" => Level::Info,
        _ => return None,
    };
    Some(DeviceEvent::Log { level, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_log_are_read_and_others_left_out() {
        let log = |level, text: &str| Some(DeviceEvent::Log { level, text: text.to_string() });
        assert_eq!(entry(r#"{"eventMessage": "no card", "messageType": "Fault"}"#), log(Level::Error, "no card"));
        assert_eq!(entry(r#"{"eventMessage": "paid", "messageType": "Default"}"#), log(Level::Info, "paid"));
        for other in [
            "Filtering the log data using \"process == \\\"Wallet\\\"\"",
            r#"{"eventMessage": "noise", "messageType": "Debug"}"#,
            r#"{"messageType": "Default"}"#,
            "",
        ] {
            assert_eq!(entry(other), None, "{other}");
        }
    }
}
