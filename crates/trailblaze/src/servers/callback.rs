//! The address that tools call back to.

use async_trait::async_trait;

/// The address of the process's listener, which is opened when the first tool server needs it.
#[async_trait]
pub trait CallbackAddress: Send + Sync {
    /// The base URL that tools call, such as `http://127.0.0.1:52525`.
    async fn base_url(&self) -> Result<String, NoAddress>;

    /// Accepts nothing more, and waits until what was asked is answered, for a few seconds at most.
    async fn close(&self);
}

/// The listener could not be opened.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct NoAddress(pub String);
