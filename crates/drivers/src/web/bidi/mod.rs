//! WebDriver BiDi as a backend: user contexts, tabs and frames of a session. Only this folder knows the names of the protocol, and it
//! knows no browser: what differs between them is in [`BidiBrowser`].
//!
//! What a session needs is set up once, for the session or for a user context: scripts in documents, events, what tabs emulate. A new tab
//! costs no command of its own.

mod capabilities;
pub mod connection;
mod drags;
mod history;
mod input;
mod listener;
mod places;
mod requests;
mod screencast;
mod storage;
mod tabs;
mod texts;
mod values;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use futures::future::join_all;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::Notify;

use self::connection::{BidiConnection, BidiError, BidiListener};
use self::requests::HeldRequests;
use self::tabs::KnownTabs;
use super::backend::{
    Backend, BackendError, BrowserEventSink, BrowserEvents, Contexts, FrameInfo, Interception, IsolatedWorld,
    Navigation, PageLayout, Realm, Screencasting, Setup, Storage, TabId, TabInfo,
};
use super::emulation::Emulation;
use super::input::BrowserInput;

/// The name of the world in which our scripts run.
const WORLD: &str = "trailblaze";
/// The channel on which they send messages.
const CHANNEL: &str = "trailblaze";
/// How long a context may take to end.
const ENDING: Duration = Duration::from_secs(2);
/// How long a page that is to be left may be busy.
const BUSY: Duration = Duration::from_secs(2);
/// The largest body of a request that is kept, in bytes.
const BODY: u32 = 4096;
/// What is subscribed to.
const EVENTS: [&str; 5] = ["browsingContext", "input", "log", "network", "script"];

/// The browser behind a session, which differs from one to the next.
#[async_trait]
pub trait BidiBrowser: Send + Sync {
    /// How it ended, if it has.
    fn end(&self) -> Option<String>;
    /// Where it writes downloads; `None` if it keeps no files that we can read.
    fn downloads(&self) -> Option<PathBuf>;
    /// Ends the session and the browser.
    async fn close(&self);
    /// Ends it at once.
    async fn kill(&self);
}

/// A device's session with a browser that speaks BiDi.
pub struct BidiSession {
    /// Itself, which listens to the browser.
    me: Weak<BidiSession>,
    connection: Arc<BidiConnection>,
    browser: Arc<dyn BidiBrowser>,
    sink: Arc<dyn BrowserEventSink>,
    /// What the device emulates when it starts.
    start: Emulation,
    known: Mutex<KnownTabs>,
    /// Signalled when a navigation ends.
    navigated: Notify,
    requests: Mutex<HeldRequests>,
    /// Dialogs that a warning was given for.
    warned: Mutex<HashSet<String>>,
    casts: screencast::Casts,
}

impl From<BidiError> for BackendError {
    fn from(error: BidiError) -> BackendError {
        match error {
            BidiError::Gone => BackendError::Gone,
            BidiError::Refused { .. } => BackendError::Refused(error.to_string()),
        }
    }
}

fn string(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_string()
}

impl BidiSession {
    /// Sets up a session that was begun, without a tab.
    pub async fn open(
        connection: Arc<BidiConnection>,
        browser: Arc<dyn BidiBrowser>,
        setup: Setup,
    ) -> Result<Arc<BidiSession>, BackendError> {
        let Setup { emulation, script, channel, sink } = setup;
        let session = Arc::new_cyclic(|me| BidiSession {
            me: me.clone(),
            connection,
            browser,
            sink,
            start: emulation.clone(),
            known: Mutex::new(KnownTabs::new(emulation)),
            navigated: Notify::new(),
            requests: Mutex::default(),
            warned: Mutex::default(),
            casts: screencast::Casts::default(),
        });
        let listener: Arc<dyn BidiListener> = Arc::clone(&session) as Arc<dyn BidiListener>;
        session.connection.listen(&listener);
        let touches = if session.start.is_mobile { include_str!("touches.js") } else { "" };
        let preload = json!({
            "functionDeclaration": format!("(send) => {{ globalThis.{channel} = (text) => {{ send(text); }};\n{script}\n{touches}\n}}"),
            "arguments": [{"type": "channel", "value": {"channel": CHANNEL}}],
            "sandbox": WORLD,
        });
        let mut commands = vec![("session.subscribe", json!({"events": EVENTS})), ("script.addPreloadScript", preload)];
        if let Some(folder) = session.browser.downloads() {
            let behaviour = json!({"downloadBehavior": {"type": "allowed", "destinationFolder": folder}});
            commands.push(("browser.setDownloadBehavior", behaviour));
        }
        session.call_all(commands).await?;
        let collector = json!({"dataTypes": ["request"], "maxEncodedDataSize": BODY});
        // Without one, bodies of requests are not known.
        let has_bodies = session.connection.call("network.addDataCollector", collector).await.is_ok();
        session.requests.lock().has_bodies = has_bodies;
        let context = session.new_context().await?;
        let there = session.call("browsingContext.getTree", json!({"maxDepth": 0})).await?;
        let there = there.get("contexts").and_then(Value::as_array);
        let initial = there.into_iter().flatten().map(|tab| string(tab, "context")).collect();
        {
            let mut known = session.known.lock();
            (known.context, known.initial) = (context, initial);
        }
        Ok(session)
    }

