use quick_junit::{NonSuccessKind, TestCaseStatus};
use trailblaze::output::report::RunRecord;
use trailblaze::output::report::junit::junit;
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::event::{Level, Verdict};
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::geometry::Size;

use crate::support::run_fixture::{Recorder, write_run};

fn fixture() -> String {
    let folder = tempfile::tempdir().unwrap();
    write_run(folder.path());
    junit(&RunRecord::read(folder.path()).unwrap()).unwrap()
}

#[test]
fn each_device_is_a_suite_and_each_trail_a_case() {
    let report = quick_junit::Report::deserialize_from_str(&fixture()).unwrap();
    let suites: Vec<_> = report
        .test_suites
        .iter()
        .map(|suite| (suite.name.as_str(), suite.tests, suite.failures, suite.errors, suite.skipped))
        .collect();
    assert_eq!(suites, [("android/pixel-8", 4, 2, 1, 0), ("ios/iphone-17", 3, 0, 1, 1)]);
}

#[test]
fn a_failure_says_step_expected_saw_place_and_picture() {
    let xml = fixture();
    let text = "no element with text `Your cart is empty` within 5 s\nstep: The cart is empty\ntool: assertVisible\nexpected: text `Your cart is empty`\nsaw: `1 item`, `Fern`, `Check out`\nat: trails/cart.trail.yaml:12:9\npicture: pictures/failure.png</failure>";
    assert!(xml.contains(text), "{xml}");
}

#[test]
fn characters_that_xml_cannot_hold_are_left_out() {
    let is_legal = |c: char| matches!(c, '\n' | ' '..='\u{7e}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..);
    assert_eq!(fixture().chars().filter(|c| !is_legal(*c)).collect::<Vec<_>>(), Vec::<char>::new());
}

#[test]
fn a_flaky_trail_is_one_case_that_passed_and_says_what_failed_before() {
    let xml = fixture();
    let start = xml.find("<testcase name=\"Search for a plant\"").unwrap();
    let case = &xml[start..start + xml[start..].find("</testcase>").unwrap()];
    let rerun = r#"<flakyFailure time="2.305" message="the keyboard did not come up" type="failed">"#;
    assert!(case.contains(rerun) && !case.contains("<failure"), "{case}");
    assert!(case.contains(r#"<property name="attempts" value="2"/>"#), "{case}");
    assert_eq!(xml.matches("Search for a plant").count(), 1);
}

#[test]
fn a_trail_that_moved_to_another_device_is_a_case_of_the_last() {
    let mut run = Recorder::new();
    run.start(1);
    for (number, device) in [(1, "ios/lost"), (2, "ios/spare")] {
        let session = run.session(device, Platform::Ios, Size { width: 1080, height: 2340 });
        let attempt = run.attempt(&session, "Pay", number, &[]);
        let (verdict, message) =
            [(Verdict::Errored, "the device was lost"), (Verdict::Failed, "no such card")][number as usize - 1];
        run.end_attempt(&attempt, verdict, message, None);
    }
    let report = junit(&RunRecord::from_bytes(run.text().as_bytes())).unwrap();
    let report = quick_junit::Report::deserialize_from_str(&report).unwrap();
    let suites: Vec<_> =
        report.test_suites.iter().map(|suite| (suite.name.as_str(), suite.tests, suite.failures)).collect();
    assert_eq!(suites, [("ios/spare", 1, 1)]);
    let TestCaseStatus::NonSuccess { reruns, .. } = &report.test_suites[0].test_cases[0].status else { panic!() };
    assert_eq!(reruns.runs[0].kind, NonSuccessKind::Error);
    assert_eq!(reruns.runs[0].message.as_ref().unwrap().as_str(), "the device was lost");
}

#[test]
fn no_attribute_is_empty() {
    let mut run = Recorder::new();
    run.start(2);
    let session = run.session("", Platform::Ios, Size { width: 1080, height: 2340 });
    for verdict in [Verdict::Failed, Verdict::Skipped, Verdict::Passed] {
        let attempt = run.attempt(&session, "", 1, &[""]);
        run.end_attempt(&attempt, verdict, "", None);
    }
    for xml in [fixture(), junit(&RunRecord::from_bytes(run.text().as_bytes())).unwrap()] {
        assert!(!xml.contains("=\"\""), "{xml}");
    }
}

/// CI systems look for failures, and find none in a file without cases.
#[test]
fn a_run_that_did_not_pass_has_a_case_that_says_so() {
    let cases = |run: &Recorder| {
        let report = junit(&RunRecord::from_bytes(run.text().as_bytes())).unwrap();
        let report = quick_junit::Report::deserialize_from_str(&report).unwrap();
        let message = |status: &TestCaseStatus| match status {
            TestCaseStatus::NonSuccess { message, .. } => message.as_ref().unwrap().to_string(),
            _ => "passed".to_string(),
        };
        let cases = report.test_suites.iter().flat_map(|suite| &suite.test_cases);
        cases.map(|case| format!("{}: {}", case.name.as_str(), message(&case.status))).collect::<Vec<_>>()
    };
    let mut run = Recorder::new();
    run.start(1);
    assert_eq!(cases(&run), ["run: did not finish"]);
    let session = run.session("ios/one", Platform::Ios, Size { width: 1080, height: 2340 });
    let attempt = run.attempt(&session, "Pay", 1, &[]);
    run.end_attempt(&attempt, Verdict::Passed, "", None);
    assert_eq!(cases(&run), ["Pay: passed", "run: did not finish"]);
    run.end(Exit::Passed);
    assert_eq!(cases(&run), ["Pay: passed"]);

    let mut refused = Recorder::new();
    refused.start(1);
    refused.note(None, Level::Error, "a.trail.yaml:1:1: no such key");
    refused.end(Exit::Invalid);
    assert_eq!(cases(&refused), ["run: a.trail.yaml:1:1: no such key"]);
}
