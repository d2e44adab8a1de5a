//! Groups equal failures: their messages differ only in numbers and quoted values.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

use super::model::{AttemptRecord, RunRecord, Standing};

/// The attempts that count and failed, grouped by failure. Groups are in the order of their first attempt.
pub fn failures(run: &RunRecord) -> Vec<Vec<usize>> {
    group(run, |attempt| attempt.state().is_bad() && attempt.standing == Standing::Counts)
}

/// The attempts that were retried, grouped by failure.
pub fn retried(run: &RunRecord) -> Vec<Vec<usize>> {
    group(run, |attempt| attempt.standing == Standing::Retried)
}

fn group(run: &RunRecord, is_wanted: impl Fn(&AttemptRecord) -> bool) -> Vec<Vec<usize>> {
    let wanted = (0..run.attempts.len()).filter(|idx| is_wanted(&run.attempts[*idx]));
    together(wanted, |idx| {
        let attempt = &run.attempts[*idx];
        let failure = attempt.failure();
        let message = failure.map_or(attempt.message(), |failure| &failure.message);
        (attempt.state(), symptom(message, failure.map_or(&[], |failure| &failure.just_before)))
    })
}

/// Groups items by key, in the order of the first item of each group.
pub fn together<T, K: Eq + Hash>(things: impl Iterator<Item = T>, kind: impl Fn(&T) -> K) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    let mut places = HashMap::new();
    for thing in things {
        let place = *places.entry(kind(&thing)).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(thing),
            None => groups.push(vec![thing]),
        }
    }
    groups
}

/// What makes failures equal: the message, and what went wrong just before it, each as often as it likes.
pub fn symptom(message: &str, just_before: &[String]) -> (String, BTreeSet<String>) {
    (fold(message), just_before.iter().map(|sign| fold(sign.split(" (×").next().unwrap_or(sign))).collect())
}

/// A message without the parts that differ between equal failures: numbers and quoted values.
pub fn fold(message: &str) -> String {
    let mut folded = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        // An apostrophe within a word opens nothing.
        let is_within = folded.ends_with(char::is_alphanumeric);
        if let Some(end) = closing(c).filter(|_| c != '\'' || !is_within).and_then(|quote| after.find(quote)) {
            let len = after[end..].chars().next().map_or(0, char::len_utf8);
            folded.push_str("`…`");
            rest = &after[end + len..];
        } else if c.is_ascii_digit() {
            folded.push('#');
            rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        } else {
            folded.push(c);
            rest = after;
        }
    }
    folded
}

/// Whether two messages differ in numbers at most, such as how long something took.
pub fn say_the_same(one: &str, other: &str) -> bool {
    let words = |message: &str| message.replace(|c: char| c.is_ascii_digit() || c == '.', "");
    words(one) == words(other)
}

fn closing(quote: char) -> Option<char> {
    match quote {
        '`' | '"' | '\'' => Some(quote),
        '“' => Some('”'),
        '‘' => Some('’'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn numbers_and_quoted_values_do_not_tell_failures_apart() {
        let check = |message: &str, folded: &str| assert_eq!(fold(message), folded, "{message}");
        check("no element with text `Cart (3)` within 5 s", "no element with text `…` within # s");
        check("no element with text \"Fern\" within 10 s", "no element with text `…` within # s");
        check("it doesn't fit, and it isn't 'there'", "it doesn't fit, and it isn't `…`");
        check("expected “a”, saw ‘b’", "expected `…`, saw `…`");
        check("an open ` stays", "an open ` stays");
        check("", "");
    }
}
