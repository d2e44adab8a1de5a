//! The port to a device. A driver knows nothing of tools, trails or models.

mod browse;

use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_protocol::event::Level;
use trailblaze_protocol::geometry::{Point, Size};
use trailblaze_protocol::ids::DeviceId;
use trailblaze_protocol::outcome::Attachment;

pub use self::browse::Browse;
use crate::query::{Checks, Find, Found, Query};
use crate::screen::{Screen, Shape, SnapshotId};
use crate::snapshot::Details;

/// A device, from the engine's side.
///
/// One command at a time: the engine holds a lease over each find and act. Every method ends when its budget
/// does, and leaves the device usable.
#[async_trait]
pub trait Driver: Send + Sync {
    fn describe(&self) -> &Description;

    /// Looks at the screen, afresh.
    async fn observe(&self, budget: &Budget, want: Want) -> Result<Screen, DriverError>;

    /// Looks for one element, once. A driver that can answer without fetching the whole tree overrides this.
    async fn find(&self, budget: &Budget, query: &Query, checks: Checks) -> Result<Find, DriverError> {
        let screen = self.observe(budget, Want::TREE).await?;
        Ok(query.search(&screen, checks))
    }

    async fn act(&self, budget: &Budget, target: &Target, action: &Action) -> Result<Acted, DriverError>;

    /// Returns when the screen may differ from `since`, or when the budget ends.
    async fn changed(&self, budget: &Budget, since: SnapshotId) -> Result<(), DriverError>;

    /// What the device said by itself since it was last asked: a page's console, a request that failed.
    fn heard(&self) -> Vec<Heard> {
        Vec::new()
    }

    /// Lets go of the device. Called once, at the end of the session.
    async fn close(&self) {}
}

#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    pub id: DeviceId,
    pub platform: Platform,
    pub driver: DriverKey,
    pub shape: Shape,
    pub size: Size,
    /// Broad first: `["android", "phone"]`.
    pub classifiers: Vec<String>,
    /// For people: `simulated phone`.
    pub summary: String,
    /// Whether its elements keep their numbers and refs for as long as they live.
    pub knows_elements: bool,
}

/// Something that a device said by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Heard {
    pub level: Level,
    pub text: String,
}

/// How long a driver may take, and whether the answer is still wanted.
#[derive(Debug, Clone)]
pub struct Budget {
    pub deadline: Instant,
    pub cancel: CancellationToken,
    /// How long the caller is willing to wait, where the driver itself waits for something: a page, a tab, a file
    /// chooser. The driver's own limit applies unless this is given.
    pub wait: Option<Duration>,
}

impl Budget {
    pub fn new(deadline: Instant, cancel: CancellationToken) -> Budget {
        Budget { deadline, cancel, wait: None }
    }

    /// When to stop waiting for something that may take `otherwise` unless the caller says how long.
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

/// What a look is to bring besides the elements that a snapshot lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Want {
    pub picture: bool,
    /// Which elements others lie upon, where that is expensive to find out.
    pub covers: bool,
    /// A CSS selector of each element of a page.
    pub selectors: bool,
    /// Every element that is shown, also those that say nothing and do nothing.
    pub all: bool,
}

impl Want {
    pub const TREE: Want = Want { picture: false, covers: false, selectors: false, all: false };
    pub const PICTURE: Want = Want { picture: true, ..Want::TREE };

    /// What a snapshot with these details needs.
    pub fn for_snapshot(details: &Details) -> Want {
        Want { covers: details.covered, selectors: details.css, all: details.all, ..Want::TREE }
    }
}

/// What an action is aimed at.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// The device, or what has the focus.
    Device,
    Point(Point),
    Element(Found),
}

