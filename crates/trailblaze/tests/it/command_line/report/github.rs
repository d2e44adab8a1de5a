use crate::support::Project;

const TRAIL: &str = "\
config: {title: 'Count, and 100%'}
trail:
  - step: Start
    tools:
      - launchApp: {packageId: com.example.counter}
  - verify: It is nowhere
    tools:
      - assertVisible: {text: Nowhere, timeoutMs: 10}
";

#[test]
fn a_run_in_github_actions_leaves_a_summary_and_annotates_the_call_that_failed() {
    let project = Project::counter().with("trails/count.trail.yaml", TRAIL).with("summary.md", "before\n");
    let mut command = project.command(&["run", "-d", "android/sim-1", "--seed", "1"]);
    command.env("GITHUB_ACTIONS", "true").env("GITHUB_WORKSPACE", project.root().canonicalize().unwrap());
    command.env("GITHUB_STEP_SUMMARY", project.root().join("summary.md"));
    let ran = project.finish(command).exits(1);
    let annotation = ran.stderr.lines().find(|line| line.starts_with("::error")).unwrap_or_default();
    let expected =
        "::error file=trails/count.trail.yaml,line=8,title=Count%2C and 100%25 on android/sim-1::It is nowhere%0A";
    assert!(annotation.starts_with(expected), "{}", ran.stderr);
    assert!(!ran.stdout.contains("::error"), "{}", ran.stdout);
    let summary = project.read("summary.md");
    assert!(summary.starts_with("before\n## Trailblaze: failed\n\n0 of 1 trail passed, 1 failed in "), "{summary}");
    assert!(summary.contains("| failed | Count, and 100% | android/sim-1 | 2. It is nowhere |"), "{summary}");

    let ran = project.run(&["report", "--markdown"]).exits(0);
    assert_eq!(format!("before\n{}\n", ran.stdout.trim_end()), format!("{}\n", summary.trim_end()));
}

#[test]
fn elsewhere_nothing_is_said_to_github() {
    let project = Project::counter().with("trails/count.trail.yaml", TRAIL);
    let ran = project.run(&["run"]).exits(1);
    assert!(!ran.stderr.contains("::error"), "{}", ran.stderr);
}
