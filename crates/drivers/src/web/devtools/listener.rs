//! Translates the browser's events about one device.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use trailblaze_core::driver::cut;
use trailblaze_protocol::geometry::Size;

use super::super::backend::{BrowserEvent, Dialog, RequestEvent, RequestStage, TabId};
use super::cdp::CdpListener;
use super::{DevTools, WORLD, realm};

/// The longest argument of a console message that is kept, in bytes.
const LONGEST_ARGUMENT: usize = 4096;

impl CdpListener for DevTools {
    fn receive(&self, session: &str, method: &str, params: &Value) {
        match method.split_once('.').unwrap_or_default().0 {
            "Network" => {
                self.network(session, method, params);
                self.traffic(session, method, params);
            }
            "Fetch" => self.fetch_event(session, method, params),
            "Browser" | "Target" => self.browser_event(session, method, params),
            "Page" => self.page_event(session, method, params),
            "Runtime" => self.runtime_event(session, method, params),
            _ => match method {
                "Input.dragIntercepted" => {
                    self.sink.take(BrowserEvent::DragBegun { data: params.get("data").cloned().unwrap_or_default() });
                }
                "Inspector.targetCrashed" => {
                    let why = self.browser.take_kill();
                    self.tell_tab(session, |tab| BrowserEvent::Crashed { tab, why });
                }
                "Inspector.targetReloadedAfterCrash" => {
                    self.tell_tab(session, |tab| BrowserEvent::CrashEnded { tab });
                }
                _ => {}
            },
        }
    }
}

impl DevTools {
    fn tab_id(&self, session: &str) -> Option<TabId> {
        self.known.lock().sessions.get(session).cloned()
    }

    /// Reports something about the tab of a session.
    fn tell_tab(&self, session: &str, event: impl FnOnce(TabId) -> BrowserEvent) {
        if let Some(tab) = self.tab_id(session) {
            self.sink.take(event(tab));
        }
    }

    /// Reports something about the main frame of a tab. In another frame, something may have changed.
    fn tell_main(&self, session: &str, frame: &str, event: impl FnOnce(TabId) -> BrowserEvent) {
        let tab = {
            let known = self.known.lock();
            known.tab_of(session).filter(|tab| tab.main_frame == frame).map(|tab| tab.tab.clone())
        };
        self.sink.take(tab.map_or(BrowserEvent::Changed, event));
    }

    fn browser_event(&self, session: &str, method: &str, params: &Value) {
        let text = |pointer: &str| params.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        match method {
            "Target.targetCreated" if text("/targetInfo/type") == "page" => {
                let opener = params.pointer("/targetInfo/openerId").and_then(Value::as_str).map(str::to_string);
                self.tab_created(text("/targetInfo/targetId"), text("/targetInfo/browserContextId"), opener);
            }
            "Target.targetDestroyed" => {
                let tab = text("/targetId").to_string();
                self.known.lock().forget(&tab);
                self.sink.take(BrowserEvent::TabClosed { tab });
            }
            "Target.attachedToTarget" if text("/targetInfo/type") == "iframe" => {
                self.frame_attached(session, text("/sessionId"), text("/targetInfo/targetId"));
            }
            "Target.detachedFromTarget" => {
                let gone = text("/sessionId");
                self.browser.cdp.forget(gone);
                self.forget_worlds(gone, None);
                self.known.lock().sessions.remove(gone);
            }
            "Browser.downloadWillBegin" => {
                let frame = text("/frameId");
                if frame.is_empty() || self.known.lock().frames.contains_key(frame) {
                    let (id, name) = (text("/guid").to_string(), text("/suggestedFilename").to_string());
                    let file = self.browser.downloads.join(&id);
                    self.sink.take(BrowserEvent::DownloadBegan { id, name, file });
                }
            }
            "Browser.downloadProgress" if matches!(text("/state"), "completed" | "canceled") => {
                let (id, is_whole) = (text("/guid").to_string(), text("/state") == "completed");
                self.sink.take(BrowserEvent::DownloadEnded { id, is_whole });
            }
            _ => {}
        }
    }

    /// A new tab: ours, or one that a page opened. It is attached no matter what opened it.
    fn tab_created(&self, tab: &str, context: &str, opener: Option<TabId>) {
        let is_new = {
            let mut known = self.known.lock();
            known.context == context && known.adopting.insert(tab.to_string())
        };
        let Some(me) = self.me.upgrade().filter(|_| is_new) else { return };
        self.sink.take(BrowserEvent::TabAppeared { tab: tab.to_string() });
        let (tab, context) = (tab.to_string(), context.to_string());
        // Detached: ends when the browser has answered its commands, or is gone.
        tokio::spawn(async move { me.adopt(tab, opener, context).await });
    }

