//! Changes a trail file in several places by splicing bytes. The same changes are applied to the parsed value of the file;
//! a text that would not read back as that value is rejected.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::items::{ItemPlace, places};
use super::save::{SaveError, Slot, parse, step_of};
use super::splice::{
    Edit, apply, entry, holds, insert_entry, insert_entry_before, insert_items, put, remove_entry, remove_item,
    replace_call, replace_value,
};
use crate::yaml::{Source, YamlNode, loose};

/// One change. Step indices refer to the file before all changes.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Sets the recording of a classifier.
    PutRecording {
        step: Slot,
        classifier: String,
        value: Value,
    },
    /// Removes the recordings of these classifiers, and `recording:` with the last one.
    RemoveRecordings {
        step: Slot,
        classifiers: Vec<String>,
    },
    /// Sets `tools:`.
    PutTools {
        step: Slot,
        calls: Value,
    },
    /// Replaces one call of a recording, or of `tools:` without a classifier.
    ReplaceCall {
        step: Slot,
        classifier: Option<String>,
        /// From 0.
        index: usize,
        /// As `{tool: args}`.
        call: Value,
    },
    /// Adds steps after one of the file, or before the first.
    Insert {
        after: Option<usize>,
        steps: Vec<Value>,
    },
    RemoveStep(usize),
    /// Adds a trailhead to a file that has none.
    AddTrailhead(Value),
}

impl Change {
    /// The step that is changed, unless whole steps are added or removed.
    pub fn step(&self) -> Option<&Slot> {
        match self {
            Change::PutRecording { step, .. }
            | Change::RemoveRecordings { step, .. }
            | Change::PutTools { step, .. }
            | Change::ReplaceCall { step, .. } => Some(step),
            Change::Insert { .. } | Change::RemoveStep(_) | Change::AddTrailhead(_) => None,
        }
    }
}

/// Returns the changed text of the file.
pub fn revise(source: &Arc<Source>, changes: &[Change]) -> Result<String, SaveError> {
    let (_, root) = parse(source)?;
    let unsafe_here = || SaveError::Unsafe { path: source.path.clone() };
    let mut edits = Vec::new();
    for change in changes {
        edits.extend(edit(&source.text, &root, change).ok_or_else(unsafe_here)?);
    }
    let text = apply(&source.text, edits).ok_or_else(unsafe_here)?;
    let (_, after) = parse(&Source::new(&source.path, text.as_str())).map_err(|_| unsafe_here())?;
    if loose(&after) != revised(loose(&root), &places(&root), changes) {
        return Err(unsafe_here());
    }
    Ok(text)
}

fn edit(text: &str, root: &YamlNode, change: &Change) -> Option<Vec<Edit>> {
    let trail = || root.get("trail");
    Some(match change {
        Change::PutRecording { step, classifier, value } => put(text, step_of(root, step)?, classifier, value)?,
        Change::RemoveRecordings { step, classifiers } => {
            let step = step_of(root, step)?;
            let (_, slots) = entry(step, "recording")?;
            let is_last = slots.entries()?.iter().all(|(key, _)| is_among(classifiers, key.raw()));
            if is_last {
                vec![remove_entry(text, step, "recording")?]
            } else {
                classifiers
                    .iter()
                    .filter(|classifier| entry(slots, classifier).is_some())
                    .map(|classifier| remove_entry(text, slots, classifier))
                    .collect::<Option<_>>()?
            }
        }
        Change::PutTools { step, calls } => {
            let step = step_of(root, step).filter(|step| holds(step))?;
            match entry(step, "tools") {
                Some((key, old)) => replace_value(text, step, key, old, calls)?,
                None => vec![insert_entry(text, step, "tools", calls)?],
            }
        }
        Change::ReplaceCall { step, classifier, index, call } => {
            let step = step_of(root, step).filter(|step| holds(step))?;
            let calls = match classifier {
                Some(classifier) => &entry(&entry(step, "recording")?.1, classifier)?.1,
                None => &entry(step, "tools")?.1,
            };
            let written = calls.items()?.get(*index).filter(|item| holds(item))?;
            replace_call(text, written, call)?
        }
        Change::Insert { after, steps } => {
            let places = places(root);
            let after = match after {
                Some(index) => Some(item_before(&places, *index)?),
                None => None,
            };
            vec![insert_items(text, trail()?, after, steps)?]
        }
        Change::RemoveStep(index) => {
            let place = places(root).get(*index).copied().filter(|place| place.part.is_none())?;
            vec![remove_item(text, trail()?, place.item)?]
        }
        Change::AddTrailhead(head) => {
            let before = insert_entry_before(text, root, "trail", "trailhead", head);
            vec![before.or_else(|| insert_entry(text, root, "trailhead", head))?]
        }
    })
}

