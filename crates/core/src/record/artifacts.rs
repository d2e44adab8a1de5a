//! The port to the files of a run, apart from its events: pictures, attachments, and what models were sent.

use std::sync::Arc;

use trailblaze_protocol::event::Moment;
use trailblaze_protocol::geometry::{Rect, Size};
use trailblaze_protocol::ids::Parent;
use trailblaze_protocol::outcome::Attachment;

use crate::record::trace::TraceStore;
use crate::screen::Picture;

/// Where the files of a run are kept. Implementations must not block: files are written off the critical path. What is kept
/// has been redacted.
pub trait ArtifactStore: Send + Sync {
    /// Keeps a screenshot and its tree, and then emits `pictured`.
    fn keep_picture(&self, shot: Shot);

    /// The file that a screenshot is kept in; `None` if screenshots are not kept.
    fn picture_file(&self, shot: &Shot) -> Option<String>;

    /// Keeps a file of this kind. Returns its name, relative to the run folder, which is made from its content.
    fn keep(&self, kind: ArtifactKind, file: &Attachment) -> String;

    /// Where traces are collected; `None` if they are not.
    fn traces(&self) -> Option<&dyn TraceStore> {
        None
    }

    /// A picture as PNG for a caller, with these parts of the screen masked; `None` if this store cannot encode pictures.
    fn encode(&self, picture: &Picture, masks: &[Rect], screen: Size) -> Option<Arc<[u8]>> {
        self.encode_within(picture, masks, screen, u32::MAX)
    }

    /// The same, scaled down so that no side is longer than `longest` pixels.
    fn encode_within(&self, _picture: &Picture, _masks: &[Rect], _screen: Size, _longest: u32) -> Option<Arc<[u8]>> {
        None
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArtifactKind {
    /// What a tool attached to its result.
    Attachment,
    /// What a model was sent, or replied.
    ModelMessage,
    /// A file of the project, such as a trail.
    Source,
}

/// A screenshot to keep.
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
