//! What an iPhone can do that only phones can.

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use trailblaze_core::driver::{
    AccessibilityAuditor, AccessibilityFault, AlertControl, AppLauncher, AppProcessState, AppProcesses, AuditScope,
    Budget, ClipboardReader, DriverError, LaunchSettings, LockControl, PhoneAbilities, PhoneAlert, cut,
};
use trailblaze_core::screen::fold;

use super::alerts::{Alert, explained};
use super::driver::IosDriver;
use super::wda::WdaCode;

/// The most faults of an audit that are returned, and the longest text of one.
const FAULTS: usize = 200;
const TEXT: usize = 300;

impl PhoneAbilities for IosDriver {
    fn lock(&self) -> Option<&dyn LockControl> {
        Some(self)
    }

    fn clipboard_reader(&self) -> Option<&dyn ClipboardReader> {
        Some(self)
    }

    fn launcher(&self) -> Option<&dyn AppLauncher> {
        Some(self)
    }

    fn processes(&self) -> Option<&dyn AppProcesses> {
        Some(self)
    }

    fn alerts(&self) -> Option<&dyn AlertControl> {
        Some(self)
    }
}

#[async_trait]
impl LockControl for IosDriver {
    async fn lock(&self, budget: &Budget) -> Result<(), DriverError> {
        self.wda.post(budget, "/wda/lock", json!({})).await.map(drop).map_err(DriverError::from)
    }

    async fn unlock(&self, budget: &Budget) -> Result<(), DriverError> {
        self.wda.post(budget, "/wda/unlock", json!({})).await?;
        match self.wda.get(budget, "/wda/locked").await?.as_bool() {
            Some(true) => {
                Err(DriverError::Refused { reason: "it stays locked; remove its code while tests run".to_string() })
            }
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl ClipboardReader for IosDriver {
    async fn read(&self, budget: &Budget) -> Result<String, DriverError> {
        let content = self.wda.post(budget, "/wda/getPasteboard", json!({"contentType": "plaintext"})).await;
        let refused = |what: &str| DriverError::Refused { reason: format!("the clipboard cannot be read: {what}") };
        match content {
            Ok(content) => {
                let bytes = STANDARD.decode(content.as_str().unwrap_or_default());
                let bytes = bytes.map_err(|_| refused("WebDriverAgent returned what is not base64"))?;
                let text = String::from_utf8(bytes).map_err(|_| refused("it contains no text"))?;
                // iOS shows an empty one to programs that are not in front.
                Ok(if text.is_empty() { self.clipboard_text().unwrap_or_default() } else { text })
            }
            Err(error) if error.code().is_some() => self.clipboard_text().ok_or_else(|| refused(&error.to_string())),
            Err(error) => Err(error.into()),
        }
    }
}

#[async_trait]
impl AppLauncher for IosDriver {
    async fn launch_with(&self, budget: &Budget, app: &str, how: &LaunchSettings) -> Result<(), DriverError> {
        self.launch_app(budget, app, how).await
    }
}

#[async_trait]
impl AppProcesses for IosDriver {
    async fn state(&self, budget: &Budget, app: &str) -> Result<AppProcessState, DriverError> {
        let state = self.post(budget, "/wda/apps/state", json!({"bundleId": app})).await?;
        match state.as_i64() {
            Some(0) => Ok(AppProcessState::NotInstalled),
            Some(1) => Ok(AppProcessState::NotRunning),
            Some(2) => Ok(AppProcessState::Suspended),
            Some(3) => Ok(AppProcessState::Background),
            Some(4) => Ok(AppProcessState::Foreground),
            _ => {
                let reason = format!("WebDriverAgent returned a state of `{app}` that is none: {state}");
                Err(DriverError::Refused { reason: cut(&fold(&reason), TEXT) })
            }
        }
    }
}

#[async_trait]
impl AlertControl for IosDriver {
    async fn alert(&self, budget: &Budget) -> Result<Option<PhoneAlert>, DriverError> {
        match self.wda.get(budget, "/alert/text").await {
            Err(error) if error.code() == Some(&WdaCode::NoSuchAlert) => Ok(None),
            Err(error) => Err(error.into()),
            Ok(_) => {
                let alert = Alert::ask(&self.wda, budget).await;
                Ok(alert.map(|Alert { text, buttons }| PhoneAlert { text, buttons }))
            }
        }
    }

    async fn answer_alert(&self, budget: &Budget, accept: bool, button: Option<&str>) -> Result<(), DriverError> {
        let route = if accept { "/alert/accept" } else { "/alert/dismiss" };
        let body = button.map_or_else(|| json!({}), |name| json!({"name": name}));
        // Before it is gone, so that the record says what was answered.
        let shown = Alert::ask(&self.wda, budget).await;
        match self.wda.post(budget, route, body).await {
            Ok(_) => {
                if let Some(alert) = shown {
                    self.add_event(alert.answered(accept, button));
                }
                Ok(())
            }
            Err(error) if error.code() == Some(&WdaCode::NoSuchAlert) => {
                Err(DriverError::Refused { reason: "no alert is shown".to_string() })
            }
            Err(error) => {
                let told = shown.map(|alert| format!("; the alert is: {}", alert.told())).unwrap_or_default();
                Err(DriverError::Refused { reason: format!("the alert was not answered: {error}{told}") })
            }
        }
    }
}

#[async_trait]
impl AccessibilityAuditor for IosDriver {
    async fn audit(&self, budget: &Budget, scope: &AuditScope) -> Result<Vec<AccessibilityFault>, DriverError> {
        if scope.within.is_some() || !scope.except.is_empty() || !scope.tags.is_empty() {
            let reason =
                "the audit of iOS is about the whole screen, by `rules`; it has no tags, and leaves out no elements";
            return Err(DriverError::Refused { reason: reason.to_string() });
        }
        let body = if scope.rules.is_empty() { json!({}) } else { json!({"auditTypes": scope.rules}) };
        let found = match self.wda.session_post(budget, "/wda/performAccessibilityAudit", body).await {
            Ok(found) => found,
            Err(error) => return Err(explained(error, &self.wda, budget).await),
        };
        let text = |fault: &Value, keys: [&str; 2]| {
            let found = keys.iter().find_map(|key| fault.get(key).and_then(Value::as_str));
            cut(&fold(found.unwrap_or_default()), TEXT)
        };
        let fault = |fault: &Value| AccessibilityFault {
            rule: text(fault, ["auditType", "compactDescription"]),
            text: text(fault, ["detailedDescription", "compactDescription"]),
            element: text(fault, ["element", "elementDescription"]),
            ..AccessibilityFault::default()
        };
        Ok(found.as_array().into_iter().flatten().take(FAULTS).map(fault).collect())
    }
}
