//! Classifiers, such as `android-phone-37`; the most specific one wins.

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
