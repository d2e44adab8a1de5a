//! Steps that several trails share.

use serde_json::Value;
use trailblaze_protocol::event::{Event, HeadingKind};

use crate::support::{Project, RunFolder, Running, wait_until};

const TRAIL: &str = "trails/a.trail.yaml";
const STRETCH: &str = "trails/stretches/count.yaml";

/// Opens the counter and counts. It needs a name, and has an amount.
const COUNT: &str = "\
title: Count for somebody
parameters:
  who: string
  amount: {type: integer, default: 1}
  taps: {type: array, required: false}
steps:
  - step: Open the counter for {{who}}
    tools:
      - launchApp: {packageId: com.example.counter}
      - tap: {id: name}
      - inputText: {text: '{{who}}'}
  - step: Count
    repeat: {until: {isVisible: {text: 'Count: {{amount}}'}}, times: 5}
    tools: [tap: {id: add}]
";

fn project(items: &str) -> Project {
    Project::counter().with(STRETCH, COUNT).with(TRAIL, format!("trail:\n{items}"))
}

/// A use of the stretch, and a check of what it did.
const USED: &str = "  - use: stretches/count.yaml
    with: {who: Ada, amount: 2}
  - verify: It counted for her
    tools:
      - assertVisible: {text: 'Hello, Ada'}
      - assertVisible: {text: 'Count: 2'}
";

#[test]
fn a_stretch_becomes_steps_of_the_trail_beneath_one_heading() {
    let project =
        project(&format!("{USED}  - use: stretches/count.yaml\n    step: Start again\n    with: {{who: '007'}}\n"));
    let before = project.read(TRAIL);
    project.run(&["run", TRAIL, "--record"]).exits(0);
    assert_eq!(project.read(TRAIL), before, "its steps have calls, so there is nothing to record");
    let run = project.last_run();
    let steps: Vec<_> = run
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::StepStarted { text, heading, .. } => {
                Some((text, heading.map(|heading| (heading.kind, heading.text, heading.file.unwrap_or_default()))))
            }
            _ => None,
        })
        .collect();
    let beneath = |text: &str| Some((HeadingKind::Use, text.to_string(), STRETCH.to_string()));
    let expected = [
        ("Open the counter for Ada", beneath("Count for somebody")),
        ("Count", beneath("Count for somebody")),
        ("It counted for her", None),
        ("Open the counter for 007", beneath("Start again")),
        ("Count", beneath("Start again")),
    ];
    assert_eq!(steps, expected.map(|(text, heading)| (text.to_string(), heading)));
    let report = run.text("report.html");
    assert!(report.contains(&format!("\"heading\":\"Start again ({STRETCH})\"")), "the report has a heading");
}

#[test]
fn a_failure_is_placed_in_the_file_of_the_stretch() {
    let project = project(USED).with(STRETCH, COUNT.replace("tap: {id: add}", "tap: {id: missing, timeoutMs: 0}"));
    let ran = project.run(&["run", TRAIL]).exits(1);
    assert!(ran.stdout.contains("step 2 of `Count for somebody` \"Count\": "), "{}", ran.stdout);
    assert!(ran.stdout.contains(&format!("{STRETCH}:14:13")), "{}", ran.stdout);
    assert!(project.last_run().text("junit.xml").contains(&format!("at: {STRETCH}:14:13")));
}

#[test]
fn parameters_are_lists_and_parts_of_texts_and_are_known_only_in_the_stretch() {
    let stretch = "\
parameters:
  calls: array
  greeting: {type: string, default: 'Hello, {{who}}'}
  who: string
steps:
  - step: Say {{greeting}}
    tools:
      - remember: {variable: said, value: 'I say: {{greeting}}'}
      - acme_join: {words: '{{calls}}'}
        as: joined
";
    let trail = "\
config: {memory: {who: Grace}}
trail:
  - use: stretches/count.yaml
    with: {calls: [one, '{{who}}'], who: Ada}
  - verify: What is outside stays outside
    tools:
      - assertEquals: {actual: '{{said}}', expected: 'I say: Hello, Grace'}
      - assertEquals: {actual: '{{joined}} {{greeting}}', expected: 'one+Grace {{greeting}}'}
";
    let tool = "\
id: acme_join
description: Join words.
parameters: [{name: words, type: array, items: string}]
script: {source: 'return args.words.join(\"+\")'}
";
    let project = Project::counter().with("trailblaze-config/tools/acme_join.yaml", tool);
    project.with(STRETCH, stretch).with(TRAIL, trail).run(&["run", TRAIL]).exits(0);
}

