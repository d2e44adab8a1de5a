//! YAML files: bytes are spliced at the places of the nodes, as in trails.

use serde_json::{Value, json};
use trailblaze_core::trail::splice::{Edit, apply, entry, holds, insert_entry, remove_entry, replace_value};
use trailblaze_core::yaml::{self, Problems, Severity, Source, YamlNode, block, inline, loose};

use super::error::EditError;

pub fn read(text: &str) -> Result<Value, EditError> {
    Ok(parse(text)?.as_ref().map(loose).unwrap_or_default())
}

pub fn set(text: &str, path: &[&str], value: &Value) -> Option<String> {
    let (last, parents) = path.split_last()?;
    // A file with only a `---` has an empty value.
    let Some(root) = parse(text).ok()?.filter(|root| !root.is_null()) else {
        let line_break = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        let content = path.iter().rev().fold(value.clone(), |value, key| json!({ *key: value }));
        return Some(format!("{text}{line_break}{}", block(&content, 0)));
    };
    let map = parents.iter().try_fold(&root, |map, key| map.get(key)).filter(|map| holds(map))?;
    if !parents.is_empty() && map.entries()?.is_empty() {
        // So that it is written on lines of its own, and not within the braces.
        return set(text, parents, &json!({ *last: value }));
    }
    let edits = match entry(map, last) {
        // On the line of the old one, with the comment behind it.
        Some((_, old)) if old.raw().is_some_and(|raw| !raw.is_empty()) && !value.is_object() && !value.is_array() => {
            vec![Edit { start: old.span.start, end: old.span.end, text: inline(value) }]
        }
        Some((key, old)) => replace_value(text, map, key, old, value)?,
        None => vec![insert_entry(text, map, last, value)?],
    };
    apply(text, edits)
}

pub fn remove(text: &str, table: &str, name: &str) -> Option<String> {
    let root = parse(text).ok()??;
    apply(text, vec![remove_entry(text, root.get(table)?, name)?])
}

/// `None` if the file is empty.
fn parse(text: &str) -> Result<Option<YamlNode>, EditError> {
    let source = Source::new("", text);
    let mut problems = Problems::new(&source);
    let root = yaml::read(&source, &mut problems);
    match problems.into_vec().into_iter().find(|problem| problem.severity == Severity::Error) {
        None => Ok(root),
        Some(problem) => {
            Err(EditError::Broken { line: problem.span.line, column: problem.span.column, message: problem.message })
        }
    }
}
