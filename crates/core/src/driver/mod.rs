//! The port to a device. Drivers know nothing about tools, trails or models.

mod abilities;
mod audit;
mod browse;
mod command;
mod documents;
mod events;
mod exchange;
mod live;
mod network;
mod person;
mod phone;
mod world;

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_protocol::geometry::{Point, Rect, Size};
use trailblaze_protocol::ids::DeviceId;
use trailblaze_protocol::outcome::Attachment;

pub use self::abilities::{
    AppControl, AppInstaller, AppInventory, BrowserControl, ClipboardControl, CurrentApp, DesktopControl,
    DeviceSetting, DeviceShell, FileTransfer, FrontApp, NetworkControl, PermissionControl, ScreenRecorder,
    SettingsControl, ShellOutput, WindowInfo,
};
pub use self::audit::{AccessibilityAuditor, AccessibilityFault, AuditScope};
pub use self::browse::Browse;
pub use self::command::DeviceCommand;
pub use self::documents::{DocumentContent, DocumentSnapshots};
pub use self::events::{DeviceEvents, cut};
pub use self::exchange::{ExchangeBody, ExchangeResponse, NetworkExchange, REMOVED, har, header};
pub use self::live::ScreenFrame;
pub use self::network::{
    AbortReason, BodySource, ExchangeQuery, ExchangeSide, MissingInHar, MockedResponse, NetworkRule, NetworkSpeed,
    RequestPattern, ResponseChange, RuleEffect, has_json, json_at, merge_json, url_matches,
};
pub use self::person::{AssertedPart, DropTarget, ObservedAction, Person, PersonAction};
pub use self::phone::{
    AlertControl, AppLauncher, AppProcessState, AppProcesses, ClipboardReader, LaunchSettings, LockControl,
    PhoneAbilities, PhoneAlert, PhoneCommand,
};
pub use self::world::{ClockMode, MediaFeatures, PageWorldCommand, PermissionState, Redact, WorldControl};
use crate::limits;
use crate::query::{Checks, Find, Found, Query};
use crate::screen::{Screen, Shape, SnapshotId};
use crate::snapshot::Details;

/// A device, as the engine sees it.
///
/// The engine sends one command at a time: it holds a lease during each find and act. Every method must return when its
/// budget ends, and must leave the device usable.
#[async_trait]
pub trait Driver: Send + Sync {
    fn describe(&self) -> &DeviceDescription;

    /// Looks at the current screen. Must not return a cached one, nor what was typed into a password field: at most as many dots.
    async fn observe(&self, budget: &Budget, want: ObserveOptions) -> Result<Screen, DriverError>;

    /// Searches for one element, once. Drivers that can do so without fetching the whole tree override this.
    async fn find(&self, budget: &Budget, query: &Query, checks: Checks) -> Result<Find, DriverError> {
        let screen = self.observe(budget, ObserveOptions::TREE).await?;
        Ok(query.search(&screen, checks))
    }

    /// Whether its `find` evaluates the conditions of a selector that are in the device's own language (`ios:`).
    fn evaluates_native_conditions(&self) -> bool {
        false
    }

    /// All texts that the screen displays and where they are, in reading order, including those that `observe` leaves out
    /// because they are no elements, such as the marker of a list item. Secrets in them are masked in pictures. `None` if
    /// elements have all texts.
    async fn displayed_texts(&self, budget: &Budget) -> Result<Option<Vec<DisplayedText>>, DriverError> {
        let _ = budget;
        Ok(None)
    }

    async fn act(&self, budget: &Budget, target: &ActionTarget, action: &Action) -> Result<ActionOutput, DriverError>;

    // What only some devices can do. A [`DeviceCommand`] that needs what a device does not have is unsupported there.

    fn apps(&self) -> Option<&dyn AppControl> {
        None
    }

    fn app_inventory(&self) -> Option<&dyn AppInventory> {
        None
    }

    fn app_installer(&self) -> Option<&dyn AppInstaller> {
        None
    }

    fn front_app(&self) -> Option<&dyn FrontApp> {
        None
    }

    fn permissions(&self) -> Option<&dyn PermissionControl> {
        None
    }

    fn files(&self) -> Option<&dyn FileTransfer> {
        None
    }

    fn settings(&self) -> Option<&dyn SettingsControl> {
        None
    }

    fn recorder(&self) -> Option<&dyn ScreenRecorder> {
        None
    }

    fn clipboard(&self) -> Option<&dyn ClipboardControl> {
        None
    }

    fn desktop(&self) -> Option<&dyn DesktopControl> {
        None
    }

