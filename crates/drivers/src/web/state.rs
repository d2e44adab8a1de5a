//! What is known about a device's tabs and frames from the browser's events.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;

use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;
use trailblaze_core::driver::Heard;
use trailblaze_protocol::event::Level;

use super::acting::Acting;
use super::person::Told;
use super::requests::Requests;

/// How many console lines are kept, and how many notes wait to be recorded.
const KEPT: usize = 1000;
const UNTOLD: usize = 200;

/// Shared between the commands and the listener.
#[derive(Default)]
pub struct Shared {
    state: Mutex<State>,
    pub changed: Notify,
}

#[derive(Default)]
pub struct State {
    /// Counts everything that may have changed the screen.
    pub version: u64,
    /// In the order in which they were opened.
    pub tabs: Vec<Tab>,
    /// The target of the front tab.
    pub front: String,
    /// Targets being attached.
    pub adopting: HashSet<String>,
    /// When a page announced a window that has not appeared yet.
    pub opening: Option<Instant>,
    /// The tab of each session: its own, or that of a frame in another process.
    pub sessions: HashMap<String, String>,
    /// When the last action was performed that may have made the page do something.
    pub acted_at: Option<Instant>,
    pub dialogs: Dialogs,
    pub console: VecDeque<String>,
    pub requests: Requests,
    pub downloads: Vec<Download>,
    pub chooser: Option<Value>,
    pub drag: Option<Value>,
    untold: Vec<Heard>,
    /// When the driver acts.
    pub acting: Acting,
    /// Receives what a person may have done, if one is followed.
    pub person: Option<mpsc::Sender<Told>>,
}

pub struct Tab {
    pub target: String,
    pub session: String,
    pub opener: Option<String>,
    pub main_frame: String,
    /// Whether it is completely set up.
    pub is_ready: bool,
    /// When the loading document was requested or arrived; `None` once it has loaded.
    pub loading_since: Option<Instant>,
    /// How many documents have arrived so far.
    pub commits: u64,
    /// Whether the front document has loaded, whatever has happened in it since.
    pub has_loaded: bool,
    pub is_crashed: bool,
    pub frames: HashMap<String, Frame>,
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
    pub session: String,
    pub parent: Option<String>,
    /// The walker's world in its document.
    pub world: Option<i64>,
    /// The element that contains it, by its id in the parent's walker.
    pub owner: Option<u64>,
}

/// How dialogs are answered, and which ones appeared.
pub struct Dialogs {
    pub is_accepting: bool,
    pub text: Option<String>,
    pub seen: Vec<Value>,
}

impl Default for Dialogs {
    fn default() -> Dialogs {
        Dialogs { is_accepting: true, text: None, seen: Vec::new() }
    }
}

pub struct Download {
    pub id: String,
    pub name: String,
    pub file: PathBuf,
    pub is_whole: bool,
    pub failure: Option<String>,
}

impl Shared {
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
        self.tabs.iter().find(|tab| tab.target == self.front)
    }

    /// Whether another document came since there were so many.
    pub fn has_committed(&self, commits: u64) -> bool {
        self.front().is_none_or(|tab| tab.commits != commits)
    }

    pub fn tab_of(&mut self, session: &str) -> Option<&mut Tab> {
        let target = self.sessions.get(session)?;
        self.tabs.iter_mut().find(|tab| tab.target == *target)
    }

    /// Adds a note for the record, up to a limit.
    pub fn tell(&mut self, level: Level, text: String) {
        match self.untold.len() {
            UNTOLD => {
                self.untold.push(Heard { level, text: "the page logs too much; the rest is left out".to_string() })
            }
            n if n > UNTOLD => {}
            _ => self.untold.push(Heard { level, text }),
        }
    }

    pub fn untold(&mut self) -> Vec<Heard> {
        std::mem::take(&mut self.untold)
    }

    pub fn console(&mut self, line: String) {
        if self.console.len() == KEPT {
            self.console.pop_front();
        }
        self.console.push_back(line);
    }

    /// Passes on what a person may have done.
    pub fn tell_person(&mut self, told: impl FnOnce(&mut State) -> Option<Told>) {
        let Some(person) = self.person.clone() else { return };
        if let Some(told) = told(self)
            && person.try_send(told).is_err()
        {
            self.person = None;
        }
    }

    pub fn close_tab(&mut self, target: &str) {
        let Some(index) = self.tabs.iter().position(|tab| tab.target == target) else { return };
        let closed = self.tabs.remove(index);
        self.sessions.retain(|_, of| of != target);
        if self.front == target {
            let is_opener = |tab: &&Tab| Some(&tab.target) == closed.opener.as_ref();
            let next = self.tabs.iter().find(is_opener).or(self.tabs.last());
            self.front = next.map(|tab| tab.target.clone()).unwrap_or_default();
        }
    }
}

impl Tab {
    pub fn new(target: &str, session: &str, opener: Option<String>) -> Tab {
        Tab {
            target: target.to_string(),
            session: session.to_string(),
            opener,
            main_frame: String::new(),
            is_ready: false,
            loading_since: None,
            commits: 0,
            has_loaded: true,
            is_crashed: false,
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
            let frame = Frame { number, session: self.session.clone(), ..Frame::default() };
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
    pub fn forget_world(&mut self, session: &str, world: Option<i64>) {
        for frame in self.frames.values_mut().filter(|frame| frame.session == session) {
            if world.is_none() || frame.world == world {
                frame.world = None;
            }
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
