//! Settings of the phone that a session changes. What was set before is kept by the shell that puts everything back.

use trailblaze_core::driver::{Appearance, Budget, DeviceSetting, DriverError, Orientation};

use super::adb::quote;
use super::apps;
use super::driver::AndroidDriver;

/// The first versions of Android whose shell can set these.
const LOCALES_SINCE: u32 = 33;
const LOCATIONS_SINCE: u32 = 31;

/// The sources of locations that apps use.
const SOURCES: [&str; 2] = ["gps", "network"];

const AUTO_ROTATE: &str = "accelerometer_rotation";
const ROTATION: &str = "user_rotation";

impl AndroidDriver {
    pub(super) async fn change_setting(&self, budget: &Budget, setting: &DeviceSetting) -> Result<(), DriverError> {
        match setting {
            DeviceSetting::Orientation(orientation) => self.turn(budget, *orientation).await,
            DeviceSetting::Appearance(appearance) => self.set_appearance(budget, *appearance).await,
            DeviceSetting::Locale { app, locale } => self.set_locale(budget, app, locale).await,
            DeviceSetting::Location { latitude, longitude } => self.set_location(budget, *latitude, *longitude).await,
        }
    }

    async fn turn(&self, budget: &Budget, orientation: Orientation) -> Result<(), DriverError> {
        let command = format!("settings get system {AUTO_ROTATE}; settings get system {ROTATION}");
        let values = self.phone.must(budget, &command).await?;
        for (name, value) in [AUTO_ROTATE, ROTATION].iter().zip(values.lines()) {
            self.undo.keep(&self.phone, budget, &put_back("system", name, value.trim())).await?;
        }
        // A tablet is upright when it is wide; its own upright is 0.
        let is_wide = self.facts.size.width > self.facts.size.height;
        let rotation = u8::from((orientation == Orientation::Landscape) != is_wide);
        let command = format!("settings put system {AUTO_ROTATE} 0; settings put system {ROTATION} {rotation}");
        self.undo.change(&self.phone, budget, &command).await
    }

    async fn set_appearance(&self, budget: &Budget, appearance: Appearance) -> Result<(), DriverError> {
        let printed = self.phone.must(budget, "cmd uimode night").await?;
        // Such as `Night mode: auto`; of a schedule, only its kind is printed.
        let before = printed.trim().rsplit_once(' ').map_or("", |(_, mode)| mode);
        if ["yes", "no", "auto"].contains(&before) {
            self.undo.keep(&self.phone, budget, &format!("cmd uimode night {before}")).await?;
        }
        let mode = if appearance == Appearance::Dark { "yes" } else { "no" };
        self.undo.change(&self.phone, budget, &format!("cmd uimode night {mode}")).await
    }

    async fn set_locale(&self, budget: &Budget, app: &str, locale: &str) -> Result<(), DriverError> {
        self.needs_version(LOCALES_SINCE, "13", "set the language of an app")?;
        if !apps::is_installed(&self.phone, budget, app).await? {
            return Err(apps::not_installed(&self.phone, budget, app).await);
        }
        let app = quote(app);
        let printed = self.phone.must(budget, &format!("cmd locale get-app-locales {app}")).await?;
        // `Locales for com.example.wallet for user 0 are [de-DE]`
        let before = printed.rsplit_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or("", |(tags, _)| tags);
        let set = |tags: &str| match tags.is_empty() {
            true => format!("cmd locale set-app-locales {app}"),
            false => format!("cmd locale set-app-locales {app} --locales {}", quote(tags)),
        };
        self.undo.keep(&self.phone, budget, &set(before)).await?;
        self.undo.change(&self.phone, budget, &set(locale)).await
    }

    async fn set_location(&self, budget: &Budget, latitude: f64, longitude: f64) -> Result<(), DriverError> {
        self.needs_version(LOCATIONS_SINCE, "12", "set its location")?;
        let remove = SOURCES.map(|name| format!("cmd location providers remove-test-provider {name}")).join("; ");
        let back = format!("{remove}; appops set com.android.shell android:mock_location default");
        self.undo.keep(&self.phone, budget, &back).await?;
        let each = SOURCES.map(|name| {
            // It fails if the source was made already, for an earlier location.
            format!(
                "{{ cmd location providers add-test-provider {name} >/dev/null 2>&1; \
                 cmd location providers set-test-provider-enabled {name} true \
                 && cmd location providers set-test-provider-location {name} --location {latitude},{longitude}; }}"
            )
        });
        let command = format!("appops set com.android.shell android:mock_location allow && {}", each.join(" && "));
        self.undo.change(&self.phone, budget, &command).await
    }

    fn needs_version(&self, sdk: u32, name: &str, what: &str) -> Result<(), DriverError> {
        match self.facts.sdk.is_none_or(|known| known >= sdk) {
            true => Ok(()),
            false => Err(DriverError::Refused {
                reason: format!(
                    "this phone has Android {}, whose shell cannot {what}; Android {name} or newer is needed",
                    self.facts.android
                ),
            }),
        }
    }
}

/// The command that gives a setting the value that it had.
pub fn put_back(namespace: &str, name: &str, value: &str) -> String {
    match value.parse::<f64>() {
        Ok(_) => format!("settings put {namespace} {name} {value}"),
        Err(_) => format!("settings delete {namespace} {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_that_was_not_set_is_deleted() {
        assert_eq!(put_back("global", "x", "0.5"), "settings put global x 0.5");
        assert_eq!(put_back("system", "x", "null"), "settings delete system x");
        assert_eq!(put_back("global", "x", "1; reboot"), "settings delete global x");
    }
}
