//! What decides whether and how often the calls of a step are made: `optional:`, `skip:`, `only:`, `when:`, `repeat:`.

use serde_json::{Value, json};

use super::ToolCall;
use super::classifier::closest;
use crate::table;
use crate::yaml::{Decode, Entries, Problems, Span, Spanned, YamlKind, YamlNode};

/// The most rounds that a step may ask for.
const ROUNDS: u32 = 1_000;

/// What decides whether and how often the calls of a step are made.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StepFlow {
    /// Whether the trail goes on if the step fails.
    pub is_optional: bool,
    pub skip: Option<SkipReason>,
    /// Why only these devices carry it out, by classifier.
    pub only: Entries<String>,
    pub when: Option<Condition>,
    pub repeat: Option<Repeat>,
}

/// Why a step is skipped: on all devices, or by classifier.
#[derive(Debug, Clone, PartialEq)]
pub enum SkipReason {
    Everywhere(String),
    On(Entries<String>),
}

/// A condition, and the calls that are made if it does not hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    pub call: ToolCall,
    /// `None` if the step is skipped.
    pub otherwise: Option<Vec<ToolCall>>,
}

table! {
    /// Makes the calls of a step again and again.
    pub struct Repeat {
        /// The check or question that ends it. It comes before each round.
        "until" => until: ToolCall,
        /// How many rounds there may be. The step fails if `until` does not hold after them.
        "times" => times: Spanned<u32>,
    }
}

impl StepFlow {
    /// Why a device skips the step.
    pub fn skip_reason(&self, lineage: &[String]) -> Option<String> {
        let skip = match &self.skip {
            Some(SkipReason::Everywhere(reason)) => Some(reason.clone()),
            Some(SkipReason::On(reasons)) => {
                closest(lineage, |classifier| reasons.get(classifier)).map(|(_, reason)| reason.clone())
            }
            None => None,
        };
        skip.or_else(|| not_one_of(&self.only, lineage))
    }

    /// Whether a run may make other calls than those of the step, or the same ones several times.
    pub fn is_conditional(&self) -> bool {
        self.when.is_some() || self.repeat.is_some() || self.is_optional
    }

    /// The calls beside those of the step: conditions, and what is done if one does not hold.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        let otherwise = self.when.iter().flat_map(|when| when.otherwise.iter().flatten());
        self.conditions().chain(otherwise)
    }

    pub fn conditions(&self) -> impl Iterator<Item = &ToolCall> {
        self.when.iter().map(|when| &when.call).chain(self.repeat.iter().map(|repeat| &repeat.until))
    }

    /// Puts together what is written, and reports what does not fit.
    pub(super) fn of(written: WrittenFlow, step: Span, problems: &mut Problems) -> StepFlow {
        let WrittenFlow { is_optional, skip, only, when, otherwise, repeat } = written;
        let when = match (when, otherwise) {
            (Some(call), otherwise) => Some(Condition { call, otherwise }),
            (None, Some(_)) => {
                problems.error_with_hint(
                    step,
                    "`else` needs `when`",
                    "write the condition as `when: {isVisible: {text: Pay}}`",
                );
                None
            }
            (None, None) => None,
        };
        if let Some(times) =
            repeat.as_ref().map(|repeat| &repeat.times).filter(|times| !(1..=ROUNDS).contains(&times.value))
        {
            problems.error(times.span, format!("`times` must be from 1 to {ROUNDS}, not {}", times.value));
        }
        check_only(&only, problems);
        StepFlow { is_optional, skip, only, when, repeat }
    }
}

/// Why a device that `only` does not name skips a step or a trail.
pub(super) fn not_one_of(only: &Entries<String>, lineage: &[String]) -> Option<String> {
    let is_one = closest(lineage, |classifier| only.get(classifier)).is_some();
    let (names, reasons): (Vec<&str>, Vec<&str>) = only.iter().map(|(name, reason)| (name, reason.as_str())).unzip();
    (!is_one && !names.is_empty()).then(|| format!("only on {}: {}", names.join(" and "), reasons.join("; ")))
}

pub(super) fn check_only(only: &Entries<String>, problems: &mut Problems) {
    if let Some((classifier, _)) = only.0.iter().find(|(_, reason)| reason.trim().is_empty()) {
        problems.error(classifier.span, "`only` needs a reason, as in `only: {android: the camera is only there}`");
    }
}

/// The keys of a step that make its [`StepFlow`].
pub(super) struct WrittenFlow {
    pub is_optional: bool,
    pub skip: Option<SkipReason>,
    pub only: Entries<String>,
    pub when: Option<ToolCall>,
    pub otherwise: Option<Vec<ToolCall>>,
    pub repeat: Option<Repeat>,
}

impl Decode for SkipReason {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        let reason = match &node.kind {
            YamlKind::Map(_) => SkipReason::On(Entries::decode(node, problems)?),
            _ => SkipReason::Everywhere(String::decode(node, problems)?),
        };
        let is_blank = |reason: &str| reason.trim().is_empty() || reason == "true";
        let has_none = match &reason {
            SkipReason::Everywhere(reason) => is_blank(reason),
            SkipReason::On(reasons) => reasons.is_empty() || reasons.iter().any(|(_, reason)| is_blank(reason)),
        };
        if has_none {
            problems.error_with_hint(
                node.span,
                "`skip` needs a reason",
                "write `skip: the server is being moved`, or `skip: {ios: no camera there}`",
            );
            return None;
        }
        Some(reason)
    }

    fn schema() -> Value {
        json!({"anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": {"type": "string"}}]})
    }
}
