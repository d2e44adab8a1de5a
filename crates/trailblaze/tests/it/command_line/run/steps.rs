//! Soft checks, steps that decide, what folders do before and after their trails, and rows.

use serde_json::{Value, json};
use trailblaze_protocol::event::Event;

use crate::support::{Project, Ran, wait_until};

const TRAIL: &str = "trails/a.trail.yaml";

fn run(project: &Project, flags: &[&str]) -> Ran {
    project.run(&[&["run", "--pictures", "off"][..], flags].concat())
}

/// The texts of the steps that were carried out, in order.
fn steps(project: &Project) -> Vec<String> {
    let text = |event| match event {
        Event::StepStarted { text, .. } => Some(text),
        _ => None,
    };
    project.last_run().events().into_iter().filter_map(text).collect()
}

#[test]
fn all_soft_checks_that_failed_are_told_everywhere() {
    let project = Project::counter().with(
        TRAIL,
        "\
trail:
  - step: Open it
    tools:
      - launchApp: {packageId: com.example.counter}
      - assertText: {id: count, is: 'Count: 7', timeoutMs: 0}
        soft: true
  - verify: It counts
    tools:
      - assertState: {id: add, enabled: false, timeoutMs: 0}
        soft: true
      - assertNumber: {id: count, equals: 0}
        soft: true
",
    );
    let ran = run(&project, &[]).exits(1);
    let one = "step 1 \"Open it\": `assertText` failed: expected heading \"Count: 0\" with the text \"Count: 7\", saw \"Count: 0\"";
    let other = "step 2 \"It counts\": `assertState` failed: expected Button \"Add one\" disabled, saw enabled";
    let (one, other) = (one.to_lowercase(), other.to_lowercase());
    let has_both = |text: &str, place: &str| {
        let text = text.to_lowercase();
        assert!(
            text.contains(&one[..40]) && text.contains(&other[..40]) && text.contains("2 checks failed"),
            "{place}: {text}"
        );
    };
    has_both(&ran.stdout, "console");
    let folder = project.last_run();
    let junit = quick_junit::Report::deserialize_from_str(&folder.text("junit.xml")).unwrap();
    assert_eq!((junit.tests, junit.failures), (1, 1));
    let junit = folder.text("junit.xml").replace("&quot;", "\"").replace("&apos;", "'");
    has_both(&junit, "junit");
    assert!(junit.contains("at: trails/a.trail.yaml:5:9") && junit.contains("at: trails/a.trail.yaml:9:9"), "{junit}");
    has_both(&folder.summary().to_string().replace("\\\"", "\""), "summary");
    let parts = folder.events().into_iter().find_map(|event| match event {
        Event::AttemptEnded { failure, .. } => failure.map(|failure| failure.parts),
        _ => None,
    });
    let lines: Vec<usize> = parts.unwrap().iter().map(|part| part.place.as_ref().unwrap().line).collect();
    assert_eq!(lines, [5, 9]);
}

#[test]
fn a_step_that_decided_is_told_in_the_report_and_recorded_only_if_its_own_calls_were_made() {
    let project = Project::counter().with(
        TRAIL,
        "\
trail:
  - step: Open it
    tools:
      - launchApp: {packageId: com.example.counter}
  - step: Count to three
    repeat: {until: {isVisible: {text: 'Count: 3'}}, times: 5}
    tools: [tap: {id: add}]
  - step: Close the banner
    when: {isVisible: {text: No such banner}}
    tools: [tap: {text: No such banner}]
  - step: Rate it
    optional: true
    tools: [tap: {text: Rate, timeoutMs: 0}]
  - step: Shake
    skip: no phone to shake
    tools: [tap: {text: Shake}]
",
    );
    let before = project.read(TRAIL);
    let ran = run(&project, &["--record", "calls"]).exits(0);
    assert!(ran.stdout.contains("1 passed"), "{}", ran.stdout);
    assert_eq!(project.read(TRAIL), before, "nothing of that is a recording");
    let junit = project.last_run().text("junit.xml");
    for told in ["Count to three: 3 rounds", "Rate it: optional"] {
        assert!(junit.contains(&format!("<property name=\"step\" value=\"{told}\"/>")), "{told} is not in {junit}");
    }
    assert!(!junit.contains("Close the banner"), "a step that was skipped made no other calls: {junit}");
    let report = project.last_run().text("report.html");
    for told in ["\"choices\":[\"3 rounds\"]", "\"isTolerated\":true,\"choices\":[\"optional\"]"] {
        assert!(report.contains(told), "{told} is not in the report");
    }
    for told in ["until` holds after 3 rounds", "when` does not hold", "the step is optional", "no phone to shake"] {
        assert!(report.contains(told), "{told} is not in the report");
    }
}

