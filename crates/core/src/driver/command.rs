//! Commands to a device as a whole, each of which needs an ability that not every device has.

use serde_json::json;

use super::{ActionOutput, Browse, Budget, Driver, DriverError, LaunchMode};

#[derive(Debug, Clone, PartialEq)]
pub enum DeviceCommand {
    LaunchApp { app: String, mode: LaunchMode },
    StopApp { app: String },
    ClearAppData { app: String },
    OpenUrl { url: String },
    ListApps,
    GrantPermission { app: String, permission: String },
    SetClipboard { text: String },
    PasteClipboard,
    SetNetwork { connected: bool },
    Shell { command: String },
    EvaluateJs { script: String },
    Browse(Browse),
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
            DeviceCommand::GrantPermission { .. } => "grantPermission",
            DeviceCommand::SetClipboard { .. } => "setClipboard",
            DeviceCommand::PasteClipboard => "pasteClipboard",
            DeviceCommand::SetNetwork { .. } => "setNetwork",
            DeviceCommand::Shell { .. } => "shell",
            DeviceCommand::EvaluateJs { .. } => "evaluateJs",
            DeviceCommand::Browse(browse) => browse.name(),
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
            DeviceCommand::GrantPermission { app, permission } => {
                driver.permissions().ok_or_else(missing)?.grant(budget, app, permission).await?;
            }
            DeviceCommand::SetClipboard { text } => driver.clipboard().ok_or_else(missing)?.set(budget, text).await?,
            DeviceCommand::PasteClipboard => driver.clipboard().ok_or_else(missing)?.paste(budget).await?,
            DeviceCommand::SetNetwork { connected } => {
                driver.network().ok_or_else(missing)?.set_connected(budget, *connected).await?;
            }
            DeviceCommand::Shell { command } => {
                let output = driver.shell().ok_or_else(missing)?.run(budget, command).await?;
                let value = json!({
                    "exitCode": output.exit_code, "stdout": output.stdout, "stderr": output.stderr,
                });
                // Without this, a command that failed would seem to say nothing.
                let is_silent = output.exit_code != 0 && output.stdout.is_empty();
                let text = if is_silent { output.stderr } else { output.stdout };
                return Ok(ActionOutput { text, value: Some(value), ..ActionOutput::default() });
            }
            DeviceCommand::EvaluateJs { script } => {
                let value = driver.browser().ok_or_else(missing)?.evaluate(budget, script).await?;
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
                return Ok(ActionOutput { text, value: Some(value), ..ActionOutput::default() });
            }
            DeviceCommand::Browse(command) => {
                return driver.browser().ok_or_else(missing)?.browse(budget, command).await;
            }
        }
        Ok(ActionOutput::default())
    }
}
