//! Classifiers, such as `android-phone-37`; the most specific one wins.

use super::Step;

/// The classifiers that match a device, most specific first, from its segments, broadest first.
pub fn lineage(segments: &[String]) -> Vec<String> {
    let segments: Vec<&str> =
        segments.iter().map(String::as_str).filter(|segment| !segment.trim().is_empty()).collect();
    (1..=segments.len()).rev().map(|n| segments[..n].join("-")).collect()
}

/// The value of the most specific classifier that has one.
pub fn closest<'a, T>(lineage: &[String], entries: impl Fn(&str) -> Option<&'a T>) -> Option<(String, &'a T)> {
    lineage.iter().find_map(|classifier| entries(classifier).map(|value| (classifier.clone(), value)))
}

/// A device as a trail sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrailDevice {
    /// The name that the trail has for it; `None` if the trail runs on one device.
    pub role: Option<String>,
    /// The classifiers that match it, most specific first.
    pub lineage: Vec<String>,
}

impl TrailDevice {
    /// From the segments of the device's classifiers, broadest first.
    pub fn new(role: Option<&str>, segments: &[String]) -> TrailDevice {
        TrailDevice { role: role.map(str::to_string), lineage: lineage(segments) }
    }

    pub fn carries_out(&self, step: &Step) -> bool {
        match &self.role {
            None => true,
            Some(role) => step.role() == Some(role),
        }
    }

    /// The device in words.
    pub fn name(&self) -> &str {
        self.lineage.first().map_or("this device", String::as_str)
    }

    pub fn platform(&self) -> Option<&str> {
        self.lineage.last().map(String::as_str)
    }
}

/// The devices that a trail runs on: one, or one for each role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrailDevices(pub Vec<TrailDevice>);

impl TrailDevices {
    /// The device that carries out a step.
    pub fn of(&self, step: &Step) -> Option<&TrailDevice> {
        self.0.iter().find(|device| device.carries_out(step))
    }

    /// The classifiers of the device that carries out a step.
    pub fn lineage(&self, step: &Step) -> &[String] {
        self.of(step).map_or(&[], |device| device.lineage.as_slice())
    }
}

impl From<TrailDevice> for TrailDevices {
    fn from(device: TrailDevice) -> TrailDevices {
        TrailDevices(vec![device])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_specific_classifier_wins() {
        let device = lineage(&["android".into(), "phone".into(), "37".into()]);
        assert_eq!(device, ["android-phone-37", "android-phone", "android"]);
        let value = |name: &str| match name {
            "android" => Some(&1),
            "android-phone" => Some(&2),
            _ => None,
        };
        assert_eq!(closest(&device, value), Some(("android-phone".to_string(), &2)));
        assert_eq!(closest(&lineage(&["ios".into(), " ".into()]), value), None);
    }
}
