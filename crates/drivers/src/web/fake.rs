//! A browser without a browser: it shows one form, and has all capabilities or none.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_core::driver::{
    Action, ActionOutput, ActionTarget, Browse, Budget, DeviceCommand, DialogAnswer, DisplayedText, DragEnd, Driver,
    DriverError, ObserveOptions, TrailStart,
};
use trailblaze_core::query::{Checks, ElementProperties, Find, Found, Query, QueryTarget, TextMatch};
use trailblaze_protocol::ids::DeviceId;

use super::backend::*;
use super::driver::{InitialState, Web};
use super::emulation::Emulation;
use super::input::{BrowserInput, MouseKind, Spot};
use super::provider::web_device;

/// Makes sessions of one kind, and writes down what they are asked for.
struct Fake {
    has_all: bool,
    sessions: Arc<Mutex<Vec<Arc<FakeSession>>>>,
}

struct FakeSession {
    has_all: bool,
    sink: Arc<dyn BrowserEventSink>,
    log: Mutex<Vec<String>>,
    form: Mutex<FakeForm>,
}

#[derive(Default)]
struct FakeForm {
    tabs: Vec<TabId>,
    last: usize,
    /// The number of the document.
    document: usize,
    has_script: bool,
    name: String,
    is_sent: bool,
}

#[async_trait]
impl BrowserConnector for Fake {
    fn name(&self) -> &'static str {
        "fake browser"
    }

    async fn open(&self, setup: Setup, _: &Budget) -> Result<Arc<dyn Backend>, DriverError> {
        assert!(setup.script.contains("trailblaze") && setup.channel == "trailblazeChanged");
        let (log, form) = Default::default();
        let session = Arc::new(FakeSession { has_all: self.has_all, sink: setup.sink, log, form });
        self.sessions.lock().push(Arc::clone(&session));
        Ok(session)
    }
}

impl FakeSession {
    fn note(&self, what: impl Into<String>) {
        self.log.lock().push(what.into());
    }

    fn tell(&self, event: BrowserEvent) {
        if self.has_all {
            self.sink.take(event);
        }
    }

    fn realm(&self, tab: &str) -> Realm {
        Realm(format!("{tab}/{}", if self.has_all { self.form.lock().document } else { 0 }))
    }

    /// Another document comes, without our script.
    fn load(&self, tab: &str) {
        let gone = self.realm(tab);
        {
            let mut form = self.form.lock();
            form.document += 1;
            // An isolated world has it from the start.
            (form.has_script, form.is_sent) = (self.has_all, false);
            form.name.clear();
        }
        let tab = tab.to_string();
        self.tell(BrowserEvent::RealmGone { tab: tab.clone(), realm: gone });
        let url = "https://shop.example/".to_string();
        self.tell(BrowserEvent::Committed { tab: tab.clone(), frame: tab.clone(), url, is_whole: false });
        self.tell(BrowserEvent::RealmCreated { tab: tab.clone(), frame: tab.clone(), realm: self.realm(&tab) });
        self.tell(BrowserEvent::Loaded { tab });
    }

    fn look(&self, wanted: &str) -> Value {
        let form = self.form.lock();
        let mut nodes = vec![
            json!({"r": "textbox", "b": [10, 10, 110, 30], "n": "Name", "v": form.name, "w": 1, "x": 1, "i": 1, "c": []}),
            json!({"r": "button", "b": [10, 50, 110, 70], "n": "Greet", "m": 1, "x": 1, "i": 2, "c": []}),
        ];
        if form.is_sent {
            let hello = format!("Hello {}", form.name);
            nodes.push(json!({"r": "paragraph", "b": [10, 90, 110, 110], "t": hello, "i": 3, "c": []}));
        }
        let mut look = json!({
            "document": form.document, "url": "https://shop.example/", "origin": "https://shop.example", "title": "Shop",
            "width": 1280, "height": 800, "left": 0, "top": 0, "fullWidth": 1280, "fullHeight": 800, "nodes": nodes,
        });
        if wanted.contains("ready") {
            let [id, y] = if wanted.contains("Name") { [1, 20] } else { [2, 60] };
            look["ready"] = json!({"id": id, "x": 60.0, "y": y, "b": [10, y - 10, 110, y + 10]});
        }
        look.to_string().into()
    }

