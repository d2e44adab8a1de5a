//! Messages in protobuf's binary format.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Number, Value};

use super::json::{integer, whole, word, wrong};
use super::{CodecError, FieldPath, unknown_word};
use crate::{Field, Message, Type};

const VARINT: u8 = 0;
const FIXED_64: u8 = 1;
const BYTES: u8 = 2;
const FIXED_32: u8 = 5;

/// Reads a message. Unknown fields are ignored; of a field that occurs several times, the last one counts.
pub fn from_binary(message: &Message, bytes: &[u8]) -> Result<Map<String, Value>, CodecError> {
    read(message, bytes, &FieldPath::ROOT)
}

fn read(message: &Message, bytes: &[u8], path: &FieldPath<'_>) -> Result<Map<String, Value>, CodecError> {
    let mut fields = Map::new();
    let mut input = BinaryInput { bytes };
    while let Some((number, wire)) = input.tag(path)? {
        let Some(field) = message.fields.iter().find(|field| field.number == number) else {
            input.skip(wire, path)?;
            continue;
        };
        let path = path.inner(field.json)?;
        read_field(field, wire, &mut input, &mut fields, &path)?;
    }
    Ok(fields)
}

fn read_field(
    field: &Field,
    wire: u8,
    input: &mut BinaryInput<'_>,
    fields: &mut Map<String, Value>,
    path: &FieldPath<'_>,
) -> Result<(), CodecError> {
    if let Type::Map(message) = &field.ty {
        expect(wire, BYTES, path)?;
        let (key, value) = entry(message, input.bytes(path)?, path)?;
        let entries = fields.entry(field.json).or_insert_with(|| Value::Object(Map::new()));
        entries.as_object_mut().expect("a map").insert(key, value);
        return Ok(());
    }
    if !field.is_repeated {
        match read_one(&field.ty, wire, input, path)? {
            // As in JSON, a value that is null is absent.
            Value::Null => fields.remove(field.json),
            value => fields.insert(field.json.to_string(), value),
        };
        return Ok(());
    }
    let mut items = Vec::new();
    let is_packable = matches!(field.ty, Type::Bool | Type::Int32 | Type::Double | Type::Enum(_));
    if is_packable && wire == BYTES {
        let mut packed = BinaryInput { bytes: input.bytes(path)? };
        while !packed.bytes.is_empty() {
            items.push(read_one(&field.ty, own_wire(&field.ty), &mut packed, path)?);
        }
    } else {
        items.push(read_one(&field.ty, wire, input, path)?);
    }
    let list = fields.entry(field.json).or_insert_with(|| Value::Array(Vec::new()));
    list.as_array_mut().expect("a list").append(&mut items);
    Ok(())
}

fn read_one(ty: &Type, wire: u8, input: &mut BinaryInput<'_>, path: &FieldPath<'_>) -> Result<Value, CodecError> {
    expect(wire, own_wire(ty), path)?;
    Ok(match ty {
        Type::Bool => Value::Bool(input.varint(path)? != 0),
        // Negative numbers are extended to 64 bits on the wire.
        Type::Int32 => (input.varint(path)? as i32).into(),
        Type::Double => number(input.double(path)?, path)?,
        Type::Text => Value::String(input.text(path)?),
        Type::Bytes => STANDARD.encode(input.bytes(path)?).into(),
        Type::Enum(listed) => {
            let number = input.varint(path)? as i32;
            let known = listed.words.iter().find(|(_, known)| *known == number);
            known.map(|(word, _)| Value::from(*word)).ok_or_else(|| unknown_word(path, listed, &number.to_string()))?
        }
        Type::Message(message) => Value::Object(read(message, input.bytes(path)?, path)?),
        Type::Value => read_value(input.bytes(path)?, path)?,
        Type::Struct => read_struct(input.bytes(path)?, path)?,
        Type::Map(_) => unreachable!("maps are read as fields"),
    })
}

