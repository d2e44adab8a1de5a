//! What a person does in a browser, as the browser and its pages report it.

use serde::Deserialize;
use tokio::time::Instant;

use super::backend::{Realm, TabId};
use super::look::WalkerAnswer;
use super::state::State;

/// What a person may have done.
pub enum PersonEvent {
    /// In a page.
    InPage {
        tab: TabId,
        frame: u64,
        message: Box<PageReport>,
        /// How many actions had begun.
        begun: u64,
    },
    /// The main frame of a tab goes to another document.
    Navigating {
        tab: TabId,
        kind: String,
        url: String,
        at: Instant,
    },
    Opened {
        tab: TabId,
        has_opener: bool,
    },
    Closed {
        index: usize,
        is_last: bool,
    },
    /// A dialog opened, which a person is about to answer.
    Asked {
        kind: String,
        message: String,
    },
    Answered {
        accept: bool,
        text: String,
    },
}

impl PersonEvent {
    /// A report of a page. The frame is looked up at once, because the document may be gone soon.
    pub fn by_page(state: &mut State, tab: &str, realm: &Realm, message: &str) -> Option<PersonEvent> {
        let message: Box<PageReport> = serde_json::from_str(message).ok()?;
        if message.kind == "begins" {
            state.begun.send_modify(|n| *n += 1);
            return None;
        }
        let begun = *state.begun.borrow();
        let frames = &state.tab_mut(tab)?.frames;
        let frame = frames.values().find(|frame| frame.realm.as_ref() == Some(realm))?.number;
        Some(PersonEvent::InPage { tab: tab.to_string(), frame, message, begun })
    }
}

/// A report of recorder.js, or of record_bar.js.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageReport {
    pub kind: String,
    /// In milliseconds.
    pub at: u64,
    pub node: Option<u64>,
    /// The elements that the pointer must be on, one after the other, for this one to be visible.
    #[serde(default)]
    pub over: Vec<u64>,
    /// Where in the element, if that matters.
    pub spot: Option<[i32; 2]>,
    /// The element that another was dropped on.
    pub onto: Option<u64>,
    pub onto_spot: Option<[i32; 2]>,
    /// How far something was dragged or scrolled.
    #[serde(default)]
    pub by_x: i32,
    #[serde(default)]
    pub by_y: i32,
    /// What a click means from now on, or what an element was chosen for.
    #[serde(default)]
    pub mode: String,
    pub seen: Option<WalkerAnswer>,
    #[serde(default)]
    pub text: String,
    #[serde(default)]
    pub chord: String,
    #[serde(default)]
    pub values: Vec<String>,
    #[serde(default)]
    pub names: Vec<String>,
    #[serde(default)]
    pub checked: bool,
    #[serde(default)]
    pub button: String,
    #[serde(default)]
    pub count: u32,
    #[serde(default)]
    pub modifiers: Vec<String>,
    #[serde(default)]
    pub x: i32,
    #[serde(default)]
    pub y: i32,
}
