//! What is known of a device's tabs and frames, from what the browser told so far.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::Instant;
use trailblaze_core::driver::Heard;
use trailblaze_protocol::event::Level;

/// How much is kept of what pages say, and how much of it waits to be told.
const KEPT: usize = 1000;
const UNTOLD: usize = 200;

/// Shared by whoever asks and whoever hears.
#[derive(Default)]
pub struct Shared {
    state: Mutex<State>,
    pub changed: Notify,
}

#[derive(Default)]
pub struct State {
    /// Counts everything that may have changed what is seen.
    pub version: u64,
    /// In the order in which they were opened.
    pub tabs: Vec<Tab>,
    /// The target of the tab in front.
    pub front: String,
    /// Targets that are being attached to.
    pub adopting: HashSet<String>,
    /// When a page said that it opens a window of which nothing was heard since.
    pub opening: Option<Instant>,
    /// The tab that each session belongs to: its own, or that of a frame in another process.
    pub sessions: HashMap<String, String>,
    /// When something was last done that may have set the page to work.
    pub acted_at: Option<Instant>,
    pub dialogs: Dialogs,
    pub console: VecDeque<String>,
    pub requests: VecDeque<Request>,
    pub downloads: Vec<Download>,
    pub chooser: Option<Value>,
    pub drag: Option<Value>,
    untold: Vec<Heard>,
}

pub struct Tab {
    pub target: String,
    pub session: String,
    pub opener: Option<String>,
    pub main_frame: String,
    /// Whether all that is needed to know it is in place.
    pub is_ready: bool,
    /// When the document that is being loaded was asked for or came; none if it has loaded.
    pub loading_since: Option<Instant>,
    /// Whether the document in front has loaded, whatever goes on in it since.
    pub has_loaded: bool,
    pub is_crashed: bool,
    pub frames: HashMap<String, Frame>,
    last_number: u64,
    /// Requests of the page that were made since something was last done.
    pub pending: HashSet<String>,
}

#[derive(Debug, Clone, Default)]
pub struct Frame {
    /// Its number in the ids of its elements; that of the main frame is 0.
    pub number: u64,
    pub session: String,
    pub parent: Option<String>,
    /// The world of the walker in its document.
    pub world: Option<i64>,
    /// The element that holds it, in the numbers of its parent's walker.
    pub owner: Option<u64>,
}

/// How dialogs are answered, and which there were.
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

pub struct Request {
    pub id: String,
    pub method: String,
    pub url: String,
    pub body: String,
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
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is known; whoever waits for a change looks again.
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

    pub fn tab_of(&mut self, session: &str) -> Option<&mut Tab> {
        let target = self.sessions.get(session)?;
        self.tabs.iter_mut().find(|tab| tab.target == *target)
    }

    /// To be told to the record. A page that says a lot is cut short.
    pub fn tell(&mut self, level: Level, text: String) {
        match self.untold.len() {
            UNTOLD => self.untold.push(Heard { level, text: "the page says more than is kept".to_string() }),
            n if n > UNTOLD => {}
            _ => self.untold.push(Heard { level, text }),
        }
    }

    pub fn untold(&mut self) -> Vec<Heard> {
        std::mem::take(&mut self.untold)
    }

    pub fn console(&mut self, line: String) {
        keep(&mut self.console, line);
    }

    pub fn request(&mut self, request: Request) {
        keep(&mut self.requests, request);
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

fn keep<T>(kept: &mut VecDeque<T>, one: T) {
    if kept.len() == KEPT {
        kept.pop_front();
    }
    kept.push_back(one);
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
            has_loaded: true,
            is_crashed: false,
            frames: HashMap::new(),
            last_number: 0,
            pending: HashSet::new(),
        }
    }

    /// The document in front has loaded.
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

    /// Everything that a document knew goes with it.
    pub fn forget_world(&mut self, session: &str, world: Option<i64>) {
        for frame in self.frames.values_mut().filter(|frame| frame.session == session) {
            if world.is_none() || frame.world == world {
                frame.world = None;
            }
        }
    }

    /// The frames beneath one go with it.
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

impl Request {
    pub fn json(&self) -> Value {
        json!({"method": self.method, "url": self.url, "body": self.body})
    }
}
