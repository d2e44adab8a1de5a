//! What is known about a device's tabs and frames.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::Instant;
use trailblaze_core::driver::DeviceEvents;

use super::acting::Acting;
use super::backend::{FrameId, Realm, TabId};
use super::person_events::PersonEvent;
use super::requests::RequestLog;

/// How many dialogs and downloads are kept.
const DIALOGS: usize = 100;
const DOWNLOADS: usize = 1000;

/// Shared between the commands and the listener.
#[derive(Default)]
pub struct SharedState {
    state: Mutex<State>,
    pub changed: Notify,
}

#[derive(Default)]
pub struct State {
    /// Counts everything that may have changed the screen.
    pub version: u64,
    /// In the order in which they were opened.
    pub tabs: Vec<Tab>,
    /// The front tab.
    pub front: TabId,
    /// Tabs that cannot be used yet.
    pub adopting: HashSet<TabId>,
    /// When a page announced a window that has not appeared yet.
    pub opening: Option<Instant>,
    /// When the last action was performed that may have made the page do something.
    pub acted_at: Option<Instant>,
    pub dialogs: Dialogs,
    pub requests: RequestLog,
    pub downloads: Vec<Download>,
    pub chooser: Option<Value>,
    pub drag: Option<Value>,
    pub events: Arc<DeviceEvents>,
    /// When the driver acts.
    pub acting: Acting,
    /// Receives what a person may have done, if one is followed.
    pub person: Option<mpsc::Sender<PersonEvent>>,
    /// How many actions of the person have begun.
    pub begun: watch::Sender<u64>,
}

pub struct Tab {
    pub id: TabId,
    pub opener: Option<TabId>,
    pub main_frame: FrameId,
    /// Whether it is completely set up.
    pub is_ready: bool,
    /// When the loading document was requested or arrived; `None` once it has loaded.
    pub loading_since: Option<Instant>,
    /// How many documents have arrived so far.
    pub commits: u64,
    /// Whether the front document has loaded, whatever has happened in it since.
    pub has_loaded: bool,
    pub is_crashed: bool,
    /// Why its process was killed, if we did that.
    pub killed_for: Option<String>,
    /// The address of the front document, cut off if it is long.
    pub url: String,
    pub frames: HashMap<FrameId, Frame>,
    last_number: u64,
    /// Requests that the page has made since the last action.
    pub pending: HashSet<String>,
    /// When the page itself last asked for another document.
    pub requested_at: Option<Instant>,
}

#[derive(Debug, Clone, Default)]
pub struct Frame {
    /// The number of the frame in element ids; 0 for the main frame.
    pub number: u64,
    pub parent: Option<FrameId>,
    /// Where the walker of its document is.
    pub realm: Option<Realm>,
    /// The element that contains it, by its id in the parent's walker.
    pub owner: Option<u64>,
}

/// How dialogs are answered, and which ones appeared.
#[derive(Default)]
pub struct Dialogs {
    /// What the trail or its device says: whether they are accepted.
    pub rule: Option<bool>,
    /// What a call said.
    pub answer: Option<bool>,
    pub text: Option<String>,
    seen: VecDeque<Value>,
    /// Whether a person is about to answer one.
    pub is_left_to_person: bool,
}

impl Dialogs {
    pub fn note(&mut self, dialog: Value) {
        if self.seen.len() == DIALOGS {
            self.seen.pop_front();
        }
        self.seen.push_back(dialog);
    }

    pub fn take_seen(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.seen).into()
    }
}

pub struct Download {
    pub id: String,
    pub name: String,
    pub file: PathBuf,
    pub is_whole: bool,
    pub failure: Option<String>,
}

impl SharedState {
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Changes the state, and wakes everything that waits for a change.
    pub fn bump<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let changed = {
            let mut state = self.state();
            state.version += 1;
            change(&mut state)
        };
        self.changed.notify_waiters();
        changed
    }
}

impl State {
    pub fn front(&self) -> Option<&Tab> {
        self.tabs.iter().find(|tab| tab.id == self.front)
    }

    /// Whether another document came since there were so many.
    pub fn has_committed(&self, commits: u64) -> bool {
        self.front().is_none_or(|tab| tab.commits != commits)
    }

    pub fn tab_mut(&mut self, id: &str) -> Option<&mut Tab> {
        self.tabs.iter_mut().find(|tab| tab.id == id)
    }

    pub fn add_download(&mut self, download: Download) {
        if self.downloads.len() < DOWNLOADS {
            self.downloads.push(download);
        }
    }

    /// Forgets what the pages before said and did.
    pub fn forget_pages(&mut self) {
        self.dialogs = Dialogs { rule: self.dialogs.rule, ..Dialogs::default() };
        self.downloads.clear();
    }

    /// Passes on what a person may have done.
    pub fn tell_person(&mut self, event: impl FnOnce(&mut State) -> Option<PersonEvent>) {
        let Some(person) = self.person.clone() else { return };
        if let Some(event) = event(self)
            && person.try_send(event).is_err()
        {
            self.person = None;
        }
    }

    pub fn close_tab(&mut self, id: &str) {
        let Some(index) = self.tabs.iter().position(|tab| tab.id == id) else { return };
        let closed = self.tabs.remove(index);
        if self.front == id {
            let is_opener = |tab: &&Tab| Some(&tab.id) == closed.opener.as_ref();
            let next = self.tabs.iter().find(is_opener).or(self.tabs.last());
            self.front = next.map(|tab| tab.id.clone()).unwrap_or_default();
        }
    }
}

impl Tab {
    pub fn new(id: &str, opener: Option<TabId>) -> Tab {
        Tab {
            id: id.to_string(),
            opener,
            main_frame: String::new(),
            is_ready: false,
            loading_since: None,
            commits: 0,
            has_loaded: true,
            is_crashed: false,
            killed_for: None,
            url: "about:blank".to_string(),
            frames: HashMap::new(),
            last_number: 0,
            pending: HashSet::new(),
            requested_at: None,
        }
    }

    /// The front document has loaded.
    pub fn loaded(&mut self) {
        self.loading_since = None;
        self.has_loaded = true;
    }

    pub fn frame(&mut self, id: &str) -> &mut Frame {
        if !self.frames.contains_key(id) {
            let number = match id == self.main_frame {
                true => 0,
                false => {
                    self.last_number += 1;
                    self.last_number
                }
            };
            let frame = Frame { number, ..Frame::default() };
            self.frames.insert(id.to_string(), frame);
        }
        self.frames.get_mut(id).expect("it was put there")
    }

    pub fn main(&self) -> Option<&Frame> {
        self.frames.get(&self.main_frame)
    }

    pub fn numbered(&self, number: u64) -> Option<&Frame> {
        self.frames.values().find(|frame| frame.number == number)
    }

    /// The state of a document is dropped with it.
    pub fn forget_realm(&mut self, realm: &Realm) {
        for frame in self.frames.values_mut().filter(|frame| frame.realm.as_ref() == Some(realm)) {
            frame.realm = None;
        }
    }

    /// Child frames are removed with their parent.
    pub fn remove_frame(&mut self, id: &str) {
        let beneath: Vec<String> = self
            .frames
            .iter()
            .filter(|(_, frame)| frame.parent.as_deref() == Some(id))
            .map(|(child, _)| child.clone())
            .collect();
        self.frames.remove(id);
        beneath.iter().for_each(|child| self.remove_frame(child));
    }
}
