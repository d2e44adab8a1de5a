//! Translates the browser's events about one device.

use std::path::PathBuf;

use serde_json::Value;
use trailblaze_core::driver::cut;

use super::super::backend::{BrowserEvent, Dialog, Navigation, Realm, TabId};
use super::connection::BidiListener;
use super::tabs::{KnownFrame, KnownRealm};
use super::{BidiSession, CHANNEL, WORLD, drags, string, values};

/// The longest argument of a console message that is kept, in bytes.
const LONGEST_ARGUMENT: usize = 4096;
/// Pages of a browser itself that stand for one that could not be opened. They are whole when they arrive.
const ERROR_PAGES: [&str; 3] = ["about:neterror", "about:certerror", "chrome-error:"];

impl BidiListener for BidiSession {
    fn receive(&self, method: &str, params: &Value) {
        match method.split_once('.').unwrap_or_default().0 {
            "network" => self.network_event(method, params),
            "browsingContext" => self.context_event(method, params),
            "script" => self.script_event(method, params),
            "log" => self.log_event(params),
            "input" if method == "input.fileDialogOpened" && self.is_ours(&string(params, "context")) => {
                self.sink.take(BrowserEvent::ChooserOpened { chooser: params.clone() });
            }
            _ => {}
        }
    }
}

impl BidiSession {
    fn is_ours(&self, context: &str) -> bool {
        self.known.lock().frames.contains_key(context)
    }

    /// Reports something about the main frame of a tab. In another frame, something may have changed.
    fn tell_main(&self, context: &str, event: impl FnOnce(TabId) -> BrowserEvent) {
        let parent = self.known.lock().frames.get(context).map(|frame| frame.parent.is_some());
        match parent {
            Some(false) => self.sink.take(event(context.to_string())),
            Some(true) => self.sink.take(BrowserEvent::Changed),
            None => {}
        }
    }

    fn context_event(&self, method: &str, params: &Value) {
        let context = string(params, "context");
        let (url, navigation) = (string(params, "url"), string(params, "navigation"));
        match method {
            "browsingContext.contextCreated" => self.context_created(&context, params),
            "browsingContext.contextDestroyed" => self.context_destroyed(&context),
            "browsingContext.navigationStarted" => self.tell_main(&context, |tab| BrowserEvent::Loading { tab }),
            "browsingContext.navigationCommitted" => {
                let is_whole = ERROR_PAGES.iter().any(|page| url.starts_with(page));
                self.tell_main(&context, |tab| BrowserEvent::Committed { frame: tab.clone(), tab, url, is_whole });
                self.note_navigation(&navigation, Navigation::Document);
            }
            "browsingContext.fragmentNavigated" | "browsingContext.historyUpdated" => {
                self.tell_main(&context, |tab| BrowserEvent::NavigatedWithinDocument { tab });
                self.note_navigation(&navigation, Navigation::SameDocument);
            }
            "browsingContext.navigationFailed" | "browsingContext.navigationAborted" => {
                self.tell_main(&context, |tab| BrowserEvent::Loaded { tab });
                let why = string(params, "message");
                let why = if why.is_empty() { "it was aborted".to_string() } else { why };
                self.note_navigation(&navigation, Navigation::Failed { why, is_aborted: true });
            }
            "browsingContext.load" => self.tell_main(&context, |tab| BrowserEvent::Loaded { tab }),
            "browsingContext.downloadWillBegin" => {
                // The document that was there stays.
                self.tell_main(&context, |tab| BrowserEvent::Loaded { tab });
                self.note_navigation(&navigation, Navigation::SameDocument);
                self.download_began(&context, params);
            }
            "browsingContext.downloadEnd" => self.download_ended(&context, params),
            "browsingContext.userPromptOpened" => {
                let Some(tab) = self.known.lock().tab_of(&context) else { return };
                self.sink.take(BrowserEvent::DialogOpened(Dialog {
                    id: context,
                    tab: Some(tab),
                    kind: string(params, "type"),
                    message: string(params, "message"),
                    default_text: string(params, "defaultValue"),
                }));
            }
            "browsingContext.userPromptClosed" if self.is_ours(&context) => {
                let is_accepted = params.get("accepted").and_then(Value::as_bool).unwrap_or(false);
                self.sink.take(BrowserEvent::DialogClosed { is_accepted, text: string(params, "userText") });
            }
            _ if self.is_ours(&context) => self.sink.take(BrowserEvent::Changed),
            _ => {}
        }
    }