    fn answer(&self, expression: &str) -> Result<Value, BackendError> {
        let called = expression.strip_prefix("trailblaze.").and_then(|rest| rest.split('(').next());
        Ok(match called {
            Some("look" | "find") => self.look(expression),
            Some("take") => {
                self.form.lock().name.clear();
                json!({})
            }
            Some("landed" | "took" | "quiet" | "frame" | "rested" | "scrolled") => Value::Null,
            Some("dragged") => json!(true),
            // Only the greeting is not made ready by the search.
            Some("ready") => json!({"id": 3, "x": 60.0, "y": 100.0, "b": [10, 90, 110, 110]}),
            _ => return Err(BackendError::Threw(format!("the fake cannot evaluate {expression}"))),
        })
    }
}

#[async_trait]
impl Backend for FakeSession {
    async fn evaluate(&self, realm: &Realm, expression: &str) -> Result<Value, BackendError> {
        let tab = realm.0.split('/').next().unwrap_or_default();
        if *realm != self.realm(tab) {
            return Err(BackendError::Refused("the document is gone".to_string()));
        }
        if expression == "document.readyState" {
            return Ok("complete".into());
        }
        if expression.contains("(isShared) =>") {
            assert!(expression.trim_end().ends_with("(true)"), "it shares the realm with the page");
            self.note("script");
            self.form.lock().has_script = true;
            return Ok(Value::Null);
        }
        // As a browser would: without the script, there is no `trailblaze`.
        let has_script = self.form.lock().has_script;
        if let Some(guarded) = expression.strip_prefix("globalThis.trailblaze?.document === document ? (") {
            let (inner, otherwise) = guarded.rsplit_once(") : ").expect("it says what the answer is otherwise");
            return if has_script { self.answer(inner) } else { Ok(otherwise.trim_matches('"').into()) };
        }
        if !has_script {
            return Err(BackendError::Threw("ReferenceError: trailblaze is not defined".to_string()));
        }
        self.answer(expression)
    }

    async fn run_script(&self, _: &str, script: &str) -> Result<Value, BackendError> {
        Ok(script.len().into())
    }

    async fn interrupt(&self, _: &str) -> bool {
        true
    }

    async fn set_files(&self, _: &Realm, element: &str, _: &[String]) -> Result<(), BackendError> {
        Err(BackendError::Refused(format!("{element} is not a file field")))
    }

    async fn navigate(&self, tab: &str, url: &str) -> Result<Navigation, BackendError> {
        if url.starts_with("nowhere:") {
            return Ok(Navigation::Failed { why: "there is no such place".to_string(), is_aborted: false });
        }
        self.note(format!("open {url}"));
        self.load(tab);
        Ok(Navigation::Document)
    }

    async fn stop_loading(&self, _: &str) -> Result<(), BackendError> {
        Ok(())
    }

    async fn reload(&self, tab: &str) -> Result<(), BackendError> {
        self.load(tab);
        Ok(())
    }

    async fn travel(&self, _: &str, _: i64) -> Result<bool, BackendError> {
        Ok(false)
    }

    async fn input(&self, _: &str, inputs: &[BrowserInput]) -> Result<(), BackendError> {
        for input in inputs {
            match input {
                BrowserInput::Text(text) => self.form.lock().name.push_str(text),
                BrowserInput::Mouse(mouse)
                    if mouse.kind == MouseKind::Released && mouse.at == (Spot { x: 60.0, y: 60.0 }) =>
                {
                    self.form.lock().is_sent = true;
                }
                BrowserInput::Mouse(mouse) => self.note(format!("{:?}", mouse.kind)),
                input => self.note(format!("{input:?}")),
            }
        }
        Ok(())
    }

    async fn tabs(&self) -> Result<Vec<TabId>, BackendError> {
        Ok(self.form.lock().tabs.clone())
    }

