//! The encodings of the typed API.

use serde_json::{Map, Value};
use trailblaze_contract::codec::{from_binary, from_json, to_binary, to_json};
use trailblaze_contract::{METHODS, Message};

/// The first byte chooses a method; the rest is a request or a response in either encoding. What is read can be written and read
/// again, and means the same in both.
pub fn contract_read(data: &[u8]) {
    let Some((choice, bytes)) = data.split_first() else { return };
    let method = &METHODS[usize::from(*choice) % METHODS.len()];
    for message in [method.request, method.response] {
        for read in [from_binary(message, bytes), from_json(message, bytes)] {
            match read {
                Ok(fields) => check(message, &fields),
                Err(error) => assert!(error.to_string().len() < 16_000, "{error}"),
            }
        }
    }
}

fn check(message: &Message, fields: &Map<String, Value>) {
    // JSON may be nested more deeply than the binary format allows.
    let Ok(binary) = to_binary(message, fields) else { return };
    let again = from_binary(message, &binary).expect("what was written can be read");
    // Numbers lose digits once, and what is empty becomes absent.
    let binary = to_binary(message, &again).expect("what was read can be written");
    assert_eq!(from_binary(message, &binary).as_ref(), Ok(&again));
    let json = to_json(message, &again).expect("what was read can be written");
    // An element in an element is two levels of JSON and one of the message.
    let Ok(spelled_out) = from_json(message, &json) else { return };
    let json = to_json(message, &spelled_out).expect("what was read can be written");
    let again = from_json(message, &json).expect("what was written can be read");
    assert_eq!(again.keys().collect::<Vec<_>>(), spelled_out.keys().collect::<Vec<_>>());
}
