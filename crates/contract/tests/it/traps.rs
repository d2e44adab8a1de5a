//! What usually goes wrong between JSON, protobuf and the arguments of tools.

use serde_json::{Value, json};
use trailblaze_contract::Message;
use trailblaze_contract::codec::{CodecError, from_binary, from_json, to_binary, to_json};
use trailblaze_contract::generated::*;

#[track_caller]
fn check(message: &Message, given: &Value, expected: Result<Value, &str>) {
    let read = from_json(message, given.to_string().as_bytes()).map(Value::Object).map_err(|error| error.to_string());
    assert_eq!(read.as_ref().map_err(String::as_str), expected.as_ref().map_err(|text| *text), "{given}");
}

#[track_caller]
fn check_binary(message: &Message, given: &[u8], expected: Result<Value, &str>) {
    let read = from_binary(message, given).map(Value::Object).map_err(|error| error.to_string());
    assert_eq!(read.as_ref().map_err(String::as_str), expected.as_ref().map_err(|text| *text), "{given:?}");
}

#[test]
fn enum_words_are_accepted_in_any_case_with_or_without_prefix() {
    for word in ["DOWN", "down", "Down", "DIRECTION_DOWN", "direction_down", "Direction_Down"] {
        check(&SWIPE_REQUEST, &json!({"direction": word}), Ok(json!({"direction": "DOWN"})));
    }
    check(&SWIPE_REQUEST, &json!({"direction": 2}), Ok(json!({"direction": "DOWN"})));
    check(&LAUNCH_APP_REQUEST, &json!({"launchMode": "force_restart"}), Ok(json!({"launchMode": "FORCE_RESTART"})));
}

#[test]
fn an_unknown_enum_value_is_named_with_those_that_exist() {
    let refused = |got: &str| format!("`direction` must be one of UP, DOWN, LEFT, RIGHT, got `{got}`");
    for (value, got) in [(json!("sideways"), "sideways"), (json!(""), ""), (json!("DIRECTION_"), "DIRECTION_")] {
        check(&SWIPE_REQUEST, &json!({"direction": value}), Err(&refused(got)));
    }
    check(&SWIPE_REQUEST, &json!({"direction": 9}), Err(&refused("9")));
    check(&SWIPE_REQUEST, &json!({"direction": true}), Err("`direction` must be a word, got true"));
    check_binary(&SWIPE_REQUEST, &[0x08, 9], Err(&refused("9")));
    // The unspecified value cannot be meant.
    check_binary(&SWIPE_REQUEST, &[0x08, 0], Err(&refused("0")));
}

#[test]
fn a_long_wrong_value_is_not_repeated_in_full() {
    let long = "ä".repeat(100_000);
    for (message, given) in [
        (&SWIPE_REQUEST, json!({"direction": long})),
        (&TAP_REQUEST, json!({"x": long})),
        (&TRAILBLAZE_TOOL_REGISTRY, json!({"tools": {long.as_str(): {"exposedToLlm": 1}}})),
        (&PICTURE, json!({"data": long})),
    ] {
        let error = from_json(message, given.to_string().as_bytes()).expect_err("it is refused").to_string();
        assert!(error.chars().count() < 200, "{error}");
    }
}

#[test]
fn unknown_fields_are_ignored() {
    check(&TAP_REQUEST, &json!({"text": "Pay", "colour": {"a": [1]}}), Ok(json!({"text": "Pay"})));
    // Field 100 with every wire type: varint, 8 bytes, a text, 4 bytes.
    let unknown: &[&[u8]] =
        &[&[0xa0, 6, 1], &[0xa1, 6, 1, 2, 3, 4, 5, 6, 7, 8], &[0xa2, 6, 2, 9, 9], &[0xa5, 6, 1, 2, 3, 4]];
    for unknown in unknown {
        let bytes = [*unknown, &[0x0a, 3], b"Pay", unknown].concat();
        check_binary(&TAP_REQUEST, &bytes, Ok(json!({"text": "Pay"})));
    }
}

#[test]
fn fields_have_their_json_names_and_their_proto_names() {
    check(&INPUT_TEXT_REQUEST, &json!({"hideKeyboardAfter": true}), Ok(json!({"hideKeyboardAfter": true})));
    check(&INPUT_TEXT_REQUEST, &json!({"hide_keyboard_after": true}), Ok(json!({"hideKeyboardAfter": true})));
}