    async fn new_tab(&self) -> Result<TabId, BackendError> {
        let tab = {
            let mut form = self.form.lock();
            form.last += 1;
            let tab = format!("tab{}", form.last);
            form.tabs.push(tab.clone());
            tab
        };
        self.tell(BrowserEvent::TabAppeared { tab: tab.clone() });
        self.tell(BrowserEvent::TabAttached { tab: tab.clone(), main_frame: tab.clone(), opener: None });
        self.load(&tab);
        self.tell(BrowserEvent::TabOpened { tab: tab.clone(), is_kept: true });
        Ok(tab)
    }

    async fn close_tab(&self, tab: &str) -> Result<(), BackendError> {
        self.form.lock().tabs.retain(|known| known != tab);
        self.tell(BrowserEvent::TabClosed { tab: tab.to_string() });
        Ok(())
    }

    async fn activate(&self, tab: &str) -> Result<(), BackendError> {
        self.note(format!("activate {tab}"));
        Ok(())
    }

    async fn tab_info(&self, tab: &str) -> Result<TabInfo, BackendError> {
        Ok(TabInfo { url: format!("https://shop.example/{tab}"), title: "Shop".to_string() })
    }

    async fn emulate(&self, _: &str, _: &Emulation) -> Result<(), BackendError> {
        Ok(())
    }

    async fn frames(&self, tab: &str) -> Result<Vec<FrameInfo>, BackendError> {
        Ok(vec![FrameInfo { id: tab.to_string(), parent: None, realm: Some(self.realm(tab)) }])
    }

    async fn frame_owner(&self, _: &str, _: &Realm, _: &str) -> Result<Value, BackendError> {
        Err(BackendError::Refused("there are no frames".to_string()))
    }

    async fn screenshot(&self, _: &str) -> Result<Vec<u8>, BackendError> {
        Ok([[0_u8; 16].as_slice(), &1280_u32.to_be_bytes(), &800_u32.to_be_bytes()].concat())
    }

    fn end(&self) -> Option<String> {
        None
    }

    async fn gone(&self) {
        std::future::pending().await
    }

    async fn abandon(&self) {}

    async fn close(&self) {
        self.note("close");
    }

    fn isolated_world(&self) -> Option<&dyn IsolatedWorld> {
        self.has_all.then_some(self)
    }

    fn interception(&self) -> Option<&dyn Interception> {
        self.has_all.then_some(self)
    }

    fn events(&self) -> Option<&dyn BrowserEvents> {
        self.has_all.then_some(self)
    }

    fn contexts(&self) -> Option<&dyn Contexts> {
        self.has_all.then_some(self)
    }

    fn storage(&self) -> Option<&dyn Storage> {
        self.has_all.then_some(self)
    }

    fn layout(&self) -> Option<&dyn PageLayout> {
        self.has_all.then_some(self)
    }

    fn screencasting(&self) -> Option<&dyn Screencasting> {
        self.has_all.then_some(self)
    }
}

#[async_trait]
impl IsolatedWorld for FakeSession {
    async fn add_script(&self, scope: ScriptScope<'_>, world: ExecutionWorld, _: &str) -> Result<(), BackendError> {
        self.note(format!("add {world:?} {scope:?}"));
        Ok(())
    }

    async fn make_realm(&self, _: &str) -> Result<Realm, BackendError> {
        Err(BackendError::Refused("there are no frames".to_string()))
    }

    async fn open_root(&self, _: &Realm, _: &str, _: &str) -> Result<bool, BackendError> {
        Ok(false)
    }
}

#[async_trait]
impl Interception for FakeSession {
    async fn intercept_drags(&self, _: &str, is_on: bool) -> Result<(), BackendError> {
        if is_on {
            self.tell(BrowserEvent::DragBegun { data: json!({"items": []}) });
        }
        Ok(())
    }

    async fn drag(&self, _: &str, step: DragStep, _: Spot, _: &Value) -> Result<(), BackendError> {
        self.note(format!("{step:?}"));
        Ok(())
    }

    async fn intercept_choosers(&self, _: &str, _: bool) -> Result<(), BackendError> {
        Ok(())
    }

    async fn choose_files(&self, _: &Value, _: &[String]) -> Result<(), BackendError> {
        Ok(())
    }

    async fn set_offline(&self, _: &str, is_offline: bool) -> Result<(), BackendError> {
        self.note(format!("offline {is_offline}"));
        Ok(())
    }
}

