//! Why a configuration file could not be changed.

#[derive(Debug, thiserror::Error)]
pub enum EditError {
    #[error("{message}")]
    Broken { line: usize, column: usize, message: String },
    #[error("expected keys and values {at}")]
    NotATable { at: String },
    #[error("the servers are written in a way that cannot be changed safely")]
    Unsafe,
}
