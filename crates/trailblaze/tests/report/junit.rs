use trailblaze::report::Run;
use trailblaze::report::junit::junit;

use crate::fixture::write_run;

fn fixture() -> String {
    let folder = tempfile::tempdir().unwrap();
    write_run(folder.path());
    junit(&Run::read(folder.path()).unwrap()).unwrap()
}

#[test]
fn each_device_is_a_suite_and_each_attempt_a_case() {
    let report = quick_junit::Report::deserialize_from_str(&fixture()).unwrap();
    let suites: Vec<_> = report
        .test_suites
        .iter()
        .map(|suite| (suite.name.as_str(), suite.tests, suite.failures, suite.errors, suite.skipped))
        .collect();
    assert_eq!(suites, [("android/pixel-8", 4, 2, 1, 0), ("ios/iphone-17", 4, 1, 1, 1)]);
}

#[test]
fn a_failure_says_step_expected_saw_and_picture() {
    let xml = fixture();
    let text = "no element with text `Your cart is empty` within 5 s\nstep: The cart is empty\ntool: assertVisible\nexpected: text `Your cart is empty`\nsaw: `1 item`, `Fern`, `Check out`\npicture: pictures/failure.png</failure>";
    assert!(xml.contains(text), "{xml}");
}

#[test]
fn characters_that_xml_cannot_hold_are_left_out() {
    let is_legal = |c: char| matches!(c, '\n' | ' '..='\u{7e}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..);
    assert_eq!(fixture().chars().filter(|c| !is_legal(*c)).collect::<Vec<_>>(), []);
}
