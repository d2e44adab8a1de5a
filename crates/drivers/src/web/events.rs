//! Keeps what is known about a device's tabs up to date with what the browser reports.

use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use tokio::time::timeout;
use trailblaze_core::driver::cut;
use trailblaze_core::values::origin::origin;
use trailblaze_protocol::device_event::DeviceEvent;

use super::backend::{BrowserEvent, BrowserEventSink, Dialog, RequestEvent, RequestStage};
use super::backend_world::{TrafficEvent, TrafficStage};
use super::page::Page;
use super::person_events::PersonEvent;
use super::screencast::Screencast;
use super::state::{Download, SharedState, State, Tab};
use super::world::PageWorld;

/// The longest address in a message, in bytes.
const SHORT: usize = 300;
/// The longest text of a dialog in a message, in bytes.
const DIALOG: usize = 1000;
/// How long the browser may take to hand over a body.
const BODY: Duration = Duration::from_secs(5);

pub struct PageEvents {
    pub shared: Arc<SharedState>,
    pub screencast: Arc<Screencast>,
    pub world: Arc<PageWorld>,
    /// Answers dialogs.
    pub page: OnceLock<Weak<Page>>,
}

impl BrowserEventSink for PageEvents {
    fn url(&self) -> Option<String> {
        self.shared.state().front().map(|tab| tab.url.clone())
    }

    fn take(&self, event: BrowserEvent) {
        match event {
            // The page has not changed by that: what draws it may be an animation.
            BrowserEvent::Picture { tab, size, jpeg } => self.screencast.take(&tab, size, jpeg),
            BrowserEvent::DialogOpened(dialog) => self.answer_dialog(dialog),
            BrowserEvent::Request { tab, request } => self.request(tab.as_deref(), request),
            BrowserEvent::Traffic(event) => self.traffic(event),
            BrowserEvent::Held(request) => {
                let Some(page) = self.page.get().and_then(Weak::upgrade) else { return };
                let world = Arc::clone(&self.world);
                // Detached: ends when the browser has taken the answer, or is gone; a delay is limited.
                tokio::spawn(async move { world.answer_held(Arc::clone(&page.backend), request).await });
            }
            BrowserEvent::CredentialsAsked(question) => {
                let Some(page) = self.page.get().and_then(Weak::upgrade) else { return };
                let world = Arc::clone(&self.world);
                // Detached: ends when the browser has taken the answer, or is gone.
                tokio::spawn(async move { world.answer_question(Arc::clone(&page.backend), question).await });
            }
            event => self.shared.bump(|state| change(state, event)),
        }
    }
}

/// Changes what is known by what happened.
pub fn change(state: &mut State, event: BrowserEvent) {
    match event {
        BrowserEvent::WindowAnnounced => state.opening = Some(Instant::now()),
        BrowserEvent::TabAppeared { tab } => {
            state.opening = None;
            state.adopting.insert(tab);
        }
        BrowserEvent::TabAttached { tab, main_frame, opener } => {
            let mut new = Tab::new(&tab, opener);
            new.main_frame.clone_from(&main_frame);
            new.frame(&main_frame);
            state.tabs.push(new);
        }
        BrowserEvent::TabOpened { tab, is_kept } => state.tab_opened(&tab, is_kept),
        BrowserEvent::TabClosed { tab } => {
            let index = state.tabs.iter().position(|known| known.id == tab);
            state.close_tab(&tab);
            state.tell_person(|state| Some(PersonEvent::Closed { index: index?, is_last: state.tabs.is_empty() }));
        }
        BrowserEvent::Message { tab, realm, text } if !text.is_empty() => {
            state.tell_person(|state| PersonEvent::by_page(state, &tab, realm.as_ref()?, &text));
        }
        BrowserEvent::NavigationStarted { tab, kind, url } => {
            let Some(known) = state.tab_mut(&tab) else { return };
            known.loading_since.get_or_insert_with(Instant::now);
            state.tell_person(|_| Some(PersonEvent::Navigating { tab, kind, url, at: Instant::now() }));
        }
        BrowserEvent::DialogClosed { is_accepted: accept, text } => {
            if std::mem::take(&mut state.dialogs.is_left_to_person) {
                state.tell_person(|_| Some(PersonEvent::Answered { accept, text }));
            }
        }
        BrowserEvent::ChooserOpened { chooser } => state.chooser = Some(chooser),
        BrowserEvent::DragBegun { data } => state.drag = Some(data),
        BrowserEvent::DownloadBegan { id, name, file } => {
            state.add_download(Download { id, name, file, is_whole: false, failure: None });
        }
        BrowserEvent::Committed { ref url, .. } => {
            state.events.add(DeviceEvent::Navigation { url: cut(url, SHORT) });
            change_tab(state, event);
        }
        BrowserEvent::Crashed { ref why, .. } => {
            let why = why.clone().unwrap_or_else(|| "the page crashed".to_string());
            state.events.add(DeviceEvent::Crash { why });
            change_tab(state, event);
        }
        BrowserEvent::DownloadEnded { id, is_whole } => download_ended(state, &id, is_whole),
        BrowserEvent::Console { kind, text } => {
            state.events.add(DeviceEvent::Console { kind, text });
        }
        BrowserEvent::Exception { text, at } => {
            state.events.add(DeviceEvent::Exception { text, at });
        }
        event => change_tab(state, event),
    }
}

