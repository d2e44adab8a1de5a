//! Examples of places, and a property test: a value that is valid for a schema reads back from YAML as the same value.

use proptest::prelude::*;
use serde_json::json;

use super::super::Schema;
use super::*;
use crate::yaml::{Problems, Source, block, inline, read, to_json};

fn check(schema: &Value, name: &str, expected: Types) {
    let place = SchemaPlace::root(schema);
    assert_eq!(place.property(name).types(), expected, "`{name}` in {schema}");
}

#[test]
fn references_are_followed() {
    let schema = json!({
        "$defs": {"Count": {"type": "integer"}, "Point": {"properties": {"x": {"$ref": "#/$defs/Count"}}}},
        "properties": {
            "n": {"$ref": "#/$defs/Count"},
            "all": {"allOf": [{"$ref": "#/$defs/Count"}], "description": "How many."},
            "point": {"$ref": "#/$defs/Point"},
            "again": {"$ref": "#"},
            "elsewhere": {"$ref": "https://example.com/schema.json"},
            "nowhere": {"$ref": "#/$defs/Nowhere"},
        },
    });
    check(&schema, "n", Types::WHOLE_NUMBER);
    check(&schema, "all", Types::WHOLE_NUMBER);
    check(&schema, "elsewhere", Types::ANY);
    check(&schema, "nowhere", Types::ANY);
    let root = SchemaPlace::root(&schema);
    assert_eq!(root.property("point").property("x").types(), Types::WHOLE_NUMBER);
    assert_eq!(root.property("again").property("point").property("x").types(), Types::WHOLE_NUMBER);
}

#[test]
fn unions_add_up_and_other_keywords_narrow() {
    let schema = json!({
        "properties": {
            "either": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "narrowed": {"type": "string", "anyOf": [{"minLength": 1}, {"pattern": "x"}]},
            "words": {"enum": ["a", 1, null]},
            "constant": {"const": 2.5},
            "never": false,
            "neither": {"allOf": [{"type": "string"}, {"type": "integer"}]},
        },
        "patternProperties": {"^x-": {"type": "boolean"}},
        "additionalProperties": {"type": "number"},
    });
    check(&schema, "either", Types::TEXT | Types::NULL);
    check(&schema, "narrowed", Types::TEXT);
    check(&schema, "words", Types::TEXT | Types::WHOLE_NUMBER | Types::NULL);
    check(&schema, "constant", Types::FRACTION);
    check(&schema, "never", Types::AS_YAML);
    check(&schema, "neither", Types::AS_YAML);
    check(&schema, "x-on", Types::BOOLEAN);
    check(&schema, "other", Types::NUMBER);
}

#[test]
fn every_branch_of_a_union_has_its_say_about_a_property() {
    let branch = |kind: &str, value: Value| json!({"properties": {"kind": {"const": kind}, "value": value}, "additionalProperties": false});
    let branches = [branch("a", json!({"type": "string"})), branch("b", json!({"type": "integer"}))];
    check(&json!({"oneOf": branches}), "value", Types::TEXT | Types::WHOLE_NUMBER);
    check(&json!({"oneOf": branches}), "other", Types::AS_YAML);
}

#[test]
fn a_schema_without_an_end_allows_everything() {
    let circle = json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "properties": {
        "x": {"$ref": "#/$defs/a"},
    }});
    check(&circle, "x", Types::ANY);
    let twice: Vec<Value> = vec![json!({"$ref": "#"}); 20];
    check(&json!({"anyOf": twice}), "x", Types::ANY);
}

/// A type, from which both a schema and valid values are generated.
#[derive(Debug, Clone)]
enum Shape {
    Text,
    WholeNumber,
    Number,
    Boolean,
    Free,
    OneOf(Vec<Value>),
    List(Box<Shape>),
    Tuple(Vec<Shape>),
    Record(Vec<(String, Shape)>),
    Mapping(Box<Shape>),
    Union(Vec<Shape>),
    Nullable(Box<Shape>),
    /// The same behind a reference; within an `allOf` if true, as some libraries write it.
    Referred(Box<Shape>, bool),
}

impl Shape {
    fn schema(&self, defs: &mut Map<String, Value>) -> Value {
        match self {
            Shape::Text => json!({"type": "string"}),
            Shape::WholeNumber => json!({"type": "integer"}),
            Shape::Number => json!({"type": "number"}),
            Shape::Boolean => json!({"type": "boolean"}),
            Shape::Free => json!({}),
            Shape::OneOf(values) => json!({"enum": values}),
            Shape::List(item) => json!({"type": "array", "items": item.schema(defs)}),
            Shape::Tuple(items) => {
                let items: Vec<Value> = items.iter().map(|item| item.schema(defs)).collect();
                json!({"type": "array", "prefixItems": items})
            }
            Shape::Record(fields) => {
                let fields: Map<String, Value> =
                    fields.iter().map(|(name, shape)| (name.clone(), shape.schema(defs))).collect();
                json!({"type": "object", "properties": fields, "additionalProperties": false})
            }
            Shape::Mapping(value) => json!({"type": "object", "additionalProperties": value.schema(defs)}),
            Shape::Union(members) => {
                let members: Vec<Value> = members.iter().map(|member| member.schema(defs)).collect();
                json!({"anyOf": members})
            }
            Shape::Nullable(shape) => json!({"anyOf": [shape.schema(defs), {"type": "null"}]}),
            Shape::Referred(shape, in_all_of) => {
                let schema = shape.schema(defs);
                let name = format!("Def{}", defs.len());
                let reference = json!({"$ref": format!("#/$defs/{name}")});
                defs.insert(name, schema);
                if *in_all_of { json!({"allOf": [reference], "description": "?"}) } else { reference }
            }
        }
    }

