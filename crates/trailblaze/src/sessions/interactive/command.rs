//! What can be done in an interactive session.

use std::path::PathBuf;

use trailblaze_core::snapshot::Details;
use trailblaze_core::trail::Merge;
use trailblaze_protocol::event::StepKind;

/// One request to a session. People type it as a line; programs build it.
#[derive(Debug, PartialEq)]
pub enum Command {
    Step { kind: StepKind, text: String },
    Snapshot(Snapshot),
    Call { tool: String, args: Vec<(String, String)> },
    Tools { search: Option<String> },
    Memory,
    Undo,
    Save(Save),
}

/// Show the screen.
#[derive(Debug, PartialEq, Default)]
pub struct Snapshot {
    pub details: Details,
    /// The ref of the element to show alone.
    pub within: Option<String>,
    /// Show what changed since the last snapshot.
    pub only_changes: bool,
    /// A file to write a picture to.
    pub screenshot: Option<PathBuf>,
    /// Draw the refs on the picture.
    pub has_marks: bool,
}

/// Keep the steps as a trail.
#[derive(Debug, PartialEq)]
pub struct Save {
    pub path: PathBuf,
    /// What happens to a trail that is there already; without it, nothing.
    pub merge: Option<Merge>,
    pub title: Option<String>,
}
