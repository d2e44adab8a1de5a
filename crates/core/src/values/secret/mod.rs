//! Values that must not be shown. Everywhere but at the device, a secret appears as its placeholder `{{NAME}}`.

mod invisible;
mod spelling;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use parking_lot::RwLock;
use regex_automata::Input;
use regex_automata::meta::Regex;
use serde_json::{Map, Value};

use crate::{ids, limits};

/// The secrets of a run.
///
/// Between a template and the device, a secret is represented by its seal: a token that cannot be guessed. Only seals are
/// replaced by values, so that a page that shows `{{NAME}}` cannot have the secret typed into it.
#[derive(Default)]
pub struct Secrets(RwLock<Arc<KnownSecret>>);

/// The secrets that are known at one time.
#[derive(Default)]
struct KnownSecret {
    /// Longest value first, so that a secret that contains another is replaced as a whole.
    entries: Vec<SecretEntry>,
    finder: Option<SecretFinder>,
}

#[derive(Clone)]
struct SecretEntry {
    name: String,
    value: String,
    seal: String,
    /// The origins of pages that it may be typed into; `None` if that does not matter, and empty for those of the target.
    origins: Option<Vec<String>>,
}

/// Finds values in all spellings, and seals. Every event passes through it, so it searches for all in one pass.
#[derive(Clone)]
struct SecretFinder {
    regex: Regex,
    /// What each pattern matches: the index of an entry, and in which form.
    patterns: Vec<(usize, SecretForm)>,
    /// Whether a secret can appear as a number.
    is_in_numbers: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SecretForm {
    Value,
    Seal,
}

/// A secret in a text.
struct FoundSecret {
    place: Range<usize>,
    entry: usize,
}

impl Clone for Secrets {
    fn clone(&self) -> Secrets {
        Secrets(RwLock::new(self.known()))
    }
}

impl Secrets {
    pub fn new(entries: impl IntoIterator<Item = (String, String)>) -> Secrets {
        let entries = entries.into_iter().map(|(name, value)| SecretEntry::new(name, value)).collect();
        Secrets(RwLock::new(Arc::new(KnownSecret::new(entries))))
    }

    fn known(&self) -> Arc<KnownSecret> {
        Arc::clone(&self.0.read())
    }

    /// Adds a value that turned out to be a secret. Returns its name, with a number if another value has that name.
    pub fn add(&self, name: &str, value: &str) -> String {
        let mut known = self.0.write();
        if let Some(entry) = known.entries.iter().find(|entry| entry.value == value) {
            return entry.name.clone();
        }
        let is_free = |name: &String| known.entries.iter().all(|entry| entry.name != *name);
        let mut names = std::iter::once(name.to_string()).chain((2..).map(|number| format!("{name}_{number}")));
        let name = names.find(is_free).expect("there are always more numbers");
        let entries =
            known.entries.iter().cloned().chain([SecretEntry::new(name.clone(), value.to_string())]).collect();
        *known = Arc::new(KnownSecret::new(entries));
        name
    }

    /// From now on, the secret may be typed only into pages of these origins or, if there are none, of the target.
    pub fn limit(&self, name: &str, origins: &[String]) {
        let mut known = self.0.write();
        let mut entries = known.entries.clone();
        entries.iter_mut().filter(|entry| entry.name == name).for_each(|entry| entry.origins = Some(origins.to_vec()));
        *known = Arc::new(KnownSecret::new(entries));
    }

    /// The origins of the pages that a secret may be typed into, empty for those of the target; `None` if it is not limited.
    pub fn limit_of(&self, name: &str) -> Option<Vec<String>> {
        self.known().entries.iter().find(|entry| entry.name == name)?.origins.clone()
    }

    pub fn is_empty(&self) -> bool {
        self.0.read().entries.is_empty()
    }

    pub fn names(&self) -> Vec<String> {
        self.known().entries.iter().map(|entry| entry.name.clone()).collect()
    }

    /// The seal that represents a secret on its way to the device.
    pub fn seal(&self, name: &str) -> Option<String> {
        self.known().entries.iter().find(|entry| entry.name == name).map(|entry| entry.seal.clone())
    }

    /// Whether the text contains a seal.
    pub fn is_sealed_in(&self, text: &str) -> bool {
        self.known().entries.iter().any(|entry| text.contains(&entry.seal))
    }

    /// The names of the secrets whose seals are in the text.
    pub fn sealed_in(&self, text: &str) -> Vec<String> {
        let known = self.known();
        known.entries.iter().filter(|entry| text.contains(&entry.seal)).map(|entry| entry.name.clone()).collect()
    }