#[async_trait]
impl BrowserEvents for FakeSession {
    async fn answer_dialog(&self, dialog: &str, accept: bool, text: &str) -> Result<(), BackendError> {
        self.note(format!("answer {dialog} {accept} {text}"));
        self.tell(BrowserEvent::Changed);
        Ok(())
    }

    fn is_new_dialog(&self, _: &str) -> bool {
        true
    }

    async fn crash(&self, _: &str) -> Result<(), BackendError> {
        Ok(())
    }

    async fn history(&self, _: &str) -> Result<TabHistory, BackendError> {
        Ok(TabHistory { index: 0, entries: vec![1] })
    }
}

#[async_trait]
impl Contexts for FakeSession {
    async fn begin(&self) -> Result<OldContext, BackendError> {
        self.note("begin");
        Ok(OldContext { id: "old".to_string(), tabs: std::mem::take(&mut self.form.lock().tabs) })
    }

    fn end(&self, old: OldContext) {
        self.note(format!("end {}", old.id));
    }
}

#[async_trait]
impl Storage for FakeSession {
    async fn cookies(&self, _: &str) -> Result<Vec<Value>, BackendError> {
        Ok(Vec::new())
    }

    async fn set_cookies(&self, _: &str, _: &[Value]) -> Result<(), BackendError> {
        Ok(())
    }

    async fn clear(&self, _: &str, origin: Option<&str>) -> Result<(), BackendError> {
        self.note(format!("clear {}", origin.unwrap_or_default()));
        Ok(())
    }
}

#[async_trait]
impl PageLayout for FakeSession {
    async fn displayed_texts(&self, _: &str) -> Result<Vec<DisplayedText>, BackendError> {
        Ok(vec![DisplayedText { text: "Shop".to_string(), boxes: Vec::new() }])
    }
}

#[async_trait]
impl Screencasting for FakeSession {
    async fn start(&self, _: &str) -> Result<(), BackendError> {
        Ok(())
    }

    async fn stop(&self, _: &str) -> Result<(), BackendError> {
        Ok(())
    }
}

/// A device with a fake browser.
struct FakeBrowserDevice {
    web: Web,
    sessions: Arc<Mutex<Vec<Arc<FakeSession>>>>,
}

impl FakeBrowserDevice {
    fn new(has_all: bool) -> FakeBrowserDevice {
        let sessions = Arc::default();
        let fake = Fake { has_all, sessions: Arc::clone(&sessions) };
        let web = Web::new(&web_device(DeviceId::new("web/fake"), None, &[], InitialState::default()), Arc::new(fake));
        FakeBrowserDevice { web, sessions }
    }

    async fn open(has_all: bool) -> FakeBrowserDevice {
        let device = FakeBrowserDevice::new(has_all);
        device.send(DeviceCommand::OpenUrl { url: "https://shop.example/".to_string() }).await.unwrap();
        device
    }

    async fn act(&self, target: &ActionTarget, action: Action) -> Result<ActionOutput, DriverError> {
        self.web.act(&budget(), target, &action).await
    }

    async fn send(&self, command: DeviceCommand) -> Result<ActionOutput, DriverError> {
        command.carry_out(&self.web, &budget()).await
    }

    async fn browse(&self, command: Browse) -> Result<ActionOutput, DriverError> {
        self.send(DeviceCommand::Browse(command)).await
    }

    async fn find(&self, text: &str) -> Option<Found> {
        let element =
            ElementProperties { text: Some(TextMatch::Exact(text.to_string())), ..ElementProperties::default() };
        let query = Query { what: QueryTarget::Element(element), index: None };
        match self.web.find(&budget(), &query, Checks::Actionable).await.unwrap() {
            Find::Found(found) => Some(found),
            Find::Not(_) => None,
        }
    }

    async fn target(&self, text: &str) -> ActionTarget {
        ActionTarget::Element(self.find(text).await.unwrap_or_else(|| panic!("there is no {text}")))
    }

    fn session(&self) -> Arc<FakeSession> {
        Arc::clone(self.sessions.lock().last().expect("a session is open"))
    }

    fn log(&self) -> Vec<String> {
        self.session().log.lock().clone()
    }
}

