//! What pages need from a browser. A backend speaks one protocol; the rest of `web` knows none. Ids are opaque: only the backend that
//! gave them knows what they mean.
//!
//! A backend must have what [`Backend`] requires. Everything else is a capability that it has or has not; `fallbacks.rs` says what
//! happens without it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use trailblaze_core::driver::{Budget, DisplayedText, DriverError, LateFile};
use trailblaze_core::limits;
use trailblaze_protocol::geometry::Size;

use super::backend_world::{CredentialsQuestion, HeldRequest, TrafficEvent};
pub use super::backend_world::{OriginStorage, PageConditions, Routing};
use super::emulation::Emulation;
use super::input::{BrowserInput, Spot};

pub type TabId = String;
pub type FrameId = String;

/// Where a script is evaluated: the global object of one document, or a world of our own in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Realm(pub String);

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BackendError {
    #[error("the browser is gone")]
    Gone,
    #[error("{0}")]
    Refused(String),
    #[error("the script threw: {0}")]
    Threw(String),
}

/// Where devices get their browsers from.
#[async_trait]
pub trait BrowserConnector: Send + Sync {
    /// A name for people: `Chromium`.
    fn name(&self) -> &'static str;

    /// A session of its own, without a tab. It shares nothing with others that pages can see.
    async fn open(&self, setup: Setup, budget: &Budget) -> Result<Arc<dyn Backend>, DriverError>;

    /// How long a session may take to open.
    fn opening_limit(&self) -> Duration {
        limits::DRIVER_COMMAND
    }

    /// Whether others wait for sessions: one is opened before its trail starts, and ended as soon as the trail has ended.
    fn has_few_sessions(&self) -> bool {
        false
    }

    /// Ends what was made ready for a session that is not opened.
    async fn close(&self) {}
}

/// What a session starts with.
pub struct Setup {
    pub emulation: Emulation,
    /// Runs in an isolated world of each document, if the browser has those, before the document's own scripts.
    pub script: String,
    /// The function that the script may call there, with a text, to send [`BrowserEvent::Message`].
    pub channel: &'static str,
    /// Receives events, if the backend has them.
    pub sink: Arc<dyn BrowserEventSink>,
}

/// A device's session with a browser. The caller limits how long a method may take, by dropping its future.
#[async_trait]
pub trait Backend: Send + Sync {
    // Evaluate.

    /// Evaluates an expression, awaits it if it is a promise, and returns its value. `Refused` if the realm is gone.
    async fn evaluate(&self, realm: &Realm, expression: &str) -> Result<Value, BackendError>;
    /// Runs a script of a user in the page's own realm, and returns its value. It ends when the future is dropped, if possible.
    async fn run_script(&self, tab: &str, script: &str) -> Result<Value, BackendError>;
    /// Stops scripts that keep a page busy. False if the page is busy nevertheless.
    async fn interrupt(&self, tab: &str) -> bool;
    /// Sets the files of a file field, to which an expression evaluates. `Refused` if it is none.
    async fn set_files(&self, realm: &Realm, element: &str, files: &[String]) -> Result<(), BackendError>;

    // Navigate.

    async fn navigate(&self, tab: &str, url: &str) -> Result<Navigation, BackendError>;
    async fn stop_loading(&self, tab: &str) -> Result<(), BackendError>;
    async fn reload(&self, tab: &str) -> Result<(), BackendError>;
    /// Goes back (-1) or forward (1). False if there is no such page.
    async fn travel(&self, tab: &str, by: i64) -> Result<bool, BackendError>;

    // Input.

    /// Makes input arrive in this order.
    async fn input(&self, tab: &str, inputs: &[BrowserInput]) -> Result<(), BackendError>;

    // Tabs.

    /// All tabs, in the order in which they were opened.
    async fn tabs(&self) -> Result<Vec<TabId>, BackendError>;
    /// Opens an empty tab.
    async fn new_tab(&self) -> Result<TabId, BackendError>;
    async fn close_tab(&self, tab: &str) -> Result<(), BackendError>;
    /// Brings a tab to the front.
    async fn activate(&self, tab: &str) -> Result<(), BackendError>;
    async fn tab_info(&self, tab: &str) -> Result<TabInfo, BackendError>;
    /// Emulates a device in a tab, and in all later ones, as far as the browser can.
    async fn emulate(&self, tab: &str, emulation: &Emulation) -> Result<(), BackendError>;

    // Frames.

