//! What some devices can do beyond showing a screen that can be touched. A driver returns those that its device has.

use std::time::Duration;

use async_trait::async_trait;
use serde::Serialize;
use serde_json::Value;
use trailblaze_protocol::geometry::Rect;
use trailblaze_protocol::outcome::Attachment;

use super::{ActionOutput, Appearance, Browse, Budget, DriverError, LaunchMode, Orientation};

/// Starting and stopping apps.
#[async_trait]
pub trait AppControl: Send + Sync {
    async fn launch(&self, budget: &Budget, app: &str, mode: LaunchMode) -> Result<(), DriverError>;
    async fn stop(&self, budget: &Budget, app: &str) -> Result<(), DriverError>;
    async fn clear_data(&self, budget: &Budget, app: &str) -> Result<(), DriverError>;
    async fn open_url(&self, budget: &Budget, url: &str) -> Result<(), DriverError>;
}

/// The apps that are installed.
#[async_trait]
pub trait AppInventory: Send + Sync {
    async fn list(&self, budget: &Budget) -> Result<Vec<String>, DriverError>;
}

/// Installing and removing apps.
#[async_trait]
pub trait AppInstaller: Send + Sync {
    /// Installs the app that a file of this machine contains. A version that is installed already is replaced and keeps its data.
    async fn install(&self, budget: &Budget, file: &str) -> Result<(), DriverError>;
    async fn uninstall(&self, budget: &Budget, app: &str) -> Result<(), DriverError>;
}

/// The app that is in front.
#[async_trait]
pub trait FrontApp: Send + Sync {
    async fn current(&self, budget: &Budget) -> Result<CurrentApp, DriverError>;
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CurrentApp {
    pub app: String,
    /// The part of the app that is shown, if the device has such parts.
    pub activity: Option<String>,
}

#[async_trait]
pub trait PermissionControl: Send + Sync {
    async fn grant(&self, budget: &Budget, app: &str, permission: &str) -> Result<(), DriverError>;
    async fn revoke(&self, budget: &Budget, app: &str, permission: &str) -> Result<(), DriverError>;
}

/// The files of the device.
#[async_trait]
pub trait FileTransfer: Send + Sync {
    /// Copies a file of this machine to a path on the device.
    async fn push(&self, budget: &Budget, file: &str, path: &str) -> Result<(), DriverError>;
    /// The content of a file on the device.
    async fn pull(&self, budget: &Budget, path: &str) -> Result<Vec<u8>, DriverError>;
}

/// What is set on the device as a whole. The driver puts back what was set before when the session ends.
#[async_trait]
pub trait SettingsControl: Send + Sync {
    /// Changes a setting; one that the device does not have is unsupported.
    async fn change(&self, budget: &Budget, setting: &DeviceSetting) -> Result<(), DriverError>;
}

#[derive(Debug, Clone, PartialEq)]
pub enum DeviceSetting {
    Orientation(Orientation),
    Appearance(Appearance),
    /// The language and region of an app, as a BCP 47 tag: `de-DE`.
    Locale {
        app: String,
        locale: String,
    },
    /// Where the device is, in degrees.
    Location {
        latitude: f64,
        longitude: f64,
    },
}

impl DeviceSetting {
    /// The setting's name in messages and events.
    pub fn name(&self) -> &'static str {
        match self {
            DeviceSetting::Orientation(_) => "setOrientation",
            DeviceSetting::Appearance(_) => "setAppearance",
            DeviceSetting::Locale { .. } => "setLocale",
            DeviceSetting::Location { .. } => "setLocation",
        }
    }
}

/// Videos of the screen.
#[async_trait]
pub trait ScreenRecorder: Send + Sync {
    /// Starts a recording, which ends by itself after this time.
    async fn start(&self, budget: &Budget, limit: Duration) -> Result<(), DriverError>;
    /// Ends the recording and returns it.
    async fn stop(&self, budget: &Budget) -> Result<Attachment, DriverError>;
}

#[async_trait]
pub trait ClipboardControl: Send + Sync {
    async fn set(&self, budget: &Budget, text: &str) -> Result<(), DriverError>;
    /// Pastes into the focused field.
    async fn paste(&self, budget: &Budget) -> Result<(), DriverError>;
}

/// The windows of a desktop, their menus, and what its clipboard holds.
#[async_trait]
pub trait DesktopControl: Send + Sync {
    /// The windows, from the bottom to the top.
    async fn windows(&self, budget: &Budget) -> Result<Vec<WindowInfo>, DriverError>;
    /// Brings a window to the front. It is named by its id or its title.
    async fn activate_window(&self, budget: &Budget, window: &str) -> Result<(), DriverError>;
    /// Asks a window to close, as its button for that does.
    async fn close_window(&self, budget: &Budget, window: &str) -> Result<(), DriverError>;
    /// Chooses an item of a menu of the window in front, by the names on the way to it.
    async fn choose_menu(&self, budget: &Budget, path: &[String]) -> Result<(), DriverError>;
    /// The text of the clipboard, if it has one.
    async fn clipboard_text(&self, budget: &Budget) -> Result<Option<String>, DriverError>;
}

/// A window of a desktop.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WindowInfo {
    pub id: String,
    pub title: String,
    /// The program that it belongs to.
    pub app: String,
    pub bounds: Rect,
    /// Whether it is in front and has the keyboard.
    pub active: bool,
}

#[async_trait]
pub trait NetworkControl: Send + Sync {
    async fn set_connected(&self, budget: &Budget, is_connected: bool) -> Result<(), DriverError>;
}

#[async_trait]
pub trait DeviceShell: Send + Sync {
    /// Runs a command line. A command that fails is a result, not an error.
    async fn run(&self, budget: &Budget, command: &str) -> Result<ShellOutput, DriverError>;
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShellOutput {
    pub stdout: String,
    pub stderr: String,
    pub exit_code: i32,
}

#[async_trait]
pub trait BrowserControl: Send + Sync {
    async fn browse(&self, budget: &Budget, command: &Browse) -> Result<ActionOutput, DriverError>;
    /// Evaluates JavaScript in the page.
    async fn evaluate(&self, budget: &Budget, script: &str) -> Result<Value, DriverError>;
    /// Whether what pages log and request is among the events of the device.
    fn reports_pages(&self) -> bool;
}