fn budget() -> Budget {
    Budget::new(Instant::now() + Duration::from_secs(60), CancellationToken::new())
}

#[tokio::test]
async fn a_form_is_filled_in_whatever_the_browser_can_do() {
    for has_all in [true, false] {
        let device = FakeBrowserDevice::open(has_all).await;
        let name = device.target("Name").await;
        device.act(&name, Action::SetText { text: "Ada".to_string() }).await.unwrap();
        assert!(device.find("Hello Ada").await.is_none());
        let greet = device.target("Greet").await;
        device.act(&greet, Action::Tap).await.unwrap();
        assert!(device.find("Hello Ada").await.is_some(), "has all: {has_all}");
        let screen = device.web.observe(&budget(), ObserveOptions::PICTURE).await.unwrap();
        assert_eq!(screen.picture.map(|picture| picture.size.width), Some(1280));
    }
}

#[tokio::test]
async fn the_script_is_injected_once_into_each_document_that_has_none() {
    let device = FakeBrowserDevice::open(false).await;
    device.target("Name").await;
    device.target("Greet").await;
    let n_scripts = |device: &FakeBrowserDevice| device.log().iter().filter(|line| *line == "script").count();
    assert_eq!(n_scripts(&device), 1, "{:?}", device.log());
    device.browse(Browse::Reload).await.unwrap();
    device.target("Name").await;
    assert_eq!(n_scripts(&device), 2, "{:?}", device.log());
    let device = FakeBrowserDevice::open(true).await;
    device.target("Name").await;
    assert_eq!(n_scripts(&device), 0, "an isolated world has the script from the start");
}

#[tokio::test]
async fn a_trail_starts_over_in_a_context_or_in_another_session() {
    for has_all in [true, false] {
        let device = FakeBrowserDevice::open(has_all).await;
        let first = device.session();
        let trail = TrailStart { dialogs: Some(DialogAnswer::Dismiss), ..TrailStart::default() };
        device.web.begin_trail(&budget(), &trail).await.unwrap();
        let expected = if has_all { ["begin", "end old"].as_slice() } else { &["close"] };
        assert!(first.log.lock().ends_with(&expected.iter().map(ToString::to_string).collect::<Vec<_>>()));
        assert_eq!(device.sessions.lock().len(), if has_all { 1 } else { 2 });
        assert_eq!(device.session().form.lock().tabs.len(), 1);
        assert!(device.find("Name").await.is_some());
    }
}

#[tokio::test]
async fn tabs_are_known_with_and_without_events() {
    for has_all in [true, false] {
        let device = FakeBrowserDevice::open(has_all).await;
        device.browse(Browse::NewTab { url: None }).await.unwrap();
        let listed = device.browse(Browse::Tabs).await.unwrap().text;
        assert_eq!(listed, "  0 https://shop.example/tab1 Shop\n* 1 https://shop.example/tab2 Shop");
        device.browse(Browse::SelectTab { index: 0 }).await.unwrap();
        assert_eq!(device.log().last().map(String::as_str), Some("activate tab1"));
        device.browse(Browse::CloseTab { index: None }).await.unwrap();
        let listed = device.browse(Browse::Tabs).await.unwrap().text;
        assert_eq!(listed, "* 0 https://shop.example/tab2 Shop");
        assert!(device.find("Name").await.is_some());
    }
}

#[tokio::test]
async fn the_screen_of_a_browser_without_events_may_always_have_changed() {
    let device = FakeBrowserDevice::open(false).await;
    let screen = device.web.observe(&budget(), ObserveOptions::TREE).await.unwrap();
    device.web.changed(&budget(), screen.snapshot).await.unwrap();
}

#[tokio::test]
async fn a_native_drag_is_carried_out_by_us_or_by_the_browser() {
    for has_all in [true, false] {
        let device = FakeBrowserDevice::open(has_all).await;
        let (from, end) = (device.target("Name").await, device.find("Greet").await.unwrap().point);
        device.act(&from, Action::Drag { at: None, to: DragEnd::Point(end) }).await.unwrap();
        let log = device.log();
        assert_eq!(log.iter().any(|line| line == "Drop"), has_all, "{log:?}");
        assert!(log.iter().any(|line| line == "Pressed"), "{log:?}");
    }
}

