//! What a simulated device can do beyond its screen.

use async_trait::async_trait;
use serde_json::Value;
use trailblaze_core::driver::{
    ActionOutput, AppControl, AppInventory, AppProcessState, AppProcesses, Browse, BrowserControl, Budget,
    ClipboardControl, ClipboardReader, CurrentApp, DeviceSetting, DeviceShell, Driver, DriverError, FileTransfer,
    FrontApp, LaunchMode, NetworkControl, PermissionControl, PhoneAbilities, SettingsControl, ShellOutput,
};
use trailblaze_protocol::driver::Platform;

use super::act::cannot;
use super::device::SimDevice;
use super::driver::Sim;

#[async_trait]
impl AppControl for Sim {
    async fn launch(&self, budget: &Budget, app: &str, mode: LaunchMode) -> Result<(), DriverError> {
        self.command(budget, "launchApp", |device, now| device.launch(app, mode, now)).await
    }

    async fn stop(&self, budget: &Budget, app: &str) -> Result<(), DriverError> {
        let stop = |device: &mut SimDevice, now| device.app(app).map(|idx| device.stop(idx, now));
        self.command(budget, "stopApp", stop).await
    }

    async fn clear_data(&self, budget: &Budget, app: &str) -> Result<(), DriverError> {
        self.command(budget, "clearAppData", |device, now| device.clear_data(app, now)).await
    }

    async fn open_url(&self, budget: &Budget, url: &str) -> Result<(), DriverError> {
        self.command(budget, "openUrl", |device, now| device.open_url(url, now)).await
    }
}

#[async_trait]
impl AppInventory for Sim {
    async fn list(&self, budget: &Budget) -> Result<Vec<String>, DriverError> {
        self.command(budget, "listApps", |device, _| Ok(device.ids().into_iter().map(str::to_string).collect())).await
    }
}

#[async_trait]
impl PermissionControl for Sim {
    async fn grant(&self, budget: &Budget, app: &str, permission: &str) -> Result<(), DriverError> {
        let grant = |device: &mut SimDevice, _| {
            let idx = device.app(app)?;
            device.apps[idx].state.set(&format!("permission.{permission}"), "granted".to_string());
            Ok(())
        };
        self.command(budget, "grantPermission", grant).await
    }

    async fn revoke(&self, budget: &Budget, app: &str, permission: &str) -> Result<(), DriverError> {
        let revoke = |device: &mut SimDevice, now| {
            let idx = device.app(app)?;
            device.stop(idx, now);
            device.apps[idx].state.set(&format!("permission.{permission}"), "denied".to_string());
            Ok(())
        };
        self.command(budget, "revokePermission", revoke).await
    }
}

#[async_trait]
impl FrontApp for Sim {
    async fn current(&self, budget: &Budget) -> Result<CurrentApp, DriverError> {
        let current = |device: &mut SimDevice, _| {
            let app = device.observe().app.unwrap_or_else(|| "home".to_string());
            Ok(CurrentApp { app, activity: None })
        };
        self.command(budget, "currentApp", current).await
    }
}

/// Files that nothing but the session sees.
#[async_trait]
impl FileTransfer for Sim {
    async fn push(&self, budget: &Budget, file: &str, path: &str) -> Result<(), DriverError> {
        let content = std::fs::read(file)
            .map_err(|error| DriverError::Refused { reason: format!("`{file}` cannot be read: {error}") })?;
        let push = |device: &mut SimDevice, _| {
            device.files.insert(path.to_string(), content);
            Ok(())
        };
        self.command(budget, "pushFile", push).await
    }

    async fn pull(&self, budget: &Budget, path: &str) -> Result<Vec<u8>, DriverError> {
        let missing =
            || DriverError::Refused { reason: format!("`{path}` cannot be read on the phone: there is no such file") };
        self.command(budget, "pullFile", |device, _| device.files.get(path).cloned().ok_or_else(missing)).await
    }
}