    /// The name of a secret that `is_wanted` and whose seal is in one of the texts of a value.
    pub fn sealed_in_value(&self, value: &Value, is_wanted: &dyn Fn(&str) -> bool) -> Option<String> {
        match value {
            Value::String(text) => {
                let is_it = |entry: &&SecretEntry| text.contains(&entry.seal) && is_wanted(&entry.name);
                self.known().entries.iter().find(is_it).map(|entry| entry.name.clone())
            }
            Value::Array(items) => items.iter().find_map(|item| self.sealed_in_value(item, is_wanted)),
            Value::Object(map) => map.values().find_map(|value| self.sealed_in_value(value, is_wanted)),
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }

    /// Whether the text contains a value or a seal.
    pub fn is_in(&self, text: &str) -> bool {
        self.known().is_in(text)
    }

    /// The most bytes that a value takes in any of its usual spellings. Chunks of a text must overlap by this much.
    pub fn longest(&self) -> usize {
        const MOST_OF_A_BYTE: usize = 6;
        self.known().entries.first().map_or(0, |entry| entry.value.len() * MOST_OF_A_BYTE)
    }

    /// Whether the text ends with the beginning of a value, so that what follows may complete it.
    pub fn may_continue(&self, text: &[u8]) -> bool {
        let begins = |value: &[u8]| (1..value.len().min(text.len() + 1)).any(|n| text.ends_with(&value[..n]));
        self.known().entries.iter().any(|entry| begins(entry.value.as_bytes()))
    }

    /// Replaces values and seals with placeholders.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.known().redact(text)
    }

    /// Like [`Secrets::redact`], for bytes that may not be text: there, secrets are overwritten in place, so that offsets of
    /// the other bytes stay valid.
    pub fn redact_bytes(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let known = self.known();
        let finder = known.finder.as_ref()?;
        if let Ok(text) = std::str::from_utf8(bytes) {
            return match known.redact(text) {
                Cow::Owned(redacted) => Some(redacted.into_bytes()),
                Cow::Borrowed(_) => None,
            };
        }
        let found = finder.find(bytes);
        (!found.is_empty()).then(|| {
            let mut redacted = bytes.to_vec();
            found.into_iter().for_each(|found| redacted[found.place].fill(b'*'));
            redacted
        })
    }

    /// Which of these texts, displayed one after the other, show a secret or a part of one. White space and case are ignored:
    /// a page may place each letter by itself, and change how it looks.
    pub fn shown_in(&self, texts: &[&str]) -> Vec<usize> {
        let known = self.known();
        let mut joined = String::new();
        let mut ends = Vec::new();
        for text in texts {
            joined.extend(ink(text));
            ends.push(joined.len());
        }
        let mut shown: BTreeSet<usize> = (0..texts.len()).filter(|index| known.is_in(texts[*index])).collect();
        for SecretEntry { value, .. } in &known.entries {
            for value in std::iter::once(value.as_str()).chain(spelling::lines(value)) {
                let value: String = ink(value).collect();
                // What is left of an almost blank value could be anywhere.
                if value.chars().count() < limits::SECRET_CHARS {
                    continue;
                }
                for (start, _) in joined.match_indices(&value) {
                    let first = ends.partition_point(|end| *end <= start);
                    let last = ends.partition_point(|end| *end < start + value.len());
                    shown.extend(first..=last);
                }
            }
        }
        shown.into_iter().collect()
    }

    /// Like `redact`, for a server that may have the values of some secrets: their seals become values.
    fn share(&self, text: &mut String, with: &[String]) {
        let known = self.known();
        let Some(finder) = &known.finder else { return };
        let may_have = |entry: usize| with.contains(&known.entries[entry].name);
        let found = finder.find_visible_if(text, |entry, form| form == SecretForm::Seal || !may_have(entry));
        let shared = replace(text, found, |found| match &known.entries[found.entry] {
            entry if may_have(found.entry) => entry.value.as_str().into(),
            entry => entry.placeholder().into(),
        });
        if let Cow::Owned(shared) = shared {
            *text = shared;
        }
    }

    /// Does the same for every text of a map, including keys.
    pub fn share_map(&self, map: &mut Map<String, Value>, with: &[String]) {
        if self.is_empty() {
            return;
        }
        for (mut key, mut value) in std::mem::take(map) {
            self.share(&mut key, with);
            self.share_value(&mut value, with);
            map.insert(key, value);
        }
    }

