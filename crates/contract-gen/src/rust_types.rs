//! Types of ours that are written as JSON, read from their Rust source: names as in JSON, and comments. Whatever would make the JSON
//! differ from what is read here is an error.

use std::collections::BTreeMap;

use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, Fields, GenericArgument, Item, Lit, Meta, PathArguments, Token};

use crate::model::{ContractError, wrong};

/// The types of events, and what they consist of.
const PROTOCOL: [&str; 8] = [
    include_str!("../../protocol/src/device_event.rs"),
    include_str!("../../protocol/src/driver.rs"),
    include_str!("../../protocol/src/event.rs"),
    include_str!("../../protocol/src/exit.rs"),
    include_str!("../../protocol/src/geometry.rs"),
    include_str!("../../protocol/src/heal.rs"),
    include_str!("../../protocol/src/ids.rs"),
    include_str!("../../protocol/src/outcome.rs"),
];
/// The types of the report's page, besides those of the protocol.
const REPORT: [&str; 7] = [
    include_str!("../../trailblaze/src/output/report/activity.rs"),
    include_str!("../../trailblaze/src/output/report/heals.rs"),
    include_str!("../../trailblaze/src/output/report/model.rs"),
    include_str!("../../trailblaze/src/output/report/page_data.rs"),
    include_str!("../../trailblaze/src/output/report/page_files.rs"),
    include_str!("../../trailblaze/src/output/report/summary.rs"),
    include_str!("../../trailblaze/src/output/report/turns.rs"),
];

/// Types by their names in Rust.
pub type RustTypes = BTreeMap<String, RustType>;

pub struct RustType {
    pub kind: RustKind,
    pub doc: String,
}

pub enum RustKind {
    Struct(Vec<RustField>),
    Enum(Vec<RustVariant>),
}

pub struct RustField {
    pub name: String,
    pub holds: Holds,
    /// Left out of the JSON in some cases.
    pub is_optional: bool,
    pub doc: String,
}

pub struct RustVariant {
    pub name: String,
    pub shape: Shape,
    pub doc: String,
}

/// What a variant has besides its name.
pub enum Shape {
    Unit,
    Fields(Vec<RustField>),
    One(Holds),
}

/// What a field holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holds {
    Text,
    Id,
    Boolean,
    Number,
    /// Any JSON.
    Json,
    Object,
    List(Box<Holds>),
    OrNull(Box<Holds>),
    Tuple(Vec<Holds>),
    /// A type with a description of its own.
    Named(String),
}

/// The types of the protocol.
pub fn protocol() -> Result<RustTypes, ContractError> {
    read(&PROTOCOL)
}

/// The types of the report's page and of the protocol.
pub fn report() -> Result<RustTypes, ContractError> {
    read(&[PROTOCOL.as_slice(), REPORT.as_slice()].concat())
}

/// All structs with named fields and all enums that are written as JSON.
fn read(sources: &[&str]) -> Result<RustTypes, ContractError> {
    let mut types = RustTypes::new();
    for source in sources {
        for item in syn::parse_file(source).map_err(wrong)?.items {
            let (name, doc, kind) = match item {
                Item::Struct(item) if matches!(item.fields, Fields::Named(_)) && is_serialized(&item.attrs) => {
                    let style = serde(&item.attrs, "rename_all")?;
                    (item.ident, doc(&item.attrs), RustKind::Struct(fields(&item.fields, style.as_deref())?))
                }
                Item::Enum(item) if is_serialized(&item.attrs) => {
                    (item.ident.clone(), doc(&item.attrs), RustKind::Enum(variants(&item)?))
                }
                _ => continue,
            };
            if types.insert(name.to_string(), RustType { kind, doc }).is_some() {
                return Err(wrong(format!("there are two types `{name}`")));
            }
        }
    }
    Ok(types)
}

fn variants(item: &syn::ItemEnum) -> Result<Vec<RustVariant>, ContractError> {
    let (style, inner) = (serde(&item.attrs, "rename_all")?, serde(&item.attrs, "rename_all_fields")?);
    let variant = |variant: &syn::Variant| {
        serde(&variant.attrs, "")?;
        let shape = match &variant.fields {
            Fields::Unit => Shape::Unit,
            Fields::Named(_) => Shape::Fields(fields(&variant.fields, inner.as_deref())?),
            Fields::Unnamed(one) if one.unnamed.len() == 1 => Shape::One(holds(&one.unnamed[0].ty)?),
            Fields::Unnamed(_) => return Err(wrong(format!("`{}` has several values without names", variant.ident))),
        };
        let name = json_name(&variant.ident.to_string(), style.as_deref())?;
        Ok(RustVariant { name, shape, doc: doc(&variant.attrs) })
    };
    item.variants.iter().map(variant).collect()
}

fn fields(fields: &Fields, style: Option<&str>) -> Result<Vec<RustField>, ContractError> {
    let mut read = Vec::new();
    for field in fields {
        if serde(&field.attrs, "skip")?.is_some() {
            continue;
        }
        let is_optional = serde(&field.attrs, "skip_serializing_if")?.is_some();
        let holds = match holds(&field.ty)? {
            Holds::OrNull(inner) if is_optional => *inner,
            holds => holds,
        };
        let name = field.ident.as_ref().ok_or_else(|| wrong("a field without a name"))?.to_string();
        read.push(RustField { name: json_name(&name, style)?, holds, is_optional, doc: doc(&field.attrs) });
    }
    Ok(read)
}

