//! A browser as the engine sees it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;
use trailblaze_core::device_source::DeviceSpec;
use trailblaze_core::driver::{
    AccessibilityAuditor, Action, ActionOutput, ActionTarget, AppControl, BrowserControl, Budget, ClipboardControl,
    DeviceDescription, DeviceEvents, DialogAnswer, DisplayedText, DocumentSnapshots, Driver, DriverError, LateFile,
    NetworkControl, ObserveOptions, OpenTab, Person, ScreenFrame, TrailStart, WorldControl,
};
use trailblaze_core::query::{Checks, Find, Found, Query, Reason, WhyNot};
use trailblaze_core::screen::{Picture, Pixels, Screen, Shape, SnapshotId};
use trailblaze_protocol::device_event::DeviceEvent;
use trailblaze_protocol::event::Level;
use trailblaze_protocol::geometry::{Rect, Size};

use super::act::{Actor, act};
use super::acting::Acting;
use super::audit::AxeFile;
use super::backend::BrowserConnector;
use super::browse::{restart, restore};
use super::documents::KnownSheets;
use super::emulation::Emulation;
use super::engine::BrowserEngine;
use super::look::{PagePart, Ready, screen_of};
use super::page::{POLL, Page};
use super::person;
use super::screencast::Screencast;
use super::state::Tab;
use super::want::{needed, want};
use super::webdriver::EndpointEntry;
use super::world::PageWorld;

/// The initial state of a device.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InitialState {
    pub emulation: Emulation,
    /// A file with cookies and local storage to restore.
    pub storage_state: Option<PathBuf>,
    /// Whether a trail goes on with the cookies and storage of the trail before it.
    pub is_shared: bool,
    /// Whether dialogs are accepted, if the project says so.
    pub dialogs: Option<DialogAnswer>,
    /// What audits pages.
    pub axe: AxeFile,
    /// Which browser it is.
    pub engine: BrowserEngine,
    /// Where it is, unless it is on this machine.
    pub endpoint: Option<EndpointEntry>,
}

pub struct Web {
    description: DeviceDescription,
    connector: Arc<dyn BrowserConnector>,
    start: InitialState,
    page: Mutex<Option<Arc<Page>>>,
    /// Why there was no session for this trail. Calls do not wait for one: that was done before the trail started.
    unprepared: Mutex<Option<DriverError>>,
    /// What others keep of the session of the trail that ended last.
    late_files: Mutex<Vec<LateFile>>,
    /// Held while the page is opened or replaced.
    opening: tokio::sync::Mutex<()>,
    /// What the trail says about dialogs.
    dialogs: Mutex<Option<DialogAnswer>>,
    /// The storage state that the trail names.
    storage_state: Mutex<Option<PathBuf>>,
    pub(super) clipboard: Mutex<String>,
    screencast: Arc<Screencast>,
    events: Arc<DeviceEvents>,
    /// The style sheets of its pages.
    pub(super) sheets: KnownSheets,
    /// What the trail has changed around the pages.
    pub(super) world: Arc<PageWorld>,
}

