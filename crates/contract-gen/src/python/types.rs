//! `types.py`: what the methods return, as frozen dataclasses, and the words that they accept.

use std::fmt::Write;

use super::{header, identifier, is_nullable, present, values, wrap, zero};
use crate::model::{Contract, FieldDef, FieldType, MessageDef};

/// Methods that are written by hand, by message.
const METHODS: [(&str, &str); 3] = [
    ("ScreenState", include_str!("screen_state.py")),
    ("Element", include_str!("element.py")),
    ("Bounds", include_str!("bounds.py")),
];

pub fn emit(model: &Contract) -> String {
    let mut out = header("What the methods return, and the words that they accept.");
    out.push_str(
        "from __future__ import annotations\n\n\
         from binascii import a2b_base64\n\
         from collections.abc import Iterator, Mapping\n\
         from dataclasses import dataclass, field\n\
         from typing import Any, Literal\n\n",
    );
    let names = model.enums.iter().map(|listed| &listed.name).chain(values(model).map(|message| &message.name));
    let mut names: Vec<&String> = names.collect();
    names.sort();
    out.push_str("__all__ = [\n");
    names.iter().for_each(|name| writeln!(out, "    {name:?},").expect("text"));
    out.push_str("]\n\n");
    for listed in &model.enums {
        let words = |case: fn(&str) -> String| listed.words.iter().map(move |word| format!("{:?}", case(&word.name)));
        let words: Vec<String> = words(str::to_lowercase).chain(words(str::to_string)).collect();
        let _ = writeln!(out, "{} = Literal[{}]\n\"\"\"{}\"\"\"", listed.name, words.join(", "), listed.doc);
    }
    // A class is declared before those that contain it, where possible; otherwise the name is looked up later.
    for message in values(model) {
        class(&mut out, message);
    }
    out
}

fn class(out: &mut String, message: &MessageDef) {
    let _ = write!(out, "\n\n@dataclass(frozen=True, slots=True, kw_only=True)\nclass {}:\n", message.name);
    let _ = writeln!(out, "    \"\"\"{}\"\"\"\n", wrap(&message.doc, 7, 4).join("\n    "));
    let mut last_doc = "";
    for listed in &message.fields {
        let or_none = if is_nullable(listed) { " | None" } else { "" };
        let ty =
            if listed.ty == FieldType::Value { "Any".to_string() } else { format!("{}{or_none}", present(listed)) };
        let default = match &listed.ty {
            FieldType::Map(_) => "field(default_factory=lambda: {})".to_string(),
            FieldType::Struct if listed.is_required => "field(default_factory=lambda: {})".to_string(),
            // A class that is declared later.
            FieldType::Message(name) if listed.is_required => format!("field(default_factory=lambda: {name}())"),
            _ => zero(listed).to_string(),
        };
        let _ = writeln!(out, "    {}: {ty} = {default}", identifier(&listed.name));
        if !listed.doc.is_empty() && listed.doc != last_doc {
            let _ = writeln!(out, "    \"\"\"{}\"\"\"", wrap(&listed.doc, 7, 4).join("\n    "));
        }
        last_doc = &listed.doc;
    }
    out.push_str("\n    @classmethod\n");
    let _ = writeln!(out, "    def from_json(cls, json: Mapping[str, Any]) -> {}:", message.name);
    let _ = writeln!(out, "        \"\"\"Reads the JSON form of the message. Unknown names are ignored.\"\"\"");
    out.push_str("        get = json.get\n        return cls(\n");
    for listed in &message.fields {
        let _ = writeln!(out, "            {}={},", identifier(&listed.name), decode(listed));
    }
    out.push_str("        )\n");
    for (_, methods) in METHODS.iter().filter(|(name, _)| *name == message.name) {
        let _ = write!(out, "\n{methods}");
    }
}

/// The expression that reads a field.
fn decode(field: &FieldDef) -> String {
    let json = format!("{:?}", field.json);
    match &field.ty {
        FieldType::Message(name) if field.is_repeated => {
            format!("tuple([{name}.from_json(item) for item in get({json}, ())])")
        }
        _ if field.is_repeated => format!("tuple(get({json}, ()))"),
        FieldType::Message(name) if field.is_required => format!("{name}.from_json(get({json}) or {{}})"),
        FieldType::Struct if field.is_required => format!("get({json}) or {{}}"),
        FieldType::Message(name) => format!("None if get({json}) is None else {name}.from_json(json[{json}])"),
        FieldType::Map(name) => {
            format!("{{name: {name}.from_json(item) for name, item in get({json}, {{}}).items()}}")
        }
        FieldType::Bytes => format!("a2b_base64(get({json}, \"\"))"),
        FieldType::Enum(name) => panic!("{name}: an enum in an answer needs a decoder"),
        _ if zero(field) == "None" => format!("get({json})"),
        _ => format!("get({json}, {})", zero(field)),
    }
}
