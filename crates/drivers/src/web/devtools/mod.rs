//! The DevTools protocol of Chromium as a backend: its contexts, tabs and frames. Only this folder knows the names of the protocol.

mod attach;
pub mod browser;
pub mod browsers;
mod capabilities;
mod cdp;
mod emulation;
mod input;
pub mod inspected;
mod layout;
mod listener;
mod memory;
mod private_tab;
mod routing;
mod scripts;
mod page_conditions;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use futures::future::join_all;
use parking_lot::Mutex;
use serde_json::{Value, json};
use trailblaze_protocol::geometry::Size;

use self::browser::Browser;
use self::browsers::Browsers;
use self::cdp::{CdpError, CdpListener};
pub(super) use self::emulation::commands as emulation_commands;
use self::emulation::commands;
use self::page_conditions::KnownSurroundings;
use self::private_tab::PrivateTabs;
use super::backend::{
    Backend, BackendError, BrowserEvent, BrowserEventSink, BrowserEvents, Contexts, ExecutionWorld, FrameId, FrameInfo,
    Interception, IsolatedWorld, Navigation, OriginStorage, PageConditions, PageLayout, Realm, Routing, Screencasting,
    Setup, Storage, TabId, TabInfo,
};
use super::emulation::Emulation;
use super::input::BrowserInput;

/// The name of the world in which our scripts run.
const WORLD: &str = "trailblaze";
/// How long a context may take to end.
const ENDING: Duration = Duration::from_secs(2);

/// A session of the protocol: with a tab, or with a frame in another process.
type SessionId = String;

/// A device's share of a browser: its own context with its tabs.
pub struct DevTools {
    /// Itself, which listens to the browser.
    me: Weak<DevTools>,
    browser: Arc<Browser>,
    browsers: Weak<Browsers>,
    sink: Arc<dyn BrowserEventSink>,
    channel: &'static str,
    /// What the device emulates when it starts.
    start: Emulation,
    known: Mutex<KnownTargets>,
    page_conditions: Mutex<KnownSurroundings>,
    private: PrivateTabs,
}

/// What is known from events.
struct KnownTargets {
    /// Changes when the device starts over.
    context: String,
    /// What new tabs emulate.
    emulation: Emulation,
    /// What runs in each document.
    scripts: Vec<(ExecutionWorld, String)>,
    /// Tabs being attached.
    adopting: HashSet<TabId>,
    /// In the order in which they were attached.
    tabs: Vec<AttachedTarget>,
    /// The tab of each session.
    sessions: HashMap<SessionId, TabId>,
    frames: HashMap<FrameId, TargetPlace>,
}

#[derive(Debug, Clone)]
struct AttachedTarget {
    tab: TabId,
    session: SessionId,
    main_frame: FrameId,
}

/// Where a frame is.
#[derive(Debug, Clone)]
struct TargetPlace {
    tab: TabId,
    session: SessionId,
    parent: Option<FrameId>,
    /// The number of our world in its document.
    world: Option<i64>,
}

impl From<CdpError> for BackendError {
    fn from(error: CdpError) -> BackendError {
        match error {
            CdpError::Gone => BackendError::Gone,
            CdpError::Refused { .. } => BackendError::Refused(error.to_string()),
        }
    }
}

impl KnownTargets {
    fn tab(&self, tab: &str) -> Option<&AttachedTarget> {
        self.tabs.iter().find(|known| known.tab == tab)
    }

    /// The tab that a session belongs to.
    fn tab_of(&self, session: &str) -> Option<&AttachedTarget> {
        self.tab(self.sessions.get(session)?)
    }

    /// A frame, added if it is new.
    fn frame(&mut self, tab: &str, session: &str, frame: &str) -> &mut TargetPlace {
        let new = || TargetPlace { tab: tab.to_string(), session: session.to_string(), parent: None, world: None };
        self.frames.entry(frame.to_string()).or_insert_with(new)
    }

