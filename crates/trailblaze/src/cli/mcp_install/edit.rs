//! Changes one entry of a configuration file, in any format, and nothing else. The result is read back and compared with the
//! intended content.

use serde_json::{Map, Value, json};

use super::client::ServerEntry;
use super::error::EditError;
use super::{json_file, toml_file, yaml_file};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Json,
    Toml,
    Yaml,
}

impl Format {
    /// Adds the entry, or changes it to what it should be. `None` if it is that already.
    pub fn put(self, text: &str, table: &str, name: &str, entry: &ServerEntry) -> Result<Option<String>, EditError> {
        edited(text, |text| {
            let before = self.read(text)?;
            let servers = table_of(&before, table)?;
            let old = servers.and_then(|servers| servers.get(name));
            let new = Value::from(merged(old, entry));
            if old == Some(&new) {
                return Ok(None);
            }
            let after = match (servers, old.filter(|old| starts_a_program(old))) {
                _ if text.trim().is_empty() => Some(self.whole(table, name, &entry.all())),
                (None, _) => self.set(text, &[table], &json!({ name: new })),
                (Some(_), None) => self.set(text, &[table, name], &new),
                (Some(_), Some(old)) => {
                    let changes =
                        new.as_object().into_iter().flatten().filter(|(key, value)| old.get(key) != Some(value));
                    changes
                        .into_iter()
                        .try_fold(text.to_string(), |text, (key, value)| self.set(&text, &[table, name, key], value))
                }
            };
            let mut expected = before.as_object().cloned().unwrap_or_default();
            let mut servers = servers.cloned().unwrap_or_default();
            servers.insert(name.to_string(), new);
            expected.insert(table.to_string(), servers.into());
            self.checked(after, table, &expected).map(Some)
        })
    }

    /// Removes the entry. `None` if there is none.
    pub fn remove(self, text: &str, table: &str, name: &str) -> Result<Option<String>, EditError> {
        edited(text, |text| {
            let before = self.read(text)?;
            let Some(mut servers) = table_of(&before, table)?.cloned() else { return Ok(None) };
            if servers.shift_remove(name).is_none() {
                return Ok(None);
            }
            let after = match self {
                Format::Json => json_file::remove(text, table, name),
                Format::Toml => toml_file::remove(text, table, name),
                // Without entries it would be nothing at all.
                Format::Yaml if servers.is_empty() => yaml_file::set(text, &[table], &json!({})),
                Format::Yaml => yaml_file::remove(text, table, name),
            };
            let mut expected = before.as_object().cloned().unwrap_or_default();
            expected.insert(table.to_string(), servers.into());
            self.checked(after, table, &expected).map(Some)
        })
    }

    /// A file with this entry only.
    pub fn whole(self, table: &str, name: &str, entry: &Map<String, Value>) -> String {
        let content = json!({ table: { name: entry } });
        match self {
            Format::Json => json_file::set("{}\n", &[table], &content[table]).expect("an empty object can be extended"),
            Format::Toml => toml_file::section(table, name, entry),
            Format::Yaml => trailblaze_core::yaml::block(&content, 0),
        }
    }

    fn read(self, text: &str) -> Result<Value, EditError> {
        match self {
            Format::Json => json_file::read(text),
            Format::Toml => toml_file::read(text),
            Format::Yaml => yaml_file::read(text),
        }
    }

    fn set(self, text: &str, path: &[&str], value: &Value) -> Option<String> {
        match self {
            Format::Json => json_file::set(text, path, value),
            Format::Toml => toml_file::set(text, path, value),
            Format::Yaml => yaml_file::set(text, path, value),
        }
    }

    /// The text, if it reads as expected. A table without entries may have become none.
    fn checked(self, text: Option<String>, table: &str, expected: &Map<String, Value>) -> Result<String, EditError> {
        let text = text.ok_or(EditError::Unsafe)?;
        let mut read = self.read(&text).ok().and_then(|read| Some(read.as_object()?.clone())).unwrap_or_default();
        read.entry(table).or_insert_with(|| json!({}));
        // Also in the same order.
        let is_same = read == *expected
            && read.keys().filter(|key| *key != table).eq(expected.keys().filter(|key| *key != table));
        if is_same { Ok(text) } else { Err(EditError::Unsafe) }
    }
}

/// Edits what follows a byte order mark.
fn edited(
    text: &str,
    edit: impl FnOnce(&str) -> Result<Option<String>, EditError>,
) -> Result<Option<String>, EditError> {
    match text.strip_prefix('\u{feff}') {
        Some(rest) => Ok(edit(rest)?.map(|rest| format!("\u{feff}{rest}"))),
        None => edit(text),
    }
}

/// The servers. `None` if the file has none.
fn table_of<'v>(root: &'v Value, table: &str) -> Result<Option<&'v Map<String, Value>>, EditError> {
    match root {
        Value::Null => Ok(None),
        Value::Object(root) => match root.get(table) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(servers)) => Ok(Some(servers)),
            Some(_) => Err(EditError::NotATable { at: format!("in `{table}`") }),
        },
        _ => Err(EditError::NotATable { at: "at the top of the file".to_string() }),
    }
}

/// The entry with what the user has added to it, such as variables.
fn merged(old: Option<&Value>, entry: &ServerEntry) -> Map<String, Value> {
    match old.filter(|old| starts_a_program(old)).and_then(Value::as_object) {
        Some(old) => old.clone().into_iter().chain(entry.own.clone()).collect(),
        None => entry.all(),
    }
}

/// Whether it is an entry of our kind, and not one of a server that is reached by its address.
fn starts_a_program(entry: &Value) -> bool {
    let is_stdio = entry.get("type").is_none_or(|kind| kind == "stdio");
    entry.is_object() && is_stdio && ["url", "uri"].iter().all(|key| entry.get(key).is_none())
}
