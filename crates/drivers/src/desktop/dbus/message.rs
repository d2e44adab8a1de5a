//! Messages: calls that we send, and all that is received.

use super::read::{Malformed, Reader};
use super::value::DBusValue;

/// The longest message that is read, in bytes. The protocol allows 128 MiB; no tree needs as much.
const LONGEST: usize = 64 << 20;
/// The bytes before the fields of the header.
const FIXED: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    Call,
    Return,
    Error,
    Signal,
}

/// A message as it was received.
#[derive(Debug, Clone, PartialEq)]
pub struct DBusMessage {
    pub kind: MessageKind,
    pub serial: u32,
    /// The call that it answers.
    pub reply_to: Option<u32>,
    /// The name of the error.
    pub error: Option<String>,
    pub sender: Option<String>,
    pub body: Vec<DBusValue>,
}

/// How long the message is that starts with these bytes; `None` if there are too few to know.
pub fn next_length(bytes: &[u8]) -> Result<Option<usize>, Malformed> {
    let Some(start) = bytes.get(..FIXED + 4) else { return Ok(None) };
    let mut reader = Reader::new(start, is_big(start)?);
    reader.take(4)?;
    let body = reader.u32()? as usize;
    reader.u32()?;
    let fields = reader.u32()? as usize;
    if body > LONGEST || fields > LONGEST {
        return Err(Malformed::TooLong);
    }
    Ok(Some((FIXED + 4 + fields).next_multiple_of(8) + body))
}

fn is_big(bytes: &[u8]) -> Result<bool, Malformed> {
    match bytes.first() {
        Some(b'l') => Ok(false),
        Some(b'B') => Ok(true),
        _ => Err(Malformed::Value),
    }
}

impl DBusMessage {
    /// Reads a whole message.
    pub fn read(bytes: &[u8]) -> Result<DBusMessage, Malformed> {
        let mut reader = Reader::new(bytes, is_big(bytes)?);
        let start = reader.take(4)?;
        let kind = match start[1] {
            1 => MessageKind::Call,
            2 => MessageKind::Return,
            3 => MessageKind::Error,
            4 => MessageKind::Signal,
            _ => return Err(Malformed::Value),
        };
        reader.u32()?;
        let serial = reader.u32()?;
        let fields = reader.values("a(yv)")?;
        reader.pad(8)?;
        let field = |code: i64| {
            let all = fields.first().map(DBusValue::items).unwrap_or_default();
            all.iter().map(DBusValue::items).find(|pair| pair[0].int() == Some(code)).map(|pair| &pair[1])
        };
        let text = |code: i64| field(code).and_then(DBusValue::text).map(str::to_string);
        let reply_to = field(5).and_then(DBusValue::int).and_then(|serial| u32::try_from(serial).ok());
        let (error, sender, signature) = (text(4), text(7), text(8).unwrap_or_default());
        let mut body = Reader::new(&bytes[reader.at()..], is_big(bytes)?);
        let body = body.values(&signature)?;
        Ok(DBusMessage { kind, serial, reply_to, error, sender, body })
    }
}

/// The arguments of a call.
#[derive(Debug, Clone, Default)]
pub struct DBusArguments {
    signature: String,
    bytes: Vec<u8>,
}

impl DBusArguments {
    pub fn new() -> DBusArguments {
        DBusArguments::default()
    }

    pub fn string(mut self, text: &str) -> DBusArguments {
        self.signature.push('s');
        push_string(&mut self.bytes, text);
        self
    }

    pub fn int(mut self, number: i32) -> DBusArguments {
        self.signature.push('i');
        push_u32(&mut self.bytes, number as u32);
        self
    }

    pub fn uint(mut self, number: u32) -> DBusArguments {
        self.signature.push('u');
        push_u32(&mut self.bytes, number);
        self
    }

    /// An empty list of strings.
    pub fn no_strings(mut self) -> DBusArguments {
        self.signature.push_str("as");
        push_u32(&mut self.bytes, 0);
        self
    }

    /// A number in a variant.
    pub fn variant_float(mut self, number: f64) -> DBusArguments {
        self.signature.push('v');
        push_signature(&mut self.bytes, "d");
        pad(&mut self.bytes, 8);
        self.bytes.extend(number.to_le_bytes());
        self
    }

    /// A flag in a variant.
    pub fn variant_bool(mut self, flag: bool) -> DBusArguments {
        self.signature.push('v');
        push_signature(&mut self.bytes, "b");
        push_u32(&mut self.bytes, flag.into());
        self
    }

    /// A call with these arguments.
    pub fn call(&self, serial: u32, destination: &str, path: &str, interface: &str, member: &str) -> Vec<u8> {
        let mut fields = Vec::new();
        for (code, kind, value) in [(1, "o", path), (2, "s", interface), (3, "s", member), (6, "s", destination)] {
            if value.is_empty() {
                continue;
            }
            pad(&mut fields, 8);
            fields.push(code);
            push_signature(&mut fields, kind);
            push_string(&mut fields, value);
        }
        if !self.signature.is_empty() {
            pad(&mut fields, 8);
            fields.push(8);
            push_signature(&mut fields, "g");
            push_signature(&mut fields, &self.signature);
        }
        // Little-endian, a call, no flags, version 1.
        let mut bytes = vec![b'l', 1, 0, 1];
        push_u32(&mut bytes, self.bytes.len() as u32);
        push_u32(&mut bytes, serial);
        push_u32(&mut bytes, fields.len() as u32);
        bytes.extend(fields);
        pad(&mut bytes, 8);
        bytes.extend(&self.bytes);
        bytes
    }
}

fn pad(bytes: &mut Vec<u8>, to: usize) {
    bytes.resize(bytes.len().next_multiple_of(to), 0);
}

fn push_u32(bytes: &mut Vec<u8>, number: u32) {
    pad(bytes, 4);
    bytes.extend(number.to_le_bytes());
}

fn push_string(bytes: &mut Vec<u8>, text: &str) {
    // A zero would end the text.
    let text = text.replace('\0', "");
    push_u32(bytes, text.len() as u32);
    bytes.extend(text.as_bytes());
    bytes.push(0);
}

fn push_signature(bytes: &mut Vec<u8>, signature: &str) {
    bytes.push(signature.len() as u8);
    bytes.extend(signature.as_bytes());
    bytes.push(0);
}
