//! Dialogs of Android itself that are in the way of an app: it crashed, it does not respond, it asks for a permission.

use trailblaze_core::driver::Budget;
use trailblaze_core::screen::{Field, Node};
use trailblaze_protocol::device_event::DeviceEvent;

use super::app_log::TRACE_LINES;
use super::hierarchy::ViewHierarchy;
use super::phone::Phone;

/// A dialog of the system, by what it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SystemDialog {
    Crash { title: String },
    NotResponding { title: String },
    Permission { title: String },
}

impl SystemDialog {
    /// The dialog that is on the screen.
    pub fn on(screen: &ViewHierarchy) -> Option<SystemDialog> {
        let title = || title(&screen.root);
        match screen.package.as_deref()? {
            "android" if has_id(&screen.root, "android:id/aerr_wait") => {
                Some(SystemDialog::NotResponding { title: title() })
            }
            "android" if has_id(&screen.root, "android:id/aerr_close") => Some(SystemDialog::Crash { title: title() }),
            package if package.ends_with(".permissioncontroller") => Some(SystemDialog::Permission { title: title() }),
            _ => None,
        }
    }

    /// What those who act on the phone must know. `is_told` is whether the log of the app has told that it crashed.
    pub async fn event(&self, phone: &Phone, budget: &Budget, is_told: bool) -> DeviceEvent {
        match self {
            SystemDialog::Crash { title } if is_told => {
                DeviceEvent::SystemDialog { text: format!("a dialog of Android says that an app crashed: {title}") }
            }
            SystemDialog::Crash { title } => {
                let trace = crash_trace(phone, budget).await;
                let trace = if trace.is_empty() { String::new() } else { format!("\n{}", trace.join("\n")) };
                DeviceEvent::Crash { why: format!("an app crashed, and Android says so in a dialog: {title}{trace}") }
            }
            SystemDialog::NotResponding { title } => {
                let why = why_silent(phone, budget).await.map(|why| format!("\n{why}")).unwrap_or_default();
                let text = format!("an app does not respond, and Android says so in a dialog: {title}{why}");
                DeviceEvent::SystemDialog { text }
            }
            SystemDialog::Permission { title } => {
                DeviceEvent::SystemDialog { text: format!("a dialog of Android asks for a permission: {title}") }
            }
        }
    }
}

fn has_id(root: &Node, id: &str) -> bool {
    root.walk().any(|node| node.props.text(Field::ResourceId) == Some(id))
}

/// The text of the element that has the title, or else the first text.
fn title(root: &Node) -> String {
    const TITLES: [&str; 2] = ["alertTitle", "permission_message"];
    let is_title = |node: &&Node| node.short_id().is_some_and(|id| TITLES.contains(&id));
    let titled = root.walk().find(is_title).and_then(Node::text);
    titled.or_else(|| root.walk().find_map(Node::text)).unwrap_or("it has no text").to_string()
}

/// What Android logged about the app that did not respond last: which one, and what it kept waiting.
async fn why_silent(phone: &Phone, budget: &Budget) -> Option<String> {
    let output = phone.run(budget, "logcat -d -v raw -t 500 -s ActivityManager:E").await.ok()?;
    newest_silence(&output.text())
}

fn newest_silence(log: &str) -> Option<String> {
    let lines: Vec<&str> = log.lines().map(str::trim_end).collect();
    let start = lines.iter().rposition(|line| line.starts_with("ANR in "))?;
    let reason = lines[start..].iter().take(TRACE_LINES).find(|line| line.starts_with("Reason:"));
    Some([Some(&lines[start]), reason].into_iter().flatten().copied().collect::<Vec<_>>().join("\n"))
}

/// The first lines of the newest crash in the log of the phone.
async fn crash_trace(phone: &Phone, budget: &Budget) -> Vec<String> {
    let Ok(output) = phone.run(budget, "logcat -b crash -d -v raw -t 200").await else { return Vec::new() };
    newest_trace(&output.text())
}

fn newest_trace(log: &str) -> Vec<String> {
    let lines: Vec<&str> = log.lines().collect();
    let start = lines.iter().rposition(|line| line.starts_with("FATAL EXCEPTION"));
    start.map_or_else(Vec::new, |start| {
        lines[start..].iter().take(TRACE_LINES).map(|line| line.trim_end().to_string()).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_crash_is_told() {
        let log = "FATAL EXCEPTION: main\nProcess: old, PID: 1\nFATAL EXCEPTION: main\nProcess: com.x, PID: 2\n\
                   java.lang.IllegalStateException: no card\n\tat com.x.Pay.go(Pay.java:7)\n";
        let trace = newest_trace(log);
        assert_eq!(trace[1], "Process: com.x, PID: 2");
        assert_eq!(trace.last().map(String::as_str), Some("\tat com.x.Pay.go(Pay.java:7)"));
        assert_eq!(newest_trace("nothing happened\n"), Vec::<String>::new());
    }

    #[test]
    fn an_app_that_does_not_respond_is_named_with_what_it_kept_waiting() {
        let log = "ANR in a.b (a.b/.Main)\nPID: 7\nReason: Input dispatching timed out\nLoad: 1.0\n";
        assert_eq!(newest_silence(log).as_deref(), Some("ANR in a.b (a.b/.Main)\nReason: Input dispatching timed out"));
        assert_eq!(newest_silence("nothing\n"), None);
    }
}
