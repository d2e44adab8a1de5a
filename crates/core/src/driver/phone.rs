//! What phones can do beyond showing apps. A driver returns those abilities that its phone has.

use async_trait::async_trait;
use serde_json::json;

use super::{ActionOutput, Budget, DriverError, LaunchMode, named};

/// The abilities of a phone; `None` if this one lacks it.
pub trait PhoneAbilities: Send + Sync {
    fn lock(&self) -> Option<&dyn LockControl> {
        None
    }

    fn clipboard_reader(&self) -> Option<&dyn ClipboardReader> {
        None
    }

    fn launcher(&self) -> Option<&dyn AppLauncher> {
        None
    }

    fn processes(&self) -> Option<&dyn AppProcesses> {
        None
    }

    fn alerts(&self) -> Option<&dyn AlertControl> {
        None
    }
}

named! {
    pub enum AppProcessState {
        NotInstalled "NOT_INSTALLED",
        NotRunning "NOT_RUNNING",
        Suspended "SUSPENDED",
        Background "BACKGROUND",
        Foreground "FOREGROUND",
    }
}

#[async_trait]
pub trait LockControl: Send + Sync {
    async fn lock(&self, budget: &Budget) -> Result<(), DriverError>;
    async fn unlock(&self, budget: &Budget) -> Result<(), DriverError>;
}

#[async_trait]
pub trait ClipboardReader: Send + Sync {
    async fn read(&self, budget: &Budget) -> Result<String, DriverError>;
}

/// Apps that take arguments and environment variables.
#[async_trait]
pub trait AppLauncher: Send + Sync {
    async fn launch_with(&self, budget: &Budget, app: &str, how: &LaunchSettings) -> Result<(), DriverError>;
}

#[async_trait]
pub trait AppProcesses: Send + Sync {
    async fn state(&self, budget: &Budget, app: &str) -> Result<AppProcessState, DriverError>;
}

/// How an app is launched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchSettings {
    pub mode: LaunchMode,
    pub arguments: Vec<String>,
    /// Names with values.
    pub environment: Vec<(String, String)>,
}

/// The alert that is in front of everything, whether it is one of the app or of the system.
#[async_trait]
pub trait AlertControl: Send + Sync {
    /// What it says and its buttons; `None` if there is no alert.
    async fn alert(&self, budget: &Budget) -> Result<Option<PhoneAlert>, DriverError>;
    /// Taps the button of this name. Without a name, the one that agrees or the one that does not.
    async fn answer_alert(&self, budget: &Budget, accept: bool, button: Option<&str>) -> Result<(), DriverError>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhoneAlert {
    pub text: String,
    pub buttons: Vec<String>,
}

/// A command that only phones have.
#[derive(Debug, Clone, PartialEq)]
pub enum PhoneCommand {
    Lock,
    Unlock,
    GetClipboard,
    LaunchWith { app: String, how: LaunchSettings },
    GetAppState { app: String },
    GetAlert,
    AnswerAlert { accept: bool, button: Option<String> },
}

impl PhoneCommand {
    /// The command's name in messages and events.
    pub fn name(&self) -> &'static str {
        match self {
            PhoneCommand::Lock => "lock",
            PhoneCommand::Unlock => "unlock",
            PhoneCommand::GetClipboard => "getClipboard",
            PhoneCommand::LaunchWith { .. } => "launchApp",
            PhoneCommand::GetAppState { .. } => "getAppState",
            PhoneCommand::GetAlert => "getAlert",
            PhoneCommand::AnswerAlert { .. } => "answerAlert",
        }
    }

    /// Carries it out; `None` if the phone lacks the ability.
    pub(super) async fn carry_out(
        &self,
        phone: &dyn PhoneAbilities,
        budget: &Budget,
    ) -> Option<Result<ActionOutput, DriverError>> {
        let done = match self {
            PhoneCommand::Lock => phone.lock()?.lock(budget).await,
            PhoneCommand::Unlock => phone.lock()?.unlock(budget).await,
            PhoneCommand::LaunchWith { app, how } => phone.launcher()?.launch_with(budget, app, how).await,
            PhoneCommand::AnswerAlert { accept, button } => {
                phone.alerts()?.answer_alert(budget, *accept, button.as_deref()).await
            }
            PhoneCommand::GetClipboard => {
                let text = phone.clipboard_reader()?.read(budget).await;
                return Some(text.map(|text| output(text.clone(), json!(text))));
            }
            PhoneCommand::GetAppState { app } => {
                let state = phone.processes()?.state(budget, app).await;
                return Some(state.map(|state| output(state.name().to_string(), json!(state.name()))));
            }
            PhoneCommand::GetAlert => {
                let alert = phone.alerts()?.alert(budget).await;
                return Some(alert.map(|alert| alert.map_or_else(no_alert, alert_output)));
            }
        };
        Some(done.map(|()| ActionOutput::default()))
    }
}

fn output(text: String, value: serde_json::Value) -> ActionOutput {
    ActionOutput { text, value: Some(value), ..ActionOutput::default() }
}

fn no_alert() -> ActionOutput {
    output("no alert is shown".to_string(), serde_json::Value::Null)
}

fn alert_output(PhoneAlert { text, buttons }: PhoneAlert) -> ActionOutput {
    let value = json!({"text": text, "buttons": buttons});
    let buttons: Vec<String> = buttons.iter().map(|button| format!("\"{button}\"")).collect();
    output(format!("{text}\nbuttons: {}", buttons.join(", ")), value)
}
