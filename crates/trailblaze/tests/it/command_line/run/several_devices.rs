//! Trails that run on several devices at once.

use std::collections::{BTreeMap, BTreeSet};

use trailblaze_protocol::event::{Event, Plan};
use trailblaze_protocol::ids::SessionId;

use crate::support::{Project, parcels};

const TRAIL: &str = "trails/a.trail.yaml";

/// Two phones count for themselves, and what one of them shows is looked for on a third device.
const COUNTING: &str = "\
config:
  devices:
    alice: android
    bob: android
    desk: web
trail:
  - step: Alice counts
    on: alice
    tools:
      - launchApp: {packageId: com.example.counter}
      - tap: {id: add, index: 0}
  - step: Bob counts twice
    on: bob
    tools:
      - launchApp: {packageId: com.example.counter}
      - tap: {id: add, index: 0}
      - tap: {id: add, index: 0}
      - rememberElementText: {id: count, variable: bobs}
  - step: The desk counts up to what Bob has
    on: desk
    tools:
      - web_navigate: {url: 'https://counter.example'}
      - web_click: {ref: 'css=#add'}
      - web_click: {ref: 'css=#add'}
      - web_verifyTextVisible: {text: '{{bobs}}'}
  - verify: Alice is where she was
    on: alice
    tools: [assertVisible: {text: 'Count: 1', timeoutMs: 10}]
";

/// The device of each session, and the session of each role, of the only attempt.
fn roles(events: &[Event]) -> BTreeMap<String, String> {
    let mut devices: BTreeMap<SessionId, String> = BTreeMap::new();
    let mut found = BTreeMap::new();
    for event in events {
        match event {
            Event::SessionOpened { session, device, .. } => {
                devices.insert(session.clone(), device.id.to_string());
            }
            Event::AttemptStarted { roles, .. } => {
                found.extend(roles.iter().map(|(role, session)| (role.clone(), devices[session].clone())));
            }
            _ => {}
        }
    }
    found
}

/// Where the calls of each step of the newest run came from.
pub(super) fn plans(project: &Project) -> Vec<Plan> {
    let plan = |event| match event {
        Event::StepStarted { plan, .. } => Some(plan),
        _ => None,
    };
    project.last_run().events().into_iter().filter_map(plan).collect()
}

#[test]
fn each_step_runs_on_the_device_of_its_role_and_all_share_one_memory() {
    let project = Project::counter().with(TRAIL, COUNTING);
    let ran = project.run(&["run", TRAIL, "-d", "android/sim-1,web/sim-1"]).exits(0);
    assert!(ran.stderr.contains("android/sim-1 + android/sim-2 + web/sim-1"), "{}", ran.stderr);
    let events = project.last_run().events();
    let expected = [("alice", "android/sim-1"), ("bob", "android/sim-2"), ("desk", "web/sim-1")];
    assert_eq!(roles(&events), expected.map(|(role, device)| (role.to_string(), device.to_string())).into());
    let on: Vec<String> = events
        .iter()
        .filter_map(|event| match event {
            Event::StepStarted { role, .. } => role.clone(),
            _ => None,
        })
        .collect();
    assert_eq!(on, ["alice", "bob", "desk", "alice"]);
    let called: BTreeSet<&SessionId> = events
        .iter()
        .filter_map(|event| match event {
            Event::Called(called) => Some(&called.session),
            _ => None,
        })
        .collect();
    assert_eq!(called.len(), 3, "calls are made in the session of their device");
    let n_closed = events.iter().filter(|event| matches!(event, Event::SessionClosed { .. })).count();
    assert_eq!(n_closed, 3);
    let attempt = &project.last_run().summary()["attempts"][0];
    assert_eq!(attempt["roles"]["bob"], "android/sim-2", "{attempt}");
}

#[test]
fn a_failure_names_the_role() {
    let project = Project::counter().with(TRAIL, COUNTING.replace("Count: 1", "Count: 7"));
    let ran = project.run(&["run", TRAIL, "-d", "android/sim-1,web/sim-1"]).exits(1);
    assert!(ran.stdout.contains("step 4 \"Alice is where she was\" on alice: "), "{}", ran.stdout);
    let report = project.last_run().text("report.html");
    assert!(report.contains("alice: Alice is where she was"), "the report names the device of a step");
}

