//! The types that a JSON Schema allows at one place of a value: enough to decide what an unquoted scalar means there.
//!
//! The result may allow more than the schema does, never less. Anything that is not understood (a reference to another
//! document, `$dynamicRef`, endless recursion) allows everything.

use std::cell::Cell;
use std::ops::{BitAnd, BitOr};

use serde_json::{Map, Value};

/// The most subschemas that are visited for one place. References can make a small schema arbitrarily large.
const VISITS: usize = 2_000;
/// How deeply they may be nested.
const DEPTH: usize = 300;

/// The JSON types that are allowed at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Types(u8);

impl Types {
    pub const NONE: Types = Types(0);
    pub const ANY: Types = Types(0xff);
    pub const TEXT: Types = Types(1);
    pub const WHOLE_NUMBER: Types = Types(1 << 1);
    pub const FRACTION: Types = Types(1 << 2);
    pub const NUMBER: Types = Types(Self::WHOLE_NUMBER.0 | Self::FRACTION.0);
    pub const BOOLEAN: Types = Types(1 << 3);
    pub const NULL: Types = Types(1 << 4);
    pub const LIST: Types = Types(1 << 5);
    pub const MAPPING: Types = Types(1 << 6);
    /// Everything, with unquoted scalars read as in YAML: `"x-scalars": "yaml"`.
    const AS_YAML: Types = Types(0x7f);

    /// The types that a schema allows for the whole value.
    pub fn of(schema: &Value) -> Types {
        SchemaPlace::root(schema).types()
    }

    /// Whether any of the given types is allowed.
    pub fn takes(self, types: Types) -> bool {
        self.0 & types.0 & Self::AS_YAML.0 != 0
    }

    pub fn takes_value(self, value: &Value) -> bool {
        self.takes(Types::of_value(value))
    }

    /// Whether an ambiguous scalar must be quoted or tagged by the author.
    pub fn is_exact(self) -> bool {
        self != Self::AS_YAML
    }

    fn of_value(value: &Value) -> Types {
        match value {
            Value::Null => Types::NULL,
            Value::Bool(_) => Types::BOOLEAN,
            // In JSON Schema, 5.0 is an integer.
            Value::Number(number) if number.as_f64().is_none_or(|number| number.fract() == 0.0) => Types::WHOLE_NUMBER,
            Value::Number(_) => Types::FRACTION,
            Value::String(_) => Types::TEXT,
            Value::Array(_) => Types::LIST,
            Value::Object(_) => Types::MAPPING,
        }
    }

    fn named(name: &str) -> Types {
        match name {
            "string" => Types::TEXT,
            "integer" => Types::WHOLE_NUMBER,
            "number" => Types::NUMBER,
            "boolean" => Types::BOOLEAN,
            "null" => Types::NULL,
            "array" => Types::LIST,
            "object" => Types::MAPPING,
            _ => Types::NONE,
        }
    }
}

impl BitOr for Types {
    type Output = Types;

    fn bitor(self, other: Types) -> Types {
        Types(self.0 | other.0)
    }
}

impl BitAnd for Types {
    type Output = Types;

    fn bitand(self, other: Types) -> Types {
        Types(self.0 & other.0)
    }
}

/// For messages: `a whole number`, `text or a list`.
impl std::fmt::Display for Types {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let number = if self.takes(Types::FRACTION) { "a number" } else { "a whole number" };
        let words = [
            (Types::TEXT, "text"),
            (Types::NUMBER, number),
            (Types::BOOLEAN, "true or false"),
            (Types::LIST, "a list"),
            (Types::MAPPING, "a mapping"),
        ];
        let words: Vec<&str> = words.iter().filter(|(types, _)| self.takes(*types)).map(|(_, word)| *word).collect();
        f.write_str(&if words.is_empty() { "nothing".to_string() } else { words.join(" or ") })
    }
}

/// A place in the values that a schema describes: the root, a property of it, an item of that, and so on.
#[derive(Debug, Clone, Copy)]
pub struct SchemaPlace<'a> {
    root: &'a Value,
    above: Option<(&'a SchemaPlace<'a>, PathStep<'a>)>,
}

#[derive(Debug, Clone, Copy)]
enum PathStep<'a> {
    Property(&'a str),
    Item(usize),
}

impl<'a> SchemaPlace<'a> {
    pub fn root(schema: &'a Value) -> SchemaPlace<'a> {
        SchemaPlace { root: schema, above: None }
    }

    pub fn property(&'a self, name: &'a str) -> SchemaPlace<'a> {
        SchemaPlace { root: self.root, above: Some((self, PathStep::Property(name))) }
    }

