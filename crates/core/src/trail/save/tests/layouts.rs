//! Random valid trails, layouts and recordings.

use proptest::prelude::*;
use serde_json::Map;
use trailblaze_protocol::event::StepKind;

use super::*;
use crate::trail::{Change, Merge, NewCalls, NewStep, merge, revise};

/// Makes random choices; fewer bytes make a simpler file.
struct Chance {
    bytes: std::vec::IntoIter<u8>,
}

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        usize::from(self.bytes.next().unwrap_or(0)) % n
    }

    fn pick<'a>(&mut self, options: &[&'a str]) -> &'a str {
        options[self.below(options.len())]
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }
}

const COMMENTS: &[&str] = &["", "", "", " # why", "\t# tab\tin it", "  # ünï: [{'\"", " #"];
const BETWEEN: &[&str] = &["", "", "", "", "# on: its own", "      # deep", "", "#\ttab"];

/// A trail file under construction.
struct Layout {
    chance: Chance,
    lines: Vec<String>,
    n_anchors: usize,
}

impl Layout {
    fn line(&mut self, indent: usize, text: &str) {
        let comment = self.chance.pick(COMMENTS);
        self.lines.push(format!("{}{text}{comment}", " ".repeat(indent)));
        self.gap();
    }

    fn gap(&mut self) {
        if self.chance.one_in(5) {
            let between = self.chance.pick(BETWEEN);
            self.lines.push(between.to_string());
        }
    }

    fn anchor(&mut self) -> String {
        if !self.chance.one_in(8) {
            return String::new();
        }
        self.n_anchors += 1;
        format!("&a{} ", self.n_anchors)
    }

    fn file(mut self) -> String {
        self.gap();
        if self.chance.one_in(4) {
            self.lines.push(self.chance.pick(&["---", "--- # start", "%YAML 1.2\n---"]).to_string());
        }
        match self.chance.below(4) {
            0 => {}
            1 => self.line(0, "config: {id: 'a', memory: {who: &who \"Ada\"}, tags: [*who]}"),
            2 => {
                self.line(0, "config:");
                self.line(1, "title : Pay now");
                self.lines.push(" description: |+2\n    text\n\n\n # with: a hash".into());
                self.line(1, "id: x");
            }
            _ => self.line(0, "\"config\" : {tags: [\n  a, # one\n b ]\n }"),
        }
        match self.chance.below(6) {
            0 | 1 => {}
            2 => self.line(0, "trailhead: launch"),
            3 => self.line(0, "trailhead: {step: go, recording: {ios: {launch: {}}, 'android': {old: {a: b}}}}"),
            _ => {
                self.line(0, "trailhead:");
                self.line(3, "step: go");
                if self.chance.one_in(2) {
                    self.line(3, "recording:");
                    self.line(4, "android:");
                    self.line(6, "old:");
                    self.line(9, "text: 'x'");
                }
            }
        }
        let n_steps = 1 + self.chance.below(3);
        if self.chance.one_in(5) {
            self.flow_trail(n_steps);
        } else {
            let anchor = self.anchor();
            self.line(0, &format!("trail: {anchor}"));
            let indent = self.chance.below(5);
            let space = 1 + self.chance.below(4);
            (0..n_steps).for_each(|n| self.step(n, indent, space));
        }
        if self.chance.one_in(6) {
            self.lines.push("...".into());
        }
        let line_break = if self.chance.one_in(3) { "\r\n" } else { "\n" };
        let bom = if self.chance.one_in(4) { "\u{feff}" } else { "" };
        let end = if self.chance.one_in(3) { "" } else { "\n" };
        format!("{bom}{}{end}", self.lines.join("\n")).replace('\n', line_break)
    }

    fn flow_trail(&mut self, n_steps: usize) {
        let steps: Vec<String> = (0..n_steps).map(|n| self.flow_step(n)).collect();
        let between = self.chance.pick(&[", ", ",\n   ", " # why\n ,"]);
        let end = self.chance.pick(&["]", "\n ]", ", ]", " # last\n ]"]);
        self.line(0, &format!("trail: [{}{end}", steps.join(between)));
    }

    fn flow_step(&mut self, n: usize) -> String {
        let text = match self.chance.below(4) {
            0 => format!("step: 'Do {n}'"),
            1 => format!("\"verify\":\"It's {n}\""),
            2 => format!("step: {}do\n  {n}", self.anchor()),
            _ => format!("step : do {n}"),
        };
        let recording = self.chance.pick(&[
            "",
            ", recording",
            ", recording: ",
            ", recording: {}",
            ", 'recording': {ios: []}",
            ", recording: {ios: [], android: [{old: }]}",
            ", recording: {ios: [] # why\n  , \"android\" : # none\n  [],}",
            ", recording: ~, maxRetries: 2",
            ", maxRetries: ",
        ]);
        let end = self.chance.pick(&["}", " }", ",}", " # end\n }"]);
        format!("{}{{{text}{recording}{end}", self.anchor())
    }

