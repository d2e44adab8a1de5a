//! What a person does on a device itself, such as in the window of a browser.

use tokio::sync::{mpsc, oneshot};
use tokio_util::task::AbortOnDropHandle;
use trailblaze_protocol::geometry::Point;

use super::ClickOptions;
use crate::screen::Screen;

/// Something that a person did.
#[derive(Debug, Clone)]
pub struct ObservedAction {
    /// The screen just before, as far as it is known, with what is scrolled out of view.
    pub screen: Screen,
    /// The element that it was done to, by its id on this screen.
    pub node: Option<u64>,
    /// The element that must be under the pointer for this one to be visible.
    pub over: Option<u64>,
    pub what: PersonAction,
}

#[derive(Debug, Clone, PartialEq)]
pub enum PersonAction {
    Click {
        click: ClickOptions,
        /// Where, in the pixels of the screen.
        point: Point,
    },
    /// Dragged the element onto another, by its id on this screen, or to a point in the pixels of the screen.
    Drag {
        onto: Option<u64>,
        point: Point,
    },
    /// The whole new text of a field.
    Type {
        text: String,
    },
    /// Something was typed that must not be known, such as a password.
    TypeSecret,
    /// A key or key combination, such as `Control+K`.
    Press {
        chord: String,
    },
    /// Chose options of a list, by their labels.
    Choose {
        values: Vec<String>,
    },
    SetChecked {
        checked: bool,
    },
    /// Chose files. Only their names are known.
    Upload {
        names: Vec<String>,
    },
    /// Entered an address.
    Open {
        url: String,
    },
    Back,
    Forward,
    Reload,
    NewTab,
    /// Tabs are counted from 0.
    SelectTab {
        index: usize,
    },
    CloseTab {
        index: usize,
    },
    /// Answered a dialog that the next action opens.
    AnswerDialog {
        message: String,
        accept: bool,
        /// What was typed into a prompt.
        text: Option<String>,
    },
}

/// A person who is followed, for as long as this exists.
pub struct Person {
    pub actions: mpsc::Receiver<ObservedAction>,
    /// Asks for what is not reported yet, such as a text that is being typed. Answered when that is among the actions.
    pub flush: mpsc::Sender<oneshot::Sender<()>>,
    /// The task that follows.
    pub follower: AbortOnDropHandle<()>,
}
