//! Removes what is specific to one run: secrets, the ids of the session and the call, and our address.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value};
use trailblaze_core::engine::cx::Cx;
use trailblaze_core::values::secret::Secrets;

pub(super) struct Scrub<'a> {
    secrets: &'a Secrets,
    /// Texts to find, and their replacements.
    own: Vec<(String, &'static str)>,
}

impl<'a> Scrub<'a> {
    /// For the arguments and the answer of a call. `base_url` is the URL that its server calls back.
    pub fn new(cx: &'a Cx, base_url: Option<&str>) -> Scrub<'a> {
        let call = cx.call_id().map(|id| (id.to_string(), "[call]"));
        let session = (cx.session.id.to_string(), "[session]");
        let base_url = base_url.map(|url| (url.to_string(), "[base url]"));
        let own = call.into_iter().chain([session]).chain(base_url).filter(|(word, _)| !word.is_empty());
        Scrub { secrets: &cx.session.secrets, own: own.collect() }
    }

    pub fn map(&self, map: &Map<String, Value>) -> Map<String, Value> {
        let mut value = Value::Object(map.clone());
        self.value(&mut value);
        match value {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }

    pub fn value(&self, value: &mut Value) {
        // First, because redacting a secret inside an encoded file would break the encoding.
        self.take_out(value);
        self.secrets.redact_value(value);
    }

    pub fn text(&self, text: &mut String) {
        self.secrets.redact_in_place(text);
        for (word, stands_for) in &self.own {
            if text.contains(word.as_str()) {
                *text = text.replace(word, stands_for);
            }
        }
    }

    fn take_out(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.take_out(item)),
            Value::Object(map) => {
                for (mut key, mut value) in std::mem::take(map) {
                    self.text(&mut key);
                    match &mut value {
                        Value::String(text) if matches!(key.as_str(), "data" | "blob") => self.encoded(text),
                        value => self.take_out(value),
                    }
                    map.insert(key, value);
                }
            }
            _ => {}
        }
    }

    /// An encoded file may be text as well.
    fn encoded(&self, text: &mut String) {
        let Ok(bytes) = BASE64_STANDARD.decode(&*text) else { return self.text(text) };
        let scrubbed = match String::from_utf8(bytes.clone()) {
            Ok(mut plain) => {
                self.text(&mut plain);
                plain.into_bytes()
            }
            Err(_) => self.secrets.redact_bytes(&bytes).unwrap_or_else(|| bytes.clone()),
        };
        if scrubbed != bytes {
            *text = BASE64_STANDARD.encode(scrubbed);
        }
    }
}