    /// Child frames are removed with their parent.
    fn forget_frame(&mut self, frame: &str) {
        self.frames.remove(frame);
        let is_within = |(_, place): &(&FrameId, &TargetPlace)| place.parent.as_deref() == Some(frame);
        let within: Vec<FrameId> = self.frames.iter().filter(is_within).map(|(id, _)| id.clone()).collect();
        within.iter().for_each(|frame| self.forget_frame(frame));
    }

    /// Forgets a tab, and returns its sessions.
    fn forget(&mut self, tab: &str) -> Vec<SessionId> {
        self.tabs.retain(|known| known.tab != tab);
        self.frames.retain(|_, place| place.tab != tab);
        self.sessions.extract_if(|_, of| of == tab).map(|(session, _)| session).collect()
    }
}

fn realm(session: &str, world: i64) -> Realm {
    Realm(format!("{session}:{world}"))
}

/// The session and the world that a realm is in.
fn place_of(realm: &Realm) -> Result<(&str, i64), BackendError> {
    let parts = realm.0.rsplit_once(':').and_then(|(session, world)| Some((session, world.parse().ok()?)));
    parts.ok_or_else(|| BackendError::Refused(format!("there is no realm `{}`", realm.0)))
}

fn string(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_string()
}

impl DevTools {
    /// Begins a context in a browser.
    pub async fn open(
        browser: Arc<Browser>,
        browsers: Weak<Browsers>,
        setup: Setup,
    ) -> Result<Arc<DevTools>, BackendError> {
        let Setup { emulation, script, channel, sink } = setup;
        let known = KnownTargets {
            context: new_context(&browser).await?,
            emulation: emulation.clone(),
            scripts: vec![(ExecutionWorld::Isolated, script)],
            adopting: HashSet::new(),
            tabs: Vec::new(),
            sessions: HashMap::new(),
            frames: HashMap::new(),
        };
        let devtools = Arc::new_cyclic(|me| DevTools {
            me: me.clone(),
            browser,
            browsers,
            sink,
            channel,
            start: emulation,
            known: Mutex::new(known),
            page_conditions: Mutex::default(),
            private: PrivateTabs::default(),
        });
        let listener: Arc<dyn CdpListener> = Arc::clone(&devtools) as Arc<dyn CdpListener>;
        devtools.browser.cdp.listen_to_browser(&listener);
        devtools.browser.add(&devtools.sink);
        Ok(devtools)
    }

    /// Sends a command to the browser itself.
    async fn call(&self, method: &str, params: Value) -> Result<Value, BackendError> {
        Ok(self.browser.cdp.call(None, method, params).await?)
    }

    async fn call_session(&self, session: &str, method: &str, params: Value) -> Result<Value, BackendError> {
        Ok(self.browser.cdp.call(Some(session), method, params).await?)
    }

    async fn call_tab(&self, tab: &str, method: &str, params: Value) -> Result<Value, BackendError> {
        let session = self.session(tab)?;
        self.call_session(&session, method, params).await
    }

    /// Sends commands in one go; they are executed in order.
    async fn call_all(&self, session: &str, commands: Vec<(&str, Value)>) -> Result<(), BackendError> {
        let calls = commands.into_iter().map(|(method, params)| self.browser.cdp.call(Some(session), method, params));
        join_all(calls).await.into_iter().collect::<Result<Vec<Value>, CdpError>>()?;
        Ok(())
    }

    fn session(&self, tab: &str) -> Result<SessionId, BackendError> {
        let known = self.known.lock();
        let session = known.tab(tab).map(|known| known.session.clone());
        session.ok_or_else(|| BackendError::Refused("the tab is closed".to_string()))
    }

    fn listen(&self, session: &str) {
        if let Some(me) = self.me.upgrade() {
            self.browser.cdp.listen(session, &(me as Arc<dyn CdpListener>));
        }
    }

