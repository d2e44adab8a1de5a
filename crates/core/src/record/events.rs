//! Where events go, and pictures with them.

use std::sync::Arc;

use trailblaze_protocol::event::{Event, Moment};
use trailblaze_protocol::geometry::{Rect, Size};
use trailblaze_protocol::ids::Parent;
use trailblaze_protocol::outcome::Attachment;

use crate::screen::Picture;
use crate::values::secret::Secrets;

/// The port to the record of a run. It must not block for long: storing happens off the critical path.
pub trait EventSink: Send + Sync {
    fn emit(&self, event: Event);

    /// The same for an event that is still needed.
    fn tell(&self, event: &Event) {
        self.emit(event.clone());
    }

    /// Stores a picture, then tells of it as an event.
    fn picture(&self, shot: Shot);

    /// The file that a picture is stored in, a moment after it was handed over; nothing where pictures are not kept.
    fn picture_file(&self, shot: &Shot) -> Option<String>;

    /// Stores an attachment and answers its file, relative to the run folder.
    fn store(&self, attachment: &Attachment) -> String;
}

/// The way into a record through which no secret passes. Nothing is put into a record by another way.
pub struct Redacted {
    record: Arc<dyn EventSink>,
    secrets: Arc<Secrets>,
}

impl Redacted {
    pub fn new(record: Arc<dyn EventSink>, secrets: Arc<Secrets>) -> Redacted {
        Redacted { record, secrets }
    }
}

impl EventSink for Redacted {
    fn emit(&self, mut event: Event) {
        self.secrets.redact_event(&mut event);
        self.record.emit(event);
    }

    fn picture(&self, mut shot: Shot) {
        self.secrets.redact_in_place(&mut shot.tree);
        self.record.picture(shot);
    }

    fn picture_file(&self, shot: &Shot) -> Option<String> {
        self.record.picture_file(shot)
    }

    /// Attachments belong to outcomes, which are redacted as a whole.
    fn store(&self, attachment: &Attachment) -> String {
        self.record.store(attachment)
    }
}

/// A picture to be stored.
#[derive(Debug, Clone)]
pub struct Shot {
    pub about: Parent,
    pub moment: Moment,
    pub picture: Picture,
    /// What must not be seen, in pixels of the screen.
    pub masks: Vec<Rect>,
    pub screen: Size,
    /// The elements as text.
    pub tree: String,
}

/// When pictures are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum PicturePolicy {
    Off,
    /// Of what was seen when something failed.
    Failure,
    /// Also before and after each step.
    #[default]
    Step,
    /// Also before each touch.
    Action,
}