    fn network(&self) -> Option<&dyn NetworkControl> {
        None
    }

    fn shell(&self) -> Option<&dyn DeviceShell> {
        None
    }

    fn browser(&self) -> Option<&dyn BrowserControl> {
        None
    }

    fn phone(&self) -> Option<&dyn PhoneAbilities> {
        None
    }

    fn world(&self) -> Option<&dyn WorldControl> {
        None
    }

    fn auditor(&self) -> Option<&dyn AccessibilityAuditor> {
        None
    }

    fn documents(&self) -> Option<&dyn DocumentSnapshots> {
        None
    }

    /// The origin of the document that a text would be typed into: that of the target's frame, or of the focused one, such as
    /// `https://shop.example`. `None` if the device has no documents.
    async fn origin(&self, budget: &Budget, target: &ActionTarget) -> Result<Option<String>, DriverError> {
        let _ = (budget, target);
        Ok(None)
    }

    /// Returns when the screen may differ from `since`, or when the budget ends.
    async fn changed(&self, budget: &Budget, since: SnapshotId) -> Result<(), DriverError>;

    /// What the device says and does by itself; `None` if it never says anything.
    fn events(&self) -> Option<&DeviceEvents> {
        None
    }

    /// Follows the screen: the newest picture whenever it changes, `None` before the first. Pictures are taken only while a
    /// receiver exists; a slow one misses pictures, but never the newest. `None` if the device takes pictures only on
    /// request.
    fn frames(&self) -> Option<watch::Receiver<Option<ScreenFrame>>> {
        None
    }

    /// Starts to report what a person does on the device itself, such as in the window of a browser. What the engine does
    /// through the driver is not reported. Ends when the device is closed.
    async fn follow_person(&self, budget: &Budget) -> Result<Person, DriverError> {
        let _ = budget;
        let platform = self.describe().platform;
        Err(DriverError::Unsupported { action: "followPerson".to_string(), platform })
    }

    /// How long it may take to be prepared for a trail.
    fn preparing_limit(&self) -> Duration {
        limits::DRIVER_COMMAND
    }

    /// Prepares the device for another trail: what an earlier one left behind must not affect it. Called before each trail
    /// of a run.
    async fn begin_trail(&self, budget: &Budget, trail: &TrailStart) -> Result<(), DriverError> {
        let _ = (budget, trail);
        Ok(())
    }

    /// Puts back what the trail has changed on the device, and writes what it has recorded. Called after each trail of a run.
    async fn end_trail(&self, budget: &Budget) -> Result<(), DriverError> {
        let _ = budget;
        Ok(())
    }

    /// Files about the trail that ended last which come later, such as the video that a grid made of its session. Called after
    /// `end_trail`.
    fn late_files(&self) -> Vec<LateFile> {
        Vec::new()
    }

    /// The tabs of a browser, in the order in which `web_tabs` counts them, as far as they are known without asking.
    fn tabs(&self) -> Vec<OpenTab> {
        Vec::new()
    }

    /// Releases the device. Called once, at the end of the session.
    async fn close(&self) {}
}

#[derive(Debug, Clone, PartialEq)]
pub struct DeviceDescription {
    pub id: DeviceId,
    pub platform: Platform,
    pub driver: DriverKey,
    pub shape: Shape,
    pub size: Size,
    /// Broadest first: `["android", "phone"]`.
    pub classifiers: Vec<String>,
    /// A name for people: `simulated phone`.
    pub summary: String,
    /// Whether elements keep their node ids and refs for as long as they exist.
    pub knows_elements: bool,
}

/// A file about a trail that comes after the trail has ended.
pub struct LateFile {
    /// What it is: `video`.
    pub name: String,
    /// Ends within a limit of its own: with the file, or with why there is none.
    pub coming: BoxFuture<'static, Result<Attachment, String>>,
}

/// A tab of a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenTab {
    pub url: String,
    pub is_front: bool,
}

/// A text on a screen.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DisplayedText {
    pub text: String,
    /// The boxes of its lines, in pixels of the screen.
    pub boxes: Vec<Rect>,
}

/// What a trail says about the device that it starts on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TrailStart {
    /// How the dialogs of pages are answered; `None` leaves that to the device.
    pub dialogs: Option<DialogAnswer>,
    /// A file with the cookies and local storage of a browser; `None` leaves that to the device.
    pub storage_state: Option<PathBuf>,
}

/// How long a driver may take, and its cancellation.
#[derive(Debug, Clone)]
pub struct Budget {
    pub deadline: Instant,
    pub cancel: CancellationToken,
    /// How long the caller is willing to wait if the driver itself waits for something: a page, a tab, a file chooser. The
    /// driver's own limit applies if this is `None`.
    pub wait: Option<Duration>,
}

