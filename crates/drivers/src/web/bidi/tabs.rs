//! What is known about the tabs, frames and realms of a session, from its events.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use super::super::backend::{BackendError, BrowserEvent, FrameId, FrameInfo, Navigation, Realm, TabId};
use super::super::emulation::Emulation;
use super::history::KeyedHistory;
use super::places::InputPlace;
use super::{BidiSession, string};

/// How deep frames may be nested.
pub const DEPTH: usize = 16;
/// How many ended navigations are remembered.
const NAVIGATIONS: usize = 64;
/// How long a tab may take to come to the front.
const SWITCHING: Duration = Duration::from_secs(2);
/// How many downloads may be going on.
const DOWNLOADS: usize = 256;

pub struct KnownTabs {
    /// The user context, which changes when the device starts over.
    pub context: String,
    /// What new tabs emulate.
    pub emulation: Emulation,
    /// The tabs that the browser started with, which are closed once there is another one.
    pub initial: Vec<TabId>,
    /// The tabs of this context, in the order in which they were opened.
    pub tabs: Vec<TabId>,
    pub openers: HashMap<TabId, TabId>,
    /// The tab in front, which is the only one that draws.
    pub front: TabId,
    /// All frames, main ones included, by their context in the protocol.
    pub frames: HashMap<FrameId, KnownFrame>,
    /// Our realms.
    pub realms: HashMap<String, KnownRealm>,
    /// The histories of tabs, while a person is followed.
    pub histories: HashMap<TabId, KeyedHistory>,
    /// How navigations ended, by id.
    ended: VecDeque<(String, Navigation)>,
    /// Scripts that run in all documents.
    pub scripts: HashSet<String>,
    /// The names of downloads that have not ended, by id.
    downloads: VecDeque<(String, String)>,
    n_downloads: u64,
    /// Where the pointer went last.
    pub pointed_at: Option<InputPlace>,
    /// The frame that a drag is over.
    pub dragged_over: Option<FrameId>,
    /// How many tabs are about to be opened that the device does not have.
    pub hiding: usize,
    hidden: HashSet<TabId>,
    /// Tabs whose requests are answered with an empty page.
    pub empty_pages: HashSet<TabId>,
}

#[derive(Debug, Clone)]
pub struct KnownFrame {
    pub tab: TabId,
    pub parent: Option<FrameId>,
}

#[derive(Debug, Clone)]
pub struct KnownRealm {
    pub tab: TabId,
    pub frame: FrameId,
    pub origin: String,
}

impl KnownTabs {
    pub fn new(emulation: Emulation) -> KnownTabs {
        KnownTabs {
            context: String::new(),
            emulation,
            initial: Vec::new(),
            tabs: Vec::new(),
            openers: HashMap::new(),
            front: String::new(),
            frames: HashMap::new(),
            realms: HashMap::new(),
            histories: HashMap::new(),
            ended: VecDeque::new(),
            scripts: HashSet::new(),
            downloads: VecDeque::new(),
            n_downloads: 0,
            pointed_at: None,
            dragged_over: None,
            hiding: 0,
            hidden: HashSet::new(),
            empty_pages: HashSet::new(),
        }
    }

    /// The tab that a frame is in, or `None` if it is not one of this device.
    pub fn tab_of(&self, frame: &str) -> Option<TabId> {
        self.frames.get(frame).map(|known| known.tab.clone())
    }

    /// Whether a tab has frames of other origins, which may be in other processes.
    pub fn has_foreign_frames(&self, tab: &str) -> bool {
        let mut own = self.realms.values().filter(|known| known.tab == tab);
        let Some(main) = self.realms.values().find(|known| known.frame == tab) else { return false };
        own.any(|known| known.origin != main.origin)
    }

    pub fn add_tab(&mut self, tab: &str, opener: Option<TabId>) {
        self.tabs.push(tab.to_string());
        self.frames.insert(tab.to_string(), KnownFrame { tab: tab.to_string(), parent: None });
        if let Some(opener) = opener {
            self.openers.insert(tab.to_string(), opener);
        }
    }

    /// Forgets a tab. Returns the tab that comes to the front, if it was the front one.
    pub fn forget_tab(&mut self, tab: &str) -> Option<TabId> {
        self.tabs.retain(|known| known != tab);
        self.frames.retain(|_, known| known.tab != tab);
        self.realms.retain(|_, known| known.tab != tab);
        self.histories.remove(tab);
        let opener = self.openers.remove(tab);
        if self.front != tab {
            return None;
        }
        let next = self.tabs.iter().find(|known| Some(*known) == opener.as_ref()).or(self.tabs.last()).cloned();
        self.front = next.clone().unwrap_or_default();
        next
    }

    /// Forgets a frame with the frames in it.
    pub fn forget_frame(&mut self, frame: &str) {
        self.frames.remove(frame);
        self.realms.retain(|_, known| known.frame != frame);
        let is_within = |(_, known): &(&FrameId, &KnownFrame)| known.parent.as_deref() == Some(frame);
        let within: Vec<FrameId> = self.frames.iter().filter(is_within).map(|(id, _)| id.clone()).collect();
        within.iter().for_each(|frame| self.forget_frame(frame));
    }