/// What only changes one tab.
fn change_tab(state: &mut State, event: BrowserEvent) {
    let mut tab = |id: &str, change: &dyn Fn(&mut Tab)| {
        if let Some(tab) = state.tab_mut(id) {
            change(tab);
        }
    };
    match event {
        BrowserEvent::FrameSeen { tab: id, frame, parent } => tab(&id, &|tab| {
            let frame = tab.frame(&frame);
            if parent.is_some() {
                frame.parent.clone_from(&parent);
            }
        }),
        BrowserEvent::FrameRemoved { tab: id, frame } => tab(&id, &|tab| tab.remove_frame(&frame)),
        BrowserEvent::RealmCreated { tab: id, frame, realm } => {
            tab(&id, &|tab| tab.frame(&frame).realm = Some(realm.clone()));
        }
        BrowserEvent::RealmGone { tab: id, realm } => tab(&id, &|tab| tab.forget_realm(&realm)),
        BrowserEvent::Loading { tab: id } => tab(&id, &|tab| {
            tab.loading_since.get_or_insert_with(Instant::now);
        }),
        BrowserEvent::NavigationRequested { tab: id } => tab(&id, &|tab| {
            tab.loading_since.get_or_insert_with(Instant::now);
            tab.requested_at = Some(Instant::now());
        }),
        BrowserEvent::Committed { tab: id, frame, url, is_whole } => tab(&id, &|tab| {
            // Usually the main frame keeps its id.
            tab.main_frame.clone_from(&frame);
            tab.frame(&frame);
            tab.url = cut(&url, SHORT);
            // The document has arrived; its scripts have not run, whatever was reported about the previous one.
            tab.commits += 1;
            tab.loading_since = (!is_whole).then(Instant::now);
            tab.has_loaded = is_whole;
        }),
        BrowserEvent::Loaded { tab: id } => tab(&id, &Tab::loaded),
        // Navigation within a loaded document is complete; a document that is still loading goes on.
        BrowserEvent::NavigatedWithinDocument { tab: id } => tab(&id, &|tab| {
            if tab.has_loaded {
                tab.loading_since = None;
            }
        }),
        BrowserEvent::Crashed { tab: id, why } => tab(&id, &|tab| {
            tab.is_crashed = true;
            tab.killed_for.clone_from(&why);
        }),
        BrowserEvent::CrashEnded { tab: id } => tab(&id, &|tab| tab.is_crashed = false),
        _ => {}
    }
}

fn download_ended(state: &mut State, id: &str, is_complete: bool) {
    let Some(download) = state.downloads.iter_mut().find(|download| download.id == id) else { return };
    if is_complete && std::mem::replace(&mut download.is_whole, true) {
        return;
    }
    if !is_complete {
        download.failure = Some("it was cancelled".to_string());
    }
    state.events.add(DeviceEvent::Download { name: download.name.clone(), is_complete });
}

