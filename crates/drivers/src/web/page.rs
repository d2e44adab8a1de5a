//! A device's share of the browser: its own context with its tabs, one of which is in front.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures::future::join_all;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::Instant;
use trailblaze_core::driver::{Budget, DriverError};
use trailblaze_core::screen::SnapshotId;
use trailblaze_protocol::geometry::Size;

use super::devtools::browser::Browser;
use super::devtools::cdp::{CdpError, Listener};
use super::devtools::listener::PageListener;
use super::emulation::Emulation;
use super::person::{self, Told};
use super::reviving::Running;
use super::screencast::Screencast;
use super::state::{Shared, State, Tab};

/// The script injected into each document. Its parts share one function.
pub const WALKER: &str = concat!(
    "(() => {\nif (globalThis.trailblaze) return;\n",
    include_str!("walker.js"),
    include_str!("acting.js"),
    include_str!("recorder.js"),
    "})();"
);
pub const WORLD: &str = "trailblaze";
pub const BINDING: &str = "trailblazeChanged";
/// How long a document may take to load before it is used as it is.
const LOADING: Duration = Duration::from_secs(10);
/// How long a look waits for requests that the page made after the last action.
const PENDING: Duration = Duration::from_millis(500);
/// How long a window may take to appear after its page has announced it.
const ANNOUNCED: Duration = Duration::from_secs(1);
/// How long a new tab may take to open.
const OPENING: Duration = Duration::from_secs(10);
/// How long a tab may take to close.
const GOING: Duration = Duration::from_millis(500);

pub struct Page {
    pub browser: Arc<Browser>,
    /// Changes when the device starts over.
    context: Arc<Mutex<String>>,
    pub shared: Arc<Shared>,
    listener: Arc<dyn Listener>,
    /// What the device emulates when it starts, and now.
    start: Emulation,
    emulation: Mutex<Emulation>,
    /// Whether nothing was done in the context yet.
    is_fresh: AtomicBool,
}

/// Where to evaluate something: the walker's world in a document.
#[derive(Debug, Clone, PartialEq)]
pub struct World {
    pub session: String,
    pub context: i64,
}

impl Page {
    /// Creates a context with one empty tab.
    pub async fn open(
        browser: Arc<Browser>,
        emulation: Emulation,
        screencast: &Arc<Screencast>,
        budget: &Budget,
    ) -> Result<Arc<Page>, DriverError> {
        let cdp = Arc::clone(&browser.cdp);
        let context = Arc::new(Mutex::new(new_context(&browser, budget).await?));
        let shared = Arc::new(Shared::default());
        let page = Arc::new_cyclic(|page: &Weak<Page>| Page {
            listener: Arc::new(PageListener {
                shared: Arc::clone(&shared),
                cdp: Arc::clone(&cdp),
                context: Arc::clone(&context),
                page: page.clone(),
                downloads: browser.downloads.clone(),
                screencast: Arc::clone(screencast),
            }),
            browser,
            context,
            shared,
            start: emulation.clone(),
            emulation: Mutex::new(emulation),
            is_fresh: AtomicBool::new(true),
        });
        cdp.listen_to_browser(&page.listener);
        page.browser.add(&page);
        page.new_tab(budget).await?;
        screencast.opened(&page);
        Ok(page)
    }

    /// Replaces the context by a new one with one empty tab: nothing that pages left behind stays, and the window is as it
    /// was at the start. The old context ends by itself, whatever its pages do.
    pub async fn start_over(&self, budget: &Budget) -> Result<(), DriverError> {
        let context = new_context(&self.browser, budget).await?;
        let old = std::mem::replace(&mut *self.context.lock(), context);
        *self.emulation.lock() = self.start.clone();
        let left: Vec<(String, String)> = self.shared.bump(|state| {
            state.forget_pages();
            state.sessions.clone().into_iter().collect()
        });
        let opened = self.new_tab(budget).await;
        for (session, _) in &left {
            self.browser.cdp.forget(session);
        }
        self.shared.bump(|state| {
            state.opening = None;
            left.iter().for_each(|(_, target)| state.close_tab(target));
        });
        let cdp = Arc::clone(&self.browser.cdp);
        tokio::spawn(async move {
            let dispose = cdp.call(None, "Target.disposeBrowserContext", json!({"browserContextId": old}));
            tokio::time::timeout(OPENING, dispose).await
        });
        opened?;
        self.is_fresh.store(true, Ordering::Relaxed);
        Ok(())
    }