    async fn call(&self, method: &str, params: Value) -> Result<Value, BackendError> {
        Ok(self.connection.call(method, params).await?)
    }

    /// Sends commands in one go; they are executed in order.
    async fn call_all(&self, commands: Vec<(&str, Value)>) -> Result<Vec<Value>, BackendError> {
        let calls = commands.into_iter().map(|(method, params)| self.connection.call(method, params));
        Ok(join_all(calls).await.into_iter().collect::<Result<Vec<Value>, BidiError>>()?)
    }

    /// Creates a user context whose tabs emulate what the device starts with.
    async fn new_context(&self) -> Result<String, BackendError> {
        let made = self.call("browser.createUserContext", json!({})).await?;
        let context = string(&made, "userContext");
        self.emulate_in(&context, &self.start).await?;
        Ok(context)
    }

    /// Emulates a device in all tabs of a user context, and in those that it will have.
    async fn emulate_in(&self, context: &str, emulation: &Emulation) -> Result<(), BackendError> {
        let to = json!([context]);
        let viewport = json!({"width": emulation.size.width, "height": emulation.size.height});
        let mut commands = vec![(
            "browsingContext.setViewport",
            json!({"viewport": viewport, "devicePixelRatio": emulation.scale, "userContexts": to}),
        )];
        if emulation.is_mobile {
            let screen = json!({"screenArea": viewport, "userContexts": to});
            commands.push(("emulation.setScreenSettingsOverride", screen));
        }
        if let Some(agent) = &emulation.user_agent {
            commands.push(("emulation.setUserAgentOverride", json!({"userAgent": agent, "userContexts": to})));
        }
        if let Some(locale) = &emulation.locale {
            commands.push(("emulation.setLocaleOverride", json!({"locale": locale, "userContexts": to})));
        }
        if let Some(zone) = &emulation.timezone {
            commands.push(("emulation.setTimezoneOverride", json!({"timezone": zone, "userContexts": to})));
        }
        self.call_all(commands).await.map(drop)
    }

    /// Evaluates an expression in our world of a document of a tab or frame, whichever it is now.
    async fn evaluate_in(&self, context: &str, expression: &str) -> Result<Value, BackendError> {
        let target = json!({"context": context, "sandbox": WORLD});
        self.evaluate_at(&target, expression, json!({})).await
    }

    /// Evaluates an expression. Returns the answer of the protocol.
    async fn evaluate_at(&self, target: &Value, expression: &str, options: Value) -> Result<Value, BackendError> {
        let mut params = json!({"expression": expression, "target": target, "awaitPromise": true});
        if let (Value::Object(params), Value::Object(options)) = (&mut params, options) {
            params.extend(options);
        }
        self.call("script.evaluate", params).await
    }

    /// Calls a function in a realm, with arguments as the protocol writes them.
    async fn call_function(&self, realm: &Realm, function: &str, arguments: Value) -> Result<Value, BackendError> {
        let params = json!({
            "functionDeclaration": function, "target": {"realm": realm.0}, "arguments": arguments, "awaitPromise": true,
        });
        self.call("script.callFunction", params).await
    }

    /// The tab or frame that a realm belongs to.
    fn context_of(&self, realm: &Realm) -> Result<String, BackendError> {
        let context = self.known.lock().realms.get(&realm.0).map(|known| known.frame.clone());
        context.ok_or_else(|| BackendError::Refused("its page is gone".to_string()))
    }

    /// The element to which an expression evaluates, as an argument of a call.
    async fn element(&self, realm: &Realm, expression: &str) -> Result<Value, BackendError> {
        let shallow = json!({"serializationOptions": {"maxDomDepth": 0, "maxObjectDepth": 0}});
        let answer = self.evaluate_at(&json!({"realm": realm.0}), expression, shallow).await?;
        let id = values::shared_id(&answer).map(|id| json!({"sharedId": id}));
        id.ok_or_else(|| BackendError::Refused("its page is gone".to_string()))
    }

