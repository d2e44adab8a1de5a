//! The items of a trail: steps, `together:` with parts that run at the same time, and `use:` of a stretch that trails share.

use serde_json::{Value, json};
use trailblaze_protocol::event::StepKind;

use super::Step;
use super::step::{RawStep, kind_and_text};
use super::stretch::RawUse;
use crate::nearest::misspelled;
use crate::table;
use crate::yaml::{Decode, Problems, Span, Spanned, Table, YamlKind, YamlNode};

/// The steps of a trail or of a stretch. Each part of `together:` is a step of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct StepItems(pub Vec<Step>);

/// The steps of `before:` or `after:`, which come one after another.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HookItems(pub Vec<Step>);

/// What the parts of one `together:` share.
#[derive(Debug, Clone, PartialEq)]
pub struct StepGroup {
    pub text: Spanned<String>,
    /// The place of the item, by which parts of the same one are known.
    pub span: Span,
}

table! {
    /// Parts that run at the same time, each on its device. The step ends when all of them have ended.
    pub struct RawGroup {
        /// What to do, in natural language.
        "step" => step: Option<Spanned<String>> = None,
        /// What must be true, in natural language.
        "verify" => verify: Option<Spanned<String>> = None,
        /// The parts, each with `on:` and what else a step can have. One without `step` or `verify` has the words of the whole.
        "together" => together: Spanned<Vec<YamlNode>>,
    }
}

impl Decode for StepItems {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        let Some(items) = node.items() else {
            problems.error(node.span, format!("expected a list, found {}", node.noun()));
            return None;
        };
        // Reads every item before failing, so that all problems are found.
        let decoded: Vec<Option<Vec<Step>>> = items.iter().map(|item| steps_of(item, problems)).collect();
        let steps: Option<Vec<Vec<Step>>> = decoded.into_iter().collect();
        Some(StepItems(steps?.into_iter().flatten().collect()))
    }

    fn schema() -> Value {
        let mut group = RawGroup::schema();
        group["oneOf"] = json!([{"required": ["step"]}, {"required": ["verify"]}]);
        let mut part = Step::schema();
        if let Some(part) = part.as_object_mut() {
            part.remove("oneOf");
            part.insert("required".into(), json!(["on"]));
        }
        group["properties"]["together"]["minItems"] = json!(2);
        group["properties"]["together"]["items"] = part;
        json!({"type": "array", "items": {"anyOf": [Step::schema(), group, RawUse::schema()]}})
    }
}

impl Decode for HookItems {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        let steps = StepItems::decode(node, problems)?.0;
        for group in steps.iter().filter_map(|step| step.group.as_ref()) {
            problems.error_with_hint(
                group.text.span,
                "the steps of `before` and `after` come one after another, so none has `together`",
                "write a step for each device, with `on:`",
            );
        }
        Some(HookItems(steps))
    }

    fn schema() -> Value {
        json!({"type": "array", "items": {"anyOf": [Step::schema(), RawUse::schema()]}})
    }
}

fn steps_of(item: &YamlNode, problems: &mut Problems) -> Option<Vec<Step>> {
    match (item.get("together"), item.get("use")) {
        (Some(_), _) => parts(RawGroup::decode(item, problems)?, problems),
        (None, Some(_)) => Some(vec![RawUse::decode(item, problems)?.step(problems)]),
        (None, None) => match misspelled_form(item) {
            Some((key, form)) => {
                let unknown = format!("unknown key `{}`", key.raw().unwrap_or_default());
                problems.error_with_hint(key.span, unknown, format!("did you mean `{form}`?"));
                None
            }
            None => Step::decode(item, problems).map(|step| vec![step]),
        },
    }
}

/// A key that is meant to be `together` or `use`: the item is no ordinary step, and nothing else can be said about it.
fn misspelled_form(item: &YamlNode) -> Option<(&YamlNode, &'static str)> {
    item.entries()?.iter().find_map(|(key, _)| {
        let name = key.raw().filter(|name| !RawStep::KEYS.contains(name))?;
        let form = misspelled(name, RawStep::KEYS.iter().copied().chain(["together", "use"]))?;
        (!RawStep::KEYS.contains(&form)).then_some((key, form))
    })
}

fn parts(group: RawGroup, problems: &mut Problems) -> Option<Vec<Step>> {
    let (kind, text) = kind_and_text(group.step, group.verify, group.span, problems)?;
    let of = StepGroup { text: text.clone(), span: group.span };
    if group.together.value.len() < 2 {
        problems.error_with_hint(
            group.together.span,
            "`together` needs at least two parts",
            "write `together: [{on: alice, tools: […]}, {on: bob, tools: […]}]`",
        );
    }
    let mut steps: Vec<Step> = Vec::new();
    let mut is_whole = true;
    for node in &group.together.value {
        let Some(part) = Step::decode(&with_words(node, kind, &text), problems) else {
            is_whole = false;
            continue;
        };
        let role = part.on.as_ref();
        let earlier = role.and_then(|role| steps.iter().find(|step| step.role() == Some(&role.value)));
        match (role, earlier.and_then(|earlier| earlier.on.as_ref())) {
            (None, _) => problems.error_with_hint(
                node.span,
                "a part of `together` must say which device carries it out",
                "add `on:` with a role of `devices:` of `config:`",
            ),
            (Some(role), Some(earlier)) => problems.error_with_hint(
                role.span,
                format!("`{}` already has a part, at line {}", role.value, earlier.span.line),
                "a device does one thing at a time: put the calls into one part, or into a step of their own",
            ),
            (Some(_), None) => {}
        }
        steps.push(Step { group: Some(of.clone()), ..part });
    }
    is_whole.then_some(steps)
}

/// A part with the words of the whole, unless it has its own.
fn with_words(part: &YamlNode, kind: StepKind, text: &Spanned<String>) -> YamlNode {
    let mut part = part.clone();
    let has_words = part.get("step").or(part.get("verify")).is_some();
    if let (YamlKind::Map(entries), false) = (&mut part.kind, has_words) {
        let word = |raw: &str| YamlNode {
            span: text.span,
            kind: YamlKind::Scalar { raw: raw.to_string(), style: crate::yaml::Style::Quoted, tag: None },
        };
        let key = if kind == StepKind::Verify { "verify" } else { "step" };
        entries.push((word(key), word(&text.value)));
    }
    part
}

/// Where a step is among the items of its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ItemPlace {
    pub item: usize,
    /// Its number in `together:`, from 0.
    pub part: Option<usize>,
}

/// The place of each step of a file, in order.
pub(super) fn places(root: &YamlNode) -> Vec<ItemPlace> {
    let items = root.get("trail").and_then(YamlNode::items).unwrap_or_default();
    let of_item = |(item, node): (usize, &YamlNode)| match node.get("together").and_then(YamlNode::items) {
        Some(parts) => (0..parts.len()).map(|part| ItemPlace { item, part: Some(part) }).collect(),
        None => vec![ItemPlace { item, part: None }],
    };
    items.iter().enumerate().flat_map(of_item).collect()
}

/// The step at this place.
pub(super) fn step_at(root: &YamlNode, place: ItemPlace) -> Option<&YamlNode> {
    let item = root.get("trail")?.items()?.get(place.item)?;
    match place.part {
        None => Some(item),
        Some(part) => item.get("together")?.items()?.get(part),
    }
}
