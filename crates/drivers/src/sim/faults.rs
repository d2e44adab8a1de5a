//! The faults and the latency of a simulated device.

use trailblaze_core::table;
use trailblaze_core::yaml::{Decode, Millis, Problems, Source, YamlNode, nearest, read};

table! {
    /// Latency and faults of a simulated device; all off by default.
    pub struct Faults {
        /// Every command takes this long.
        "latency" => latency: Millis = Millis(0),
        /// Every command takes up to this much more or less, at random.
        "jitter" => jitter: Millis = Millis(0),
        /// The layout shifts by up to this many pixels between looks.
        "drift" => drift: u32 = 0,
        /// The device is lost after this many actions.
        "lostAfter" => lost_after: Option<u32> = None,
        /// The probability, from 0 to 1, that an action loses the device.
        "lostAt" => lost_at: Probability = Probability::NEVER,
        /// The probability, from 0 to 1, that an action is refused.
        "refuse" => refuse: Probability = Probability::NEVER,
        /// The elements of a screen appear only this long after it was opened.
        "slowScreen" => slow_screen: Millis = Millis(0),
    }
}

const KEYS: &[&str] = &["latency", "jitter", "drift", "lostAfter", "lostAt", "refuse", "slowScreen"];

impl Default for Faults {
    fn default() -> Faults {
        Faults {
            latency: Millis(0),
            jitter: Millis(0),
            drift: 0,
            lost_after: None,
            lost_at: Probability::NEVER,
            refuse: Probability::NEVER,
            slow_screen: Millis(0),
            span: Default::default(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FaultsError {
    #[error("`{text}` is not of the form key=value")]
    NoValue { text: String },
    #[error("unknown fault `{key}`{}", hint(.near))]
    Unknown { key: String, near: Option<&'static str> },
    #[error("`{key}`: {message}")]
    Value { key: String, message: String },
}

fn hint(near: &Option<&'static str>) -> String {
    match near {
        Some(near) => format!("; did you mean `{near}`?"),
        None => format!("; expected one of: {}", KEYS.join(", ")),
    }
}

impl Faults {
    /// Sets one fault from `key=value`, as in a command-line flag: `latency=20ms`.
    pub fn set(&mut self, text: &str) -> Result<(), FaultsError> {
        let Some((key, value)) = text.split_once('=') else {
            return Err(FaultsError::NoValue { text: text.to_string() });
        };
        let (key, value) = (key.trim(), value.trim());
        match key {
            "latency" => self.latency = one(key, value)?,
            "jitter" => self.jitter = one(key, value)?,
            "drift" => self.drift = one(key, value)?,
            "lostAfter" => self.lost_after = Some(one(key, value)?),
            "lostAt" => self.lost_at = one(key, value)?,
            "refuse" => self.refuse = one(key, value)?,
            "slowScreen" => self.slow_screen = one(key, value)?,
            _ => {
                return Err(FaultsError::Unknown { key: key.to_string(), near: nearest(key, KEYS.iter().copied()) });
            }
        }
        Ok(())
    }
}

/// Parses a value exactly like the file.
fn one<T: Decode>(key: &str, value: &str) -> Result<T, FaultsError> {
    let source = Source::new("flag", value);
    let mut problems = Problems::new(&source);
    let decoded = match read(&source, &mut problems) {
        Some(node) => T::decode(&node, &mut problems),
        None => None,
    };
    decoded.ok_or_else(|| {
        let message = problems.into_vec().first().map_or("a value is missing".to_string(), |p| p.message.clone());
        FaultsError::Value { key: key.to_string(), message }
    })
}

/// A number from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probability(f64);

impl Probability {
    pub const NEVER: Probability = Probability(0.0);

    pub fn value(self) -> f64 {
        self.0
    }
}

impl Decode for Probability {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        let value = f64::decode(node, problems)?;
        if !(0.0..=1.0).contains(&value) {
            problems.error(node.span, format!("expected a probability from 0 to 1, found `{value}`"));
            return None;
        }
        Some(Probability(value))
    }

    fn schema() -> serde_json::Value {
        serde_json::json!({"type": "number", "minimum": 0, "maximum": 1})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<Faults, &str>) {
        let mut faults = Faults::default();
        let got = faults.set(text).map(|()| faults).map_err(|error| error.to_string());
        assert_eq!(got, expected.map_err(str::to_string), "{text}");
    }

    #[test]
    fn a_flag_sets_one_fault() {
        check("latency=20ms", Ok(Faults { latency: Millis(20), ..Faults::default() }));
        check("lostAfter=3", Ok(Faults { lost_after: Some(3), ..Faults::default() }));
        check("refuse=0.5", Ok(Faults { refuse: Probability(0.5), ..Faults::default() }));
    }

    #[test]
    fn an_invalid_flag_is_explained() {
        check("latency", Err("`latency` is not of the form key=value"));
        check("latncy=3", Err("unknown fault `latncy`; did you mean `latency`?"));
        check("drift=", Err("`drift`: a value is missing"));
        check("refuse=2", Err("`refuse`: expected a probability from 0 to 1, found `2`"));
        check("jitter=soon", Err("`jitter`: expected a duration, found `soon`"));
    }
}
