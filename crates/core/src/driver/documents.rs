//! What the documents of a page contain, for people who look at them later.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use super::{Budget, DriverError};

/// Devices that show documents, such as browsers.
#[async_trait]
pub trait DocumentSnapshots: Send + Sync {
    /// The documents of the front page as they are now, without scripts and without what was typed into password fields. Unlike
    /// other commands, it may run while another one does.
    async fn snapshot(&self, budget: &Budget) -> Result<DocumentContent, DriverError>;
}

/// The documents of a page: the main one and those of its frames.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DocumentContent {
    pub url: String,
    pub title: String,
    /// The size of the view, in the pixels that points and bounds use.
    pub width: u32,
    pub height: u32,
    /// The main document first. Objects with `url`, `base`, `scroll`, `sheets` and `node`, as `docs/events.md` says.
    pub frames: Vec<Value>,
    /// The style sheets that `frames` refer to by number.
    pub sheets: Vec<Arc<str>>,
}
