//! Tables that decode YAML into types, reject unknown keys, collect all problems, and generate a JSON Schema.

use serde_json::{Value, json};

use super::node::{Span, YamlKind, YamlNode};
use super::problem::Problems;

/// A type that can be read from YAML and has a JSON Schema.
pub trait Decode: Sized {
    /// Reads a value. Returns `None` after reporting a problem.
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self>;

    fn schema() -> Value;
}

/// A type that is read from a mapping with fixed keys.
pub trait Table: Decode {
    /// The keys, in all spellings.
    const KEYS: &'static [&'static str];
}

/// Declares a struct and the table that reads it. A field without a default is required. `..rest` after the fields keeps entries with other
/// keys in the field `rest`, a mapping, and leaves it to the caller to refuse them.
#[macro_export]
macro_rules! table {
    (
        $(#[doc = $about:literal])*
        pub struct $name:ident {
            $(
                $(#[doc = $doc:literal])*
                $key:literal $(| $alias:literal)* => $field:ident: $type:ty $(= $default:expr)?,
            )*
            $(..$rest:ident)?
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            $($(#[doc = $doc])* pub $field: $type,)*
            $(
                /// The entries with other keys.
                pub $rest: $crate::yaml::YamlNode,
            )?
            /// The place of the mapping.
            pub span: $crate::yaml::Span,
        }

        impl $crate::yaml::Table for $name {
            const KEYS: &'static [&'static str] = &[$($key, $($alias,)*)*];
        }

        impl $crate::yaml::Decode for $name {
            fn decode(node: &$crate::yaml::YamlNode, problems: &mut $crate::yaml::Problems) -> Option<Self> {
                let Some(entries) = node.entries() else {
                    let about = concat!($($about),*).trim();
                    problems.error(node.span, format!("expected a mapping, found {} ({about})", node.noun()));
                    return None;
                };
                $(let mut $field: Option<Option<$type>> = None;)*
                $(let mut $rest: Vec<($crate::yaml::YamlNode, $crate::yaml::YamlNode)> = Vec::new();)?
                for (key, value) in entries {
                    match key.raw().unwrap_or_default() {
                        $($key $(| $alias)* => {
                            if $field.is_some() {
                                problems.error(key.span, concat!("`", $key, "` is given twice, in two spellings"));
                            }
                            $field = Some(<$type as $crate::yaml::Decode>::decode(value, problems));
                        })*
                        $(_ => $rest.push((key.clone(), value.clone())),)?
                        #[allow(unreachable_patterns)]
                        other => problems.unknown(key.span, "key", other, [$($key),*]),
                    }
                }
                $(
                    #[allow(unused_mut, unused_assignments)]
                    let mut default: Option<$type> = None;
                    $(default = Some($default);)?
                    let $field = match $field {
                        Some(decoded) => decoded,
                        None => {
                            if default.is_none() {
                                problems.error(node.span, concat!("`", $key, "` is missing"));
                            }
                            default
                        }
                    };
                )*
                $(let $rest = $crate::yaml::YamlNode { span: node.span, kind: $crate::yaml::YamlKind::Map($rest) };)?
                Some($name { $($field: $field?,)* $($rest,)? span: node.span })
            }

            fn schema() -> serde_json::Value {
                let mut properties = serde_json::Map::new();
                #[allow(unused_mut)]
                let mut required: Vec<&str> = Vec::new();
                $(
                    let mut schema = <$type as $crate::yaml::Decode>::schema();
                    let doc = concat!($($doc),*).trim();
                    if let (false, Some(schema)) = (doc.is_empty(), schema.as_object_mut()) {
                        schema.insert("description".into(), doc.into());
                    }
                    $(properties.insert($alias.to_string(), schema.clone());)*
                    properties.insert($key.to_string(), schema);
                    #[allow(unused_mut, unused_assignments)]
                    let mut is_required = true;
                    $(let _ = || -> $type { $default }; is_required = false;)?
                    if is_required { required.push($key); }
                )*
                let mut schema = serde_json::json!({
                    "type": "object",
                    "description": concat!($($about),*).trim(),
                    "properties": properties,
                    "additionalProperties": false,
                });
                if !required.is_empty() {
                    schema["required"] = required.into();
                }
                schema
            }
        }
    };
}

/// Declares an enum that is read from fixed words.
#[macro_export]
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident { $($(#[$variant_meta:meta])* $word:literal => $variant:ident,)* }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $($(#[$variant_meta])* $variant,)* }

        impl $crate::yaml::Decode for $name {
            fn decode(node: &$crate::yaml::YamlNode, problems: &mut $crate::yaml::Problems) -> Option<Self> {
                match node.raw() {
                    $(Some($word) => Some($name::$variant),)*
                    Some(other) => {
                        problems.unknown(node.span, "value", other, [$($word),*]);
                        None
                    }
                    None => {
                        let words = [$($word),*].join(", ");
                        problems.error(node.span, format!("expected one of {words}, found {}", node.noun()));
                        None
                    }
                }
            }

            fn schema() -> serde_json::Value {
                serde_json::json!({"enum": [$($word),*]})
            }
        }
    };
}

/// A value with its place, for problems that are found later.
#[derive(Debug, Clone, PartialEq)]
pub struct Spanned<T> {
    pub value: T,
    pub span: Span,
}

impl<T: Decode> Decode for Spanned<T> {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        Some(Spanned { value: T::decode(node, problems)?, span: node.span })
    }

    fn schema() -> Value {
        T::schema()
    }
}

impl Decode for String {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        match node.raw() {
            Some(_) if node.is_null() => {
                problems.error(node.span, "expected text, found nothing");
                None
            }
            Some(raw) => Some(raw.to_string()),
            None => {
                problems.error(node.span, format!("expected text, found {}", node.noun()));
                None
            }
        }
    }

    fn schema() -> Value {
        json!({"type": "string"})
    }
}

impl Decode for bool {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        match scalar_of(node) {
            Some(Value::Bool(value)) => Some(value),
            _ => {
                let found = node.raw().map_or_else(|| node.noun().to_string(), |raw| format!("`{raw}`"));
                problems.error(node.span, format!("expected true or false, found {found}"));
                None
            }
        }
    }

    fn schema() -> Value {
        json!({"type": "boolean"})
    }
}

macro_rules! decode_integer {
    ($($type:ty),*) => {$(
        impl Decode for $type {
            fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
                let number = scalar_of(node).and_then(|value| value.as_i64());
                let fitting = number.and_then(|number| <$type>::try_from(number).ok());
                if fitting.is_none() {
                    let found = node.raw().map_or_else(|| node.noun().to_string(), |raw| format!("`{raw}`"));
                    let range = format!("from {} to {}", <$type>::MIN, <$type>::MAX);
                    problems.error(node.span, format!("expected a whole number {range}, found {found}"));
                }
                fitting
            }

            fn schema() -> Value {
                json!({"type": "integer"})
            }
        }
    )*};
}
decode_integer!(u32, u64, i32);

