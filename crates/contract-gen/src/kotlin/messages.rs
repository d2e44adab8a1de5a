//! `GeneratedEnums.kt` and `messages/GeneratedMessages.kt`: the words that methods accept, what they return, and how that is read from JSON.

use std::fmt::Write;

use super::{doc, header, is_nullable, ty, values, zero};
use crate::model::{Contract, FieldDef, FieldType, MessageDef};

/// What some messages can do, beyond holding values.
const MEMBERS: [(&str, &str); 3] = [
    ("Bounds", include_str!("bounds.kt")),
    ("Element", include_str!("element.kt")),
    ("ScreenState", include_str!("screen_state.kt")),
];

pub fn enums(model: &Contract) -> String {
    let mut out = header("", &[]);
    for listed in &model.enums {
        out.push('\n');
        doc(&mut out, "", &listed.doc, &[]);
        let _ = writeln!(out, "public enum class {} {{", listed.name);
        for word in &listed.words {
            if !word.doc.is_empty() {
                doc(&mut out, "    ", &word.doc, &[]);
            }
            let _ = writeln!(out, "    {},", word.name);
        }
        out.push_str("}\n");
    }
    out
}

pub fn messages(model: &Contract) -> String {
    let mut out = header(".messages", &["dev.trailblaze.Fields".to_string()]);
    for message in values(model) {
        declare(&mut out, message);
        reader(&mut out, message);
    }
    out
}

fn declare(out: &mut String, message: &MessageDef) {
    out.push('\n');
    doc(out, "", &message.doc, &[]);
    let _ = writeln!(out, "public data class {}(", message.name);
    let mut last = "";
    for field in &message.fields {
        // A comment above several fields is written once.
        if field.doc != last {
            doc(out, "    ", &field.doc, &[]);
        }
        last = &field.doc;
        let _ = writeln!(out, "    public val {}: {} = {},", field.json, ty(field), zero(field));
    }
    match MEMBERS.iter().find(|(name, _)| *name == message.name) {
        Some((_, members)) => {
            let _ = writeln!(out, ") {{\n{members}}}");
        }
        None => out.push_str(")\n"),
    }
}

fn reader(out: &mut String, message: &MessageDef) {
    let _ = writeln!(out, "\ninternal fun read{0}(fields: Fields): {0} = {0}(", message.name);
    for field in &message.fields {
        let _ = writeln!(out, "    {} = {},", field.json, read(field));
    }
    out.push_str(")\n");
}

/// The expression that reads a field.
pub fn read(field: &FieldDef) -> String {
    let json = format!("{:?}", field.json);
    let or_null = if is_nullable(field) { "OrNull" } else { "" };
    match &field.ty {
        FieldType::Message(name) if field.is_repeated => format!("fields.list({json}, ::read{name})"),
        FieldType::Text if field.is_repeated => format!("fields.texts({json})"),
        _ if field.is_repeated => panic!("{}: a list of these needs a reader", field.name),
        FieldType::Message(name) => format!("fields.message{or_null}({json}, ::read{name})"),
        FieldType::Map(name) => format!("fields.map({json}, ::read{name})"),
        FieldType::Bool => format!("fields.boolean{or_null}({json})"),
        FieldType::Int32 => format!("fields.int{or_null}({json})"),
        FieldType::Double => format!("fields.double{or_null}({json})"),
        FieldType::Text => format!("fields.text{or_null}({json})"),
        FieldType::Bytes => format!("fields.bytes({json})"),
        FieldType::Value => format!("fields.value({json})"),
        FieldType::Struct => format!("fields.struct({json})"),
        FieldType::Enum(name) => panic!("{name}: an enum in an answer needs a reader"),
    }
}
