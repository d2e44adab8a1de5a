//! Pictures of the front tab as they change, while someone watches.

use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until, timeout};
use trailblaze_core::driver::ScreenFrame;
use trailblaze_protocol::geometry::Size;

use super::backend::TabId;
use super::page::Page;
use super::state::State;

/// Pictures that follow each other this quickly may have crowded out others.
const QUICK: Duration = Duration::from_millis(100);
/// How long after the last of them, and after the last change of the page, the browser is asked for the final picture.
const CALM: Duration = Duration::from_millis(200);
/// How long the browser may take to start or stop.
const ANSWER: Duration = Duration::from_secs(2);

/// The pictures of a device. They are taken while a receiver exists.
pub struct Screencast {
    frames: watch::Sender<Option<ScreenFrame>>,
    /// The device's page, once it is open.
    page: watch::Sender<Weak<Page>>,
    state: Mutex<Cast>,
    /// Signalled for each picture.
    arrived: Notify,
}

#[derive(Default)]
struct Cast {
    is_running: bool,
    /// The tab whose pictures count.
    tab: TabId,
    last_number: u64,
    last_at: Option<Instant>,
    /// Whether the last pictures came quickly. The browser drops pictures while others are on their way, possibly the last.
    is_quick: bool,
}

/// The document that is shown. The pictures are started again for each.
#[derive(Debug, Clone, PartialEq)]
struct ShownDocument {
    tab: TabId,
    commits: u64,
    is_crashed: bool,
}

impl ShownDocument {
    fn of(state: &State) -> Option<ShownDocument> {
        let tab = state.front()?;
        Some(ShownDocument { tab: tab.id.clone(), commits: tab.commits, is_crashed: tab.is_crashed })
    }
}

impl Default for Screencast {
    fn default() -> Screencast {
        Screencast {
            frames: watch::Sender::new(None),
            page: watch::Sender::new(Weak::new()),
            state: Mutex::default(),
            arrived: Notify::new(),
        }
    }
}

impl Screencast {
    /// `None` outside of a runtime, in which nothing can be followed.
    pub fn frames(self: &Arc<Screencast>) -> Option<watch::Receiver<Option<ScreenFrame>>> {
        let runtime = tokio::runtime::Handle::try_current().ok()?;
        // Under the lock, so that a task that is about to end sees the receiver.
        let mut state = self.state.lock();
        let receiver = self.frames.subscribe();
        if !state.is_running {
            state.is_running = true;
            // Detached: ends when nobody watches any more, or the browser is gone.
            runtime.spawn(follow(Arc::clone(self)));
        }
        Some(receiver)
    }

    pub fn opened(&self, page: &Arc<Page>) {
        self.page.send_replace(Arc::downgrade(page));
    }

    /// Takes a picture from the browser.
    pub fn take(&self, tab: &str, size: Size, jpeg: Vec<u8>) {
        {
            let mut state = self.state.lock();
            if state.tab != tab || !state.is_running {
                return;
            }
            let now = Instant::now();
            state.is_quick = state.last_at.is_some_and(|at| now - at < QUICK);
            state.last_at = Some(now);
            self.frames.send_if_modified(|last| {
                if last.as_ref().is_some_and(|last| last.size == size && *last.jpeg == *jpeg) {
                    return false;
                }
                state.last_number += 1;
                *last = Some(ScreenFrame { number: state.last_number, size, jpeg: jpeg.into() });
                true
            });
        }
        self.arrived.notify_one();
    }

    /// When to ask for the final picture of a quick series.
    fn due(&self) -> Option<Instant> {
        let state = self.state.lock();
        state.last_at.filter(|_| state.is_quick).map(|at| at + CALM)
    }

    /// Ends the task, unless someone watches again.
    fn ends(&self) -> bool {
        let mut state = self.state.lock();
        let is_watched = self.frames.receiver_count() > 0;
        if !is_watched {
            self.end(&mut state);
        }
        !is_watched
    }

    fn end(&self, state: &mut Cast) {
        let last_number = state.last_number;
        *state = Cast { last_number, ..Cast::default() };
        // It is out of date when someone watches again.
        self.frames.send_replace(None);
    }

    async fn start(&self, page: &Page, tab: &str) {
        {
            let mut state = self.state.lock();
            tab.clone_into(&mut state.tab);
            (state.last_at, state.is_quick) = (None, false);
        }
        let _ = timeout(ANSWER, page.start_pictures(tab)).await;
    }

    async fn stop(&self, page: &Page, tab: &str) {
        let _ = timeout(ANSWER, page.stop_pictures(tab)).await;
    }
}

/// Follows the front tab until nobody watches any more.
async fn follow(cast: Arc<Screencast>) {
    let mut pages = cast.page.subscribe();
    let page = loop {
        tokio::select! {
            biased;
            () = cast.frames.closed() => if cast.ends() { return },
            opened = pages.wait_for(|page| page.strong_count() > 0) => match opened.ok().and_then(|page| page.upgrade()) {
                Some(page) => break page,
                None => return cast.end(&mut cast.state.lock()),
            },
        }
    };
    let mut shown: Option<ShownDocument> = None;
    let mut version = 0;
    let mut changed_at: Option<Instant> = None;
    loop {
        let changed = page.shared.changed.notified();
        tokio::pin!(changed);
        changed.as_mut().enable();
        let (now, newest) = {
            let state = page.shared.state();
            (ShownDocument::of(&state), state.version)
        };
        if std::mem::replace(&mut version, newest) != newest {
            changed_at = Some(Instant::now());
        }
        if now != shown {
            if let Some(before) = shown {
                cast.stop(&page, &before.tab).await;
            }
            if let Some(now) = &now {
                cast.start(&page, &now.tab).await;
            }
            shown = now;
        }
        // Under load, the browser may not send a picture for a change.
        let due = cast.due().into_iter().chain(changed_at.map(|at| at + CALM)).min();
        tokio::select! {
            biased;
            () = cast.frames.closed() => {
                if let Some(shown) = &shown {
                    cast.stop(&page, &shown.tab).await;
                }
                if cast.ends() {
                    return;
                }
                shown = None;
            }
            () = page.backend.gone() => return cast.end(&mut cast.state.lock()),
            () = changed => {}
            () = cast.arrived.notified() => {}
            () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                // Started again, the browser sends what it shows, whether that has changed or not.
                changed_at = changed_at.filter(|at| at.elapsed() < CALM);
                if let Some(shown) = &shown {
                    cast.stop(&page, &shown.tab).await;
                    cast.start(&page, &shown.tab).await;
                }
            }
        }
    }
}
