//! What an iPhone can do beyond its screen.

use std::time::Duration;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use trailblaze_core::driver::{
    AppControl, AppInstaller, AppInventory, Budget, ClipboardControl, CurrentApp, DriverError, FrontApp, LaunchMode,
    LaunchSettings, PermissionControl, ScreenRecorder,
};
use trailblaze_protocol::device_event::DeviceEvent;
use trailblaze_protocol::event::Level;
use trailblaze_protocol::outcome::Attachment;

use super::alerts::{SPRINGBOARD, front_app};
use super::driver::IosDriver;

#[async_trait]
impl AppControl for IosDriver {
    async fn launch(&self, budget: &Budget, app: &str, mode: LaunchMode) -> Result<(), DriverError> {
        match app.contains("://") {
            true => self.open_link(budget, app).await,
            false => {
                let how = LaunchSettings { mode, arguments: Vec::new(), environment: Vec::new() };
                self.launch_app(budget, app, &how).await
            }
        }
    }

    async fn stop(&self, budget: &Budget, app: &str) -> Result<(), DriverError> {
        self.terminate(budget, app).await
    }

    async fn clear_data(&self, budget: &Budget, app: &str) -> Result<(), DriverError> {
        self.clear_app(budget, app).await
    }

    async fn open_url(&self, budget: &Budget, url: &str) -> Result<(), DriverError> {
        self.open_link(budget, url).await
    }
}

#[async_trait]
impl AppInventory for IosDriver {
    async fn list(&self, budget: &Budget) -> Result<Vec<String>, DriverError> {
        self.running_apps(budget).await
    }
}

/// Only the Mac of a simulator can do that.
#[async_trait]
impl PermissionControl for IosDriver {
    async fn grant(&self, budget: &Budget, app: &str, permission: &str) -> Result<(), DriverError> {
        self.simulator("grantPermission")?.privacy(budget, "grant", permission, app).await
    }

    async fn revoke(&self, budget: &Budget, app: &str, permission: &str) -> Result<(), DriverError> {
        self.simulator("revokePermission")?.privacy(budget, "revoke", permission, app).await
    }
}

#[async_trait]
impl AppInstaller for IosDriver {
    async fn install(&self, budget: &Budget, file: &str) -> Result<(), DriverError> {
        self.simulator("installApp")?.install(budget, file).await
    }

    async fn uninstall(&self, budget: &Budget, app: &str) -> Result<(), DriverError> {
        self.simulator("uninstallApp")?.uninstall(budget, app).await
    }
}

#[async_trait]
impl FrontApp for IosDriver {
    async fn current(&self, budget: &Budget) -> Result<CurrentApp, DriverError> {
        let app = front_app(&self.wda, budget).await?.unwrap_or_else(|| SPRINGBOARD.to_string());
        Ok(CurrentApp { app, activity: None })
    }
}

/// WebDriverAgent writes the video into a file of the device, which stays there.
#[async_trait]
impl ScreenRecorder for IosDriver {
    async fn start(&self, budget: &Budget, limit: Duration) -> Result<(), DriverError> {
        self.simulator("startRecording")?.start_recording(budget, limit).await
    }

    async fn stop(&self, budget: &Budget) -> Result<Attachment, DriverError> {
        self.simulator("stopRecording")?.stop_recording(budget).await
    }
}

/// What is copied here is typed when it is pasted: the menu for pasting asks a person for permission.
#[async_trait]
impl ClipboardControl for IosDriver {
    async fn set(&self, budget: &Budget, text: &str) -> Result<(), DriverError> {
        self.set_clipboard(text);
        let body = json!({"content": STANDARD.encode(text), "contentType": "plaintext"});
        match self.wda.post(budget, "/wda/setPasteboard", body).await {
            Ok(_) => Ok(()),
            // iOS lets only an app in front use the clipboard, and WebDriverAgent is not.
            Err(error) if error.code().is_some() => {
                let text = format!("the clipboard is kept by Trailblaze, and apps do not see it: {error}");
                self.add_event(DeviceEvent::Log { level: Level::Warning, text });
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn paste(&self, budget: &Budget) -> Result<(), DriverError> {
        let text = match self.clipboard_text() {
            Some(text) => text,
            None => {
                let content = self.wda.post(budget, "/wda/getPasteboard", json!({"contentType": "plaintext"})).await?;
                let bytes = STANDARD.decode(content.as_str().unwrap_or_default()).unwrap_or_default();
                String::from_utf8_lossy(&bytes).into_owned()
            }
        };
        self.type_text(budget, &text).await
    }
}
