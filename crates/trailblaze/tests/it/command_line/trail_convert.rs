//! `trailblaze trail convert`: older files become unified ones that run as they did.

use crate::support::Project;

const OLDER: &str = "\
# Counts.
- config:
    id: count
    platform: android # a phone
- trailhead:
    tools:
      - launchApp: {packageId: com.example.counter}
- prompts:
    - step: Add one # at once
      recording:
        tools:
          - tap: {id: add}
    - verify: It is one
      recording:
        tools:
          - assertVisible: {text: 'Count: 1'}
";

const UNIFIED: &str = "\
# Counts.
config:
  id: count
# a phone
trailhead:
  step: launchApp
  tools:
    - launchApp: {packageId: com.example.counter}
trail:
  - step: Add one # at once
    recording:
      android:
        - tap: {id: add}
  - verify: It is one
    recording:
      android:
        - assertVisible: {text: 'Count: 1'}
";

#[test]
fn an_older_trail_runs_and_runs_the_same_when_converted() {
    let project = Project::counter().with("trails/count.trail.yaml", OLDER);
    let run = ["run", "trails", "-d", "android/sim-1"];
    let ran = project.run(&run);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);

    let shown = project.run(&["trail", "convert", "trails/count.trail.yaml"]);
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(0), UNIFIED), "{}", shown.stderr);
    assert_eq!(project.read("trails/count.trail.yaml"), OLDER);

    let written = project.run(&["trail", "convert", "trails/count.trail.yaml", "--write", "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&written.stdout).expect("the answer is JSON");
    assert_eq!(answer, serde_json::json!({"file": "trails/count.trail.yaml", "written": true, "text": UNIFIED}),);
    assert_eq!(project.read("trails/count.trail.yaml"), UNIFIED);
    let ran = project.run(&run);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);

    let again = project.run(&["trail", "convert", "trails/count.trail.yaml", "--write"]);
    assert_eq!(again.code, Some(3));
    assert!(again.stderr.contains("trails/count.trail.yaml is already in the unified form"), "{}", again.stderr);
}

#[test]
fn a_broken_file_is_shown_with_all_its_problems_and_left_alone() {
    let broken = "- prompts:\n    - step: a\n      recording: {}\n- steps: []\n";
    let project = Project::counter().with("a.trail.yaml", broken);
    let ran = project.run(&["trail", "convert", "a.trail.yaml", "--write"]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.contains("`tools` is missing") && ran.stderr.contains("unknown item `steps`"), "{}", ran.stderr);
    assert_eq!(project.read("a.trail.yaml"), broken);
    assert_eq!(project.run(&["trail", "convert", "nothing.yaml"]).code, Some(2));
}