/// The item of a step, if other steps can be added after it: they cannot become parts of `together:`.
fn item_before(places: &[ItemPlace], index: usize) -> Option<usize> {
    let place = places.get(index)?;
    let is_last = places.get(index + 1).is_none_or(|next| next.item != place.item);
    is_last.then_some(place.item)
}

fn is_among(classifiers: &[String], name: Option<&str>) -> bool {
    classifiers.iter().any(|classifier| Some(classifier.as_str()) == name)
}

/// The intended value of the file.
fn revised(mut root: Value, places: &[ItemPlace], changes: &[Change]) -> Value {
    for change in changes {
        let entries = match change.step() {
            Some(Slot::Trailhead) => root.get_mut("trailhead"),
            Some(Slot::Step(index)) => places.get(*index).and_then(|place| {
                let item = root.get_mut("trail")?.get_mut(place.item)?;
                match place.part {
                    Some(part) => item.get_mut("together")?.get_mut(part),
                    None => Some(item),
                }
            }),
            None => None,
        };
        if let Some(entries) = entries.and_then(Value::as_object_mut) {
            revise_step(entries, change);
        }
    }
    let old = root.get("trail").and_then(Value::as_array).cloned().unwrap_or_default();
    let item = |index: usize| places.get(index).map(|place| place.item);
    let is_removed = |number: usize| {
        changes.iter().any(|change| matches!(change, Change::RemoveStep(index) if item(*index) == Some(number)))
    };
    let added = |behind: Option<usize>| {
        changes.iter().flat_map(move |change| match change {
            Change::Insert { after, steps } if after.map(item) == behind.map(Some) => steps.clone(),
            _ => Vec::new(),
        })
    };
    let mut steps: Vec<Value> = added(None).collect();
    for (index, step) in old.into_iter().enumerate() {
        steps.extend((!is_removed(index)).then_some(step));
        steps.extend(added(Some(index)));
    }
    root["trail"] = steps.into();
    for change in changes {
        if let Change::AddTrailhead(head) = change {
            root["trailhead"] = head.clone();
        }
    }
    root
}

fn revise_step(entries: &mut Map<String, Value>, change: &Change) {
    match change {
        Change::PutRecording { classifier, value, .. } => {
            let slots = entries.entry("recording").or_insert(Value::Null);
            if !slots.is_object() {
                *slots = json!({});
            }
            slots[classifier.as_str()] = value.clone();
        }
        Change::RemoveRecordings { classifiers, .. } => {
            if let Some(Value::Object(slots)) = entries.get_mut("recording") {
                slots.retain(|name, _| !classifiers.contains(name));
                if slots.is_empty() {
                    entries.shift_remove("recording");
                }
            }
        }
        Change::PutTools { calls, .. } => drop(entries.insert("tools".into(), calls.clone())),
        Change::ReplaceCall { classifier, index, call, .. } => {
            let calls = match classifier {
                Some(classifier) => entries.get_mut("recording").and_then(|slots| slots.get_mut(classifier)),
                None => entries.get_mut("tools"),
            };
            if let Some(old) = calls.and_then(|calls| calls.get_mut(*index)) {
                *old = call.clone();
            }
        }
        Change::Insert { .. } | Change::RemoveStep(_) | Change::AddTrailhead(_) => {}
    }
}

#[cfg(test)]
mod tests;