impl Decode for f64 {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        let number = scalar_of(node).and_then(|value| value.as_f64());
        if number.is_none() {
            problems.error(node.span, format!("expected a number, found {}", node.noun()));
        }
        number
    }

    fn schema() -> Value {
        json!({"type": "number"})
    }
}

/// Quoted scalars are always text.
fn scalar_of(node: &YamlNode) -> Option<Value> {
    match &node.kind {
        YamlKind::Scalar { raw, style: super::Style::Plain, .. } => Some(super::scalar::plain(raw)),
        _ => None,
    }
}

/// A duration: `500ms`, `60s`, `2m`, or a plain number of milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Millis(pub u64);

impl Millis {
    pub fn duration(self) -> std::time::Duration {
        std::time::Duration::from_millis(self.0)
    }

    pub fn parse(text: &str) -> Option<Millis> {
        if let Ok(millis) = text.parse() {
            return Some(Millis(millis));
        }
        let duration = humantime::parse_duration(text).ok()?;
        u64::try_from(duration.as_millis()).ok().map(Millis)
    }
}

impl Decode for Millis {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        let millis = node.raw().and_then(Millis::parse);
        if millis.is_none() {
            let found = node.raw().map_or_else(|| node.noun().to_string(), |raw| format!("`{raw}`"));
            problems.error_with_hint(
                node.span,
                format!("expected a duration, found {found}"),
                "use a value such as `500ms`, `60s` or `2m`",
            );
        }
        millis
    }

    fn schema() -> Value {
        json!({"type": ["string", "integer"], "pattern": "^[0-9]+ ?(ms|s|m|h)?$"})
    }
}

/// An optional value. `null` and an empty value count as absent.
impl<T: Decode> Decode for Option<T> {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        if node.is_null() {
            return Some(None);
        }
        T::decode(node, problems).map(Some)
    }

    fn schema() -> Value {
        T::schema()
    }
}

impl<T: Decode> Decode for Box<T> {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        T::decode(node, problems).map(Box::new)
    }

    fn schema() -> Value {
        T::schema()
    }
}

impl<T: Decode> Decode for Vec<T> {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        let Some(items) = node.items() else {
            problems.error(node.span, format!("expected a list, found {}", node.noun()));
            return None;
        };
        // Reads every item before failing, so that all problems are found.
        let decoded: Vec<Option<T>> = items.iter().map(|item| T::decode(item, problems)).collect();
        decoded.into_iter().collect()
    }

    fn schema() -> Value {
        json!({"type": "array", "items": T::schema()})
    }
}

/// A mapping with arbitrary keys, in file order.
#[derive(Debug, Clone, PartialEq)]
pub struct Entries<T>(pub Vec<(Spanned<String>, T)>);

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Entries(Vec::new())
    }
}

impl<T> Entries<T> {
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.0.iter().map(|(key, value)| (key.value.as_str(), value))
    }

    pub fn get(&self, name: &str) -> Option<&T> {
        self.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Decode> Decode for Entries<T> {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        let Some(entries) = node.entries() else {
            problems.error(node.span, format!("expected a mapping, found {}", node.noun()));
            return None;
        };
        let decoded: Vec<Option<(Spanned<String>, T)>> = entries
            .iter()
            .map(|(key, value)| {
                let name = Spanned { value: key.raw().unwrap_or_default().to_string(), span: key.span };
                Some((name, T::decode(value, problems)?))
            })
            .collect();
        decoded.into_iter().collect::<Option<Vec<_>>>().map(Entries)
    }

    fn schema() -> Value {
        json!({"type": "object", "additionalProperties": T::schema()})
    }
}

/// Any value, kept as written until a tool's schema types it.
impl Decode for YamlNode {
    fn decode(node: &YamlNode, _: &mut Problems) -> Option<Self> {
        Some(node.clone())
    }

    fn schema() -> Value {
        json!({})
    }
}
