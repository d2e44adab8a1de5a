//! Commands to a device as a whole, each of which needs an ability that not every device has.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use trailblaze_protocol::outcome::Attachment;

use super::audit::audited;
use super::{
    ActionOutput, AuditScope, Browse, Budget, DeviceSetting, Driver, DriverError, LaunchMode, PageWorldCommand,
    PhoneCommand, ShellOutput, WindowInfo,
};
use crate::screen::{quoted, shorten};

/// The longest text of a file of the device that is also the text of the outcome.
const TEXT: usize = 16 * 1024;

#[derive(Debug, Clone, PartialEq)]
pub enum DeviceCommand {
    LaunchApp { app: String, mode: LaunchMode },
    StopApp { app: String },
    ClearAppData { app: String },
    OpenUrl { url: String },
    ListApps,
    CurrentApp,
    InstallApp { file: String },
    UninstallApp { app: String },
    GrantPermission { app: String, permission: String },
    RevokePermission { app: String, permission: String },
    PushFile { file: String, path: String },
    PullFile { path: String },
    Change(DeviceSetting),
    StartRecording { limit: Duration },
    StopRecording,
    SetClipboard { text: String },
    PasteClipboard,
    GetClipboard,
    Windows,
    ActivateWindow { window: String },
    CloseWindow { window: String },
    ChooseMenu { path: Vec<String> },
    SetNetwork { connected: bool },
    Shell { command: String },
    EvaluateJs { script: String },
    Browse(Browse),
    Phone(PhoneCommand),
    Audit(AuditScope),
    World(PageWorldCommand),
}