    /// A frame in another process has its own session.
    fn frame_attached(&self, parent: &str, session: &str, frame: &str) {
        let Some(me) = self.me.upgrade() else { return };
        let Some(tab) = self.tab_id(parent) else { return };
        // Its document in the process before is gone.
        let gone = {
            let mut known = self.known.lock();
            known.sessions.insert(session.to_string(), tab.clone());
            let place = known.frame(&tab, session, frame);
            let before = std::mem::replace(&mut place.session, session.to_string());
            place.world.take().map(|world| realm(&before, world))
        };
        self.sink.take(BrowserEvent::FrameSeen { tab: tab.clone(), frame: frame.to_string(), parent: None });
        if let Some(realm) = gone {
            self.sink.take(BrowserEvent::RealmGone { tab, realm });
        }
        self.listen(session);
        let session = session.to_string();
        // Detached: ends when the browser has answered its commands, or is gone.
        tokio::spawn(async move { me.set_up(&session).await });
    }

    /// Documents are gone, and our worlds with them: one, or all of a session.
    fn forget_worlds(&self, session: &str, world: Option<i64>) {
        let gone: Vec<BrowserEvent> = {
            let mut known = self.known.lock();
            let is_gone = |own: i64| world.is_none_or(|world| world == own);
            let places = known.frames.values_mut().filter(|place| place.session == session);
            let gone = places.filter_map(|place| {
                let world = place.world.take_if(|own| is_gone(*own))?;
                Some(BrowserEvent::RealmGone { tab: place.tab.clone(), realm: realm(session, world) })
            });
            gone.collect()
        };
        self.sink.take(BrowserEvent::Changed);
        gone.into_iter().for_each(|event| self.sink.take(event));
    }

    fn runtime_event(&self, session: &str, method: &str, params: &Value) {
        let text = |pointer: &str| params.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let number = |pointer: &str| params.pointer(pointer).and_then(Value::as_i64);
        match method {
            "Runtime.bindingCalled" if text("/name") == self.channel => {
                let realm = number("/executionContextId").map(|world| realm(session, world));
                let text = text("/payload").to_string();
                self.tell_tab(session, |tab| BrowserEvent::Message { tab, realm, text });
            }
            "Runtime.executionContextCreated" if text("/context/name") == WORLD => {
                let (Some(world), Some(tab)) = (number("/context/id"), self.tab_id(session)) else { return };
                let frame = text("/context/auxData/frameId").to_string();
                {
                    let mut known = self.known.lock();
                    let place = known.frame(&tab, session, &frame);
                    session.clone_into(&mut place.session);
                    place.world = Some(world);
                }
                self.sink.take(BrowserEvent::RealmCreated { tab, frame, realm: realm(session, world) });
            }
            "Runtime.executionContextDestroyed" => {
                if let Some(world) = number("/executionContextId") {
                    self.forget_worlds(session, Some(world));
                }
            }
            "Runtime.executionContextsCleared" => self.forget_worlds(session, None),
            "Runtime.consoleAPICalled" => {
                let kind = params.get("type").and_then(Value::as_str).unwrap_or("log").to_string();
                let args = params.get("args").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                let text = args.iter().map(argument).collect::<Vec<_>>().join(" ");
                self.sink.take(BrowserEvent::Console { kind, text });
            }
            "Runtime.exceptionThrown" => {
                let thrown = params.pointer("/exceptionDetails/exception/description");
                let thrown = thrown.and_then(Value::as_str).unwrap_or_else(|| text("/exceptionDetails/text"));
                let text = thrown.lines().next().unwrap_or_default().to_string();
                self.sink.take(BrowserEvent::exception(text, &params["exceptionDetails"]));
            }
            _ => {}
        }
    }

    fn page_event(&self, session: &str, method: &str, params: &Value) {
        let text = |pointer: &str| params.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let frame = text("/frameId");
        match method {
            "Page.frameAttached" => {
                let (Some(tab), parent) = (self.tab_id(session), text("/parentFrameId").to_string()) else { return };
                self.known.lock().frame(&tab, session, frame).parent = Some(parent.clone());
                self.sink.take(BrowserEvent::FrameSeen { tab, frame: frame.to_string(), parent: Some(parent) });
            }
            "Page.frameDetached" if text("/reason") != "swap" => {
                self.known.lock().forget_frame(frame);
                self.tell_tab(session, |tab| BrowserEvent::FrameRemoved { tab, frame: frame.to_string() });
            }
            "Page.frameNavigated" if params.pointer("/frame/parentId").is_none() => self.committed(session, params),
            // A link that opens in another tab does not load anything here.
            "Page.frameStartedLoading" | "Page.frameStartedNavigating" | "Page.frameRequestedNavigation"
                if !matches!(text("/disposition"), "" | "currentTab") =>
            {
                self.sink.take(BrowserEvent::Changed);
            }
            "Page.frameStartedLoading" => self.tell_main(session, frame, |tab| BrowserEvent::Loading { tab }),
            "Page.frameRequestedNavigation" => {
                self.tell_main(session, frame, |tab| BrowserEvent::NavigationRequested { tab });
            }
            "Page.frameStartedNavigating" => {
                let (kind, url) = (text("/navigationType").to_string(), text("/url").to_string());
                self.tell_main(session, frame, |tab| BrowserEvent::NavigationStarted { tab, kind, url });
            }
            "Page.frameStoppedLoading" => self.tell_main(session, frame, |tab| BrowserEvent::Loaded { tab }),
            "Page.loadEventFired" => {
                let tab = self.known.lock().tab_of(session).filter(|tab| tab.session == session).cloned();
                let loaded = tab.map_or(BrowserEvent::Changed, |tab| BrowserEvent::Loaded { tab: tab.tab });
                self.sink.take(loaded);
            }
            "Page.navigatedWithinDocument" => {
                self.tell_main(session, frame, |tab| BrowserEvent::NavigatedWithinDocument { tab });
            }
            "Page.windowOpen" => self.sink.take(BrowserEvent::WindowAnnounced),
            "Page.javascriptDialogOpening" => self.sink.take(BrowserEvent::DialogOpened(Dialog {
                id: session.to_string(),
                tab: self.tab_id(session),
                kind: text("/type").to_string(),
                message: text("/message").to_string(),
                default_text: text("/defaultPrompt").to_string(),
            })),
            "Page.javascriptDialogClosed" => {
                let is_accepted = params.get("result").and_then(Value::as_bool).unwrap_or(false);
                self.sink.take(BrowserEvent::DialogClosed { is_accepted, text: text("/userInput").to_string() });
            }
            "Page.fileChooserOpened" => {
                let chooser = json!({"session": session, "node": params["backendNodeId"]});
                self.sink.take(BrowserEvent::ChooserOpened { chooser });
            }
            "Page.screencastFrame" => self.picture(session, params),
            _ => {}
        }
    }

