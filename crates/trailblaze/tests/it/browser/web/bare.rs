//! Chromium as a browser without capabilities: no isolated world, no events, no contexts. Our scripts run in the page's own world.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_core::driver::{
    Action, ActionTarget, Budget, DeviceCommand, Driver, DriverError, ObserveOptions, TrailStart,
};
use trailblaze_core::query::{Checks, ElementProperties, Find, Found, Query, QueryTarget, TextMatch};
use trailblaze_drivers::web::backend::{
    Backend, BackendError, BrowserConnector, BrowserEvent, BrowserEventSink, BrowserEvents, Contexts, FrameInfo,
    Interception, IsolatedWorld, Navigation, PageLayout, Realm, Screencasting, Setup, Storage, TabId, TabInfo,
};
use trailblaze_drivers::web::input::BrowserInput;
use trailblaze_drivers::web::{BrowserOptions, Browsers, Emulation, InitialState, Web, web_device};
use trailblaze_protocol::ids::DeviceId;
use trailblaze_supervise::Supervisor;

use crate::support::{PATIENCE, PROGRAM, chromium};

/// Hides what a browser can do.
struct Bare(Arc<Browsers>);

struct BareSession(Arc<dyn Backend>);

struct Deaf;

impl BrowserEventSink for Deaf {
    fn take(&self, _: BrowserEvent) {}

    fn url(&self) -> Option<String> {
        None
    }
}

#[async_trait]
impl BrowserConnector for Bare {
    fn name(&self) -> &'static str {
        "bare Chromium"
    }

    async fn open(&self, setup: Setup, budget: &Budget) -> Result<Arc<dyn Backend>, DriverError> {
        let setup = Setup { script: "0".to_string(), sink: Arc::new(Deaf), ..setup };
        Ok(Arc::new(BareSession(self.0.open(setup, budget).await?)))
    }
}

#[async_trait]
impl Backend for BareSession {
    async fn evaluate(&self, realm: &Realm, expression: &str) -> Result<Value, BackendError> {
        self.0.run_script(&realm.0, expression).await
    }

    async fn run_script(&self, tab: &str, script: &str) -> Result<Value, BackendError> {
        self.0.run_script(tab, script).await
    }

    async fn interrupt(&self, tab: &str) -> bool {
        self.0.interrupt(tab).await
    }

    async fn set_files(&self, _: &Realm, _: &str, _: &[String]) -> Result<(), BackendError> {
        Err(BackendError::Refused("no files".to_string()))
    }

    /// Returns when the document has loaded, as WebDriver does.
    async fn navigate(&self, tab: &str, url: &str) -> Result<Navigation, BackendError> {
        let navigation = self.0.navigate(tab, url).await?;
        let script = format!("location.href === {url:?} && document.readyState");
        while self.0.run_script(tab, &script).await.ok() != Some("complete".into()) {
            tokio::task::yield_now().await;
        }
        Ok(navigation)
    }

    async fn stop_loading(&self, tab: &str) -> Result<(), BackendError> {
        self.0.stop_loading(tab).await
    }

    async fn reload(&self, tab: &str) -> Result<(), BackendError> {
        self.0.reload(tab).await
    }

    async fn travel(&self, tab: &str, by: i64) -> Result<bool, BackendError> {
        self.0.travel(tab, by).await
    }

    async fn input(&self, tab: &str, inputs: &[BrowserInput]) -> Result<(), BackendError> {
        self.0.input(tab, inputs).await
    }

    async fn tabs(&self) -> Result<Vec<TabId>, BackendError> {
        self.0.tabs().await
    }

    async fn new_tab(&self) -> Result<TabId, BackendError> {
        self.0.new_tab().await
    }

    async fn close_tab(&self, tab: &str) -> Result<(), BackendError> {
        self.0.close_tab(tab).await
    }

    async fn activate(&self, tab: &str) -> Result<(), BackendError> {
        self.0.activate(tab).await
    }