    pub fn is_fresh(&self) -> bool {
        self.is_fresh.load(Ordering::Relaxed)
    }

    /// Notes that something is done in the context.
    pub fn use_context(&self) {
        self.is_fresh.store(false, Ordering::Relaxed);
    }

    /// Opens a tab and brings it to the front. New tabs are attached when their event arrives, no matter what opened them.
    pub async fn new_tab(&self, budget: &Budget) -> Result<(), DriverError> {
        let context = self.context.lock().clone();
        let params = json!({"url": "about:blank", "browserContextId": context});
        let made = budget.run("a new tab", self.browser.cdp.call(None, "Target.createTarget", params)).await?;
        let target = string(&made.map_err(|error| self.wrong(error))?, "targetId");
        let is_there = |state: &State| state.tabs.iter().any(|tab| tab.target == target && tab.is_ready);
        match self.wait(budget, budget.deadline.min(Instant::now() + OPENING), is_there).await? {
            true => Ok(()),
            false => Err(DriverError::TimedOut { what: "a new tab to open".to_string() }),
        }
    }

    /// Attaches to a new tab and brings it to the front, as a browser does.
    pub(super) async fn adopt(&self, target: String, opener: Option<String>, context: &str) {
        self.attach(&target, opener, context).await;
        self.shared.bump(|state| state.adopting.remove(&target));
    }

    async fn attach(&self, target: &str, opener: Option<String>, context: &str) {
        let params = json!({"targetId": target, "flatten": true});
        let Ok(attached) = self.browser.cdp.call(None, "Target.attachToTarget", params).await else { return };
        let session = string(&attached, "sessionId");
        let mut tab = Tab::new(target, &session, opener);
        // The main frame of a page has the same id as its target.
        tab.main_frame = target.to_string();
        tab.frame(target);
        // Registered before its events arrive; moved to the front only when it is set up.
        self.shared.bump(|state| {
            state.sessions.insert(session.clone(), target.to_string());
            state.tabs.push(tab);
        });
        self.listen(&session);
        self.set_up(&session).await;
        self.fit_window(target).await;
        let is_left = *self.context.lock() != context;
        self.shared.bump(|state| {
            if is_left {
                state.close_tab(target);
            } else if let Some(tab) = state.tabs.iter_mut().find(|tab| tab.target == target) {
                tab.is_ready = true;
                let has_opener = tab.opener.is_some();
                state.front = target.to_string();
                state.tell_person(|_| Some(Told::Opened { target: target.to_string(), has_opener }));
            }
        });
    }

    /// Makes a window that is shown as large as its page, so that people see all of it.
    async fn fit_window(&self, target: &str) {
        if !self.browser.is_headed {
            return;
        }
        let Size { width, height } = self.emulation().size;
        let window = self.browser.cdp.call(None, "Browser.getWindowForTarget", json!({"targetId": target})).await;
        // A screen may be too small for it.
        if let Ok(window) = window {
            let params = json!({"windowId": window["windowId"], "width": width, "height": height});
            let _ = self.browser.cdp.call(None, "Browser.setContentsSize", params).await;
        }
    }

    pub(super) fn listen(&self, session: &str) {
        self.browser.cdp.listen(session, &self.listener);
    }