    pub fn item(&'a self, index: usize) -> SchemaPlace<'a> {
        SchemaPlace { root: self.root, above: Some((self, PathStep::Item(index))) }
    }

    /// The types that are allowed here. If the schema forbids everything, scalars are read as in YAML: reporting the error
    /// is up to the validation.
    pub fn types(&self) -> Types {
        let mut path: Vec<PathStep<'_>> = std::iter::successors(Some(self), |place| Some(place.above?.0))
            .filter_map(|place| Some(place.above?.1))
            .collect();
        path.reverse();
        let walk = Walk { root: self.root, visits: Cell::new(VISITS) };
        match walk.types(self.root, &path, DEPTH) {
            Types::NONE => Types::AS_YAML,
            types => types,
        }
    }
}

struct Walk<'a> {
    root: &'a Value,
    visits: Cell<usize>,
}

impl Walk<'_> {
    /// The types that `schema` allows at `path`.
    fn types(&self, schema: &Value, path: &[PathStep<'_>], depth: usize) -> Types {
        let map = match schema {
            Value::Object(map) => map,
            Value::Bool(false) => return Types::NONE,
            _ => return Types::ANY,
        };
        let Some(visits) = self.visits.get().checked_sub(1).filter(|_| depth > 0) else { return Types::ANY };
        self.visits.set(visits);
        let of = |schema: &Value| self.types(schema, path, depth - 1);
        let mut types = self.own(map, path, depth);
        // Also skips unions of which nothing can remain.
        if types == Types::NONE {
            return types;
        }
        if let Some(target) = map.get("$ref").and_then(Value::as_str) {
            types = types & self.referred(target).map_or(Types::ANY, of);
        }
        types = members(map, "allOf").map(of).fold(types, Types::bitand);
        for union in ["anyOf", "oneOf"] {
            if map.get(union).is_some_and(Value::is_array) {
                types = types & members(map, union).map(of).fold(Types::NONE, Types::bitor);
            }
        }
        if let (Some(then), Some(otherwise)) = (map.get("then"), map.get("else")) {
            types = types & (of(then) | of(otherwise));
        }
        types
    }

    /// The types that the keywords of one schema allow, without those that refer to other schemas for the same place.
    fn own(&self, schema: &Map<String, Value>, path: &[PathStep<'_>], depth: usize) -> Types {
        if schema.get("x-scalars").and_then(Value::as_str) == Some("yaml") {
            return Types::AS_YAML;
        }
        let declared = declared(schema);
        let Some((step, rest)) = path.split_first() else { return declared };
        let of = |schema: &Value| self.types(schema, rest, depth - 1);
        match step {
            PathStep::Property(_) if !declared.takes(Types::MAPPING) => Types::NONE,
            PathStep::Item(_) if !declared.takes(Types::LIST) => Types::NONE,
            PathStep::Property(name) => {
                let own = schema.get("properties").and_then(|properties| properties.get(*name));
                let patterns = schema.get("patternProperties").and_then(Value::as_object).into_iter().flatten();
                let matching = patterns.filter(|(pattern, _)| {
                    let regex = fancy_regex::Regex::new(pattern);
                    // A pattern that cannot be evaluated may match.
                    regex.map_or(true, |regex| regex.is_match(name).unwrap_or(true))
                });
                let described: Vec<&Value> = own.into_iter().chain(matching.map(|(_, schema)| schema)).collect();
                if described.is_empty() {
                    return schema.get("additionalProperties").map_or(Types::ANY, of);
                }
                described.into_iter().map(of).fold(Types::ANY, Types::bitand)
            }
            PathStep::Item(index) => {
                // Older drafts list the first items under `items`.
                let (first, others) = match schema.get("items") {
                    Some(Value::Array(first)) => (Some(first), schema.get("additionalItems")),
                    items => (schema.get("prefixItems").and_then(Value::as_array), items),
                };
                first.and_then(|first| first.get(*index)).or(others).map_or(Types::ANY, of)
            }
        }
    }

    /// The schema that a reference within the same document points to.
    fn referred(&self, target: &str) -> Option<&Value> {
        self.root.pointer(target.strip_prefix('#')?)
    }
}

fn members<'s>(schema: &'s Map<String, Value>, keyword: &str) -> impl Iterator<Item = &'s Value> {
    schema.get(keyword).and_then(Value::as_array).into_iter().flatten()
}

/// The types that `type`, `enum` and `const` allow.
fn declared(schema: &Map<String, Value>) -> Types {
    let kind = match schema.get("type") {
        Some(Value::String(name)) => Types::named(name),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).map(Types::named).fold(Types::NONE, Types::bitor)
        }
        _ => Types::ANY,
    };
    let listed = schema.get("enum").and_then(Value::as_array);
    let listed = listed.map_or(Types::ANY, |values| values.iter().map(Types::of_value).fold(Types::NONE, Types::bitor));
    kind & listed & schema.get("const").map_or(Types::ANY, Types::of_value)
}

#[cfg(test)]
mod tests;
