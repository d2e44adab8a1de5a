//! The screen of a session for people who watch it: pictures and elements as they change, how an element can be found, and what
//! an action that was aimed at a screen means on the present one.

mod aim;
mod element;
mod inspect;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;
use trailblaze_core::driver::{OpenTab, ScreenFrame};
use trailblaze_core::engine::cx::Cx;
use trailblaze_core::engine::fault::{Fault, Stop};
use trailblaze_core::engine::session::Session;
use trailblaze_core::screen::{Node, Screen};

use crate::output::screenshot;
use crate::sessions::service::generated::ScreenElement;
pub use aim::{Aimed, Mistaken, TouchRequest, called, delegate_of};
pub use inspect::{MatchedElements, asserted, inspect, matches};

/// The shortest time between two looks at a screen that keeps changing.
const EVERY: Duration = Duration::from_millis(40);
/// How long to wait for a change before looking anyway.
const IDLE: Duration = Duration::from_secs(10);
/// How long to wait after a look that failed.
const AFTER_FAILURE: Duration = Duration::from_millis(500);
/// How many states of the elements are kept, so that what a person points at can still be named.
const KEPT: usize = 30;
/// How many elements are listed.
pub const MOST_ELEMENTS: usize = 5_000;

/// Watches the screen of a session while someone wants to see it.
pub struct Viewer {
    session: Arc<Session>,
    view: watch::Sender<ViewedScreen>,
    recent: Mutex<VecDeque<Arc<KnownScreen>>>,
    is_following: Mutex<bool>,
}

/// What there is to see.
#[derive(Clone, Default)]
pub struct ViewedScreen {
    /// `None` before the first look.
    pub sight: Option<Arc<KnownScreen>>,
    pub picture: Option<Arc<Encoded>>,
    /// Why the device can no longer be used.
    pub lost: Option<String>,
}

/// One state of the elements of a screen.
pub struct KnownScreen {
    pub generation: i32,
    pub screen: Screen,
    /// In the order of the tree, at most [`MOST_ELEMENTS`].
    pub elements: Vec<ScreenElement>,
    pub n_left_out: usize,
    /// Those of a browser.
    pub tabs: Vec<OpenTab>,
}

impl KnownScreen {
    /// The node of a listed element.
    pub fn node(&self, element: i32) -> Option<&Node> {
        let place = usize::try_from(element).ok().filter(|place| *place < self.elements.len())?;
        self.screen.root.walk().nth(place)
    }
}

/// A picture that can be sent.
pub struct Encoded {
    pub number: u64,
    pub mime: &'static str,
    pub bytes: Arc<[u8]>,
}

impl Viewer {
    pub fn new(session: Arc<Session>) -> Arc<Viewer> {
        let (view, _) = watch::channel(ViewedScreen::default());
        Arc::new(Viewer { session, view, recent: Mutex::default(), is_following: Mutex::new(false) })
    }

    /// The session whose screen it shows.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// Follows the screen. The screen is looked at as long as a receiver exists.
    pub fn watch(self: &Arc<Self>) -> watch::Receiver<ViewedScreen> {
        let receiver = self.view.subscribe();
        let mut is_following = self.is_following.lock();
        if !std::mem::replace(&mut *is_following, true) {
            let this = Arc::clone(self);
            // Detached: ends when nobody watches any more, or the session or its device ends.
            tokio::spawn(async move { this.follow().await });
        }
        receiver
    }

    /// The elements of a screen that was seen lately.
    pub fn sight(&self, generation: i32) -> Option<Arc<KnownScreen>> {
        self.recent.lock().iter().find(|sight| sight.generation == generation).cloned()
    }

    /// The elements that were seen last.
    pub fn newest(&self) -> Option<Arc<KnownScreen>> {
        self.recent.lock().back().cloned()
    }

    /// Looks now. Returns the elements as they are.
    pub async fn look(&self, cx: &Cx) -> Result<Arc<KnownScreen>, Stop> {
        let screen = self.session.device.look(cx).await?;
        Ok(self.note(screen))
    }