fn entry(message: &Message, bytes: &[u8], path: &FieldPath<'_>) -> Result<(String, Value), CodecError> {
    let (mut key, mut value) = (String::new(), Value::Object(Map::new()));
    let mut input = BinaryInput { bytes };
    while let Some((number, wire)) = input.tag(path)? {
        match (number, wire) {
            (1, BYTES) => key = input.text(path)?,
            (2, BYTES) => value = Value::Object(read(message, input.bytes(path)?, &path.inner("value")?)?),
            (_, wire) => input.skip(wire, path)?,
        }
    }
    Ok((key, value))
}

fn read_value(bytes: &[u8], path: &FieldPath<'_>) -> Result<Value, CodecError> {
    let path = path.inner("value")?;
    let mut value = Value::Null;
    let mut input = BinaryInput { bytes };
    while let Some((field, wire)) = input.tag(&path)? {
        value = match (field, wire) {
            (1, VARINT) => {
                input.varint(&path)?;
                Value::Null
            }
            (2, FIXED_64) => number(input.double(&path)?, &path)?,
            (3, BYTES) => Value::String(input.text(&path)?),
            (4, VARINT) => Value::Bool(input.varint(&path)? != 0),
            (5, BYTES) => read_struct(input.bytes(&path)?, &path)?,
            (6, BYTES) => read_list(input.bytes(&path)?, &path)?,
            (_, wire) => {
                input.skip(wire, &path)?;
                continue;
            }
        };
    }
    Ok(value)
}

fn read_struct(bytes: &[u8], path: &FieldPath<'_>) -> Result<Value, CodecError> {
    let mut fields = Map::new();
    let mut input = BinaryInput { bytes };
    while let Some((number, wire)) = input.tag(path)? {
        if (number, wire) != (1, BYTES) {
            input.skip(wire, path)?;
            continue;
        }
        let (mut key, mut value) = (String::new(), Value::Null);
        let mut entry = BinaryInput { bytes: input.bytes(path)? };
        while let Some((number, wire)) = entry.tag(path)? {
            match (number, wire) {
                (1, BYTES) => key = entry.text(path)?,
                (2, BYTES) => value = read_value(entry.bytes(path)?, path)?,
                (_, wire) => entry.skip(wire, path)?,
            }
        }
        fields.insert(key, value);
    }
    Ok(Value::Object(fields))
}

fn read_list(bytes: &[u8], path: &FieldPath<'_>) -> Result<Value, CodecError> {
    let mut items = Vec::new();
    let mut input = BinaryInput { bytes };
    while let Some((number, wire)) = input.tag(path)? {
        match (number, wire) {
            (1, BYTES) => items.push(read_value(input.bytes(path)?, path)?),
            (_, wire) => input.skip(wire, path)?,
        }
    }
    Ok(Value::Array(items))
}

/// A JSON number. Protobuf's values only have floating-point numbers.
fn number(double: f64, path: &FieldPath<'_>) -> Result<Value, CodecError> {
    Number::from_f64(double).map(whole).ok_or_else(|| CodecError::Type {
        field: path.to_string(),
        expected: "a finite number".into(),
        got: double.to_string(),
    })
}

fn own_wire(ty: &Type) -> u8 {
    match ty {
        Type::Bool | Type::Int32 | Type::Enum(_) => VARINT,
        Type::Double => FIXED_64,
        Type::Text | Type::Bytes | Type::Message(_) | Type::Map(_) | Type::Value | Type::Struct => BYTES,
    }
}

fn expect(got: u8, expected: u8, path: &FieldPath<'_>) -> Result<(), CodecError> {
    match got == expected {
        true => Ok(()),
        false => Err(CodecError::WireType { field: path.to_string(), expected, got }),
    }
}

fn cut_off(path: &FieldPath<'_>) -> CodecError {
    CodecError::CutOff(path.parent.is_some().then(|| path.to_string()))
}

/// The unread rest of a message.
struct BinaryInput<'a> {
    bytes: &'a [u8],
}