impl Budget {
    pub fn new(deadline: Instant, cancel: CancellationToken) -> Budget {
        Budget { deadline, cancel, wait: None }
    }

    /// When to stop waiting for something. `otherwise` applies unless the caller set a limit.
    pub fn until(&self, otherwise: Duration) -> Instant {
        self.deadline.min(Instant::now() + self.wait.unwrap_or(otherwise))
    }

    pub fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Waits for `work`, but not past the budget.
    pub async fn run<T>(&self, what: &str, work: impl Future<Output = T>) -> Result<T, DriverError> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(DriverError::Cancelled),
            done = work => Ok(done),
            () = tokio::time::sleep_until(self.deadline) => Err(DriverError::TimedOut { what: what.to_string() }),
        }
    }
}

/// What to observe in addition to the elements that a snapshot lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ObserveOptions {
    pub picture: bool,
    /// Which elements are covered by others, if that is expensive to find out.
    pub covers: bool,
    /// A CSS selector for each element of a page.
    pub selectors: bool,
    /// All elements, including those without text or function, and content that nobody can see.
    pub all: bool,
}

impl ObserveOptions {
    pub const TREE: ObserveOptions = ObserveOptions { picture: false, covers: false, selectors: false, all: false };
    pub const PICTURE: ObserveOptions = ObserveOptions { picture: true, ..ObserveOptions::TREE };

    /// What a snapshot with these details requires.
    pub fn for_snapshot(details: &Details) -> ObserveOptions {
        ObserveOptions { covers: details.covered, selectors: details.css, all: details.all, ..ObserveOptions::TREE }
    }
}

/// The target of an action.
#[derive(Debug, Clone, PartialEq)]
pub enum ActionTarget {
    /// The device, or the focused element.
    Device,
    Point(Point),
    Element(Found),
}

impl ActionTarget {
    pub fn point(&self) -> Option<Point> {
        match self {
            ActionTarget::Device => None,
            ActionTarget::Point(point) => Some(*point),
            ActionTarget::Element(found) => Some(found.point),
        }
    }
}

/// What can be done with a screen.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    Tap,
    DoubleTap,
    LongPress,
    /// Types into the focused field or into the target.
    InputText {
        text: String,
    },
    /// Replaces the whole text of the target.
    SetText {
        text: String,
    },
    /// Erases from the end of the focused field; `None` erases everything.
    EraseText {
        count: Option<u32>,
    },
    PressKey {
        key: Key,
    },
    HideKeyboard,
    Swipe {
        from: Point,
        to: Point,
        duration: Duration,
    },
    Scroll {
        direction: Direction,
        amount: Option<u32>,
    },
    Pinch {
        scale: f64,
    },
    /// Turns two fingers, clockwise, by degrees.
    Twist {
        degrees: f64,
    },
    /// A mouse click that is more than a tap.
    Click(ClickOptions),
    /// Moves the pointer over the target.
    Hover {
        at: Option<Offset>,
    },
    Drag {
        /// Where to grab it; `None` for its center.
        at: Option<Offset>,
        to: DragEnd,
    },
    /// Scrolls the containers of the target until the target is visible.
    ScrollIntoView,
    /// Presses a key combination, such as `Control+K`.
    PressChord {
        chord: String,
        /// How many times they are pressed and released.
        count: u32,
        /// How many times the last key auto-repeats before it is released.
        repeats: u32,
    },
    /// Selects options of a list, by value or by label.
    Choose {
        values: Vec<String>,
    },
    SetChecked {
        checked: bool,
    },
    Upload {
        files: Vec<String>,
    },
    /// Reads an attribute of an element as written; without a name, reads its value.
    Attribute {
        name: Option<String>,
    },
}

