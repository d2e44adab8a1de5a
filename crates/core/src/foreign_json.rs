//! Lenient reading of JSON from other programs. JavaScript writes half of a surrogate pair if a text was cut inside an emoji,
//! and some programs write bytes that are not UTF-8. Invalid characters are replaced by U+FFFD instead of losing the message.

use serde::de::DeserializeOwned;

/// A value, and whether some of its text was replaced.
#[derive(Debug, PartialEq, Eq)]
pub struct Foreign<T> {
    pub value: T,
    pub is_replaced: bool,
}

/// Reads JSON. An error refers to the original text.
pub fn read<T: DeserializeOwned>(json: &[u8]) -> Result<Foreign<T>, serde_json::Error> {
    match serde_json::from_slice(json) {
        Ok(value) => Ok(Foreign { value, is_replaced: false }),
        Err(error) => {
            let value = well_formed(json).and_then(|json| serde_json::from_slice(&json).ok());
            value.map(|value| Foreign { value, is_replaced: true }).ok_or(error)
        }
    }
}

/// The same JSON with invalid characters replaced; `None` if there are none.
fn well_formed(json: &[u8]) -> Option<Vec<u8>> {
    let mut text = String::from_utf8_lossy(json).into_owned().into_bytes();
    let mut is_replaced = text != json;
    let mut at = 0;
    while let Some(escape) = text[at..].iter().position(|byte| *byte == b'\\') {
        at += escape;
        at += match (escaped(&text[at..]), text.get(at + 6..).and_then(escaped)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                text[at..at + 6].copy_from_slice(b"\\ufffd");
                is_replaced = true;
                6
            }
            // The character after a backslash does not start another escape.
            _ => 2.min(text.len() - at),
        };
    }
    is_replaced.then_some(text)
}

/// The number in `\u1234`, if the text starts with such an escape.
fn escaped(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    let is_number = digits.iter().all(u8::is_ascii_hexdigit);
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn check(text: &[u8], expected: Value, is_replaced: bool) {
        let read = read::<Value>(text).unwrap_or_else(|error| panic!("{error} in {}", String::from_utf8_lossy(text)));
        assert_eq!(read, Foreign { value: expected, is_replaced }, "{}", String::from_utf8_lossy(text));
    }

    #[test]
    fn half_a_surrogate_pair_is_replaced() {
        check(br#"{"a": "x\ud83d"}"#, json!({"a": "x\u{fffd}"}), true);
        check(br#"["\uDE00 x", 1]"#, json!(["\u{fffd} x", 1]), true);
        check(br#""\ud83d\ud83d\ude00""#, json!("\u{fffd}\u{1f600}"), true);
        check(br#""\ud83d\n\u00e9""#, json!("\u{fffd}\n\u{e9}"), true);
        check(br#"{"\ud83d": 1}"#, json!({"\u{fffd}": 1}), true);
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        check(b"[\"caf\xe9\"]", json!(["caf\u{fffd}"]), true);
    }

    #[test]
    fn what_is_whole_stays_as_it_is() {
        check(br#""\ud83d\ude00 \\ud83d \" \/""#, json!("\u{1f600} \\ud83d \" /"), false);
        check("[\"\u{1f600}\"]".as_bytes(), json!(["\u{1f600}"]), false);
        // An escaped backslash before `u` is not a surrogate, unlike the half pair next to it.
        check(br#""\\ud83d \ud83d""#, json!("\\ud83d \u{fffd}"), true);
    }

    #[test]
    fn what_is_no_json_stays_an_error() {
        for text in [&br#"{"a": "\ud83d""#[..], b"{", b"\\", b"\"\\u12", b"\xff", br#""\u+123""#] {
            assert!(read::<Value>(text).is_err(), "{}", String::from_utf8_lossy(text));
        }
    }
}
