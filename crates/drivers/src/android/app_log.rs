//! What an app writes to the log of the phone, as events of the device.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::OnceCell;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use trailblaze_core::driver::{Budget, DeviceEvents, DriverError, LaunchMode};
use trailblaze_protocol::device_event::DeviceEvent;
use trailblaze_protocol::event::Level;

use super::adb::{ShellSession, quote};
use super::automation::random_name;
use super::phone::Phone;
use super::undo::{UndoShell, ends_processes};

/// An app may be silent for this long.
const SILENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// How long no line must follow those of a crash for it to be told.
const PAUSE: Duration = Duration::from_millis(300);
/// How many lines of a stack trace are told.
pub const TRACE_LINES: usize = 8;
const RUNTIME: &str = "AndroidRuntime: ";
const FATAL: &str = "AndroidRuntime: FATAL EXCEPTION";

/// Follows the log of the app that was launched last.
#[derive(Default)]
pub struct AppLog {
    /// Whether the app that is followed crashed.
    has_crashed: Arc<AtomicBool>,
    /// An argument of the processes that print the log, by which they are ended if the connection to them is lost.
    mark: OnceCell<String>,
    /// The process, until another one is followed or the phone is closed.
    following: Mutex<Option<(u32, AbortOnDropHandle<()>)>>,
}

impl AppLog {
    /// Follows an app that was launched, if it has a process. A log that cannot be followed is no reason to fail.
    pub async fn follow(
        &self,
        (phone, undo): (&Phone, &UndoShell),
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
        let marked = self.mark.get_or_try_init(async || {
            let mark = format!("trailblaze-{}", random_name()?);
            undo.keep(phone, budget, &ends_processes(&mark)).await?;
            Ok::<_, DriverError>(mark)
        });
        let Ok(mark) = marked.await else { return };
        // What a process logged before this launch is left out. The mark is the name of a tag that nobody uses.
        let since = if mode == LaunchMode::Resume { " -T 1" } else { "" };
        let command = format!("logcat -v brief{since} --pid={pid} '*:I' {mark}:S");
        let Ok(session) = phone.device.start(budget, &command).await else { return };
        self.has_crashed.store(false, Ordering::Relaxed);
        let told = pass_on(session, Arc::clone(events), Arc::clone(&self.has_crashed));
        let following = AbortOnDropHandle::new(tokio::spawn(told));
        *self.following.lock() = Some((pid, following));
    }

    /// Whether the log has told that the app crashed.
    pub fn has_crashed(&self) -> bool {
        self.has_crashed.load(Ordering::Relaxed)
    }

    pub fn stop(&self) {
        self.following.lock().take();
    }
}

async fn pass_on(mut log: ShellSession, events: Arc<DeviceEvents>, has_crashed: Arc<AtomicBool>) {
    let mut trace = CrashTrace::default();
    let tell = |trace: &mut CrashTrace| {
        events.add(trace.take());
        has_crashed.store(true, Ordering::Relaxed);
    };
    loop {
        let budget = Budget::new(Instant::now() + SILENCE, CancellationToken::new());
        let next = log.next_line(&budget);
        tokio::pin!(next);
        let line = match trace.is_empty() {
            true => next.await,
            false => match tokio::time::timeout(PAUSE, &mut next).await {
                Ok(line) => line,
                Err(_) => {
                    tell(&mut trace);
                    next.await
                }
            },
        };
        let line = line.ok();
        let event = line.as_deref().and_then(entry);
        if let Some(DeviceEvent::Log { text, .. }) = &event
            && trace.add(text)
        {
            continue;
        }
        if !trace.is_empty() {
            tell(&mut trace);
        }
        match (line, event) {
            (None, _) => return,
            (_, Some(event)) => events.add(event),
            _ => {}
        }
    }
}

/// The first lines that the runtime of Android logs about an exception that nothing caught.
#[derive(Default)]
struct CrashTrace(Vec<String>);

impl CrashTrace {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the line belongs to it.
    fn add(&mut self, text: &str) -> bool {
        let belongs = text.starts_with(FATAL) || (!self.is_empty() && text.starts_with(RUNTIME));
        if belongs && self.0.len() < TRACE_LINES {
            self.0.push(text.trim_start_matches(RUNTIME).to_string());
        }
        belongs
    }

    fn take(&mut self) -> DeviceEvent {
        let lines = std::mem::take(&mut self.0);
        DeviceEvent::Crash { why: format!("the app crashed:\n{}", lines.join("\n")) }
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

    #[test]
    fn the_lines_of_a_crash_belong_together() {
        let mut trace = CrashTrace::default();
        assert!(!trace.add("AndroidRuntime: Shutting down VM") && trace.is_empty());
        assert!(trace.add("AndroidRuntime: FATAL EXCEPTION: main"));
        assert!(trace.add("AndroidRuntime: java.lang.IllegalStateException: no card"));
        for _ in 0..20 {
            assert!(trace.add("AndroidRuntime: \tat com.x.Pay.go(Pay.java:7)"));
        }
        assert!(!trace.add("Process: Sending signal"));
        let DeviceEvent::Crash { why } = trace.take() else { panic!("a crash") };
        assert!(why.starts_with("the app crashed:\nFATAL EXCEPTION: main\njava.lang.IllegalStateException: no card\n"));
        assert_eq!((why.lines().count(), trace.is_empty()), (TRACE_LINES + 1, true));
    }
}
