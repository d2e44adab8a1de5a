//! Settings of the whole device, which are put back at the end.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::time::Instant;
use trailblaze_core::driver::{Appearance, Budget, DeviceSetting, DriverError, Orientation, SettingsControl};
use trailblaze_protocol::device_event::DeviceEvent;
use trailblaze_protocol::event::Level;

use super::alerts::explained;
use super::driver::IosDriver;

/// How long an app may take to turn with the screen, and how often that is checked.
const TURNING: Duration = Duration::from_secs(3);
const TICK: Duration = Duration::from_millis(50);

/// What was set before it was changed.
#[derive(Debug, Default)]
pub struct EarlierSettings {
    pub orientation: Option<Value>,
    pub appearance: Option<Value>,
    /// Whether another place is pretended.
    pub has_location: bool,
}

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
                match self.wda.post(budget, "/wda/simulatedLocation", place).await {
                    Ok(_) => {
                        self.earlier.lock().await.has_location = true;
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
        let before = self.wda.get(budget, "/orientation").await?;
        let (name, is_wide) = match orientation {
            Orientation::Portrait => ("PORTRAIT", false),
            Orientation::Landscape => ("LANDSCAPE", true),
        };
        let turned = self.wda.post(budget, "/orientation", json!({"orientation": name})).await;
        if let Err(error) = turned {
            let told = match error.code() {
                Some(_) => format!("the screen does not turn; the app in front may not allow it: {error}"),
                None => return Err(error.into()),
            };
            return Err(DriverError::Refused { reason: told });
        }
        self.earlier.lock().await.orientation.get_or_insert(before);
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
        let name = match appearance {
            Appearance::Light => "light",
            Appearance::Dark => "dark",
        };
        match self.wda.post(budget, "/wda/device/appearance", json!({"name": name})).await {
            Ok(_) => {
                let mut earlier = self.earlier.lock().await;
                if let (None, Some(before)) = (&earlier.appearance, before) {
                    earlier.appearance = Some(before);
                }
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

    /// Puts back what was changed. What cannot be put back is logged.
    pub(super) async fn put_back(&self, budget: &Budget) {
        let EarlierSettings { orientation, appearance, has_location } = std::mem::take(&mut *self.earlier.lock().await);
        let mut failed = Vec::new();
        if let Some(orientation) = orientation {
            failed.extend(self.wda.post(budget, "/orientation", json!({"orientation": orientation})).await.err());
        }
        if let Some(appearance) = appearance {
            failed.extend(self.wda.post(budget, "/wda/device/appearance", json!({"name": appearance})).await.err());
        }
        if has_location {
            failed.extend(self.wda.delete(budget, "/wda/simulatedLocation").await.err());
        }
        for error in failed {
            tracing::debug!(target: "trailblaze::ios", %error, "a setting was not put back");
        }
    }
}
