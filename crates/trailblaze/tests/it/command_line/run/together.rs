//! Parts of a step that run at the same time on several devices.

use trailblaze_protocol::event::{Event, HeadingKind, Plan};

use super::several_devices::plans;
use crate::support::{Project, parcels};

const TRAIL: &str = "trails/a.trail.yaml";

/// A trail of two phones, which both show the counter, and then do these items.
fn trail(items: &str) -> String {
    format!(
        "config:\n  devices: {{alice: android, bob: ios}}\ntrail:\n  - step: Open it on both\n    together:\n      - on: alice\n        \
         tools: [launchApp: {{packageId: com.example.counter}}]\n      - on: bob\n        tools: [launchApp: {{packageId: \
         com.example.counter}}]\n{items}"
    )
}

#[test]
fn parts_run_at_the_same_time_and_what_follows_waits_for_all_of_them() {
    let items = "  - step: Count and watch
    together:
      - on: alice
        optional: true
        tools:
          - tap: {text: No such button, timeoutMs: 300}
      - on: bob
        step: Bob counts twice
        tools:
          - tap: {id: add}
          - tap: {id: add}
          - rememberElementText: {id: count, variable: bobs}
  - step: Alice counts as far as Bob
    on: alice
    tools:
      - tap: {id: add}
      - tap: {id: add}
      - assertVisible: {text: '{{bobs}}'}
";
    let project = Project::counter().with(TRAIL, trail(items));
    project.run(&["run", TRAIL]).exits(0);
    let run = project.last_run();
    let mut headings = Vec::new();
    // Which steps have started, and which have ended, by their numbers.
    let mut order: Vec<(&str, usize)> = Vec::new();
    let mut numbers = Vec::new();
    for event in run.events() {
        match event {
            Event::StepStarted { step, index, text, role, heading, .. } => {
                headings.push((text, role.expect("a role"), heading.map(|heading| (heading.kind, heading.line))));
                numbers.push((step, index));
                order.push(("start", index));
            }
            Event::StepEnded { step, .. } => {
                let known = numbers.iter().find(|(id, _)| *id == step).expect("it has started");
                order.push(("end", known.1));
            }
            _ => {}
        }
    }
    let at =
        |what: &'static str, index: usize| order.iter().position(|event| *event == (what, index)).expect("it is there");
    assert!(at("start", 3) < at("end", 2), "the other part starts while the first one waits: {order:?}");
    assert!(at("start", 4) > at("end", 2) && at("start", 4) > at("end", 3), "the next step waits: {order:?}");
    let expected = [
        ("Open it on both", "alice", Some((HeadingKind::Together, 4))),
        ("Open it on both", "bob", Some((HeadingKind::Together, 4))),
        ("Count and watch", "alice", Some((HeadingKind::Together, 10))),
        ("Bob counts twice", "bob", Some((HeadingKind::Together, 10))),
        ("Alice counts as far as Bob", "alice", None),
    ];
    assert_eq!(headings, expected.map(|(text, role, heading)| (text.to_string(), role.to_string(), heading)));
    let report = run.text("report.html");
    assert!(report.contains("\"heading\":\"Count and watch (at the same time)\""), "the report has a heading");
}

#[test]
fn every_part_that_fails_is_told_and_the_others_run_to_their_end() {
    let items = "  - step: Look and count
    together:
      - on: alice
        tools: [assertVisible: {text: 'Count: 7', timeoutMs: 0}]
      - on: bob
        tools:
          - tap: {id: add}
          - assertVisible: {text: 'Count: 8', timeoutMs: 10}
after:
  - step: What Bob has done is done
    on: bob
    tools: [assertVisible: {text: 'Count: 1'}]
";
    let project = Project::counter().with(TRAIL, trail(items));
    let ran = project.run(&["run", TRAIL]).exits(1);
    for told in ["2 parts failed:", "step 3 \"Look and count\" on alice: ", "step 4 \"Look and count\" on bob: "] {
        assert!(ran.stdout.contains(told), "{told} is not in {}", ran.stdout);
    }
    assert!(!ran.stdout.contains("What Bob has done"), "{}", ran.stdout);
    let run = project.last_run();
    let parts = run.events().into_iter().find_map(|event| match event {
        Event::AttemptEnded { failure, .. } => failure.map(|failure| failure.parts),
        _ => None,
    });
    let lines: Vec<usize> = parts.expect("a failure").iter().map(|part| part.place.as_ref().unwrap().line).collect();
    assert_eq!(lines, [13, 17]);
    let junit = run.text("junit.xml");
    assert!(junit.contains("at: trails/a.trail.yaml:13:") && junit.contains("at: trails/a.trail.yaml:17:"), "{junit}");
}

#[test]
fn parts_that_remember_one_name_differently_fail_the_step() {
    let items = |name: &str| {
        format!(
            "  - step: Remember\n    together:\n      - on: alice\n        tools: [remember: {{variable: code, value: a}}]\n      - \
             on: bob\n        tools: [remember: {{variable: {name}, value: b}}]\n"
        )
    };
    let project = Project::counter().with(TRAIL, trail(&items("code")));
    let ran = project.run(&["run", TRAIL]).exits(1);
    assert!(ran.stdout.contains("the parts of alice and bob gave `code` different values"), "{}", ran.stdout);
    let both = items("other")
        + "  - step: Both are known\n    on: alice\n    tools: [assertEquals: {actual: '{{code}}{{other}}', expected: ab}]\n";
    let project = project.with(TRAIL, trail(&both));
    project.run(&["run", TRAIL]).exits(0);
}