/// What is set becomes a value that the files of apps can ask for.
#[async_trait]
impl SettingsControl for Sim {
    async fn change(&self, budget: &Budget, setting: &DeviceSetting) -> Result<(), DriverError> {
        let name = setting.name();
        let change = |device: &mut SimDevice, _| {
            let mut tell = |name: &str, value: String| {
                device.apps.iter_mut().for_each(|installed| installed.state.set(name, value.clone()));
            };
            match setting {
                DeviceSetting::Appearance(appearance) => tell("appearance", appearance.name().to_lowercase()),
                DeviceSetting::Location { latitude, longitude } => tell("location", format!("{latitude},{longitude}")),
                DeviceSetting::Locale { app, locale } => {
                    let idx = device.app(app)?;
                    device.apps[idx].state.set("locale", locale.clone());
                }
                // A simulated screen has one size.
                DeviceSetting::Orientation(_) => {
                    let platform = device.platform();
                    return Err(DriverError::Unsupported { action: name.to_string(), platform });
                }
            }
            Ok(())
        };
        self.command(budget, name, change).await
    }
}

#[async_trait]
impl ClipboardControl for Sim {
    async fn set(&self, budget: &Budget, text: &str) -> Result<(), DriverError> {
        let copy = |device: &mut SimDevice, _| {
            device.clipboard = text.to_string();
            Ok(())
        };
        self.command(budget, "setClipboard", copy).await
    }

    async fn paste(&self, budget: &Budget) -> Result<(), DriverError> {
        let paste = |device: &mut SimDevice, now| {
            let text = device.clipboard.clone();
            device.input_text(&text, now)
        };
        self.command(budget, "pasteClipboard", paste).await
    }
}

/// A simulated phone has no lock, and no alerts but those of its apps.
impl PhoneAbilities for Sim {
    fn clipboard_reader(&self) -> Option<&dyn ClipboardReader> {
        if self.describe().platform == Platform::Ios { Some(self) } else { None }
    }

    fn processes(&self) -> Option<&dyn AppProcesses> {
        Some(self)
    }
}

#[async_trait]
impl ClipboardReader for Sim {
    async fn read(&self, budget: &Budget) -> Result<String, DriverError> {
        self.command(budget, "getClipboard", |device, _| Ok(device.clipboard.clone())).await
    }
}

#[async_trait]
impl AppProcesses for Sim {
    async fn state(&self, budget: &Budget, app: &str) -> Result<AppProcessState, DriverError> {
        let state = |device: &mut SimDevice, _| {
            Ok(match device.installed(app) {
                None => AppProcessState::NotInstalled,
                Some(idx) if idx == device.front => AppProcessState::Foreground,
                Some(idx) if device.apps[idx].state.is_running() => AppProcessState::Background,
                Some(_) => AppProcessState::NotRunning,
            })
        };
        self.command(budget, "getAppState", state).await
    }
}

#[async_trait]
impl NetworkControl for Sim {
    async fn set_connected(&self, budget: &Budget, is_connected: bool) -> Result<(), DriverError> {
        let switch = |device: &mut SimDevice, _| {
            let network = if is_connected { "online" } else { "offline" };
            device.apps.iter_mut().for_each(|installed| installed.state.set("network", network.to_string()));
            Ok(())
        };
        self.command(budget, "setNetwork", switch).await
    }
}

#[async_trait]
impl DeviceShell for Sim {
    async fn run(&self, budget: &Budget, command: &str) -> Result<ShellOutput, DriverError> {
        self.command(budget, "shell", |device, now| Ok(device.shell(command, now))).await
    }
}

#[async_trait]
impl BrowserControl for Sim {
    async fn browse(&self, _: &Budget, command: &Browse) -> Result<ActionOutput, DriverError> {
        Err(cannot(command.name()))
    }

    fn reports_pages(&self) -> bool {
        false
    }

    async fn evaluate(&self, budget: &Budget, script: &str) -> Result<Value, DriverError> {
        self.command(budget, "evaluateJs", |device, _| device.evaluate(script).map(Value::from)).await
    }
}
