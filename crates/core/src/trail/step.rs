//! Steps: what to do or verify, and the calls that do it.

use serde_json::{Value, json};
use trailblaze_protocol::event::StepKind;

use super::ToolCall;
use super::classifier::closest;
use super::flow::{Repeat, SkipReason, StepFlow, WrittenFlow};
use super::items::StepGroup;
use super::stretch::StretchUse;
use crate::table;
use crate::yaml::{Decode, Entries, Problems, Span, Spanned, YamlKind, YamlNode};

table! {
    /// A step as written: exactly one of `step` and `verify`.
    pub struct RawStep {
        /// What to do, in natural language.
        "step" => step: Option<Spanned<String>> = None,
        /// What must be true, in natural language.
        "verify" => verify: Option<Spanned<String>> = None,
        /// Recorded calls, by classifier; an empty list deliberately does nothing.
        "recording" => recording: Option<Spanned<Entries<Vec<ToolCall>>>> = None,
        /// Calls for devices without a recording.
        "tools" => tools: Option<Vec<ToolCall>> = None,
        /// Whether the step may be recorded; if not, a model carries it out every time.
        "recordable" => recordable: bool = true,
        /// How often to retry the step.
        "maxRetries" => max_retries: Option<u32> = None,
        /// Whether the trail goes on if the step fails.
        "optional" => optional: bool = false,
        /// Why the step is skipped: a reason, or reasons by classifier.
        "skip" => skip: Option<SkipReason> = None,
        /// The only devices that carry the step out, by classifier, each with the reason.
        "only" => only: Entries<String> = Entries::default(),
        /// A check or a question: the calls of the step are only made if it holds.
        "when" => when: Option<ToolCall> = None,
        /// The calls that are made instead if the condition of `when` does not hold; without them, the step is skipped then.
        "else" => otherwise: Option<Vec<ToolCall>> = None,
        /// Makes the calls of the step again and again, until a check holds.
        "repeat" => repeat: Option<Repeat> = None,
        /// The device that carries it out, by its role in `devices:` of `config:`; required if there are several.
        "on" => on: Option<Spanned<String>> = None,
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub kind: StepKind,
    pub text: Spanned<String>,
    pub recording: Entries<Vec<ToolCall>>,
    pub tools: Option<Vec<ToolCall>>,
    pub is_recordable: bool,
    pub max_retries: Option<u32>,
    /// The role of the device that carries it out.
    pub on: Option<Spanned<String>>,
    pub flow: StepFlow,
    /// The parts that run at the same time, if it is one of them.
    pub group: Option<StepGroup>,
    /// The steps of another file that take its place.
    pub stretch: Option<Box<StretchUse>>,
}

/// Where the calls of a step come from, on one device.
#[derive(Debug, Clone, PartialEq)]
pub enum StepPlan<'a> {
    Recording {
        classifier: String,
        calls: &'a [ToolCall],
    },
    Authored(&'a [ToolCall]),
    /// Neither: a model must carry out the step.
    Model,
}

impl Step {
    pub(super) fn check(&self, recording: Span, problems: &mut Problems) {
        if self.text.value.trim().is_empty() {
            problems.error(self.text.span, "the step is empty");
        }
        if !self.is_recordable && self.recording.iter().any(|(_, calls)| !calls.is_empty()) {
            problems.error_with_hint(
                recording,
                "a step that is not recordable has a recording",
                "remove `recordable: false` or the recording",
            );
        }
        if self.flow.is_optional && self.kind == StepKind::Verify {
            problems.error_with_hint(
                self.text.span,
                "a `verify` that may fail checks nothing",
                "remove `optional: true`; to go on after the check fails, write `soft: true` next to its call",
            );
        }
        if self.flow.repeat.is_some() && self.tools.is_none() && self.recording.is_empty() {
            problems.error_with_hint(
                self.text.span,
                "a step that repeats needs calls, because a model cannot be recorded round by round",
                "write its calls under `tools:`",
            );
        }
    }

    /// The role of the device that carries it out; `None` if the trail runs on one device.
    pub fn role(&self) -> Option<&String> {
        self.on.as_ref().map(|on| &on.value)
    }

    pub fn plan(&self, lineage: &[String]) -> StepPlan<'_> {
        if let Some((classifier, calls)) = closest(lineage, |classifier| self.recording.get(classifier)) {
            return StepPlan::Recording { classifier, calls };
        }
        self.tools.as_deref().map_or(StepPlan::Model, StepPlan::Authored)
    }
}

