//! What a phone can do beyond its screen.

use std::time::Duration;

use async_trait::async_trait;
use trailblaze_core::driver::{
    AppControl, AppInstaller, AppInventory, AppProcessState, AppProcesses, Budget, ClipboardControl, CurrentApp,
    DeviceSetting, DeviceShell, DriverError, FileTransfer, FrontApp, LaunchMode, LockControl, NetworkControl,
    PermissionControl, PhoneAbilities, ScreenRecorder, SettingsControl, ShellOutput,
};
use trailblaze_protocol::outcome::Attachment;

use super::driver::AndroidDriver;
use super::{apps, files, install, readiness};

#[async_trait]
impl AppControl for AndroidDriver {
    async fn launch(&self, budget: &Budget, app: &str, mode: LaunchMode) -> Result<(), DriverError> {
        if app.contains("://") {
            return apps::open_url(&self.phone, budget, app).await;
        }
        apps::launch(&self.phone, budget, app, mode).await?;
        self.app_log.follow((&self.phone, &self.undo), &self.events, budget, (app, mode)).await;
        Ok(())
    }

    async fn stop(&self, budget: &Budget, app: &str) -> Result<(), DriverError> {
        apps::stop(&self.phone, budget, app).await
    }

    async fn clear_data(&self, budget: &Budget, app: &str) -> Result<(), DriverError> {
        apps::clear(&self.phone, budget, app).await
    }

    async fn open_url(&self, budget: &Budget, url: &str) -> Result<(), DriverError> {
        apps::open_url(&self.phone, budget, url).await
    }
}

#[async_trait]
impl AppInventory for AndroidDriver {
    async fn list(&self, budget: &Budget) -> Result<Vec<String>, DriverError> {
        apps::list(&self.phone, budget).await
    }
}

#[async_trait]
impl AppInstaller for AndroidDriver {
    async fn install(&self, budget: &Budget, file: &str) -> Result<(), DriverError> {
        install::install(&self.phone, &self.undo, budget, file).await
    }

    async fn uninstall(&self, budget: &Budget, app: &str) -> Result<(), DriverError> {
        install::uninstall(&self.phone, budget, app).await
    }
}

#[async_trait]
impl FrontApp for AndroidDriver {
    async fn current(&self, budget: &Budget) -> Result<CurrentApp, DriverError> {
        apps::current(&self.phone, budget).await
    }
}

#[async_trait]
impl FileTransfer for AndroidDriver {
    async fn push(&self, budget: &Budget, file: &str, path: &str) -> Result<(), DriverError> {
        files::push(&self.phone, budget, file, path).await
    }

    async fn pull(&self, budget: &Budget, path: &str) -> Result<Vec<u8>, DriverError> {
        files::pull(&self.phone, budget, path).await
    }
}

#[async_trait]
impl SettingsControl for AndroidDriver {
    async fn change(&self, budget: &Budget, setting: &DeviceSetting) -> Result<(), DriverError> {
        self.change_setting(budget, setting).await
    }
}

#[async_trait]
impl ScreenRecorder for AndroidDriver {
    async fn start(&self, budget: &Budget, limit: Duration) -> Result<(), DriverError> {
        self.video.start(&self.phone, &self.undo, budget, limit).await
    }

    async fn stop(&self, budget: &Budget) -> Result<Attachment, DriverError> {
        self.video.stop(&self.phone, budget).await
    }
}

#[async_trait]
impl PermissionControl for AndroidDriver {
    async fn grant(&self, budget: &Budget, app: &str, permission: &str) -> Result<(), DriverError> {
        apps::permit(&self.phone, budget, "grant", (app, permission)).await
    }

    async fn revoke(&self, budget: &Budget, app: &str, permission: &str) -> Result<(), DriverError> {
        apps::permit(&self.phone, budget, "revoke", (app, permission)).await
    }
}

/// Android gives the shell no clipboard, so what is copied here is typed when it is pasted. Apps do not see it.
#[async_trait]
impl ClipboardControl for AndroidDriver {
    async fn set(&self, _: &Budget, text: &str) -> Result<(), DriverError> {
        self.set_clipboard(text);
        Ok(())
    }

    /// Without a text of ours, the key for pasting, whose clipboard is that of the phone.
    async fn paste(&self, budget: &Budget) -> Result<(), DriverError> {
        match self.clipboard_text() {
            Some(text) => {
                self.automation.check_text(&text)?;
                self.automation.type_text(budget, &text).await
            }
            None => self.press(budget, "KEYCODE_PASTE").await,
        }
    }
}

#[async_trait]
impl NetworkControl for AndroidDriver {
    async fn set_connected(&self, budget: &Budget, is_connected: bool) -> Result<(), DriverError> {
        if self.phone.device.is_wireless() && !is_connected {
            let reason =
                "this phone is connected over the network, and would be lost without it; use a cable".to_string();
            return Err(DriverError::Refused { reason });
        }
        let was_on = self.phone.must(budget, "settings get global airplane_mode_on").await?;
        let switch = |on: bool| format!("cmd connectivity airplane-mode {}", if on { "enable" } else { "disable" });
        self.undo.keep(&self.phone, budget, &switch(was_on.trim() == "1")).await?;
        self.undo.change(&self.phone, budget, &switch(!is_connected)).await
    }
}

#[async_trait]
impl DeviceShell for AndroidDriver {
    async fn run(&self, budget: &Budget, command: &str) -> Result<ShellOutput, DriverError> {
        let output = self.phone.run(budget, command).await?;
        Ok(ShellOutput { stdout: output.text(), stderr: output.error_text(), exit_code: output.exit_code.into() })
    }
}

impl PhoneAbilities for AndroidDriver {
    fn lock(&self) -> Option<&dyn LockControl> {
        Some(self)
    }

    fn processes(&self) -> Option<&dyn AppProcesses> {
        Some(self)
    }
}

#[async_trait]
impl LockControl for AndroidDriver {
    async fn lock(&self, budget: &Budget) -> Result<(), DriverError> {
        self.press(budget, "KEYCODE_SLEEP").await
    }

    async fn unlock(&self, budget: &Budget) -> Result<(), DriverError> {
        readiness::wake(&self.phone, budget).await.map_err(|error| match error {
            // The phone is there; what is wrong with it is the answer.
            DriverError::NotStarted { evidence } => DriverError::Refused { reason: evidence },
            error => error,
        })
    }
}

#[async_trait]
impl AppProcesses for AndroidDriver {
    async fn state(&self, budget: &Budget, app: &str) -> Result<AppProcessState, DriverError> {
        apps::state(&self.phone, budget, app).await
    }
}
