//! Reads values by their signature. What does not fit is refused, never guessed.

use super::value::DBusValue;

/// How deeply values are nested, as the protocol allows.
const DEEPEST: usize = 64;

/// Why a message cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    #[error("it is cut off")]
    CutOff,
    #[error("its signature is not valid")]
    Signature,
    #[error("it is nested too deeply")]
    TooDeep,
    #[error("a value is not valid")]
    Value,
    #[error("it is too long")]
    TooLong,
}

/// The unread part of a message's bytes. Padding counts from the start of the message.
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    is_big: bool,
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8], is_big: bool) -> Reader<'a> {
        Reader { bytes, at: 0, is_big }
    }

    pub fn at(&self) -> usize {
        self.at
    }

    pub fn take(&mut self, n: usize) -> Result<&'a [u8], Malformed> {
        let end = self.at.checked_add(n).ok_or(Malformed::CutOff)?;
        let taken = self.bytes.get(self.at..end).ok_or(Malformed::CutOff)?;
        self.at = end;
        Ok(taken)
    }

    pub fn pad(&mut self, to: usize) -> Result<(), Malformed> {
        self.take(self.at.next_multiple_of(to) - self.at).map(drop)
    }

    fn number<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.pad(N)?;
        let mut bytes: [u8; N] = self.take(N)?.try_into().map_err(|_| Malformed::CutOff)?;
        if self.is_big {
            bytes.reverse();
        }
        Ok(bytes)
    }

    pub fn u32(&mut self) -> Result<u32, Malformed> {
        self.number().map(u32::from_le_bytes)
    }

    fn text(&mut self, length: usize) -> Result<String, Malformed> {
        let text = String::from_utf8_lossy(self.take(length)?).into_owned();
        // The terminating zero.
        self.take(1)?;
        Ok(text)
    }

    pub fn string(&mut self) -> Result<String, Malformed> {
        let length = self.u32()? as usize;
        self.text(length)
    }

    pub fn signature(&mut self) -> Result<String, Malformed> {
        let length = usize::from(self.take(1)?[0]);
        self.text(length)
    }

    /// The values of a signature, one after the other.
    pub fn values(&mut self, signature: &str) -> Result<Vec<DBusValue>, Malformed> {
        let mut rest = signature.as_bytes();
        let mut values = Vec::new();
        while !rest.is_empty() {
            let (kind, after) = split(rest, 0)?;
            values.push(self.value(kind, 0)?);
            rest = after;
        }
        Ok(values)
    }

    fn value(&mut self, kind: &[u8], depth: usize) -> Result<DBusValue, Malformed> {
        if depth > DEEPEST {
            return Err(Malformed::TooDeep);
        }
        Ok(match kind {
            b"y" => DBusValue::Int(self.take(1)?[0].into()),
            b"b" => match self.u32()? {
                0 => DBusValue::Bool(false),
                1 => DBusValue::Bool(true),
                _ => return Err(Malformed::Value),
            },
            b"n" => DBusValue::Int(i16::from_le_bytes(self.number()?).into()),
            b"q" => DBusValue::Int(u16::from_le_bytes(self.number()?).into()),
            b"i" => DBusValue::Int(i32::from_le_bytes(self.number()?).into()),
            b"u" | b"h" => DBusValue::Int(self.u32()?.into()),
            b"x" => DBusValue::Int(i64::from_le_bytes(self.number()?)),
            b"t" => DBusValue::Int(i64::try_from(u64::from_le_bytes(self.number()?)).unwrap_or(i64::MAX)),
            b"d" => DBusValue::Float(f64::from_le_bytes(self.number()?)),
            b"s" | b"o" => DBusValue::Text(self.string()?),
            b"g" => DBusValue::Text(self.signature()?),
            b"v" => {
                let inner = self.signature()?;
                let (kind, after) = split(inner.as_bytes(), 0)?;
                if !after.is_empty() {
                    return Err(Malformed::Signature);
                }
                self.value(kind, depth + 1)?
            }
            [b'a', element @ ..] => self.list(element, depth)?,
            [b'(' | b'{', fields @ .., _] => {
                self.pad(8)?;
                let (mut rest, mut items) = (fields, Vec::new());
                while !rest.is_empty() {
                    let (field, after) = split(rest, 0)?;
                    items.push(self.value(field, depth + 1)?);
                    rest = after;
                }
                DBusValue::Tuple(items)
            }
            _ => return Err(Malformed::Signature),
        })
    }

    fn list(&mut self, element: &[u8], depth: usize) -> Result<DBusValue, Malformed> {
        let length = self.u32()? as usize;
        self.pad(alignment(element))?;
        let end = self.at.checked_add(length).filter(|end| *end <= self.bytes.len()).ok_or(Malformed::CutOff)?;
        let mut items = Vec::new();
        while self.at < end {
            let before = self.at;
            items.push(self.value(element, depth + 1)?);
            // An element without bytes would be repeated forever.
            if self.at == before {
                return Err(Malformed::Value);
            }
        }
        if self.at != end {
            return Err(Malformed::Value);
        }
        Ok(DBusValue::List(items))
    }
}

/// The first complete type of a signature, and the rest.
fn split(signature: &[u8], depth: usize) -> Result<(&[u8], &[u8]), Malformed> {
    if depth > DEEPEST {
        return Err(Malformed::TooDeep);
    }
    let length = match signature.first().ok_or(Malformed::Signature)? {
        b'a' => 1 + split(&signature[1..], depth + 1)?.0.len(),
        open @ (b'(' | b'{') => {
            let close = if *open == b'(' { b')' } else { b'}' };
            let mut rest = &signature[1..];
            while rest.first() != Some(&close) {
                rest = split(rest, depth + 1)?.1;
            }
            let length = signature.len() - rest.len() + 1;
            // A structure without fields would have no bytes.
            if length == 2 {
                return Err(Malformed::Signature);
            }
            length
        }
        _ => 1,
    };
    Ok(signature.split_at(length))
}

fn alignment(kind: &[u8]) -> usize {
    match kind.first() {
        Some(b'n' | b'q') => 2,
        Some(b'b' | b'i' | b'u' | b'h' | b's' | b'o' | b'a') => 4,
        Some(b'x' | b't' | b'd' | b'(' | b'{') => 8,
        _ => 1,
    }
}