    fn step(&mut self, n: usize, indent: usize, space: usize) {
        let dash = format!("{}-{}", " ".repeat(indent), " ".repeat(space));
        let inner = indent + 1 + space;
        if self.chance.one_in(5) {
            let step = self.flow_step(n).replace('\n', &format!("\n{}", " ".repeat(inner)));
            return self.line(0, &format!("{dash}{step}"));
        }
        let deep = " ".repeat(inner + 1);
        let anchor = self.anchor();
        let is_last = self.chance.one_in(2);
        let other = |layout: &mut Layout| {
            let tools = layout.chance.pick(&["maxRetries: 2", "tools: [{a: {b: 'c'}}]", "maxRetries:", "tools:"]);
            layout.line(inner, tools);
        };
        match self.chance.below(8) {
            0 => self.line(0, &format!("{dash}step: {anchor}Do {n}")),
            1 => self.line(0, &format!("{dash}\"verify\" : {anchor}'It''s {n}'")),
            2 => self.line(0, &format!("{dash}step: \"a\\\"\n{deep}# no comment\"")),
            3 => self.lines.push(format!("{dash}step: {anchor}|\n{deep}Do\n\n{deep} {n} # text\n\n")),
            4 => self.lines.push(format!("{dash}step: >-\n{deep}Do\n{deep}{n}")),
            5 => self.lines.push(format!("{dash}step: |+ # kept\n{deep}Do {n}\n\n")),
            6 => self.line(0, &format!("{dash}step: do\n{deep}{n}")),
            _ => self.line(0, &format!("{dash}verify: {n}")),
        }
        if !is_last {
            other(self);
        }
        self.recording(inner);
        if is_last && self.chance.one_in(2) {
            other(self);
        }
    }

    fn recording(&mut self, inner: usize) {
        let deep = " ".repeat(inner + 1);
        match self.chance.below(9) {
            0 | 1 => {}
            2 => self.line(inner, "recording:"),
            3 => self.line(inner, "recording : ~"),
            4 => self.line(inner, "'recording': {}"),
            5 => self.line(inner, "recording: {ios: [], \"android\": [{old: {a: 1}}]}"),
            6 => self.line(inner, &format!("recording: {{ # flow\n{deep}ios: [ # a\n{deep}], # b\n\n{deep}}}")),
            _ => {
                self.line(inner, "recording:");
                let slots = inner + 1 + self.chance.below(4);
                let names =
                    [["ios", "'android'"], ["android", "ios"], ["ios", "\"web\""], ["android-phone", "android"]];
                for name in names[self.chance.below(4)] {
                    self.slot(slots, name);
                }
            }
        }
    }

    fn slot(&mut self, indent: usize, name: &str) {
        let anchor = self.anchor();
        if self.chance.one_in(3) {
            let value = self.chance.pick(&["[]", "[{old: {}}]", "[\n                {old: } # c\n                ]"]);
            return self.line(indent, &format!("{name}: {anchor}{value}"));
        }
        let colon = self.chance.pick(&[":", " :", ":  "]);
        self.line(indent, &format!("{name}{colon} {anchor}"));
        let items = indent + self.chance.below(4);
        self.line(items, "- first: {a: 'b'}");
        let deep = " ".repeat(items + 4);
        match self.chance.below(5) {
            0 => self.line(items, "- old:"),
            1 => self.lines.push(format!("{}- old:\n{deep}a: |\n{deep} text\n\n", " ".repeat(items))),
            2 => self.lines.push(format!("{}- old:\n{deep}a: |+\n{deep} text\n\n", " ".repeat(items))),
            3 => self.line(items, "-  'old': {a: \"b\" }"),
            _ => self.line(items, &format!("- old:\n{deep}# inside\n{deep}a: b\n{deep}  c")),
        }
    }
}

fn any_trail() -> impl Strategy<Value = String> {
    prop::collection::vec(any::<u8>(), 0..160).prop_map(|bytes| {
        let chance = Chance { bytes: bytes.into_iter() };
        Layout { chance, lines: Vec::new(), n_anchors: 0 }.file()
    })
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        ".{0,12}",
        "[ -~]{0,12}",
        "[-+]?[0-9]{1,3}(\\.[0-9])?(e[0-9])?",
        "\\PC{0,6}[\u{0}-\u{1f}\u{7f}\u{85}\u{2028}\u{feff}#:\r\n]{1,3}\\PC{0,4}",
        prop::sample::select(vec![
            "", "no", "~", "null", "0x1F", "- a", "a: b", "a #b", "*x", "&x", "!x", "---", "{{who}}"
        ])
        .prop_map(String::from),
    ]
}

fn any_argument() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any_text().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e20..1e20).prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((any_text(), inner), 0..3).prop_map(|entries| Value::Object(Map::from_iter(entries))),
        ]
    })
}

fn any_calls() -> impl Strategy<Value = Vec<Value>> {
    let call = ("[a-zA-Z_]{1,8}", prop::collection::vec((any_text(), any_argument()), 0..3))
        .prop_map(|(tool, args)| json!({ tool: Value::Object(Map::from_iter(args)) }));
    prop::collection::vec(call, 0..3)
}

