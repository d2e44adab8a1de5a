//! Values as JSON, without the loss that `serde_json` allows: it writes NaN and infinite numbers as null.

use std::fmt::{self, Display};

use serde::ser::{
    Error, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::Value;

/// The value in JSON, or why it is not JSON.
pub fn to_value(value: &(impl Serialize + ?Sized)) -> Result<Value, String> {
    value.serialize(FiniteNumbers).map_err(|lost| match lost.path.as_slice() {
        [] => lost.message.clone(),
        path => {
            let path: Vec<&str> = path.iter().rev().map(String::as_str).collect();
            format!("{} at `{}`", lost.message, path.join("."))
        }
    })?;
    serde_json::to_value(value).map_err(|error| error.to_string())
}

/// What JSON does not have, and where it is, innermost first.
#[derive(Debug)]
struct LostValue {
    message: String,
    path: Vec<String>,
}

impl LostValue {
    fn within(mut self, name: impl Display) -> LostValue {
        self.path.push(name.to_string());
        self
    }
}

impl Display for LostValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for LostValue {}

impl Error for LostValue {
    fn custom<T: Display>(message: T) -> LostValue {
        LostValue { message: message.to_string(), path: Vec::new() }
    }
}

/// Writes nothing; only looks for numbers that are not finite.
struct FiniteNumbers;

/// The parts of a list, a map or a struct so far.
#[derive(Default)]
struct Parts {
    n: usize,
    key: String,
}

impl Parts {
    fn item(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), LostValue> {
        let index = self.n;
        self.n += 1;
        value.serialize(FiniteNumbers).map_err(|lost| lost.within(index))
    }
}

macro_rules! fine {
    ($($method:ident($($ty:ty)?)),* $(,)?) => {
        $(fn $method(self $(, _: $ty)?) -> Result<(), LostValue> {
            Ok(())
        })*
    };
}

impl Serializer for FiniteNumbers {
    type Ok = ();
    type Error = LostValue;
    type SerializeSeq = Parts;
    type SerializeTuple = Parts;
    type SerializeTupleStruct = Parts;
    type SerializeTupleVariant = Parts;
    type SerializeMap = Parts;
    type SerializeStruct = Parts;
    type SerializeStructVariant = Parts;

    fine! {
        serialize_bool(bool), serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64),
        serialize_i128(i128), serialize_u8(u8), serialize_u16(u16), serialize_u32(u32), serialize_u64(u64),
        serialize_u128(u128), serialize_char(char), serialize_str(&str), serialize_bytes(&[u8]), serialize_none(),
        serialize_unit(), serialize_unit_struct(&'static str),
    }

    fn serialize_f32(self, value: f32) -> Result<(), LostValue> {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<(), LostValue> {
        if value.is_finite() {
            Ok(())
        } else {
            Err(LostValue::custom(format!("it has {value}, which JSON does not have")))
        }
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), LostValue> {
        value.serialize(self)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<(), LostValue> {
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), LostValue> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), LostValue> {
        value.serialize(self).map_err(|lost| lost.within(variant))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Parts, LostValue> {
        Ok(Parts::default())
    }

    fn serialize_tuple(self, _: usize) -> Result<Parts, LostValue> {
        Ok(Parts::default())
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Parts, LostValue> {
        Ok(Parts::default())
    }

    fn serialize_tuple_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Parts, LostValue> {
        Ok(Parts::default())
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Parts, LostValue> {
        Ok(Parts::default())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Parts, LostValue> {
        Ok(Parts::default())
    }

    fn serialize_struct_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Parts, LostValue> {
        Ok(Parts::default())
    }
}

macro_rules! lists {
    ($($list:ident::$item:ident),* $(,)?) => {
        $(impl $list for Parts {
            type Ok = ();
            type Error = LostValue;

            fn $item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), LostValue> {
                self.item(value)
            }

            fn end(self) -> Result<(), LostValue> {
                Ok(())
            }
        })*
    };
}

lists! {
    SerializeSeq::serialize_element, SerializeTuple::serialize_element, SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field,
}

macro_rules! structs {
    ($($fields:ident),*) => {
        $(impl $fields for Parts {
            type Ok = ();
            type Error = LostValue;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), LostValue> {
                value.serialize(FiniteNumbers).map_err(|lost| lost.within(name))
            }

            fn end(self) -> Result<(), LostValue> {
                Ok(())
            }
        })*
    };
}

structs!(SerializeStruct, SerializeStructVariant);

impl SerializeMap for Parts {
    type Ok = ();
    type Error = LostValue;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), LostValue> {
        // What is no key in JSON is an error of `serde_json`.
        let key = serde_json::to_value(key).unwrap_or_default();
        self.key = key.as_str().map_or_else(|| key.to_string(), str::to_string);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), LostValue> {
        value.serialize(FiniteNumbers).map_err(|lost| lost.within(&self.key))
    }

    fn end(self) -> Result<(), LostValue> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    #[derive(serde::Serialize)]
    struct Order {
        total: f64,
        parts: Vec<Option<f32>>,
    }

    #[test]
    fn numbers_that_json_does_not_have_are_found_with_their_place() {
        let order = |total, part| BTreeMap::from([("order", Order { total, parts: vec![None, Some(part)] })]);
        assert_eq!(to_value(&order(1.5, 2.0)), Ok(json!({"order": {"total": 1.5, "parts": [null, 2.0]}})));
        let lost = |value: &str, path: &str| Err(format!("it has {value}, which JSON does not have at `{path}`"));
        assert_eq!(to_value(&order(f64::NAN, 2.0)), lost("NaN", "order.total"));
        assert_eq!(to_value(&order(1.0, f32::INFINITY)), lost("inf", "order.parts.1"));
        assert_eq!(to_value(&f64::NEG_INFINITY), Err("it has -inf, which JSON does not have".to_string()));
        assert_eq!(to_value("text"), Ok(json!("text")));
    }
}