#[test]
fn an_integer_may_be_a_text_or_have_a_zero_fraction() {
    for value in [json!(7), json!(7.0), json!("7"), json!("7.0"), json!(70e-1)] {
        check(&TAP_REQUEST, &json!({"x": value}), Ok(json!({"x": 7})));
    }
    for (value, shown) in [
        (json!(7.5), "7.5"),
        (json!("seven"), "\"seven\""),
        (json!(" 7"), "\" 7\""),
        (json!(3_000_000_000u32), "3000000000"),
        (json!(1e300), "1e+300"),
        (json!(true), "true"),
        (json!([7]), "an array"),
    ] {
        check(&TAP_REQUEST, &json!({"x": value}), Err(&format!("`x` must be a 32-bit integer, got {shown}")));
    }
    for number in [i32::MIN, -1, 0, i32::MAX] {
        let bytes =
            to_binary(&TAP_REQUEST, json!({"x": number}).as_object().expect("an object")).expect("it is written");
        check_binary(&TAP_REQUEST, &bytes, Ok(json!({"x": number})));
    }
}

#[test]
fn integers_in_arguments_stay_integers() {
    let request =
        json!({"name": "pay", "args": {"amount": 3, "rate": 0.5, "items": [1, 2], "big": 4503599627370496i64}});
    let fields = request.as_object().expect("an object");
    let bytes = to_binary(&CALL_TOOL_REQUEST, fields).expect("it is written");
    let read = Value::Object(from_binary(&CALL_TOOL_REQUEST, &bytes).expect("it is read"));
    // `1` and `1.0` are equal numbers in neither JSON text nor JSON Schema's `integer`.
    assert_eq!(read.to_string(), request.to_string());
    let json = to_json(&CALL_TOOL_REQUEST, fields).expect("it is written");
    let read = Value::Object(from_json(&CALL_TOOL_REQUEST, &json).expect("it is read"));
    assert_eq!(read["args"].to_string(), request["args"].to_string());
}

#[test]
fn a_whole_number_is_the_same_in_every_encoding() {
    check(&PINCH_REQUEST, &json!({"scale": 2.0}), Ok(json!({"scale": 2})));
    check(&PINCH_REQUEST, &json!({"scale": "0.5"}), Ok(json!({"scale": 0.5})));
    check_binary(&PINCH_REQUEST, &[&[0x09][..], &2f64.to_le_bytes()].concat(), Ok(json!({"scale": 2})));
}

#[test]
fn what_is_not_a_number_is_refused() {
    for (number, shown) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf")] {
        let double = number.to_le_bytes();
        let refused = format!("`scale` must be a finite number, got {shown}");
        check_binary(&PINCH_REQUEST, &[&[0x09][..], &double].concat(), Err(&refused));
        let value = [&[0x11][..], &double].concat();
        let refused = format!("`value.value` must be a finite number, got {shown}");
        check_binary(&VALUE_RESULT, &[&[0x0a, value.len() as u8][..], &value].concat(), Err(&refused));
    }
    check(&PINCH_REQUEST, &json!({"scale": "NaN"}), Err("`scale` must be a number, got \"NaN\""));
}

#[test]
fn null_is_absent() {
    check(&TAP_REQUEST, &json!({"text": null, "x": null}), Ok(json!({})));
    check(&VALUE_RESULT, &json!({"value": null}), Ok(json!({})));
    // A `Value` whose kind is null.
    check_binary(&VALUE_RESULT, &[0x0a, 2, 0x08, 0], Ok(json!({})));
    // Inside a value, null is a value.
    check(&VALUE_RESULT, &json!({"value": [null]}), Ok(json!({"value": [null]})));
}

#[test]
fn an_empty_text_that_was_given_is_not_absent() {
    for request in [json!({"selector": "#a", "value": ""}), json!({"selector": "#a"})] {
        let fields = request.as_object().expect("an object");
        let bytes = to_binary(&FILL_REQUEST, fields).expect("it is written");
        check_binary(&FILL_REQUEST, &bytes, Ok(request.clone()));
        check(&FILL_REQUEST, &request, Ok(request.clone()));
    }
}