#[test]
fn folders_do_things_before_and_after_each_of_their_trails() {
    let hooks = |name: &str| {
        format!(
            "before:\n  - step: Before {name}\n    tools: [remember: {{variable: {name}, value: x}}]\n\
             after:\n  - step: After {name}\n    tools: [forget: {{variable: {name}}}]\n"
        )
    };
    let project = Project::counter()
        .with("trails/_folder.yaml", hooks("outer"))
        .with("trails/inner/_folder.yaml", hooks("inner"))
        .with(
            "trails/inner/a.trail.yaml",
            "before:\n  - step: Before own\n    tools: [assertEquals: {actual: '{{inner}}', expected: x}]\n\
             trail:\n  - step: Fail\n    tools: [assertVisible: {text: Nowhere, timeoutMs: 0}]\n\
             after:\n  - step: After own\n    tools: [assertEquals: {actual: '{{outer}}', expected: x}]\n",
        );
    let ran = run(&project, &[]).exits(1);
    assert!(ran.stdout.contains("step 1 \"Fail\": `assertVisible` failed"), "{}", ran.stdout);
    assert_eq!(
        steps(&project),
        ["Before outer", "Before inner", "Before own", "Fail", "After own", "After inner", "After outer"]
    );
    // Mistakes are told in the file of the folder, once.
    project.write("trails/b.trail.yaml", "trail:\n  - step: Nothing\n    tools: []\n");
    project
        .write("trails/_folder.yaml", "before:\n  - step: Oops\n    tools: [noSuchTool: {}]\nafter: [{step: Model}]\n");
    let checked = project.run(&["check"]);
    assert_eq!(checked.code, Some(3), "{}{}", checked.stdout, checked.stderr);
    let told = format!("{}{}", checked.stdout, checked.stderr);
    assert_eq!(told.matches("trails/_folder.yaml:3:13").count(), 1, "{told}");
    assert!(told.contains("trails/_folder.yaml:4:") && told.contains("needs `tools`"), "{told}");
}

#[test]
fn mistakes_of_conditions_and_folders_are_told_where_they_are_and_only_if_the_step_is_made() {
    let project = Project::counter()
        .with(
            "trails/_folder.yaml",
            "\
before:
  - step: Sign in
    when: {tap: {id: add}}
    tools: []
  - step: Judge
    tools: [verifyVisually: {statement: It is blue}]
",
        )
        .with(
            TRAIL,
            "\
# The places in this file are not those in the other one, and each of its lines is long enough for both of them.
trail:
  - step: Ask
    when: {isVisible: {text: Nothing}}
    else: [verifyVisually: {statement: It is green}]
    tools: []
  - step: Elsewhere
    skip: {android: not there}
    when: {tap: {id: add}}
    tools: []
",
        );
    let checked = project.run(&["check", "-d", "android/sim-1"]);
    let told = format!("{}{}", checked.stdout, checked.stderr);
    assert_eq!(checked.code, Some(3), "{told}");
    let has = |place: &str, text: &str| {
        let at = told.find(&format!("--> {place}\n")).unwrap_or_else(|| panic!("{place} is not in {told}"));
        assert!(told[..at].lines().rev().nth(1).is_some_and(|line| line.contains(text)), "{place}: {told}");
    };
    has("trails/_folder.yaml:3:12", "a condition asks or checks something, and `tap` acts");
    has("trails/_folder.yaml:6:13", "`verifyVisually` needs a model");
    has("trails/a.trail.yaml:5:12", "`verifyVisually` needs a model");
    assert!(told.contains("3 problems"), "{told}");
}

