//! Actions that only browsers support.

use serde_json::Value;
use trailblaze_protocol::geometry::Size;

#[derive(Debug, Clone, PartialEq)]
pub enum Browse {
    Back,
    Forward,
    Reload,
    Resize {
        size: Size,
    },
    /// Lists the tabs, in the order in which they were opened.
    Tabs,
    SelectTab {
        index: usize,
    },
    NewTab {
        url: Option<String>,
    },
    /// Closes the active tab if `index` is `None`.
    CloseTab {
        index: Option<usize>,
    },
    /// Sets how dialogs are answered from now on. Returns the dialogs that were shown since the last call.
    Dialogs {
        accept: Option<bool>,
        text: Option<String>,
    },
    /// Returns cookies and local storage, in Playwright's format.
    StorageState,
    /// Writes the same to a file that only this user may read.
    SaveStorageState {
        file: String,
    },
    /// Adds cookies and local storage in that format, or a bare list of cookies.
    Restore {
        state: Value,
    },
    /// Returns the oldest finished download that was not returned before, if there is one.
    Download,
}

impl Browse {
    pub fn name(&self) -> &'static str {
        match self {
            Browse::Back => "back",
            Browse::Forward => "forward",
            Browse::Reload => "reload",
            Browse::Resize { .. } => "resize",
            Browse::Tabs => "tabs",
            Browse::SelectTab { .. } => "selectTab",
            Browse::NewTab { .. } => "newTab",
            Browse::CloseTab { .. } => "closeTab",
            Browse::Dialogs { .. } => "dialogs",
            Browse::StorageState => "storageState",
            Browse::SaveStorageState { .. } => "saveStorageState",
            Browse::Restore { .. } => "restore",
            Browse::Download => "download",
        }
    }
}