    fn context_created(&self, context: &str, params: &Value) {
        let Some(parent) = params.get("parent").and_then(Value::as_str) else {
            let opener = params.get("originalOpener").and_then(Value::as_str).map(str::to_string);
            let is_new = {
                let mut known = self.known.lock();
                let is_own = known.context == string(params, "userContext") && !known.frames.contains_key(context);
                is_own && !known.hides(context, opener.as_ref())
            };
            if is_new {
                self.tab_created(context, opener);
            }
            return;
        };
        let tab = {
            let mut known = self.known.lock();
            let Some(tab) = known.tab_of(parent) else { return };
            let frame = KnownFrame { tab: tab.clone(), parent: Some(parent.to_string()) };
            known.frames.insert(context.to_string(), frame);
            tab
        };
        let parent = Some(parent.to_string());
        self.sink.take(BrowserEvent::FrameSeen { tab, frame: context.to_string(), parent });
    }

    fn context_destroyed(&self, context: &str) {
        let frame = self.known.lock().frames.get(context).cloned();
        match frame {
            Some(KnownFrame { parent: None, .. }) => self.tab_closed(context),
            Some(KnownFrame { tab, .. }) => {
                self.known.lock().forget_frame(context);
                self.sink.take(BrowserEvent::FrameRemoved { tab, frame: context.to_string() });
            }
            None => {}
        }
    }

    fn script_event(&self, method: &str, params: &Value) {
        let realm = string(params, "realm");
        match method {
            "script.realmCreated" if string(params, "sandbox") == WORLD => {
                let frame = string(params, "context");
                let tab = {
                    let mut known = self.known.lock();
                    let Some(tab) = known.tab_of(&frame) else { return };
                    let origin = string(params, "origin");
                    let own = KnownRealm { tab: tab.clone(), frame: frame.clone(), origin };
                    known.realms.insert(realm.clone(), own);
                    tab
                };
                self.sink.take(BrowserEvent::RealmCreated { tab, frame, realm: Realm(realm) });
            }
            "script.realmDestroyed" => {
                let known = self.known.lock().realms.remove(&realm);
                if let Some(known) = known {
                    self.sink.take(BrowserEvent::RealmGone { tab: known.tab, realm: Realm(realm) });
                }
            }
            "script.message" if string(params, "channel") == CHANNEL => {
                let realm = params.pointer("/source/realm").and_then(Value::as_str).unwrap_or_default();
                let tab = self.known.lock().realms.get(realm).map(|known| known.tab.clone());
                let Some(tab) = tab else { return };
                let text = params.get("data").map(|data| string(data, "value")).unwrap_or_default();
                if self.take_history(&tab, &text) {
                    return;
                }
                let message =
                    || BrowserEvent::Message { tab, realm: Some(Realm(realm.to_string())), text: text.clone() };
                self.sink.take(drags::begun(realm, &text).unwrap_or_else(message));
            }
            _ => {}
        }
    }

    fn log_event(&self, params: &Value) {
        let context = params.pointer("/source/context").and_then(Value::as_str).unwrap_or_default();
        if !self.is_ours(context) {
            return;
        }
        match params.get("type").and_then(Value::as_str) {
            Some("console") => {
                let kind = match params.get("method").and_then(Value::as_str).unwrap_or("log") {
                    "warn" => "warning",
                    kind => kind,
                };
                let args = params.get("args").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                let text = |arg: &Value| cut(&values::console_text(arg), LONGEST_ARGUMENT);
                let text = args.iter().map(text).collect::<Vec<_>>().join(" ");
                self.sink.take(BrowserEvent::Console { kind: kind.to_string(), text });
            }
            Some("javascript") => self.sink.take(BrowserEvent::exception(values::thrown_text(params), params)),
            _ => {}
        }
    }

    fn download_began(&self, context: &str, params: &Value) {
        if !self.is_ours(context) {
            return;
        }
        let mut known = self.known.lock();
        let name = string(params, "suggestedFilename");
        known.begin_download(download_id(params), name);
    }

