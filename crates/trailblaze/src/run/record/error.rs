//! Why a recording or an effects file was not written.

use trailblaze_core::trail::SaveError;
use trailblaze_protocol::exit::Exit;

use crate::files::lock;

#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("{0}")]
    Save(#[from] SaveError),
    #[error("`{path}` changed during the run")]
    Changed { path: String },
    /// The effects file cannot be written.
    #[error("`{path}` was not changed: {problem}")]
    EffectsFile { path: String, problem: String },
    #[error("cannot write `{path}`: {source}")]
    Write { path: String, source: std::io::Error },
}

impl RecordError {
    /// The project's lock cannot be acquired.
    pub fn no_lock(source: std::io::Error) -> RecordError {
        RecordError::Write { path: lock::PATH.to_string(), source }
    }

    pub fn exit(&self) -> Exit {
        match self {
            RecordError::Save(_) | RecordError::Changed { .. } | RecordError::EffectsFile { .. } => Exit::Invalid,
            RecordError::Write { .. } => Exit::Environment,
        }
    }
}