    fn share_value(&self, value: &mut Value, with: &[String]) {
        match value {
            Value::String(text) => self.share(text, with),
            Value::Array(items) => items.iter_mut().for_each(|item| self.share_value(item, with)),
            Value::Object(map) => self.share_map(map, with),
            // A secret that consists of digits may have become a number.
            Value::Number(number) => {
                let digits = number.to_string();
                let mut shared = digits.clone();
                self.share(&mut shared, with);
                if shared != digits {
                    *value = Value::from(shared);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    pub fn redact_in_place(&self, text: &mut String) {
        if let Cow::Owned(redacted) = self.redact(text) {
            *text = redacted;
        }
    }

    /// Redacts every text of a value, including keys.
    pub fn redact_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.redact_in_place(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_value(item)),
            Value::Object(map) => self.redact_map(map),
            // A secret that consists of digits may appear as a number.
            Value::Number(number) if self.known().finder.as_ref().is_some_and(|finder| finder.is_in_numbers) => {
                if let Cow::Owned(redacted) = self.redact(&number.to_string()) {
                    *value = Value::from(redacted);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Redacts every text of a map, including keys.
    pub fn redact_map(&self, map: &mut Map<String, Value>) {
        if map.keys().any(|key| self.is_in(key)) {
            let entries = std::mem::take(map);
            map.extend(entries.into_iter().map(|(key, value)| (self.redact(&key).into_owned(), value)));
        }
        map.values_mut().for_each(|value| self.redact_value(value));
    }

    /// Replaces seals with values. Only for what is sent to the device.
    pub fn reveal(&self, text: &str) -> String {
        self.known().entries.iter().fold(text.to_string(), |text, entry| text.replace(&entry.seal, &entry.value))
    }

    /// The same for a regular expression, in which the value is taken literally.
    pub fn reveal_in_pattern(&self, text: &str) -> String {
        let quoted = |value: &str| format!("\\Q{}\\E", value.replace("\\E", "\\E\\\\E\\Q"));
        let reveal = |text: String, entry: &SecretEntry| text.replace(&entry.seal, &quoted(&entry.value));
        self.known().entries.iter().fold(text.to_string(), reveal)
    }

    /// Makes seals inert in a text that comes from outside of the engine, such as from a page: only what was made from a
    /// template may become a value.
    pub fn defuse(&self, text: &mut String) {
        for SecretEntry { name, seal, .. } in &self.known().entries {
            if text.contains(seal) {
                *text = text.replace(seal, &format!("[{name}]"));
            }
        }
    }

    /// The same for every text of a value, including keys.
    pub fn defuse_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.defuse(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.defuse_value(item)),
            Value::Object(map) => {
                if map.keys().any(|key| self.is_sealed_in(key)) {
                    let defused = |mut key: String| {
                        self.defuse(&mut key);
                        key
                    };
                    *map = std::mem::take(map).into_iter().map(|(key, value)| (defused(key), value)).collect();
                }
                map.values_mut().for_each(|value| self.defuse_value(value));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

impl KnownSecret {
    fn new(mut entries: Vec<SecretEntry>) -> KnownSecret {
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.value.len()));
        let finder = (!entries.is_empty()).then(|| SecretFinder::new(&entries));
        KnownSecret { entries, finder }
    }

    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        replace(text, self.find(text), |found| self.entries[found.entry].placeholder().into())
    }

    fn is_in(&self, text: &str) -> bool {
        !self.find(text).is_empty()
    }

    fn find(&self, text: &str) -> Vec<FoundSecret> {
        let Some(finder) = &self.finder else { return Vec::new() };
        let mut found = finder.find_visible(text);
        let cut = self.cut_off(text);
        if !cut.is_empty() {
            found.extend(cut);
            found.sort_by_key(|found| found.place.start);
            found.dedup_by(|later, earlier| {
                let overlaps = later.place.start < earlier.place.end;
                if overlaps {
                    earlier.place.end = earlier.place.end.max(later.place.end);
                }
                overlaps
            });
        }
        found
    }

    /// Replaces the beginnings of values that were cut off when a message was shortened.
    fn cut_off(&self, text: &str) -> Vec<FoundSecret> {
        /// Longer than any shortened message.
        const MOST: usize = 400;
        let mut found = Vec::new();
        for (end, _) in text.match_indices('…') {
            let is_cut = |value: &str| {
                let beginnings = value.char_indices().take(MOST).skip(limits::SECRET_CHARS).map(|(n, _)| n);
                beginnings.filter(|n| text[..end].ends_with(&value[..*n])).last()
            };
            let mut cut =
                self.entries.iter().enumerate().filter_map(|(entry, known)| Some((entry, is_cut(&known.value)?)));
            if let Some((entry, n)) = cut.next() {
                found.push(FoundSecret { place: end - n..end, entry });
            }
        }
        found
    }
}

/// The characters that can be seen, in lower case, since styles can change the case of letters.
fn ink(text: &str) -> impl Iterator<Item = char> {
    let is_seen = |c: &char| !c.is_whitespace() && !invisible::is_invisible(*c);
    text.chars().filter(is_seen).flat_map(char::to_lowercase)
}

fn replace<'t, 's>(
    text: &'t str,
    found: Vec<FoundSecret>,
    with: impl Fn(&FoundSecret) -> Cow<'s, str>,
) -> Cow<'t, str> {
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut replaced = String::with_capacity(text.len());
    let mut end = 0;
    for found in found {
        replaced.push_str(&text[end..found.place.start]);
        replaced.push_str(&with(&found));
        end = found.place.end;
    }
    replaced.push_str(&text[end..]);
    Cow::Owned(replaced)
}

impl SecretEntry {
    fn new(name: String, value: String) -> SecretEntry {
        SecretEntry { name, value, seal: format!("\u{e000}{}\u{e001}", ids::seal()), origins: None }
    }

    /// Whether it can be told from ordinary text, and searched for quickly. One that was declared always can.
    fn is_findable(&self) -> bool {
        let n_chars = self.value.trim().chars().count();
        (limits::SECRET_CHARS..=limits::LONGEST_SECRET_CHARS).contains(&n_chars)
    }

    fn placeholder(&self) -> String {
        format!("{{{{{}}}}}", self.name)
    }
}

impl SecretFinder {
    fn new(entries: &[SecretEntry]) -> SecretFinder {
        let mut texts = Vec::new();
        let mut patterns = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            texts.push(spelling::literal(&entry.seal));
            patterns.push((index, SecretForm::Seal));
            for pattern in entry.is_findable().then(|| spelling::patterns(&entry.value)).into_iter().flatten() {
                texts.push(pattern);
                patterns.push((index, SecretForm::Value));
            }
        }
        // The length of a value is limited where it is read.
        let config = Regex::config().nfa_size_limit(None).onepass(false);
        let regex = Regex::builder().configure(config).build_many(&texts).expect("spellings are valid patterns");
        let is_number =
            |entry: &SecretEntry| entry.value.trim().chars().all(|c| c.is_ascii_digit() || "+-.eE".contains(c));
        SecretFinder {
            regex,
            patterns,
            is_in_numbers: entries.iter().any(|entry| entry.is_findable() && is_number(entry)),
        }
    }

    fn find(&self, text: &[u8]) -> Vec<FoundSecret> {
        self.find_if(text, |_, _| true)
    }

    fn find_visible(&self, text: &str) -> Vec<FoundSecret> {
        self.find_visible_if(text, |_, _| true)
    }

    /// Finds secrets in what can be seen of a text.
    fn find_visible_if(&self, text: &str, is_wanted: impl Fn(usize, SecretForm) -> bool) -> Vec<FoundSecret> {
        let Some(visible) = invisible::Stripped::of(text) else { return self.find_if(text.as_bytes(), is_wanted) };
        let mut found = self.find_if(visible.text.as_bytes(), is_wanted);
        found.iter_mut().for_each(|found| found.place = visible.original(&found.place));
        found
    }

    /// The matches, in order. Overlapping matches are merged.
    fn find_if(&self, text: &[u8], is_wanted: impl Fn(usize, SecretForm) -> bool) -> Vec<FoundSecret> {
        let mut all: Vec<FoundSecret> = Vec::new();
        let mut at = 0;
        while let Some(next) = self.regex.search(&Input::new(text).range(at..)) {
            at = next.start() + 1;
            let (entry, form) = self.patterns[next.pattern().as_usize()];
            match all.last_mut() {
                _ if !is_wanted(entry, form) => {}
                Some(last) if next.start() < last.place.end => last.place.end = last.place.end.max(next.end()),
                _ => all.push(FoundSecret { place: next.range(), entry }),
            }
        }
        all
    }
}

/// Shows only names, so that debug output cannot leak values.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_secret_is_its_placeholder_wherever_it_stands() {
        let secrets =
            Secrets::new([("PIN".to_string(), "4711".to_string()), ("KEY".to_string(), "x4711y".to_string())]);
        let mut value = json!({"a": "pin 4711!", "4711": ["x4711y"], "n": 4711});
        secrets.redact_value(&mut value);
        assert_eq!(value, json!({"a": "pin {{PIN}}!", "n": "{{PIN}}", "{{PIN}}": ["{{KEY}}"]}));
        let (pin, key) = (secrets.seal("PIN").unwrap(), secrets.seal("KEY").unwrap());
        assert_eq!(secrets.reveal(&format!("pin {pin} and {key}")), "pin 4711 and x4711y");
        assert_eq!(secrets.redact(&format!("pin {pin}")), "pin {{PIN}}");
        assert_eq!(secrets.reveal("a page that says {{PIN}}"), "a page that says {{PIN}}");
        assert_eq!(format!("{secrets:?}"), r#"["KEY", "PIN"]"#);
    }

    #[test]
    fn a_secret_that_turns_up_later_is_hidden_from_then_on() {
        let secrets = Secrets::new([("PASSWORD".to_string(), "declared".to_string())]);
        assert_eq!(secrets.add("PASSWORD", "declared"), "PASSWORD");
        assert_eq!(secrets.add("PASSWORD", "typed-later"), "PASSWORD_2");
        assert_eq!(secrets.redact("typed-later and declared"), "{{PASSWORD_2}} and {{PASSWORD}}");
        // A short one is only hidden where it is known to be one.
        assert_eq!(secrets.add("PIN", "12"), "PIN");
        assert_eq!(secrets.redact("12 apples"), "12 apples");
        assert_eq!(secrets.reveal(&secrets.seal("PIN").unwrap()), "12");
    }

    #[test]
    fn secrets_that_overlap_or_are_cut_off_leave_nothing() {
        let named = [("A", "abcdefgh"), ("B", "efghijkl")].map(|(name, value)| (name.to_string(), value.to_string()));
        let secrets = Secrets::new(named);
        assert_eq!(secrets.redact("x abcdefghijkl y"), "x {{A}} y");
        assert_eq!(secrets.redact("saw abcdef… and efghi…; abc…"), "saw {{A}}… and {{B}}…; abc…");
    }

    #[test]
    fn invisible_characters_do_not_hide_a_secret() {
        let secrets = Secrets::new([("KEY".to_string(), "hunter2".to_string())]);
        let redacted = "a {{KEY}} b\u{200b}c \u{feff}{{KEY}}";
        assert_eq!(secrets.redact("a hun\u{ad}ter2 b\u{200b}c \u{feff}h\u{200b}u\u{200d}nter\u{2060}2"), redacted);
        assert_eq!(secrets.redact("a\u{ad}b"), "a\u{ad}b");
        // A value may contain them itself.
        let secrets = Secrets::new([("KEY".to_string(), "hun\u{200b}ter2".to_string())]);
        assert_eq!(secrets.redact("hun\u{200b}ter2 hunter2"), "{{KEY}} {{KEY}}");
    }

    #[test]
    fn a_secret_is_found_across_texts_that_are_displayed_together() {
        let secrets = Secrets::new([("KEY".to_string(), "hun ter2".to_string())]);
        let check = |texts: &[&str], expected: &[usize]| assert_eq!(secrets.shown_in(texts), expected, "{texts:?}");
        check(&["a hun ter2 b", "c"], &[0]);
        check(&["a", "h", "u\n", "\u{ad}n", "t", " ", "er", "2", "b"], &[1, 2, 3, 4, 5, 6, 7]);
        check(&["x hun", "ter", "2 y", "z"], &[0, 1, 2]);
        check(&["hun%20ter2", "hunter", "22"], &[0, 1, 2]);
        check(&["HUN TER", "2"], &[0, 1]);
        check(&["hunt", "xer2", ""], &[]);
    }

    #[test]
    fn a_server_gets_the_values_that_it_may_have_and_no_others() {
        let named = [("A", "first-secret"), ("B", "second-secret")];
        let secrets = Secrets::new(named.map(|(name, value)| (name.to_string(), value.to_string())));
        let (a, b) = (secrets.seal("A").unwrap(), secrets.seal("B").unwrap());
        let mut args =
            json!({"x": format!("{a} {b}"), "y": "first-secret second%2Dsecret"}).as_object().cloned().unwrap();
        secrets.share_map(&mut args, &["A".to_string()]);
        assert_eq!(Value::Object(args), json!({"x": "first-secret {{B}}", "y": "first-secret {{B}}"}));
    }
}
