//! Computes which bytes of a trail file change when a recording is written into its slot, in any YAML style.
//!
//! `None` means that the place is written in a way that cannot be changed safely.

use serde_json::{Value, json};

use crate::yaml::{Span, YamlKind, YamlNode, behind_colon, block, inline, line_end};

/// Replaces `start..end` with `text`.
#[derive(Debug, Clone, PartialEq)]
pub struct Edit {
    pub start: usize,
    pub end: usize,
    pub text: String,
}

/// Applies the edits; edits at the same place keep their order.
pub fn apply(text: &str, mut edits: Vec<Edit>) -> Option<String> {
    edits.sort_by_key(|edit| edit.start);
    let mut out = String::with_capacity(text.len() + edits.iter().map(|edit| edit.text.len()).sum::<usize>());
    let mut at = 0;
    for edit in edits {
        out.push_str(text.get(at..edit.start)?);
        out.push_str(&edit.text);
        at = edit.end;
    }
    out.push_str(text.get(at..)?);
    Some(out)
}

/// Writes `value` into the slot of `classifier`.
pub fn put(text: &str, step: &YamlNode, classifier: &str, value: &Value) -> Option<Vec<Edit>> {
    let slot = json!({ classifier: value });
    let Some((key, slots)) = entry(step, "recording") else {
        return holds(step).then(|| insert_entry(text, step, "recording", &slot).map(|edit| vec![edit]))?;
    };
    if slots.entries().is_none_or(<[_]>::is_empty) {
        return holds(step).then(|| replace_value(text, step, key, slots, &slot))?;
    }
    if !holds(step) || !holds(slots) {
        return None;
    }
    match entry(slots, classifier) {
        Some((key, old)) => replace_value(text, slots, key, old, value),
        None => insert_entry(text, slots, classifier, value).map(|edit| vec![edit]),
    }
}

/// Adds items after the last one of a list.
pub fn append(text: &str, list: &YamlNode, items: &[Value]) -> Option<Edit> {
    insert_items(text, list, list.items()?.len().checked_sub(1), items)
}

/// Adds items to a list that is not empty: after the item at this index, or before the first.
pub fn insert_items(text: &str, list: &YamlNode, after: Option<usize>, items: &[Value]) -> Option<Edit> {
    let first = list.items()?.first()?;
    let before = after.and_then(|index| list.items()?.get(index));
    let lines = || block(&Value::from(items), list.span.column - 1);
    if is_flow(text, list.span) {
        let added: Vec<String> = items.iter().map(inline).collect();
        let (at, text) = match before {
            Some(item) => (item.span.end, added.iter().map(|item| format!(", {item}")).collect()),
            None => (first.span.start, added.iter().map(|item| format!("{item}, ")).collect()),
        };
        return Some(Edit { start: at, end: at, text });
    }
    match before {
        Some(item) => Some(below(text, item.span.end, &lines())),
        None => {
            let at = dash_line(text, list, first)?;
            Some(Edit { start: at, end: at, text: with_breaks(&lines(), break_at(text, at)) })
        }
    }
}

/// Removes an item from a list.
pub fn remove_item(text: &str, list: &YamlNode, index: usize) -> Option<Edit> {
    let items = list.items()?;
    let item = items.get(index).filter(|item| is_within(item.span, list.span))?;
    if is_flow(text, list.span) {
        let spans: Vec<Span> = items.iter().map(|item| item.span).collect();
        return cut_from_flow(text, &spans, index);
    }
    Some(cut_lines(text, dash_line(text, list, item)?, item.span.end))
}

/// Removes an entry from a mapping, including the rest of its lines.
pub fn remove_entry(text: &str, map: &YamlNode, name: &str) -> Option<Edit> {
    let entries = map.entries().filter(|_| holds(map))?;
    let index = entries.iter().position(|(key, _)| key.raw() == Some(name))?;
    // The value of an alias ends elsewhere.
    let end = |(key, value): &(YamlNode, YamlNode)| {
        if is_within(value.span, map.span) { value.span.end.max(key.span.end) } else { key.span.end }
    };
    if is_flow(text, map.span) {
        let span = |entry: &(YamlNode, YamlNode)| Span { end: end(entry), ..entry.0.span };
        return cut_from_flow(text, &entries.iter().map(span).collect::<Vec<_>>(), index);
    }
    let key = &entries[index].0;
    let start = line_start(text, key.span.start);
    if text[start..key.span.start].chars().all(|c| c == ' ') {
        return Some(cut_lines(text, start, end(&entries[index])));
    }
    // It follows the dash of its list item, so the next entry moves up.
    let next = &entries.get(index + 1)?.0;
    let is_plain = !text[key.span.start..next.span.start].contains('#') && !text[start..key.span.start].contains('?');
    is_plain.then(|| Edit { start: key.span.start, end: next.span.start, text: String::new() })
}

