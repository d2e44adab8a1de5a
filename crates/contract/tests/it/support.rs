//! Every message of the contract, and values for them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Map, Value};
use trailblaze_contract::{Field, METHODS, Message, Type};

pub type Fields = Map<String, Value>;

/// Every message that a method uses, directly or inside another message, and the registry, which is a resource.
pub fn messages() -> Vec<&'static Message> {
    let mut found: Vec<&'static Message> = Vec::new();
    let used = METHODS.iter().flat_map(|method| [method.request, method.response]);
    let mut todo: Vec<&'static Message> =
        used.chain([&trailblaze_contract::generated::TRAILBLAZE_TOOL_REGISTRY]).collect();
    while let Some(message) = todo.pop() {
        if found.iter().any(|known| known.name == message.name) {
            continue;
        }
        found.push(message);
        todo.extend(message.fields.iter().filter_map(|field| match &field.ty {
            Type::Message(inner) | Type::Map(inner) => Some(*inner),
            _ => None,
        }));
    }
    found
}

pub fn any_message() -> impl Strategy<Value = &'static Message> {
    prop::sample::select(messages())
}

/// A message, and values for its fields.
pub fn any_filled() -> impl Strategy<Value = (&'static Message, Fields)> {
    any_message().prop_flat_map(|message| fields(message, 3).prop_map(move |fields| (message, fields)))
}

fn fields(message: &'static Message, depth: u32) -> BoxedStrategy<Fields> {
    let mut all: BoxedStrategy<Fields> = Just(Map::new()).boxed();
    for field in message.fields {
        let is_inner = matches!(field.ty, Type::Message(_) | Type::Map(_));
        if is_inner && depth == 0 {
            continue;
        }
        let value = prop::option::of(value(field, depth));
        all = (all, value)
            .prop_map(|(mut fields, value)| {
                fields.extend(value.map(|value| (field.json.to_string(), value)));
                fields
            })
            .boxed();
    }
    all
}

fn value(field: &'static Field, depth: u32) -> BoxedStrategy<Value> {
    match &field.ty {
        Type::Map(message) => btree_map(any_text(), fields(message, depth - 1), 0..3)
            .prop_map(|entries| entries.into_iter().map(|(key, fields)| (key, Value::Object(fields))).collect())
            .boxed(),
        _ if field.is_repeated => vec(one(field, depth), 0..3).prop_map(Value::Array).boxed(),
        _ => one(field, depth),
    }
}

fn one(field: &'static Field, depth: u32) -> BoxedStrategy<Value> {
    match &field.ty {
        Type::Bool => any::<bool>().prop_map(Value::from).boxed(),
        Type::Int32 => any::<i32>().prop_map(Value::from).boxed(),
        Type::Double => any_number().boxed(),
        Type::Text => any_text().prop_map(Value::from).boxed(),
        Type::Bytes => vec(any::<u8>(), 0..20).prop_map(|bytes| STANDARD.encode(bytes).into()).boxed(),
        Type::Enum(listed) => {
            let words: Vec<&'static str> = listed.words.iter().map(|(word, _)| *word).collect();
            prop::sample::select(words).prop_map(Value::from).boxed()
        }
        Type::Message(message) => fields(message, depth - 1).prop_map(Value::Object).boxed(),
        // As a field, null is the same as absent.
        Type::Value => any_json().prop_filter("null is absent", |value| !value.is_null()).boxed(),
        Type::Struct => btree_map(any_text(), any_json(), 0..4)
            .prop_map(|entries| entries.into_iter().collect::<Map<_, _>>().into())
            .boxed(),
        Type::Map(_) => unreachable!("maps are whole fields"),
    }
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[a-z]{1,8}", any::<String>()]
}

/// Numbers as the codec returns them: what is whole is an integer.
fn any_number() -> impl Strategy<Value = Value> {
    let exact = 1i64 << 53;
    prop_oneof![
        (-exact + 1..exact).prop_map(Value::from),
        any::<i8>().prop_map(Value::from),
        // Few digits: the last one of 17 may change when serde_json reads a number.
        any::<i32>().prop_map(|number| Value::from(f64::from(number / 2 * 2 + 1) / 8.0)),
        Just(Value::from(1e300)),
    ]
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any_number(),
        any_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            btree_map(any_text(), inner, 0..4).prop_map(|entries| entries.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

/// A message in which a field that cannot be absent has its zero instead, so that equal messages are equal values.
pub fn with_zeros(message: &Message, given: &Fields) -> Fields {
    let mut filled = Map::new();
    for field in message.fields {
        let value = match (&field.ty, given.get(field.json)) {
            (_, None) => zero(field),
            (Type::Map(inner), Some(Value::Object(entries))) => {
                let fill = |(key, value): (&String, &Value)| (key.clone(), inner_with_zeros(inner, value));
                Some(Value::Object(entries.iter().map(fill).collect()))
            }
            (Type::Message(inner), Some(Value::Array(items))) => {
                Some(items.iter().map(|item| inner_with_zeros(inner, item)).collect())
            }
            (Type::Message(inner), Some(value)) => Some(inner_with_zeros(inner, value)),
            (_, Some(value)) => Some(value.clone()),
        };
        filled.extend(value.map(|value| (field.json.to_string(), value)));
    }
    filled
}

fn inner_with_zeros(message: &Message, value: &Value) -> Value {
    with_zeros(message, value.as_object().expect("a message is an object")).into()
}

fn zero(field: &Field) -> Option<Value> {
    match field.ty {
        _ if field.is_repeated => Some(Value::Array(Vec::new())),
        Type::Map(_) => Some(Value::Object(Map::new())),
        _ if field.is_optional => None,
        Type::Bool => Some(false.into()),
        Type::Int32 | Type::Double => Some(0.into()),
        Type::Text | Type::Bytes => Some("".into()),
        Type::Enum(_) | Type::Message(_) | Type::Value | Type::Struct => None,
    }
}
