//! What holds for every message and any bytes.

use proptest::collection::vec;
use proptest::prelude::*;
use trailblaze_contract::codec::{from_binary, from_json, to_binary, to_json};

use crate::support::{any_filled, any_message, messages, with_zeros};

#[test]
fn every_method_has_its_messages_in_the_table() {
    let all = messages();
    assert!(all.len() > 50, "{}", all.len());
    for method in trailblaze_contract::METHODS {
        assert!(std::ptr::eq(trailblaze_contract::method(method.path).expect("found by its path"), method));
    }
}

/// The longest text of an error. Errors are sent in headers too.
const ERROR_CHARS: usize = 8_000;

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_in_binary_reads_back((message, fields) in any_filled()) {
        let bytes = to_binary(message, &fields).expect("it can be written");
        let read = from_binary(message, &bytes).expect("it can be read");
        prop_assert_eq!(with_zeros(message, &read), with_zeros(message, &fields), "{}", message.name);
    }

    #[test]
    fn what_is_written_as_json_reads_back((message, fields) in any_filled()) {
        let bytes = to_json(message, &fields).expect("it can be written");
        let read = from_json(message, &bytes).expect("it can be read");
        // JSON spells zeros out, so nothing is left to fill in.
        prop_assert_eq!(read, with_zeros(message, &fields), "{}", message.name);
    }

    #[test]
    fn both_encodings_mean_the_same((message, fields) in any_filled()) {
        let binary = from_binary(message, &to_binary(message, &fields).expect("binary")).expect("binary");
        let json = from_json(message, &to_json(message, &binary).expect("JSON")).expect("JSON");
        prop_assert_eq!(json, with_zeros(message, &fields), "{}", message.name);
    }

    #[test]
    fn any_bytes_are_read_or_refused_with_a_short_text(message in any_message(), bytes in vec(any::<u8>(), 0..200)) {
        for read in [from_binary(message, &bytes), from_json(message, &bytes)] {
            if let Err(error) = read {
                prop_assert!(error.to_string().chars().count() < ERROR_CHARS, "{}", error);
            }
        }
    }

    #[test]
    fn damaged_messages_are_read_or_refused(
        (message, fields) in any_filled(),
        flips in vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        end in any::<prop::sample::Index>(),
    ) {
        for (write, read) in [(to_binary as Write, from_binary as Read), (to_json, from_json)] {
            let mut bytes = write(message, &fields).expect("it can be written");
            for (at, byte) in &flips {
                if !bytes.is_empty() {
                    let at = at.index(bytes.len());
                    bytes[at] = *byte;
                }
            }
            bytes.truncate(end.index(bytes.len() + 1));
            match read(message, &bytes) {
                // What was understood is a message of this type.
                Ok(fields) => drop(to_binary(message, &fields).expect("it can be written")),
                Err(error) => prop_assert!(error.to_string().chars().count() < ERROR_CHARS, "{}", error),
            }
        }
    }
}

type Fields = serde_json::Map<String, serde_json::Value>;
type Error = trailblaze_contract::codec::CodecError;
type Write = fn(&trailblaze_contract::Message, &Fields) -> Result<Vec<u8>, Error>;
type Read = fn(&trailblaze_contract::Message, &[u8]) -> Result<Fields, Error>;
