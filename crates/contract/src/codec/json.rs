//! Messages as JSON, as protobuf's JSON mapping describes it. More is accepted: enum words in any case, with or without their
//! prefix.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use serde_json::{Map, Number, Value};

use super::{CodecError, FieldPath, SHOWN_CHARS, unknown_word};
use crate::{Enum, Field, Message, Type};

/// Reads a message. Unknown fields are ignored; `null` is the same as absent.
pub fn from_json(message: &Message, bytes: &[u8]) -> Result<Map<String, Value>, CodecError> {
    // An empty body is an empty message for callers such as `curl -X POST`.
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Map::new());
    }
    let value = serde_json::from_slice(bytes).map_err(|error| CodecError::NotJson(error.to_string()))?;
    from_value(message, value)
}

/// Reads a message from JSON that was parsed already.
pub fn from_value(message: &Message, value: Value) -> Result<Map<String, Value>, CodecError> {
    read(message, value, &FieldPath::ROOT)
}

fn read(message: &Message, value: Value, path: &FieldPath<'_>) -> Result<Map<String, Value>, CodecError> {
    let Value::Object(mut given) = value else {
        return Err(match path.parent {
            None => CodecError::NotObject(kind(&value).to_string()),
            Some(_) => wrong(path, "an object", &value),
        });
    };
    let mut fields = Map::new();
    for field in message.fields {
        let value = given.remove(field.json).or_else(|| given.remove(field.name)).unwrap_or_default();
        if value.is_null() {
            continue;
        }
        let value = read_field(field, value, &path.inner(field.json)?)?;
        fields.insert(field.json.to_string(), value);
    }
    Ok(fields)
}

fn read_field(field: &Field, value: Value, path: &FieldPath<'_>) -> Result<Value, CodecError> {
    match (&field.ty, value) {
        (Type::Map(message), Value::Object(entries)) => {
            let read = |(key, value): (String, Value)| {
                let entry = read(message, value, &path.inner(&key)?)?;
                Ok((key, Value::Object(entry)))
            };
            entries.into_iter().map(read).collect::<Result<Map<_, _>, _>>().map(Value::Object)
        }
        (Type::Map(_), other) => Err(wrong(path, "an object", &other)),
        (ty, Value::Array(items)) if field.is_repeated => {
            items.into_iter().map(|item| read_one(ty, item, path)).collect::<Result<Vec<_>, _>>().map(Value::Array)
        }
        (_, other) if field.is_repeated => Err(wrong(path, "an array", &other)),
        (ty, value) => read_one(ty, value, path),
    }
}

fn read_one(ty: &Type, value: Value, path: &FieldPath<'_>) -> Result<Value, CodecError> {
    match (ty, value) {
        (Type::Bool, value @ Value::Bool(_)) | (Type::Text, value @ Value::String(_)) => Ok(value),
        (Type::Bool, other) => Err(wrong(path, "true or false", &other)),
        (Type::Text, other) => Err(wrong(path, "a text", &other)),
        (Type::Int32, value) => integer(&value).map(Value::from).ok_or_else(|| wrong(path, "a 32-bit integer", &value)),
        (Type::Double, value) => match number(&value) {
            Some(number) => Ok(whole(number)),
            None => Err(wrong(path, "a number", &value)),
        },
        (Type::Bytes, Value::String(text)) => {
            let engines = [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD];
            let bytes = engines.iter().find_map(|engine| engine.decode(&text).ok());
            let bytes = bytes.ok_or_else(|| wrong(path, "base64", &Value::String(text)))?;
            Ok(STANDARD.encode(bytes).into())
        }
        (Type::Bytes, other) => Err(wrong(path, "base64", &other)),
        (Type::Enum(listed), Value::String(text)) => match word(listed, &text) {
            Some(word) => Ok(word.into()),
            None => Err(unknown_word(path, listed, &text)),
        },
        (Type::Enum(listed), value) => {
            let number = integer(&value).ok_or_else(|| wrong(path, "a word", &value))?;
            let known = listed.words.iter().find(|(_, known)| *known == number);
            known.map(|(word, _)| Value::from(*word)).ok_or_else(|| unknown_word(path, listed, &number.to_string()))
        }
        (Type::Message(message), value) => read(message, value, path).map(Value::Object),
        (Type::Map(_), _) => unreachable!("maps are read as fields"),
        (Type::Value, value) => Ok(value),
        (Type::Struct, value @ Value::Object(_)) => Ok(value),
        (Type::Struct, other) => Err(wrong(path, "an object", &other)),
    }
}