    async fn tab_info(&self, tab: &str) -> Result<TabInfo, BackendError> {
        self.0.tab_info(tab).await
    }

    async fn emulate(&self, tab: &str, emulation: &Emulation) -> Result<(), BackendError> {
        self.0.emulate(tab, emulation).await
    }

    /// The realm of the page itself, in the main frame.
    async fn frames(&self, tab: &str) -> Result<Vec<FrameInfo>, BackendError> {
        Ok(vec![FrameInfo { id: tab.to_string(), parent: None, realm: Some(Realm(tab.to_string())) }])
    }

    async fn frame_owner(&self, _: &str, _: &Realm, _: &str) -> Result<Value, BackendError> {
        Err(BackendError::Refused("no frames".to_string()))
    }

    async fn screenshot(&self, tab: &str) -> Result<Vec<u8>, BackendError> {
        self.0.screenshot(tab).await
    }

    fn end(&self) -> Option<String> {
        self.0.end()
    }

    async fn gone(&self) {
        self.0.gone().await;
    }

    async fn abandon(&self) {
        self.0.abandon().await;
    }

    async fn close(&self) {
        self.0.close().await;
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

fn budget() -> Budget {
    Budget::new(Instant::now() + PATIENCE, CancellationToken::new())
}

async fn find(web: &Web, text: &str) -> Result<Found, String> {
    let element = ElementProperties { text: Some(TextMatch::Exact(text.to_string())), ..ElementProperties::default() };
    let query = Query { what: QueryTarget::Element(element), index: None };
    let until = Instant::now() + PATIENCE;
    loop {
        match web.find(&budget(), &query, Checks::Actionable).await.map_err(|error| error.to_string())? {
            Find::Found(found) => return Ok(found),
            Find::Not(why) if Instant::now() > until => return Err(format!("{why:?}")),
            Find::Not(why) => web.changed(&budget(), why.snapshot).await.map_err(|error| error.to_string())?,
        }
    }
}

const FORM: &str = r#"<label for=name>Name</label> <input id=name>
<label for=size>Size</label> <select id=size><option>Small<option>Large</select>
<button id=greet>Greet <b>now</b></button> <p id=out></p>
<div style="height: 3000px"></div> <button id=far>Far away</button>
<script>
  const [output, field, sizes] = ["out", "name", "size"].map((id) => document.getElementById(id));
  document.getElementById("greet").onclick = () => { output.textContent = "Hello " + field.value + ", " + sizes.value; };
  document.getElementById("far").onclick = (event) => { event.target.textContent = "Reached"; };
  const bad = (what) => function () { throw new Error("the page replaced " + what); };
  const replace = (object, names) => { for (let n = 0; n < names.length; n++) if (names[n] in object) object[names[n]] = bad(names[n]); };
  for (const type of [Element, Document, DocumentFragment, Node, HTMLElement, EventTarget, Event]) {
    replace(type.prototype, ["querySelector", "querySelectorAll", "closest", "matches", "getAttribute", "hasAttribute", "getBoundingClientRect",
      "checkVisibility", "contains", "getRootNode", "elementFromPoint", "focus", "scrollIntoView", "dispatchEvent", "addEventListener", "composedPath"]);
  }
  for (const one of [document, window]) replace(one, ["querySelector", "querySelectorAll", "addEventListener", "getComputedStyle", "setTimeout", "requestAnimationFrame"]);
</script>"#;

/// Breaks everything else that a script may use, before any script of ours runs.
const HOSTILE: &str = r#"<script>{
  const names = (object) => Object.getOwnPropertyNames(object).filter((name) => typeof object[name] === "function" && name !== "constructor");
  const [array, math] = [names(Array.prototype), names(Math)];
  replace(String.prototype, ["split", "startsWith", "endsWith", "includes", "replace", "trim", "slice", "match", "toLowerCase", "toUpperCase"]);
  replace(window, ["Map", "Set", "WeakMap", "WeakSet", "WeakRef", "MutationObserver", "DOMRect", "Symbol"]);
  replace(JSON, ["parse", "stringify"]);
  replace(Object, ["keys", "entries", "assign", "defineProperty"]);
  replace(Reflect, ["apply", "defineProperty"]);
  replace(Promise.prototype, ["then", "catch", "finally"]);
  replace(Promise, ["all", "race", "allSettled", "resolve"]);
  replace(Function.prototype, ["call", "apply", "bind", "toString"]);
  replace(RegExp.prototype, ["test", "exec"]);
  replace(performance, ["now"]);
  Object.prototype.toJSON = Array.prototype.toJSON = bad("toJSON");
  replace(Math, math);
  replace(Array.prototype, array);
}</script>"#;

/// Forbids `eval`, so that only the methods of elements can be had from elsewhere.
const STRICT: &str = r#"<meta http-equiv="Content-Security-Policy" content="script-src 'unsafe-inline'">"#;

struct Device {
    web: Web,
    browsers: Arc<Browsers>,
}

impl Device {
    fn new(address: &str) -> Device {
        let options = BrowserOptions { attach: Some(address.to_string()), ..BrowserOptions::default() };
        let browsers = Browsers::new(options, Supervisor::with_guardian(PROGRAM));
        let bare = Arc::new(Bare(Arc::clone(&browsers)));
        let device = web_device(DeviceId::new("web/bare"), None, &[], InitialState::default());
        Device { web: Web::new(&device, bare), browsers }
    }