    /// Where a download is, is known when it has ended. It is renamed, so that the next one of this name can have it.
    fn download_ended(&self, context: &str, params: &Value) {
        let ended = self.known.lock().end_download(&download_id(params));
        let Some((name, number)) = ended.filter(|_| self.is_ours(context)) else { return };
        let is_whole = string(params, "status") == "complete";
        let mut file = PathBuf::from(string(params, "filepath"));
        if let Some(folder) = self.browser.downloads() {
            let own = folder.join(format!("download-{number}"));
            if is_whole && std::fs::rename(&file, &own).is_ok() {
                file = own;
            }
        }
        let id = number.to_string();
        self.sink.take(BrowserEvent::DownloadBegan { id: id.clone(), name, file });
        self.sink.take(BrowserEvent::DownloadEnded { id, is_whole });
    }
}

/// Some browsers give downloads an id; in others, that of the navigation or the address stands for it.
fn download_id(params: &Value) -> String {
    let keys = ["download", "navigation", "url"];
    keys.iter().map(|key| string(params, key)).find(|id| !id.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use async_trait::async_trait;
    use futures::channel::mpsc::unbounded;
    use parking_lot::Mutex;
    use serde_json::json;
    use tokio_tungstenite::tungstenite::Message;

    use super::super::super::backend::BrowserEventSink;
    use super::super::super::emulation::Emulation;
    use super::super::connection::BidiConnection;
    use super::super::tabs::KnownTabs;
    use super::super::{BidiBrowser, Notify, screencast};
    use super::*;

    struct NoBrowser;

    #[async_trait]
    impl BidiBrowser for NoBrowser {
        fn end(&self) -> Option<String> {
            None
        }

        fn downloads(&self) -> Option<PathBuf> {
            None
        }

        async fn close(&self) {}

        async fn kill(&self) {}
    }

    #[derive(Default)]
    struct TakenEvents(Mutex<Vec<String>>);

    impl BrowserEventSink for TakenEvents {
        fn take(&self, event: BrowserEvent) {
            let name = format!("{event:?}");
            self.0.lock().push(name.split([' ', '(', '{']).next().unwrap_or_default().to_string());
        }

        fn url(&self) -> Option<String> {
            None
        }
    }

    #[tokio::test]
    async fn events_in_the_wrong_order_or_about_nothing_change_nothing() {
        let (_browser, from) = unbounded::<Result<Message, std::convert::Infallible>>();
        let (to, _sent) = unbounded::<Message>();
        let events = Arc::new(TakenEvents::default());
        let mut known = KnownTabs::new(Emulation::default());
        known.context = "own".to_string();
        let session = Arc::new_cyclic(|me| BidiSession {
            me: me.clone(),
            connection: BidiConnection::open(from, to),
            browser: Arc::new(NoBrowser),
            sink: Arc::clone(&events) as Arc<dyn BrowserEventSink>,
            start: Emulation::default(),
            known: Mutex::new(known),
            navigated: Notify::new(),
            requests: Mutex::default(),
            warned: Mutex::default(),
            casts: screencast::Casts::default(),
        });
        let realm = json!({"realm": "r1", "context": "tab", "sandbox": WORLD, "origin": "https://shop.example"});
        let tab = json!({"context": "tab", "userContext": "own", "url": "about:blank"});
        let told = |method: &str, params: &Value| session.receive(method, params);
        // Before the tab is known.
        told("script.realmCreated", &realm);
        told("browsingContext.load", &tab);
        told("browsingContext.userPromptOpened", &json!({"context": "tab", "type": "alert", "message": "Hi"}));
        told("browsingContext.contextCreated", &json!({"context": "frame", "parent": "tab"}));
        told("browsingContext.contextDestroyed", &tab);
        told("script.realmDestroyed", &json!({"realm": "r1"}));
        told("browsingContext.downloadEnd", &json!({"context": "tab", "status": "complete", "filepath": "/nowhere"}));
        told("network.responseCompleted", &json!({"context": "tab"}));
        told("browsingContext.contextCreated", &json!("no object"));
        assert_eq!(*events.0.lock(), Vec::<String>::new());
        // Once more about what is known, and after it has gone.
        told("browsingContext.contextCreated", &tab);
        told("browsingContext.contextCreated", &tab);
        told("script.realmCreated", &realm);
        told("browsingContext.contextDestroyed", &tab);
        told("browsingContext.contextDestroyed", &tab);
        told("script.realmDestroyed", &json!({"realm": "r1"}));
        told("browsingContext.load", &tab);
        assert_eq!(*events.0.lock(), ["TabAppeared", "TabAttached", "RealmCreated", "TabClosed"]);
    }
}