    fn values(&self) -> BoxedStrategy<Value> {
        match self {
            Shape::Text => any_text().prop_map(Value::from).boxed(),
            Shape::WholeNumber => {
                prop_oneof![any::<i64>().prop_map(Value::from), (-1e6..1e6).prop_map(|n: f64| n.trunc().into())].boxed()
            }
            Shape::Number => any_number().boxed(),
            Shape::Boolean => any::<bool>().prop_map(Value::from).boxed(),
            Shape::Free => any_json().boxed(),
            Shape::OneOf(values) => prop::sample::select(values.clone()).boxed(),
            Shape::List(item) => prop::collection::vec(item.values(), 0..4).prop_map(Value::from).boxed(),
            Shape::Tuple(items) => {
                let items: Vec<_> = items.iter().map(Shape::values).collect();
                items.prop_map(Value::from).boxed()
            }
            Shape::Record(fields) => {
                let (names, shapes): (Vec<String>, Vec<_>) =
                    fields.iter().map(|(name, shape)| (name.clone(), shape.values())).unzip();
                (shapes, prop::collection::vec(any::<bool>(), names.len()))
                    .prop_map(move |(values, is_given)| {
                        let fields = names.iter().cloned().zip(values).zip(is_given);
                        fields.filter(|(_, is_given)| *is_given).map(|(field, _)| field).collect::<Map<_, _>>().into()
                    })
                    .boxed()
            }
            Shape::Mapping(value) => prop::collection::vec((any_text(), value.values()), 0..3)
                .prop_map(|entries| entries.into_iter().collect::<Map<_, _>>().into())
                .boxed(),
            Shape::Union(members) => {
                prop::strategy::Union::new(members.iter().map(Shape::values).collect::<Vec<_>>()).boxed()
            }
            Shape::Nullable(shape) => prop_oneof![3 => shape.values(), 1 => Just(Value::Null)].boxed(),
            Shape::Referred(shape, _) => shape.values(),
        }
    }
}

fn any_text() -> impl Strategy<Value = String> {
    let odd = ["", "no", "true", "null", "~", "5", "-2.5", "010", "12.50", "1e3", "{{x}}", "a: b", "- a", "#", "<<"];
    prop_oneof![prop::sample::select(odd.to_vec()).prop_map(String::from), "[ -~]{0,8}", ".{0,8}"]
}

fn any_number() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i8>().prop_map(|n| Value::from(f64::from(n))),
        (-1e3..1e3).prop_map(Value::from),
        any::<f64>().prop_filter("JSON has no infinity", |n| n.is_finite()).prop_map(Value::from),
    ]
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any_text().prop_map(Value::from),
        any_number(),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null)
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((any_text(), inner), 0..3)
                .prop_map(|entries| entries.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

fn any_shape() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![
        Just(Shape::Text),
        Just(Shape::WholeNumber),
        Just(Shape::Number),
        Just(Shape::Boolean),
        Just(Shape::Free),
        prop::collection::vec(any_json(), 1..4).prop_map(Shape::OneOf),
    ];
    leaf.prop_recursive(4, 16, 4, |inner| {
        let several = || prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            inner.clone().prop_map(|item| Shape::List(item.into())),
            several().prop_map(Shape::Tuple),
            prop::collection::vec((any_text(), inner.clone()), 0..4).prop_map(|mut fields| {
                fields.sort_by(|one, other| one.0.cmp(&other.0));
                fields.dedup_by(|one, other| one.0 == other.0);
                Shape::Record(fields)
            }),
            inner.clone().prop_map(|value| Shape::Mapping(value.into())),
            several().prop_map(Shape::Union),
            inner.clone().prop_map(|shape| Shape::Nullable(shape.into())),
            (inner.clone(), any::<bool>()).prop_map(|(shape, in_all_of)| Shape::Referred(shape.into(), in_all_of)),
        ]
    })
}

/// A tool's schema, and valid arguments.
fn schema_and_arguments() -> impl Strategy<Value = (Value, Value)> {
    let parameters = prop::collection::vec(any_shape(), 1..4);
    parameters.prop_flat_map(|shapes| {
        let fields = shapes.into_iter().enumerate().map(|(n, shape)| (format!("p{n}"), shape)).collect();
        let whole = Shape::Record(fields);
        let mut defs = Map::new();
        let mut schema = whole.schema(&mut defs);
        schema["$defs"] = defs.into();
        (Just(schema), whole.values())
    })
}

fn read_back(text: &str, schema: &Value) -> Value {
    let source = Source::new("a.yaml", text);
    let mut problems = Problems::new(&source);
    let node = read(&source, &mut problems).unwrap_or_else(|| panic!("{problems:?}\n{text}"));
    to_json(&node, schema, &mut problems).unwrap_or_else(|| panic!("{problems:?}\n{text}"))
}

proptest! {
    #[test]
    fn valid_arguments_read_back_the_same((schema, arguments) in schema_and_arguments()) {
        let fits = Schema::new(schema.clone()).check(arguments.as_object().unwrap());
        prop_assert!(fits.is_ok(), "{fits:?}");
        prop_assert_eq!(read_back(&block(&arguments, 2), &schema), arguments.clone());
        prop_assert_eq!(read_back(&inline(&arguments), &schema), arguments);
    }
}
