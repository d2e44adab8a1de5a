//! Alerts that are in front of the app: those of iOS itself, which ask for a permission or for something else.

use serde_json::Value;
use trailblaze_core::driver::{Budget, DriverError, cut};
use trailblaze_core::screen::{Node, fold};
use trailblaze_protocol::device_event::DeviceEvent;

use super::wda::{WdaClient, WdaCode, WdaError};

/// The program that draws the home screen and the alerts of iOS.
pub const SPRINGBOARD: &str = "com.apple.springboard";
/// The longest text of an alert that is passed on, in bytes, and the most buttons.
const TEXT: usize = 500;
const BUTTONS: usize = 6;

/// An alert, with what it says and how it can be answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alert {
    pub text: String,
    pub buttons: Vec<String>,
}

impl Alert {
    /// The alert on the screen, whether it is one of the app or of iOS.
    pub fn on(root: &Node) -> Option<Alert> {
        let is_alert = |node: &&Node| matches!(node.class(), Some("Alert" | "Sheet"));
        let alert = root.walk().find(is_alert)?;
        let texts = alert.walk().filter(|node| node.class() == Some("StaticText")).filter_map(Node::text);
        let buttons = alert.walk().filter(|node| node.class() == Some("Button")).filter_map(Node::text);
        let buttons: Vec<String> = buttons.take(BUTTONS).map(fold).collect();
        // The labels of buttons are texts as well.
        let mut texts: Vec<String> = texts.map(fold).filter(|text| !buttons.contains(text)).collect();
        if texts.is_empty() {
            texts.extend(alert.label().map(fold));
        }
        Some(Alert { text: cut(&texts.join(" "), TEXT), buttons })
    }

    /// The alert that WebDriverAgent sees, if there is one.
    pub async fn ask(wda: &WdaClient, budget: &Budget) -> Option<Alert> {
        let text = wda.get(budget, "/alert/text").await.ok()?;
        let buttons = wda.session_get(budget, "/wda/alert/buttons").await.unwrap_or_default();
        let buttons = buttons.as_array().into_iter().flatten().filter_map(Value::as_str);
        let text = cut(&fold(text.as_str().unwrap_or_default()), TEXT);
        Some(Alert { text, buttons: buttons.take(BUTTONS).map(fold).collect() })
    }

    /// The error of a command that it keeps from being carried out.
    pub fn in_the_way(&self) -> DriverError {
        in_the_way(&self.told())
    }

    pub fn told(&self) -> String {
        let text = if self.text.is_empty() { "it has no text" } else { &self.text };
        match self.buttons.is_empty() {
            true => text.to_string(),
            false => {
                let buttons: Vec<String> = self.buttons.iter().map(|button| format!("\"{button}\"")).collect();
                format!("{text} (buttons: {})", buttons.join(", "))
            }
        }
    }

    /// That it was answered, for the record.
    pub fn answered(&self, accept: bool, button: Option<&str>) -> DeviceEvent {
        let (kind, text) = ("alert".to_string(), button.map(str::to_string));
        DeviceEvent::Dialog { kind, message: self.told(), is_accepted: accept, text, is_unexpected: false }
    }

    /// What those who act on the device must know.
    pub fn event(&self) -> DeviceEvent {
        DeviceEvent::SystemDialog { text: format!("an alert of iOS is in front of the app: {}", self.told()) }
    }
}

/// The error of a command, with the alert that is in its way.
pub async fn explained(error: WdaError, wda: &WdaClient, budget: &Budget) -> DriverError {
    if error.code() != Some(&WdaCode::UnexpectedAlert) {
        return error.into();
    }
    match Alert::ask(wda, budget).await {
        Some(alert) => alert.in_the_way(),
        None => in_the_way("WebDriverAgent does not say which"),
    }
}

fn in_the_way(told: &str) -> DriverError {
    DriverError::Refused { reason: format!("an alert is in the way; tap one of its buttons first: {told}") }
}

/// Whether the app in front is iOS itself.
pub async fn is_system_in_front(wda: &WdaClient, budget: &Budget) -> Result<bool, WdaError> {
    Ok(front_app(wda, budget).await?.as_deref() == Some(SPRINGBOARD))
}

/// The bundle id of the app in front.
pub async fn front_app(wda: &WdaClient, budget: &Budget) -> Result<Option<String>, WdaError> {
    let info = wda.get(budget, "/wda/activeAppInfo").await?;
    Ok(info.get("bundleId").and_then(Value::as_str).filter(|id| !id.is_empty()).map(|id| cut(id, TEXT)))
}
