//! Puts a recording into its slot of a trail file by splicing bytes: everything outside the slot stays as it is.
//! What was written is read again and compared with what was meant before anybody may store it.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use trailblaze_protocol::event::StepKind;

use crate::yaml::{Kind, Node, Problems, Source, block, inline, loose, read};

/// The recorded calls of one step, each as `{tool: args}`.
#[derive(Debug, Clone, PartialEq)]
pub struct StepCalls {
    pub slot: Slot,
    pub calls: Vec<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    Trailhead,
    /// From 0.
    Step(usize),
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SaveError {
    #[error("{path} is not a trail: {problem}")]
    Unreadable { path: String, problem: String },
    #[error("{path} has no step {number}; it changed since it was run")]
    NoSuchStep { path: String, number: usize },
    #[error("the trailhead of {path} made {count} calls; a recording holds one")]
    TrailheadTooLong { path: String, count: usize },
    #[error("{path} cannot be changed safely: read back, it would not say what was meant")]
    Unsafe { path: String },
}

/// The text of the file with the recordings of `classifier` in it.
pub fn save(source: &Arc<Source>, classifier: &str, recordings: &[StepCalls]) -> Result<String, SaveError> {
    let path = || source.path.clone();
    let root = parse(source)?;
    let mut edits = Vec::new();
    for recording in recordings {
        let step = step_of(&root, recording.slot)
            .ok_or_else(|| SaveError::NoSuchStep { path: path(), number: recording.slot.number() })?;
        let value = recording
            .value()
            .ok_or_else(|| SaveError::TrailheadTooLong { path: path(), count: recording.calls.len() })?;
        edits.push(edit(&source.text, step, classifier, &value));
    }
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.start));
    let mut text = source.text.clone();
    for edit in edits {
        text.replace_range(edit.start..edit.end, &edit.text);
    }
    verify(source, &root, &text, classifier, recordings)?;
    Ok(text)
}

impl Slot {
    fn number(self) -> usize {
        match self {
            Slot::Trailhead => 0,
            Slot::Step(index) => index + 1,
        }
    }
}

impl StepCalls {
    /// What stands in the slot: a list, or, for a trailhead, at most one call.
    fn value(&self) -> Option<Value> {
        match (self.slot, self.calls.as_slice()) {
            (Slot::Step(_), calls) => Some(Value::Array(calls.to_vec())),
            (Slot::Trailhead, []) => Some(json!({})),
            (Slot::Trailhead, [call]) => Some(call.clone()),
            (Slot::Trailhead, _) => None,
        }
    }
}

fn parse(source: &Arc<Source>) -> Result<Node, SaveError> {
    let mut problems = Problems::new(source);
    let root = read(source, &mut problems);
    root.ok_or_else(|| SaveError::Unreadable {
        path: source.path.clone(),
        problem: problems.into_vec().first().map_or_else(|| "it is empty".to_string(), ToString::to_string),
    })
}

fn step_of(root: &Node, slot: Slot) -> Option<&Node> {
    match slot {
        Slot::Trailhead => root.get("trailhead"),
        Slot::Step(index) => root.get("trail")?.items()?.get(index),
    }
    .filter(|step| step.entries().is_some_and(|entries| !entries.is_empty()))
}

struct Edit {
    start: usize,
    end: usize,
    text: String,
}

fn edit(text: &str, step: &Node, classifier: &str, value: &Value) -> Edit {
    let entry = |value: &Value| json!({ classifier: value });
    let recording = step.entries().into_iter().flatten().find(|(key, _)| key.raw() == Some("recording"));
    let Some((key, slots)) = recording else {
        return insert_entry(text, step, "recording", &entry(value));
    };
    let slots_entries = slots.entries().unwrap_or_default();
    if slots_entries.is_empty() {
        return replace_entry(text, step, key, slots, "recording", &entry(value));
    }
    match slots_entries.iter().find(|(key, _)| key.raw() == Some(classifier)) {
        Some((key, old)) => replace_entry(text, slots, key, old, classifier, value),
        None => insert_entry(text, slots, classifier, value),
    }
}

fn is_flow(text: &str, node: &Node) -> bool {
    text[node.span.start..].starts_with(['{', '['])
}

