//! Values of scripts as the protocol writes them.

use serde_json::{Map, Value, json};

use super::super::backend::BackendError;

/// What a script returned, as JSON. What JSON lacks becomes the nearest thing that it has, as with `JSON.stringify`.
pub fn value_of(answer: &Value) -> Result<Value, BackendError> {
    if let Some(thrown) = answer.get("exceptionDetails") {
        return Err(BackendError::Threw(thrown_text(thrown)));
    }
    Ok(answer.get("result").map(json_of).unwrap_or_default())
}

/// The first line of what a script threw.
pub fn thrown_text(thrown: &Value) -> String {
    let text = thrown.get("text").and_then(Value::as_str).filter(|text| !text.is_empty());
    text.unwrap_or("an error without a message").lines().next().unwrap_or_default().to_string()
}

fn json_of(remote: &Value) -> Value {
    let value = remote.get("value");
    match remote.get("type").and_then(Value::as_str).unwrap_or_default() {
        "string" | "boolean" | "date" => value.cloned().unwrap_or_default(),
        // Infinite numbers and `NaN` are written as texts.
        "number" => match value {
            Some(Value::Number(number)) => whole(number),
            Some(Value::String(text)) if text == "-0" => json!(0),
            _ => Value::Null,
        },
        "array" | "set" | "nodelist" | "htmlcollection" => {
            Value::Array(value.and_then(Value::as_array).into_iter().flatten().map(json_of).collect())
        }
        "object" | "map" => Value::Object(entries(value).collect()),
        "undefined" | "null" | "function" | "symbol" => Value::Null,
        "bigint" => value.cloned().unwrap_or_default(),
        _ => Value::Object(Map::new()),
    }
}

/// A number without a fraction is an integer, however the browser writes it.
fn whole(number: &serde_json::Number) -> Value {
    let float = number.as_f64().unwrap_or_default();
    match number.is_f64() && float.fract() == 0.0 && float.abs() < 9_007_199_254_740_992.0 {
        true => json!(float as i64),
        false => Value::Number(number.clone()),
    }
}

fn entries(value: Option<&Value>) -> impl Iterator<Item = (String, Value)> {
    let pairs = value.and_then(Value::as_array).into_iter().flatten();
    pairs.filter_map(|pair| {
        let key = match pair.get(0)? {
            Value::String(key) => key.clone(),
            key => match json_of(key) {
                Value::String(key) => key,
                key => key.to_string(),
            },
        };
        Some((key, json_of(pair.get(1)?)))
    })
}

/// Whether a script returned an object with a method `then`, which is awaited like a promise.
pub fn is_thenable(answer: &Value) -> bool {
    let pairs = answer.pointer("/result/value").and_then(Value::as_array);
    let is_then = |pair: &Value| pair[0] == "then" && pair[1]["type"] == "function";
    answer.pointer("/result/type").is_some_and(|kind| kind == "object") && pairs.into_iter().flatten().any(is_then)
}

/// The id by which the browser knows an element that a script returned.
pub fn shared_id(answer: &Value) -> Option<&str> {
    answer.pointer("/result/sharedId").and_then(Value::as_str)
}

/// An argument of the console as people read it.
pub fn console_text(remote: &Value) -> String {
    match remote.get("type").and_then(Value::as_str).unwrap_or_default() {
        "undefined" => "undefined".to_string(),
        "error" | "function" | "symbol" | "window" | "promise" | "proxy" | "weakmap" | "weakset" => {
            remote.get("type").and_then(Value::as_str).unwrap_or_default().to_string()
        }
        "number" if remote.get("value").is_some_and(Value::is_string) => {
            remote.get("value").and_then(Value::as_str).unwrap_or_default().to_string()
        }
        _ => match json_of(remote) {
            Value::String(text) => text,
            value => value.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_json() {
        let answer = json!({"type": "success", "result": {"type": "object", "value": [
            ["n", {"type": "number", "value": 1}],
            ["whole", {"type": "number", "value": 2.0}],
            ["half", {"type": "number", "value": 0.5}],
            ["nothing", {"type": "number", "value": "NaN"}],
            ["list", {"type": "array", "value": [{"type": "string", "value": "a"}, {"type": "undefined"}]}],
            ["map", {"type": "map", "value": [[{"type": "number", "value": 7}, {"type": "null"}]]}],
            ["node", {"type": "node", "sharedId": "x"}],
        ]}});
        let expected = json!({
            "n": 1, "whole": 2, "half": 0.5, "nothing": null, "list": ["a", null], "map": {"7": null}, "node": {},
        });
        assert_eq!(value_of(&answer), Ok(expected));
    }

    #[test]
    fn an_exception_is_its_first_line() {
        let answer = json!({"type": "exception", "exceptionDetails": {"text": "Error: no\nat x"}});
        assert_eq!(value_of(&answer), Err(BackendError::Threw("Error: no".to_string())));
    }
}