    /// Inserts a text where the focus is, as an input method does. Editors that the page made itself get it key by key, because they
    /// rely on events that a browser sends for keys only.
    async fn insert(&self, tab: &str, text: &str) -> Result<(), BackendError> {
        let insert = format!("({})({})", include_str!("insert.js"), json!(text));
        let mut frame = tab.to_string();
        for _ in 0..tabs::DEPTH {
            let answer = self.evaluate_in(&frame, &insert).await?;
            match answer.pointer("/result/value/context").and_then(Value::as_str) {
                Some(inner) => inner.clone_into(&mut frame),
                None if values::value_of(&answer)? == Value::Bool(true) => return Ok(()),
                None => break,
            }
        }
        self.perform(&frame, input::typing(text)).await
    }

    async fn perform_together(&self, tab: &str, inputs: &[&BrowserInput]) -> Result<(), BackendError> {
        if inputs.is_empty() {
            return Ok(());
        }
        let place = self.place_of(tab, inputs).await?;
        let own: Vec<BrowserInput> = inputs.iter().map(|input| place.within(input)).collect();
        self.perform(&place.frame, input::actions(&own.iter().collect::<Vec<_>>())).await
    }

    async fn perform(&self, frame: &str, actions: Value) -> Result<(), BackendError> {
        if actions.as_array().is_none_or(Vec::is_empty) {
            return Ok(());
        }
        self.call("input.performActions", json!({"context": frame, "actions": actions})).await.map(drop)
    }

    /// Evaluates a script in the page's own world, and awaits what it returns, be it a promise or something like one.
    async fn evaluate_as_user(&self, tab: &str, script: &str) -> Result<Value, BackendError> {
        let options = json!({"userActivation": true, "resultOwnership": "root"});
        let answer = self.evaluate_at(&json!({"context": tab}), script, options).await?;
        let handle = answer.pointer("/result/handle").cloned();
        let value = match &handle {
            Some(handle) if values::is_thenable(&answer) => {
                let realm = Realm(string(&answer, "realm"));
                let awaited = self.call_function(&realm, "async (it) => it", json!([{"handle": handle}])).await;
                awaited.and_then(|awaited| values::value_of(&awaited))
            }
            _ => values::value_of(&answer),
        };
        if let Some(handle) = handle {
            let params = json!({"handles": [handle], "target": {"realm": answer["realm"]}});
            // A document that has gone keeps nothing.
            let _ = self.call("script.disown", params).await;
        }
        value
    }

    /// Whether a page leaves time to answer.
    async fn answers(&self, tab: &str) -> bool {
        tokio::time::timeout(BUSY, self.evaluate_in(tab, "1")).await.is_ok()
    }
}

#[async_trait]
impl Backend for BidiSession {
    async fn evaluate(&self, realm: &Realm, expression: &str) -> Result<Value, BackendError> {
        values::value_of(&self.evaluate_at(&json!({"realm": realm.0}), expression, json!({})).await?)
    }

    /// A script may await at its top, and declare again what an earlier one has declared.
    async fn run_script(&self, tab: &str, script: &str) -> Result<Value, BackendError> {
        let first = self.evaluate_as_user(tab, script).await;
        let Err(BackendError::Threw(why)) = &first else { return first };
        if why.starts_with("SyntaxError: redeclaration of") {
            return self.evaluate_as_user(tab, &format!("{{ {script}\n}}")).await;
        }
        if !(why.starts_with("SyntaxError") && script.contains("await")) {
            return first;
        }
        for wrapped in [format!("(async () => ({script}\n))()"), format!("(async () => {{ {script}\n}})()")] {
            match self.evaluate_as_user(tab, &wrapped).await {
                Err(BackendError::Threw(why)) if why.starts_with("SyntaxError") => {}
                answer => return answer,
            }
        }
        first
    }

    async fn interrupt(&self, tab: &str) -> bool {
        self.answers(tab).await
    }

    async fn set_files(&self, realm: &Realm, element: &str, files: &[String]) -> Result<(), BackendError> {
        let element = self.element(realm, element).await?;
        let params = json!({"context": self.context_of(realm)?, "element": element, "files": files});
        self.call("input.setFiles", params).await.map(drop)
    }

