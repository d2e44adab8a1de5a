//! Healing in reports: the calls that did not find their elements, and what replaced them.

use serde::Serialize;
use serde_json::Value;
use trailblaze_core::trail::Repair;
use trailblaze_core::yaml::inline;
use trailblaze_protocol::heal::{HealSought, HealSuggestion, HealTried};

use super::clip::clip;
use super::model::{AttemptRecord, StepRecord};

/// A call that did not find its element.
#[derive(Debug, Clone, PartialEq)]
pub struct Heal {
    /// The place of its step in the attempt.
    pub step: usize,
    pub sought: HealSought,
    /// The call that was made instead; `None` if none was.
    pub tried: Option<HealTried>,
}

/// How healing a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum HealResult {
    /// Another call was made, and the step ended as it was recorded.
    Healed,
    /// Another call was made, but the step did not end as it was recorded.
    Withdrawn,
    /// There are only suggestions.
    Suggested,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HealSummary {
    pub step: String,
    pub result: HealResult,
    /// The call as written in the trail.
    pub from: Value,
    /// Best first. If the call was healed or withdrawn, the first was used.
    pub suggestions: Vec<SuggestionSummary>,
    /// Why the first was not used, or not kept.
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SuggestionSummary {
    pub call: Value,
    pub element: String,
    pub reason: String,
    /// Absent if a model chose it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<u8>,
    pub is_by_model: bool,
}

impl SuggestionSummary {
    pub fn of(suggestion: &HealSuggestion) -> SuggestionSummary {
        SuggestionSummary {
            call: suggestion.call.clone(),
            element: suggestion.element.clone(),
            reason: suggestion.reason.clone(),
            score: suggestion.score,
            is_by_model: suggestion.is_by_model,
        }
    }
}

impl Heal {
    pub fn result(&self) -> HealResult {
        match &self.tried {
            Some(tried) if tried.is_kept => HealResult::Healed,
            Some(_) => HealResult::Withdrawn,
            None => HealResult::Suggested,
        }
    }

    /// Why the first suggestion was not used, or not kept.
    pub fn message(&self) -> &str {
        self.tried.as_ref().map_or(&self.sought.message, |tried| &tried.message)
    }

    pub fn summary(&self, attempt: &AttemptRecord) -> HealSummary {
        HealSummary {
            step: attempt.steps[self.step].text.clone(),
            result: self.result(),
            from: self.sought.written.clone(),
            suggestions: self.sought.suggestions.iter().map(SuggestionSummary::of).collect(),
            message: self.message().to_string(),
        }
    }

    /// What happened, on one line.
    pub fn describe(&self, attempt: &AttemptRecord) -> String {
        let step = attempt.steps[self.step].text.trim();
        let from = written(&self.sought.written);
        let best = self.sought.suggestions.first().map(line).unwrap_or_default();
        match self.result() {
            HealResult::Healed => format!("healed in step \"{step}\": {from} became {best}"),
            HealResult::Withdrawn => {
                format!("not healed in step \"{step}\": {from} was tried as {best}, but {}", self.message())
            }
            HealResult::Suggested => format!("not healed in step \"{step}\": {from}: {}", self.message()),
        }
    }
}

/// A call that did not find its element, as the page shows it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HealView {
    result: HealResult,
    /// The call as written in the trail.
    from: String,
    /// Best first. If the call was healed or withdrawn, the first was used.
    suggestions: Vec<SuggestionView>,
    /// Why the first was not used, or not kept.
    message: String,
}

/// A call that could replace one that did not find its element.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SuggestionView {
    call: String,
    element: String,
    reason: String,
    /// Of 100; `null` if a model chose it.
    score: Option<u8>,
    is_by_model: bool,
}

/// The heals of a step, each value cut to `longest` bytes.
pub fn of_step(attempt: &AttemptRecord, step: &StepRecord, longest: usize) -> Vec<HealView> {
    let short = |text: &str| clip(text, longest).into_owned();
    let suggestion = |suggestion: &HealSuggestion| SuggestionView {
        call: short(&bare(&suggestion.call)),
        element: short(&suggestion.element),
        reason: short(&suggestion.reason),
        score: suggestion.score,
        is_by_model: suggestion.is_by_model,
    };
    let of_step = attempt.heals.iter().filter(|heal| attempt.steps[heal.step].id == step.id);
    of_step
        .map(|heal| HealView {
            result: heal.result(),
            from: short(&bare(&heal.sought.written)),
            suggestions: heal.sought.suggestions.iter().map(suggestion).collect(),
            message: short(heal.message()),
        })
        .collect()
}

/// A suggestion on one line.
pub fn line(suggestion: &HealSuggestion) -> String {
    let HealSuggestion { call, element, reason, score, .. } = suggestion;
    let score = score.map(|score| format!("; {score} of 100")).unwrap_or_default();
    format!("{} on {element} ({reason}{score})", written(call))
}

/// A repair on one line.
pub fn repaired(repair: &Repair) -> String {
    let Repair { text, from, to, element, .. } = repair;
    format!("step \"{}\": {} became {} on {element}", text.trim(), written(from), written(to))
}

/// A call as it is written in a trail.
fn written(call: &Value) -> String {
    format!("`{}`", bare(call))
}

fn bare(call: &Value) -> String {
    match call.as_object().and_then(|call| call.iter().next()) {
        Some((tool, args)) => format!("{tool}: {}", inline(args)),
        None => inline(call),
    }
}
