//! Runs of many trails, which stay readable.

use serde_json::{Map, Value, json};

use crate::support::Project;

const TRAIL: &str = "trails/a.trail.yaml";
const ROWS: usize = 65;

/// One case for each row, of which one fails.
fn project() -> Project {
    let rows: String = (1..=ROWS).map(|n| format!("  - {{n: '{n}'}}\n")).collect();
    let trail = format!(
        "config: {{title: Row}}\nforEach:\n{rows}trail:\n  - step: Compare\n    tools: [assertNotEquals: {{actual: \
         '{{{{row.n}}}}', expected: '7'}}]\n"
    );
    Project::counter().with(TRAIL, trail)
}

#[test]
fn a_large_run_lists_what_failed_and_counts_what_passed() {
    let project = project();
    let run = |flags: &[&str]| project.run(&[&["run", "--pictures", "off", "-d", "android/sim-1"][..], flags].concat());
    let lines = |text: &str, mark: &str| text.lines().filter(|line| line.starts_with(mark)).count();
    let ran = run(&[]).exits(1);
    assert_eq!((lines(&ran.stderr, "✓"), lines(&ran.stderr, "✗")), (0, 1), "{}", ran.stderr);
    let counts: Vec<&str> = ran.stderr.lines().filter(|line| line.contains(" of 65")).collect();
    assert_eq!((counts.len(), counts.last()), (20, Some(&"65 of 65, 1 failed")), "{}", ran.stderr);
    assert!(!ran.stderr.contains("about"), "there is no history: {}", ran.stderr);
    assert!(ran.stdout.contains("64 passed, 1 failed"), "{}", ran.stdout);
    let ran = run(&["--verbose"]).exits(1);
    assert_eq!((lines(&ran.stderr, "✓"), lines(&ran.stderr, "✗")), (64, 1), "{}", ran.stderr);
    assert!(!ran.stderr.contains(" of 65"), "{}", ran.stderr);
}

#[test]
fn a_run_estimates_how_long_it_takes_from_earlier_runs() {
    let project = project();
    let durations = (1..=ROWS).map(|n| (format!("{TRAIL}[{n}] android"), json!(60_000)));
    let durations = Value::Object(durations.collect::<Map<_, _>>());
    let project = project.with(".trailblaze/history.json", json!({"durations": durations}).to_string());
    let ran = project.run(&["run", "--pictures", "off", "-d", "android/sim-1"]).exits(1);
    assert!(ran.stderr.contains("4 of 65, about 61 min left"), "{}", ran.stderr);
}
