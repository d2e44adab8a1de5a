//! The events of a device, from the driver to the engine.

use parking_lot::Mutex;
use tokio::sync::Notify;
use trailblaze_protocol::device_event::DeviceEvent;

/// How many events wait to be taken: those that are routine, crashes and dialogs of the system, and others.
const ROUTINE: usize = 1000;
const OBSTACLES: usize = 100;
const OTHERS: usize = 1000;
/// The longest text in one of them, in bytes.
const LONGEST: usize = 4096;

/// What a device said and did by itself, until the engine takes it. Of too many, the rest is left out, which an event says.
#[derive(Default)]
pub struct DeviceEvents {
    waiting: Mutex<WaitingEvents>,
    added: Notify,
}

#[derive(Default)]
struct WaitingEvents {
    all: Vec<DeviceEvent>,
    n_routine: usize,
    n_obstacles: usize,
    n_others: usize,
}

impl DeviceEvents {
    pub fn add(&self, mut event: DeviceEvent) {
        event.texts_mut().into_iter().for_each(|text| *text = cut(text, LONGEST));
        let mut waiting = self.waiting.lock();
        let (n, most, what) = match &event {
            event if event.is_routine() => {
                (&mut waiting.n_routine, ROUTINE, "the device makes too many requests; the rest is left out")
            }
            // However much is logged, nobody must miss these.
            DeviceEvent::Crash { .. } | DeviceEvent::SystemDialog { .. } => {
                (&mut waiting.n_obstacles, OBSTACLES, "the device crashes too often; the rest is left out")
            }
            _ => (&mut waiting.n_others, OTHERS, "the device logs too much; the rest is left out"),
        };
        *n += 1;
        let event = match (*n).cmp(&(most + 1)) {
            std::cmp::Ordering::Less => event,
            std::cmp::Ordering::Equal => DeviceEvent::Log { level: event.level(), text: what.to_string() },
            std::cmp::Ordering::Greater => return,
        };
        waiting.all.push(event);
        drop(waiting);
        self.added.notify_waiters();
    }

    /// Those that were added since this was last called, oldest first.
    pub fn take(&self) -> Vec<DeviceEvent> {
        std::mem::take(&mut *self.waiting.lock()).all
    }

    /// Returns when there are events to take.
    pub async fn any(&self) {
        loop {
            let added = self.added.notified();
            tokio::pin!(added);
            // Subscribes before checking, so that nothing in between is missed.
            added.as_mut().enable();
            if !self.waiting.lock().all.is_empty() {
                return;
            }
            added.await;
        }
    }
}

/// A text of a device, cut off if it is too long. The ellipsis tells the engine, which redacts secrets, that the end is missing.
pub fn cut(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return text.to_string();
    }
    let end = text.floor_char_boundary(longest.saturating_sub('…'.len_utf8()));
    format!("{}…", &text[..end])
}
