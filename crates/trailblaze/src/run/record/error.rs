//! Why a recording, or the effects file beside a trail, was not written.

use trailblaze_core::trail::SaveError;
use trailblaze_protocol::exit::Exit;

use crate::files::lock;

#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("{0}")]
    Save(#[from] SaveError),
    #[error("`{path}` changed while it ran")]
    Changed { path: String },
    /// What stands beside the trail cannot be kept.
    #[error("`{path}` was left as it is: {problem}")]
    Beside { path: String, problem: String },
    #[error("cannot write `{path}`: {source}")]
    Write { path: String, source: std::io::Error },
}

impl RecordError {
    /// The lock of the project cannot be taken.
    pub fn no_lock(source: std::io::Error) -> RecordError {
        RecordError::Write { path: lock::PATH.to_string(), source }
    }

    pub fn exit(&self) -> Exit {
        match self {
            RecordError::Save(_) | RecordError::Changed { .. } | RecordError::Beside { .. } => Exit::Invalid,
            RecordError::Write { .. } => Exit::Environment,
        }
    }
}