    async fn follow(&self) {
        let mut frames = None;
        loop {
            // Closed is noticed under the lock, so that a watcher that comes now starts another task.
            {
                let mut is_following = self.is_following.lock();
                if self.view.is_closed() {
                    *is_following = false;
                    return;
                }
            }
            let Some(cx) = self.session.top_level() else {
                *self.is_following.lock() = false;
                return;
            };
            let next = Instant::now() + EVERY;
            // A device that sends pictures by itself is only asked for the elements.
            let seen = match &frames {
                Some(_) => self.look(&cx).await.map(|sight| sight.screen.snapshot),
                None => self.look_pictured(&cx).await,
            };
            if frames.is_none() {
                frames = self.session.device.frames();
            }
            let pause = match seen {
                Ok(snapshot) => {
                    tokio::select! {
                        () = self.view.closed() => Ok(()),
                        waited = self.session.device.may_have_changed(&cx, snapshot, IDLE) => waited,
                        () = self.show_frames(&mut frames) => Ok(()),
                    }
                }
                Err(stop) => Err(stop),
            };
            match pause {
                Ok(()) => {
                    let pause = tokio::time::sleep_until(next);
                    tokio::select! {
                        () = pause => {}
                        () = self.show_frames(&mut frames) => {}
                    }
                }
                Err(Stop::Fault(fault)) if matches!(*fault, Fault::DeviceLost { .. }) => {
                    self.view.send_modify(|view| view.lost = Some(fault.to_string()));
                    *self.is_following.lock() = false;
                    return;
                }
                Err(_) => tokio::time::sleep(AFTER_FAILURE).await,
            }
        }
    }

    /// Shows the pictures that the device sends. Returns if it no longer does.
    async fn show_frames(&self, frames: &mut Option<watch::Receiver<Option<ScreenFrame>>>) {
        let Some(receiver) = frames else { return std::future::pending().await };
        // A secret may become known later, and these pictures cannot be masked.
        while self.session.secrets.is_empty() && receiver.changed().await.is_ok() {
            let frame = receiver.borrow_and_update().clone();
            if let Some(frame) = frame {
                self.show("image/jpeg", frame.jpeg);
            }
        }
        *frames = None;
    }

    /// Looks at the screen with a picture, and shows it.
    async fn look_pictured(&self, cx: &Cx) -> Result<trailblaze_core::screen::SnapshotId, Stop> {
        let (screen, masks) = self.session.device.look_pictured(cx).await?;
        let snapshot = screen.snapshot;
        let encoded = tokio::task::spawn_blocking(move || {
            let encoded = screenshot::png(&screen, &masks, false).ok();
            (screen, encoded)
        });
        let Ok((screen, png)) = encoded.await else { return Ok(snapshot) };
        self.note(screen);
        if let Some(png) = png {
            self.show("image/png", png.into());
        }
        Ok(snapshot)
    }

    /// Keeps the elements of a screen. They get a new number if they differ from the last ones.
    fn note(&self, mut screen: Screen) -> Arc<KnownScreen> {
        screen.picture = None;
        let (elements, n_left_out) = element::list(&screen);
        let tabs = self.session.device.tabs();
        let mut recent = self.recent.lock();
        let last = recent.back();
        let is_same = |last: &&Arc<KnownScreen>| {
            let is_there = last.screen.size == screen.size && last.screen.app == screen.app && last.tabs == tabs;
            is_there && last.elements == elements
        };
        if let Some(last) = last.filter(is_same) {
            return Arc::clone(last);
        }
        let generation = last.map_or(1, |last| last.generation + 1);
        let sight = Arc::new(KnownScreen { generation, screen, elements, n_left_out, tabs });
        recent.push_back(Arc::clone(&sight));
        if recent.len() > KEPT {
            recent.pop_front();
        }
        self.view.send_modify(|view| view.sight = Some(Arc::clone(&sight)));
        sight
    }

    fn show(&self, mime: &'static str, bytes: Arc<[u8]>) {
        self.view.send_if_modified(|view| {
            if view.picture.as_ref().is_some_and(|shown| shown.bytes == bytes) {
                return false;
            }
            let number = view.picture.as_ref().map_or(1, |shown| shown.number + 1);
            view.picture = Some(Arc::new(Encoded { number, mime, bytes }));
            true
        });
    }
}
