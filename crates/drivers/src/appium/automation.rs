//! Which of Appium's drivers a session has. They share the protocol, but neither page sources nor what touches an element.

use serde_json::Value;
use trailblaze_protocol::driver::Platform;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppiumAutomation {
    UiAutomator2,
    XcuiTest,
    /// Appium's own for tests: its apps are files.
    Fake,
}

const AUTOMATION_NAME: &str = "appium:automationName";

impl AppiumAutomation {
    /// The one that a session is asked for.
    pub fn wanted(capabilities: &Value, platform: Platform) -> Result<AppiumAutomation, String> {
        let name = capabilities.get(AUTOMATION_NAME).or_else(|| capabilities.get("automationName"));
        match name.and_then(Value::as_str).map(str::to_ascii_lowercase).as_deref() {
            None if platform == Platform::Ios => Ok(AppiumAutomation::XcuiTest),
            None => Ok(AppiumAutomation::UiAutomator2),
            Some("uiautomator2") if platform == Platform::Android => Ok(AppiumAutomation::UiAutomator2),
            Some("xcuitest") if platform == Platform::Ios => Ok(AppiumAutomation::XcuiTest),
            Some("fake") => Ok(AppiumAutomation::Fake),
            Some(name) => Err(format!(
                "its `{AUTOMATION_NAME}` is `{name}`, whose page sources cannot be read here as those of {platform}; UiAutomator2 \
                 (android), XCUITest (ios) and Fake can"
            )),
        }
    }

    /// As capabilities name it.
    pub fn name(self) -> &'static str {
        match self {
            AppiumAutomation::UiAutomator2 => "UiAutomator2",
            AppiumAutomation::XcuiTest => "XCUITest",
            AppiumAutomation::Fake => "Fake",
        }
    }

    fn platform_name(self) -> &'static str {
        match self {
            AppiumAutomation::UiAutomator2 => "Android",
            AppiumAutomation::XcuiTest => "iOS",
            AppiumAutomation::Fake => "Fake",
        }
    }

    /// What is asked of a session, unless the project asks for something else.
    pub fn capabilities(self, own: &Value) -> Value {
        let mut wanted = serde_json::json!({
            "platformName": self.platform_name(),
            AUTOMATION_NAME: self.name(),
            // A model may think for longer than the minute that is usual.
            "appium:newCommandTimeout": 600,
        });
        if let (Some(wanted), Some(own)) = (wanted.as_object_mut(), own.as_object()) {
            wanted.extend(own.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        wanted
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_driver_of_appium_follows_from_the_platform_unless_it_is_named() {
        assert_eq!(AppiumAutomation::wanted(&json!({}), Platform::Android), Ok(AppiumAutomation::UiAutomator2));
        assert_eq!(AppiumAutomation::wanted(&json!({}), Platform::Ios), Ok(AppiumAutomation::XcuiTest));
        let fake = json!({AUTOMATION_NAME: "Fake", "platformName": "Fake"});
        assert_eq!(AppiumAutomation::wanted(&fake, Platform::Ios), Ok(AppiumAutomation::Fake));
        let espresso = AppiumAutomation::wanted(&json!({AUTOMATION_NAME: "Espresso"}), Platform::Android);
        assert!(espresso.is_err_and(|why| why.contains("`espresso`")));
        let asked = AppiumAutomation::UiAutomator2.capabilities(&json!({"platformName": "android"}));
        assert_eq!((&asked["platformName"], &asked[AUTOMATION_NAME]), (&json!("android"), &json!("UiAutomator2")));
    }
}
