//! What some devices can do beyond showing a screen that can be touched. A driver returns those that its device has.

use async_trait::async_trait;
use serde_json::Value;

use super::{ActionOutput, Browse, Budget, DriverError, LaunchMode};

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

#[async_trait]
pub trait PermissionControl: Send + Sync {
    async fn grant(&self, budget: &Budget, app: &str, permission: &str) -> Result<(), DriverError>;
}

#[async_trait]
pub trait ClipboardControl: Send + Sync {
    async fn set(&self, budget: &Budget, text: &str) -> Result<(), DriverError>;
    /// Pastes into the focused field.
    async fn paste(&self, budget: &Budget) -> Result<(), DriverError>;
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
