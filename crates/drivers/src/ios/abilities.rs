//! What an iPhone can do beyond its screen.

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use trailblaze_core::driver::{AppControl, AppInventory, Budget, ClipboardControl, DriverError, LaunchMode};
use trailblaze_protocol::device_event::DeviceEvent;
use trailblaze_protocol::event::Level;

use super::driver::IosDriver;

#[async_trait]
impl AppControl for IosDriver {
    async fn launch(&self, budget: &Budget, app: &str, mode: LaunchMode) -> Result<(), DriverError> {
        match app.contains("://") {
            true => self.open_link(budget, app).await,
            false => self.launch_app(budget, app, mode).await,
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
