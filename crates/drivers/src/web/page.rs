//! A device's share of a browser: its own session with its tabs, one of which is in front.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::time::Instant;
use trailblaze_core::driver::{Budget, DeviceEvents, DriverError};
use trailblaze_core::screen::SnapshotId;
use trailblaze_protocol::geometry::Size;

use super::backend::{Backend, BackendError, BrowserConnector, BrowserEventSink, ExecutionWorld, Realm, Setup, TabId};
use super::emulation::Emulation;
use super::events::PageEvents;
use super::input::BrowserInput;
use super::screencast::Screencast;
use super::scripts;
use super::state::{SharedState, State, Tab};
use super::world::PageWorld;

/// How often a browser without events is asked.
pub const POLL: Duration = Duration::from_millis(50);
/// How long a document may take to load before it is used as it is.
pub const LOADING: Duration = Duration::from_secs(10);
/// How long a look waits for requests that the page made after the last action.
const PENDING: Duration = Duration::from_millis(500);
/// The same after an action of a person, where what appears is recorded.
const PENDING_FOR_PERSON: Duration = Duration::from_secs(3);
/// How long a window may take to appear after its page has announced it.
const ANNOUNCED: Duration = Duration::from_secs(1);
/// How long a new tab may take to open.
const OPENING: Duration = Duration::from_secs(10);
/// How long a tab may take to close.
const GOING: Duration = Duration::from_millis(500);

pub struct Page {
    pub backend: Arc<dyn Backend>,
    pub shared: Arc<SharedState>,
    pub world: Arc<PageWorld>,
    /// What the device emulates when it starts, and now.
    start: Emulation,
    emulation: Mutex<Emulation>,
    /// Whether nothing was done in the session yet.
    is_fresh: AtomicBool,
}

impl Page {
    /// Opens a session with one empty tab.
    pub async fn open(
        connector: &dyn BrowserConnector,
        emulation: Emulation,
        (screencast, device_events, world): (&Arc<Screencast>, &Arc<DeviceEvents>, &Arc<PageWorld>),
        budget: &Budget,
    ) -> Result<Arc<Page>, DriverError> {
        let shared = Arc::new(SharedState::default());
        shared.state().events = Arc::clone(device_events);
        let events = Arc::new(PageEvents {
            shared: Arc::clone(&shared),
            screencast: Arc::clone(screencast),
            world: Arc::clone(world),
            page: OnceLock::new(),
        });
        let setup = Setup {
            emulation: emulation.clone(),
            script: scripts::walker(ExecutionWorld::Isolated),
            channel: scripts::CHANNEL,
            sink: Arc::clone(&events) as Arc<dyn BrowserEventSink>,
        };
        let backend = connector.open(setup, budget).await?;
        let page = Arc::new(Page {
            backend,
            shared,
            world: Arc::clone(world),
            start: emulation.clone(),
            emulation: Mutex::new(emulation),
            is_fresh: AtomicBool::new(true),
        });
        let _ = events.page.set(Arc::downgrade(&page));
        if let Err(error) = page.new_tab(budget).await {
            // Nobody else knows of the session.
            page.backend.close().await;
            return Err(error);
        }
        screencast.opened(&page);
        Ok(page)
    }

    /// Begins again with one empty tab: nothing that pages left behind stays, and the window is as it was at the start. False if the
    /// browser cannot do that within a session.
    pub async fn start_over(&self, budget: &Budget) -> Result<bool, DriverError> {
        let Some(contexts) = self.contexts() else { return Ok(false) };
        let opening = Budget { deadline: budget.deadline.min(Instant::now() + OPENING), ..budget.clone() };
        let begun = opening.run("a new context", contexts.begin()).await?;
        let old =
            begun.map_err(|error| DriverError::NotStarted { evidence: format!("no tab could be opened: {error}") })?;
        *self.emulation.lock() = self.start.clone();
        self.shared.bump(State::forget_pages);
        let opened = self.new_tab(budget).await;
        self.shared.bump(|state| {
            state.opening = None;
            old.tabs.iter().for_each(|tab| state.close_tab(tab));
        });
        contexts.end(old);
        opened?;
        self.is_fresh.store(true, Ordering::Relaxed);
        Ok(true)
    }

    pub fn is_fresh(&self) -> bool {
        self.is_fresh.load(Ordering::Relaxed)
    }

    /// Notes that something is done in the session.
    pub fn use_session(&self) {
        self.is_fresh.store(false, Ordering::Relaxed);
    }

    /// Opens a tab and brings it to the front.
    pub async fn new_tab(&self, budget: &Budget) -> Result<(), DriverError> {
        let tab = self.call(budget, "a new tab", self.backend.new_tab()).await?;
        if self.is_polled() {
            self.refresh(budget).await?;
        }
        let is_there = |state: &State| state.tabs.iter().any(|known| known.id == tab && known.is_ready);
        match self.wait(budget, budget.deadline.min(Instant::now() + OPENING), is_there).await? {
            true => Ok(()),
            false => Err(DriverError::TimedOut { what: "a new tab to open".to_string() }),
        }
    }