#[test]
fn recordings_are_kept_for_each_role_and_replayed() {
    let trail = "\
config:
  devices: {alice: android, bob: ios}
trail:
  - step: Alice counts
    on: alice
    tools:
      - launchApp: {packageId: com.example.counter}
      - parcel_tap: {id: add}
  - step: Bob counts
    on: bob
    tools:
      - launchApp: {packageId: com.example.counter}
      - parcel_tap: {id: add}
";
    let project = parcels().with(TRAIL, trail);
    let ran = project.run(&["run", TRAIL, "--record", "effects"]).exits(0);
    assert!(ran.stderr.contains("recorded android, ios in trails/a.trail.yaml"), "{}", ran.stderr);
    let recorded = project.read(TRAIL);
    let [_, alice, bob] = recorded.split("  - step:").collect::<Vec<_>>()[..] else { panic!("{recorded}") };
    assert!(alice.contains("      android:\n") && !alice.contains("      ios:\n"), "{recorded}");
    assert!(bob.contains("      ios:\n") && !bob.contains("      android:\n"), "{recorded}");
    let beside = project.read("trails/a.effects.yaml");
    assert!(beside.contains("alice@android:") && beside.contains("bob@ios:"), "{beside}");

    let ran = project.run(&["run", TRAIL]).exits(0);
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
    let plans = plans(&project);
    let by = |classifier: &str| Plan::Recording { classifier: classifier.into() };
    assert_eq!(plans, [by("android"), by("ios")]);
    project.run(&["run", TRAIL, "--replay", "effects"]).exits(0);
    project.run(&["run", TRAIL, "--record"]).exits(0);
    assert_eq!(project.read(TRAIL), recorded);
}

/// Trails that share devices, in all orders, beside trails on one of them.
#[test]
fn trails_that_share_devices_wait_for_each_other() {
    let trail = |devices: &str| {
        format!(
            "config:\n  devices: {{{devices}}}\ntrail:\n  - step: One\n    on: one\n    tools: [launchApp: {{packageId: \
             com.example.counter}}]\n  - step: Two\n    on: two\n    tools: [launchApp: {{packageId: com.example.counter}}]\n"
        )
    };
    let project = Project::counter()
        .with("trails/a.trail.yaml", trail("one: android/sim-1, two: android/sim-2"))
        .with("trails/b.trail.yaml", trail("one: android/sim-2, two: android/sim-1"))
        .with("trails/c.trail.yaml", trail("one: android/sim-2, two: ios/sim-1"))
        .with("trails/d.trail.yaml", trail("one: ios/sim-1, two: android/sim-1"))
        .with(
            "trails/e.trail.yaml",
            "trail:\n  - step: One\n    tools: [launchApp: {packageId: com.example.counter}]\n",
        );
    for workers in [None, Some("1"), Some("2")] {
        let mut args = vec!["run", "-d", "android/sim-1,android/sim-2", "--repeat-each", "3"];
        args.extend(workers.into_iter().flat_map(|n| ["--workers", n]));
        let ran = project.run(&args).exits(0);
        assert!(ran.stdout.contains("15 passed"), "{}", ran.stdout);
        // No device is used by two attempts at the same time.
        let mut open: BTreeSet<String> = BTreeSet::new();
        let mut names: BTreeMap<SessionId, String> = BTreeMap::new();
        for event in project.last_run().events() {
            match event {
                Event::SessionOpened { session, device, .. } => {
                    assert!(open.insert(device.id.to_string()), "{} was open already", device.id);
                    names.insert(session, device.id.to_string());
                }
                Event::SessionClosed { session, .. } => assert!(open.remove(&names[&session])),
                _ => {}
            }
        }
    }
}

#[test]
fn mistakes_in_roles_are_reported_at_their_places() {
    let check = |trail: &str, expected: &str| {
        let project = Project::counter().with(TRAIL, trail);
        let ran = project.run(&["check", TRAIL]).exits(3);
        assert!(ran.stderr.contains(expected), "expected {expected:?} in:\n{}", ran.stderr);
    };
    let two = "config:\n  devices: {alice: android, bob: ios}\ntrail:\n";
    check(
        &format!("{two}  - step: Wait\n    tools: []\n"),
        "the trail runs on several devices, and the step does not say on which",
    );
    check(&format!("{two}  - step: Wait\n    on: bop\n    tools: []\n"), "unknown role `bop`");
    check("trail:\n  - step: Wait\n    on: alice\n    tools: []\n", "the trail has no role `alice`");
    let one =
        |device: &str| format!("config:\n  devices: {{alice: {device}}}\ntrail:\n  - step: Wait\n    tools: []\n");
    check(&one("phone"), "`phone` is not a device");
    check(&one("android-fridge"), "`alice` has no device: no device matches `android-fridge`");
    check(&one("ios/sim-0"), "`alice` has no device: there is no device `ios/sim-0`");
    let twice = "config:\n  devices: {alice: android/sim-1, bob: android/sim-1}\ntrail:\n";
    check(
        &format!("{twice}  - step: Wait\n    on: bob\n    tools: []\n"),
        "`bob` has no device: the device `android/sim-1` is named twice",
    );
    // A call is checked against the tools of its own device.
    let wrong = format!("{two}  - step: Shell\n    on: bob\n    tools: [adbShell: {{command: ls}}]\n");
    check(&wrong, "`adbShell` is for android, but this runs on ios");
}

#[test]
fn a_trail_with_one_role_needs_no_on() {
    let trail = "config:\n  devices: {phone: ios}\ntrail:\n  - step: Count\n    tools: [launchApp: {packageId: com.example.counter}]\n";
    let project = Project::counter().with(TRAIL, trail);
    let ran = project.run(&["run", TRAIL]).exits(0);
    assert!(ran.stderr.contains("ios/sim-1"), "{}", ran.stderr);
    assert_eq!(roles(&project.last_run().events()).get("phone").map(String::as_str), Some("ios/sim-1"));
}