    /// Attaches to a new tab, and sets it up.
    async fn adopt(&self, tab: TabId, opener: Option<TabId>, context: String) {
        if self.private.has(&tab).await {
            self.known.lock().adopting.remove(&tab);
            return self.sink.take(BrowserEvent::TabOpened { tab, is_kept: false });
        }
        self.attach(&tab, opener).await;
        let is_kept = {
            let mut known = self.known.lock();
            known.adopting.remove(&tab);
            known.context == context
        };
        if !is_kept {
            self.forget(&tab);
        }
        self.sink.take(BrowserEvent::TabOpened { tab, is_kept });
    }

    async fn attach(&self, tab: &str, opener: Option<TabId>) {
        let params = json!({"targetId": tab, "flatten": true});
        let Ok(attached) = self.call("Target.attachToTarget", params).await else { return };
        let session = string(&attached, "sessionId");
        // The main frame of a page has the same id as its target.
        let main_frame = tab.to_string();
        // Registered before its events arrive.
        {
            let mut known = self.known.lock();
            known.sessions.insert(session.clone(), tab.to_string());
            known.tabs.push(AttachedTarget {
                tab: tab.to_string(),
                session: session.clone(),
                main_frame: main_frame.clone(),
            });
            known.frame(tab, &session, &main_frame);
        }
        self.sink.take(BrowserEvent::TabAttached { tab: tab.to_string(), main_frame, opener });
        self.listen(&session);
        self.set_up(&session).await;
        self.fit_window(tab).await;
    }

    fn forget(&self, tab: &str) {
        for session in self.known.lock().forget(tab) {
            self.browser.cdp.forget(&session);
        }
    }

    /// Makes a window that is shown as large as its page, so that people see all of it.
    async fn fit_window(&self, tab: &str) {
        if !self.browser.is_headed {
            return;
        }
        let Size { width, height } = self.known.lock().emulation.size;
        // A screen may be too small for it.
        if let Ok(window) = self.call("Browser.getWindowForTarget", json!({"targetId": tab})).await {
            let params = json!({"windowId": window["windowId"], "width": width, "height": height});
            let _ = self.call("Browser.setContentsSize", params).await;
        }
    }

