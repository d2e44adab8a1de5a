//! The commands of an interactive session.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use trailblaze_core::snapshot::Details;
use trailblaze_core::trail::Merge;
use trailblaze_protocol::event::StepKind;

/// One request to a session. People type it as a line; programs build it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum InteractiveCommand {
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
    /// Take a screenshot. The reply contains it as a data URL of a PNG.
    Screenshot {
        has_marks: bool,
    },
    Call {
        tool: String,
        args: CallArguments,
    },
    Tools {
        search: Option<String>,
    },
    /// All tools for models, with schemas and metadata, for programs.
    AllTools,
    /// Show one tool with its schema.
    Describe {
        tool: String,
    },
    Memory,
    /// Show the steps that would be saved, with their numbers.
    Steps,
    /// Remove the last call from the steps.
    Undo,
    /// Remove the last step.
    UndoStep,
    Save(Save),
}

impl InteractiveCommand {
    /// Starts an app, or opens a page as a new visitor.
    pub fn launch(app: impl Into<String>) -> InteractiveCommand {
        let args = CallArguments::Words(vec![("packageId".to_string(), app.into())]);
        InteractiveCommand::Call { tool: "launchApp".to_string(), args }
    }

    /// Whether it uses the device.
    pub fn needs_device(&self) -> bool {
        match self {
            InteractiveCommand::Do { .. }
            | InteractiveCommand::Ask { .. }
            | InteractiveCommand::Snapshot(_)
            | InteractiveCommand::Screenshot { .. }
            | InteractiveCommand::Call { .. } => true,
            InteractiveCommand::Step { .. }
            | InteractiveCommand::Tools { .. }
            | InteractiveCommand::AllTools
            | InteractiveCommand::Describe { .. }
            | InteractiveCommand::Memory
            | InteractiveCommand::Steps
            | InteractiveCommand::Undo
            | InteractiveCommand::UndoStep
            | InteractiveCommand::Save(_) => false,
        }
    }
}

/// The arguments of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CallArguments {
    /// As a person writes them; their types come from the tool's schema.
    Words(Vec<(String, String)>),
    Json(Map<String, Value>),
}

/// Show the screen.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Snapshot {
    pub details: Details,
    /// Show only the element with this ref.
    pub within: Option<String>,
    /// Show only lines that contain this text, and the elements around them.
    pub find: Option<String>,
    /// Show the text of an `assertTree` that expects what is there.
    pub as_tree: bool,
    /// Show what changed since the last snapshot.
    pub only_changes: bool,
    /// Show everything if there is another page or app, or if that is shorter than what changed.
    pub whole_if_new: bool,
    /// Show what changed since the snapshot with this number.
    pub since: Option<u64>,
    /// Add the elements to the JSON of the reply.
    pub has_elements: bool,
    /// Wait until the screen stops changing, but not for long.
    pub settles: bool,
    /// A file to save a screenshot to.
    pub screenshot: Option<PathBuf>,
    /// Draw the refs on the screenshot.
    pub has_marks: bool,
}

/// Save the steps as a trail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Save {
    pub path: PathBuf,
    /// How to merge into an existing trail; if `None`, an existing trail is not changed.
    pub merge: Option<Merge>,
    pub title: Option<String>,
    /// The first and the last step to save, by their numbers [default: all, with the trailhead].
    #[serde(default)]
    pub from: Option<usize>,
    #[serde(default)]
    pub to: Option<usize>,
    /// Whether the file must be a trail in the project, because text from the app under test may have suggested its name. Its path
    /// is then relative to the project's folder.
    #[serde(default)]
    pub is_own: bool,
}
