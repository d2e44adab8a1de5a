//! The port that events and screenshots are written to.

use std::sync::{Arc, OnceLock};

use trailblaze_protocol::event::{Event, Moment};
use trailblaze_protocol::geometry::{Rect, Size};
use trailblaze_protocol::ids::Parent;
use trailblaze_protocol::outcome::Attachment;

use crate::record::feed::Feed;
use crate::screen::Picture;
use crate::values::secret::Secrets;

/// The port to the record of a run. Implementations must not block: files are written off the critical path.
pub trait EventSink: Send + Sync {
    fn emit(&self, event: Event);

    /// The same for an event that the caller still needs.
    fn tell(&self, event: &Event) {
        self.emit(event.clone());
    }

    /// Stores a screenshot and then emits `pictured`.
    fn picture(&self, shot: Shot);

    /// Returns the file that a screenshot will be stored in; `None` if screenshots are not kept.
    fn picture_file(&self, shot: &Shot) -> Option<String>;

    /// Stores an attachment and returns its file, relative to the run folder.
    fn store(&self, attachment: &Attachment) -> String;

    /// A picture as PNG for a caller, with these parts of the screen masked; `None` if this sink cannot encode pictures.
    fn encode(&self, picture: &Picture, masks: &[Rect], screen: Size) -> Option<Arc<[u8]>> {
        self.encode_within(picture, masks, screen, u32::MAX)
    }

    /// The same, scaled down so that no side is longer than `longest` pixels.
    fn encode_within(&self, _picture: &Picture, _masks: &[Rect], _screen: Size, _longest: u32) -> Option<Arc<[u8]>> {
        None
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

    fn picture(&self, mut shot: Shot) {
        self.secrets.redact_in_place(&mut shot.tree);
        self.record.picture(shot);
    }

    fn picture_file(&self, shot: &Shot) -> Option<String> {
        self.record.picture_file(shot)
    }

    /// Attachments are redacted together with their outcome.
    fn store(&self, attachment: &Attachment) -> String {
        self.record.store(attachment)
    }

    fn encode_within(&self, picture: &Picture, masks: &[Rect], screen: Size, longest: u32) -> Option<Arc<[u8]>> {
        self.record.encode_within(picture, masks, screen, longest)
    }
}

/// A screenshot to store.
#[derive(Debug, Clone)]
pub struct Shot {
    pub about: Parent,
    pub moment: Moment,
    pub picture: Picture,
    /// The areas to mask, in pixels of the screen.
    pub masks: Vec<Rect>,
    pub screen: Size,
    /// The element tree as text.
    pub tree: String,
}

/// When screenshots are taken. Each level includes the previous ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum PicturePolicy {
    Off,
    /// When something failed.
    Failure,
    /// Before and after each step.
    #[default]
    Step,
    /// Before each touch.
    Action,
}
