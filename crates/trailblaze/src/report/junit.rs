//! `junit.xml`: a suite for each device, a case for each attempt.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

use super::clip::clip;
use super::model::{Attempt, Run, Standing, State};

/// Characters of one value; CI systems choke on more.
const LONGEST: usize = 16 * 1024;

pub fn junit(run: &Run) -> Result<String, SerializeError> {
    let mut report = Report::new(format!("trailblaze {}", legal(run.id())));
    report.timestamp = run.header.as_ref().and_then(|header| header.started_at.parse().ok());
    report.set_time(Duration::from_micros(run.micros()));
    for device in run.devices() {
        let mut suite = TestSuite::new(legal(device.as_str()));
        let mut micros: u64 = 0;
        for attempt in run.attempts.iter().filter(|attempt| attempt.device == *device) {
            micros = micros.saturating_add(attempt.micros());
            suite.add_test_case(case(attempt));
        }
        suite.timestamp = report.timestamp;
        suite.set_time(Duration::from_micros(micros));
        report.add_test_suite(suite);
    }
    report.to_string()
}

fn case(attempt: &Attempt) -> TestCase {
    let mut case = TestCase::new(legal(attempt.name()), status(attempt));
    case.set_classname(legal(attempt.device.as_str()));
    case.set_time(Duration::from_micros(attempt.micros()));
    case.extra.insert("file".into(), legal(&attempt.trail.path).into());
    case.add_property(Property::new("attempt", attempt.number.to_string()));
    match attempt.standing {
        Standing::Counts => {}
        Standing::Retried => drop(case.add_property(Property::new("retried", "true"))),
        Standing::Flaky => drop(case.add_property(Property::new("flaky", "true"))),
    }
    for tag in &attempt.trail.tags {
        case.add_property(Property::new("tag", legal(tag)));
    }
    case
}

fn status(attempt: &Attempt) -> TestCaseStatus {
    let state = attempt.state();
    let mut status = match state {
        State::Passed => return TestCaseStatus::success(),
        State::Skipped => TestCaseStatus::skipped(),
        State::Failed => TestCaseStatus::non_success(NonSuccessKind::Failure),
        State::Errored | State::Misused | State::Cancelled | State::Bug | State::Unfinished => {
            TestCaseStatus::non_success(NonSuccessKind::Error)
        }
    };
    if state.is_bad() {
        status.set_type(state.name());
        status.set_description(legal(&describe(attempt)));
    }
    status.set_message(legal(message(attempt)));
    status
}

fn message(attempt: &Attempt) -> &str {
    let message = attempt.failure().map_or(attempt.message(), |failure| &failure.message);
    if message.is_empty() && attempt.end.is_none() { "the run ended before this attempt did" } else { message }
}

fn describe(attempt: &Attempt) -> String {
    let failure = attempt.failure();
    let step = attempt.failing_step().map(|step| step.text.as_str());
    let mut lines = vec![message(attempt).to_string()];
    let facts = [
        ("step", step),
        ("tool", failure.and_then(|failure| failure.tool.as_deref())),
        ("expected", failure.and_then(|failure| failure.expected.as_deref())),
        ("saw", failure.and_then(|failure| failure.saw.as_deref())),
    ];
    lines.extend(facts.into_iter().filter_map(|(name, fact)| Some(format!("{name}: {}", fact?))));
    lines.extend(attempt.failure_pictures().into_iter().map(|picture| format!("picture: {}", picture.file)));
    lines.join("\n")
}

/// Leaves out what XML 1.0 cannot hold, and cuts what is too long. `quick-junit` also drops tabs, so they
/// become spaces.
fn legal(text: &str) -> String {
    let kept = clip(text, LONGEST).replace('\t', " ");
    kept.chars().filter(|c| *c == '\n' || !(c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}'))).collect()
}