    /// Enables the events that we need in a session, and injects our scripts into each document.
    async fn set_up(&self, session: &str) {
        let (scripts, emulation) = {
            let known = self.known.lock();
            (known.scripts.clone(), known.emulation.clone())
        };
        let attach = json!({"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true});
        let mut commands = vec![
            ("Page.enable", json!({})),
            ("Runtime.enable", json!({})),
            ("Network.enable", json!({"maxPostDataSize": 64 << 10})),
            ("Runtime.addBinding", json!({"name": self.channel, "executionContextName": WORLD})),
        ];
        commands.extend(scripts.iter().map(|(world, script)| scripts::preload(*world, script)));
        commands.push(("Target.setAutoAttach", attach));
        commands.extend(emulation::commands(&emulation));
        let calls = commands.into_iter().map(|(method, params)| self.browser.cdp.call(Some(session), method, params));
        join_all(calls).await;
        self.surround(session).await;
        let Ok(tree) = self.call_session(session, "Page.getFrameTree", json!({})).await else { return };
        let tab = self.known.lock().sessions.get(session).cloned();
        if let Some(tab) = tab {
            self.plant(&tab, session, &tree["frameTree"]);
        }
    }

    /// Extracts the frames from a frame tree.
    fn plant(&self, tab: &str, session: &str, tree: &Value) {
        let frame = string(&tree["frame"], "id");
        let parent = tree.pointer("/frame/parentId").and_then(Value::as_str).map(str::to_string);
        {
            let mut known = self.known.lock();
            let place = known.frame(tab, session, &frame);
            session.clone_into(&mut place.session);
            if parent.is_some() {
                place.parent.clone_from(&parent);
            }
        }
        self.sink.take(BrowserEvent::FrameSeen { tab: tab.to_string(), frame, parent });
        for child in tree.get("childFrames").and_then(Value::as_array).into_iter().flatten() {
            self.plant(tab, session, child);
        }
    }
}

/// Creates a context, whose downloads are reported.
async fn new_context(browser: &Browser) -> Result<String, BackendError> {
    let made = browser.cdp.call(None, "Target.createBrowserContext", json!({"disposeOnDetach": true})).await?;
    let context = string(&made, "browserContextId");
    let behaviour = json!({
        "behavior": "allowAndName", "browserContextId": context, "downloadPath": browser.downloads,
        "eventsEnabled": true,
    });
    browser.cdp.call(None, "Browser.setDownloadBehavior", behaviour).await?;
    Ok(context)
}

#[async_trait]
impl Backend for DevTools {
    async fn evaluate(&self, realm: &Realm, expression: &str) -> Result<Value, BackendError> {
        let (session, world) = place_of(realm)?;
        let params = json!({"expression": expression, "contextId": world, "returnByValue": true, "awaitPromise": true});
        scripts::value_of(&self.call_session(session, "Runtime.evaluate", params).await?)
    }

    async fn run_script(&self, tab: &str, script: &str) -> Result<Value, BackendError> {
        scripts::run(self, &self.session(tab)?, script).await
    }

    async fn interrupt(&self, tab: &str) -> bool {
        match self.session(tab) {
            Ok(session) => scripts::interrupt(&self.browser.cdp, &session).await,
            Err(_) => true,
        }
    }

    async fn set_files(&self, realm: &Realm, element: &str, files: &[String]) -> Result<(), BackendError> {
        let (session, world) = place_of(realm)?;
        let params = json!({"expression": element, "contextId": world});
        let answer = self.call_session(session, "Runtime.evaluate", params).await?;
        let handle = answer.pointer("/result/objectId").cloned();
        let handle = handle.ok_or_else(|| BackendError::Refused("its page is gone".to_string()))?;
        let params = json!({"files": files, "objectId": handle});
        self.call_session(session, "DOM.setFileInputFiles", params).await.map(drop)
    }

    async fn navigate(&self, tab: &str, url: &str) -> Result<Navigation, BackendError> {
        let answer = self.call_tab(tab, "Page.navigate", json!({"url": url})).await?;
        if let Some(why) = answer.get("errorText").and_then(Value::as_str) {
            return Ok(Navigation::Failed { why: why.to_string(), is_aborted: why == "net::ERR_ABORTED" });
        }
        let is_download = answer.get("isDownload").and_then(Value::as_bool).unwrap_or(false);
        let is_same = answer.get("loaderId").is_none() || is_download;
        Ok(if is_same { Navigation::SameDocument } else { Navigation::Document })
    }

    async fn stop_loading(&self, tab: &str) -> Result<(), BackendError> {
        self.call_tab(tab, "Page.stopLoading", json!({})).await.map(drop)
    }

    async fn reload(&self, tab: &str) -> Result<(), BackendError> {
        self.call_tab(tab, "Page.reload", json!({})).await.map(drop)
    }

    async fn travel(&self, tab: &str, by: i64) -> Result<bool, BackendError> {
        let history = self.history(tab).await?;
        let entry = usize::try_from(history.index + by).ok().and_then(|index| history.entries.get(index));
        let Some(entry) = entry else { return Ok(false) };
        self.call_tab(tab, "Page.navigateToHistoryEntry", json!({"entryId": entry})).await?;
        Ok(true)
    }

    async fn input(&self, tab: &str, inputs: &[BrowserInput]) -> Result<(), BackendError> {
        let session = self.session(tab)?;
        for commands in input::commands(inputs) {
            self.call_all(&session, commands).await?;
        }
        Ok(())
    }

    async fn tabs(&self) -> Result<Vec<TabId>, BackendError> {
        Ok(self.known.lock().tabs.iter().map(|known| known.tab.clone()).collect())
    }

    async fn new_tab(&self) -> Result<TabId, BackendError> {
        let context = self.known.lock().context.clone();
        let params = json!({"url": "about:blank", "browserContextId": context});
        Ok(string(&self.call("Target.createTarget", params).await?, "targetId"))
    }

    async fn close_tab(&self, tab: &str) -> Result<(), BackendError> {
        self.call("Target.closeTarget", json!({"targetId": tab})).await.map(drop)
    }

    async fn activate(&self, tab: &str) -> Result<(), BackendError> {
        self.call_tab(tab, "Page.bringToFront", json!({})).await.map(drop)
    }

    async fn tab_info(&self, tab: &str) -> Result<TabInfo, BackendError> {
        let info = self.call("Target.getTargetInfo", json!({"targetId": tab})).await?;
        let info = &info["targetInfo"];
        Ok(TabInfo { url: string(info, "url"), title: string(info, "title") })
    }

    async fn emulate(&self, tab: &str, emulation: &Emulation) -> Result<(), BackendError> {
        self.known.lock().emulation = emulation.clone();
        let session = self.session(tab)?;
        for (method, params) in commands(emulation) {
            self.call_session(&session, method, params).await?;
        }
        self.restore_media(&session, emulation).await
    }

    async fn frames(&self, tab: &str) -> Result<Vec<FrameInfo>, BackendError> {
        let known = self.known.lock();
        let own = known.frames.iter().filter(|(_, place)| place.tab == tab);
        let mut frames: Vec<FrameInfo> = own
            .map(|(id, place)| FrameInfo {
                id: id.clone(),
                parent: place.parent.clone(),
                realm: place.world.map(|world| realm(&place.session, world)),
            })
            .collect();
        let main = known.tab(tab).map(|known| known.main_frame.clone()).unwrap_or_default();
        frames.sort_by_key(|frame| frame.id != main);
        Ok(frames)
    }

    async fn frame_owner(&self, frame: &str, parent: &Realm, function: &str) -> Result<Value, BackendError> {
        let (session, world) = place_of(parent)?;
        let owner = self.call_session(session, "DOM.getFrameOwner", json!({"frameId": frame})).await?;
        let params = json!({"backendNodeId": owner["backendNodeId"], "executionContextId": world});
        let node = self.call_session(session, "DOM.resolveNode", params).await?;
        let params = json!({
            "objectId": node["object"]["objectId"], "returnByValue": true,
            "functionDeclaration": format!("function() {{ return ({function})(this); }}"),
        });
        scripts::value_of(&self.call_session(session, "Runtime.callFunctionOn", params).await?)
    }

    async fn screenshot(&self, tab: &str) -> Result<Vec<u8>, BackendError> {
        let shot = self.call_tab(tab, "Page.captureScreenshot", json!({"format": "png"})).await?;
        let data = shot.get("data").and_then(Value::as_str).unwrap_or_default();
        Ok(BASE64_STANDARD.decode(data).unwrap_or_default())
    }

    fn end(&self) -> Option<String> {
        self.browser.end()
    }

    async fn gone(&self) {
        self.browser.cdp.gone().await;
    }

    async fn abandon(&self) {
        match self.browsers.upgrade() {
            Some(browsers) => browsers.give_up(&self.browser).await,
            None => self.browser.kill().await,
        }
    }

    async fn close(&self) {
        let context = self.known.lock().context.clone();
        let dispose = self.call("Target.disposeBrowserContext", json!({"browserContextId": context}));
        let _ = tokio::time::timeout(ENDING, dispose).await;
    }

    fn isolated_world(&self) -> Option<&dyn IsolatedWorld> {
        Some(self)
    }

    fn interception(&self) -> Option<&dyn Interception> {
        Some(self)
    }

    fn events(&self) -> Option<&dyn BrowserEvents> {
        Some(self)
    }

    fn contexts(&self) -> Option<&dyn Contexts> {
        Some(self)
    }

    fn storage(&self) -> Option<&dyn Storage> {
        Some(self)
    }

    fn layout(&self) -> Option<&dyn PageLayout> {
        Some(self)
    }

    fn screencasting(&self) -> Option<&dyn Screencasting> {
        Some(self)
    }

    fn routing(&self) -> Option<&dyn Routing> {
        Some(self)
    }

    fn page_conditions(&self) -> Option<&dyn PageConditions> {
        Some(self)
    }

    fn origin_storage(&self) -> Option<&dyn OriginStorage> {
        Some(self)
    }
}
