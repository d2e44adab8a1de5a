//! Where events go, and pictures with them.

use trailblaze_protocol::event::{Event, Moment};
use trailblaze_protocol::geometry::{Rect, Size};
use trailblaze_protocol::ids::Parent;
use trailblaze_protocol::outcome::Attachment;

use crate::screen::Picture;

/// The port to the record of a run. It must not block for long: storing happens off the critical path.
pub trait EventSink: Send + Sync {
    fn emit(&self, event: Event);

    /// The same for an event that is still needed.
    fn tell(&self, event: &Event) {
        self.emit(event.clone());
    }

    /// Stores a picture, then tells of it as an event.
    fn picture(&self, shot: Shot);

    /// Stores an attachment and answers its file, relative to the run folder.
    fn store(&self, attachment: &Attachment) -> String;
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