impl<'a> BinaryInput<'a> {
    /// The next field's number and wire type.
    fn tag(&mut self, path: &FieldPath<'_>) -> Result<Option<(u32, u8)>, CodecError> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let tag = self.varint(path)?;
        let number = u32::try_from(tag >> 3).ok().filter(|number| *number > 0);
        Ok(Some((number.ok_or(CodecError::FieldNumber(tag >> 3))?, (tag & 7) as u8)))
    }

    fn varint(&mut self, path: &FieldPath<'_>) -> Result<u64, CodecError> {
        let mut value = 0u64;
        for (index, byte) in self.bytes.iter().enumerate().take(10) {
            value |= u64::from(byte & 0x7f) << (7 * index);
            if byte & 0x80 == 0 {
                self.bytes = &self.bytes[index + 1..];
                return Ok(value);
            }
        }
        Err(cut_off(path))
    }

    fn take(&mut self, length: usize, path: &FieldPath<'_>) -> Result<&'a [u8], CodecError> {
        let (taken, rest) = self.bytes.split_at_checked(length).ok_or_else(|| cut_off(path))?;
        self.bytes = rest;
        Ok(taken)
    }

    fn bytes(&mut self, path: &FieldPath<'_>) -> Result<&'a [u8], CodecError> {
        let length = usize::try_from(self.varint(path)?).unwrap_or(usize::MAX);
        self.take(length, path)
    }

    fn text(&mut self, path: &FieldPath<'_>) -> Result<String, CodecError> {
        let bytes = self.bytes(path)?;
        std::str::from_utf8(bytes).map(str::to_string).map_err(|_| CodecError::NotUtf8(path.to_string()))
    }

    fn double(&mut self, path: &FieldPath<'_>) -> Result<f64, CodecError> {
        let bytes = self.take(8, path)?;
        Ok(f64::from_le_bytes(bytes.try_into().expect("eight bytes")))
    }

    fn skip(&mut self, wire: u8, path: &FieldPath<'_>) -> Result<(), CodecError> {
        match wire {
            VARINT => self.varint(path).map(drop),
            FIXED_64 => self.take(8, path).map(drop),
            BYTES => self.bytes(path).map(drop),
            FIXED_32 => self.take(4, path).map(drop),
            got => Err(CodecError::WireType { field: path.to_string(), expected: BYTES, got }),
        }
    }
}

/// Writes a message. What the table does not list is left out.
pub fn to_binary(message: &Message, fields: &Map<String, Value>) -> Result<Vec<u8>, CodecError> {
    let mut out = Vec::new();
    write(message, fields, &mut out, &FieldPath::ROOT)?;
    Ok(out)
}

fn write(
    message: &Message,
    fields: &Map<String, Value>,
    out: &mut Vec<u8>,
    path: &FieldPath<'_>,
) -> Result<(), CodecError> {
    for field in message.fields {
        let Some(value) = fields.get(field.json).filter(|value| !value.is_null()) else { continue };
        let path = path.inner(field.json)?;
        match (&field.ty, value) {
            (Type::Map(message), Value::Object(entries)) => {
                for (key, value) in entries {
                    let mut entry = Vec::new();
                    put_bytes(1, key.as_bytes(), &mut entry);
                    let mut inner = Vec::new();
                    let empty = Map::new();
                    write(message, value.as_object().unwrap_or(&empty), &mut inner, &path.inner(key)?)?;
                    put_bytes(2, &inner, &mut entry);
                    put_bytes(field.number, &entry, out);
                }
            }
            (ty, Value::Array(items)) if field.is_repeated => {
                items.iter().try_for_each(|item| write_one(field.number, ty, item, out, &path))?;
            }
            (_, other) if field.is_repeated => return Err(wrong(&path, "an array", other)),
            (ty, value) => write_one(field.number, ty, value, out, &path)?,
        }
    }
    Ok(())
}

fn write_one(number: u32, ty: &Type, value: &Value, out: &mut Vec<u8>, path: &FieldPath<'_>) -> Result<(), CodecError> {
    match (ty, value) {
        (Type::Bool, Value::Bool(flag)) => put_varint(number, u64::from(*flag), out),
        (Type::Int32, value) => {
            let value = integer(value).ok_or_else(|| wrong(path, "a 32-bit integer", value))?;
            put_varint(number, i64::from(value) as u64, out);
        }
        (Type::Double, value) => {
            let double = value.as_f64().ok_or_else(|| wrong(path, "a number", value))?;
            put_double(number, double, out);
        }
        (Type::Text, Value::String(text)) => put_bytes(number, text.as_bytes(), out),
        (Type::Bytes, Value::String(text)) => {
            let bytes = STANDARD.decode(text).map_err(|_| wrong(path, "base64", value))?;
            put_bytes(number, &bytes, out);
        }
        (Type::Enum(listed), Value::String(text)) => {
            let word = word(listed, text).ok_or_else(|| unknown_word(path, listed, text))?;
            let known = listed.words.iter().find(|(known, _)| *known == word);
            put_varint(number, known.map_or(0, |(_, number)| *number as u64), out);
        }
        (Type::Message(message), Value::Object(fields)) => {
            let mut inner = Vec::new();
            write(message, fields, &mut inner, path)?;
            put_bytes(number, &inner, out);
        }
        (Type::Value, value) => {
            let mut inner = Vec::new();
            write_value(value, &mut inner, path)?;
            put_bytes(number, &inner, out);
        }
        (Type::Struct, Value::Object(fields)) => {
            let mut inner = Vec::new();
            write_struct(fields, &mut inner, path)?;
            put_bytes(number, &inner, out);
        }
        (Type::Bool, other) => return Err(wrong(path, "true or false", other)),
        (Type::Text, other) => return Err(wrong(path, "a text", other)),
        (Type::Bytes, other) => return Err(wrong(path, "base64", other)),
        (Type::Enum(_), other) => return Err(wrong(path, "a word", other)),
        (Type::Message(_) | Type::Struct | Type::Map(_), other) => return Err(wrong(path, "an object", other)),
    }
    Ok(())
}

fn write_value(value: &Value, out: &mut Vec<u8>, path: &FieldPath<'_>) -> Result<(), CodecError> {
    let path = path.inner("value")?;
    match value {
        Value::Null => put_varint(1, 0, out),
        Value::Number(number) => put_double(2, number.as_f64().unwrap_or_default(), out),
        Value::String(text) => put_bytes(3, text.as_bytes(), out),
        Value::Bool(flag) => put_varint(4, u64::from(*flag), out),
        Value::Object(fields) => {
            let mut inner = Vec::new();
            write_struct(fields, &mut inner, &path)?;
            put_bytes(5, &inner, out);
        }
        Value::Array(items) => {
            let mut list = Vec::new();
            for item in items {
                let mut inner = Vec::new();
                write_value(item, &mut inner, &path)?;
                put_bytes(1, &inner, &mut list);
            }
            put_bytes(6, &list, out);
        }
    }
    Ok(())
}

fn write_struct(fields: &Map<String, Value>, out: &mut Vec<u8>, path: &FieldPath<'_>) -> Result<(), CodecError> {
    for (key, value) in fields {
        let mut entry = Vec::new();
        put_bytes(1, key.as_bytes(), &mut entry);
        let mut inner = Vec::new();
        write_value(value, &mut inner, path)?;
        put_bytes(2, &inner, &mut entry);
        put_bytes(1, &entry, out);
    }
    Ok(())
}

fn put_tag(number: u32, wire: u8, out: &mut Vec<u8>) {
    put_raw_varint(u64::from(number) << 3 | u64::from(wire), out);
}

fn put_varint(number: u32, value: u64, out: &mut Vec<u8>) {
    put_tag(number, VARINT, out);
    put_raw_varint(value, out);
}

fn put_double(number: u32, value: f64, out: &mut Vec<u8>) {
    put_tag(number, FIXED_64, out);
    out.extend(value.to_le_bytes());
}

fn put_bytes(number: u32, bytes: &[u8], out: &mut Vec<u8>) {
    put_tag(number, BYTES, out);
    put_raw_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

fn put_raw_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
