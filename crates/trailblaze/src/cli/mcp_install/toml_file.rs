//! TOML files.

use std::ops::Range;

use serde_json::{Map, Value};
use toml_edit::{Array, Document, DocumentMut, InlineTable, Item, Table, TableLike, Value as TomlValue};

use super::error::EditError;

pub fn read(text: &str) -> Result<Value, EditError> {
    let document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        let start = error.span().map_or(0, |span| span.start);
        let before = text.get(..start).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        EditError::Broken {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: error.message().lines().collect::<Vec<_>>().join(", "),
        }
    })?;
    Ok(of_table(document.as_table()))
}

pub fn set(text: &str, path: &[&str], value: &Value) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    match *path {
        [table] => {
            let (name, entry) = value.as_object()?.iter().next()?;
            Some(append(text, &section(table, name, entry.as_object()?)))
        }
        [table, name] => match document.get_mut(table)? {
            Item::Value(TomlValue::InlineTable(servers)) => {
                servers.insert(name, to_toml(value));
                Some(with_breaks_of(text, &document.to_string()))
            }
            servers => {
                let is_there = servers.as_table_like()?.contains_key(name);
                let text = if is_there { remove(text, table, name)? } else { text.to_string() };
                Some(append(&text, &section(table, name, value.as_object()?)))
            }
        },
        [table, name, key] => {
            let entry = document.get_mut(table)?.as_table_like_mut()?.get_mut(name)?.as_table_like_mut()?;
            let mut new = to_toml(value);
            match entry.get_mut(key) {
                // In place, with the comments around it.
                Some(Item::Value(old)) => {
                    *new.decor_mut() = old.decor().clone();
                    *old = new;
                }
                _ => drop(entry.insert(key, Item::Value(new))),
            }
            Some(with_breaks_of(text, &document.to_string()))
        }
        _ => None,
    }
}

pub fn remove(text: &str, table: &str, name: &str) -> Option<String> {
    let document = Document::parse(text).ok()?;
    let entry = document.get(table)?.get(name)?;
    if let Some(entry) = entry.as_table().filter(|entry| !entry.is_dotted()) {
        // Comments in front of a header stay, because they may be about what comes before it.
        return Some(without_lines(text, sections(entry)));
    }
    let mut document: DocumentMut = text.parse().ok()?;
    document.get_mut(table)?.as_table_like_mut()?.remove(name)?;
    Some(with_breaks_of(text, &document.to_string()))
}

/// Where a table is written: its own header with the values below it, and those of the tables in it.
fn sections(table: &Table) -> Vec<Range<usize>> {
    // A table that has only other tables needs no header.
    let own = table.span().map(|header| header.start..values_end(table, header.end));
    let inner = table.iter().flat_map(|(_, item)| match item {
        Item::Table(inner) if !inner.is_dotted() => sections(inner),
        Item::ArrayOfTables(inner) => inner.iter().flat_map(sections).collect(),
        _ => Vec::new(),
    });
    own.into_iter().chain(inner).collect()
}

/// The end of the last value below a header.
fn values_end(table: &Table, header_end: usize) -> usize {
    table.iter().fold(header_end, |end, (_, item)| match item {
        Item::Value(value) => end.max(value.span().map_or(0, |span| span.end)),
        Item::Table(inner) if inner.is_dotted() => values_end(inner, end),
        _ => end,
    })
}

/// The text without the lines of these ranges, and without one of the blank lines around each.
fn without_lines(text: &str, mut ranges: Vec<Range<usize>>) -> String {
    ranges.sort_by_key(|range| std::cmp::Reverse(range.start));
    let mut text = text.to_string();
    for range in ranges {
        let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[range.end..].find('\n').map_or(text.len(), |at| range.end + at + 1);
        let rest = text.split_off(end);
        text.truncate(start);
        let is_blank_before = text.is_empty() || text.ends_with("\n\n") || text.ends_with("\n\r\n");
        let rest = match rest.strip_prefix("\r\n").or(rest.strip_prefix('\n')) {
            Some(rest) if is_blank_before => rest,
            _ => &rest,
        };
        if rest.is_empty() && is_blank_before {
            let kept = text.strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text).len());
            text.truncate(kept.unwrap_or_default());
        }
        text.push_str(rest);
    }
    text
}

/// The lines of an entry.
pub fn section(table: &str, name: &str, entry: &Map<String, Value>) -> String {
    let mut section = Table::new();
    for (key, value) in entry {
        section.insert(key, Item::Value(to_toml(value)));
    }
    let mut servers = Table::new();
    servers.set_implicit(true);
    servers.insert(name, Item::Table(section));
    let mut document = DocumentMut::new();
    document.insert(table, Item::Table(servers));
    document.to_string()
}

/// Adds lines at the end, so that all others stay as they are.
fn append(text: &str, lines: &str) -> String {
    let line_break = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let blank = if text.trim().is_empty() { "" } else { "\n" };
    with_breaks_of(text, &format!("{text}{line_break}{blank}{lines}"))
}

/// `edited` with the line breaks of the original, because `toml_edit` writes only `\n`.
fn with_breaks_of(original: &str, edited: &str) -> String {
    let is_crlf = original.contains("\r\n") && original.matches('\n').count() == original.matches("\r\n").count();
    if is_crlf { edited.replace("\r\n", "\n").replace('\n', "\r\n") } else { edited.to_string() }
}

fn to_toml(value: &Value) -> TomlValue {
    match value {
        Value::Bool(value) => (*value).into(),
        Value::Number(value) => match value.as_i64() {
            Some(integer) => integer.into(),
            None => value.as_f64().unwrap_or_default().into(),
        },
        Value::Array(items) => TomlValue::Array(items.iter().map(to_toml).collect::<Array>()),
        Value::Object(entries) => {
            TomlValue::InlineTable(entries.iter().map(|(key, value)| (key, to_toml(value))).collect::<InlineTable>())
        }
        Value::String(text) => text.as_str().into(),
        Value::Null => "".into(),
    }
}

/// What a table contains, for comparing. Numbers and times keep their text, because they may have no equal in JSON.
fn of_table(table: &dyn TableLike) -> Value {
    table.iter().map(|(key, item)| (key.to_string(), of_item(item))).collect::<Map<_, _>>().into()
}

fn of_item(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => of_value(value),
        Item::Table(table) => of_table(table),
        Item::ArrayOfTables(tables) => tables.iter().map(|table| of_table(table)).collect(),
    }
}

fn of_value(value: &TomlValue) -> Value {
    match value {
        TomlValue::String(text) => Value::from(text.value().as_str()),
        TomlValue::Integer(number) => Value::from(*number.value()),
        TomlValue::Boolean(value) => Value::from(*value.value()),
        TomlValue::Float(number) => Value::from(number.value().to_string()),
        TomlValue::Datetime(time) => Value::from(time.value().to_string()),
        TomlValue::Array(items) => items.iter().map(of_value).collect(),
        TomlValue::InlineTable(table) => of_table(table),
    }
}
