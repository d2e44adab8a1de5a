//! The types of the protocol, read from their source: names as in JSON, and comments.

use std::collections::BTreeMap;

use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, Fields, GenericArgument, Item, Lit, Meta, PathArguments, Token, Type};

const FILES: [&str; 7] = [
    include_str!("../../../../../../protocol/src/device_event.rs"),
    include_str!("../../../../../../protocol/src/driver.rs"),
    include_str!("../../../../../../protocol/src/event.rs"),
    include_str!("../../../../../../protocol/src/exit.rs"),
    include_str!("../../../../../../protocol/src/geometry.rs"),
    include_str!("../../../../../../protocol/src/heal.rs"),
    include_str!("../../../../../../protocol/src/ids.rs"),
];
const OUTCOME: &str = include_str!("../../../../../../protocol/src/outcome.rs");

pub struct Field {
    pub name: String,
    pub holds: Holds,
    /// Left out of the JSON in some cases.
    pub is_optional: bool,
    pub doc: String,
}

/// What a field holds.
#[derive(Clone)]
pub enum Holds {
    /// Named in words.
    Plain(&'static str),
    List(Box<Holds>),
    OrNull(Box<Holds>),
    /// A type with a description of its own.
    Named(String),
}

pub enum Shape {
    Unit,
    Fields(Vec<Field>),
    One(Holds),
}

pub enum Kind {
    Struct(Vec<Field>),
    Enum(Vec<(String, Shape, String)>),
}

pub struct Described {
    pub kind: Kind,
    pub doc: String,
}

/// All structs with named fields and all enums that are written to JSON.
pub fn types() -> BTreeMap<String, Described> {
    let items =
        FILES.iter().chain([&OUTCOME]).flat_map(|text| syn::parse_file(text).expect("the source is Rust").items);
    let mut types = BTreeMap::new();
    for item in items {
        match item {
            Item::Struct(item) if matches!(item.fields, Fields::Named(_)) && is_serialized(&item.attrs) => {
                let style = serde(&item.attrs, "rename_all");
                let kind = Kind::Struct(fields(&item.fields, style.as_deref()));
                types.insert(item.ident.to_string(), Described { kind, doc: doc(&item.attrs) });
            }
            Item::Enum(item) if is_serialized(&item.attrs) => {
                let (style, inner) = (serde(&item.attrs, "rename_all"), serde(&item.attrs, "rename_all_fields"));
                let variants = item.variants.iter().map(|variant| {
                    let shape = match &variant.fields {
                        Fields::Unit => Shape::Unit,
                        Fields::Named(_) => Shape::Fields(fields(&variant.fields, inner.as_deref())),
                        Fields::Unnamed(unnamed) => Shape::One(holds(&unnamed.unnamed[0].ty)),
                    };
                    (json_name(&variant.ident.to_string(), style.as_deref()), shape, doc(&variant.attrs))
                });
                let kind = Kind::Enum(variants.collect());
                types.insert(item.ident.to_string(), Described { kind, doc: doc(&item.attrs) });
            }
            _ => {}
        }
    }
    types
}

fn fields(fields: &Fields, style: Option<&str>) -> Vec<Field> {
    let written = fields.iter().filter(|field| serde(&field.attrs, "skip").is_none());
    let field = |field: &syn::Field| {
        let is_optional = serde(&field.attrs, "skip_serializing_if").is_some();
        let holds = match holds(&field.ty) {
            Holds::OrNull(inner) if is_optional => *inner,
            holds => holds,
        };
        let name = field.ident.as_ref().expect("a named field").to_string();
        Field { name: json_name(&name, style), holds, is_optional, doc: doc(&field.attrs) }
    };
    written.map(field).collect()
}

fn holds(of: &Type) -> Holds {
    let Type::Path(path) = of else { panic!("a field whose type is not a path") };
    let last = path.path.segments.last().expect("a path has segments");
    let inner = || match &last.arguments {
        PathArguments::AngleBracketed(arguments) => match arguments.args.first() {
            Some(GenericArgument::Type(inner)) => inner,
            _ => panic!("`{}` of something that is not a type", last.ident),
        },
        _ => panic!("`{}` of nothing", last.ident),
    };
    match last.ident.to_string().as_str() {
        "Option" => Holds::OrNull(Box::new(holds(inner()))),
        "Vec" => Holds::List(Box::new(holds(inner()))),
        "Box" | "Arc" => holds(inner()),
        "String" | "str" | "DeviceId" | "DriverKey" => Holds::Plain("text"),
        "bool" => Holds::Plain("boolean"),
        "u8" | "u16" | "u32" | "i32" | "u64" | "usize" | "f64" => Holds::Plain("number"),
        "Value" => Holds::Plain("JSON"),
        "Map" | "BTreeMap" => Holds::Plain("object"),
        name if name.ends_with("Id") => Holds::Plain("id"),
        name => Holds::Named(name.to_string()),
    }
}

fn json_name(name: &str, style: Option<&str>) -> String {
    let mut chars = name.chars();
    match style {
        Some("lowercase") => name.to_lowercase(),
        Some("camelCase") if name.contains('_') || name.starts_with(char::is_lowercase) => {
            let mut words = name.split('_');
            let first = words.next().unwrap_or_default().to_string();
            words.fold(first, |text, word| text + &word[..1].to_uppercase() + &word[1..])
        }
        Some("camelCase") => chars.next().map(|c| c.to_ascii_lowercase()).into_iter().chain(chars).collect(),
        Some(other) => panic!("names in `{other}` are not known here"),
        None => name.to_string(),
    }
}

/// The comment of an item, on one line.
pub fn doc(attrs: &[Attribute]) -> String {
    let lines = attrs.iter().filter_map(|attr| match &attr.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value().trim().to_string()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    let text = lines.collect::<Vec<_>>().join(" ");
    // Links to other items of the source are for readers of the source.
    text.replace("[`", "`").replace("`]", "`").trim().to_string()
}

fn is_serialized(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| match &attr.meta {
        Meta::List(list) if list.path.is_ident("derive") => list.tokens.to_string().contains("Serialize"),
        _ => false,
    })
}

/// The value of a setting of serde; empty for one without a value.
fn serde(attrs: &[Attribute], key: &str) -> Option<String> {
    let settings = attrs.iter().filter(|attr| attr.path().is_ident("serde")).flat_map(|attr| {
        attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).expect("settings of serde")
    });
    settings.into_iter().find(|meta| meta.path().is_ident(key)).map(|meta| match meta {
        Meta::NameValue(syn::MetaNameValue { value: Expr::Lit(literal), .. }) => match literal.lit {
            Lit::Str(text) => text.value(),
            _ => String::new(),
        },
        _ => String::new(),
    })
}
