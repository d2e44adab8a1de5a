//! The events of a run, with the comments of their types.

use std::fmt::Write;

use trailblaze_contract_gen::rust_types::{self, Holds, RustField, RustKind, RustTypes, RustVariant, Shape};

use super::{cell, prose};

const INTRODUCTION: &str = "# Events

Every line of `events.jsonl` after the first is `{\"at\": microseconds, \"event\": {name: {fields}}}`; [The record of a run](../events.md) says
how to read the file. A field marked `?` may be absent. All durations are in microseconds.
";

pub fn page() -> String {
    let types = rust_types::protocol().expect("the types of the protocol");
    let RustKind::Enum(events) = &types["Event"].kind else { panic!("Event is an enum") };
    let mut out = String::from(INTRODUCTION);
    let mut wanted = Vec::new();
    out.push_str("\n## Events\n");
    for RustVariant { name, shape, doc } in events {
        write!(out, "\n### `{name}`\n\n{}\n", prose(doc)).expect("text can be written to");
        match shape {
            Shape::Fields(fields) => write_fields(&mut out, fields, &mut wanted),
            Shape::One(Holds::Named(inner)) => match &types[inner].kind {
                RustKind::Struct(fields) => write_fields(&mut out, fields, &mut wanted),
                RustKind::Enum(_) => panic!("the fields of {name} are an enum"),
            },
            Shape::One(_) | Shape::Unit => panic!("{name} has no fields"),
        }
    }
    out.push_str("\n## Types\n");
    let mut n_written = 0;
    while let Some(name) = wanted.get(n_written).cloned() {
        n_written += 1;
        write_type(&mut out, &name, &types, &mut wanted);
    }
    out
}

fn write_type(out: &mut String, name: &str, types: &RustTypes, wanted: &mut Vec<String>) {
    let described = types.get(name).unwrap_or_else(|| panic!("no type {name}"));
    write!(out, "\n### {name}\n").expect("text can be written to");
    if !described.doc.is_empty() {
        write!(out, "\n{}\n", prose(&described.doc)).expect("text can be written to");
    }
    match &described.kind {
        RustKind::Struct(fields) => write_fields(out, fields, wanted),
        RustKind::Enum(variants) => {
            out.push_str("\n| value | means |\n|---|---|\n");
            for RustVariant { name, shape, doc } in variants {
                let value = match shape {
                    Shape::Unit => format!("`\"{name}\"`"),
                    Shape::One(holds) => format!("`{{\"{name}\":` {}`}}`", words(holds, wanted)),
                    Shape::Fields(fields) => {
                        let inner =
                            fields.iter().map(|field| format!("`\"{}\":` {}", field.name, words(&field.holds, wanted)));
                        format!("`{{\"{name}\": {{`{}`}}}}`", inner.collect::<Vec<_>>().join("`,` "))
                    }
                };
                let fields = match shape {
                    Shape::Fields(fields) => {
                        fields.iter().map(|field| format!(" `{}`: {}", field.name, field.doc)).collect::<String>()
                    }
                    _ => String::new(),
                };
                writeln!(out, "| {value} | {} |", cell(&format!("{doc}{fields}"))).expect("text can be written to");
            }
        }
    }
}

fn write_fields(out: &mut String, fields: &[RustField], wanted: &mut Vec<String>) {
    out.push_str("\n| field | type | holds |\n|---|---|---|\n");
    for field in fields {
        let mark = if field.is_optional { "?" } else { "" };
        writeln!(out, "| `{}{mark}` | {} | {} |", field.name, words(&field.holds, wanted), cell(&field.doc))
            .expect("text can be written to");
    }
}

/// A type in words. Those with a description of their own are added to `wanted`.
fn words(holds: &Holds, wanted: &mut Vec<String>) -> String {
    match holds {
        Holds::Text => "text".to_string(),
        Holds::Id => "id".to_string(),
        Holds::Boolean => "boolean".to_string(),
        Holds::Number => "number".to_string(),
        Holds::Json => "JSON".to_string(),
        Holds::Object => "object".to_string(),
        Holds::List(inner) => format!("list of {}", words(inner, wanted)),
        Holds::OrNull(inner) => format!("{} or `null`", words(inner, wanted)),
        Holds::Tuple(parts) => {
            let parts: Vec<String> = parts.iter().map(|part| words(part, wanted)).collect();
            format!("list with {}", parts.join(" and "))
        }
        Holds::Named(name) => {
            if !wanted.contains(name) {
                wanted.push(name.clone());
            }
            format!("[{name}](#{})", name.to_lowercase())
        }
    }
}
