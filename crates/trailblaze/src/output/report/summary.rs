//! `summary.json`: the result of a run, for scripts.

use std::collections::BTreeMap;

use serde::Serialize;
use trailblaze_protocol::event::{Place, TrailRef};
use trailblaze_protocol::exit::Exit;

use super::heals::{HealSummary, SuggestionSummary};
use super::model::{AttemptRecord, AttemptState, RunRecord, Standing};
use super::turns::ModelUse;
use crate::output::print;

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    pub run: String,
    pub started_at: Option<String>,
    pub version: Option<String>,
    /// Whether the run finished; if not, `exit` and `code` are null.
    pub is_finished: bool,
    pub exit: Option<Exit>,
    pub code: Option<u8>,
    pub duration_ms: u64,
    /// Processes that were started for the run and could not be stopped; anything but 0 is a bug.
    pub leaked_processes: usize,
    pub seed: Option<u64>,
    pub devices: Vec<String>,
    pub counts: Counts,
    /// What models were used for; absent if none was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_use: Option<ModelUse>,
    pub attempts: Vec<AttemptSummary>,
    /// Trails that were not started.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_run: Vec<TrailRef>,
    pub unread_lines: usize,
}

/// The number of trails by result, on all devices. An attempt that was retried is counted only as retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    pub total: usize,
    pub passed: usize,
    pub failed: usize,
    pub errored: usize,
    pub invalid: usize,
    pub skipped: usize,
    pub cancelled: usize,
    pub bug: usize,
    pub unfinished: usize,
    /// Trails that were not started, because the run was cancelled or stopped early.
    pub not_run: usize,
    /// Of those passed, the ones that took more than one attempt.
    pub flaky: usize,
    /// Of those passed, the ones whose calls were healed.
    pub healed: usize,
    pub retried: usize,
}