#[tokio::test]
async fn what_the_browser_cannot_do_is_refused_by_name() {
    let device = FakeBrowserDevice::open(false).await;
    let commands = [
        (Browse::Dialogs { accept: Some(true), text: None }, "dialogs"),
        (Browse::Download, "download"),
        (Browse::StorageState, "cookies and storage"),
    ];
    let unsupported = |acted: Result<ActionOutput, DriverError>| match acted {
        Err(DriverError::Unsupported { action, .. }) => action,
        other => panic!("{other:?}"),
    };
    for (command, name) in commands {
        assert_eq!(unsupported(device.browse(command).await), name);
    }
    let network = DeviceCommand::SetNetwork { connected: false };
    assert_eq!(unsupported(device.send(network.clone()).await), network.name());
    assert!(matches!(device.web.follow_person(&budget()).await, Err(DriverError::Unsupported { .. })));
    // A picture that may display a secret anywhere is masked as a whole.
    assert!(matches!(device.web.displayed_texts(&budget()).await, Err(DriverError::Refused { .. })));
    assert!(device.web.frames().is_none());
}

#[tokio::test]
async fn what_the_browser_can_do_is_asked_of_it() {
    let device = FakeBrowserDevice::open(true).await;
    device.send(DeviceCommand::SetNetwork { connected: false }).await.unwrap();
    device.send(DeviceCommand::ClearAppData { app: "https://shop.example/a".to_string() }).await.unwrap();
    assert!(device.log().ends_with(&["offline true".to_string(), "clear https://shop.example".to_string()]));
    assert_eq!(device.web.displayed_texts(&budget()).await.unwrap().map(|texts| texts.len()), Some(1));
    let _person = device.web.follow_person(&budget()).await.unwrap();
    let added: Vec<String> = device.log().into_iter().filter(|line| line.starts_with("add")).collect();
    assert_eq!(added, ["add Isolated Session", "add Page Session"]);
}

#[tokio::test]
async fn events_become_what_is_known() {
    let device = FakeBrowserDevice::open(true).await;
    let session = device.session();
    let dialog = Dialog {
        id: "d1".to_string(),
        tab: Some("tab1".to_string()),
        kind: "prompt".to_string(),
        message: "Your name?".to_string(),
        default_text: "Eve".to_string(),
    };
    session.tell(BrowserEvent::DialogOpened(dialog));
    session.tell(BrowserEvent::Console { kind: "error".to_string(), text: "no stock".to_string() });
    let request = |stage: RequestStage| {
        let request = RequestEvent { id: "r1".to_string(), at: 1.0, kind: "Fetch".to_string(), stage };
        session.tell(BrowserEvent::Request { tab: Some("tab1".to_string()), request });
    };
    let url = "https://shop.example/stock".to_string();
    request(RequestStage::Sent { method: "GET".to_string(), url: url.clone(), body: String::new(), redirect: None });
    request(RequestStage::Answered { url, status: Some(404) });
    request(RequestStage::Finished);
    let events = device.web.events().expect("a browser has events").take();
    let heard: Vec<String> = events.iter().filter(|event| !event.is_routine()).map(ToString::to_string).collect();
    assert!(heard[0].starts_with("prompt \"Your name?\" was accepted with \"Eve\", because nothing says"), "{heard:?}");
    assert_eq!(heard[1..], ["console.error: no stock", "https://shop.example/stock answered 404"]);
    session.tell(BrowserEvent::Crashed { tab: "tab1".to_string(), why: None });
    let lost = device.web.observe(&budget(), ObserveOptions::TREE).await;
    assert!(matches!(&lost, Err(DriverError::Lost { evidence }) if evidence == "the page crashed"), "{lost:?}");
}

#[tokio::test]
async fn an_address_that_cannot_be_opened_is_an_error_with_its_reason() {
    for has_all in [true, false] {
        let device = FakeBrowserDevice::open(has_all).await;
        let opened = device.send(DeviceCommand::OpenUrl { url: "nowhere:x".to_string() }).await;
        let reason = opened.unwrap_err().to_string();
        assert_eq!(reason, "cannot open `nowhere:x`: there is no such place");
    }
}