    /// All frames of a tab, the main one first.
    async fn frames(&self, tab: &str) -> Result<Vec<FrameInfo>, BackendError>;
    /// Calls a function with the element that contains a frame, in the realm of its parent.
    async fn frame_owner(&self, frame: &str, parent: &Realm, function: &str) -> Result<Value, BackendError>;
    /// Calls a function with an element, as `this`, and its closed shadow root. False if it has none that can be had.
    async fn open_shadow_root(&self, realm: &Realm, host: &str, function: &str) -> Result<bool, BackendError> {
        match self.isolated_world() {
            Some(isolated) => isolated.open_root(realm, host, function).await,
            None => Ok(false),
        }
    }
    /// What is asked for again and again while nothing reports it: a backend overrides this to do so in fewer requests. If the tab in
    /// front is gone, the frames are those of the last one.
    async fn survey(&self, front: Option<&str>) -> Result<TabSurvey, BackendError> {
        let tabs = self.tabs().await?;
        let front = front.filter(|front| tabs.iter().any(|tab| tab == front)).or(tabs.last().map(String::as_str));
        let Some(front) = front else { return Ok(TabSurvey { tabs, frames: Vec::new(), is_loaded: true }) };
        let frames = self.frames(front).await?;
        let state = match frames.iter().find(|frame| frame.parent.is_none()).and_then(|main| main.realm.as_ref()) {
            Some(realm) => self.evaluate(realm, "document.readyState").await?,
            None => Value::Null,
        };
        Ok(TabSurvey { tabs, frames, is_loaded: state == "complete" })
    }

    // Screenshot.

    /// A picture of what a tab shows, as PNG.
    async fn screenshot(&self, tab: &str) -> Result<Vec<u8>, BackendError>;

    // Its life.

    /// How the browser ended, if it has.
    fn end(&self) -> Option<String>;
    /// Completes when the browser is gone.
    async fn gone(&self);
    /// Ends a browser that cannot be used any more, so that the next session gets another one.
    async fn abandon(&self);
    /// Ends the session.
    async fn close(&self);
    /// What others keep of the session, once it has ended.
    fn late_files(&self) -> Vec<LateFile> {
        Vec::new()
    }

    // Capabilities.

    fn isolated_world(&self) -> Option<&dyn IsolatedWorld>;
    fn interception(&self) -> Option<&dyn Interception>;
    fn events(&self) -> Option<&dyn BrowserEvents>;
    /// How dialogs are answered that a command meets. A browser that reports them needs none.
    fn dialogs(&self) -> Option<&dyn DialogControl> {
        None
    }
    fn contexts(&self) -> Option<&dyn Contexts>;
    fn storage(&self) -> Option<&dyn Storage>;
    fn layout(&self) -> Option<&dyn PageLayout>;
    fn screencasting(&self) -> Option<&dyn Screencasting>;

    fn routing(&self) -> Option<&dyn Routing> {
        None
    }

    fn page_conditions(&self) -> Option<&dyn PageConditions> {
        None
    }

    fn origin_storage(&self) -> Option<&dyn OriginStorage> {
        None
    }
}

/// What became of a navigation.
#[derive(Debug, Clone, PartialEq)]
pub enum Navigation {
    /// Another document comes, or has come.
    Document,
    /// The document stays: only the fragment changed, or the address is a download.
    SameDocument,
    /// Nothing was opened. A download may look like one that was aborted.
    Failed { why: String, is_aborted: bool },
}

#[derive(Debug, Clone, PartialEq)]
pub struct TabInfo {
    pub url: String,
    pub title: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FrameInfo {
    pub id: FrameId,
    pub parent: Option<FrameId>,
    /// `None` if nothing can be evaluated there yet.
    pub realm: Option<Realm>,
}

/// The tabs, and what the one in front is like.
#[derive(Debug, Clone, PartialEq)]
pub struct TabSurvey {
    /// In the order in which they were opened.
    pub tabs: Vec<TabId>,
    /// The frames of the tab in front, the main one first.
    pub frames: Vec<FrameInfo>,
    /// Whether its document has loaded.
    pub is_loaded: bool,
}

/// Whose world a script runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExecutionWorld {
    /// That of our scripts, which the page does not see.
    Isolated,
    Page,
}

/// Which documents a script is for: those of one tab, or of all tabs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptScope<'a> {
    Tab(&'a str),
    Session,
}

