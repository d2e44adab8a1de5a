//! What a phone behind Appium can do beyond its screen: apps, and alerts.

use async_trait::async_trait;
use serde_json::{Value, json};
use trailblaze_core::driver::{AlertControl, AppControl, Budget, DriverError, LaunchMode, PhoneAbilities, PhoneAlert};

use super::automation::AppiumAutomation;
use super::driver::AppiumDriver;

impl AppiumDriver {
    /// One of Appium's commands for an app. One that its driver does not have is unsupported.
    async fn app_command(&self, budget: &Budget, name: &str, app: &str) -> Result<Value, DriverError> {
        let key = if self.automation == AppiumAutomation::XcuiTest { "bundleId" } else { "appId" };
        match self.session.mobile(budget, name, json!({key: app})).await {
            Err(fault) if fault.is_unknown() => Err(self.unsupported(name)),
            done => Ok(done?),
        }
    }
}

#[async_trait]
impl AppControl for AppiumDriver {
    async fn launch(&self, budget: &Budget, app: &str, mode: LaunchMode) -> Result<(), DriverError> {
        if app.contains("://") {
            return self.open_url(budget, app).await;
        }
        match mode {
            LaunchMode::Reinstall => self.clear_data(budget, app).await?,
            LaunchMode::ForceRestart => self.stop(budget, app).await?,
            LaunchMode::Resume => {}
        }
        self.app_command(budget, "activateApp", app).await.map(drop)
    }

    async fn stop(&self, budget: &Budget, app: &str) -> Result<(), DriverError> {
        self.app_command(budget, "terminateApp", app).await.map(drop)
    }

    async fn clear_data(&self, budget: &Budget, app: &str) -> Result<(), DriverError> {
        self.stop(budget, app).await?;
        self.app_command(budget, "clearApp", app).await.map(drop)
    }

    async fn open_url(&self, budget: &Budget, url: &str) -> Result<(), DriverError> {
        self.session.post(budget, "/url", json!({"url": url})).await?;
        Ok(())
    }
}

impl PhoneAbilities for AppiumDriver {
    fn alerts(&self) -> Option<&dyn AlertControl> {
        Some(self)
    }
}

#[async_trait]
impl AlertControl for AppiumDriver {
    async fn alert(&self, budget: &Budget) -> Result<Option<PhoneAlert>, DriverError> {
        let Some(text) = self.open_alert(budget).await? else { return Ok(None) };
        let buttons = match self.automation {
            // Only WebDriverAgent names them.
            AppiumAutomation::XcuiTest => {
                let named = self.session.mobile(budget, "alert", json!({"action": "getButtons"})).await?;
                named.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_string).collect()
            }
            AppiumAutomation::UiAutomator2 | AppiumAutomation::Fake => Vec::new(),
        };
        Ok(Some(PhoneAlert { text, buttons }))
    }

    async fn answer_alert(&self, budget: &Budget, accept: bool, button: Option<&str>) -> Result<(), DriverError> {
        let word = if accept { "accept" } else { "dismiss" };
        let answered = match (button, self.automation) {
            (None, _) => self.session.post(budget, &format!("/alert/{word}"), json!({})).await,
            (Some(button), AppiumAutomation::XcuiTest) => {
                self.session.mobile(budget, "alert", json!({"action": word, "buttonLabel": button})).await
            }
            (Some(button), AppiumAutomation::UiAutomator2) => {
                self.session.mobile(budget, &format!("{word}Alert"), json!({"buttonLabel": button})).await
            }
            (Some(_), AppiumAutomation::Fake) => return Err(self.unsupported("the button of an alert by its name")),
        };
        match answered {
            Ok(_) => Ok(()),
            Err(fault) if fault.is_code("no such alert") => {
                Err(DriverError::Refused { reason: "no alert is shown".to_string() })
            }
            Err(fault) => Err(fault.into()),
        }
    }
}