    pub async fn resize(&self, budget: &Budget, size: Size) -> Result<(), DriverError> {
        let emulation = {
            let mut emulation = self.emulation.lock();
            emulation.size = size;
            emulation.clone()
        };
        let tab = self.front()?;
        self.call(budget, "the window to be resized", self.backend.emulate(&tab, &emulation)).await
    }

    /// Whether it is touched with a finger.
    pub fn is_mobile(&self) -> bool {
        self.emulation.lock().is_mobile
    }

    /// Waits for the backend, and converts errors for the engine.
    pub async fn call<T>(
        &self,
        budget: &Budget,
        what: &str,
        call: impl Future<Output = Result<T, BackendError>>,
    ) -> Result<T, DriverError> {
        budget.run(what, call).await?.map_err(|error| self.wrong(error))
    }

    /// Sends input in one go; it arrives in order. If the tab closes because of it, the input has arrived.
    pub async fn input(&self, budget: &Budget, inputs: &[BrowserInput]) -> Result<(), DriverError> {
        let tab = self.front()?;
        match budget.run("the input to arrive", self.backend.input(&tab, inputs)).await? {
            Err(BackendError::Refused(_)) if !self.has(&tab) => Ok(()),
            Err(error) => Err(self.wrong(error)),
            Ok(()) => Ok(()),
        }
    }

    /// The tab in front.
    pub fn front(&self) -> Result<TabId, DriverError> {
        let state = self.shared.state();
        let tab = state.front().ok_or_else(|| DriverError::Refused { reason: "all tabs are closed".to_string() })?;
        Ok(tab.id.clone())
    }

    /// Whether a tab is about to close, which makes it refuse every command. Its document goes first.
    pub async fn goes(&self, budget: &Budget, tab: &str) -> Result<bool, DriverError> {
        let until = budget.deadline.min(Instant::now() + GOING);
        let has_document = |known: &Tab| known.id == tab && known.main().is_some_and(|frame| frame.realm.is_some());
        self.wait(budget, until, |state| !state.tabs.iter().any(has_document)).await
    }

    fn has(&self, tab: &str) -> bool {
        self.shared.state().tabs.iter().any(|known| known.id == tab)
    }

    pub fn wrong(&self, error: BackendError) -> DriverError {
        match (self.end(), error) {
            (_, error @ BackendError::Threw(_)) => DriverError::Refused { reason: error.to_string() },
            (Some(evidence), _) => DriverError::Lost { evidence },
            (None, error @ BackendError::Gone) => DriverError::Lost { evidence: error.to_string() },
            (None, error) => DriverError::Refused { reason: error.to_string() },
        }
    }

    fn end(&self) -> Option<String> {
        let state = self.shared.state();
        let crashed = state.front().filter(|tab| tab.is_crashed).map(|tab| match &tab.killed_for {
            Some(why) => format!("the page {} was ended: {why}", tab.url),
            None => "the page crashed".to_string(),
        });
        drop(state);
        crashed.or_else(|| self.backend.end())
    }

    /// Waits for a document that is loading, and for requests that the page has made since the last action. Relies on
    /// events alone, and only for a limited time.
    pub async fn settle(&self, budget: &Budget) -> Result<(), DriverError> {
        if self.is_polled() {
            return self.settle_by_polling(budget).await;
        }
        let opening = self.shared.state().opening;
        if let Some(at) = opening {
            // No event reports that an announced window does not appear after all.
            self.wait(budget, budget.deadline.min(at + ANNOUNCED), |state| state.opening.is_none()).await?;
            self.shared.state().opening = None;
        }
        self.wait_for_load(budget).await?;
        let acted_at = self.shared.state().acted_at;
        let is_for_person = self.shared.state().person.is_some();
        let most = if is_for_person { PENDING_FOR_PERSON } else { PENDING };
        if let Some(until) = acted_at.map(|at| at + most).filter(|until| *until > Instant::now()) {
            let is_answered = |state: &State| state.front().is_none_or(|tab| tab.pending.is_empty());
            let is_over = self.wait(budget, budget.deadline.min(until), is_answered).await?;
            if is_for_person && !is_over {
                // It is answered some day, as one that waits for news; the next action does not wait for it again.
                self.shared.state().tabs.iter_mut().for_each(|tab| tab.pending.clear());
            }
            // An answer often leads to another document.
            self.wait_for_load(budget).await?;
        }
        match self.end() {
            Some(evidence) => Err(DriverError::Lost { evidence }),
            None => Ok(()),
        }
    }

    /// Waits until the front document has loaded, including its scripts and pictures. A document that takes too long is
    /// waited for once, not again by each look.
    async fn wait_for_load(&self, budget: &Budget) -> Result<(), DriverError> {
        let most = budget.wait.unwrap_or(LOADING);
        let is_loaded = |state: &State| {
            if !state.adopting.is_empty() {
                return false;
            }
            let Some(tab) = state.front() else { return true };
            let has_loaded = tab.loading_since.is_none_or(|since| since.elapsed() >= most);
            tab.is_crashed || has_loaded && tab.main().is_some_and(|frame| frame.realm.is_some())
        };
        let since = self.shared.state().front().and_then(|tab| tab.loading_since);
        let now = Instant::now();
        let until = since.map(|since| since + most).filter(|until| *until > now).unwrap_or(now + LOADING);
        self.wait(budget, budget.deadline.min(until), is_loaded).await.map(drop)
    }