fn insert_entry(text: &str, map: &Node, name: &str, value: &Value) -> Edit {
    let entries = map.entries().unwrap_or_default();
    if is_flow(text, map) {
        let close = text[..map.span.end].rfind('}').unwrap_or(map.span.end);
        let end = text[..close].trim_end().len();
        let comma = if entries.is_empty() || text[..end].ends_with(',') { "" } else { ", " };
        return Edit { start: end, end, text: format!("{comma}{}", inline_entry(name, value)) };
    }
    let (indent, end) = match entries {
        [] => (map.span.column.saturating_sub(1), map.span.end),
        [(first, _), ..] => {
            let (last_key, last) = &entries[entries.len() - 1];
            (first.span.column - 1, last.span.end.max(last_key.span.end + 1))
        }
    };
    let end = line_end(text, text[..end.min(text.len())].trim_end().len());
    let newline = newline_of(text);
    Edit { start: end, end, text: lines(&block(&json!({ name: value }), indent), newline, Place::After) }
}

fn replace_entry(text: &str, map: &Node, key: &Node, old: &Node, name: &str, value: &Value) -> Edit {
    let after_colon = text[key.span.end..].find(':').map_or(key.span.end, |at| key.span.end + at + 1);
    let end = text[..old.span.end.max(after_colon)].trim_end().len().max(after_colon);
    if is_flow(text, map) {
        return Edit { start: key.span.start, end, text: inline_entry(name, value) };
    }
    let indent = key.span.column - 1;
    let text = lines(&block(&json!({ name: value }), indent), newline_of(text), Place::Here);
    Edit { start: key.span.start, end, text }
}

fn inline_entry(name: &str, value: &Value) -> String {
    let map = inline(&json!({ name: value }));
    map[1..map.len() - 1].to_string()
}

enum Place {
    /// On the lines below.
    After,
    /// Where an entry stood: the first line is indented already.
    Here,
}

fn lines(block: &str, newline: &str, place: Place) -> String {
    let body = block.trim_end_matches('\n');
    let body = match place {
        Place::After => format!("\n{body}"),
        Place::Here => body.trim_start().to_string(),
    };
    body.replace('\n', newline)
}

fn line_end(text: &str, from: usize) -> usize {
    let line = text[from..].find('\n').map_or(text.len(), |at| from + at);
    if text[..line].ends_with('\r') && line > from { line - 1 } else { line }
}

