//! What is fuzzed: each function takes any bytes, must not panic, and must end.

use serde_json::Value;
use trailblaze_core::record::effects::{CallEffects, Effect};
use trailblaze_core::selector::{Case, Pattern};
use trailblaze_core::template::{Replacement, Token, Uncoercible, fill};
use trailblaze_core::trail::{Form, Merge, NewCalls, NewStep, Slot, StepCalls, Trail, convert, merge, save};
use trailblaze_core::yaml::decode;
use trailblaze_core::yaml::{Entries, Problems, Source, YamlNode, block, loose, read};
use trailblaze_protocol::event::{Line, StepKind};

/// Reads YAML: every place is within the text, and the value can be written and read again.
pub fn yaml_read(data: &[u8]) {
    let source = Source::new("a.yaml", String::from_utf8_lossy(data));
    let Some(root) = read(&source, &mut Problems::new(&source)) else { return };
    check_places(&root, &source.text);
    let value = loose(&root);
    let again = Source::new("b.yaml", block(&value, 0));
    // Writing may nest a value or lengthen a key beyond what is read.
    if let Some(root) = read(&again, &mut Problems::new(&again)) {
        assert_eq!(loose(&root), value, "{}", again.text);
    }
}

fn check_places(node: &YamlNode, text: &str) {
    assert!(text.get(node.span.start..node.span.end).is_some(), "{:?} in {text:?}", node.span);
    node.items().unwrap_or_default().iter().for_each(|item| check_places(item, text));
    for (key, value) in node.entries().unwrap_or_default() {
        check_places(key, text);
        check_places(value, text);
    }
}

/// Reads the rows of a CSV file: each has all columns, unless there is a problem.
pub fn csv_rows(data: &[u8]) {
    let source = Source::new("rows.csv", String::from_utf8_lossy(data));
    let (rows, problems) = trailblaze_core::trail::csv_rows(&source);
    if problems.is_empty() {
        assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{rows:?}");
    }
}

/// The first line is a pattern, the rest a text that it may match.
pub fn selector_pattern(data: &[u8]) {
    let data = String::from_utf8_lossy(data);
    let (pattern, text) = data.split_once('\n').unwrap_or((&data, &data));
    for case in [Case::Sensitive, Case::Insensitive] {
        Pattern::new(pattern, case).matches(text);
        assert!(Pattern::literal(text, case).matches(text), "{text:?}");
    }
}

/// Fills a template with values, with nothing, and not at all.
pub fn template_fill(data: &[u8]) {
    let text = Value::from(String::from_utf8_lossy(data).into_owned());
    let with = |fills: Replacement| {
        let mut lookup = |_: &Token<'_>| Ok::<_, Uncoercible>(fills.clone());
        fill(&text, &mut lookup).unwrap_or_default()
    };
    with(Replacement::Value(Value::from("{{x}}")));
    with(Replacement::Value(Value::from("5")));
    with(Replacement::Nothing);
    assert_eq!(with(Replacement::Keep), Some(text.clone()));
}

/// Reads one line of an event file.
pub fn event_line(data: &[u8]) {
    Line::parse(&String::from_utf8_lossy(data));
}

/// Saves into a trail or converts it: what comes out is a trail, and saving again changes nothing.
pub fn trail_save(data: &[u8]) {
    let source = Source::new("a.trail.yaml", String::from_utf8_lossy(data));
    let (Some(trail), _) = Trail::read(&source) else { return };
    if trail.form == Form::List {
        if let Ok(text) = convert(&source) {
            assert!(Trail::read(&Source::new("b.trail.yaml", text)).0.is_some());
        }
        return;
    }
    let calls = |slot: Slot| StepCalls { slot, calls: vec![serde_json::json!({"tap": {"text": "a: #\n"}})] };
    let first = [calls(Slot::Step(0))];
    let Ok(saved) = save(&source, "android", &first) else { return };
    let saved = Source::new("b.trail.yaml", saved);
    assert_eq!(save(&saved, "android", &first).as_ref(), Ok(&saved.text));
    let new =
        [NewStep { kind: StepKind::Verify, text: "new: #".into(), calls: NewCalls::Anywhere(first[0].calls.clone()) }];
    for (how, n_steps) in [(Merge::Append, trail.steps.len() + 1), (Merge::Replace, 1)] {
        if let Ok(merged) = merge(&saved, &["android".to_string()], &new, how) {
            let (after, _) = Trail::read(&Source::new("c.trail.yaml", merged.text));
            assert_eq!(after.map(|trail| trail.steps.len()), Some(n_steps));
        }
    }
}

/// Reads effects: what was understood can be written and read again.
pub fn effects_read(data: &[u8]) {
    let decoded = |text: &str| {
        let source = Source::new("a.effects.yaml", text);
        let mut problems = Problems::new(&source);
        decode::<Entries<Vec<CallEffects>>>(&source, &mut problems).filter(|_| !problems.has_errors())
    };
    let Some(effects) = decoded(&String::from_utf8_lossy(data)) else { return };
    for kept in effects.0.iter().flat_map(|(_, kept)| kept) {
        let did: Vec<Value> = kept.did.iter().map(Effect::json).collect();
        let entry = serde_json::json!({"android": [{"call": {"a": {}}, "did": did}]});
        // Writing may nest a value or lengthen a key beyond what is read.
        if let Some(again) = decoded(&block(&entry, 0)) {
            assert_eq!(again.0[0].1[0].did, kept.did);
        }
    }
}