fn holds(of: &syn::Type) -> Result<Holds, ContractError> {
    let path = match of {
        syn::Type::Path(path) => &path.path,
        syn::Type::Reference(reference) => return holds(&reference.elem),
        syn::Type::Slice(slice) => return Ok(Holds::List(Box::new(holds(&slice.elem)?))),
        syn::Type::Tuple(tuple) => return Ok(Holds::Tuple(tuple.elems.iter().map(holds).collect::<Result<_, _>>()?)),
        _ => return Err(wrong("a field has a type that cannot be described")),
    };
    let last = path.segments.last().ok_or_else(|| wrong("a type without a name"))?;
    let inner = || {
        let PathArguments::AngleBracketed(arguments) = &last.arguments else {
            return Err(wrong(format!("`{}` of nothing", last.ident)));
        };
        let inner = arguments.args.iter().find_map(|argument| match argument {
            GenericArgument::Type(inner) => Some(inner),
            _ => None,
        });
        holds(inner.ok_or_else(|| wrong(format!("`{}` of something that is not a type", last.ident)))?)
    };
    Ok(match last.ident.to_string().as_str() {
        "Option" => Holds::OrNull(Box::new(inner()?)),
        "Vec" => Holds::List(Box::new(inner()?)),
        "Box" | "Arc" | "Cow" => inner()?,
        "String" | "str" | "DeviceId" | "DriverKey" => Holds::Text,
        "bool" => Holds::Boolean,
        "u8" | "u16" | "u32" | "i32" | "u64" | "usize" | "f64" => Holds::Number,
        "Value" => Holds::Json,
        "Map" | "BTreeMap" => Holds::Object,
        name if name.ends_with("Id") => Holds::Id,
        name => Holds::Named(name.to_string()),
    })
}

fn json_name(name: &str, style: Option<&str>) -> Result<String, ContractError> {
    let mut chars = name.chars();
    Ok(match style {
        Some("lowercase") => name.to_lowercase(),
        Some("camelCase") if name.contains('_') || name.starts_with(char::is_lowercase) => {
            let mut words = name.split('_');
            let first = words.next().unwrap_or_default().to_string();
            words.fold(first, |text, word| text + &word[..1].to_uppercase() + &word[1..])
        }
        Some("camelCase") => chars.next().map(|c| c.to_ascii_lowercase()).into_iter().chain(chars).collect(),
        Some(other) => return Err(wrong(format!("names in `{other}` are not known here"))),
        None => name.to_string(),
    })
}

/// The comment of an item, on one line.
fn doc(attrs: &[Attribute]) -> String {
    let lines = attrs.iter().filter_map(|attr| match &attr.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => text(&pair.value),
        _ => None,
    });
    let lines: Vec<String> = lines.map(|line| line.trim().to_string()).filter(|line| !line.is_empty()).collect();
    // Links to other items of the source are for readers of the source.
    lines.join(" ").replace("[`", "`").replace("`]", "`").trim().to_string()
}

fn text(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(syn::ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

fn is_serialized(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| match &attr.meta {
        Meta::List(list) if list.path.is_ident("derive") => list.tokens.to_string().contains("Serialize"),
        _ => false,
    })
}

/// The settings of serde whose effect on the JSON is known here, or that have none.
const KNOWN: [&str; 6] = ["rename_all", "rename_all_fields", "skip", "skip_serializing_if", "default", "transparent"];

/// The value of a setting of serde; empty for one without a value. All settings must be known.
fn serde(attrs: &[Attribute], key: &str) -> Result<Option<String>, ContractError> {
    let mut found = None;
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("serde")) {
        for meta in attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).map_err(wrong)? {
            if !KNOWN.iter().any(|known| meta.path().is_ident(known)) {
                let name = meta.path().get_ident().map(ToString::to_string).unwrap_or_default();
                return Err(wrong(format!("what serde's `{name}` does to the JSON is not known here")));
            }
            if meta.path().is_ident(key) {
                found = match meta {
                    Meta::NameValue(pair) => text(&pair.value),
                    _ => Some(String::new()),
                };
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_misread_is_refused() {
        for (source, why) in [
            ("#[derive(Serialize)] #[serde(untagged)] enum A { B }", "serde's `untagged`"),
            ("#[derive(Serialize)] struct A { #[serde(flatten)] b: B }", "serde's `flatten`"),
            ("#[derive(Serialize)] #[serde(rename_all = \"snake_case\")] enum A { B }", "names in `snake_case`"),
            ("#[derive(Serialize)] enum A { B(u8, u8) }", "`B` has several values"),
            ("#[derive(Serialize)] struct A { b: fn() }", "cannot be described"),
            ("#[derive(Serialize)] struct A { b: u8 } #[derive(Serialize)] enum A { B }", "two types `A`"),
        ] {
            let refused = read(&[source]).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(refused.contains(why), "{source}: expected `{why}`, got `{refused}`");
        }
    }
}
