//! The port that events are written to.

use std::sync::{Arc, OnceLock};

use trailblaze_protocol::event::Event;

use crate::record::feed::Feed;
use crate::values::secret::Secrets;

/// The port to the record of a run. Implementations must not block: files are written off the critical path.
pub trait EventSink: Send + Sync {
    fn emit(&self, event: Event);

    /// The same for an event that the caller still needs.
    fn tell(&self, event: &Event) {
        self.emit(event.clone());
    }
}

/// A sink that redacts secrets. Everything that is recorded passes through one.
pub struct Redacted {
    record: Arc<dyn EventSink>,
    secrets: Arc<Secrets>,
    /// Present once a caller follows the events.
    feed: OnceLock<Arc<Feed>>,
}

impl Redacted {
    pub fn new(record: Arc<dyn EventSink>, secrets: Arc<Secrets>) -> Redacted {
        Redacted { record, secrets, feed: OnceLock::new() }
    }
}

impl Redacted {
    /// The events from now on, or from the first call of this method.
    pub fn feed(&self) -> &Arc<Feed> {
        self.feed.get_or_init(Arc::default)
    }
}

impl Drop for Redacted {
    fn drop(&mut self) {
        self.feed.get().iter().for_each(|feed| feed.end());
    }
}

impl EventSink for Redacted {
    fn emit(&self, mut event: Event) {
        self.secrets.redact_event(&mut event);
        if let Some(feed) = self.feed.get() {
            feed.push(&event);
        }
        self.record.emit(event);
    }
}
