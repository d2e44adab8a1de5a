//! Listens to the browser's events about one device's tabs, and keeps the known state up to date.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::Instant;
use trailblaze_core::driver::DIALOG_BY_DEFAULT;
use trailblaze_protocol::event::Level;

use super::cdp::{Cdp, Listener};
use crate::web::page::{BINDING, Page, WORLD};
use crate::web::person::Told;
use crate::web::screencast::Screencast;
use crate::web::state::{Download, LONGEST, Shared, State, cut};

/// The longest address in a message, in bytes.
const SHORT: usize = 300;
/// The longest text of a dialog in a message, in bytes.
const DIALOG: usize = 1000;

pub struct PageListener {
    pub shared: Arc<Shared>,
    pub cdp: Arc<Cdp>,
    /// The context of the device, which changes when it starts over.
    pub context: Arc<Mutex<String>>,
    /// Attaches to new tabs.
    pub page: Weak<Page>,
    pub downloads: std::path::PathBuf,
    pub screencast: Arc<Screencast>,
}

impl Listener for PageListener {
    fn told(&self, session: &str, method: &str, params: &Value) {
        let text = |pointer: &str| params.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        match method {
            // Events of the browser itself.
            "Target.targetCreated"
                if text("/targetInfo/type") == "page"
                    && text("/targetInfo/browserContextId") == *self.context.lock() =>
            {
                self.adopt(text("/targetInfo/targetId"), params.pointer("/targetInfo/openerId"));
            }
            "Target.targetDestroyed" => self.shared.bump(|state| {
                let target = text("/targetId");
                let index = state.tabs.iter().position(|tab| tab.target == target);
                state.close_tab(target);
                state.tell_person(|state| Some(Told::Closed { index: index?, is_last: state.tabs.is_empty() }));
            }),
            "Browser.downloadWillBegin" => {
                let frame = text("/frameId");
                self.shared.bump(|state| {
                    let is_ours = |state: &State| state.tabs.iter().any(|tab| tab.frames.contains_key(frame));
                    if is_ours(state) || frame.is_empty() {
                        let (id, name) = (text("/guid").to_string(), text("/suggestedFilename").to_string());
                        let file = self.downloads.join(&id);
                        state.add_download(Download { id, name, file, is_whole: false, failure: None });
                    }
                });
            }
            "Browser.downloadProgress" => {
                let how = text("/state");
                self.shared.bump(|state| {
                    let download = state.downloads.iter_mut().find(|download| download.id == text("/guid"));
                    let Some(download) = download else { return };
                    let said = match how {
                        "completed" if !download.is_whole => {
                            download.is_whole = true;
                            format!("downloaded `{}`", download.name)
                        }
                        "canceled" => {
                            download.failure = Some("it was cancelled".to_string());
                            format!("the download of `{}` was cancelled", download.name)
                        }
                        _ => return,
                    };
                    state.tell_notable(Level::Debug, &said);
                });
            }
            // Events of a tab, or of a frame in another process.
            "Target.attachedToTarget" if text("/targetInfo/type") == "iframe" => {
                self.take_in(session, text("/sessionId"), text("/targetInfo/targetId"));
            }
            "Target.detachedFromTarget" => {
                let gone = text("/sessionId");
                self.cdp.forget(gone);
                self.shared.bump(|state| {
                    if let Some(tab) = state.tab_of(gone) {
                        tab.forget_world(gone, None);
                    }
                    state.sessions.remove(gone);
                });
            }
            // The page has not changed by that: what draws it may be an animation.
            "Page.screencastFrame" => self.screencast.take(&self.cdp, session, params),
            "Runtime.bindingCalled" if text("/name") == BINDING => {
                let world = params.get("executionContextId").and_then(Value::as_i64);
                self.shared.bump(|state| match text("/payload") {
                    "" => {}
                    message => state.tell_person(|state| Told::by_page(state, session, world, message)),
                });
            }
            "Runtime.executionContextCreated" if text("/context/name") == WORLD => {
                let world = params.pointer("/context/id").and_then(Value::as_i64);
                self.frame(session, text("/context/auxData/frameId"), |frame| {
                    frame.world = world;
                    frame.session = session.to_string();
                });
            }
            "Runtime.executionContextDestroyed" => {
                let world = params.get("executionContextId").and_then(Value::as_i64);
                self.tab(session, |tab| tab.forget_world(session, world));
            }
            "Runtime.executionContextsCleared" => self.tab(session, |tab| tab.forget_world(session, None)),
            "Page.frameAttached" => {
                let parent = text("/parentFrameId").to_string();
                self.frame(session, text("/frameId"), |frame| frame.parent = Some(parent));
            }
            "Page.frameDetached" if text("/reason") != "swap" => {
                self.tab(session, |tab| tab.remove_frame(text("/frameId")));
            }
            "Page.frameNavigated" if params.pointer("/frame/parentId").is_none() => {
                let is_whole = text("/type") == "BackForwardCacheRestore";
                let url = cut(text("/frame/url"), SHORT);
                self.tab(session, |tab| {
                    if tab.session == session {
                        // Usually the main frame keeps its id.
                        tab.main_frame = text("/frame/id").to_string();
                        tab.frame(text("/frame/id"));
                        tab.url = url;
                        // The document has arrived; its scripts have not run, whatever was reported about the previous
                        // one.
                        tab.commits += 1;
                        tab.loading_since = (!is_whole).then(Instant::now);
                        tab.has_loaded = is_whole;
                    }
                });
            }
            "Page.frameStartedLoading" | "Page.frameStartedNavigating" | "Page.frameRequestedNavigation" => {
                // A link that opens in another tab does not load anything here.
                let is_here = matches!(text("/disposition"), "" | "currentTab");
                self.shared.bump(|state| {
                    let Some(tab) = state.tab_of(session) else { return };
                    if !is_here || tab.main_frame != text("/frameId") {
                        return;
                    }
                    tab.loading_since.get_or_insert_with(Instant::now);
                    let target = tab.target.clone();
                    match method {
                        "Page.frameRequestedNavigation" => tab.requested_at = Some(Instant::now()),
                        "Page.frameStartedNavigating" => state.tell_person(|_| {
                            let (kind, url) = (text("/navigationType").to_string(), text("/url").to_string());
                            Some(Told::Navigating { target, kind, url, at: Instant::now() })
                        }),
                        _ => {}
                    }
                });
            }
            "Page.frameStoppedLoading" => self.tab(session, |tab| {
                if tab.main_frame == text("/frameId") {
                    tab.loaded();
                }
            }),
            "Page.loadEventFired" => self.tab(session, |tab| {
                if tab.session == session {
                    tab.loaded();
                }
            }),
            // Navigation within a loaded document is complete; a document that is still loading goes on.
            "Page.navigatedWithinDocument" => self.tab(session, |tab| {
                if tab.main_frame == text("/frameId") && tab.has_loaded {
                    tab.loading_since = None;
                }
            }),
            "Page.windowOpen" => self.shared.bump(|state| state.opening = Some(Instant::now())),
            "Page.javascriptDialogOpening" => self.answer_dialog(session, params),
            "Page.javascriptDialogClosed" => self.shared.bump(|state| {
                if std::mem::take(&mut state.dialogs.is_left_to_person) {
                    let accept = params.get("result").and_then(Value::as_bool).unwrap_or(false);
                    state.tell_person(|_| Some(Told::Answered { accept, text: text("/userInput").to_string() }));
                }
            }),
            "Page.fileChooserOpened" => self.shared.bump(|state| state.chooser = Some(params.clone())),
            "Input.dragIntercepted" => self.shared.bump(|state| state.drag = params.get("data").cloned()),
            "Inspector.targetCrashed" => {
                let killed_for = self.page.upgrade().and_then(|page| page.browser.take_kill());
                self.tab(session, |tab| {
                    tab.is_crashed = true;
                    tab.killed_for = killed_for;
                });
            }
            "Inspector.targetReloadedAfterCrash" => self.tab(session, |tab| tab.is_crashed = false),
            "Runtime.consoleAPICalled" => self.console(params),
            "Runtime.exceptionThrown" => {
                let thrown = params.pointer("/exceptionDetails/exception/description");
                let thrown = thrown.and_then(Value::as_str).unwrap_or_else(|| text("/exceptionDetails/text"));
                let line = cut(thrown.lines().next().unwrap_or_default(), LONGEST);
                self.shared.bump(|state| {
                    state.tell_notable(Level::Warning, &format!("the page threw: {line}"));
                    state.console(&format!("error: {line}"));
                });
            }
            _ if method.starts_with("Network.") => self.network(session, method, params),
            _ => {}
        }
    }
}

