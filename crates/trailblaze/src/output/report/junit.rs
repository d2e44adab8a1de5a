//! `junit.xml`: a suite for each device, a case for each trail on it. Retried attempts are reruns in the case of the last
//! one. A run that did not pass has at least one failing case.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, Report, SerializeError, TestCase, TestCaseStatus, TestRerun, TestSuite};

use trailblaze_protocol::event::Level;
use trailblaze_protocol::exit::Exit;

use super::clip::clip;
use super::heals;
use super::model::{AttemptRecord, AttemptState, CallRecord, JudgedCall, RunRecord, Standing};
use super::summary::headline;

/// Characters of one value; CI systems choke on more.
const LONGEST: usize = 16 * 1024;

pub fn junit(run: &RunRecord) -> Result<String, SerializeError> {
    let mut report = Report::new(format!("trailblaze {}", legal(run.id())));
    report.timestamp = run.header.as_ref().and_then(|header| header.started_at.parse().ok());
    report.set_time(Duration::from_micros(run.micros()));
    let tries = run.tries();
    for device in run.devices() {
        let mut suite = TestSuite::new(named(device.as_str()));
        let mut micros: u64 = 0;
        for tries in &tries {
            let Some((last, earlier)) = tries.split_last().filter(|(last, _)| last.device == *device) else { continue };
            micros = tries.iter().fold(micros, |sum, attempt| sum.saturating_add(attempt.micros()));
            suite.add_test_case(case(last, earlier));
        }
        // A device whose trails were all moved to others has no suite.
        if suite.tests == 0 {
            continue;
        }
        suite.timestamp = report.timestamp;
        suite.set_time(Duration::from_micros(micros));
        report.add_test_suite(suite);
    }
    if !run.not_run.is_empty() {
        report.add_test_suite(not_run(run));
    }
    let is_bad = run.end.is_none_or(|end| end.exit != Exit::Passed);
    if is_bad && !tries.iter().filter_map(|tries| tries.last()).any(|last| last.state().is_bad()) {
        report.add_test_suite(whole(run));
    }
    report.to_string()
}

/// The trails that were not started.
fn not_run(run: &RunRecord) -> TestSuite {
    let mut suite = TestSuite::new("not run");
    for missed in &run.not_run {
        let mut status = TestCaseStatus::skipped();
        status.set_message("not run: the run was cancelled or stopped early");
        let name = named(if missed.trail.title.is_empty() { &missed.trail.id } else { &missed.trail.title });
        let name = missed.repeat.map_or_else(|| name.clone(), |repeat| format!("{name} (repeat {repeat})"));
        let mut case = TestCase::new(name, status);
        case.set_classname(missed.platform.name());
        if !missed.trail.path.is_empty() {
            case.extra.insert("file".into(), legal(&missed.trail.path).into());
        }
        suite.add_test_case(case);
    }
    suite
}

/// Why a run failed although none of its trails did.
fn whole(run: &RunRecord) -> TestSuite {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    let errors = run.notes.iter().filter(|note| note.level == Level::Error).map(|note| note.text.as_str());
    let errors: Vec<&str> = errors.collect();
    status.set_type(headline(run));
    status.set_message(legal(errors.first().copied().unwrap_or(headline(run))));
    status.set_description(legal(&errors.join("\n")));
    let mut case = TestCase::new("run", status);
    case.set_classname("trailblaze");
    let mut suite = TestSuite::new("trailblaze");
    suite.add_test_case(case);
    suite
}