#[test]
fn what_is_wrong_is_told_at_its_line() {
    let check = |items: &str, stretch: &str, expected: &[&str]| {
        let project = project(items).with(STRETCH, stretch);
        let ran = project.run(&["check", TRAIL]).exits(3);
        for expected in expected {
            assert!(ran.stderr.contains(expected), "expected {expected:?} in:\n{}", ran.stderr);
        }
    };
    let used = |with: &str| format!("  - use: stretches/count.yaml\n    with: {with}\n");
    check(&used("{amount: 1}"), COUNT, &["`trails/stretches/count.yaml` needs `who`", "trails/a.trail.yaml:2:10"]);
    let taps = "parameters: {who: string}\nsteps:\n  - step: Tap\n    tools: [{tap: {text: '{{who}}'}}]\n";
    check(&used("{}"), taps, &["`trails/stretches/count.yaml` needs `who`", "error: 1 problem"]);
    check(&used("{who: a, amuont: 1}"), COUNT, &["has no parameter `amuont`", "did you mean `amount`?", ":3:20"]);
    check(&used("{who: a, amount: many}"), COUNT, &["`many` is not", ":3:28"]);
    check("  - use: stretches/cuont.yaml\n", COUNT, &["there is no file `trails/stretches/cuont.yaml`", ":2:10"]);
    check("  - use: ../../count.yaml\n", COUNT, &["`../../count.yaml` is not in the project", ":2:10"]);
    check("  - use: a.trail.yaml\n", COUNT, &["`trails/a.trail.yaml` is a trail", ":2:10"]);
    check("  - use: stretches/count.yaml\n    optional: true\n", COUNT, &["unknown key `optional`", ":3:5"]);
    let unknown = COUNT.replace("tap: {id: add}", "tpa: {id: add}");
    check(&used("{who: a}"), &unknown, &["unknown tool `tpa`", "trails/stretches/count.yaml:14:13"]);
    check(&used("{who: a}"), "steps:\n  - step: Look\n", &["needs `tools`", "trails/stretches/count.yaml:2:11"]);
    check(&used("{}"), "title: Nothing\n", &["`steps` is missing", "trails/stretches/count.yaml:1:1"]);
    let list = COUNT.replace("{{who}}'}", "{{who}} {{taps}}'}");
    check(&used("{who: a, taps: [1]}"), &list, &["`{{taps}}` is a list", "trails/stretches/count.yaml:11:"]);
}

#[test]
fn a_stretch_that_uses_itself_is_refused_with_the_chain_of_files() {
    let project = project("  - use: stretches/count.yaml\n")
        .with(STRETCH, "steps:\n  - use: ../other.yaml\n")
        .with("trails/other.yaml", "steps:\n  - use: stretches/count.yaml\n");
    let ran = project.run(&["check", TRAIL]).exits(3);
    let chain = "trails/stretches/count.yaml → trails/other.yaml → trails/stretches/count.yaml";
    assert!(ran.stderr.contains(&format!("`{STRETCH}` uses itself: {chain}")), "{}", ran.stderr);
    assert!(ran.stderr.contains("trails/other.yaml:2:10"), "{}", ran.stderr);
}

#[test]
fn a_stretch_is_used_before_and_after_a_trail_and_by_a_folder() {
    let said = "parameters: {word: string}\nsteps:\n  - step: Say {{word}}\n    tools: [remember: {variable: '{{word}}', value: '{{word}}'}]\n";
    let trail = "\
before:
  - use: stretches/say.yaml
    with: {word: one}
trail:
  - verify: Both were said
    tools:
      - assertEquals: {actual: '{{zero}} {{one}}', expected: zero one}
after:
  - use: stretches/say.yaml
    with: {word: two}
";
    let project = Project::counter()
        .with("trails/stretches/say.yaml", said)
        .with("trails/_folder.yaml", "before:\n  - use: stretches/say.yaml\n    with: {word: zero}\n")
        .with(TRAIL, trail);
    project.run(&["run", TRAIL]).exits(0);
    let steps: Vec<String> = project
        .last_run()
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::StepStarted { text, .. } => Some(text),
            _ => None,
        })
        .collect();
    assert_eq!(steps, ["Say zero", "Say one", "Both were said", "Say two"]);

    let broken = said.replace("remember:", "rember:");
    let ran = project.with("trails/stretches/say.yaml", broken).run(&["run", TRAIL]).exits(3);
    assert!(ran.stderr.contains("unknown tool `rember`") && ran.stderr.contains("say.yaml:4:13"), "{}", ran.stderr);
    let together = "before:\n  - step: Look\n    together:\n      - {on: a, tools: [pressBack: {}]}\n      - {on: b, tools: [pressBack: {}]}\ntrail:\n  - step: Go\n    tools: [pressBack: {}]\n";
    let ran = Project::counter().with(TRAIL, together).run(&["check", TRAIL]).exits(3);
    assert!(ran.stderr.contains("none has `together`"), "{}", ran.stderr);
}

