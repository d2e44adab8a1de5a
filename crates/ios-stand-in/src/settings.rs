//! Settings of the whole device: orientation, appearance, location; and the audit.

use serde_json::{Value, json};

use crate::answer::{WdaAnswer, WebDriverError};
use crate::iphone::Iphone;

/// Whether a route is about a setting.
pub fn is_one(route: &[&str]) -> bool {
    matches!(route, ["orientation"] | ["wda", "simulatedLocation"] | ["wda", "device", "appearance"])
}

pub fn answer(iphone: &Iphone, method: &str, route: &[&str], body: &Value) -> WdaAnswer {
    let mut state = iphone.state();
    match (method, route) {
        ("GET", ["orientation"]) => Ok(json!(if state.is_landscape { "LANDSCAPE" } else { "PORTRAIT" })),
        ("POST", ["orientation"]) => {
            let is_landscape = match body["orientation"].as_str() {
                Some("PORTRAIT") => false,
                Some("LANDSCAPE") => true,
                _ => return Err(WebDriverError::unknown("Unable To Rotate Device")),
            };
            state.is_landscape = is_landscape;
            Ok(Value::Null)
        }
        ("GET", ["wda", "simulatedLocation"]) => {
            let (latitude, longitude) = state.location.unzip();
            Ok(json!({"latitude": latitude, "longitude": longitude}))
        }
        ("POST", ["wda", "simulatedLocation"]) => match (body["latitude"].as_f64(), body["longitude"].as_f64()) {
            (Some(latitude), Some(longitude)) => {
                state.location = Some((latitude, longitude));
                Ok(Value::Null)
            }
            _ => Err(WebDriverError::invalid_argument("Both latitude and longitude must be provided")),
        },
        ("DELETE", ["wda", "simulatedLocation"]) => {
            state.location = None;
            Ok(Value::Null)
        }
        ("POST", ["wda", "device", "appearance"]) => {
            state.is_dark = match body["name"].as_str().map(str::to_lowercase).as_deref() {
                Some("dark") => true,
                Some("light") => false,
                _ => return Err(WebDriverError::invalid_argument("The appearance must be either 'light' or 'dark'")),
            };
            Ok(Value::Null)
        }
        _ => Err(WebDriverError::unknown_command(&route.join("/"))),
    }
}

/// The faults of the wanted kinds.
pub fn audit(iphone: &Iphone, body: &Value) -> Value {
    let kinds = body["auditTypes"].as_array();
    let is_wanted = |fault: &&Value| kinds.is_none_or(|kinds| kinds.contains(&fault["auditType"]));
    iphone.state().audit.iter().filter(is_wanted).cloned().collect()
}