    async fn act(&self, target: &ActionTarget, action: Action) -> String {
        let acted = self.web.act(&budget(), target, &action).await;
        acted.unwrap_or_else(|error| panic!("{}: {error}", action.name())).text
    }

    async fn send(&self, command: DeviceCommand) -> String {
        let sent = command.carry_out(&self.web, &budget()).await;
        sent.unwrap_or_else(|error| panic!("{}: {error}", command.name())).text
    }

    async fn find(&self, text: &str) -> ActionTarget {
        let found = find(&self.web, text).await;
        ActionTarget::Element(found.unwrap_or_else(|why| panic!("{text}: {why}")))
    }

    async fn use_form(&self, url: &str) {
        self.send(DeviceCommand::OpenUrl { url: url.to_string() }).await;
        self.act(&self.find("Name").await, Action::SetText { text: "Ada".to_string() }).await;
        self.act(&self.find("Size").await, Action::Choose { values: vec!["Large".to_string()] }).await;
        self.act(&self.find("Greet now").await, Action::Tap).await;
        self.find("Hello Ada, Large").await;
        // What is scrolled out of view is scrolled back, which waits for frames.
        self.act(&self.find("Far away").await, Action::Tap).await;
        self.find("Reached").await;
        assert!(self.web.observe(&budget(), ObserveOptions::PICTURE).await.expect("a screen").picture.is_some());
        // Nothing of the frame that lent its built-ins is left.
        let script = "window.length + document.getElementsByTagName('iframe').length".to_string();
        assert_eq!(self.send(DeviceCommand::EvaluateJs { script }).await, "0");
    }
}

#[test]
fn a_page_that_replaces_built_ins_is_used_in_its_own_world() {
    let Some(address) = chromium::shared() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, page: String| {
        let file = folder.path().join(name);
        std::fs::write(&file, page).expect("the page is written");
        format!("file://{}", file.display())
    };
    let hostile = write("hostile.html", format!("<!doctype html><title>Shop</title>{FORM}{HOSTILE}"));
    let strict = write("strict.html", format!("<!doctype html><title>Shop</title>{STRICT}{FORM}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let device = Device::new(address);
        device.use_form(&hostile).await;
        // A session of its own is the isolation.
        device.web.begin_trail(&budget(), &TrailStart::default()).await.expect("a fresh session");
        device.use_form(&strict).await;
        device.web.close().await;
        device.browsers.close().await;
    });
}
