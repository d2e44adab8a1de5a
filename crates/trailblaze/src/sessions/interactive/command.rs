//! The commands of an interactive session.

use std::path::PathBuf;

use trailblaze_core::snapshot::Details;
use trailblaze_core::trail::Merge;
use trailblaze_protocol::event::StepKind;

/// One request to a session. People type it as a line; programs build it.
#[derive(Debug, PartialEq)]
pub enum Command {
    Step {
        kind: StepKind,
        text: String,
    },
    /// Let the model carry out a step.
    Do {
        kind: StepKind,
        text: String,
    },
    /// Let the model answer a question about the screen.
    Ask {
        question: String,
    },
    Snapshot(Snapshot),
    Call {
        tool: String,
        args: Vec<(String, String)>,
    },
    Tools {
        search: Option<String>,
    },
    Memory,
    Undo,
    Save(Save),
}

/// Show the screen.
#[derive(Debug, PartialEq, Default)]
pub struct Snapshot {
    pub details: Details,
    /// Show only the element with this ref.
    pub within: Option<String>,
    /// Show what changed since the last snapshot.
    pub only_changes: bool,
    /// A file to save a screenshot to.
    pub screenshot: Option<PathBuf>,
    /// Draw the refs on the screenshot.
    pub has_marks: bool,
}

/// Save the steps as a trail.
#[derive(Debug, PartialEq)]
pub struct Save {
    pub path: PathBuf,
    /// How to merge into an existing trail; if `None`, an existing trail is not changed.
    pub merge: Option<Merge>,
    pub title: Option<String>,
}
