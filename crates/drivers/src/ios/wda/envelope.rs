//! The envelope around every answer of WebDriverAgent: `{"value": …, "sessionId": …}`.

use serde::Deserialize;
use serde_json::Value;
use trailblaze_core::driver::cut;
use trailblaze_core::screen::fold;

use super::error::WdaCode;

/// The deepest nesting of an answer: WebDriverAgent returns trees of about 60 elements, each of which takes two levels.
const DEEPEST: usize = 256;
/// How much is quoted of an answer that is none.
const QUOTED: usize = 120;

/// What an answer says.
#[derive(Debug, Clone, PartialEq)]
pub enum Envelope {
    Value(Value),
    Error {
        code: WdaCode,
        message: String,
    },
    /// It is no answer of WebDriverAgent, for this reason.
    Foreign(String),
}

impl Envelope {
    pub fn read(status: u16, body: &[u8]) -> Envelope {
        let Some(Value::Object(mut fields)) = parse(body) else {
            let begins = cut(&fold(&String::from_utf8_lossy(&body[..body.len().min(4 * QUOTED)])), QUOTED);
            let begins = if begins.is_empty() { "nothing".to_string() } else { format!("`{begins}`") };
            return Envelope::Foreign(format!("status {status} and {begins}"));
        };
        let Some(value) = fields.remove("value") else {
            return Envelope::Foreign(format!("status {status} and no `value`"));
        };
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        match (status, text("error")) {
            (200..300, _) => Envelope::Value(value),
            (_, Some(code)) => {
                let message = text("message").unwrap_or_default().to_string();
                Envelope::Error { code: WdaCode::parse(code), message }
            }
            (_, None) => Envelope::Foreign(format!("status {status} and no code word")),
        }
    }
}

/// Reads JSON that may be nested as deeply as the tree of a screen.
fn parse(body: &[u8]) -> Option<Value> {
    if nesting(body) > DEEPEST {
        return None;
    }
    let mut reader = serde_json::Deserializer::from_slice(body);
    reader.disable_recursion_limit();
    let value = Value::deserialize(&mut reader).ok()?;
    reader.end().ok().map(|()| value)
}

/// How deeply the brackets of a JSON text are nested.
fn nesting(text: &[u8]) -> usize {
    let (mut depth, mut deepest): (usize, usize) = (0, 0);
    let (mut is_string, mut is_escaped) = (false, false);
    for byte in text {
        match (byte, is_string) {
            _ if is_escaped => is_escaped = false,
            (b'\\', true) => is_escaped = true,
            (b'"', _) => is_string = !is_string,
            (b'{' | b'[', false) => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            (b'}' | b']', false) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_has_a_value_or_a_code_word() {
        assert_eq!(Envelope::read(200, br#"{"value": null, "sessionId": null}"#), Envelope::Value(Value::Null));
        assert_eq!(Envelope::read(200, br#"{"value": {"a": 1}}"#), Envelope::Value(json!({"a": 1})));
        let stale = br#"{"value": {"error": "stale element reference", "message": "gone", "traceback": ""}}"#;
        let expected = Envelope::Error { code: WdaCode::StaleElement, message: "gone".to_string() };
        assert_eq!(Envelope::read(404, stale), expected);
        let other = Envelope::read(500, br#"{"value": {"error": "no such cookie"}}"#);
        assert_eq!(
            other,
            Envelope::Error { code: WdaCode::Other("no such cookie".to_string()), message: String::new() }
        );
    }

    #[test]
    fn what_is_no_answer_is_quoted() {
        let foreign = |status, body: &[u8]| match Envelope::read(status, body) {
            Envelope::Foreign(what) => what,
            answer => panic!("{answer:?}"),
        };
        assert_eq!(foreign(500, b"<html>\n<h1>Oops</h1>"), "status 500 and `<html> <h1>Oops</h1>`");
        assert_eq!(foreign(200, b""), "status 200 and nothing");
        assert_eq!(foreign(200, b"{\"ok\": 1}"), "status 200 and no `value`");
        assert_eq!(foreign(502, b"{\"value\": 1}"), "status 502 and no code word");
        assert!(foreign(200, &b"\xff".repeat(9999)).len() < 300);
        assert!(foreign(200, b"{\"value\": 1").starts_with("status 200 and `{"));
    }

    #[test]
    fn nesting_is_limited() {
        let nested = |depth: usize| format!("{{\"value\": {}1{}}}", "[".repeat(depth), "]".repeat(depth)).into_bytes();
        assert!(matches!(Envelope::read(200, &nested(DEEPEST - 1)), Envelope::Value(_)));
        assert!(matches!(Envelope::read(200, &nested(DEEPEST)), Envelope::Foreign(_)));
        assert_eq!(nesting(br#"{"a": "[[[\"[[\\", "b": [1]}"#), 2);
    }
}