impl Decode for Step {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        if let Some((key, _)) = node
            .entries()
            .unwrap_or_default()
            .iter()
            .find(|(key, value)| value.items().is_some() && key.raw().is_some_and(looks_like_classifier))
        {
            let name = key.raw().unwrap_or_default();
            problems.error_with_hint(
                key.span,
                format!("`{name}` is next to the step"),
                format!("put it under `recording:`, as `recording: {{{name}: […]}}`"),
            );
            return None;
        }
        let raw = RawStep::decode(node, problems)?;
        let (kind, text) = kind_and_text(raw.step, raw.verify, raw.span, problems)?;
        let place = raw.recording.as_ref().map_or(raw.span, |recording| recording.span);
        let flow = WrittenFlow {
            is_optional: raw.optional,
            skip: raw.skip,
            only: raw.only,
            when: raw.when,
            otherwise: raw.otherwise,
            repeat: raw.repeat,
        };
        let flow = StepFlow::of(flow, raw.span, problems);
        let step = Step {
            kind,
            text,
            recording: raw.recording.map(|recording| recording.value).unwrap_or_default(),
            tools: raw.tools,
            is_recordable: raw.recordable,
            max_retries: raw.max_retries,
            on: raw.on,
            flow,
            group: None,
            stretch: None,
        };
        step.check(place, problems);
        Some(step)
    }

    fn schema() -> Value {
        let mut schema = RawStep::schema();
        schema["oneOf"] = json!([{"required": ["step"]}, {"required": ["verify"]}]);
        schema
    }
}

/// A step has exactly one of `step` and `verify`.
pub(super) fn kind_and_text(
    step: Option<Spanned<String>>,
    verify: Option<Spanned<String>>,
    place: Span,
    problems: &mut Problems,
) -> Option<(StepKind, Spanned<String>)> {
    match (step, verify) {
        (Some(text), None) => Some((StepKind::Step, text)),
        (None, Some(text)) => Some((StepKind::Verify, text)),
        (Some(_), Some(verify)) => {
            let message = "a step must have either `step` or `verify`, not both";
            problems.error_with_hint(verify.span, message, "split it into two steps");
            None
        }
        (None, None) => {
            problems.error(place, "a step requires `step` or `verify`");
            None
        }
    }
}

fn looks_like_classifier(key: &str) -> bool {
    key.split('-').next().and_then(trailblaze_protocol::driver::Platform::parse).is_some()
}

table! {
    /// A trailhead as written.
    pub struct RawTrailhead {
        /// How to get to the starting point of the trail, in natural language.
        "step" => step: Option<Spanned<String>> = None,
        /// Recorded calls, by classifier: at most one call each.
        "recording" => recording: Option<Spanned<Entries<HeadCall>>> = None,
        /// Calls for devices without a recording.
        "tools" => tools: Option<Vec<ToolCall>> = None,
        /// Whether the trailhead may be recorded; if not, a model carries it out every time.
        "recordable" => recordable: bool = true,
        /// How often to retry the trailhead.
        "maxRetries" => max_retries: Option<u32> = None,
        /// The device that carries it out, by its role in `devices:` of `config:`; required if there are several.
        "on" => on: Option<Spanned<String>> = None,
    }
}

/// The call of a trailhead: a mapping, `{}` for none.
#[derive(Debug, Clone, PartialEq)]
pub struct HeadCall(Vec<ToolCall>);

impl Decode for HeadCall {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        match &node.kind {
            YamlKind::Map(entries) if entries.is_empty() => Some(HeadCall(Vec::new())),
            YamlKind::Seq(_) => {
                problems.error_with_hint(
                    node.span,
                    "a trailhead records one call, not a list",
                    "write `classifier: {toolName: {…}}`",
                );
                None
            }
            _ => ToolCall::decode(node, problems).map(|call| HeadCall(vec![call])),
        }
    }

    fn schema() -> Value {
        json!({"anyOf": [ToolCall::schema(), {"type": "object", "maxProperties": 0}]})
    }
}

/// How to get to the starting point of the trail. A failure is final: a model never retries it.
#[derive(Debug, Clone, PartialEq)]
pub struct Trailhead(pub Step);

impl Decode for Trailhead {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        // A single word is a call of that tool.
        if let Some(tool) = node.raw().filter(|_| !node.is_null()) {
            let span = node.span;
            let call = ToolCall {
                tool: Spanned { value: tool.to_string(), span },
                args: YamlNode { span, kind: YamlKind::Map(Vec::new()) }.into(),
                result_name: None,
                is_soft: false,
                source: std::sync::Arc::clone(problems.source()),
            };
            return Some(Trailhead(Step {
                kind: StepKind::Trailhead,
                text: Spanned { value: tool.to_string(), span },
                recording: Entries::default(),
                tools: Some(vec![call]),
                is_recordable: true,
                max_retries: None,
                on: None,
                flow: StepFlow::default(),
                group: None,
                stretch: None,
            }));
        }
        let raw = RawTrailhead::decode(node, problems)?;
        let Some(step) = raw.step else {
            problems.error(raw.span, "`step` is missing");
            return None;
        };
        let place = raw.recording.as_ref().map_or(raw.span, |recording| recording.span);
        let recording = raw.recording.map(|recording| recording.value).unwrap_or_default();
        let head = Step {
            kind: StepKind::Trailhead,
            text: step,
            recording: Entries(recording.0.into_iter().map(|(name, call)| (name, call.0)).collect()),
            tools: raw.tools,
            is_recordable: raw.recordable,
            max_retries: raw.max_retries,
            on: raw.on,
            flow: StepFlow::default(),
            group: None,
            stretch: None,
        };
        head.check(place, problems);
        Some(Trailhead(head))
    }

    fn schema() -> Value {
        json!({"anyOf": [RawTrailhead::schema(), {"type": "string"}]})
    }
}