/// Writes a message. What the table does not list is left out; enum words get their prefix.
pub fn to_json(message: &Message, fields: &Map<String, Value>) -> Result<Vec<u8>, CodecError> {
    let value = to_value(message, fields)?;
    serde_json::to_vec(&value).map_err(|error| CodecError::NotJson(error.to_string()))
}

/// Writes a message as JSON that is not text yet.
pub fn to_value(message: &Message, fields: &Map<String, Value>) -> Result<Value, CodecError> {
    write(message, fields, &FieldPath::ROOT)
}

fn write(message: &Message, fields: &Map<String, Value>, path: &FieldPath<'_>) -> Result<Value, CodecError> {
    let mut written = Map::new();
    for field in message.fields {
        let Some(value) = fields.get(field.json).filter(|value| !value.is_null()) else {
            // Callers that read plain JSON should not have to know that proto leaves out zeros.
            if let (false, Some(zero)) = (field.is_optional, zero(field)) {
                written.insert(field.json.to_string(), zero);
            }
            continue;
        };
        let path = path.inner(field.json)?;
        let value = match (&field.ty, value) {
            (Type::Map(message), Value::Object(entries)) => {
                let mut written = Map::new();
                for (key, value) in entries {
                    let empty = Map::new();
                    let value = write(message, value.as_object().unwrap_or(&empty), &path.inner(key)?)?;
                    written.insert(key.clone(), value);
                }
                Value::Object(written)
            }
            (ty, Value::Array(items)) if field.is_repeated => {
                Value::Array(items.iter().map(|item| write_one(ty, item, &path)).collect::<Result<_, _>>()?)
            }
            (_, other) if field.is_repeated => return Err(wrong(&path, "an array", other)),
            (ty, value) => write_one(ty, value, &path)?,
        };
        written.insert(field.json.to_string(), value);
    }
    Ok(Value::Object(written))
}

fn write_one(ty: &Type, value: &Value, path: &FieldPath<'_>) -> Result<Value, CodecError> {
    match (ty, value) {
        (Type::Message(message), Value::Object(fields)) => write(message, fields, path),
        (Type::Enum(listed), Value::String(text)) => match word(listed, text) {
            Some(word) => Ok(format!("{}{word}", listed.prefix).into()),
            None => Err(unknown_word(path, listed, text)),
        },
        (ty, value) => read_one(ty, value.clone(), path),
    }
}

fn zero(field: &Field) -> Option<Value> {
    if field.is_repeated {
        return Some(Value::Array(Vec::new()));
    }
    match field.ty {
        Type::Bool => Some(Value::Bool(false)),
        Type::Int32 => Some(0.into()),
        Type::Double => Some(0.0.into()),
        Type::Text | Type::Bytes => Some("".into()),
        Type::Map(_) => Some(Value::Object(Map::new())),
        Type::Enum(_) | Type::Message(_) | Type::Value | Type::Struct => None,
    }
}

/// The word of an enum that a text means, in any case.
pub(super) fn word(listed: &Enum, text: &str) -> Option<&'static str> {
    let upper = text.to_ascii_uppercase();
    let bare = upper.strip_prefix(listed.prefix).unwrap_or(&upper);
    listed.words.iter().map(|(word, _)| *word).find(|word| *word == bare)
}

/// A 32-bit integer. As proto promises, `1.0` and `"1"` are read too.
pub(super) fn integer(value: &Value) -> Option<i32> {
    let number = number(value)?;
    let exact =
        number.as_i64().or_else(|| number.as_f64().filter(|number| number.fract() == 0.0).map(|number| number as i64));
    exact.and_then(|number| i32::try_from(number).ok())
}

/// A number as tools expect it: an integer where one is meant, which some languages write as `1.0`.
pub(super) fn whole(number: Number) -> Value {
    // Up to here, each integer is a floating-point number.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match number.as_f64() {
        Some(double) if number.is_f64() && double.fract() == 0.0 && double.abs() < EXACT => (double as i64).into(),
        _ => Value::Number(number),
    }
}

fn number(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(number.clone()),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

pub(super) fn wrong(path: &FieldPath<'_>, expected: &str, got: &Value) -> CodecError {
    let text = match got {
        Value::Object(_) | Value::Array(_) | Value::Null => kind(got).to_string(),
        Value::String(text) if text.chars().count() > SHOWN_CHARS => kind(got).to_string(),
        scalar => scalar.to_string(),
    };
    CodecError::Type { field: path.to_string(), expected: expected.to_string(), got: text }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