impl Web {
    pub fn new<C: BrowserConnector + 'static>(device: &DeviceSpec, connector: Arc<C>) -> Web {
        let summary = connector.name().to_string();
        let description =
            DeviceDescription { shape: Shape::Web, knows_elements: true, summary, ..device.description() };
        let start = device.settings.get::<InitialState>().cloned().unwrap_or_default();
        let events = Arc::new(DeviceEvents::default());
        let world = Arc::new(PageWorld::new(Arc::clone(&events)));
        Web {
            description,
            connector,
            start,
            page: Mutex::default(),
            unprepared: Mutex::default(),
            late_files: Mutex::default(),
            opening: tokio::sync::Mutex::default(),
            dialogs: Mutex::default(),
            storage_state: Mutex::default(),
            clipboard: Mutex::default(),
            screencast: Arc::default(),
            events,
            world,
            sheets: KnownSheets::default(),
        }
    }

    pub(super) fn axe_file(&self) -> &AxeFile {
        &self.start.axe
    }

    pub(super) fn opened(&self) -> Option<Arc<Page>> {
        self.page.lock().clone()
    }

    /// The device's page, opened by the first command.
    pub(super) async fn page(&self, budget: &Budget) -> Result<Arc<Page>, DriverError> {
        if let Some(page) = self.opened() {
            return Ok(page);
        }
        if let Some(error) = self.unprepared.lock().clone() {
            return Err(error);
        }
        let open = async {
            let _opening = self.opening.lock().await;
            match self.opened() {
                Some(page) => Ok(page),
                None => self.open(budget).await,
            }
        };
        budget.run("the browser to start", open).await?
    }

    async fn open(&self, budget: &Budget) -> Result<Arc<Page>, DriverError> {
        let shared = (&self.screencast, &self.events, &self.world);
        let page = Page::open(&*self.connector, self.start.emulation.clone(), shared, budget).await?;
        self.set_up(&page, budget).await?;
        *self.page.lock() = Some(Arc::clone(&page));
        Ok(page)
    }

    /// Gives a new session what the trail or the project says about it.
    async fn set_up(&self, page: &Page, budget: &Budget) -> Result<(), DriverError> {
        self.rule_dialogs(page);
        page.call(budget, "the browser", self.world.apply(&*page.backend)).await?;
        let file = self.storage_state.lock().clone().or_else(|| self.start.storage_state.clone());
        let Some(file) = file else { return Ok(()) };
        let state = read_state(&file)?;
        restore(&Actor { page, budget }, &state).await
    }

    /// Lets a trail go on with the cookies and storage of the trail before it, but not with its tabs.
    async fn go_on(&self, page: &Page, budget: &Budget) -> Result<(), DriverError> {
        if !page.is_fresh() {
            restart(&Actor { page, budget }).await?;
        }
        self.rule_dialogs(page);
        let Some(file) = self.storage_state.lock().clone() else { return Ok(()) };
        restore(&Actor { page, budget }, &read_state(&file)?).await
    }

    /// Makes the page ready for another trail, if there is one, or if it must be there before the trail starts.
    async fn prepare(&self, budget: &Budget, is_state_changed: bool) -> Result<(), DriverError> {
        let Some(page) = self.opened() else {
            return match self.connector.has_few_sessions() {
                true => self.page(budget).await.map(drop),
                false => Ok(()),
            };
        };
        if self.start.is_shared && page.backend.end().is_none() {
            return self.go_on(&page, budget).await;
        }
        if is_state_changed {
            page.use_session();
        }
        let page = self.start_over(page, budget).await?;
        self.rule_dialogs(&page);
        Ok(())
    }

    fn rule_dialogs(&self, page: &Page) {
        let rule = (*self.dialogs.lock()).or(self.start.dialogs);
        page.shared.state().dialogs.rule = rule.map(|rule| rule == DialogAnswer::Accept);
    }

    /// Starts over in a new context, unless nothing was done in this one; in a new session if the browser has no contexts, and in a
    /// new browser if this one does not respond.
    pub(super) async fn start_over(&self, page: Arc<Page>, budget: &Budget) -> Result<Arc<Page>, DriverError> {
        if page.is_fresh() {
            return Ok(page);
        }
        let _opening = self.opening.lock().await;
        let url = page.shared.state().front().map(|tab| tab.url.clone()).unwrap_or_default();
        let failed = match page.backend.end() {
            Some(ended) => ended,
            None => match page.start_over(budget).await {
                Ok(true) => {
                    self.world.forget_origins();
                    if let Err(error) = self.set_up(&page, budget).await {
                        // Nothing is done with a page that is not what the trail expects: the next call tries again.
                        *self.page.lock() = None;
                        page.close().await;
                        return Err(error);
                    }
                    return Ok(page);
                }
                Ok(false) => {
                    *self.page.lock() = None;
                    page.close().await;
                    return self.open(budget).await;
                }
                Err(DriverError::Cancelled) => return Err(DriverError::Cancelled),
                Err(error) => error.to_string(),
            },
        };
        *self.page.lock() = None;
        page.backend.abandon().await;
        let page = self.open(budget).await?;
        let text = format!("a new browser was started, because the one that showed {url} cannot be used: {failed}");
        self.events.add(DeviceEvent::Log { level: Level::Warning, text });
        Ok(page)
    }
}

#[async_trait]
impl Driver for Web {
    fn describe(&self) -> &DeviceDescription {
        &self.description
    }

    async fn observe(&self, budget: &Budget, want: ObserveOptions) -> Result<Screen, DriverError> {
        let page = self.page(budget).await?;
        loop {
            page.settle(budget).await?;
            let tab = page.front()?;
            match observe(&page, budget, want).await {
                // The tab went away during the look, so its screen is out of date.
                Err(DriverError::Refused { .. }) if page.goes(budget, &tab).await? => {}
                observed => return observed,
            }
        }
    }