    /// Enables the events that we need in a session, and injects the walker into each document.
    pub(super) async fn set_up(&self, session: &str) {
        let script = json!({"source": WALKER, "worldName": WORLD, "runImmediately": true});
        let attach = json!({"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true});
        let mut commands = vec![
            ("Page.enable", json!({})),
            ("Runtime.enable", json!({})),
            ("Network.enable", json!({"maxPostDataSize": 4096})),
            ("Runtime.addBinding", json!({"name": BINDING, "executionContextName": WORLD})),
            ("Page.addScriptToEvaluateOnNewDocument", script),
            ("Target.setAutoAttach", attach),
        ];
        if self.shared.state().person.is_some() {
            commands.extend(person::record());
        }
        if self.shared.state().sessions.contains_key(session) {
            commands.extend(self.emulation().commands());
        }
        // Sent in one go, executed in order.
        let calls = commands.into_iter().map(|(method, params)| self.browser.cdp.call(Some(session), method, params));
        join_all(calls).await;
        let Ok(tree) = self.browser.cdp.call(Some(session), "Page.getFrameTree", json!({})).await else { return };
        self.shared.bump(|state| {
            if let Some(tab) = state.tab_of(session) {
                plant(tab, &tree["frameTree"], session);
            }
        });
    }

    pub async fn emulate(&self, budget: &Budget, size: Size) -> Result<(), DriverError> {
        let emulation = {
            let mut emulation = self.emulation.lock();
            emulation.size = size;
            emulation.clone()
        };
        for (method, params) in emulation.commands() {
            self.command(budget, method, params).await?;
        }
        Ok(())
    }

    /// Whether it is touched with a finger.
    pub fn is_mobile(&self) -> bool {
        self.emulation.lock().is_mobile
    }

    fn emulation(&self) -> Emulation {
        self.emulation.lock().clone()
    }

    /// Sends a command to the front tab, and converts errors for the engine.
    pub async fn command(&self, budget: &Budget, method: &str, params: Value) -> Result<Value, DriverError> {
        let session = self.session()?;
        self.command_to(budget, &session, method, params).await
    }

    pub async fn command_to(
        &self,
        budget: &Budget,
        session: &str,
        method: &str,
        params: Value,
    ) -> Result<Value, DriverError> {
        let answer = budget.run(method, self.browser.cdp.call(Some(session), method, params)).await?;
        answer.map_err(|error| self.wrong(error))
    }

    /// Sends input in one go; it arrives in order. If the tab closes because of it, the input has arrived.
    pub async fn commands(&self, budget: &Budget, all: Vec<(&str, Value)>) -> Result<(), DriverError> {
        let session = self.session()?;
        let what = all.last().map_or("nothing", |(method, _)| *method);
        let calls = all.iter().map(|(method, params)| self.browser.cdp.call(Some(&session), method, params.clone()));
        let answers = budget.run(what, join_all(calls)).await?;
        match answers.into_iter().find_map(Result::err) {
            Some(CdpError::Refused { .. }) if !self.has(&session) => Ok(()),
            Some(error) => Err(self.wrong(error)),
            None => Ok(()),
        }
    }

    pub fn session(&self) -> Result<String, DriverError> {
        let state = self.shared.state();
        let tab = state.front().ok_or_else(|| DriverError::Refused { reason: "all tabs are closed".to_string() })?;
        Ok(tab.session.clone())
    }

    /// Whether a session is about to end, which makes it refuse every command.
    pub async fn goes(&self, budget: &Budget, session: &str) -> Result<bool, DriverError> {
        let until = budget.deadline.min(Instant::now() + GOING);
        self.wait(budget, until, |state| !state.sessions.contains_key(session)).await
    }

    /// Whether the session still has a tab.
    fn has(&self, session: &str) -> bool {
        self.shared.state().tabs.iter().any(|tab| tab.session == session)
    }

    pub fn wrong(&self, error: CdpError) -> DriverError {
        match self.end() {
            Some(evidence) => DriverError::Lost { evidence },
            None if error == CdpError::Gone => DriverError::Lost { evidence: error.to_string() },
            None => DriverError::Refused { reason: error.to_string() },
        }
    }

    fn end(&self) -> Option<String> {
        let state = self.shared.state();
        let crashed = state.front().filter(|tab| tab.is_crashed).map(|tab| match &tab.killed_for {
            Some(why) => format!("the page {} was ended: {why}", tab.url),
            None => "the page crashed".to_string(),
        });
        drop(state);
        crashed.or_else(|| self.browser.end())
    }

    /// Waits for a document that is loading, and for requests that the page has made since the last action. Relies on
    /// events alone, and only for a limited time.
    pub async fn settle(&self, budget: &Budget) -> Result<(), DriverError> {
        let opening = self.shared.state().opening;
        if let Some(at) = opening {
            // No event reports that an announced window does not appear after all.
            self.wait(budget, budget.deadline.min(at + ANNOUNCED), |state| state.opening.is_none()).await?;
            self.shared.state().opening = None;
        }
        self.wait_for_load(budget).await?;
        let acted_at = self.shared.state().acted_at;
        if let Some(until) = acted_at.map(|at| at + PENDING).filter(|until| *until > Instant::now()) {
            let is_answered = |state: &State| state.front().is_none_or(|tab| tab.pending.is_empty());
            self.wait(budget, budget.deadline.min(until), is_answered).await?;
            // An answer often leads to another document.
            self.wait_for_load(budget).await?;
        }
        match self.end() {
            Some(evidence) => Err(DriverError::Lost { evidence }),
            None => Ok(()),
        }
    }

    /// Waits until the front document has loaded, including its scripts and pictures. A document that takes too long is
    /// waited for once, not again by each look.
    async fn wait_for_load(&self, budget: &Budget) -> Result<(), DriverError> {
        let most = budget.wait.unwrap_or(LOADING);
        let is_loaded = |state: &State| {
            if !state.adopting.is_empty() {
                return false;
            }
            let Some(tab) = state.front() else { return true };
            let has_loaded = tab.loading_since.is_none_or(|since| since.elapsed() >= most);
            tab.is_crashed || has_loaded && tab.main().is_some_and(|frame| frame.world.is_some())
        };
        let since = self.shared.state().front().and_then(|tab| tab.loading_since);
        let now = Instant::now();
        let until = since.map(|since| since + most).filter(|until| *until > now).unwrap_or(now + LOADING);
        self.wait(budget, budget.deadline.min(until), is_loaded).await.map(drop)
    }

    /// Waits until a condition on the known state holds, or the time is up.
    pub async fn wait(
        &self,
        budget: &Budget,
        until: Instant,
        holds: impl Fn(&State) -> bool,
    ) -> Result<bool, DriverError> {
        loop {
            let changed = self.shared.changed.notified();
            tokio::pin!(changed);
            // Subscribes before checking, so that no change in between is missed.
            changed.as_mut().enable();
            if holds(&self.shared.state()) {
                return Ok(true);
            }
            if let Some(evidence) = self.browser.end() {
                return Err(DriverError::Lost { evidence });
            }
            tokio::select! {
                biased;
                () = budget.cancel.cancelled() => return Err(DriverError::Cancelled),
                () = changed => {}
                () = self.browser.cdp.gone() => {}
                () = tokio::time::sleep_until(until) => return Ok(false),
            }
        }
    }

    /// Evaluates an expression in the walker's world of the main document. If the document is replaced meanwhile,
    /// continues in the new one.
    pub async fn ask(&self, budget: &Budget, expression: &str) -> Result<Value, DriverError> {
        loop {
            let world = self.main_world(budget).await?;
            match self.ask_in(budget, &world, expression).await? {
                Some(value) => return Ok(value),
                None => self.settle(budget).await?,
            }
        }
    }

    pub async fn main_world(&self, budget: &Budget) -> Result<World, DriverError> {
        let find = |state: &State| {
            let frame = state.front()?.main()?;
            Some(World { session: frame.session.clone(), context: frame.world? })
        };
        let found = find(&self.shared.state());
        if let Some(world) = found {
            return Ok(world);
        }
        self.settle(budget).await?;
        let found = find(&self.shared.state());
        found.ok_or_else(|| match self.session() {
            Ok(_) => DriverError::TimedOut { what: "the page to load".to_string() },
            Err(error) => error,
        })
    }

    /// Evaluates in one document; `None` if the document is gone.
    pub async fn ask_in(&self, budget: &Budget, world: &World, expression: &str) -> Result<Option<Value>, DriverError> {
        let params = json!({
            "expression": expression, "contextId": world.context, "returnByValue": true, "awaitPromise": true,
        });
        let call = self.browser.cdp.call(Some(&world.session), "Runtime.evaluate", params);
        // A process that is gone does not answer.
        let crash = self.wait(budget, budget.deadline, |state| state.front().is_some_and(|tab| tab.is_crashed));
        let answered = tokio::select! {
            biased;
            answered = budget.run("the page to answer", call) => answered,
            Ok(true) = crash => return Err(DriverError::Lost { evidence: self.end().unwrap_or_default() }),
        };
        let answer = match answered {
            Ok(answer) => answer,
            Err(DriverError::TimedOut { .. }) => {
                let what = "the page to answer; its scripts may keep it busy".to_string();
                return Err(DriverError::TimedOut { what });
            }
            Err(error) => return Err(error),
        };
        match answer {
            Ok(answer) => value_of(&answer).map(Some),
            // Only a document that is gone refuses; the event may arrive later.
            Err(CdpError::Refused { .. }) => {
                self.shared.bump(|state| {
                    if let Some(tab) = state.tab_of(&world.session) {
                        tab.forget_world(&world.session, Some(world.context));
                    }
                });
                Ok(None)
            }
            Err(error) => Err(self.wrong(error)),
        }
    }

    /// Waits until the page has drawn a frame. Does not follow a page that is replaced meanwhile.
    pub async fn next_frame(&self, budget: &Budget) -> Result<(), DriverError> {
        let world = {
            let state = self.shared.state();
            let frame = state.front().and_then(|tab| tab.main());
            frame.and_then(|frame| Some(World { session: frame.session.clone(), context: frame.world? }))
        };
        if let Some(world) = world {
            self.ask_in(budget, &world, "trailblaze.frame()").await?;
        }
        Ok(())
    }

    /// Evaluates a user's script in the page's own world.
    pub async fn evaluate(&self, budget: &Budget, script: &str) -> Result<Value, DriverError> {
        self.settle(budget).await?;
        let params = json!({"expression": script, "awaitPromise": true, "userGesture": true, "replMode": true});
        let session = self.session()?;
        let mut running = Running { cdp: Arc::clone(&self.browser.cdp), session: session.clone(), has_ended: false };
        let call = |method, params| {
            let answer = budget.run("the script to end", self.browser.cdp.call(Some(&session), method, params));
            async { answer.await?.map_err(|error| self.wrong(error)) }
        };
        let mut answer = call("Runtime.evaluate", params).await?;
        // With `replMode`, a promise that is the value of the script is not awaited.
        let object = answer.pointer("/result/objectId").filter(|_| answer.get("exceptionDetails").is_none()).cloned();
        if let Some(object) = object {
            let itself = "function() { return this }";
            let params = json!({
                "objectId": object, "functionDeclaration": itself, "returnByValue": true, "awaitPromise": true,
            });
            answer = call("Runtime.callFunctionOn", params).await?;
            call("Runtime.releaseObject", json!({"objectId": object})).await?;
        }
        running.has_ended = true;
        value_of(&answer)
    }

    pub fn commits(&self) -> u64 {
        self.shared.state().front().map_or(0, |tab| tab.commits)
    }

    pub fn version(&self) -> SnapshotId {
        SnapshotId(self.shared.state().version)
    }

    /// Notes that an action may change the page, before any event reports it.
    pub fn touch(&self) {
        self.shared.bump(|state| {
            state.acted_at = Some(Instant::now());
            state.tabs.iter_mut().for_each(|tab| tab.pending.clear());
        });
    }

    /// Notes that a document is loading, before the browser reports it.
    pub fn expect_document(&self, is_expected: bool) {
        self.shared.bump(|state| {
            let front = state.front.clone();
            if let Some(tab) = state.tabs.iter_mut().find(|tab| tab.target == front) {
                tab.loading_since = is_expected.then(Instant::now);
            }
        });
    }

    pub async fn close(&self) {
        self.shared.state().person = None;
        let context = self.context.lock().clone();
        let dispose = self.browser.cdp.call(None, "Target.disposeBrowserContext", json!({"browserContextId": context}));
        let _ = tokio::time::timeout(Duration::from_secs(2), dispose).await;
    }
}

/// Creates a context, whose downloads are reported.
async fn new_context(browser: &Browser, budget: &Budget) -> Result<String, DriverError> {
    let lost = |error: CdpError| DriverError::NotStarted { evidence: format!("no tab could be opened: {error}") };
    let budget = Budget { deadline: budget.deadline.min(Instant::now() + OPENING), ..budget.clone() };
    let made = browser.cdp.call(None, "Target.createBrowserContext", json!({"disposeOnDetach": true}));
    let context = string(&budget.run("a new context", made).await?.map_err(lost)?, "browserContextId");
    let behaviour = json!({
        "behavior": "allowAndName", "browserContextId": context, "downloadPath": browser.downloads,
        "eventsEnabled": true,
    });
    let allowed = browser.cdp.call(None, "Browser.setDownloadBehavior", behaviour);
    budget.run("a new context", allowed).await?.map_err(lost)?;
    Ok(context)
}

/// Extracts the frames from a frame tree.
fn plant(tab: &mut Tab, tree: &Value, session: &str) {
    let id = string(&tree["frame"], "id");
    let frame = tab.frame(&id);
    frame.session = session.to_string();
    if let Some(parent) = tree.pointer("/frame/parentId").and_then(Value::as_str) {
        frame.parent = Some(parent.to_string());
    }
    for child in tree.get("childFrames").and_then(Value::as_array).into_iter().flatten() {
        plant(tab, child, session);
    }
}

pub fn string(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_string()
}

fn value_of(answer: &Value) -> Result<Value, DriverError> {
    if let Some(thrown) = answer.get("exceptionDetails") {
        let text = thrown.pointer("/exception/description").or_else(|| thrown.get("text"));
        let text = text.and_then(Value::as_str).unwrap_or("an error without a message");
        let reason = format!("the script threw: {}", text.lines().next().unwrap_or_default());
        return Err(DriverError::Refused { reason });
    }
    Ok(answer.pointer("/result/value").cloned().unwrap_or_default())
}
