//! Pages behind WebDriver. Nothing reports what happens, so that tabs, frames and loading are asked for: in one script, as far as possible.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};
use trailblaze_core::driver::LateFile;
use trailblaze_protocol::geometry::Size;

use super::super::backend::{
    Backend, BackendError, BrowserEvents, Contexts, DialogControl, FrameInfo, Interception, IsolatedWorld, Navigation,
    PageLayout, Realm, Screencasting, Setup, Storage, TabId, TabInfo, TabSurvey,
};
use super::super::emulation::Emulation;
use super::super::input::{BrowserInput, MouseKind, Spot, TouchInput};
use super::actions::{InputPart, parts};
use super::artifacts::SessionArtifacts;
use super::dialogs::{DialogDecision, DialogDesk, WarnedDialogs};
use super::error::EndpointError;
use super::scripts;
use super::session::{AfterDialog, ELEMENT, FramePath, WebDriverSession};
use super::upload::upload;

/// How long a page that is to be left may be busy.
const BUSY: Duration = Duration::from_secs(2);
/// How long a document may take to arrive, and the pause before it is looked for again.
const ARRIVING: Duration = Duration::from_secs(14);
const TICK: Duration = Duration::from_millis(20);
/// How long a document at the same address may take to arrive; the one that is there has been asked for otherwise.
const STAYING: Duration = Duration::from_secs(1);
/// How long a tab may take to move in its history.
const MOVING: Duration = Duration::from_millis(1500);
/// How deep frames may be nested.
const DEPTH: usize = 8;

/// What a session needs around it: who ends it if this process cannot, or the program that has it.
#[async_trait]
pub trait SessionOwner: Send + Sync {
    /// Called when the session was ended, or cannot be.
    async fn has_ended(&self, session: &str);
    /// How the program that has the session ended, if it has.
    fn end(&self) -> Option<String>;
}

/// A device's session at an endpoint.
pub struct WebDriverBackend {
    session: Arc<WebDriverSession>,
    desk: Arc<DialogDesk>,
    warned: Arc<WarnedDialogs>,
    owner: Arc<dyn SessionOwner>,
    /// What the endpoint keeps of the session.
    artifacts: Option<Arc<SessionArtifacts>>,
    /// Whether the endpoint does not wait until another document has come.
    is_unwaited: bool,
    emulation: Mutex<Emulation>,
    known: Mutex<SessionTabs>,
}

#[derive(Default)]
struct SessionTabs {
    /// In the order in which they were opened; `None` before the first was asked for.
    tabs: Option<Vec<TabId>>,
    /// When the document of each tab was begun, by the browser's clock.
    documents: HashMap<TabId, f64>,
}

/// A realm is a window and the elements of the frames in it.
const SEPARATOR: char = '\n';

fn realm_of(place: &FramePath) -> Realm {
    let parts = [&place.window].into_iter().chain(&place.frames);
    Realm(parts.map(String::as_str).collect::<Vec<_>>().join(&SEPARATOR.to_string()))
}

fn place_of(realm: &str) -> FramePath {
    let mut parts = realm.split(SEPARATOR).map(str::to_string);
    FramePath { window: parts.next().unwrap_or_default(), frames: parts.collect() }
}

/// The id of an element in an answer.
fn element_id(value: &Value) -> Option<&str> {
    value.get(ELEMENT).and_then(Value::as_str)
}

fn element(id: &str) -> Value {
    json!({ELEMENT: id})
}

impl WebDriverBackend {
    pub fn new(
        session: Arc<WebDriverSession>,
        setup: Setup,
        warned: Arc<WarnedDialogs>,
        owner: Arc<dyn SessionOwner>,
    ) -> WebDriverBackend {
        let desk = Arc::new(DialogDesk::new(setup.sink));
        let _ = session.desk.set(Arc::clone(&desk));
        let emulation = Mutex::new(setup.emulation);
        let is_unwaited = session.capabilities.get("pageLoadStrategy").is_some_and(|strategy| strategy == "none");
        let known = Mutex::default();
        WebDriverBackend { session, desk, warned, owner, artifacts: None, is_unwaited, emulation, known }
    }

    /// With the files that the endpoint keeps of the session.
    pub fn keeping(self, artifacts: Option<Arc<SessionArtifacts>>) -> WebDriverBackend {
        WebDriverBackend { artifacts, ..self }
    }