/// Removes one of several values in brackets, with a comma.
fn cut_from_flow(text: &str, spans: &[Span], index: usize) -> Option<Edit> {
    let (start, end) = match (index.checked_sub(1), spans.get(index + 1)) {
        (_, Some(next)) => (spans[index].start, next.start),
        (Some(before), None) => (spans[before].end, spans[index].end),
        (None, None) => (spans[index].start, spans[index].end),
    };
    let is_plain = !text.get(start..end)?.contains('#');
    is_plain.then(|| Edit { start, end, text: String::new() })
}

/// Removes whole lines, from the one that starts at `start` to the one that contains `end`, with the line break before them.
fn cut_lines(text: &str, start: usize, end: usize) -> Edit {
    let end = text[..end].trim_end_matches(['\n', '\r']).len();
    let before = &text[..start];
    let before = before.strip_suffix('\n').unwrap_or(before);
    let before = before.strip_suffix('\r').unwrap_or(before);
    Edit { start: before.len(), end: line_end(text, end), text: String::new() }
}

/// The start of the line that has the dash of a block list's item.
fn dash_line(text: &str, list: &YamlNode, item: &YamlNode) -> Option<usize> {
    let column = list.span.column.checked_sub(1)?;
    let mut start = line_start(text, item.span.start);
    loop {
        let indent = text.get(start..)?.bytes().take_while(|byte| *byte == b' ').count();
        if indent == column && text[start + indent..].starts_with('-') {
            return Some(start);
        }
        if start <= list.span.start {
            return None;
        }
        start = line_start(text, start - 1);
    }
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind(['\n', '\r']).map_or(0, |at| at + 1)
}

fn is_within(inner: Span, outer: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

pub fn entry<'n>(map: &'n YamlNode, name: &str) -> Option<&'n (YamlNode, YamlNode)> {
    map.entries()?.iter().find(|(key, _)| key.raw() == Some(name))
}

/// Whether a mapping is written where it is used. The value of an alias is elsewhere, and may be used by others too.
pub fn holds(map: &YamlNode) -> bool {
    let entries = map.entries().unwrap_or_default();
    entries.iter().all(|(key, _)| is_within(key.span, map.span))
}

fn is_flow(text: &str, span: Span) -> bool {
    text[span.start..].starts_with(['{', '['])
}

/// Adds an entry to a mapping in block style, before the entry of that name.
pub fn insert_entry_before(text: &str, map: &YamlNode, before: &str, name: &str, value: &Value) -> Option<Edit> {
    let (key, _) = entry(map, before).filter(|_| holds(map) && !is_flow(text, map.span))?;
    let at = line_start(text, key.span.start);
    let lines = block(&json!({ name: value }), map.span.column - 1);
    let is_alone = text[at..key.span.start].chars().all(|c| c == ' ');
    is_alone.then(|| Edit { start: at, end: at, text: with_breaks(&lines, break_at(text, at)) })
}

/// Adds an entry after the last one of a mapping.
pub fn insert_entry(text: &str, map: &YamlNode, name: &str, value: &Value) -> Option<Edit> {
    let entries = map.entries()?;
    if is_flow(text, map.span) {
        let (at, comma) = match entries.last() {
            Some((key, value)) => (value.span.end.max(key.span.end), ", "),
            None => (map.span.start + 1, ""),
        };
        return Some(Edit { start: at, end: at, text: format!("{comma}{}", inline_entry(name, value)) });
    }
    let (_, last) = entries.last()?;
    Some(below(text, last.span.end, &block(&json!({ name: value }), map.span.column - 1)))
}

/// Replaces the value of a key.
pub fn replace_value(text: &str, map: &YamlNode, key: &YamlNode, old: &YamlNode, value: &Value) -> Option<Vec<Edit>> {
    let is_unwritten = old.raw() == Some("") && old.is_null();
    let colon = behind_colon(text, key.span.end);
    let one = |start: usize, end: usize, text: String| Some(vec![Edit { start, end, text }]);
    if is_flow(text, map.span) {
        return match (is_unwritten, colon) {
            (false, _) => one(old.span.start, old.span.end, inline(value)),
            (true, Some(_)) => one(old.span.end, old.span.end, format!(" {}", inline(value))),
            (true, None) => one(key.span.end, key.span.end, format!(": {}", inline(value))),
        };
    }
    let colon = colon?;
    let end = text[..old.span.end].trim_end_matches(['\n', '\r']).len();
    let indent = map.span.column - 1 + 2;
    let is_empty = value.as_array().is_some_and(Vec::is_empty) || value.as_object().is_some_and(|map| map.is_empty());
    let line_start = text[..old.span.start].rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let is_own_line = line_start > colon && text[line_start..old.span.start].chars().all(|c| c == ' ');
    if is_unwritten {
        return if is_empty {
            one(old.span.end, old.span.end, format!(" {}", inline(value)))
        } else {
            Some(vec![below(text, old.span.end, &block(value, indent))])
        };
    }
    match (is_own_line, is_empty) {
        // Only blanks between the key and the value: the new value goes on the key's line.
        (true, true) if text[colon..old.span.start].trim().is_empty() => one(colon, end, format!(" {}", inline(value))),
        // A list may start below its key without indentation; `[]` may not.
        (_, true) => {
            let missing = (map.span.column + 1).saturating_sub(old.span.column);
            one(old.span.start, end, format!("{}{}", " ".repeat(missing), inline(value)))
        }
        (true, false) => {
            let lines = block(value, old.span.column - 1);
            one(old.span.start, end, with_breaks(lines.trim_matches([' ', '\n']), break_at(text, end)))
        }
        (false, false) => {
            let start = text[..old.span.start].trim_end_matches([' ', '\t']).len().max(colon);
            let cut = Edit { start, end, text: String::new() };
            Some(vec![cut, below(text, end, &block(value, indent))])
        }
    }
}