#[test]
fn what_is_after_a_trail_is_done_when_the_run_is_interrupted() {
    let project = Project::counter()
        .with("trails/_folder.yaml", "after:\n  - step: Clean up\n    tools: [tap: {id: add}]\n")
        .with(
            TRAIL,
            "trail:\n  - step: Wait\n    tools:\n      - launchApp: {packageId: com.example.counter}\n      \
             - wait: {timeToWaitInSeconds: 100}\n",
        );
    let running = project.start(&["run", "--pictures", "off"]);
    wait_until("the trail waits", || (project.runs().last()?.mentions("\"tool\":\"wait\"") > 0).then_some(()));
    running.interrupt();
    let ran = project.ended(running);
    assert_eq!(ran.code, Some(2), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(steps(&project), ["Wait", "Clean up"]);
    let tapped = project.last_run().calls().into_iter().filter(|call| call.tool == "tap").count();
    assert_eq!(tapped, 1);
}

const ROWS: &str = "\
config: {id: count, title: Count}
forEach: ROWS
trail:
  - step: Count to {{row.name}}
    tools:
      - launchApp: {packageId: com.example.counter}
      - tap: {id: add}
      - assertText: {id: count, is: 'Count: {{row.expected}}', timeoutMs: 0}
";

/// The ids of the attempts, and whether they passed.
fn attempts(project: &Project) -> Vec<(String, bool)> {
    let summary = project.last_run().summary();
    let attempts = summary["attempts"].as_array().unwrap();
    let told =
        |attempt: &Value| (attempt["trail"]["id"].as_str().unwrap().to_string(), attempt["verdict"] == json!("passed"));
    let mut all: Vec<_> = attempts.iter().map(told).collect();
    all.sort();
    all
}

#[test]
fn each_row_is_a_case_of_its_own() {
    let table = "[{name: one, expected: '1'}, {name: two, expected: 02}, {name: three, expected: '1'}]";
    let project = Project::counter().with(TRAIL, ROWS.replace("ROWS", table));
    let case = |number: usize, passed: bool| (format!("count[{number}]"), passed);
    let ran = run(&project, &["-d", "android/sim-1"]).exits(1);
    assert!(ran.stdout.contains("2 passed, 1 failed"), "{}", ran.stdout);
    assert!(ran.stdout.contains("Count [two, 02]"), "{}", ran.stdout);
    assert_eq!(attempts(&project), [case(1, true), case(2, false), case(3, true)]);
    let junit = project.last_run().text("junit.xml");
    assert!(junit.contains("tests=\"3\"") && junit.contains("Count [one, 1]"), "{junit}");
    run(&project, &["-d", "android/sim-1", "--last-failed"]).exits(1);
    assert_eq!(attempts(&project), [case(2, false)]);
    let mut sharded = Vec::new();
    for shard in ["1/2", "2/2"] {
        run(&project, &["-d", "android/sim-1", "--shard", shard]);
        sharded.push(attempts(&project));
    }
    assert!(sharded.iter().all(|shard| !shard.is_empty()), "{sharded:?}");
    let mut sharded = sharded.concat();
    sharded.sort();
    assert_eq!(sharded, [case(1, true), case(2, false), case(3, true)]);
}

#[test]
fn rows_are_read_from_a_csv_file_and_their_mistakes_are_told_there() {
    let project = Project::counter()
        .with(TRAIL, ROWS.replace("ROWS", "counts.csv"))
        .with("trails/counts.csv", "name,expected\r\n\"one, really\",1\r\nuno,1\r\n");
    run(&project, &["-d", "android/sim-1"]).exits(0);
    assert_eq!(attempts(&project).len(), 2);
    assert!(project.last_run().text("junit.xml").contains("Count [one, really, 1]"));
    let told = |project: &Project| {
        let checked = project.run(&["check"]);
        assert_eq!(checked.code, Some(3), "{}{}", checked.stdout, checked.stderr);
        format!("{}{}", checked.stdout, checked.stderr)
    };
    project.write("trails/counts.csv", "name,expected\none\n");
    let has = |text: &str, parts: [&str; 2]| assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    has(
        &told(&project),
        ["--> trails/counts.csv:2:1", "the number of values in the row is 1, and that of columns is 2"],
    );
    project.write("trails/counts.csv", "name,wanted\none,1\n");
    has(&told(&project), ["--> trails/a.trail.yaml:8:37", "`{{row.expected}}` refers to a column"]);
    project.write(TRAIL, ROWS.replace("ROWS", "nowhere.csv"));
    has(&told(&project), ["--> trails/a.trail.yaml:2:10", "there is no file `nowhere.csv` in the folder of the trail"]);
    project.write(TRAIL, ROWS.replace("ROWS", "../../outside.csv"));
    assert!(told(&project).contains("there is no file `../../outside.csv`"));
}
