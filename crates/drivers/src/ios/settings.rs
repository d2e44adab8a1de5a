//! Settings of the whole device, which are put back at the end.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use tokio::time::Instant;
use trailblaze_core::driver::{Appearance, Budget, DeviceSetting, DriverError, Orientation, SettingsControl};
use trailblaze_protocol::device_event::DeviceEvent;
use trailblaze_protocol::event::Level;

use super::alerts::explained;
use super::driver::IosDriver;
use super::undo::DeviceChange;

/// How long an app may take to turn with the screen, and how often that is checked.
const TURNING: Duration = Duration::from_secs(3);
const TICK: Duration = Duration::from_millis(50);

/// The languages that apps are launched with, by their ids.
pub type AppLocales = BTreeMap<String, String>;

#[async_trait]
impl SettingsControl for IosDriver {
    async fn change(&self, budget: &Budget, setting: &DeviceSetting) -> Result<(), DriverError> {
        match setting {
            DeviceSetting::Orientation(orientation) => self.turn(budget, *orientation).await,
            DeviceSetting::Appearance(appearance) => self.set_appearance(budget, *appearance).await,
            DeviceSetting::Locale { app, locale } => {
                // iOS reads it when the app starts.
                self.locales.lock().insert(app.clone(), locale.clone());
                let text = format!("the app `{app}` has the language {locale} from its next launch on");
                self.add_event(DeviceEvent::Log { level: Level::Info, text });
                Ok(())
            }
            DeviceSetting::Location { latitude, longitude } => {
                let place = json!({"latitude": latitude, "longitude": longitude});
                self.undo.will_change(budget, &DeviceChange::Location).await;
                match self.wda.post(budget, "/wda/simulatedLocation", place).await {
                    Ok(_) => {
                        self.undo.has_changed(DeviceChange::Location);
                        Ok(())
                    }
                    Err(error) => Err(explained(error, &self.wda, budget).await),
                }
            }
        }
    }
}

impl IosDriver {
    async fn turn(&self, budget: &Budget, orientation: Orientation) -> Result<(), DriverError> {
        let before = DeviceChange::Orientation(self.wda.get(budget, "/orientation").await?);
        let (name, is_wide) = match orientation {
            Orientation::Portrait => ("PORTRAIT", false),
            Orientation::Landscape => ("LANDSCAPE", true),
        };
        self.undo.will_change(budget, &before).await;
        let turned = self.wda.post(budget, "/orientation", json!({"orientation": name})).await;
        if let Err(error) = turned {
            let told = match error.code() {
                Some(_) => format!("the screen does not turn; the app in front may not allow it: {error}"),
                None => return Err(error.into()),
            };
            return Err(DriverError::Refused { reason: told });
        }
        self.undo.has_changed(before);
        // WebDriverAgent answers before the app has turned, and the places of elements are wrong until then.
        let until = budget.deadline.min(Instant::now() + TURNING);
        loop {
            let source = self.look_at_root(budget).await?;
            if (source.width > source.height) == is_wide {
                return Ok(());
            }
            if Instant::now() >= until {
                let text = format!("the app in front did not turn to {name}");
                self.add_event(DeviceEvent::Log { level: Level::Warning, text });
                return Ok(());
            }
            budget.run("the screen to turn", tokio::time::sleep(TICK)).await?;
        }
    }

    async fn set_appearance(&self, budget: &Budget, appearance: Appearance) -> Result<(), DriverError> {
        let device = self.wda.get(budget, "/wda/device/info").await?;
        let before = device.get("userInterfaceStyle").filter(|style| style.is_string()).cloned();
        let before = before.map(DeviceChange::Appearance);
        if let Some(before) = &before {
            self.undo.will_change(budget, before).await;
        }
        let name = match appearance {
            Appearance::Light => "light",
            Appearance::Dark => "dark",
        };
        match self.wda.post(budget, "/wda/device/appearance", json!({"name": name})).await {
            Ok(_) => {
                before.into_iter().for_each(|before| self.undo.has_changed(before));
                Ok(())
            }
            Err(error) => Err(explained(error, &self.wda, budget).await),
        }
    }

    /// The arguments with which an app is launched in its language.
    pub(super) fn locale_arguments(&self, app: &str) -> Vec<String> {
        let Some(locale) = self.locales.lock().get(app).cloned() else { return Vec::new() };
        let language = format!("({locale})");
        ["-AppleLanguages".to_string(), language, "-AppleLocale".to_string(), locale.replace('-', "_")].to_vec()
    }
}