fn newline_of(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// Reads the new text and holds it against the old one: the slots hold the recording, all else is the same.
fn verify(
    source: &Arc<Source>,
    before: &Node,
    text: &str,
    classifier: &str,
    recordings: &[StepCalls],
) -> Result<(), SaveError> {
    let unsafe_error = || SaveError::Unsafe { path: source.path.clone() };
    let after = parse(&Source::new(&source.path, text)).map_err(|_| unsafe_error())?;
    let holds_recordings = recordings.iter().all(|recording| {
        let slot = step_of(&after, recording.slot).and_then(|step| step.get("recording")?.get(classifier));
        slot.map(loose) == recording.value()
    });
    let slots: Vec<Slot> = recordings.iter().map(|recording| recording.slot).collect();
    let strip = |root: &Node| loose(&without(root, &slots, classifier));
    if holds_recordings && strip(before) == strip(&after) { Ok(()) } else { Err(unsafe_error()) }
}

fn without(root: &Node, slots: &[Slot], classifier: &str) -> Node {
    let mut root = root.clone();
    let strip = |step: &mut Node| {
        let Kind::Map(entries) = &mut step.kind else { return };
        for (key, value) in entries.iter_mut().filter(|(key, _)| key.raw() == Some("recording")) {
            let _ = key;
            if let Kind::Map(slots) = &mut value.kind {
                slots.retain(|(key, _)| key.raw() != Some(classifier));
            }
        }
        entries.retain(|(key, value)| {
            key.raw() != Some("recording") || !(value.is_null() || value.entries().is_some_and(<[_]>::is_empty))
        });
    };
    let Kind::Map(entries) = &mut root.kind else { return root };
    for (key, value) in entries {
        match (key.raw(), &mut value.kind) {
            (Some("trailhead"), _) if slots.contains(&Slot::Trailhead) => strip(value),
            (Some("trail"), Kind::Seq(steps)) => {
                for (index, step) in steps.iter_mut().enumerate() {
                    if slots.contains(&Slot::Step(index)) {
                        strip(step);
                    }
                }
            }
            _ => {}
        }
    }
    root
}

/// What a new trail file says of one step.
#[derive(Debug, Clone, PartialEq)]
pub struct NewStep {
    pub kind: StepKind,
    pub text: String,
    pub calls: NewCalls,
}

#[derive(Debug, Clone, PartialEq)]
pub enum NewCalls {
    /// For every device: `tools:`.
    Anywhere(Vec<Value>),
    /// In the words of one platform: `recording:`.
    Recorded { classifier: String, calls: Vec<Value> },
    /// Left to a model.
    None,
}

/// The text of a new trail file.
pub fn new_trail(config: Map<String, Value>, steps: &[NewStep]) -> String {
    let mut document = Map::new();
    if !config.is_empty() {
        document.insert("config".into(), Value::Object(config));
    }
    let entry = |step: &NewStep, with_calls: bool| {
        let mut entry = Map::new();
        let key = if step.kind == StepKind::Verify { "verify" } else { "step" };
        entry.insert(key.into(), step.text.as_str().into());
        match &step.calls {
            _ if !with_calls => {}
            NewCalls::Anywhere(calls) => {
                entry.insert("tools".into(), calls.clone().into());
            }
            NewCalls::Recorded { classifier, calls } => {
                entry.insert("recording".into(), json!({ classifier: calls }));
            }
            NewCalls::None => {}
        }
        Value::Object(entry)
    };
    let mut trail = Vec::new();
    for step in steps {
        match (step.kind, &step.calls) {
            (StepKind::Trailhead, NewCalls::Recorded { classifier, calls }) if calls.len() == 1 => {
                let mut head = entry(step, false);
                head["recording"] = json!({ classifier: calls[0] });
                document.insert("trailhead".into(), head);
            }
            (StepKind::Trailhead, _) => {
                document.insert("trailhead".into(), entry(step, true));
            }
            _ => trail.push(entry(step, true)),
        }
    }
    document.insert("trail".into(), trail.into());
    block(&Value::Object(document), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &str, calls: Value, expected: &str) {
        let source = Source::new("a.trail.yaml", before);
        let recording = StepCalls { slot: Slot::Step(0), calls: calls.as_array().unwrap().clone() };
        match save(&source, "android", &[recording]) {
            Ok(after) => assert_eq!(after, expected),
            Err(error) => panic!("{error}\n{before}"),
        }
    }

    #[test]
    fn a_first_recording_is_added_behind_the_step() {
        check(
            "trail:\n  - step: Pay # now\n  - step: Wait\n",
            json!([{"tap": {"text": "Pay"}}]),
            "trail:\n  - step: Pay # now\n    recording:\n      android:\n        - tap:\n            text: Pay\n  - step: Wait\n",
        );
        check("trail:\n- step: Pay", json!([]), "trail:\n- step: Pay\n  recording:\n    android: []");
    }

    #[test]
    fn only_the_slot_of_this_classifier_changes() {
        check(
            "trail:\n  - step: Pay\n    recording:\n      ios: [] # iOS has none\n      android:\n        - old: {}\n    # end\n",
            json!([{"tap": {"id": "0"}}]),
            "trail:\n  - step: Pay\n    recording:\n      ios: [] # iOS has none\n      android:\n        - tap:\n            id: '0'\n    # end\n",
        );
        check(
            "trail:\n  - step: Pay\n    recording:\n      ios:\n        - back: {}\n    maxRetries: 2\n",
            json!([{"back": {}}]),
            "trail:\n  - step: Pay\n    recording:\n      ios:\n        - back: {}\n      android:\n        - back: {}\n    maxRetries: 2\n",
        );
    }

    #[test]
    fn flow_style_stays_on_its_line() {
        check(
            "trail: [{step: Pay}, {step: Wait}]\n",
            json!([{"tap": {"text": "a, b"}}]),
            "trail: [{step: Pay, recording: {android: [{tap: {text: 'a, b'}}]}}, {step: Wait}]\n",
        );
        check(
            "trail:\n  - step: Pay\n    recording: {ios: [], android: [{old: {}}]}\n",
            json!([]),
            "trail:\n  - step: Pay\n    recording: {ios: [], android: []}\n",
        );
    }

    #[test]
    fn other_line_ends_are_kept() {
        check(
            "trail:\r\n  - step: Pay\r\n",
            json!([{"back": {}}]),
            "trail:\r\n  - step: Pay\r\n    recording:\r\n      android:\r\n        - back: {}\r\n",
        );
    }

    #[test]
    fn a_file_that_would_not_read_back_is_left_alone() {
        let source = Source::new("a.trail.yaml", "x: &s {step: Pay}\ntrail:\n  - *s\n");
        let recording = StepCalls { slot: Slot::Step(0), calls: vec![] };
        assert_eq!(save(&source, "android", &[recording]), Err(SaveError::Unsafe { path: "a.trail.yaml".into() }));
    }
}
