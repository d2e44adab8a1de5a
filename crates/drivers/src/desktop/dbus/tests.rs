//! Messages that are written can be read, and broken ones are refused.

use super::read::Malformed;
use super::*;

#[test]
fn a_call_is_laid_out_as_the_protocol_says() {
    let bytes = DBusArguments::new().string("ab").int(-2).call(7, ":1.5", "/a", "x.y", "Do");
    assert_eq!(next_length(&bytes), Ok(Some(bytes.len())));
    assert_eq!(&bytes[..12], b"l\x01\0\x01\x0c\0\0\0\x07\0\0\0");
    assert_eq!(&bytes[bytes.len() - 12..], b"\x02\0\0\0ab\0\0\xfe\xff\xff\xff");
    let message = DBusMessage::read(&bytes).expect("it can be read");
    assert_eq!((message.kind, message.serial), (MessageKind::Call, 7));
    assert_eq!(message.body, [DBusValue::Text("ab".to_string()), DBusValue::Int(-2)]);
}

#[test]
fn every_cut_of_a_message_is_refused() {
    let bytes = DBusArguments::new().string("text").variant_float(1.5).variant_bool(true).call(1, "a", "/", "b", "C");
    let whole = DBusMessage::read(&bytes).expect("it can be read");
    assert_eq!(whole.body[1..], [DBusValue::Float(1.5), DBusValue::Bool(true)]);
    for end in 0..bytes.len() {
        assert!(DBusMessage::read(&bytes[..end]).is_err(), "{end} of {} bytes", bytes.len());
    }
}

#[test]
fn lists_structures_and_dictionaries_are_read_in_both_byte_orders() {
    let read = |bytes: &[u8], is_big: bool, signature: &str| read::Reader::new(bytes, is_big).values(signature);
    let little = b"\x14\0\0\0\0\0\0\0\x03\0\0\0abc\0\x07\0\0\0\0\0\0\0\x01\0\0\0";
    let text = |text: &str| DBusValue::Text(text.to_string());
    // The length says 20 bytes: one structure of 12 bytes, 4 of padding, and 4 that are no structure.
    assert_eq!(read(little, false, "a(su)"), Err(Malformed::CutOff));
    let one = b"\x0c\0\0\0\0\0\0\0\x03\0\0\0abc\0\x07\0\0\0";
    let pair = DBusValue::Tuple(vec![text("abc"), DBusValue::Int(7)]);
    assert_eq!(read(one, false, "a(su)"), Ok(vec![DBusValue::List(vec![pair.clone()])]));
    let big = b"\0\0\0\x0c\0\0\0\0\0\0\0\x03abc\0\0\0\0\x07";
    let read = read(big, true, "a{su}").expect("it can be read");
    assert_eq!(read[0].entry("abc"), Some(&DBusValue::Int(7)));
}

#[test]
fn what_cannot_be_a_message_is_refused() {
    let read = |bytes: &[u8], signature: &str| read::Reader::new(bytes, false).values(signature);
    assert_eq!(read(b"\x02\0\0\0", "b"), Err(Malformed::Value));
    assert_eq!(read(b"\0\0\0\0", "("), Err(Malformed::Signature));
    assert_eq!(read(b"\0\0\0\0", "a()"), Err(Malformed::Signature));
    assert_eq!(read(b"\xff\xff\xff\xff", "ay"), Err(Malformed::CutOff));
    assert_eq!(read(b"", &"a".repeat(200)), Err(Malformed::TooDeep));
    let nested: Vec<u8> = b"\x01v\0".repeat(100);
    assert_eq!(read(&nested, "v"), Err(Malformed::TooDeep));
    assert_eq!(next_length(b"l\x01\0\x01\xff\xff\xff\xff\x01\0\0\0\0\0\0\0"), Err(Malformed::TooLong));
    assert_eq!(next_length(b"x\x01\0\x01\xff\xff\xff\xff\x01\0\0\0\0\0\0\0"), Err(Malformed::Value));
    assert_eq!(next_length(b"l\x01"), Ok(None));
}

#[test]
fn what_broke_a_reader_once_is_read_or_refused() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/dbus_message");
    let entries: Vec<_> = std::fs::read_dir(folder).expect("a corpus").map(|entry| entry.expect("an entry")).collect();
    assert!(!entries.is_empty(), "the corpus is empty");
    for entry in entries {
        let bytes = std::fs::read(entry.path()).expect("a file");
        let is_whole = next_length(&bytes).is_ok_and(|length| length == Some(bytes.len()));
        let read = DBusMessage::read(&bytes);
        let is_good = matches!(entry.file_name().to_str(), Some("children" | "state"));
        assert_eq!(read.is_ok() && is_whole, is_good, "{}: {read:?}", entry.path().display());
    }
}
