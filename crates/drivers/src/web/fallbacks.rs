//! What happens with a browser that lacks a capability. The only place that decides it:
//!
//! - Without an isolated world, our scripts run in the page's own realm.
//! - Without events, tabs and frames are asked for, loading is polled, and dialogs are answered when a command meets them.
//! - Without interception, native drags and file choosers are left to the browser.
//! - Without contexts, a device starts over in a session of its own.
//! - What needs anything else is refused.

use std::collections::HashSet;

use serde_json::Value;
use tokio::time::{Instant, sleep};
use trailblaze_core::driver::{Browse, Budget, DisplayedText, DriverError};
use trailblaze_protocol::driver::Platform;

use super::backend::{
    BackendError, BrowserEvent, Contexts, ExecutionWorld, FrameInfo, Interception, Realm, ScriptScope, Storage,
    TabHistory, TabSurvey,
};
use super::events::change;
use super::page::{LOADING, POLL, Page};
use super::scripts;

/// What a document without our script answers.
const ABSENT: &str = "trailblaze-absent";

fn unsupported(action: &str) -> DriverError {
    DriverError::Unsupported { action: action.to_string(), platform: Platform::Web }
}

impl Page {
    /// Evaluates an expression where our script is. In the page's own realm, nothing injects the script into a new document.
    pub async fn evaluate(&self, realm: &Realm, expression: &str) -> Result<Value, BackendError> {
        if self.backend.isolated_world().is_some() {
            return self.backend.evaluate(realm, expression).await;
        }
        let guarded = format!("globalThis.trailblaze?.document === document ? ({expression}) : \"{ABSENT}\"");
        let answer = self.backend.evaluate(realm, &guarded).await?;
        if answer != ABSENT {
            return Ok(answer);
        }
        self.backend.evaluate(realm, &scripts::walker(ExecutionWorld::Page)).await?;
        self.backend.evaluate(realm, expression).await
    }

    /// Asks for tabs and frames, if nothing reports them. False if the document in front has not loaded yet.
    pub async fn refresh(&self, budget: &Budget) -> Result<bool, DriverError> {
        let front = self.front().ok();
        let survey = match budget.run("the page to answer", self.backend.survey(front.as_deref())).await? {
            Ok(survey) => survey,
            // A tab has just closed, or a document was replaced, which the next answer tells.
            Err(BackendError::Refused(_)) => return Ok(false),
            Err(error) => return Err(self.wrong(error)),
        };
        let TabSurvey { tabs, frames, is_loaded } = survey;
        let known: Vec<String> = self.shared.state().tabs.iter().map(|tab| tab.id.clone()).collect();
        let mut events: Vec<BrowserEvent> = Vec::new();
        let closed = known.iter().filter(|tab| !tabs.contains(tab));
        events.extend(closed.map(|tab| BrowserEvent::TabClosed { tab: tab.clone() }));
        for tab in tabs.iter().filter(|tab| !known.contains(tab)) {
            // The main frame of a tab that is not in front is asked for once it is.
            let main_frame = tab.clone();
            events.push(BrowserEvent::TabAttached { tab: tab.clone(), main_frame, opener: None });
            events.push(BrowserEvent::TabOpened { tab: tab.clone(), is_kept: true });
        }
        let surveyed = front.filter(|front| tabs.contains(front)).or(tabs.last().cloned());
        self.shared.bump(|state| events.into_iter().for_each(|event| change(state, event)));
        let Ok(now) = self.front() else { return Ok(is_loaded) };
        if Some(&now) == surveyed.as_ref() {
            self.note_frames(&now, frames);
            return Ok(is_loaded);
        }
        // Another tab is in front now.
        match budget.run("the frames", self.backend.frames(&now)).await? {
            Ok(frames) => self.note_frames(&now, frames),
            Err(BackendError::Refused(_)) => {}
            Err(error) => return Err(self.wrong(error)),
        }
        Ok(false)
    }

    fn note_frames(&self, tab: &str, frames: Vec<FrameInfo>) {
        self.shared.bump(|state| {
            let present: HashSet<&str> = frames.iter().map(|frame| frame.id.as_str()).collect();
            let Some(known) = state.tab_mut(tab) else { return };
            let gone: Vec<String> = known.frames.keys().filter(|id| !present.contains(id.as_str())).cloned().collect();
            gone.iter().for_each(|frame| known.remove_frame(frame));
            for FrameInfo { id, parent, realm } in frames {
                if parent.is_none() {
                    known.main_frame.clone_from(&id);
                }
                let frame = known.frame(&id);
                // The element that contains it may be another one in another document.
                (frame.parent, frame.realm, frame.owner) = (parent, realm, None);
            }
        });
    }

    /// Waits until the front document has loaded, without events.
    pub async fn settle_by_polling(&self, budget: &Budget) -> Result<(), DriverError> {
        let until = budget.deadline.min(Instant::now() + budget.wait.unwrap_or(LOADING));
        loop {
            if self.refresh(budget).await? || Instant::now() >= until {
                return Ok(());
            }
            budget.run("the page to load", sleep(POLL)).await?;
        }
    }

    /// Waits until another document has come, if something reports that; otherwise it has come already.
    pub async fn await_document(&self, budget: &Budget, commits: u64) -> Result<bool, DriverError> {
        match self.is_polled() {
            true => Ok(true),
            false => self.wait(budget, budget.deadline, |state| state.has_committed(commits)).await,
        }
    }