impl DeviceCommand {
    /// The command's name in messages and events.
    pub fn name(&self) -> &'static str {
        match self {
            DeviceCommand::LaunchApp { .. } => "launchApp",
            DeviceCommand::StopApp { .. } => "stopApp",
            DeviceCommand::ClearAppData { .. } => "clearAppData",
            DeviceCommand::OpenUrl { .. } => "openUrl",
            DeviceCommand::ListApps => "listApps",
            DeviceCommand::CurrentApp => "currentApp",
            DeviceCommand::InstallApp { .. } => "installApp",
            DeviceCommand::UninstallApp { .. } => "uninstallApp",
            DeviceCommand::GrantPermission { .. } => "grantPermission",
            DeviceCommand::RevokePermission { .. } => "revokePermission",
            DeviceCommand::PushFile { .. } => "pushFile",
            DeviceCommand::PullFile { .. } => "pullFile",
            DeviceCommand::Change(setting) => setting.name(),
            DeviceCommand::StartRecording { .. } => "startRecording",
            DeviceCommand::StopRecording => "stopRecording",
            DeviceCommand::SetClipboard { .. } => "setClipboard",
            DeviceCommand::PasteClipboard => "pasteClipboard",
            DeviceCommand::GetClipboard => "getClipboard",
            DeviceCommand::Windows => "windows",
            DeviceCommand::ActivateWindow { .. } => "activateWindow",
            DeviceCommand::CloseWindow { .. } => "close",
            DeviceCommand::ChooseMenu { .. } => "menu",
            DeviceCommand::SetNetwork { .. } => "setNetwork",
            DeviceCommand::Shell { .. } => "shell",
            DeviceCommand::EvaluateJs { .. } => "evaluateJs",
            DeviceCommand::Browse(browse) => browse.name(),
            DeviceCommand::Phone(command) => command.name(),
            DeviceCommand::Audit(_) => "accessibilityAudit",
            DeviceCommand::World(command) => command.name(),
        }
    }

    /// Carries it out with the ability that it needs. A device without that ability does not support the command.
    pub async fn carry_out(&self, driver: &dyn Driver, budget: &Budget) -> Result<ActionOutput, DriverError> {
        let missing =
            || DriverError::Unsupported { action: self.name().to_string(), platform: driver.describe().platform };
        match self {
            DeviceCommand::LaunchApp { app, mode } => {
                driver.apps().ok_or_else(missing)?.launch(budget, app, *mode).await?;
            }
            DeviceCommand::StopApp { app } => driver.apps().ok_or_else(missing)?.stop(budget, app).await?,
            DeviceCommand::ClearAppData { app } => driver.apps().ok_or_else(missing)?.clear_data(budget, app).await?,
            DeviceCommand::OpenUrl { url } => driver.apps().ok_or_else(missing)?.open_url(budget, url).await?,
            DeviceCommand::ListApps => {
                let ids = driver.app_inventory().ok_or_else(missing)?.list(budget).await?;
                return Ok(ActionOutput { text: ids.join("\n"), value: Some(json!(ids)), ..ActionOutput::default() });
            }
            DeviceCommand::CurrentApp => {
                let current = driver.front_app().ok_or_else(missing)?.current(budget).await?;
                let value = json!({"appId": current.app, "activity": current.activity});
                let text = current.activity.map_or(current.app.clone(), |name| format!("{} {name}", current.app));
                return Ok(ActionOutput { text, value: Some(value), ..ActionOutput::default() });
            }
            DeviceCommand::InstallApp { file } => {
                driver.app_installer().ok_or_else(missing)?.install(budget, file).await?;
            }
            DeviceCommand::UninstallApp { app } => {
                driver.app_installer().ok_or_else(missing)?.uninstall(budget, app).await?;
            }
            DeviceCommand::GrantPermission { app, permission } => {
                driver.permissions().ok_or_else(missing)?.grant(budget, app, permission).await?;
            }
            DeviceCommand::RevokePermission { app, permission } => {
                driver.permissions().ok_or_else(missing)?.revoke(budget, app, permission).await?;
            }
            DeviceCommand::PushFile { file, path } => {
                driver.files().ok_or_else(missing)?.push(budget, file, path).await?;
            }
            DeviceCommand::PullFile { path } => {
                return Ok(pulled(path, driver.files().ok_or_else(missing)?.pull(budget, path).await?));
            }
            DeviceCommand::Change(setting) => {
                driver.settings().ok_or_else(missing)?.change(budget, setting).await?;
            }
            DeviceCommand::StartRecording { limit } => {
                driver.recorder().ok_or_else(missing)?.start(budget, *limit).await?;
            }
            DeviceCommand::StopRecording => {
                let video = driver.recorder().ok_or_else(missing)?.stop(budget).await?;
                let text = format!("recorded {} bytes", video.bytes.len());
                return Ok(ActionOutput { text, files: vec![video], ..ActionOutput::default() });
            }
            DeviceCommand::SetClipboard { text } => driver.clipboard().ok_or_else(missing)?.set(budget, text).await?,
            DeviceCommand::PasteClipboard => driver.clipboard().ok_or_else(missing)?.paste(budget).await?,
            DeviceCommand::GetClipboard => {
                let text = driver.desktop().ok_or_else(missing)?.clipboard_text(budget).await?;
                let value = Some(json!(text));
                return Ok(ActionOutput { text: text.unwrap_or_default(), value, ..ActionOutput::default() });
            }
            DeviceCommand::Windows => {
                let windows = driver.desktop().ok_or_else(missing)?.windows(budget).await?;
                let lines: Vec<String> = windows.iter().map(WindowInfo::line).collect();
                let value = Some(json!({"windows": windows}));
                return Ok(ActionOutput { text: lines.join("\n"), value, ..ActionOutput::default() });
            }
            DeviceCommand::ActivateWindow { window } => {
                driver.desktop().ok_or_else(missing)?.activate_window(budget, window).await?;
            }
            DeviceCommand::CloseWindow { window } => {
                driver.desktop().ok_or_else(missing)?.close_window(budget, window).await?;
            }
            DeviceCommand::ChooseMenu { path } => {
                driver.desktop().ok_or_else(missing)?.choose_menu(budget, path).await?;
            }
            DeviceCommand::SetNetwork { connected } => {
                driver.network().ok_or_else(missing)?.set_connected(budget, *connected).await?;
            }
            DeviceCommand::Shell { command } => {
                return Ok(ended(driver.shell().ok_or_else(missing)?.run(budget, command).await?));
            }
            DeviceCommand::EvaluateJs { script } => {
                let value = driver.browser().ok_or_else(missing)?.evaluate(budget, script).await?;
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
                return Ok(ActionOutput { text, value: Some(value), ..ActionOutput::default() });
            }
            DeviceCommand::Browse(command) => {
                return driver.browser().ok_or_else(missing)?.browse(budget, command).await;
            }
            DeviceCommand::Phone(command) => {
                let phone = driver.phone().ok_or_else(missing)?;
                return command.carry_out(phone, budget).await.ok_or_else(missing)?;
            }
            DeviceCommand::World(command) => {
                return driver.world().ok_or_else(missing)?.change(budget, command).await;
            }
            DeviceCommand::Audit(scope) => {
                return Ok(audited(&driver.auditor().ok_or_else(missing)?.audit(budget, scope).await?));
            }
        }
        Ok(ActionOutput::default())
    }
}

/// What a command line has printed.
fn ended(output: ShellOutput) -> ActionOutput {
    let value = json!({"exitCode": output.exit_code, "stdout": output.stdout, "stderr": output.stderr});
    // Without this, a command that failed would seem to say nothing.
    let is_silent = output.exit_code != 0 && output.stdout.is_empty();
    let text = if is_silent { output.stderr } else { output.stdout };
    ActionOutput { text, value: Some(value), ..ActionOutput::default() }
}

impl WindowInfo {
    /// A line about it for people and models: `83886083 "Untitled - Editor" (editor) [active]`.
    fn line(&self) -> String {
        let active = if self.active { " [active]" } else { "" };
        format!("{} {} ({}){active}", self.id, quoted(&shorten(&self.title)), self.app)
    }
}

/// A file of the device: attached, and its text if it is a short one.
fn pulled(path: &str, content: Vec<u8>) -> ActionOutput {
    let text = std::str::from_utf8(&content).ok().filter(|text| text.len() <= TEXT && !text.contains('\0'));
    let text = text.map(str::to_string);
    let mime = if text.is_some() { "text/plain" } else { "application/octet-stream" };
    let value = json!({"bytes": content.len(), "text": text});
    let name = path.rsplit('/').next().unwrap_or(path).to_string();
    let bytes: Arc<[u8]> = content.into();
    let said = text.unwrap_or_else(|| format!("{} bytes", bytes.len()));
    let file = Attachment { name, mime: mime.to_string(), file: None, bytes };
    ActionOutput { text: said, value: Some(value), files: vec![file] }
}
