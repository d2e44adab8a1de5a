//! What a tab emulates, as commands of the protocol.

use serde_json::{Value, json};
use trailblaze_protocol::geometry::Size;

use super::super::emulation::Emulation;

/// The commands that set up a tab.
pub fn commands(emulation: &Emulation) -> Vec<(&'static str, Value)> {
    let Size { width, height } = emulation.size;
    let metrics =
        json!({"width": width, "height": height, "deviceScaleFactor": emulation.scale, "mobile": emulation.is_mobile});
    let mut commands = vec![("Emulation.setDeviceMetricsOverride", metrics)];
    if emulation.is_mobile {
        let touch = json!({"enabled": true, "maxTouchPoints": 5});
        commands.push(("Emulation.setTouchEmulationEnabled", touch));
    }
    // An empty user agent leaves the browser's own. The language is that of requests and of `navigator`; the locale below is that of `Intl`.
    if emulation.user_agent.is_some() || emulation.locale.is_some() {
        let mut agent = json!({"userAgent": emulation.user_agent.as_deref().unwrap_or_default()});
        if let Some(locale) = &emulation.locale {
            agent["acceptLanguage"] = json!(locale);
        }
        commands.push(("Emulation.setUserAgentOverride", agent));
    }
    if let Some(locale) = &emulation.locale {
        commands.push(("Emulation.setLocaleOverride", json!({"locale": locale})));
    }
    if let Some(zone) = &emulation.timezone {
        commands.push(("Emulation.setTimezoneOverride", json!({"timezoneId": zone})));
    }
    if let Some(is_dark) = emulation.is_dark {
        let value = if is_dark { "dark" } else { "light" };
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": value}]});
        commands.push(("Emulation.setEmulatedMedia", features));
    }
    commands
}