    /// All texts that the front tab displays. It is an error if the browser does not tell: then no part of a picture is known to be
    /// free of secrets.
    pub async fn displayed_texts(&self, budget: &Budget) -> Result<Vec<DisplayedText>, DriverError> {
        let tab = self.front()?;
        let Some(layout) = self.backend.layout() else {
            return Err(DriverError::Refused {
                reason: "this browser does not tell which texts it displays".to_string(),
            });
        };
        self.call(budget, "the displayed texts", layout.displayed_texts(&tab)).await
    }

    pub fn storage(&self) -> Result<&dyn Storage, DriverError> {
        self.backend.storage().ok_or_else(|| unsupported("cookies and storage"))
    }

    pub fn interception(&self, action: &str) -> Result<&dyn Interception, DriverError> {
        self.backend.interception().ok_or_else(|| unsupported(action))
    }

    /// Has native drags reported, or leaves them to the browser.
    pub async fn intercept_drags(&self, budget: &Budget, is_on: bool) -> Result<(), DriverError> {
        let Some(interception) = self.backend.interception() else { return Ok(()) };
        let tab = self.front()?;
        self.call(budget, "the drag", interception.intercept_drags(&tab, is_on)).await
    }

    /// Whether native drags and file choosers are reported.
    pub fn intercepts(&self) -> bool {
        self.backend.interception().is_some()
    }

    /// Runs a script in documents, before their own scripts.
    pub async fn run_in_documents(
        &self,
        budget: &Budget,
        scope: ScriptScope<'_>,
        world: ExecutionWorld,
        script: &str,
    ) -> Result<(), DriverError> {
        let isolated = self.backend.isolated_world().ok_or_else(|| unsupported("running a script in each document"))?;
        self.call(budget, "a script", isolated.add_script(scope, world, script)).await
    }

    /// Passes the closed shadow root of an element to the walker. False if there is none that can be had.
    pub async fn open_root(&self, budget: &Budget, realm: &Realm, host: u64) -> bool {
        let element = format!("trailblaze.elementOf({host})");
        let open = self.backend.open_shadow_root(realm, &element, "function(root) { trailblaze.open(this, root); }");
        self.call(budget, "a shadow root", open).await.unwrap_or(false)
    }

    /// Where a file is that an expression evaluates to, if the browser says so.
    pub async fn file_path(&self, budget: &Budget, realm: &Realm, file: &str) -> Option<String> {
        let isolated = self.backend.isolated_world()?;
        self.call(budget, "a file", isolated.file_path(realm, file)).await.ok()?
    }

    /// The realm of a frame that has none of ours yet. The page's own is always there.
    pub async fn make_realm(&self, budget: &Budget, frame: &str) -> Option<Realm> {
        let isolated = self.backend.isolated_world()?;
        self.call(budget, "a frame", isolated.make_realm(frame)).await.ok()
    }

    pub fn contexts(&self) -> Option<&dyn Contexts> {
        self.backend.contexts()
    }

    /// Whether nothing reports what happens, so that it is asked for.
    pub fn is_polled(&self) -> bool {
        self.backend.events().is_none()
    }

    /// Waits until the front page crashes, if that is reported.
    pub async fn crashes(&self, budget: &Budget) -> Result<bool, DriverError> {
        if self.is_polled() {
            std::future::pending::<()>().await;
        }
        self.wait(budget, budget.deadline, |state| state.front().is_some_and(|tab| tab.is_crashed)).await
    }

    /// Ends the process of a page, if that can be done; then it crashes.
    pub async fn crash(&self, tab: &str) {
        if let Some(events) = self.backend.events() {
            // It is never answered, unless it is refused.
            let _ = events.crash(tab).await;
        }
    }

    pub async fn history(&self, tab: &str) -> Option<TabHistory> {
        self.backend.events()?.history(tab).await.ok()
    }

    pub async fn answer_dialog(&self, dialog: &str, accept: bool, text: &str) {
        // A page that is gone has no dialog.
        let _ = match (self.backend.events(), self.backend.dialogs()) {
            (Some(events), _) => events.answer_dialog(dialog, accept, text).await,
            (None, Some(dialogs)) => dialogs.answer_dialog(dialog, accept, text).await,
            (None, None) => Ok(()),
        };
    }

    pub fn is_new_dialog(&self, dialog: &str) -> bool {
        match (self.backend.events(), self.backend.dialogs()) {
            (Some(events), _) => events.is_new_dialog(dialog),
            (None, dialogs) => dialogs.is_some_and(|dialogs| dialogs.is_new_dialog(dialog)),
        }
    }

    /// Whether the browser sends pictures as the screen changes. Otherwise they are taken on request only.
    pub fn sends_pictures(&self) -> bool {
        self.backend.screencasting().is_some()
    }

    pub async fn start_pictures(&self, tab: &str) {
        if let Some(pictures) = self.backend.screencasting() {
            let _ = pictures.start(tab).await;
        }
    }

    pub async fn stop_pictures(&self, tab: &str) {
        if let Some(pictures) = self.backend.screencasting() {
            let _ = pictures.stop(tab).await;
        }
    }

    /// Refuses what only events tell.
    pub fn check_supported(&self, command: &Browse) -> Result<(), DriverError> {
        let action = match command {
            _ if !self.is_polled() => return Ok(()),
            Browse::Dialogs { .. } if self.backend.dialogs().is_some() => return Ok(()),
            Browse::Dialogs { .. } => "dialogs",
            Browse::Download => "download",
            _ => return Ok(()),
        };
        Err(unsupported(action))
    }

    /// A person is followed by events, and by scripts that pages cannot see.
    pub fn check_follows_person(&self) -> Result<(), DriverError> {
        match (self.backend.events(), self.backend.isolated_world()) {
            (Some(_), Some(_)) => Ok(()),
            _ => Err(unsupported("followPerson")),
        }
    }
}