    /// Elements that are scrolled out of view count as present, unless they must be in view. An element to act on is
    /// made ready in the page. Usually all of this is one evaluation.
    async fn find(&self, budget: &Budget, query: &Query, checks: Checks) -> Result<Find, DriverError> {
        let page = self.page(budget).await?;
        page.settle(budget).await?;
        let snapshot = page.version();
        let (wanted, is_partial) = want(query, checks);
        let part = if checks == Checks::InView { PagePart::Window } else { PagePart::Whole };
        let mut seen = page.look_for(budget, &wanted).await?;
        let ready = seen.ready.take();
        let found = match query.search(&seen.screen(snapshot, part), Checks::Visible) {
            Find::Found(found) => Ok(found),
            Find::Not(WhyNot { reason: Reason::NoMatch { .. }, .. }) => {
                explain(&page, budget, query, wanted, part).await?
            }
            // To say where each of them is, the elements around them are needed.
            Find::Not(WhyNot { reason: Reason::Several { .. }, .. }) if is_partial => {
                explain(&page, budget, query, wanted, part).await?
            }
            Find::Not(why) => Err(why),
        };
        let mut found = match found {
            Ok(found) => found,
            Err(why) => return Ok(Find::Not(why)),
        };
        let Some(needed) = needed(checks) else { return Ok(Find::Found(found)) };
        let is_it = |ready: &Ready| ready.id == Some(found.node) || ready.why.is_some() && found.count == 1;
        let ready = match ready.filter(is_it) {
            Some(ready) => ready,
            None => page.ready(budget, found.node, needed).await?,
        };
        match judge(&mut found, &ready) {
            None => Ok(Find::Found(found)),
            Some(reason) => Ok(Find::Not(WhyNot { snapshot: found.snapshot, asked: query.clone(), reason })),
        }
    }

    async fn displayed_texts(&self, budget: &Budget) -> Result<Option<Vec<DisplayedText>>, DriverError> {
        self.page(budget).await?.displayed_texts(budget).await.map(Some)
    }

    async fn act(&self, budget: &Budget, target: &ActionTarget, action: &Action) -> Result<ActionOutput, DriverError> {
        let page = self.page(budget).await?;
        page.use_session();
        // An element that was found is ready; anything else waits for the page.
        if !matches!(target, ActionTarget::Element(_)) {
            page.settle(&Budget { wait: None, ..budget.clone() }).await?;
        }
        let _acting = Acting::begin(&page.shared);
        act(&page, budget, (target, action)).await
    }

    fn apps(&self) -> Option<&dyn AppControl> {
        Some(self)
    }

    fn clipboard(&self) -> Option<&dyn ClipboardControl> {
        Some(self)
    }

    fn network(&self) -> Option<&dyn NetworkControl> {
        Some(self)
    }

    fn browser(&self) -> Option<&dyn BrowserControl> {
        Some(self)
    }

    fn documents(&self) -> Option<&dyn DocumentSnapshots> {
        Some(self)
    }

    fn auditor(&self) -> Option<&dyn AccessibilityAuditor> {
        Some(self)
    }

    fn world(&self) -> Option<&dyn WorldControl> {
        Some(self)
    }

    async fn origin(&self, budget: &Budget, target: &ActionTarget) -> Result<Option<String>, DriverError> {
        let page = self.page(budget).await?;
        Actor { page: &page, budget }.origin(target).await.map(Some)
    }

    async fn changed(&self, budget: &Budget, since: SnapshotId) -> Result<(), DriverError> {
        let page = self.page(budget).await?;
        if page.is_polled() {
            // The next look asks whether it has changed.
            let until = budget.deadline.min(Instant::now() + POLL);
            return tokio::select! {
                () = budget.cancel.cancelled() => Err(DriverError::Cancelled),
                () = tokio::time::sleep_until(until) => Ok(()),
            };
        }
        page.wait(budget, budget.deadline, |state| SnapshotId(state.version) != since).await.map(drop)
    }

    fn events(&self) -> Option<&DeviceEvents> {
        Some(&self.events)
    }

    fn frames(&self) -> Option<watch::Receiver<Option<ScreenFrame>>> {
        if self.opened().is_some_and(|page| !page.sends_pictures()) {
            return None;
        }
        self.screencast.frames()
    }

    async fn follow_person(&self, budget: &Budget) -> Result<Person, DriverError> {
        let page = self.page(budget).await?;
        page.check_follows_person()?;
        page.use_session();
        person::follow(&page, budget).await
    }

    fn preparing_limit(&self) -> Duration {
        self.connector.opening_limit()
    }

    async fn begin_trail(&self, budget: &Budget, trail: &TrailStart) -> Result<(), DriverError> {
        *self.dialogs.lock() = trail.dialogs;
        let before = std::mem::replace(&mut *self.storage_state.lock(), trail.storage_state.clone());
        self.world.forget_exchanges();
        *self.unprepared.lock() = None;
        match self.prepare(budget, before != trail.storage_state).await {
            Err(DriverError::Cancelled) => Err(DriverError::Cancelled),
            // The first call says it.
            Err(error) if self.connector.has_few_sessions() => {
                *self.unprepared.lock() = Some(error);
                Ok(())
            }
            prepared => prepared,
        }
    }

