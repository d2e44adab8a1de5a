//! What a person does on a device itself, such as in the window of a browser.

use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::task::AbortOnDropHandle;
use trailblaze_protocol::geometry::Point;

use super::{ClickOptions, Offset};
use crate::screen::Screen;

/// Something that a person did.
#[derive(Debug, Clone)]
pub struct ObservedAction {
    /// The screen just before, as far as it is known, with what is scrolled out of view.
    pub screen: Screen,
    /// The element that it was done to, by its id on this screen.
    pub node: Option<u64>,
    /// The elements that the pointer must be on, one after the other, for this one to be visible.
    pub over: Vec<u64>,
    pub what: PersonAction,
    /// How many actions had begun when this one was known, this one included. If more have, what is on the screen may be their effect.
    pub begun: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub enum PersonAction {
    Click {
        click: ClickOptions,
        /// Where, in the pixels of the screen.
        point: Point,
    },
    /// Dragged the element, onto another if it was dropped on one.
    Drag {
        /// Where in the element the drag began, if that matters.
        at: Option<Offset>,
        by: Offset,
        onto: Option<DropTarget>,
    },
    /// Scrolled the area around the element, or the page without one.
    Scroll {
        by: Offset,
    },
    /// The whole new text of a field.
    Type {
        text: String,
    },
    /// More text, typed where the caret was in an editor that has the focus.
    Append {
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
    /// Chose files: their paths, or their names if a browser does not say where they are.
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
    /// Chose the element to check something about it. Nothing was done to the page.
    Assert {
        part: AssertedPart,
    },
    /// Took the last action back, in the recording alone.
    Undo,
    /// Ended the recording.
    Finish,
    /// Answered a dialog that the next action opens.
    AnswerDialog {
        message: String,
        accept: bool,
        /// What was typed into a prompt.
        text: Option<String>,
    },
}

/// What something was dropped on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DropTarget {
    /// The id of the element on the screen.
    pub node: u64,
    /// Where in it; `None` for its center.
    pub at: Option<Offset>,
}

/// What a person checks about an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssertedPart {
    Visible,
    Text,
    Value,
}

/// A person who is followed, for as long as this exists.
pub struct Person {
    pub actions: mpsc::Receiver<ObservedAction>,
    /// How many actions have begun. What an action was is known later: a click may be the first half of a double click.
    pub begun: watch::Receiver<u64>,
    /// Asks for what is not reported yet, such as a text that is being typed. Answered when that is among the actions.
    pub flush: mpsc::Sender<oneshot::Sender<()>>,
    /// What the person is told about the recording, such as its last step.
    pub said: mpsc::Sender<String>,
    /// The task that follows.
    pub follower: AbortOnDropHandle<()>,
}