#[test]
fn a_stretch_that_no_trail_uses_is_checked_too() {
    let wrong =
        "parameters:\n  who: {type: string, default: 7}\n  other: strnig\nsteps:\n  - step: Look\n    toools: []\n";
    let project = project(USED).with("trails/stretches/unused.yaml", wrong);
    for paths in [&[][..], &["trails/stretches/unused.yaml"][..]] {
        let ran = project.run(&[&["check"], paths].concat()).exits(3);
        for expected in ["unknown key `toools`", "unused.yaml:6:5", "`strnig`", "unused.yaml:3:10"] {
            assert!(ran.stderr.contains(expected), "expected {expected:?} in:\n{}", ran.stderr);
        }
    }
    project.run(&["check", TRAIL, STRETCH]).exits(0);
    let ran = project.run(&["run", STRETCH]).exits(3);
    assert!(ran.stderr.contains(&format!("`{STRETCH}` is a stretch")), "{}", ran.stderr);
}

#[test]
fn a_stretch_uses_another_and_passes_its_parameters_on() {
    let project = project("  - use: twice.yaml\n    with: {person: Ada}\n")
        .with("trails/twice.yaml", "parameters: {person: string}\nsteps:\n  - use: stretches/count.yaml\n    with: {who: '{{person}}', amount: 2}\n  - verify: It is hers\n    tools: [assertVisible: {text: 'Hello, {{person}}'}]\n");
    project.run(&["run", TRAIL]).exits(0);
    assert_eq!(project.last_run().calls().iter().filter(|call| call.tool == "assertVisible").count(), 1);
}

#[test]
fn a_stretch_runs_on_the_device_of_its_use_and_its_parts_at_the_same_time() {
    let trail = "\
config:
  devices: {alice: android, bob: ios}
trail:
  - use: stretches/count.yaml
    on: bob
    with: {who: Bob}
  - use: both.yaml
";
    let both = "\
steps:
  - step: Look at both
    together:
      - {on: alice, tools: [launchApp: {packageId: com.example.counter}]}
      - {on: bob, tools: [assertVisible: {text: 'Hello, Bob'}]}
";
    let project = Project::counter().with(STRETCH, COUNT).with("trails/both.yaml", both).with(TRAIL, trail);
    project.run(&["run", TRAIL]).exits(0);
    let unsaid = trail.replace("    on: bob\n", "");
    let project = project.with(TRAIL, unsaid);
    let ran = project.run(&["check", TRAIL]).exits(3);
    assert!(ran.stderr.contains("the step does not say on which of them"), "{}", ran.stderr);
}

#[test]
fn a_change_of_a_stretch_runs_the_trails_again_that_use_it() {
    let project = project(USED).with(
        "trails/b.trail.yaml",
        "trail:\n  - step: Open\n    tools: [launchApp: {packageId: com.example.counter}]\n",
    );
    let command = project.command(&["run", "--pictures", "off", "-d", "android/sim-1", "--watch"]).spawn();
    let running = Running::of(command.expect("the program starts"));
    let ended = |n: usize| {
        wait_until("the runs end", || {
            let runs = project.runs();
            let is_finished = |run: &RunFolder| run.has("summary.json") && run.summary()["isFinished"] == true;
            (runs.len() == n && runs.iter().all(is_finished)).then_some(runs)
        })
    };
    ended(1);
    project.write(STRETCH, COUNT.replace("title: Count for", "title: Counting for"));
    let runs = ended(2);
    let attempts = runs[1].summary()["attempts"].as_array().expect("a list").clone();
    let trails: Vec<Value> = attempts.iter().map(|attempt| attempt["trail"]["path"].clone()).collect();
    assert_eq!(trails, [TRAIL]);
    running.interrupt();
    project.ended(running).exits(0);
}