    fn committed(&self, session: &str, params: &Value) {
        let text = |pointer: &str| params.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let frame = text("/frame/id").to_string();
        let tab = {
            let mut known = self.known.lock();
            let own = known.tabs.iter_mut().find(|known| known.session == session);
            let tab = own.map(|own| {
                own.main_frame.clone_from(&frame);
                own.tab.clone()
            });
            if let Some(tab) = &tab {
                known.frame(tab, session, &frame);
            }
            tab
        };
        let is_whole = text("/type") == "BackForwardCacheRestore";
        let url = text("/frame/url").to_string();
        let committed = tab.map(|tab| BrowserEvent::Committed { tab, frame, url, is_whole });
        self.sink.take(committed.unwrap_or(BrowserEvent::Changed));
    }

    /// Takes a picture from the browser, and asks for the next.
    fn picture(&self, session: &str, params: &Value) {
        let ack = json!({"sessionId": params["sessionId"]});
        let (cdp, of) = (std::sync::Arc::clone(&self.browser.cdp), session.to_string());
        // Detached: ends when the browser has answered, or is gone.
        tokio::spawn(async move { cdp.call(Some(&of), "Page.screencastFrameAck", ack).await });
        let data = params.get("data").and_then(Value::as_str).unwrap_or_default();
        let Ok(jpeg) = BASE64_STANDARD.decode(data) else { return };
        let Some(size) = size_of(&params["metadata"]) else { return };
        self.tell_tab(session, |tab| BrowserEvent::Picture { tab, size, jpeg });
    }

    fn network(&self, session: &str, method: &str, params: &Value) {
        let text = |pointer: &str| params.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let status = |pointer: &str| {
            let status = params.pointer(pointer).and_then(Value::as_u64).filter(|status| *status > 0);
            status.and_then(|status| u16::try_from(status).ok())
        };
        let stage = match method {
            "Network.requestWillBeSent" => RequestStage::Sent {
                method: text("/request/method").to_string(),
                url: text("/request/url").to_string(),
                body: text("/request/postData").to_string(),
                redirect: params.get("redirectResponse").map(|_| status("/redirectResponse/status")),
            },
            "Network.responseReceived" => {
                RequestStage::Answered { url: text("/response/url").to_string(), status: status("/response/status") }
            }
            "Network.loadingFinished" => RequestStage::Finished,
            "Network.loadingFailed" => RequestStage::Failed {
                why: text("/errorText").to_string(),
                is_cancelled: params.get("canceled").and_then(Value::as_bool).unwrap_or(false),
            },
            _ => return,
        };
        let request = RequestEvent {
            id: text("/requestId").to_string(),
            at: params.get("timestamp").and_then(Value::as_f64).unwrap_or_default(),
            kind: text("/type").to_string(),
            stage,
        };
        self.sink.take(BrowserEvent::Request { tab: self.tab_id(session), request });
    }
}

/// An argument of a call of the console, as text.
fn argument(value: &Value) -> String {
    match value.get("value") {
        Some(Value::String(text)) => cut(text, LONGEST_ARGUMENT),
        Some(value) => value.to_string(),
        None => cut(value.get("description").and_then(Value::as_str).unwrap_or("undefined"), LONGEST_ARGUMENT),
    }
}

/// The size of the window in CSS pixels, which are larger than those of the device if the page is zoomed.
fn size_of(metadata: &Value) -> Option<Size> {
    let number = |key: &str| metadata.get(key).and_then(Value::as_f64).filter(|number| *number > 0.0);
    let zoom = number("pageScaleFactor").unwrap_or(1.0);
    let side = |key: &str| number(key).map(|length| (length / zoom).round() as u32);
    Some(Size { width: side("deviceWidth")?, height: side("deviceHeight")? })
}