impl Target {
    pub fn point(&self) -> Option<Point> {
        match self {
            Target::Device => None,
            Target::Point(point) => Some(*point),
            Target::Element(found) => Some(found.point),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    Tap,
    DoubleTap,
    LongPress,
    /// Types at the focus, or into the target.
    InputText {
        text: String,
    },
    /// Replaces the whole text of the target.
    SetText {
        text: String,
    },
    /// Erases from the end of the focused field; `None` is all of it.
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
    LaunchApp {
        app: String,
        mode: LaunchMode,
    },
    StopApp {
        app: String,
    },
    ClearAppData {
        app: String,
    },
    GrantPermission {
        app: String,
        permission: String,
    },
    OpenUrl {
        url: String,
    },
    SetClipboard {
        text: String,
    },
    PasteClipboard,
    SetNetwork {
        connected: bool,
    },
    Shell {
        command: String,
    },
    EvaluateJs {
        script: String,
    },
    ListApps,
    /// What a mouse can do beyond a tap.
    Click(Click),
    /// Moves the pointer there.
    Hover {
        at: Option<Offset>,
    },
    Drag {
        /// Where to take hold of it; the middle by default.
        at: Option<Offset>,
        to: DragEnd,
    },
    /// Scrolls whatever holds the target until the target is on the screen.
    ScrollIntoView,
    /// Keys held together, as `Control+K`.
    PressChord {
        chord: String,
        /// How many times they are pressed and released.
        count: u32,
        /// How many more times the last key goes down each time before it is released, as a held key does.
        repeats: u32,
    },
    /// Chooses from a list by value or by what is read.
    Choose {
        values: Vec<String>,
    },
    SetChecked {
        checked: bool,
    },
    Upload {
        files: Vec<String>,
    },
    /// An attribute of an element, as it was written; without a name, what the element holds.
    Attribute {
        name: Option<String>,
    },
    Browse(Browse),
}

impl Action {
    /// For messages and events.
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
            Action::LaunchApp { .. } => "launchApp",
            Action::StopApp { .. } => "stopApp",
            Action::ClearAppData { .. } => "clearAppData",
            Action::GrantPermission { .. } => "grantPermission",
            Action::OpenUrl { .. } => "openUrl",
            Action::SetClipboard { .. } => "setClipboard",
            Action::PasteClipboard => "pasteClipboard",
            Action::SetNetwork { .. } => "setNetwork",
            Action::Shell { .. } => "shell",
            Action::EvaluateJs { .. } => "evaluateJs",
            Action::ListApps => "listApps",
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
            Action::Browse(browse) => browse.name(),
        }
    }

    /// What must hold of an element before this is done to it.
    pub fn checks(&self) -> Checks {
        match self {
            // These need no pointer, so what covers the element does not matter. A click on a point of the element is
            // checked for that point, by the driver.
            Action::SetText { .. } | Action::Choose { .. } | Action::Click(Click { at: Some(_), .. }) => {
                Checks::Enabled
            }
            Action::ScrollIntoView => Checks::Visible,
            _ => Checks::Actionable,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Click {
    pub button: Button,
    /// 2 is a double click.
    pub count: u32,
    /// Keys that are held meanwhile.
    pub modifiers: Vec<Modifier>,
    /// Where in the element; its middle by default.
    pub at: Option<Offset>,
}

/// Pixels from the top left corner of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offset {
    pub x: i32,
    pub y: i32,
}

/// Where a drag ends.
#[derive(Debug, Clone, PartialEq)]
pub enum DragEnd {
    Element(Box<Found>),
    Point(Point),
    /// So many pixels to the right and down from where it began.
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

            /// Reads a name in any case.
            pub fn parse(text: &str) -> Option<$name> {
                $(if text.eq_ignore_ascii_case($word) { return Some($name::$variant); })*
                None
            }
        }
    };
}

named! {
    pub enum Key {
        Back "BACK",
        Enter "ENTER",
        Home "HOME",
        Backspace "BACKSPACE",
        Tab "TAB",
        Escape "ESCAPE",
    }
}

named! {
    /// A button of a mouse.
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
    /// Where the finger goes in a swipe, where the view goes in a scroll.
    pub enum Direction {
        Up "UP",
        Down "DOWN",
        Left "LEFT",
        Right "RIGHT",
    }
}

named! {
    pub enum LaunchMode {
        Reinstall "REINSTALL",
        Resume "RESUME",
        ForceRestart "FORCE_RESTART",
    }
}

/// What an action brought back.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Acted {
    pub text: String,
    pub value: Option<Value>,
    /// To be kept with the record.
    pub files: Vec<Attachment>,
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DriverError {
    /// The device is gone; nothing more can be done with it.
    #[error("the device was lost: {evidence}")]
    Lost { evidence: String },
    /// It could not be made ready in the first place.
    #[error("the device did not start: {evidence}")]
    NotStarted { evidence: String },
    /// The device has no such command.
    #[error("`{action}` is unsupported on {platform}")]
    Unsupported { action: String, platform: Platform },
    /// The device understood and would not.
    #[error("{reason}")]
    Refused { reason: String },
    /// The action did not reach its element: a touch was called off because something else would have got it, or the
    /// element was replaced. It may be looked for again.
    #[error("{how}")]
    Evaded { how: String },
    #[error("timed out: {what}")]
    TimedOut { what: String },
    #[error("cancelled")]
    Cancelled,
}