impl Counts {
    /// Whether trails did not end, or were not started, because someone stopped the run, and for no other reason. Only for a run
    /// that ended with [`Exit::Environment`].
    pub fn was_stopped(&self) -> bool {
        self.cancelled + self.not_run > 0 && self.errored == 0
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptSummary {
    pub attempt: String,
    pub trail: TrailRef,
    pub device: String,
    /// The device of each role, if it ran on several.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<String, String>,
    pub number: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<u32>,
    pub verdict: &'static str,
    pub is_retried: bool,
    pub is_flaky: bool,
    pub is_healed: bool,
    /// The calls that did not find their elements, and what replaced them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub heals: Vec<HealSummary>,
    pub duration_ms: u64,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_use: Option<ModelUse>,
    pub failure: Option<FailureSummary>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FailureSummary {
    /// The text of the step.
    pub step: Option<String>,
    pub tool: Option<String>,
    pub message: String,
    pub expected: Option<String>,
    pub saw: Option<String>,
    /// The place of the failed call in the trail.
    pub place: Option<Place>,
    /// What went wrong on the device by itself shortly before, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub just_before: Vec<String>,
    /// Relative to the run folder.
    pub pictures: Vec<String>,
    /// What could replace the call that did not find its element, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<SuggestionSummary>,
}

pub fn summary(run: &RunRecord) -> Summary {
    let header = run.header.as_ref();
    let unread = run.unread;
    Summary {
        run: run.id().to_string(),
        started_at: header.map(|header| header.started_at.clone()),
        version: header.map(|header| header.version.clone()),
        is_finished: run.end.is_some(),
        exit: run.end.map(|end| end.exit),
        code: run.end.map(|end| end.exit.code()),
        duration_ms: run.micros() / 1000,
        leaked_processes: run.end.map_or(0, |end| end.leaked_processes),
        seed: run.start.as_ref().map(|start| start.seed),
        devices: run.devices().into_iter().map(ToString::to_string).collect(),
        counts: count(run),
        model_use: ModelUse::of_run(run),
        attempts: run.attempts.iter().map(summarise).collect(),
        not_run: run.not_run.iter().map(|missed| missed.trail.clone()).collect(),
        unread_lines: unread.torn + unread.unknown + unread.stray,
    }
}

pub fn count(run: &RunRecord) -> Counts {
    let n_not_run = run.not_run.len();
    let mut counts = Counts { total: n_not_run, not_run: n_not_run, ..Counts::default() };
    for attempt in &run.attempts {
        if attempt.standing == Standing::Retried {
            counts.retried += 1;
            continue;
        }
        counts.total += 1;
        counts.flaky += usize::from(attempt.standing == Standing::Flaky);
        counts.healed += usize::from(attempt.standing == Standing::Healed);
        *match attempt.state() {
            AttemptState::Passed => &mut counts.passed,
            AttemptState::Failed => &mut counts.failed,
            AttemptState::Errored => &mut counts.errored,
            AttemptState::Invalid => &mut counts.invalid,
            AttemptState::Skipped => &mut counts.skipped,
            AttemptState::Cancelled => &mut counts.cancelled,
            AttemptState::Bug => &mut counts.bug,
            AttemptState::Unfinished => &mut counts.unfinished,
        } += 1;
    }
    counts
}

/// How the run ended, in a word or two.
pub fn headline(run: &RunRecord) -> &'static str {
    match run.end.map(|end| end.exit) {
        None => "did not finish",
        Some(Exit::Passed) => "passed",
        Some(Exit::Failed) => "failed",
        Some(Exit::Invalid) => "invalid",
        Some(Exit::Environment) if count(run).was_stopped() => "cancelled",
        Some(Exit::Environment) => "environment failed",
        Some(Exit::Bug) => "bug in Trailblaze",
    }
}

/// `3 of 5 trails passed, 1 failed, 1 flaky in 12.3 s on 2 devices`.
pub fn totals(run: &RunRecord) -> String {
    let counts = count(run);
    let others = [
        (counts.failed, "failed"),
        (counts.errored, "errored"),
        (counts.bug, "met a bug"),
        (counts.invalid, "invalid"),
        (counts.unfinished, "unfinished"),
        (counts.cancelled, "cancelled"),
        (counts.not_run, "not run"),
        (counts.skipped, "skipped"),
        (counts.flaky, "flaky"),
        (counts.healed, "healed"),
    ];
    let mut words = vec![format!("{} of {} passed", counts.passed, print::count(counts.total, "trail"))];
    words.extend(others.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")));
    let devices = print::count(run.devices().len(), "device");
    format!("{} in {} on {devices}", words.join(", "), print::seconds(run.micros()))
}

fn summarise(attempt: &AttemptRecord) -> AttemptSummary {
    AttemptSummary {
        attempt: attempt.id.to_string(),
        trail: attempt.trail.clone(),
        device: attempt.device.to_string(),
        roles: attempt.roles.iter().map(|role| (role.name.clone(), role.device.to_string())).collect(),
        number: attempt.number,
        repeat: attempt.repeat,
        verdict: attempt.state().name(),
        is_retried: attempt.standing == Standing::Retried,
        is_flaky: attempt.standing == Standing::Flaky,
        is_healed: attempt.standing == Standing::Healed,
        heals: attempt.heals.iter().map(|heal| heal.summary(attempt)).collect(),
        duration_ms: attempt.micros() / 1000,
        message: attempt.message().to_string(),
        model_use: ModelUse::of(&attempt.turns),
        failure: attempt.state().is_bad().then(|| summarise_failure(attempt)),
    }
}

fn summarise_failure(attempt: &AttemptRecord) -> FailureSummary {
    let failure = attempt.failure();
    FailureSummary {
        step: attempt.failing_step().map(|step| step.text.clone()),
        tool: failure.and_then(|failure| failure.tool.clone()),
        message: failure.map_or_else(|| attempt.message().to_string(), |failure| failure.message.clone()),
        expected: failure.and_then(|failure| failure.expected.clone()),
        saw: failure.and_then(|failure| failure.saw.clone()),
        place: failure.and_then(|failure| failure.place.clone()),
        just_before: failure.map(|failure| failure.just_before.clone()).unwrap_or_default(),
        pictures: attempt.failure_pictures().into_iter().map(|picture| picture.file.clone()).collect(),
        suggestions: failure
            .map(|failure| failure.suggestions.iter().map(SuggestionSummary::of).collect())
            .unwrap_or_default(),
    }
}