    async fn navigate(&self, tab: &str, url: &str) -> Result<Navigation, BackendError> {
        let params = json!({"context": tab, "url": url, "wait": "none"});
        match self.connection.call("browsingContext.navigate", params).await {
            Ok(answer) => Ok(self.navigated(&string(&answer, "navigation")).await),
            Err(BidiError::Refused { code, message, .. }) if code == "unknown error" => {
                let why = message.strip_prefix("Error: ").unwrap_or(&message).to_string();
                let is_aborted = why.contains("ABORTED");
                Ok(Navigation::Failed { why, is_aborted })
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn stop_loading(&self, tab: &str) -> Result<(), BackendError> {
        self.evaluate_in(tab, "window.stop()").await.map(drop)
    }

    async fn reload(&self, tab: &str) -> Result<(), BackendError> {
        let reload = self.connection.call("browsingContext.reload", json!({"context": tab, "wait": "none"})).await;
        match reload {
            // The page shows why.
            Err(error) if error.is("unknown error") => Ok(()),
            reload => Ok(reload.map(drop)?),
        }
    }

    async fn travel(&self, tab: &str, by: i64) -> Result<bool, BackendError> {
        match self.connection.call("browsingContext.traverseHistory", json!({"context": tab, "delta": by})).await {
            Ok(_) => Ok(true),
            Err(error) if error.is("no such history entry") => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Everything up to a text is one command.
    async fn input(&self, tab: &str, inputs: &[BrowserInput]) -> Result<(), BackendError> {
        let mut together: Vec<&BrowserInput> = Vec::new();
        for input in inputs {
            if let BrowserInput::Text(text) = input {
                self.perform_together(tab, &std::mem::take(&mut together)).await?;
                self.insert(tab, text).await?;
            } else {
                together.push(input);
            }
        }
        self.perform_together(tab, &together).await
    }

    async fn tabs(&self) -> Result<Vec<TabId>, BackendError> {
        Ok(self.known.lock().tabs.clone())
    }

    async fn new_tab(&self) -> Result<TabId, BackendError> {
        let context = self.known.lock().context.clone();
        // It comes to the front once it is there: a page that is busy would keep it from being created in front.
        let create = json!({"type": "tab", "userContext": context, "background": true});
        Ok(string(&self.call("browsingContext.create", create).await?, "context"))
    }

    async fn close_tab(&self, tab: &str) -> Result<(), BackendError> {
        let params = json!({"context": tab, "promptUnload": false});
        self.call("browsingContext.close", params).await.map(drop)
    }

    async fn activate(&self, tab: &str) -> Result<(), BackendError> {
        self.known.lock().front = tab.to_string();
        self.call("browsingContext.activate", json!({"context": tab})).await.map(drop)
    }

    async fn tab_info(&self, tab: &str) -> Result<TabInfo, BackendError> {
        let info = self.evaluate_in(tab, "({url: document.URL, title: document.title})").await?;
        let info = values::value_of(&info)?;
        Ok(TabInfo { url: string(&info, "url"), title: string(&info, "title") })
    }

    async fn emulate(&self, _: &str, emulation: &Emulation) -> Result<(), BackendError> {
        let context = {
            let mut known = self.known.lock();
            known.emulation = emulation.clone();
            known.context.clone()
        };
        self.emulate_in(&context, emulation).await
    }

    async fn frames(&self, tab: &str) -> Result<Vec<FrameInfo>, BackendError> {
        Ok(self.known.lock().frames_of(tab))
    }

    async fn frame_owner(&self, frame: &str, parent: &Realm, function: &str) -> Result<Value, BackendError> {
        let params = json!({
            "context": self.context_of(parent)?, "locator": {"type": "context", "value": {"context": frame}},
            "serializationOptions": {"maxDomDepth": 0},
        });
        let found = self.call("browsingContext.locateNodes", params).await?;
        let owner = found.pointer("/nodes/0/sharedId").cloned();
        let owner = owner.ok_or_else(|| BackendError::Refused("the frame is gone".to_string()))?;
        values::value_of(&self.call_function(parent, function, json!([{"sharedId": owner}])).await?)
    }

    async fn screenshot(&self, tab: &str) -> Result<Vec<u8>, BackendError> {
        let shot = self.call("browsingContext.captureScreenshot", json!({"context": tab})).await?;
        Ok(BASE64_STANDARD.decode(string(&shot, "data")).unwrap_or_default())
    }

    fn end(&self) -> Option<String> {
        self.browser.end().or_else(|| self.connection.is_gone().then(|| BidiError::Gone.to_string()))
    }

    async fn gone(&self) {
        self.connection.gone().await;
    }

    async fn abandon(&self) {
        self.browser.kill().await;
    }

    async fn close(&self) {
        self.browser.close().await;
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
}