    pub fn frames_of(&self, tab: &str) -> Vec<FrameInfo> {
        let realm = |frame: &str| {
            self.realms.iter().find(|(_, known)| known.frame == frame).map(|(realm, _)| Realm(realm.clone()))
        };
        let own = self.frames.iter().filter(|(_, known)| known.tab == tab);
        let info = |(id, known): (&FrameId, &KnownFrame)| FrameInfo {
            id: id.clone(),
            parent: known.parent.clone(),
            realm: realm(id),
        };
        let mut frames: Vec<FrameInfo> = own.map(info).collect();
        frames.sort_by_key(|frame| frame.id != tab);
        frames
    }

    /// Notes how a navigation ended.
    pub fn note_navigation(&mut self, id: &str, navigation: Navigation) {
        if id.is_empty() {
            return;
        }
        if self.ended.len() == NAVIGATIONS {
            self.ended.pop_front();
        }
        self.ended.push_back((id.to_string(), navigation));
    }

    /// Whether a new tab is one that the device does not have.
    pub fn hides(&mut self, tab: &str, opener: Option<&TabId>) -> bool {
        if self.hiding == 0 || opener.is_some() {
            return self.hidden.contains(tab);
        }
        self.hiding -= 1;
        self.hidden.insert(tab.to_string())
    }

    pub fn begin_download(&mut self, id: String, name: String) {
        if self.downloads.len() < DOWNLOADS {
            self.downloads.push_back((id, name));
        }
    }

    /// The name of a download that has ended, and its number.
    pub fn end_download(&mut self, id: &str) -> Option<(String, u64)> {
        let index = self.downloads.iter().position(|(known, _)| known == id)?;
        self.n_downloads += 1;
        self.downloads.remove(index).map(|(_, name)| (name, self.n_downloads))
    }

    fn navigation(&self, id: &str) -> Option<Navigation> {
        self.ended.iter().find(|(known, _)| known == id).map(|(_, navigation)| navigation.clone())
    }
}

impl BidiSession {
    /// Waits until a navigation has ended. The caller limits the wait.
    pub(super) async fn navigated(&self, id: &str) -> Navigation {
        // Some browsers name none if the document stays.
        if id.is_empty() {
            return Navigation::SameDocument;
        }
        loop {
            let changed = self.navigated.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if let Some(navigation) = self.known.lock().navigation(id) {
                return navigation;
            }
            if self.connection.is_gone() {
                return Navigation::Failed { why: "the browser is gone".to_string(), is_aborted: false };
            }
            tokio::select! {
                () = changed => {}
                () = self.connection.gone() => {}
            }
        }
    }

    /// Opens a tab that the device does not have.
    pub(super) async fn hidden_tab(&self, create: Value) -> Result<TabId, BackendError> {
        self.known.lock().hiding += 1;
        let made = self.call("browsingContext.create", create).await;
        let mut known = self.known.lock();
        match made {
            Ok(made) => Ok(string(&made, "context")),
            Err(error) => {
                known.hiding = known.hiding.saturating_sub(1);
                Err(error)
            }
        }
    }

    pub(super) fn note_navigation(&self, id: &str, navigation: Navigation) {
        self.known.lock().note_navigation(id, navigation);
        self.navigated.notify_waiters();
    }

    /// Another tab comes to the front when the front one closes: the one that the page half chooses too. Browsers choose another.
    pub(super) fn tab_closed(&self, tab: &str) {
        let next = self.known.lock().forget_tab(tab);
        self.sink.take(BrowserEvent::TabClosed { tab: tab.to_string() });
        let Some((me, next)) = self.me.upgrade().zip(next) else { return };
        // Detached: ends when the browser has answered, or is gone.
        tokio::spawn(async move {
            let _ = me.call("browsingContext.activate", json!({"context": next})).await;
        });
    }

    /// A new tab of this device. One that a page opened comes to the front, as the page half takes it.
    pub(super) fn tab_created(&self, tab: &str, opener: Option<TabId>) {
        self.known.lock().add_tab(tab, opener.clone());
        self.sink.take(BrowserEvent::TabAppeared { tab: tab.to_string() });
        let attached = BrowserEvent::TabAttached { tab: tab.to_string(), main_frame: tab.to_string(), opener };
        self.sink.take(attached);
        let Some(me) = self.me.upgrade() else { return };
        let tab = tab.to_string();
        // Detached: ends when the browser has answered, or is gone.
        tokio::spawn(async move {
            // Behind a page that is busy, it comes to the front when that one is closed.
            let _ = timeout(SWITCHING, me.call("browsingContext.activate", json!({"context": tab}))).await;
            let (is_kept, initial) = {
                let mut known = me.known.lock();
                let is_kept = known.tabs.contains(&tab);
                if is_kept {
                    known.front.clone_from(&tab);
                }
                (is_kept, std::mem::take(&mut known.initial))
            };
            me.sink.take(BrowserEvent::TabOpened { tab, is_kept });
            for tab in initial {
                let _ = me.call("browsingContext.close", json!({"context": tab})).await;
            }
        });
    }
}