impl Action {
    /// The action's name in messages and events.
    pub fn name(&self) -> &'static str {
        match self {
            Action::Tap => "tap",
            Action::DoubleTap => "doubleTap",
            Action::LongPress => "longPress",
            Action::InputText { .. } => "inputText",
            Action::SetText { .. } => "fill",
            Action::EraseText { .. } => "eraseText",
            Action::PressKey { .. } => "pressKey",
            Action::HideKeyboard => "hideKeyboard",
            Action::Swipe { .. } => "swipe",
            Action::Scroll { .. } => "scroll",
            Action::Pinch { .. } => "pinch",
            Action::Twist { .. } => "twist",
            Action::Click(_) => "click",
            Action::Hover { .. } => "hover",
            Action::Drag { .. } => "drag",
            Action::ScrollIntoView => "scrollIntoView",
            Action::PressChord { .. } => "pressChord",
            Action::Choose { .. } => "choose",
            Action::SetChecked { checked: true } => "check",
            Action::SetChecked { checked: false } => "uncheck",
            Action::Upload { .. } => "upload",
            Action::Attribute { .. } => "attribute",
        }
    }

    /// What is checked of an element before the action is performed on it.
    pub fn checks(&self) -> Checks {
        match self {
            // These need no pointer, so it does not matter whether the element is covered. A click on a point of the element
            // is checked for that point, by the driver.
            Action::SetText { .. } | Action::Choose { .. } | Action::Click(ClickOptions { at: Some(_), .. }) => {
                Checks::Enabled
            }
            Action::ScrollIntoView => Checks::Present,
            _ => Checks::Actionable,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClickOptions {
    pub button: Button,
    /// 2 is a double click.
    pub count: u32,
    /// Keys that are held down while clicking.
    pub modifiers: Vec<Modifier>,
    /// Where in the element; `None` for its center.
    pub at: Option<Offset>,
}

/// Pixels from the top-left corner of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offset {
    pub x: i32,
    pub y: i32,
}

/// Where a drag ends.
#[derive(Debug, Clone, PartialEq)]
pub enum DragEnd {
    Element {
        found: Box<Found>,
        /// Where to drop it; `None` for the center.
        at: Option<Offset>,
    },
    Point(Point),
    /// A number of pixels to the right and down from the start.
    By(Offset),
}

macro_rules! named {
    ($(#[$meta:meta])* pub enum $name:ident { $($variant:ident $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $($variant,)* }

        impl $name {
            pub const NAMES: &[&str] = &[$($word,)*];

            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }

            /// Parses a name, ignoring case.
            pub fn parse(text: &str) -> Option<$name> {
                $(if text.eq_ignore_ascii_case($word) { return Some($name::$variant); })*
                None
            }
        }
    };
}

use named;

named! {
    pub enum Key {
        Back "BACK",
        Enter "ENTER",
        Home "HOME",
        Backspace "BACKSPACE",
        Tab "TAB",
        Escape "ESCAPE",
        VolumeUp "VOLUME_UP",
        VolumeDown "VOLUME_DOWN",
        Power "POWER",
        AppSwitch "APP_SWITCH",
    }
}

named! {
    /// How the device is held.
    pub enum Orientation {
        Portrait "PORTRAIT",
        Landscape "LANDSCAPE",
    }
}

named! {
    pub enum Appearance {
        Light "LIGHT",
        Dark "DARK",
    }
}

named! {
    /// A mouse button.
    pub enum Button {
        Left "LEFT",
        Right "RIGHT",
        Middle "MIDDLE",
    }
}

named! {
    pub enum Modifier {
        Alt "ALT",
        Control "CONTROL",
        Meta "META",
        Shift "SHIFT",
        // Meta on macOS, Control elsewhere.
        ControlOrMeta "CONTROL_OR_META",
    }
}

named! {
    /// The direction that the finger moves in (swipe) or the view moves in (scroll).
    pub enum Direction {
        Up "UP",
        Down "DOWN",
        Left "LEFT",
        Right "RIGHT",
    }
}

named! {
    /// How the dialogs of pages are answered, unless a call says otherwise.
    pub enum DialogAnswer {
        Accept "accept",
        Dismiss "dismiss",
    }
}

named! {
    pub enum LaunchMode {
        Reinstall "REINSTALL",
        Resume "RESUME",
        ForceRestart "FORCE_RESTART",
    }
}

/// The result of an action.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ActionOutput {
    pub text: String,
    pub value: Option<Value>,
    /// Files to attach to the outcome.
    pub files: Vec<Attachment>,
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DriverError {
    /// The device is gone and cannot be used any more.
    #[error("the device was lost: {evidence}")]
    Lost { evidence: String },
    /// The device could not be started.
    #[error("the device did not start: {evidence}")]
    NotStarted { evidence: String },
    /// The device does not support the action.
    #[error("`{action}` is unsupported on {platform}")]
    Unsupported { action: String, platform: Platform },
    /// The device rejected the action.
    #[error("{reason}")]
    Refused { reason: String },
    /// The action did not reach its element: a touch was called off because it would have hit something else, or the
    /// element was replaced. The engine may search for it again.
    #[error("{how}")]
    Evaded { how: String },
    #[error("timed out: {what}")]
    TimedOut { what: String },
    #[error("cancelled")]
    Cancelled,
}