impl PageEvents {
    /// A dialog blocks the page until it is answered, so it is answered immediately, unless a person is there to do so.
    fn answer_dialog(&self, dialog: Dialog) {
        let Some(page) = self.page.get().and_then(Weak::upgrade) else { return };
        let Dialog { id, tab, kind, message, default_text } = dialog;
        let message = cut(&message, DIALOG);
        let is_leaving = kind == "beforeunload";
        let answer = self.shared.bump(|state| {
            if state.person.is_some() && !is_leaving && !state.acting.is_now() {
                state.dialogs.is_left_to_person = true;
                state.tell_person(|_| Some(PersonEvent::Asked { kind: kind.clone(), message: message.clone() }));
                return None;
            }
            let rule = state.dialogs.rule.filter(|_| !is_leaving);
            let accept = state.dialogs.answer.or(rule).unwrap_or(true);
            let given = state.dialogs.text.clone();
            let prompt = match kind.as_str() {
                "prompt" if accept => Some(given.unwrap_or_else(|| cut(&default_text, DIALOG))),
                // It may be a prompt, which keeps its own text if none is given.
                "dialog" if accept => given,
                _ => None,
            };
            let how = if accept { "accepted" } else { "dismissed" };
            let is_by_default = state.dialogs.answer.is_none() && rule.is_none() && !is_leaving;
            state.events.add(DeviceEvent::Dialog {
                kind: kind.clone(),
                message: message.clone(),
                is_accepted: accept,
                text: prompt.clone(),
                is_unexpected: is_by_default && page.is_new_dialog(&format!("{kind} \"{message}\"")),
            });
            state.dialogs.note(json!({"type": kind, "message": message, "answer": how}));
            Some((accept, prompt.unwrap_or_default()))
        });
        let Some((accept, text)) = answer else { return };
        // A page that is not left after all stays as it was.
        let stays = tab.filter(|_| is_leaving && !accept);
        // Detached: ends when the browser has taken the answer, or is gone.
        tokio::spawn(async move {
            page.answer_dialog(&id, accept, &text).await;
            if let Some(tab) = stays {
                page.shared.bump(|state| state.tab_mut(&tab).map(|tab| tab.loading_since = None));
            }
        });
    }

    /// Keeps headers and bodies.
    fn traffic(&self, event: TrafficEvent) {
        let number = match &event.stage {
            TrafficStage::Sent { url, kind, .. } => {
                if kind == "Document"
                    && let Some(origin) = origin(url).filter(|origin| origin.starts_with("http"))
                {
                    self.world.visited(origin);
                }
                self.shared.state().requests.number_of(&event.id)
            }
            _ => None,
        };
        let Some(wanted) = self.world.take_traffic(event, number) else { return };
        let Some(page) = self.page.get().and_then(Weak::upgrade) else { return };
        let world = Arc::clone(&self.world);
        // Detached: ends when the browser has handed the body over, after `BODY` at the latest.
        tokio::spawn(async move {
            let body = match page.backend.routing() {
                Some(routing) => timeout(BODY, routing.body(&wanted.body_id)).await.ok().and_then(Result::ok),
                None => None,
            };
            world.keep_body(&wanted, body);
        });
    }

    fn request(&self, tab: Option<&str>, request: RequestEvent) {
        {
            let mut state = self.shared.state();
            let told = state.requests.take(&request);
            told.into_iter().for_each(|event| state.events.add(event));
        }
        let RequestEvent { id, kind, stage, .. } = request;
        match stage {
            RequestStage::Sent { .. } => self.shared.bump(|state| {
                let is_work = matches!(kind.as_str(), "Document" | "XHR" | "Fetch" | "Script" | "Stylesheet");
                if is_work && let Some(tab) = tab.and_then(|tab| state.tab_mut(tab)) {
                    tab.pending.insert(id);
                }
            }),
            RequestStage::Answered { .. } => {}
            RequestStage::Finished | RequestStage::Failed { .. } => {
                self.shared.bump(|state| end_request(state, tab, &id));
            }
        }
    }
}

fn end_request(state: &mut State, tab: Option<&str>, id: &str) {
    if let Some(tab) = tab.and_then(|tab| state.tab_mut(tab)) {
        tab.pending.remove(id);
    }
}

impl State {
    /// A tab comes to the front when it is set up, as in a browser.
    fn tab_opened(&mut self, id: &str, is_kept: bool) {
        self.adopting.remove(id);
        if !is_kept {
            return self.close_tab(id);
        }
        let Some(tab) = self.tab_mut(id) else { return };
        tab.is_ready = true;
        let has_opener = tab.opener.is_some();
        self.front = id.to_string();
        self.tell_person(|_| Some(PersonEvent::Opened { tab: id.to_string(), has_opener }));
    }
}