/// Replaces a call, in the style in which its arguments are written.
pub fn replace_call(text: &str, written: &YamlNode, call: &Value) -> Option<Vec<Edit>> {
    let [(key, old)] = written.entries()? else { return None };
    let (tool, args) = call.as_object()?.iter().next()?;
    let name = Edit { start: key.span.start, end: key.span.end, text: tool.clone() };
    let mut edits = if is_within(old.span, written.span) && is_flow(text, old.span) {
        vec![Edit { start: old.span.start, end: old.span.end, text: inline(args) }]
    } else {
        replace_value(text, written, key, old, args)?
    };
    if key.raw() != Some(tool) {
        edits.push(name);
    }
    Some(edits)
}

fn inline_entry(name: &str, value: &Value) -> String {
    let map = inline(&json!({ name: value }));
    map[1..map.len() - 1].to_string()
}

/// Inserts lines below the one that contains `end`.
fn below(text: &str, end: usize, lines: &str) -> Edit {
    let line_break = break_at(text, end);
    // After blank lines that are part of a text, a new line has already started.
    if text[..end].ends_with(['\n', '\r']) {
        return Edit { start: end, end, text: with_breaks(lines, line_break) };
    }
    let at = line_end(text, end);
    let lines = format!("\n{}", lines.trim_end_matches('\n'));
    Edit { start: at, end: at, text: with_breaks(&lines, line_break) }
}

fn with_breaks(lines: &str, line_break: &str) -> String {
    if line_break == "\n" { lines.to_string() } else { lines.replace('\n', line_break) }
}

/// The line break that is used around a place.
fn break_at(text: &str, at: usize) -> &'static str {
    let next = text[at..].find(['\n', '\r']).map(|next| at + next);
    let found = next.or_else(|| text[..at].rfind('\n').map(|last| last - usize::from(text[..last].ends_with('\r'))));
    match found.map(|at| &text[at..]) {
        Some(rest) if rest.starts_with("\r\n") => "\r\n",
        Some(rest) if rest.starts_with('\r') => "\r",
        _ => "\n",
    }
}

/// The steps of one item: its parts, or the item itself.
fn parts_of_item(item: &mut YamlNode) -> Vec<&mut YamlNode> {
    if item.get("together").and_then(YamlNode::items).is_none() {
        return vec![item];
    }
    let YamlKind::Map(entries) = &mut item.kind else { return Vec::new() };
    let parts = entries.iter_mut().filter(|(key, _)| key.raw() == Some("together"));
    parts
        .flat_map(|(_, parts)| match &mut parts.kind {
            YamlKind::Seq(parts) => parts.iter_mut().collect(),
            _ => Vec::new(),
        })
        .collect()
}

/// The trail without the slots of `classifier` in the steps for which `is_meant` is true, and without what this leaves empty.
pub fn without_slots(root: &YamlNode, classifier: &str, is_meant: impl Fn(Option<usize>) -> bool) -> YamlNode {
    let mut root = root.clone();
    let strip = |step: &mut YamlNode| {
        let YamlKind::Map(entries) = &mut step.kind else { return };
        let recordings = entries.iter_mut().filter(|(key, _)| key.raw() == Some("recording"));
        for (_, slots) in recordings {
            if let YamlKind::Map(slots) = &mut slots.kind {
                slots.retain(|(key, _)| key.raw() != Some(classifier));
            }
        }
        entries.retain(|(key, value)| {
            key.raw() != Some("recording") || !(value.is_null() || value.entries().is_some_and(<[_]>::is_empty))
        });
    };
    let YamlKind::Map(entries) = &mut root.kind else { return root };
    for (key, value) in entries {
        match (key.raw(), &mut value.kind) {
            (Some("trailhead"), _) if is_meant(None) => strip(value),
            (Some("trail"), YamlKind::Seq(steps)) => {
                let steps = steps.iter_mut().flat_map(parts_of_item).enumerate();
                steps.filter(|(index, _)| is_meant(Some(*index))).for_each(|(_, step)| strip(step));
            }
            _ => {}
        }
    }
    root
}