    async fn end_trail(&self, budget: &Budget) -> Result<(), DriverError> {
        let ended = self.end_world(budget).await;
        if self.connector.has_few_sessions() && !self.start.is_shared {
            let page = self.page.lock().take();
            if let Some(page) = page {
                page.close().await;
                *self.late_files.lock() = page.backend.late_files();
            }
        }
        ended
    }

    fn late_files(&self) -> Vec<LateFile> {
        std::mem::take(&mut self.late_files.lock())
    }

    fn tabs(&self) -> Vec<OpenTab> {
        let Some(page) = self.opened() else { return Vec::new() };
        let state = page.shared.state();
        let tab = |tab: &Tab| OpenTab { url: tab.url.clone(), is_front: tab.id == state.front };
        state.tabs.iter().map(tab).collect()
    }

    async fn close(&self) {
        // A session without trails may still be recording.
        let _ = self.world.save_har();
        if let Some(page) = self.opened() {
            page.close().await;
        }
        self.connector.close().await;
    }
}

/// Looks again at everything, to report similar elements, elements of the same name, or that the element is hidden.
async fn explain(
    page: &Page,
    budget: &Budget,
    query: &Query,
    mut want: Value,
    part: PagePart,
) -> Result<Result<Found, WhyNot>, DriverError> {
    let snapshot = page.version();
    // Hidden elements matter only if they may match.
    want["hidden"] = want["only"].take();
    if want["hidden"].is_null() {
        want["hidden"] = json!({});
    }
    let mut seen = page.look(budget, &want).await?;
    let hidden = seen.take_hidden();
    let why = match query.search(&seen.screen(snapshot, part), Checks::Visible) {
        Find::Found(found) => return Ok(Ok(found)),
        Find::Not(why) => why,
    };
    if hidden.is_empty() || !matches!(why.reason, Reason::NoMatch { .. }) {
        return Ok(Err(why));
    }
    match query.search(&screen_of(hidden, snapshot), Checks::Visible) {
        Find::Not(hidden @ WhyNot { reason: Reason::Hidden { .. }, .. }) => Ok(Err(hidden)),
        _ => Ok(Err(why)),
    }
}

/// One look at the front tab.
async fn observe(page: &Page, budget: &Budget, want: ObserveOptions) -> Result<Screen, DriverError> {
    page.ask(budget, "trailblaze.quiet()").await?;
    let snapshot = page.version();
    let wanted = json!({
        "shown": true, "visible": !want.all, "covered": want.covers, "paths": want.selectors, "all": want.all,
    });
    let seen = page.look(budget, &wanted).await?;
    let mut screen = seen.screen(snapshot, PagePart::Window);
    if want.picture {
        let tab = page.front()?;
        let png = page.call(budget, "a screenshot", page.backend.screenshot(&tab)).await?;
        let size = size_of(&png).unwrap_or(screen.size);
        screen.picture = Some(Picture { size, pixels: Pixels::Png(Arc::from(png)) });
    }
    Ok(screen)
}

/// A picture may be larger than its screen, because a device may have several pixels per CSS pixel.
fn size_of(png: &[u8]) -> Option<Size> {
    let number = |at: usize| Some(u32::from_be_bytes(png.get(at..at + 4)?.try_into().ok()?));
    Some(Size { width: number(16)?, height: number(20)? })
}

fn read_state(file: &Path) -> Result<Value, DriverError> {
    let wrong =
        |why: String| DriverError::NotStarted { evidence: format!("cannot restore `{}`: {why}", file.display()) };
    let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))
}

/// Sets where to touch an element, or returns why it cannot be touched.
fn judge(found: &mut Found, ready: &Ready) -> Option<Reason> {
    let element = found.summary.clone();
    match ready.why.as_deref() {
        None => {
            found.point = ready.point();
            found.exact = Some((ready.x, ready.y));
            if let Some([left, top, right, bottom]) = ready.b {
                found.bounds = Rect { left, top, right, bottom };
            }
            None
        }
        Some("disabled") => Some(Reason::Disabled { element }),
        Some("covered") => Some(Reason::Covered { element, by: ready.by.clone() }),
        Some("moving") => Some(Reason::Restless { element }),
        Some("hidden") => Some(Reason::Hidden { element, how: ready.by.clone() }),
        Some(_) => Some(Reason::NoMatch { near: Vec::new() }),
    }
}