    /// Waits until a condition on the known state holds, or the time is up.
    pub async fn wait(
        &self,
        budget: &Budget,
        until: Instant,
        holds: impl Fn(&State) -> bool,
    ) -> Result<bool, DriverError> {
        let is_polled = self.is_polled();
        loop {
            let changed = self.shared.changed.notified();
            tokio::pin!(changed);
            // Subscribes before checking, so that no change in between is missed.
            changed.as_mut().enable();
            if holds(&self.shared.state()) {
                return Ok(true);
            }
            if let Some(evidence) = self.backend.end() {
                return Err(DriverError::Lost { evidence });
            }
            tokio::select! {
                biased;
                () = budget.cancel.cancelled() => return Err(DriverError::Cancelled),
                () = changed => {}
                () = self.backend.gone() => {}
                () = tokio::time::sleep_until(until) => return Ok(false),
                () = tokio::time::sleep(POLL), if is_polled => match self.refresh(budget).await {
                    Err(DriverError::TimedOut { .. }) => return Ok(false),
                    refreshed => drop(refreshed?),
                },
            }
        }
    }

    /// Evaluates an expression in the walker's realm of the main document. If the document is replaced meanwhile,
    /// continues in the new one.
    pub async fn ask(&self, budget: &Budget, expression: &str) -> Result<Value, DriverError> {
        loop {
            let realm = self.main_realm(budget).await?;
            match self.ask_in(budget, &realm, expression).await? {
                Some(value) => return Ok(value),
                None => self.settle(budget).await?,
            }
        }
    }

    pub async fn main_realm(&self, budget: &Budget) -> Result<Realm, DriverError> {
        if let Some(realm) = self.known_main_realm() {
            return Ok(realm);
        }
        self.settle(budget).await?;
        self.known_main_realm().ok_or_else(|| match self.front() {
            Ok(_) => DriverError::TimedOut { what: "the page to load".to_string() },
            Err(error) => error,
        })
    }

    pub fn known_main_realm(&self) -> Option<Realm> {
        self.shared.state().front()?.main()?.realm.clone()
    }

    /// Evaluates in one document; `None` if the document is gone.
    pub async fn ask_in(&self, budget: &Budget, realm: &Realm, expression: &str) -> Result<Option<Value>, DriverError> {
        let evaluate = self.evaluate(realm, expression);
        // A process that is gone does not answer.
        let crash = self.crashes(budget);
        let answered = tokio::select! {
            biased;
            answered = budget.run("the page to answer", evaluate) => answered,
            Ok(true) = crash => return Err(DriverError::Lost { evidence: self.end().unwrap_or_default() }),
        };
        let answer = match answered {
            Ok(answer) => answer,
            Err(DriverError::TimedOut { .. }) => {
                let what = "the page to answer; its scripts may keep it busy".to_string();
                return Err(DriverError::TimedOut { what });
            }
            Err(error) => return Err(error),
        };
        match answer {
            Ok(value) => Ok(Some(value)),
            // Only a document that is gone refuses; the event may arrive later.
            Err(BackendError::Refused(_)) => {
                self.shared.bump(|state| state.tabs.iter_mut().for_each(|tab| tab.forget_realm(realm)));
                Ok(None)
            }
            Err(error) => Err(self.wrong(error)),
        }
    }

    /// Waits until the page has drawn a frame. Does not follow a page that is replaced meanwhile.
    pub async fn next_frame(&self, budget: &Budget) -> Result<(), DriverError> {
        if let Some(realm) = self.known_main_realm() {
            self.ask_in(budget, &realm, "trailblaze.frame()").await?;
        }
        Ok(())
    }

    /// Evaluates a user's script in the page's own world.
    pub async fn run_script(&self, budget: &Budget, script: &str) -> Result<Value, DriverError> {
        self.settle(budget).await?;
        let tab = self.front()?;
        self.call(budget, "the script to end", self.backend.run_script(&tab, script)).await
    }

    pub fn commits(&self) -> u64 {
        self.shared.state().front().map_or(0, |tab| tab.commits)
    }

    pub fn version(&self) -> SnapshotId {
        SnapshotId(self.shared.state().version)
    }

    /// Notes that an action may change the page, before any event reports it.
    pub fn touch(&self) {
        self.shared.bump(|state| {
            state.acted_at = Some(Instant::now());
            state.tabs.iter_mut().for_each(|tab| tab.pending.clear());
        });
    }

    /// Notes that a document is loading, before the browser reports it.
    pub fn expect_document(&self, is_expected: bool) {
        self.shared.bump(|state| {
            let front = state.front.clone();
            if let Some(tab) = state.tab_mut(&front) {
                tab.loading_since = is_expected.then(Instant::now);
            }
        });
    }

    pub async fn close(&self) {
        self.shared.state().person = None;
        self.backend.close().await;
    }
}

pub fn string(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_string()
}