fn case(last: &AttemptRecord, earlier: &[&AttemptRecord]) -> TestCase {
    let mut status = status(last);
    status.add_reruns(earlier.iter().map(|attempt| rerun(attempt)));
    // Viewers treat cases with the same name as one case.
    let name =
        last.repeat.map_or_else(|| named(last.name()), |repeat| format!("{} (repeat {repeat})", named(last.name())));
    let mut case = TestCase::new(name, status);
    case.set_classname(named(last.device.as_str()));
    case.set_time(Duration::from_micros(last.micros()));
    if !last.trail.path.is_empty() {
        case.extra.insert("file".into(), legal(&last.trail.path).into());
    }
    case.add_property(Property::new("attempts", (earlier.len() + 1).to_string()));
    for judgement in last.calls.iter().filter_map(CallRecord::judgement) {
        let JudgedCall { judged_by, statement, reason, holds } = judgement;
        let verdict = if holds { "holds" } else { "does not hold" };
        let value = format!("{statement}: {verdict}, says {judged_by}: {reason}");
        case.add_property(Property::new("judged by a model", legal(&value)));
    }
    for step in &last.steps {
        let choices = step.choices();
        if !choices.is_empty() {
            let value = format!("{}: {}", step.text_with_role(), choices.join(", "));
            case.add_property(Property::new("step", legal(&value)));
        }
    }
    if last.standing == Standing::Healed {
        case.add_property(Property::new("healed", "true"));
        let heals = earlier.iter().flat_map(|attempt| attempt.heals.iter().map(|heal| heal.describe(attempt)));
        let heals: Vec<String> = heals.collect();
        case.set_system_out(legal(&heals.join("\n")));
    }
    for tag in last.trail.tags.iter().filter(|tag| !tag.is_empty()) {
        case.add_property(Property::new("tag", legal(tag)));
    }
    case
}

fn status(attempt: &AttemptRecord) -> TestCaseStatus {
    let mut status = match attempt.state() {
        AttemptState::Passed => return TestCaseStatus::success(),
        AttemptState::Skipped => TestCaseStatus::skipped(),
        state => TestCaseStatus::non_success(kind(state)),
    };
    if attempt.state().is_bad() {
        status.set_type(attempt.state().name());
        status.set_description(legal(&describe(attempt)));
    }
    if !message(attempt).is_empty() {
        status.set_message(legal(message(attempt)));
    }
    status
}

fn rerun(attempt: &AttemptRecord) -> TestRerun {
    let mut rerun = TestRerun::new(kind(attempt.state()));
    rerun.set_type(attempt.state().name());
    rerun.set_time(Duration::from_micros(attempt.micros()));
    rerun.set_description(legal(&describe(attempt)));
    if !message(attempt).is_empty() {
        rerun.set_message(legal(message(attempt)));
    }
    rerun
}

fn kind(state: AttemptState) -> NonSuccessKind {
    match state {
        AttemptState::Failed => NonSuccessKind::Failure,
        _ => NonSuccessKind::Error,
    }
}

fn message(attempt: &AttemptRecord) -> &str {
    let message = attempt.failure().map_or(attempt.message(), |failure| &failure.message);
    if message.is_empty() && attempt.end.is_none() { "the run ended before this attempt did" } else { message }
}

fn describe(attempt: &AttemptRecord) -> String {
    let failure = attempt.failure();
    let step = attempt.failing_step().map(|step| step.text.as_str());
    let place = failure.and_then(|failure| failure.place.as_ref()).map(ToString::to_string);
    let parts = failure.map(|failure| failure.parts.as_slice()).unwrap_or_default();
    let mut lines = vec![message(attempt).to_string()];
    let facts = [
        ("step", step),
        ("tool", failure.and_then(|failure| failure.tool.as_deref())),
        ("expected", failure.and_then(|failure| failure.expected.as_deref())),
        ("saw", failure.and_then(|failure| failure.saw.as_deref())),
        ("at", place.as_deref().filter(|_| parts.is_empty())),
    ];
    lines.extend(facts.into_iter().filter_map(|(name, fact)| Some(format!("{name}: {}", fact?))));
    lines.extend(parts.iter().filter_map(|part| Some(format!("at: {}", part.place.as_ref()?))));
    let just_before = failure.map(|failure| failure.just_before.as_slice()).unwrap_or_default();
    lines.extend(just_before.iter().map(|sign| format!("just before: {sign}")));
    let suggestions = failure.map(|failure| failure.suggestions.as_slice()).unwrap_or_default();
    lines.extend(suggestions.iter().map(|suggestion| format!("suggestion: {}", heals::line(suggestion))));
    lines.extend(attempt.failure_pictures().into_iter().map(|picture| format!("picture: {}", picture.file)));
    lines.join("\n")
}

/// A name that is never empty: viewers sort by it.
fn named(text: &str) -> String {
    let text = legal(text);
    if text.trim().is_empty() { "-".to_string() } else { text }
}

/// Leaves out what XML 1.0 cannot hold, and cuts what is too long. `quick-junit` also drops tabs, so they
/// become spaces.
fn legal(text: &str) -> String {
    let kept = clip(text, LONGEST).replace('\t', " ");
    kept.chars().filter(|c| *c == '\n' || !(c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}'))).collect()
}
