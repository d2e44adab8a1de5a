//! What the documents of a page contain, for people who look at them later.

use async_trait::async_trait;

use super::{Budget, DriverError};
use crate::record::trace::DocumentContent;

/// Devices that show documents, such as browsers.
#[async_trait]
pub trait DocumentSnapshots: Send + Sync {
    /// The documents of the front page as they are now, without scripts and without what was typed into password fields. Unlike
    /// other commands, it may run while another one does.
    async fn snapshot(&self, budget: &Budget) -> Result<DocumentContent, DriverError>;
}
