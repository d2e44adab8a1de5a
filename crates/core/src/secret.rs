//! Values that nobody may read. Everywhere but at the device a secret is its placeholder, `{{NAME}}`.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

/// The secrets of a run.
#[derive(Clone, Default)]
pub struct Secrets {
    /// Longest value first, so that a secret within another does not break the other up.
    entries: Vec<(String, String)>,
}

impl Secrets {
    pub fn new(entries: impl IntoIterator<Item = (String, String)>) -> Secrets {
        let mut entries: Vec<_> = entries.into_iter().collect();
        entries.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
        Secrets { entries }
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn contains_name(&self, name: &str) -> bool {
        self.entries.iter().any(|(known, _)| known == name)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(name, _)| name.as_str())
    }

    pub fn placeholder(name: &str) -> String {
        format!("{{{{{name}}}}}")
    }

    /// Whether a placeholder stands in the text.
    pub fn is_named_in(&self, text: &str) -> bool {
        self.names().any(|name| text.contains(&Secrets::placeholder(name)))
    }

    /// Whether a value stands in the text.
    pub fn is_in(&self, text: &str) -> bool {
        self.entries.iter().any(|(_, value)| text.contains(value.as_str()))
    }

    /// Puts placeholders where values stand.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !self.is_in(text) {
            return Cow::Borrowed(text);
        }
        let redacted = self
            .entries
            .iter()
            .fold(text.to_string(), |text, (name, value)| text.replace(value.as_str(), &Secrets::placeholder(name)));
        Cow::Owned(redacted)
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

    /// Redacts each text and number of a value without which it would still be what it is. A time may hold the digits
    /// of a secret, and a fixed word its letters: those must stay.
    pub fn redact_parts(&self, value: &mut Value, still_fits: impl Fn(&Value) -> bool) {
        let mut places = Vec::new();
        leaves(value, String::new(), &mut places);
        for place in places {
            let Some(part) = value.pointer_mut(&place) else { continue };
            let before = part.clone();
            self.redact_value(part);
            if *part != before
                && !still_fits(value)
                && let Some(part) = value.pointer_mut(&place)
            {
                *part = before;
            }
        }
    }

    /// Puts values where placeholders stand. Only for what goes to the device.
    pub fn reveal(&self, text: &str) -> String {
        let reveal = |text: String, (name, value): &(String, String)| {
            text.replace(&Secrets::placeholder(name), value).replace(&format!("${{{name}}}"), value)
        };
        self.entries.iter().fold(text.to_string(), reveal)
    }
}

/// The places of all single values, as JSON pointers.
fn leaves(value: &Value, at: String, places: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| leaves(item, format!("{at}/{index}"), places));
        }
        Value::Object(map) => {
            let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
            map.iter().for_each(|(key, item)| leaves(item, format!("{at}/{}", escaped(key)), places));
        }
        _ => places.push(at),
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
        assert_eq!(secrets.reveal("pin {{PIN}} and ${KEY}"), "pin 4711 and x4711y");
        assert_eq!(format!("{secrets:?}"), r#"["KEY", "PIN"]"#);
    }
}