    async fn evaluate_at(&self, place: &FramePath, expression: &str, args: &[Value]) -> Result<Value, EndpointError> {
        self.session.evaluate(place, expression, args).await
    }

    async fn post(&self, tab: &str, path: &str, body: Value, after: AfterDialog) -> Result<Value, EndpointError> {
        self.session.post(Some(&FramePath::of_window(tab)), path, body, after).await
    }

    fn is_chromium(&self) -> bool {
        matches!(
            self.session.browser().as_str(),
            "chrome" | "chromium" | "chrome-headless-shell" | "msedge" | "microsoftedge"
        )
    }

    /// The handles of all windows, in the order in which they were opened.
    async fn handles(&self) -> Result<Vec<TabId>, EndpointError> {
        let answer = self.session.get(None, "/window/handles").await?;
        let handles: Vec<TabId> =
            answer.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_string).collect();
        let mut known = self.known.lock();
        let tabs = known.tabs.get_or_insert_default();
        tabs.retain(|tab| handles.contains(tab));
        let new: Vec<TabId> = handles.into_iter().filter(|handle| !tabs.contains(handle)).collect();
        tabs.extend(new);
        let tabs = tabs.clone();
        known.documents.retain(|tab, _| tabs.contains(tab));
        Ok(tabs)
    }

    /// What a document is like, and the frames in it.
    async fn look_at(&self, place: &FramePath) -> Result<DocumentLook, EndpointError> {
        let answer = self.evaluate_at(place, scripts::SURVEY, &[json!(self.is_unwaited)]).await?;
        Ok(DocumentLook::read(&answer))
    }

    /// Adds the frames of a document, and those in them that can be seen.
    async fn add_frames(&self, place: &FramePath, id: &str, look: DocumentLook, found: &mut Vec<FrameInfo>) {
        for frame in look.frames {
            let inside = place.inside(&frame.element);
            found.push(FrameInfo {
                id: frame.element.clone(),
                parent: Some(id.to_string()),
                realm: Some(realm_of(&inside)),
            });
            if frame.may_have_frames && inside.frames.len() < DEPTH {
                // One that has just gone has no frames.
                let Ok(look) = self.look_at(&inside).await else { continue };
                Box::pin(self.add_frames(&inside, &frame.element, look, found)).await;
            }
        }
    }

    async fn frames_of(&self, tab: &str) -> Result<(Vec<FrameInfo>, bool), EndpointError> {
        let place = FramePath::of_window(tab);
        let mut found = vec![FrameInfo { id: tab.to_string(), parent: None, realm: Some(realm_of(&place)) }];
        let look = match self.look_at(&place).await {
            // It waits for a document that does not come.
            Err(error) if error.is_code("timeout") || error.is_code("script timeout") => return Ok((found, false)),
            look => look?,
        };
        self.known.lock().documents.insert(tab.to_string(), look.began);
        let is_loaded = look.is_loaded;
        self.add_frames(&place, tab, look, &mut found).await;
        Ok((found, is_loaded))
    }

    /// What became of a command that opens another document.
    async fn after_navigation(
        &self,
        (tab, url): (&str, &str),
        navigated: Result<Value, EndpointError>,
    ) -> Result<Navigation, BackendError> {
        let failed = |why: String| Ok(Navigation::Failed { is_aborted: why.contains("ERR_ABORTED"), why });
        let is_late = match navigated {
            Ok(_) => false,
            Err(error) if error.is_code("timeout") => true,
            Err(error) if error.end_of_session().is_some() => return Err(error.in_page()),
            Err(EndpointError::Failed { code, message, .. })
                if code == "unknown error" || code == "invalid argument" =>
            {
                return failed(message);
            }
            Err(error) => return Err(error.in_page()),
        };
        let arrival = self.await_arrival(tab, url).await.map_err(EndpointError::in_page)?;
        if !arrival.is_same
            && let Some(why) = arrival.error
        {
            return failed(why);
        }
        let is_known =
            |scheme: &str| ["http", "https", "about", "data", "file", "blob", "javascript", "chrome"].contains(&scheme);
        match url.split_once(':') {
            Some((scheme, _)) if arrival.is_same && !is_known(scheme) => failed(format!("nothing opens `{scheme}:`")),
            _ if arrival.is_same && (is_late || arrival.is_late) => failed("nothing answered in time".to_string()),
            _ if arrival.is_same => Ok(Navigation::SameDocument),
            _ => Ok(Navigation::Document),
        }
    }

    /// What is there after another document was asked for. An endpoint that does not wait for it has answered before it came.
    async fn await_arrival(&self, tab: &str, url: &str) -> Result<Arrival, EndpointError> {
        let before = self.known.lock().documents.get(tab).copied();
        let (place, started) = (FramePath::of_window(tab), Instant::now());
        loop {
            let now = match self.evaluate_at(&place, scripts::ARRIVAL, &[json!(url)]).await {
                Ok(now) => now,
                // The document before has just gone.
                Err(error) if self.is_unwaited && error.end_of_session().is_none() && started.elapsed() < ARRIVING => {
                    sleep(TICK).await;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let text = |key: &str| now.get(key).and_then(Value::as_str).map(str::to_string);
            let is_same = before.is_some() && now.get("began").and_then(Value::as_f64) == before;
            let is_there = text("url").is_some_and(|there| there == url);
            let is_late = started.elapsed() >= ARRIVING;
            let is_within = is_same && is_there && (url.contains('#') || started.elapsed() >= STAYING);
            if !self.is_unwaited || !is_same || is_within || is_late {
                return Ok(Arrival { is_same, is_late: is_late && !is_there, error: text("error") });
            }
            sleep(TICK).await;
        }
    }

    /// Inserts a text where the focus is, in whichever frame.
    async fn insert(&self, tab: &str, text: &str) -> Result<(), EndpointError> {
        let mut place = FramePath::of_window(tab);
        for _ in 0..DEPTH {
            let inserted = self.evaluate_at(&place, scripts::INSERT, &[json!(text)]).await?;
            match element_id(&inserted) {
                // The frame that has the focus, whose document only its own scripts may touch.
                Some(frame) => place = place.inside(frame),
                None => break,
            }
        }
        Ok(())
    }

    /// Notes which frames are around the focus after a press, which gives it to the frame that is pressed.
    async fn follow_focus(&self, tab: &str, spot: Spot) -> Result<(), EndpointError> {
        let (mut place, mut at) = (FramePath::of_window(tab), (spot.x, spot.y));
        self.session.note_focus(Vec::new());
        while place.frames.len() < DEPTH {
            let found = match self.evaluate_at(&place, scripts::FRAME_AT, &[json!(at.0), json!(at.1)]).await {
                // It has just gone.
                Err(error @ EndpointError::Failed { .. }) if error.end_of_session().is_none() => break,
                found => found?,
            };
            let Some(frame) = found.get(0).and_then(element_id) else { break };
            let number = |index: usize| found.get(index).and_then(Value::as_f64).unwrap_or(0.0);
            at = (at.0 - number(1), at.1 - number(2));
            place = place.inside(frame);
            self.session.note_focus(place.frames.clone());
        }
        Ok(())
    }

    /// Makes a window so large that its page has a size.
    async fn resize(&self, tab: &str, size: Size) -> Result<(), EndpointError> {
        let place = FramePath::of_window(tab);
        for _ in 0..2 {
            let sizes = self.evaluate_at(&place, "[innerWidth, innerHeight, outerWidth, outerHeight]", &[]).await?;
            let at = |index: usize| sizes.get(index).and_then(Value::as_i64).unwrap_or(0);
            let (width, height) = (i64::from(size.width), i64::from(size.height));
            if (at(0), at(1)) == (width, height) {
                return Ok(());
            }
            let body = json!({"width": width + at(2) - at(0), "height": height + at(3) - at(1)});
            self.post(tab, "/window/rect", body, AfterDialog::Again).await?;
        }
        Ok(())
    }
}

/// Where an input presses something.
fn pressed_at(input: &BrowserInput) -> Option<Spot> {
    match input {
        BrowserInput::Mouse(mouse) if mouse.kind == MouseKind::Pressed => Some(mouse.at),
        BrowserInput::Touch(TouchInput::Start(spot) | TouchInput::Hold(spot)) => Some(*spot),
        _ => None,
    }
}

/// What is there after another document was asked for.
struct Arrival {
    /// The document before is still there.
    is_same: bool,
    /// Because nothing has come in time.
    is_late: bool,
    /// What is wrong with it, if it stands for one that did not come.
    error: Option<String>,
}

/// What a document is like.
struct DocumentLook {
    is_loaded: bool,
    began: f64,
    frames: Vec<FrameLook>,
}

struct FrameLook {
    element: String,
    /// Whether it may have frames in it that can be seen.
    may_have_frames: bool,
}

impl DocumentLook {
    fn read(answer: &Value) -> DocumentLook {
        let frames = answer.get("frames").and_then(Value::as_array).into_iter().flatten();
        let frame = |frame: &Value| {
            let element = element_id(frame.get(0)?)?.to_string();
            Some(FrameLook { element, may_have_frames: frame.get(1).and_then(Value::as_bool).unwrap_or(false) })
        };
        DocumentLook {
            is_loaded: answer.get("isLoaded").and_then(Value::as_bool).unwrap_or(false),
            began: answer.get("began").and_then(Value::as_f64).unwrap_or(0.0),
            frames: frames.filter_map(frame).collect(),
        }
    }
}

#[async_trait]
impl Backend for WebDriverBackend {
    async fn evaluate(&self, realm: &Realm, expression: &str) -> Result<Value, BackendError> {
        self.evaluate_at(&place_of(&realm.0), expression, &[]).await.map_err(EndpointError::in_page)
    }

    async fn run_script(&self, tab: &str, script: &str) -> Result<Value, BackendError> {
        let place = FramePath::of_window(tab);
        let value = self.evaluate_at(&place, scripts::RUN, &[json!(script)]).await.map_err(EndpointError::in_page)?;
        if value != scripts::NO_EVAL {
            return Ok(value);
        }
        // The page forbids `eval`, so the script is sent as a part of ours: as an expression, or as statements without a value.
        let expression = format!("(async () => (\n{script}\n))()");
        let statements = format!("(async () => {{\n{script}\n}})()");
        match self.evaluate_at(&place, &expression, &[]).await.map_err(EndpointError::in_page) {
            Err(BackendError::Threw(why)) if why.contains("Unexpected") => {
                self.evaluate_at(&place, &statements, &[]).await.map_err(EndpointError::in_page)
            }
            value => value,
        }
    }

    async fn interrupt(&self, tab: &str) -> bool {
        let place = FramePath::of_window(tab);
        timeout(BUSY, self.evaluate_at(&place, "1", &[])).await.is_ok()
    }

    async fn set_files(&self, realm: &Realm, expression: &str, files: &[String]) -> Result<(), BackendError> {
        let place = place_of(&realm.0);
        let wanted = format!(
            "((field) => field?.type === \"file\" && field.files ? (field.value = \"\", field) : null)({expression})"
        );
        let field = self.evaluate_at(&place, &wanted, &[]).await.map_err(EndpointError::in_page)?;
        let Some(id) = element_id(&field) else {
            return Err(BackendError::Refused("it is no file field".to_string()));
        };
        let mut there = Vec::new();
        for file in files {
            there.push(upload(&self.session, file).await?);
        }
        let body = json!({"text": there.join("\n")});
        let sent = self.session.post(Some(&place), &format!("/element/{id}/value"), body, AfterDialog::Done).await;
        sent.map(drop).map_err(EndpointError::in_page)
    }

    async fn navigate(&self, tab: &str, url: &str) -> Result<Navigation, BackendError> {
        self.session.note_focus(Vec::new());
        let navigated = self.post(tab, "/url", json!({"url": url}), AfterDialog::Done).await;
        self.after_navigation((tab, url), navigated).await
    }

    async fn stop_loading(&self, tab: &str) -> Result<(), BackendError> {
        let place = FramePath::of_window(tab);
        self.evaluate_at(&place, "window.stop()", &[]).await.map(drop).map_err(EndpointError::in_page)
    }

    async fn reload(&self, tab: &str) -> Result<(), BackendError> {
        match self.post(tab, "/refresh", json!({}), AfterDialog::Done).await {
            Err(error) if error.is_code("timeout") => return Ok(()),
            reloaded => drop(reloaded.map_err(EndpointError::in_page)?),
        }
        match self.is_unwaited {
            true => self.await_arrival(tab, "").await.map(drop).map_err(EndpointError::in_page),
            false => Ok(()),
        }
    }

    /// The protocol does not say whether there is such a page, so that it is seen whether the tab moves.
    async fn travel(&self, tab: &str, by: i64) -> Result<bool, BackendError> {
        let place = FramePath::of_window(tab);
        let before = self.evaluate_at(&place, scripts::TRAVEL, &[json!(by)]).await.map_err(EndpointError::in_page)?;
        if before == "none" {
            return Ok(false);
        }
        let started = Instant::now();
        while started.elapsed() < MOVING {
            match self.evaluate_at(&place, scripts::POSITION, &[]).await.map_err(EndpointError::in_page) {
                Ok(now) if now == before => sleep(TICK).await,
                Ok(_) | Err(BackendError::Refused(_)) => return Ok(true),
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    async fn input(&self, tab: &str, inputs: &[BrowserInput]) -> Result<(), BackendError> {
        let has_fractions = self.is_chromium() || self.session.browser() == "firefox";
        for part in parts(inputs, has_fractions) {
            let sent = match part {
                InputPart::Actions(actions) => {
                    let body = json!({"actions": actions});
                    self.post(tab, "/actions", body, AfterDialog::Again).await.map(drop)
                }
                InputPart::Text(text) => self.insert(tab, &text).await,
            };
            sent.map_err(EndpointError::in_page)?;
        }
        if self.session.keeps_focus()
            && let Some(spot) = inputs.iter().rev().find_map(pressed_at)
        {
            self.follow_focus(tab, spot).await.map_err(EndpointError::in_page)?;
        }
        Ok(())
    }

    async fn tabs(&self) -> Result<Vec<TabId>, BackendError> {
        self.handles().await.map_err(EndpointError::in_page)
    }

    /// A session begins with a window, which is the first tab.
    async fn new_tab(&self) -> Result<TabId, BackendError> {
        let first = self.known.lock().tabs.is_none();
        let tab = if first {
            self.handles().await.map_err(EndpointError::in_page)?.first().cloned()
        } else {
            let made = self.session.post(None, "/window/new", json!({"type": "tab"}), AfterDialog::Again).await;
            let made = made.map_err(EndpointError::in_page)?;
            made.get("handle").and_then(Value::as_str).map(str::to_string)
        };
        let tab = tab.ok_or_else(|| BackendError::Refused("the endpoint opened no window".to_string()))?;
        let emulation = self.emulation.lock().clone();
        self.emulate(&tab, &emulation).await?;
        Ok(tab)
    }

    async fn close_tab(&self, tab: &str) -> Result<(), BackendError> {
        let closed = self.session.delete(&FramePath::of_window(tab), "/window").await;
        self.session.forget_place().await;
        closed.map(drop).map_err(EndpointError::in_page)
    }

    async fn activate(&self, tab: &str) -> Result<(), BackendError> {
        self.session.forget_place().await;
        let body = json!({"handle": tab});
        self.session.post(None, "/window", body, AfterDialog::Again).await.map(drop).map_err(EndpointError::in_page)
    }

    async fn tab_info(&self, tab: &str) -> Result<TabInfo, BackendError> {
        let place = FramePath::of_window(tab);
        let info = self.evaluate_at(&place, "[location.href, document.title]", &[]).await;
        let info = info.map_err(EndpointError::in_page)?;
        let text = |index: usize| info.get(index).and_then(Value::as_str).unwrap_or_default().to_string();
        Ok(TabInfo { url: text(0), title: text(1) })
    }

    async fn emulate(&self, tab: &str, emulation: &Emulation) -> Result<(), BackendError> {
        let plain = Emulation { size: emulation.size, ..Emulation::default() };
        *self.emulation.lock() = emulation.clone();
        if *emulation == plain {
            return self.resize(tab, emulation.size).await.map_err(EndpointError::in_page);
        }
        if !self.is_chromium() {
            let reason = "this browser emulates only the size of its window, over WebDriver: leave out `emulate`, \
                          `locale`, `timezone` and `colorScheme`";
            return Err(BackendError::Refused(reason.to_string()));
        }
        for (method, params) in super::super::devtools::emulation_commands(emulation) {
            let body = json!({"cmd": method, "params": params});
            let sent = self.post(tab, "/goog/cdp/execute", body, AfterDialog::Again).await;
            sent.map_err(EndpointError::in_page)?;
        }
        Ok(())
    }

    async fn frames(&self, tab: &str) -> Result<Vec<FrameInfo>, BackendError> {
        self.frames_of(tab).await.map(|(frames, _)| frames).map_err(EndpointError::in_page)
    }

    async fn frame_owner(&self, frame: &str, parent: &Realm, function: &str) -> Result<Value, BackendError> {
        let expression = format!("({function})(arguments[1])");
        let owner = self.evaluate_at(&place_of(&parent.0), &expression, &[element(frame)]).await;
        owner.map_err(EndpointError::in_page)
    }

    async fn open_shadow_root(&self, realm: &Realm, host: &str, function: &str) -> Result<bool, BackendError> {
        let place = place_of(&realm.0);
        let host = self.evaluate_at(&place, host, &[]).await.map_err(EndpointError::in_page)?;
        let Some(id) = element_id(&host) else { return Ok(false) };
        match self.session.get(Some(&place), &format!("/element/{id}/shadow")).await {
            Ok(root) => {
                let expression = format!("({function}).call(arguments[1], arguments[2])");
                let opened = self.evaluate_at(&place, &expression, &[host, root]).await;
                opened.map(|_| true).map_err(EndpointError::in_page)
            }
            // It has none, or the endpoint does not know the command.
            Err(EndpointError::Failed { .. }) => Ok(false),
            Err(error) => Err(error.in_page()),
        }
    }

    async fn survey(&self, front: Option<&str>) -> Result<TabSurvey, BackendError> {
        let tabs = self.handles().await.map_err(EndpointError::in_page)?;
        let front = front.filter(|front| tabs.iter().any(|tab| tab == front)).or(tabs.last().map(String::as_str));
        let (frames, is_loaded) = match front {
            Some(front) => self.frames_of(front).await.map_err(EndpointError::in_page)?,
            None => (Vec::new(), true),
        };
        Ok(TabSurvey { tabs, frames, is_loaded })
    }

    async fn screenshot(&self, tab: &str) -> Result<Vec<u8>, BackendError> {
        let place = FramePath::of_window(tab);
        let answer = self.session.get(Some(&place), "/screenshot").await.map_err(EndpointError::in_page)?;
        let picture = BASE64_STANDARD.decode(answer.as_str().unwrap_or_default());
        picture.map_err(|error| BackendError::Refused(format!("the picture cannot be read: {error}")))
    }

    fn end(&self) -> Option<String> {
        self.owner.end().or_else(|| self.session.end())
    }

    async fn gone(&self) {
        self.session.gone().await;
    }

    async fn abandon(&self) {
        self.close().await;
    }

    async fn close(&self) {
        // What cannot be reached any more is ended by the endpoint itself, after a time.
        if let Err(error) = self.session.close().await {
            tracing::debug!(target: "trailblaze::webdriver", error = error.to_string(), "a session was not ended");
        }
        self.owner.has_ended(&self.session.id).await;
    }

    fn late_files(&self) -> Vec<LateFile> {
        self.artifacts.as_ref().map(|artifacts| artifacts.of_session(&self.session.id)).unwrap_or_default()
    }

    fn isolated_world(&self) -> Option<&dyn IsolatedWorld> {
        None
    }

    fn interception(&self) -> Option<&dyn Interception> {
        None
    }

    fn events(&self) -> Option<&dyn BrowserEvents> {
        None
    }

    fn dialogs(&self) -> Option<&dyn DialogControl> {
        Some(self)
    }

    fn contexts(&self) -> Option<&dyn Contexts> {
        None
    }

    fn storage(&self) -> Option<&dyn Storage> {
        None
    }

    fn layout(&self) -> Option<&dyn PageLayout> {
        None
    }

    fn screencasting(&self) -> Option<&dyn Screencasting> {
        None
    }
}

#[async_trait]
impl DialogControl for WebDriverBackend {
    async fn answer_dialog(&self, dialog: &str, accept: bool, text: &str) -> Result<(), BackendError> {
        self.desk.decide(dialog, DialogDecision { accept, text: text.to_string() });
        Ok(())
    }

    fn is_new_dialog(&self, dialog: &str) -> bool {
        self.warned.is_new(dialog)
    }
}