#[test]
fn what_cannot_run_at_the_same_time_is_refused_at_its_place() {
    let check = |items: &str, expected: &[&str]| {
        let project = Project::counter().with(TRAIL, trail(items));
        let ran = project.run(&["check", TRAIL]).exits(3);
        for expected in expected {
            assert!(ran.stderr.contains(expected), "expected {expected:?} in:\n{}", ran.stderr);
        }
    };
    check(
        "  - step: Two\n    together:\n      - {on: alice, tools: []}\n      - {on: alice, tools: []}\n",
        &["`alice` already has a part, at line 12", "trails/a.trail.yaml:13:14"],
    );
    check(
        "  - step: One\n    together: [{on: alice, tools: []}]\n",
        &["`together` needs at least two parts", ":11:15"],
    );
    check(
        "  - step: None\n    together:\n      - {tools: []}\n      - {on: bob, tools: []}\n",
        &["a part of `together` must say which device carries it out", ":12:9"],
    );
    check(
        "  - step: Nobody\n    together:\n      - {on: alicia, tools: []}\n      - {on: bob, tools: []}\n",
        &["unknown role `alicia`", "did you mean `alice`?"],
    );
    check(
        "  - step: Both\n    optional: true\n    together: [{on: alice, tools: []}, {on: bob, tools: []}]\n",
        &["unknown key `optional`", ":11:5"],
    );
    check(
        "  - step: Both\n    togehter: [{on: alice, tools: []}]\n",
        &["unknown key `togehter`", "did you mean `together`?"],
    );
    check(
        "after:\n  - step: Both\n    together: [{on: alice, tools: []}, {on: bob, tools: []}]\n",
        &["none has `together`", "write a step for each device"],
    );
}

#[test]
fn each_part_is_recorded_in_its_place_and_replayed() {
    let trail = "\
config:
  devices: {alice: android, bob: ios}
trail:
  - step: Count on both
    together:
      - on: alice
        tools:
          - launchApp: {packageId: com.example.counter}
          - parcel_tap: {id: add}
      - on: bob
        tools:
          - launchApp: {packageId: com.example.counter}
          - parcel_tap: {id: add}
  - verify: It counted
    on: alice
    tools: [assertVisible: {text: 'Count: 1'}]
";
    let project = parcels().with(TRAIL, trail);
    project.run(&["run", TRAIL, "--record", "effects"]).exits(0);
    let recorded = project.read(TRAIL);
    let [_, alice, bob] = recorded.split("      - on:").collect::<Vec<_>>()[..] else { panic!("{recorded}") };
    assert!(alice.contains("        recording:\n          android:\n") && !alice.contains("ios:\n"), "{recorded}");
    assert!(bob.contains("        recording:\n          ios:\n") && !bob.contains("android:\n"), "{recorded}");
    assert!(recorded.ends_with("    tools: [assertVisible: {text: 'Count: 1'}]\n"), "{recorded}");
    let beside = project.read("trails/a.effects.yaml");
    assert!(beside.contains("alice@android:") && beside.contains("bob@ios:"), "{beside}");
    project.run(&["run", TRAIL]).exits(0);
    let plans = plans(&project);
    let by = |classifier: &str| Plan::Recording { classifier: classifier.into() };
    assert_eq!(plans, [by("android"), by("ios"), Plan::Authored]);
    project.run(&["run", TRAIL, "--replay", "effects"]).exits(0);
    project.run(&["run", TRAIL, "--record"]).exits(0);
    assert_eq!(project.read(TRAIL), recorded);
}

#[test]
fn a_part_is_healed_like_any_other_step() {
    let trail = "\
config:
  devices: {alice: android, bob: ios}
trail:
  - step: Count on both
    together:
      - on: alice
        tools:
          - launchApp: {packageId: com.example.counter}
          - tap: {id: add}
      - on: bob
        tools:
          - launchApp: {packageId: com.example.counter}
          - tap: {id: add}
  - verify: It counted
    on: bob
    tools: [assertVisible: {text: 'Count: 1'}]
";
    let project = Project::counter().with(TRAIL, trail);
    project.run(&["run", TRAIL, "--record"]).exits(0);
    let app = project.read("counter.app.yaml").replace("{id: add, ", "{id: plus, ");
    let project = project.with("counter.app.yaml", app);
    project.run(&["run", TRAIL, "--heal", "apply"]).exits(0);
    project.run(&["heal", "--write"]).exits(0);
    let healed = project.read(TRAIL);
    let [_, alice, bob] = healed.split("      - on:").collect::<Vec<_>>()[..] else { panic!("{healed}") };
    assert!(!alice.contains("{id: add}") && !bob.contains("{id: add}"), "{healed}");
    project.run(&["run", TRAIL]).exits(0);
}