#[test]
fn responses_spell_out_zeros_and_leave_out_what_is_absent() {
    let written = |message: &Message, fields: Value| {
        let bytes = to_json(message, fields.as_object().expect("an object")).expect("it is written");
        String::from_utf8(bytes).expect("JSON is UTF-8")
    };
    assert_eq!(written(&ACTION_RESULT, json!({"success": true})), r#"{"success":true,"message":"","variant":""}"#);
    assert_eq!(written(&BOOL_RESULT, json!({})), r#"{"value":false}"#);
    assert_eq!(written(&TEXT_RESULT, json!({"value": null})), "{}");
    assert_eq!(written(&TEXT_RESULT, json!({"value": ""})), r#"{"value":""}"#);
    assert_eq!(written(&SWIPE_REQUEST, json!({"direction": "up", "deviceId": "a"})), {
        r#"{"direction":"DIRECTION_UP","deviceId":"a","sessionId":"","invocationId":""}"#
    });
}

#[test]
fn base64_is_read_in_both_alphabets_with_or_without_padding() {
    for text in ["+/8=", "+/8", "-_8=", "-_8"] {
        check(&PICTURE, &json!({"data": text}), Ok(json!({"data": "+/8="})));
    }
    check(&PICTURE, &json!({"data": "?"}), Err("`data` must be base64, got \"?\""));
    check_binary(&PICTURE, &[0x12, 2, 0xfb, 0xff], Ok(json!({"data": "+/8="})));
}

#[test]
fn an_empty_body_is_an_empty_message() {
    for body in ["", " \n"] {
        assert_eq!(from_json(&PRESS_BACK_REQUEST, body.as_bytes()), Ok(Default::default()));
    }
    check(&PRESS_BACK_REQUEST, &json!([]), Err("the message must be a JSON object, got an array"));
    let error = from_json(&PRESS_BACK_REQUEST, b"{").expect_err("it is cut off");
    assert!(matches!(error, CodecError::NotJson(_)), "{error}");
}

#[test]
fn the_last_of_several_values_counts() {
    check_binary(&TAP_REQUEST, &[0x0a, 1, b'a', 0x0a, 1, b'b'], Ok(json!({"text": "b"})));
}

#[test]
fn a_broken_binary_message_is_refused_with_its_field() {
    check_binary(&TAP_REQUEST, &[0x0a, 5, b'a'], Err("the message is cut off in `text`"));
    check_binary(&TAP_REQUEST, &[0x0a], Err("the message is cut off in `text`"));
    check_binary(&TAP_REQUEST, &[0x80], Err("the message is cut off"));
    check_binary(&TAP_REQUEST, &[0x00], Err("the message has a field with the number 0"));
    check_binary(&TAP_REQUEST, &[0x0a, 1, 0xff], Err("`text` is not UTF-8"));
    check_binary(&TAP_REQUEST, &[0x08, 1], Err("`text` has the wire type 0, expected 2"));
    // A length that no memory could hold.
    let huge = [0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
    check_binary(&TAP_REQUEST, &huge, Err("the message is cut off in `text`"));
    // A number that never ends.
    check_binary(&TAP_REQUEST, &[0x18; 1].into_iter().chain([0xff; 30]).collect::<Vec<u8>>(), {
        Err("the message is cut off in `index`")
    });
}

/// `depth` messages, each the only field of the next.
fn nested(tag: u8, depth: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..depth {
        let mut outer = vec![tag];
        let mut length = bytes.len();
        while length >= 0x80 {
            outer.push(length as u8 | 0x80);
            length >>= 7;
        }
        outer.push(length as u8);
        outer.append(&mut bytes);
        bytes = outer;
    }
    bytes
}

#[test]
fn messages_that_are_nested_too_deeply_are_refused() {
    let too_deep = "the message is nested deeper than 100";
    // An element in an element, and a list in a list.
    assert!(from_binary(&ELEMENT, &nested(0x62, 90)).is_ok());
    check_binary(&ELEMENT, &nested(0x62, 20_000), Err(too_deep));
    check_binary(&VALUE_RESULT, &[vec![0x0a, 0xff, 0xff, 3], vec![0x32; 65_535]].concat(), {
        Err("the message is cut off in `value.value`")
    });
    let list = |depth: usize| {
        let mut value: Vec<u8> = Vec::new();
        for _ in 0..depth {
            // A value that is a list (6) whose only item (1) is a value.
            value = wrap(0x32, &wrap(0x0a, &value));
        }
        wrap(0x0a, &value)
    };
    assert!(from_binary(&VALUE_RESULT, &list(90)).is_ok());
    check_binary(&VALUE_RESULT, &list(5_000), Err(too_deep));
    let json = format!("{{\"value\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(matches!(from_json(&VALUE_RESULT, json.as_bytes()), Err(CodecError::NotJson(_))));
    let mut value = json!(1);
    for _ in 0..120 {
        value = json!([value]);
    }
    let fields = json!({"value": value});
    assert_eq!(to_binary(&VALUE_RESULT, fields.as_object().expect("an object")), Err(CodecError::TooDeep));
}

fn wrap(tag: u8, inner: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    let mut length = inner.len();
    while length >= 0x80 {
        bytes.push(length as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
    bytes.extend_from_slice(inner);
    bytes
}

#[test]
fn a_value_of_the_wrong_type_is_refused_with_its_field() {
    check(&TAP_REQUEST, &json!({"text": 5}), Err("`text` must be a text, got 5"));
    check(&TAP_REQUEST, &json!({"longPress": "yes"}), Err("`longPress` must be true or false, got \"yes\""));
    check(&CALL_TOOL_REQUEST, &json!({"args": [1]}), Err("`args` must be an object, got an array"));
    check(&TOOL_LIST, &json!({"tools": {}}), Err("`tools` must be an array, got an object"));
    check(&TOOL_LIST, &json!({"tools": [{"metadata": {"groups": [1]}}]}), {
        Err("`tools.metadata.groups` must be a text, got 1")
    });
    check(&TOOL_LIST, &json!({"tools": [null]}), Err("`tools` must be an object, got null"));
}