/// A recording of some steps of the file.
fn recordings(trail: &Trail, calls: &[Vec<Value>], skip: u8) -> Vec<StepCalls> {
    let mut recordings = Vec::new();
    let takes_head = trail.trailhead.as_ref().is_some_and(|head| head.0.text.value != "launch");
    if takes_head && skip & 128 == 0 {
        recordings.push(StepCalls { slot: Slot::Trailhead, calls: calls[0].iter().take(1).cloned().collect() });
    }
    let calls = calls.iter().take(trail.steps.len()).enumerate();
    for (index, calls) in calls.filter(|(index, _)| skip >> index & 1 == 0) {
        recordings.push(StepCalls { slot: Slot::Step(index), calls: calls.clone() });
    }
    recordings
}

/// The content of a step without its places and its recording.
type Outline = (StepKind, String, Option<usize>, bool, Option<u32>);

fn outline(trail: &Trail) -> Vec<Outline> {
    let steps = trail.trailhead.iter().map(|head| &head.0).chain(&trail.steps);
    steps
        .map(|step| {
            let tools = step.tools.as_ref().map(Vec::len);
            (step.kind, step.text.value.clone(), tools, step.is_recordable, step.max_retries)
        })
        .collect()
}

/// Whether the bytes that an edit removes are part of the slot's old value.
fn is_of_the_slot(text: &str, edit: &Edit, root: &YamlNode, recordings: &[&StepCalls]) -> bool {
    let removed = &text[edit.start..edit.end];
    let start = edit.start + (removed.len() - removed.trim_start().len());
    let end = edit.start + removed.trim_end().len();
    removed.trim().is_empty()
        || recordings.iter().filter_map(|recording| step_of(root, &recording.slot)).any(|step| {
            let Some(slots) = step.get("recording") else { return false };
            let old = match slots.entries() {
                Some(entries) if !entries.is_empty() => slots.get("android"),
                _ => Some(slots),
            };
            old.is_some_and(|old| old.span.start <= start && end <= old.span.end)
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    #[test]
    fn a_saved_recording_reads_back_and_nothing_else_changes(
        text in any_trail(),
        calls in prop::collection::vec(any_calls(), 4),
        skip in any::<u8>(),
    ) {
        let source = Source::new("a.trail.yaml", text.as_str());
        let (trail, root) = parse(&source).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let recordings = recordings(&trail, &calls, skip);
        let saved = save(&source, "android", &recordings);
        prop_assert!(saved.is_ok(), "{saved:?}\n{text:?}\n{text}");
        let saved = saved.unwrap();

        let all: Vec<&StepCalls> = recordings.iter().collect();
        for edit in edits(&source, &root, "android", &all).unwrap() {
            prop_assert!(is_of_the_slot(&text, &edit, &root, &all), "{edit:?}\n{text}");
        }
        let after = Source::new("a.trail.yaml", saved.as_str());
        let (reread, root) = parse(&after).unwrap();
        prop_assert_eq!(outline(&reread), outline(&trail));
        for recording in &recordings {
            let slot = step_of(&root, &recording.slot).and_then(|step| slot_of(step, "android"));
            prop_assert_eq!(slot.map(loose), recording.value());
        }
        prop_assert_eq!(save(&after, "android", &recordings), Ok(saved));
    }

    #[test]
    fn steps_can_be_appended_to_any_trail(text in any_trail(), calls in any_calls()) {
        let source = Source::new("a.trail.yaml", text.as_str());
        let (trail, _) = parse(&source).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let step = NewStep { kind: StepKind::Verify, text: "new: 1 #".into(), calls: NewCalls::Anywhere(calls.clone()) };
        let merged = merge(&source, &["android".to_string()], &[step], Merge::Append);
        prop_assert!(merged.is_ok(), "{merged:?}\n{text:?}\n{text}");
        let (reread, _) = parse(&Source::new("a.trail.yaml", merged.unwrap().text)).unwrap();
        let mut expected = outline(&trail);
        expected.push((StepKind::Verify, "new: 1 #".into(), Some(calls.len()), true, None));
        prop_assert_eq!(outline(&reread), expected);
    }

    #[test]
    fn removing_a_recording_changes_nothing_else(text in any_trail()) {
        let source = Source::new("a.trail.yaml", text.as_str());
        let (trail, root) = parse(&source).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let is_there = |step: &Slot| step_of(&root, step).and_then(|step| slot_of(step, "android")).is_some();
        let Some(step) = (0..trail.steps.len()).map(Slot::Step).find(is_there) else { return Ok(()) };
        let change = Change::RemoveRecordings { step: step.clone(), classifiers: vec!["android".into()] };
        // Rejected in brackets with comments, and if an anchor is used elsewhere.
        let Ok(text) = revise(&source, &[change]) else { return Ok(()) };
        let (reread, root) = parse(&Source::new("a.trail.yaml", text)).unwrap();
        prop_assert_eq!(outline(&reread), outline(&trail));
        prop_assert!(step_of(&root, &step).and_then(|step| slot_of(step, "android")).is_none());
    }
}
