//! How alike two ids or two names are.

use std::collections::BTreeSet;

/// How two ids or names compare.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Likeness {
    Same,
    /// From 0 to 1.
    Similar(f64),
    /// They have something in common, but each has something of its own, as `delete-mug` and `delete-cup`: two members of a
    /// family, not one thing that was renamed.
    Family,
    Different,
    /// One of them is missing.
    Unknown,
}

/// Parts of ids that name the kind of an element, not its purpose.
const WIDGETS: [&str; 22] = [
    "a", "area", "box", "btn", "button", "cell", "control", "cta", "el", "element", "field", "icon", "id", "img",
    "input", "item", "label", "link", "text", "tv", "view", "widget",
];

/// Below this, two names have too little in common to be evidence.
const LEAST: f64 = 0.34;
/// How alike the spelling of two names must be: one letter in four may differ.
const SPELLING: f64 = 0.75;

pub fn ids(recorded: Option<&str>, now: Option<&str>) -> Likeness {
    let (Some(recorded), Some(now)) = (recorded, now) else { return Likeness::Unknown };
    if recorded == now {
        return Likeness::Same;
    }
    let (a, b) = (purpose(recorded), purpose(now));
    if a.is_empty() || b.is_empty() {
        return Likeness::Different;
    }
    let common = a.intersection(&b).count();
    if common == 0 {
        return Likeness::Different;
    }
    if a.is_subset(&b) || b.is_subset(&a) {
        return Likeness::Similar(common as f64 / a.union(&b).count() as f64);
    }
    Likeness::Family
}

/// The words of an id without those that name the kind of element.
fn purpose(id: &str) -> BTreeSet<String> {
    let mut words: BTreeSet<String> = BTreeSet::new();
    let mut word = String::new();
    let mut was_lower = false;
    for c in id.chars() {
        let begins = !c.is_alphanumeric() || c.is_uppercase() && was_lower;
        if begins && !word.is_empty() {
            words.insert(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase() || c.is_numeric();
    }
    words.extend((!word.is_empty()).then_some(word));
    let named: BTreeSet<String> = words.iter().filter(|word| !WIDGETS.contains(&word.as_str())).cloned().collect();
    if named.is_empty() { words } else { named }
}

pub fn names(recorded: Option<&str>, now: Option<&str>) -> Likeness {
    let (Some(recorded), Some(now)) = (recorded, now) else { return Likeness::Unknown };
    let (a, b) = (words(recorded), words(now));
    // Names such as `+` have no words.
    if a.is_empty() && b.is_empty() {
        return if recorded.trim() == now.trim() { Likeness::Same } else { Likeness::Different };
    }
    if a.concat() == b.concat() {
        return Likeness::Same;
    }
    let only = |a: &[String], b: &[String]| a.iter().filter(|word| !b.contains(word)).cloned().collect::<Vec<_>>();
    let (only_a, only_b) = (only(&a, &b), only(&b, &a));
    let common = a.iter().filter(|word| b.contains(word)).count();
    let share = common as f64 / (common + only_a.len() + only_b.len()).max(1) as f64;
    if common > 0 && (only_a.is_empty() || only_b.is_empty()) {
        return if_enough(share);
    }
    // Two numbers are not one number that was misspelled.
    let has_digit = only_a.iter().chain(&only_b).any(|word| word.chars().any(char::is_numeric));
    let spelling = strsim::normalized_damerau_levenshtein(&only_a.concat(), &only_b.concat());
    match common {
        _ if spelling >= SPELLING && !has_digit => Likeness::Similar(spelling),
        0 => Likeness::Different,
        _ => Likeness::Family,
    }
}

/// Whether two names share a word, or much of their spelling: one was made from the other.
pub fn has_common(one: &str, other: &str) -> bool {
    let (a, b) = (words(one), words(other));
    let (one, other) = (a.concat(), b.concat());
    let contains = !one.is_empty() && !other.is_empty() && (one.contains(&other) || other.contains(&one));
    a.iter().any(|word| b.contains(word)) || contains || strsim::normalized_damerau_levenshtein(&one, &other) >= 0.5
}

fn if_enough(share: f64) -> Likeness {
    if share >= LEAST { Likeness::Similar(share) } else { Likeness::Different }
}

/// The words of a name, without case and punctuation.
pub fn words(name: &str) -> Vec<String> {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_got_another_ending_is_similar_and_one_of_a_family_is_not() {
        let check = |a: &str, b: &str, expected: Likeness| assert_eq!(ids(Some(a), Some(b)), expected, "{a} {b}");
        check("pay", "pay", Likeness::Same);
        check("btn_pay", "payButton", Likeness::Similar(1.0));
        check("pay", "pay-now", Likeness::Similar(0.5));
        check("delete-mug", "delete-cup", Likeness::Family);
        check("pay", "settings", Likeness::Different);
        check("button", "link", Likeness::Different);
        assert_eq!(ids(Some("pay"), None), Likeness::Unknown);
    }

    #[test]
    fn a_name_that_was_made_from_another_has_something_in_common_with_it() {
        for (one, other) in [
            ("Follow", "Unfollow"),
            ("Save", "Don't save"),
            ("フォローする", "フォローをやめる"),
            ("Sperren", "Entsperren"),
        ] {
            assert!(has_common(one, other), "{one} {other}");
        }
        for (one, other) in [("Pay", "Buy it"), ("Senden", "Abschicken"), ("送信", "確定")] {
            assert!(!has_common(one, other), "{one} {other}");
        }
    }

    #[test]
    fn a_name_may_gain_a_word_or_change_a_letter_but_not_become_another() {
        let check = |a: &str, b: &str, expected: Likeness| assert_eq!(names(Some(a), Some(b)), expected, "{a} {b}");
        check("Log in", "Login", Likeness::Same);
        check("Pay", "PAY…", Likeness::Same);
        check("Pay", "Pay now", Likeness::Similar(0.5));
        check("Colour", "Color", Likeness::Similar(1.0 - 1.0 / 6.0));
        check("Pay", "Payment history", Likeness::Different);
        check("+", "-", Likeness::Different);
        check("+", "+", Likeness::Same);
        check("Delete Mug", "Delete Cup", Likeness::Family);
        check("Option 1", "Option 2", Likeness::Family);
        check("Pay", "Pay later by card or invoice", Likeness::Different);
    }
}