/// Scripts of ours run in a world of their own, which a page cannot see or change, before its own scripts.
#[async_trait]
pub trait IsolatedWorld: Send + Sync {
    /// Runs a script in the present documents and in all later ones.
    async fn add_script(&self, scope: ScriptScope<'_>, world: ExecutionWorld, script: &str)
    -> Result<(), BackendError>;
    /// Makes the world of a frame whose document has none because a script wrote it. Its realm has no script of ours.
    async fn make_realm(&self, frame: &str) -> Result<Realm, BackendError>;
    /// Calls a function with an element, as `this`, and its closed shadow root. False if it has none.
    async fn open_root(&self, realm: &Realm, host: &str, function: &str) -> Result<bool, BackendError>;
    /// Where the file is that an expression evaluates to. `None` if the browser does not say.
    async fn file_path(&self, realm: &Realm, file: &str) -> Result<Option<String>, BackendError> {
        let _ = (realm, file);
        Ok(None)
    }
}

/// What a browser would do itself, or with the network, goes through us.
#[async_trait]
pub trait Interception: Send + Sync {
    /// Reports native drags ([`BrowserEvent::DragBegun`]) instead of carrying them out.
    async fn intercept_drags(&self, tab: &str, is_on: bool) -> Result<(), BackendError>;
    async fn drag(&self, tab: &str, step: DragStep, at: Spot, data: &Value) -> Result<(), BackendError>;
    /// Reports file choosers ([`BrowserEvent::ChooserOpened`]) instead of showing them.
    async fn intercept_choosers(&self, tab: &str, is_on: bool) -> Result<(), BackendError>;
    async fn choose_files(&self, chooser: &Value, files: &[String]) -> Result<(), BackendError>;
    async fn set_offline(&self, tab: &str, is_offline: bool) -> Result<(), BackendError>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DragStep {
    Enter,
    Over,
    Drop,
}

/// The browser reports what happens, to the sink of [`Setup`]: tabs, frames, documents, dialogs, requests and the like.
#[async_trait]
pub trait BrowserEvents: Send + Sync {
    async fn answer_dialog(&self, dialog: &str, accept: bool, text: &str) -> Result<(), BackendError>;
    /// Whether no device of this browser has asked about this dialog before.
    fn is_new_dialog(&self, dialog: &str) -> bool;
    /// Ends the process of a page, which is reported as a crash. May never return.
    async fn crash(&self, tab: &str) -> Result<(), BackendError>;
    async fn history(&self, tab: &str) -> Result<TabHistory, BackendError>;
}

/// A browser that reports nothing has dialogs nevertheless: a command meets one, reports it, and goes on once it is answered.
#[async_trait]
pub trait DialogControl: Send + Sync {
    async fn answer_dialog(&self, dialog: &str, accept: bool, text: &str) -> Result<(), BackendError>;
    /// Whether this dialog was not met before.
    fn is_new_dialog(&self, dialog: &str) -> bool;
}

/// The history of a tab.
#[derive(Debug, Clone, PartialEq)]
pub struct TabHistory {
    pub index: i64,
    /// The ids of its entries.
    pub entries: Vec<i64>,
}

/// A session can begin again without cookies, storage and tabs.
#[async_trait]
pub trait Contexts: Send + Sync {
    /// Begins a new context: new tabs belong to it, and what is emulated is as it was at the start.
    async fn begin(&self) -> Result<OldContext, BackendError>;
    /// Ends an old one, whatever its pages do. Does not wait for that.
    fn end(&self, old: OldContext);
}

#[derive(Debug, Clone, PartialEq)]
pub struct OldContext {
    pub id: String,
    pub tabs: Vec<TabId>,
}

/// Cookies and storage.
#[async_trait]
pub trait Storage: Send + Sync {
    /// All cookies, as a storage state has them.
    async fn cookies(&self, tab: &str) -> Result<Vec<Value>, BackendError>;
    async fn set_cookies(&self, tab: &str, cookies: &[Value]) -> Result<(), BackendError>;
    /// Removes all cookies and, with an origin, everything that it has stored.
    async fn clear(&self, tab: &str, origin: Option<&str>) -> Result<(), BackendError>;
}

/// The browser tells where it has laid out texts.
#[async_trait]
pub trait PageLayout: Send + Sync {
    /// All texts that a tab displays, including those that are no elements.
    async fn displayed_texts(&self, tab: &str) -> Result<Vec<DisplayedText>, BackendError>;
}

/// The browser sends pictures of a tab as it changes ([`BrowserEvent::Picture`]). Started again, it sends what the tab shows now.
#[async_trait]
pub trait Screencasting: Send + Sync {
    async fn start(&self, tab: &str) -> Result<(), BackendError>;
    async fn stop(&self, tab: &str) -> Result<(), BackendError>;
}

/// Receives what a browser reports, in order. Must not block.
pub trait BrowserEventSink: Send + Sync {
    fn take(&self, event: BrowserEvent);
    /// The address that the device shows.
    fn url(&self) -> Option<String>;
}

/// What a browser reports.
#[derive(Debug, Clone, PartialEq)]
pub enum BrowserEvent {
    /// The screen may have changed, or something that has no event of its own happened.
    Changed,
    /// A page announced that it opens a window.
    WindowAnnounced,
    /// A tab exists, but cannot be used yet.
    TabAppeared {
        tab: TabId,
    },
    /// Its events follow.
    TabAttached {
        tab: TabId,
        main_frame: FrameId,
        opener: Option<TabId>,
    },
    /// It is set up, or could not be. One that is not kept belongs to a context that has ended.
    TabOpened {
        tab: TabId,
        is_kept: bool,
    },
    TabClosed {
        tab: TabId,
    },
    /// A frame exists, or is now known to be in another one.
    FrameSeen {
        tab: TabId,
        frame: FrameId,
        parent: Option<FrameId>,
    },
    FrameRemoved {
        tab: TabId,
        frame: FrameId,
    },
    RealmCreated {
        tab: TabId,
        frame: FrameId,
        realm: Realm,
    },
    RealmGone {
        tab: TabId,
        realm: Realm,
    },
    /// The main frame loads something.
    Loading {
        tab: TabId,
    },
    /// The page itself asked for another document.
    NavigationRequested {
        tab: TabId,
    },
    /// A navigation began: `differentDocument`, `reload`, `historyDifferentDocument` and the like.
    NavigationStarted {
        tab: TabId,
        kind: String,
        url: String,
    },
    /// A document arrived in the main frame. It is whole if it comes from the back-forward cache.
    Committed {
        tab: TabId,
        frame: FrameId,
        url: String,
        is_whole: bool,
    },
    /// The address changed within the document.
    NavigatedWithinDocument {
        tab: TabId,
    },
    /// The document of the main frame has loaded.
    Loaded {
        tab: TabId,
    },
    Crashed {
        tab: TabId,
        why: Option<String>,
    },
    CrashEnded {
        tab: TabId,
    },
    DialogOpened(Dialog),
    DialogClosed {
        is_accepted: bool,
        text: String,
    },
    ChooserOpened {
        chooser: Value,
    },
    DragBegun {
        data: Value,
    },
    DownloadBegan {
        id: String,
        name: String,
        file: PathBuf,
    },
    DownloadEnded {
        id: String,
        is_whole: bool,
    },
    /// A line of the console: its kind, such as `error`, and its text.
    Console {
        kind: String,
        text: String,
    },
    /// The first line of an error that nothing caught, and where it was thrown.
    Exception {
        text: String,
        at: Option<String>,
    },
    Request {
        tab: Option<TabId>,
        request: RequestEvent,
    },
    /// More about a request of which [`BrowserEvent::Request`] tells, right after it.
    Traffic(TrafficEvent),
    /// A request waits for [`Routing::answer`].
    Held(HeldRequest),
    CredentialsAsked(CredentialsQuestion),
    /// A script of ours called the function of the channel.
    Message {
        tab: TabId,
        realm: Option<Realm>,
        text: String,
    },
    Picture {
        tab: TabId,
        size: Size,
        jpeg: Vec<u8>,
    },
}

/// An open dialog, which blocks its page.
impl BrowserEvent {
    /// What a script threw. DevTools and BiDi describe the place in the same way, with lines and columns from 0.
    pub fn exception(text: String, details: &Value) -> BrowserEvent {
        let at = |place: &Value| {
            let url = place.get("url")?.as_str()?.split(['?', '#']).next().filter(|url| url.contains("://"))?;
            let [line, column] = ["lineNumber", "columnNumber"].map(|key| place.get(key).and_then(Value::as_u64));
            Some(format!("{url}:{}:{}", line?.checked_add(1)?, column?.checked_add(1)?))
        };
        let at = details.pointer("/stackTrace/callFrames/0").and_then(at).or_else(|| at(details));
        BrowserEvent::Exception { text, at }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Dialog {
    pub id: String,
    pub tab: Option<TabId>,
    /// `alert`, `confirm`, `prompt` or `beforeunload`; `dialog` if that is not known.
    pub kind: String,
    pub message: String,
    pub default_text: String,
}

/// A request of a page, as it goes on.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestEvent {
    pub id: String,
    /// In seconds of the browser's clock.
    pub at: f64,
    /// `Document`, `XHR`, `Fetch` and the like.
    pub kind: String,
    pub stage: RequestStage,
}

#[derive(Debug, Clone, PartialEq)]
pub enum RequestStage {
    /// A redirect has the id of the request that it answers, whose status is given.
    Sent {
        method: String,
        url: String,
        body: String,
        redirect: Option<Option<u16>>,
    },
    Answered {
        url: String,
        status: Option<u16>,
    },
    Finished,
    Failed {
        why: String,
        is_cancelled: bool,
    },
}
