//! Messages as JSON.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{Code, Error};

/// How deeply a response may be nested. Screens of Trailblaze have at most 100 elements inside each other, of two levels each.
const DEPTH: usize = 256;

/// Reads a message of a response.
pub fn read<T: DeserializeOwned>(bytes: &[u8], what: &str) -> Result<T, Error> {
    if depth(bytes) > DEPTH {
        return Err(Error::api(Code::ResourceExhausted, format!("{what} is nested deeper than {DEPTH}")));
    }
    // A list would be read as the fields of a struct, in their order.
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return Err(Error::api(Code::Internal, format!("{what} is not a JSON object: {}", excerpt(bytes))));
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    reader.disable_recursion_limit();
    let read = T::deserialize(&mut reader).and_then(|read| reader.end().map(|()| read));
    read.map_err(|error| Error::api(Code::Internal, format!("{what} is not valid: {error}: {}", excerpt(bytes))))
}

fn depth(bytes: &[u8]) -> usize {
    let (mut depth, mut deepest, mut is_text, mut is_escaped) = (0usize, 0, false, false);
    for byte in bytes {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b'[' | b'{' if !is_text => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !is_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// The error of a response that is not a success.
pub fn error_of(authority: &str, status: u16, body: &[u8]) -> Error {
    let error = read::<Value>(body, "the error").ok();
    if let Some(error) = error.filter(|error| error["code"].is_string()) {
        return error_from(&error);
    }
    let text = format!("http://{authority} answered with HTTP status {status}: {}", excerpt(body));
    Error::api(Code::of_status(status), format!("{text}; is Trailblaze listening at this address?"))
}

/// An error as Connect sends it.
pub fn error_from(error: &Value) -> Error {
    let code = error["code"].as_str().unwrap_or_default();
    let message = error["message"].as_str().filter(|message| !message.is_empty()).unwrap_or(code);
    Error::api(Code::parse(code).unwrap_or(Code::Unknown), message)
}

/// The beginning of a response, for messages.
pub fn excerpt(body: &[u8]) -> String {
    const SHOWN: usize = 200;
    let text = String::from_utf8_lossy(&body[..body.len().min(SHOWN)]);
    match text.trim() {
        "" => "empty".to_string(),
        text if body.len() > SHOWN => format!("`{text}…`"),
        text => format!("`{text}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_is_counted_outside_of_texts() {
        for (json, expected) in [("1", 0), ("[]", 1), (r#"{"a":[{}]}"#, 3), (r#"["[[\"[",[]]"#, 2), ("]]][", 1)] {
            assert_eq!(depth(json.as_bytes()), expected, "{json}");
        }
    }

    #[test]
    fn deep_nesting_is_read_up_to_a_limit() {
        let nested = |depth: usize| format!("{{\"a\": {}{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1));
        assert!(read::<Value>(nested(DEPTH).as_bytes(), "it").is_ok());
        let error = read::<Value>(nested(DEPTH + 1).as_bytes(), "it").expect_err("it is too deep");
        assert_eq!(error.to_string(), "it is nested deeper than 256 (resource_exhausted)");
    }
}
