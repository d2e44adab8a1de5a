//! Values that nobody may read. Everywhere but at the device a secret is its placeholder, `{{NAME}}`.

use std::borrow::Cow;
use std::fmt;

use serde_json::{Map, Value};

use crate::ids;

/// The secrets of a run.
///
/// Between a template and the device a secret travels as its seal: a token that nobody can guess. Only a seal is turned
/// into the value, so that a page which shows `{{NAME}}` cannot have the secret typed into it.
#[derive(Clone, Default)]
pub struct Secrets {
    /// Longest value first, so that a secret within another does not break the other up.
    entries: Vec<Entry>,
}

#[derive(Clone)]
struct Entry {
    name: String,
    value: String,
    seal: String,
}

impl Secrets {
    pub fn new(entries: impl IntoIterator<Item = (String, String)>) -> Secrets {
        let sealed = |(name, value)| Entry { name, value, seal: format!("\u{e000}{}\u{e001}", ids::seal()) };
        let mut entries: Vec<Entry> = entries.into_iter().map(sealed).collect();
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.value.len()));
        Secrets { entries }
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }

    /// What stands for a secret on its way to the device.
    pub fn seal(&self, name: &str) -> Option<&str> {
        self.entries.iter().find(|entry| entry.name == name).map(|entry| entry.seal.as_str())
    }

    /// Whether a seal stands in the text.
    pub fn is_sealed_in(&self, text: &str) -> bool {
        self.entries.iter().any(|entry| text.contains(&entry.seal))
    }

    /// Whether a value or a seal stands in the text.
    pub fn is_in(&self, text: &str) -> bool {
        self.entries.iter().any(|entry| text.contains(&entry.value) || text.contains(&entry.seal))
    }

    /// Puts placeholders where values or seals stand.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !self.is_in(text) {
            return Cow::Borrowed(text);
        }
        let redact = |text: String, entry: &Entry| {
            let placeholder = format!("{{{{{}}}}}", entry.name);
            text.replace(&entry.value, &placeholder).replace(&entry.seal, &placeholder)
        };
        Cow::Owned(self.entries.iter().fold(text.to_string(), redact))
    }

    /// As `redact`, for somebody who may have the values of some secrets: their seals become values.
    fn share(&self, text: &mut String, with: &[String]) {
        for entry in self.entries.iter().filter(|entry| !with.contains(&entry.name)) {
            let placeholder = format!("{{{{{}}}}}", entry.name);
            *text = text.replace(&entry.value, &placeholder).replace(&entry.seal, &placeholder);
        }
        for entry in self.entries.iter().filter(|entry| with.contains(&entry.name)) {
            *text = text.replace(&entry.seal, &entry.value);
        }
    }

    /// Makes every text of a map fit for somebody who may have the values of some secrets, keys included.
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
            // A secret of digits may have become a number.
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

    /// Redacts every text of a value, keys included.
    pub fn redact_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.redact_in_place(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_value(item)),
            Value::Object(map) => {
                if map.keys().any(|key| self.is_in(key)) {
                    let entries = std::mem::take(map);
                    map.extend(entries.into_iter().map(|(key, value)| (self.redact(&key).into_owned(), value)));
                }
                map.values_mut().for_each(|value| self.redact_value(value));
            }
            // A secret of digits may come back as a number.
            Value::Number(number) if self.is_in(&number.to_string()) => {
                *value = Value::from(self.redact(&number.to_string()).into_owned());
            }
            _ => {}
        }
    }

    /// Puts values where seals stand. Only for what goes to the device.
    pub fn reveal(&self, text: &str) -> String {
        self.entries.iter().fold(text.to_string(), |text, entry| text.replace(&entry.seal, &entry.value))
    }

    /// The same for a pattern, where the value is to be taken literally.
    pub fn reveal_in_pattern(&self, text: &str) -> String {
        let reveal = |text: String, entry: &Entry| match text == entry.seal {
            true => entry.value.clone(),
            false => text.replace(&entry.seal, &format!("\\Q{}\\E", entry.value)),
        };
        self.entries.iter().fold(text.to_string(), reveal)
    }
}

/// Names only: a debug print must not leak.
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
}
