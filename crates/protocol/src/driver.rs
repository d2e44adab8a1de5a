//! Platforms and driver keys, as spelled in configuration, environment variables and messages.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The platform of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Platform {
    /// Phones, tablets and televisions with Android.
    Android,
    /// iPhones and iPads.
    Ios,
    /// Browsers.
    Web,
    /// Programs with windows.
    Desktop,
}

impl Platform {
    pub const ALL: [Platform; 4] = [Platform::Android, Platform::Ios, Platform::Web, Platform::Desktop];

    pub fn name(self) -> &'static str {
        match self {
            Platform::Android => "android",
            Platform::Ios => "ios",
            Platform::Web => "web",
            Platform::Desktop => "desktop",
        }
    }

    /// Parses a platform, ignoring case.
    pub fn parse(text: &str) -> Option<Platform> {
        Platform::ALL.into_iter().find(|platform| platform.name().eq_ignore_ascii_case(text))
    }

    pub fn is_mobile(self) -> bool {
        matches!(self, Platform::Android | Platform::Ios)
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A driver's key, such as `android-ondevice-accessibility`. Unknown keys are valid: a tool may be made for a driver
/// that only a newer build has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DriverKey(String);

struct KnownDriver {
    key: &'static str,
    platform: Platform,
    is_default: bool,
    runs_agent_on_device: bool,
}

const fn known(key: &'static str, platform: Platform) -> KnownDriver {
    KnownDriver { key, platform, is_default: false, runs_agent_on_device: false }
}

const DRIVERS: &[KnownDriver] = &[
    KnownDriver {
        is_default: true,
        runs_agent_on_device: true,
        ..known("android-ondevice-accessibility", Platform::Android)
    },
    KnownDriver { runs_agent_on_device: true, ..known("android-ondevice-instrumentation", Platform::Android) },
    known("android-host", Platform::Android),
    known("revyl-android", Platform::Android),
    KnownDriver { is_default: true, ..known("ios-host", Platform::Ios) },
    known("ios-axe", Platform::Ios),
    known("revyl-ios", Platform::Ios),
    KnownDriver { is_default: true, ..known("playwright-native", Platform::Web) },
    known("playwright-electron", Platform::Web),
    KnownDriver { is_default: true, ..known("desktop-atspi", Platform::Desktop) },
    known("compose", Platform::Desktop),
];

impl DriverKey {
    /// A device of any platform, behind a WebDriver grid.
    pub const WEBDRIVER: &'static str = "webdriver";
    /// The embedded simulated device.
    pub const SIM: &'static str = "sim";

    /// Accepts both spellings: `ios-host` and `IOS_HOST`.
    pub fn new(text: &str) -> DriverKey {
        DriverKey(text.trim().to_ascii_lowercase().replace('_', "-"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The default driver of a platform.
    pub fn default_for(platform: Platform) -> DriverKey {
        let row = DRIVERS.iter().find(|row| row.platform == platform && row.is_default);
        DriverKey(row.expect("every platform has a default driver").key.to_string())
    }

    pub fn known_keys() -> impl Iterator<Item = &'static str> {
        DRIVERS.iter().map(|row| row.key).chain([DriverKey::WEBDRIVER, DriverKey::SIM])
    }

    pub fn is_known(&self) -> bool {
        DriverKey::known_keys().any(|key| key == self.0)
    }

    /// The platform of the driver; `None` if it is unknown or serves several.
    pub fn platform(&self) -> Option<Platform> {
        self.row().map(|row| row.platform)
    }

    /// Whether the agent can run on the device, where tools that require the host are unavailable.
    pub fn runs_agent_on_device(&self) -> bool {
        self.row().is_some_and(|row| row.runs_agent_on_device)
    }

    /// Whether `pattern` matches this driver: its key, its platform, or `all`. `platform` is the platform of the device,
    /// for drivers that serve several.
    pub fn matches(&self, pattern: &str, platform: Platform) -> bool {
        DriverKey::new(pattern) == *self
            || pattern.eq_ignore_ascii_case("all")
            || Platform::parse(pattern).is_some_and(|named| self.platform().unwrap_or(platform) == named)
    }

    fn row(&self) -> Option<&'static KnownDriver> {
        DRIVERS.iter().find(|row| row.key == self.0)
    }
}

impl fmt::Display for DriverKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where natural-language steps are carried out: on the host, or on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AgentMode {
    /// On the computer that Trailblaze runs on.
    #[default]
    Host,
    /// On the device.
    OnDevice,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_matches_either_spelling_and_its_platform() {
        let driver = DriverKey::new("ANDROID_ONDEVICE_ACCESSIBILITY");
        assert_eq!(driver.as_str(), "android-ondevice-accessibility");
        assert!(driver.matches("android", Platform::Android));
        assert!(driver.matches("android-ondevice-accessibility", Platform::Android));
        assert!(!driver.matches("ios", Platform::Android));
        assert!(!DriverKey::new("nonsense").is_known());
    }
}