impl PageListener {
    fn tab(&self, session: &str, change: impl FnOnce(&mut crate::web::state::Tab)) {
        self.shared.bump(|state| state.tab_of(session).map(change));
    }

    fn frame(&self, session: &str, id: &str, change: impl FnOnce(&mut crate::web::state::Frame)) {
        self.tab(session, |tab| change(tab.frame(id)));
    }

    /// A new tab: ours, or one that a page opened.
    fn adopt(&self, target: &str, opener: Option<&Value>) {
        let is_new = self.shared.bump(|state| {
            state.opening = None;
            state.adopting.insert(target.to_string())
        });
        if !is_new {
            return;
        }
        let Some(page) = self.page.upgrade() else { return };
        let (target, opener) = (target.to_string(), opener.and_then(Value::as_str).map(str::to_string));
        let context = self.context.lock().clone();
        tokio::spawn(async move { page.adopt(target, opener, &context).await });
    }

    /// A frame in another process has its own session.
    fn take_in(&self, parent: &str, session: &str, frame: &str) {
        let Some(page) = self.page.upgrade() else { return };
        let is_known = self.shared.bump(|state| {
            let target = state.sessions.get(parent).cloned();
            let is_known = target.is_some();
            state.sessions.extend(target.map(|target| (session.to_string(), target)));
            if let Some(tab) = state.tab_of(session) {
                tab.frame(frame).session = session.to_string();
            }
            is_known
        });
        if is_known {
            page.listen(session);
            let session = session.to_string();
            tokio::spawn(async move { page.set_up(&session).await });
        }
    }

