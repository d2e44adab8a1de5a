//! What only a browser can do.

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
    /// The tabs there are, in the order in which they were opened.
    Tabs,
    SelectTab {
        index: usize,
    },
    NewTab {
        url: Option<String>,
    },
    /// The one in front unless another is named.
    CloseTab {
        index: Option<usize>,
    },
    /// How dialogs are answered from now on. Answers with those that were shown since it was last asked.
    Dialogs {
        accept: Option<bool>,
        text: Option<String>,
    },
    /// What the pages told their consoles.
    Console,
    /// The requests that the pages made: address and what was sent.
    Requests,
    /// Cookies and local storage, in the shape that Playwright keeps them in.
    StorageState,
    /// Adds cookies and local storage of that shape, or a bare list of cookies.
    Restore {
        state: Value,
    },
    /// The oldest download that has ended and was not asked for before; nothing if there is none.
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
            Browse::Console => "console",
            Browse::Requests => "requests",
            Browse::StorageState => "storageState",
            Browse::Restore { .. } => "restore",
            Browse::Download => "download",
        }
    }
}