    /// A dialog blocks the page until it is answered, so it is answered immediately, unless a person is there to do so.
    fn answer_dialog(&self, session: &str, params: &Value) {
        let text = |key: &str| cut(params.get(key).and_then(Value::as_str).unwrap_or_default(), DIALOG);
        let (kind, message) = (text("type"), text("message"));
        let is_leaving = kind == "beforeunload";
        let answer = self.shared.bump(|state| {
            if state.person.is_some() && !is_leaving && !state.acting.is_now() {
                state.dialogs.is_left_to_person = true;
                state.tell_person(|_| Some(Told::Asked { kind: kind.clone(), message: message.clone() }));
                return None;
            }
            let rule = state.dialogs.rule.filter(|_| !is_leaving);
            let accept = state.dialogs.answer.or(rule).unwrap_or(true);
            let prompt = (kind == "prompt" && accept).then(|| {
                let given = state.dialogs.text.clone();
                given.unwrap_or_else(|| text("defaultPrompt"))
            });
            let how = if accept { "accepted" } else { "dismissed" };
            let with = prompt.as_ref().map(|text| format!(" with \"{text}\"")).unwrap_or_default();
            let dialog = format!("{kind} \"{message}\"");
            let is_by_default = state.dialogs.answer.is_none() && rule.is_none() && !is_leaving;
            if is_by_default && self.page.upgrade().is_some_and(|page| page.browser.is_new_dialog(&dialog)) {
                state.tell_notable(Level::Warning, &format!("{dialog} was {how}{with}{DIALOG_BY_DEFAULT}"));
            } else {
                state.tell_notable(Level::Debug, &format!("{dialog} was {how}{with}"));
            }
            state.dialogs.note(json!({"type": kind, "message": message, "answer": how}));
            Some(json!({"accept": accept, "promptText": prompt.unwrap_or_default()}))
        });
        let Some(answer) = answer else { return };
        // A page that is not left after all stays as it was.
        let stays = is_leaving && answer["accept"] == false;
        let (cdp, shared, session) = (Arc::clone(&self.cdp), Arc::clone(&self.shared), session.to_string());
        tokio::spawn(async move {
            let _ = cdp.call(Some(&session), "Page.handleJavaScriptDialog", answer).await;
            if stays {
                shared.bump(|state| state.tab_of(&session).map(|tab| tab.loading_since = None));
            }
        });
    }

    fn console(&self, params: &Value) {
        let kind = params.get("type").and_then(Value::as_str).unwrap_or("log");
        let one = |value: &Value| match value.get("value") {
            Some(Value::String(text)) => cut(text, LONGEST),
            Some(value) => value.to_string(),
            None => cut(value.get("description").and_then(Value::as_str).unwrap_or("undefined"), LONGEST),
        };
        let args = params.get("args").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let text = args.iter().map(one).collect::<Vec<_>>().join(" ");
        let said = format!("console.{kind}: {text}");
        self.shared.bump(|state| {
            match kind {
                "error" | "assert" => state.tell_notable(Level::Warning, &said),
                "warning" => state.tell(Level::Warning, &said),
                _ => state.tell(Level::Debug, &said),
            }
            state.console(&format!("{kind}: {text}"));
        });
    }

    fn network(&self, session: &str, method: &str, params: &Value) {
        let text = |pointer: &str| params.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let id = text("/requestId");
        self.shared.state().requests.told(method, params);
        match method {
            "Network.requestWillBeSent" => self.shared.bump(|state| {
                let is_work = matches!(text("/type"), "Document" | "XHR" | "Fetch" | "Script" | "Stylesheet");
                if is_work && let Some(tab) = state.tab_of(session) {
                    tab.pending.insert(id.to_string());
                }
            }),
            "Network.responseReceived" => {
                let status = params.pointer("/response/status").and_then(Value::as_u64).unwrap_or(0);
                if status >= 400 {
                    let url = text("/response/url");
                    let level = gravity(text("/type"), url);
                    self.shared.bump(|state| state.tell(level, &format!("{url} answered {status}")));
                }
            }
            "Network.loadingFinished" => self.tab(session, |tab| {
                tab.pending.remove(id);
            }),
            "Network.loadingFailed" => self.shared.bump(|state| {
                if let Some(tab) = state.tab_of(session) {
                    tab.pending.remove(id);
                }
                let is_cancelled = params.get("canceled").and_then(Value::as_bool).unwrap_or(false);
                let url = state.requests.url_of(id).map(str::to_string);
                if let (false, Some(url)) = (is_cancelled, url) {
                    let level = gravity(text("/type"), &url);
                    state.tell(level, &format!("{url} failed: {}", text("/errorText")));
                }
            }),
            _ => {}
        }
    }
}

/// The severity of a failed request. Browsers request the icon of a site, and many sites have none.
fn gravity(kind: &str, url: &str) -> Level {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    if kind == "Other" && path.ends_with("/favicon.ico") { Level::Debug } else { Level::Warning }
}
