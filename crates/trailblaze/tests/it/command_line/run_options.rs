//! Which trails run, where, how often, and what is kept of it: everything that `run` offers beyond running.

use std::collections::BTreeSet;

use crate::support::{Project, Ran, parcels};
use serde_json::{Value, json};

const PASSES: &str = "    tools: [{launchApp: {packageId: com.example.counter}}, {tap: {id: add}}, {assertVisible: {text: 'Count: 1'}}]\n";
/// What is delegated is recorded.
const DELEGATES: &str = "    tools: [{launchApp: {packageId: com.example.counter}}, {parcel_tap: {id: add}}]\n";
const FAILS: &str =
    "    tools: [{launchApp: {packageId: com.example.counter}}, {assertVisible: {text: Nowhere, timeoutMs: 0}}]\n";

fn trail(tags: &str, body: &str) -> String {
    format!("config: {{tags: [{tags}]}}\ntrail:\n  - step: Count\n{body}")
}

/// Three trails that pass and one that fails.
fn project() -> Project {
    Project::counter()
        .with("trails/a.trail.yaml", trail("smoke", PASSES))
        .with("trails/b.trail.yaml", trail("smoke, slow", PASSES))
        .with("trails/deep/c.trail.yaml", trail("", PASSES))
        .with("trails/d.trail.yaml", trail("broken", FAILS))
}

/// The trails that ran, once for each attempt, in the order of their paths.
fn attempts(ran: &Ran) -> Vec<String> {
    let summary = ran.json();
    let attempts = summary["attempts"].as_array().unwrap_or_else(|| panic!("{summary:#}"));
    let name = |attempt: &Value| attempt["trail"]["path"].as_str().unwrap().trim_start_matches("trails/").to_string();
    let mut names: Vec<String> = attempts.iter().map(name).collect();
    names.sort();
    names
}

fn check(args: &[&str], code: i32, expected: &[&str]) {
    let project = project();
    let ran = project.run(&[&["run", "--json", "--pictures", "off"], args].concat()).exits(code);
    assert_eq!(attempts(&ran), expected, "{args:?}");
}

#[test]
fn trails_are_chosen_by_path_pattern_tag_and_words() {
    check(&["trails/a.trail.yaml", "trails/deep"], 0, &["a.trail.yaml", "deep/c.trail.yaml"]);
    check(&["trails/**/[ac].trail.yaml"], 0, &["a.trail.yaml", "deep/c.trail.yaml"]);
    check(&["--tags", "smoke"], 0, &["a.trail.yaml", "b.trail.yaml"]);
    check(&["--tags", "smoke,!slow"], 0, &["a.trail.yaml"]);
    check(&["--grep", "DEEP"], 0, &["deep/c.trail.yaml"]);
}

#[test]
fn what_git_ignores_does_not_run() {
    let project = project().with(".gitignore", "trails/d.*\n");
    let ran = project.run(&["run", "--json", "--pictures", "off"]).exits(0);
    assert_eq!(attempts(&ran), ["a.trail.yaml", "b.trail.yaml", "deep/c.trail.yaml"]);
}

#[test]
fn nothing_left_after_the_filters_is_a_mistake() {
    let ran = project().run(&["run", "--tags", "nobody"]).exits(3);
    assert!(ran.stderr.contains("no trails match the filters"), "{}", ran.stderr);
}

#[test]
fn a_dry_run_lists_and_leaves_nothing() {
    let project = project();
    let ran = project.run(&["run", "--dry-run", "--json", "-d", "android/sim-1,ios/sim-1", "--tags", "smoke"]).exits(0);
    let rows = ran.json();
    let rows: Vec<&str> = rows.as_array().unwrap().iter().map(|row| row["trail"].as_str().unwrap()).collect();
    assert_eq!(rows, ["trails/a.trail.yaml", "trails/b.trail.yaml", "trails/a.trail.yaml", "trails/b.trail.yaml"]);
    assert!(project.runs().is_empty());
}

#[test]
fn devices_of_one_kind_share_the_trails_and_kinds_do_not() {
    let project = project();
    let args = ["run", "--json", "--pictures", "off", "--tags", "smoke", "-d", "android/sim-1,android/sim-2,ios/sim-1"];
    let summary = project.run(&args).exits(0).json();
    let by = |platform: &str| {
        let is_on = |attempt: &&Value| attempt["device"].as_str().unwrap().starts_with(platform);
        summary["attempts"].as_array().unwrap().iter().filter(is_on).count()
    };
    assert_eq!((by("android"), by("ios")), (2, 2), "{summary:#}");
}

#[test]
fn more_workers_are_more_simulated_devices() {
    let project = project();
    let summary = project
        .run(&["run", "--json", "--pictures", "off", "--tags", "smoke", "--repeat-each", "6", "--workers", "4"])
        .exits(0)
        .json();
    let attempts = summary["attempts"].as_array().unwrap();
    let devices: BTreeSet<&str> = attempts.iter().map(|attempt| attempt["device"].as_str().unwrap()).collect();
    assert_eq!(attempts.len(), 12);
    assert!(devices.iter().all(|device| device.starts_with("android/sim-")) && devices.len() <= 4, "{devices:?}");
}

/// The devices that would share each trail.
fn shared_by(project: &Project, args: &[&str]) -> Vec<(String, Value)> {
    let rows = project.run(&[&["run", "--dry-run", "--json"], args].concat()).exits(0).json();
    let row = |row: &Value| (row["trail"].as_str().unwrap().to_string(), row["devices"].clone());
    rows.as_array().unwrap().iter().map(row).collect()
}

#[test]
fn more_workers_are_more_devices_of_the_same_kind() {
    let project = Project::counter().with("trails/a.trail.yaml", trail("", PASSES));
    let a = || "trails/a.trail.yaml".to_string();
    let shared = shared_by(&project, &["-d", "web/chromium", "--workers", "3"]);
    assert_eq!(shared, [(a(), json!(["web/chromium", "web/chromium-2", "web/chromium-3"]))]);
    let shared = shared_by(&project, &["-d", "web/chromium,web/sim-2", "--workers", "4"]);
    assert_eq!(shared, [(a(), json!(["web/chromium", "web/chromium-2"])), (a(), json!(["web/sim-2", "web/sim-1"]))]);
    // Every device of the project, and no more.
    let project = project.with("trailblaze.yaml", "devices: [{id: web/chromium}, {id: web/sim-1}]\n");
    let shared = shared_by(&project, &["--all-devices", "--workers", "4"]);
    assert_eq!(shared, [(a(), json!(["web/chromium"])), (a(), json!(["web/sim-1"]))]);
}

#[test]
fn simulated_and_real_devices_do_not_stand_in_for_each_other() {
    let devices = "devices:\n  - {id: web/chromium}\n  - {id: web/sim-1}\n  - {id: web/phone, emulate: iPhone 14}\n";
    let project = Project::counter().with("trailblaze.yaml", devices).with("trails/a.trail.yaml", trail("", PASSES));
    let a = || "trails/a.trail.yaml".to_string();
    let alone = |device: &str| (a(), json!([device]));
    assert_eq!(shared_by(&project, &[]), [alone("web/chromium"), alone("web/sim-1"), alone("web/phone")]);
}

#[test]
fn a_trail_runs_on_the_platform_that_it_has_a_driver_for() {
    let pinned = |devices: &str| format!("config:\n  devices: {{{devices}}}\ntrail:\n  - step: Count\n{PASSES}");
    let project = Project::counter()
        .with("trails/a.trail.yaml", trail("", PASSES))
        .with("trails/b.trail.yaml", pinned("web: PLAYWRIGHT_NATIVE"))
        .with("trails/c.trail.yaml", pinned("ios-iphone: IOS_HOST, web: PLAYWRIGHT_NATIVE"))
        .with("trails/d.trail.yaml", pinned("web: PLAYWRIGHT_NATIVE, android: ANDROID_HOST"));
    let on = |name: &str, device: &str| (format!("trails/{name}.trail.yaml"), json!([device]));
    let expected = [on("a", "android/sim-1"), on("d", "android/sim-1"), on("c", "ios/sim-1"), on("b", "web/chromium")];
    assert_eq!(shared_by(&project, &[]), expected);
    // Who names devices means all trails.
    assert!(shared_by(&project, &["-d", "web/sim-1"]).iter().all(|(_, devices)| *devices == json!(["web/sim-1"])));
}

#[test]
fn a_failed_trail_is_tried_again_and_every_try_is_kept() {
    check(&["--grep", "d.trail", "--retries", "2"], 1, &["d.trail.yaml"; 3]);
}

/// The app's data survive a resume, so the second try finds what the first one left.
const PASSES_LATER: &str = "    tools: [{launchApp: {packageId: com.example.counter, launchMode: RESUME}}, {tap: {id: add}}, {assertVisible: {text: 'Count: 2', timeoutMs: 0}}]\n";

#[test]
fn a_trail_that_passes_at_a_later_try_is_flaky() {
    let project = Project::counter().with("trails/f.trail.yaml", trail("", PASSES_LATER));
    let ran = project.run(&["run", "--pictures", "off", "--retries", "1"]).exits(0);
    assert!(ran.stdout.contains("flaky: trails/f on android/sim-1 passed on attempt 2"), "{}", ran.stdout);
    let junit = project.last_run().text("junit.xml");
    assert!(junit.contains("<flakyFailure"), "{junit}");
    // What passed is what counts.
    assert_eq!(project.last_run().summary()["code"], json!(0));
}

#[test]
fn a_repeat_that_passes_does_not_make_up_for_one_that_failed() {
    let project = Project::counter().with("trails/f.trail.yaml", trail("", PASSES_LATER));
    let ran = project.run(&["run", "--pictures", "off", "--repeat-each", "2"]).exits(1);
    assert!(ran.stdout.contains("1 passed, 1 failed in") && !ran.stdout.contains("flaky"), "{}", ran.stdout);
    let summary = project.last_run().summary();
    let counts = |name: &str| summary["counts"][name].as_u64();
    assert_eq!(
        (counts("total"), counts("failed"), counts("flaky"), counts("retried")),
        (Some(2), Some(1), Some(0), Some(0))
    );
    let told = |attempt: &Value| (attempt["verdict"].clone(), attempt["number"].clone(), attempt["repeat"].clone());
    let attempts: Vec<_> = summary["attempts"].as_array().unwrap().iter().map(told).collect();
    assert_eq!(attempts, [(json!("failed"), json!(1), json!(1)), (json!("passed"), json!(1), json!(2))]);
    let junit = project.last_run().text("junit.xml");
    assert!(junit.contains("trails/f (repeat 1)\"") && junit.contains("trails/f (repeat 2)\""), "{junit}");
}

#[test]
fn equal_failures_are_told_once_and_similar_ones_by_what_differs() {
    let other = FAILS.replace("Nowhere", "Elsewhere");
    let project = project()
        .with("trails/e.trail.yaml", trail("", FAILS))
        .with("trails/f.trail.yaml", trail("", "    tools: [{tap: {x: 1}}]\n"))
        .with("trails/g.trail.yaml", trail("", &other));
    let ran = project.run(&["run", "--pictures", "off"]).exits(1);
    let told = ran.stdout.matches("`assertVisible` failed").count();
    assert!(told == 1 && ran.stdout.contains("  same failure: trails/e on android/sim-1\n"), "{}", ran.stdout);
    let similar = "  similar failures:\n    trails/g on android/sim-1: ";
    let rest = ran.stdout.split(similar).nth(1).unwrap_or_default();
    assert!(rest.lines().next().is_some_and(|line| line.contains("Elsewhere")), "{}", ran.stdout);
    assert!(ran.stdout.contains("`tap` failed") && ran.stdout.contains("3 passed, 4 failed"), "{}", ran.stdout);
}

#[test]
fn after_a_failure_nothing_more_starts() {
    let project = project().with("trails/0.trail.yaml", trail("", FAILS));
    let ran = project.run(&["run", "--pictures", "off", "--fail-fast"]).exits(1);
    assert!(ran.stdout.contains("0 passed, 1 failed, 4 not run"), "{}", ran.stdout);
    // Programs are told too.
    let run = project.last_run();
    let summary: serde_json::Value = serde_json::from_str(&run.text("summary.json")).unwrap();
    assert_eq!((&summary["counts"]["total"], &summary["counts"]["notRun"]), (&5.into(), &4.into()));
    assert_eq!(summary["notRun"].as_array().map(Vec::len), Some(4));
    let junit = run.text("junit.xml");
    assert!(junit.contains("tests=\"5\"") && junit.matches("not run: the run was").count() == 4, "{junit}");
}

#[test]
fn what_failed_last_can_be_run_alone() {
    let project = project();
    project.run(&["run", "--pictures", "off"]).exits(1);
    let last_failed = ["run", "--json", "--pictures", "off", "--last-failed"];
    assert_eq!(attempts(&project.run(&last_failed).exits(1)), ["d.trail.yaml"]);
    project.write("trails/d.trail.yaml", trail("", PASSES));
    assert_eq!(attempts(&project.run(&last_failed).exits(0)), ["d.trail.yaml"]);
    let ran = project.run(&last_failed).exits(3);
    assert!(ran.stderr.contains("no trails match the filters"), "{}", ran.stderr);
}

#[test]
fn a_trail_that_failed_in_one_of_its_runs_has_failed() {
    let project = Project::counter().with("trails/f.trail.yaml", trail("", PASSES_LATER));
    project.run(&["run", "--pictures", "off", "--repeat-each", "2"]).exits(1);
    let ran = project.run(&["run", "--dry-run", "--last-failed"]).exits(0);
    assert!(ran.stdout.starts_with("trails/f.trail.yaml"), "{}", ran.stdout);
}

#[test]
fn shards_cover_everything_once_and_merge_into_one_report() {
    let project = project();
    project.run(&["run", "--pictures", "off"]).exits(1);
    // Far more than any trail takes, so that a change shows.
    let before = history(&project).replace(|c: char| c.is_ascii_digit(), "").replace(": ,", ": 1000000,");
    let before = before.replace(": \n", ": 1000000\n");
    project.write(HISTORY, &before);
    let mut all = Vec::new();
    for shard in ["1/3", "2/3", "3/3"] {
        let ran = project.run(&["run", "--json", "--pictures", "off", "--logs", "shards", "--shard", shard]);
        all.extend(attempts(&ran));
    }
    all.sort();
    assert_eq!(all, ["a.trail.yaml", "b.trail.yaml", "d.trail.yaml", "deep/c.trail.yaml"]);
    assert_eq!(history(&project), before, "shards leave the history alone");
    let folders: Vec<String> = std::fs::read_dir(project.root().join("shards"))
        .unwrap()
        .map(|entry| entry.unwrap().path().display().to_string())
        .collect();
    let mut args = vec!["report", "merge", "--exit-code", "--json"];
    args.extend(folders.iter().map(String::as_str));
    let merged = project.run(&args).exits(1).json();
    assert_eq!(merged["attempts"].as_array().unwrap().len(), 4, "{merged:#}");
    let after: Value = serde_json::from_str(&history(&project)).unwrap();
    let durations = after["durations"].as_object().unwrap();
    assert!(durations.len() == 4 && durations.values().all(|millis| millis.as_u64() < Some(900_000)), "{after:#}");
    assert_eq!(after["failed"], json!(["trails/d.trail.yaml android"]));
    let recordings = project.last_run().path.join("recordings");
    let mut names: Vec<_> = std::fs::read_dir(recordings).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["trails-a.trail.yaml", "trails-b.trail.yaml", "trails-deep-c.trail.yaml"]);
}

#[test]
fn a_shard_without_trails_says_so() {
    let project = Project::counter().with("trails/a.trail.yaml", trail("", "    tools: [{pressHome: {}}]\n"));
    let ran = project.run(&["run", "--pictures", "off", "--shard", "2/2"]).exits(0);
    let words = "shard 2/2 has no trails, so nothing runs: there are fewer trails than shards";
    assert!(ran.stderr.contains(words), "{ran:?}");
    assert_eq!(project.last_run().mentions(words), 1);
}

const HISTORY: &str = ".trailblaze/history.json";

fn history(project: &Project) -> String {
    project.read(HISTORY)
}

#[test]
fn a_trail_that_takes_too_long_fails_where_it_was() {
    let slow = "    tools: [{wait: {timeToWaitInSeconds: 60}}]\n";
    let project = Project::counter().with("trails/s.trail.yaml", trail("", slow));
    let ran = project.run(&["run", "--pictures", "off", "--timeout", "1s"]).exits(1);
    assert!(ran.stdout.contains("the trail took longer than 1s; it was stopped at step 1 \"Count\""), "{}", ran.stdout);
    project.last_run().assert_finished(1);
}

#[test]
fn the_trails_of_a_lost_device_go_to_others() {
    let project = Project::counter();
    for number in 0..6 {
        project.write(&format!("trails/t{number}.trail.yaml"), trail("", PASSES));
    }
    // Each device is lost at its seventh act: every trail takes two, so most of them are done by then.
    let args = [
        "run",
        "--json",
        "--pictures",
        "off",
        "-d",
        "android/sim-1,android/sim-2,android/sim-3,android/sim-4",
        "--sim",
        "lostAfter=7",
        "--seed",
        "1",
    ];
    let ran = project.run(&args);
    let finals = ran.json();
    let passed = finals["attempts"].as_array().unwrap().iter().filter(|attempt| attempt["verdict"] == "passed").count();
    assert_eq!(passed, 6, "{finals:#}");
    ran.exits(0);
}

#[test]
fn two_runs_that_save_into_one_file_both_succeed() {
    let project = parcels().with("trails/a.trail.yaml", trail("", DELEGATES));
    let record = |device: &str| project.start(&["run", "--pictures", "off", "--record", "-d", device]);
    let (android, ios) = (record("android/sim-1"), record("ios/sim-1"));
    project.ended(android).exits(0);
    project.ended(ios).exits(0);
    let text = project.read("trails/a.trail.yaml");
    assert!(text.contains("      android:\n") && text.contains("      ios:\n"), "{text}");
    project.run(&["check", "-d", "android/sim-1,ios/sim-1"]).exits(0);
}

#[test]
fn a_recording_that_cannot_be_stored_is_printed_and_harms_nothing() {
    let project = parcels().with("trails/a.trail.yaml", trail("", DELEGATES));
    let before = project.read("trails/a.trail.yaml");
    // A file where the folder of the lock should be: nothing can be saved, whoever runs this.
    project.write(".trailblaze", "in the way\n");
    let ran = project.run(&["run", "--pictures", "off", "--record", "-d", "android/sim-1"]);
    assert_ne!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("    recording:\n      android:\n        - launchApp:"), "{}", ran.stdout);
    assert_eq!(project.read("trails/a.trail.yaml"), before);
}

#[test]
fn a_tool_that_changed_since_it_was_recorded_is_told() {
    let tool =
        |text: &str| format!("id: addOne\ndescription: Adds one.\nparameters: []\ntools:\n  - tap: {{{text}}}\n");
    let body = "    tools: [{launchApp: {packageId: com.example.counter}}, {addOne: {}}]\n";
    let project = Project::counter()
        .with("trails/a.trail.yaml", trail("", body))
        .with("trailblaze-config/tools/addOne.yaml", tool("id: add"));
    project.run(&["run", "--pictures", "off", "--record"]).exits(0);
    assert!(project.read("trails/a.effects.yaml").contains("addOne:"));
    let same = project.run(&["run", "--pictures", "off"]).exits(0);
    assert!(!same.stderr.contains("changed"), "{}", same.stderr);
    project.write("trailblaze-config/tools/addOne.yaml", tool("text: Add one"));
    let changed = project.run(&["run", "--pictures", "off"]).exits(0);
    assert!(changed.stderr.contains("the tool `addOne` changed since this was recorded"), "{}", changed.stderr);
    assert!(
        changed.stderr.contains("`trailblaze run trails/a.trail.yaml --record` records it again"),
        "{}",
        changed.stderr
    );
    project.run(&["run", "--pictures", "off", "--strict"]).exits(3);
    project.run(&["run", "--pictures", "off", "--record"]).exits(0);
    project.run(&["run", "--pictures", "off", "--strict"]).exits(0);
}

#[test]
fn a_tool_that_changed_is_told_of_once_for_all_platforms() {
    let tool =
        |id: &str| format!("id: addOne\ndescription: Adds one.\nparameters: []\ntools:\n  - tap: {{id: {id}}}\n");
    let slot = |platform: &str| {
        format!("      {platform}: [{{launchApp: {{packageId: com.example.counter}}}}, {{addOne: {{}}}}]\n")
    };
    let text = format!("trail:\n  - step: Count\n    recording:\n{}{}", slot("android"), slot("ios"));
    let project =
        Project::counter().with("trails/a.trail.yaml", text).with("trailblaze-config/tools/addOne.yaml", tool("add"));
    let devices = "android/sim-1,ios/sim-1";
    project.run(&["run", "--pictures", "off", "--record", "-d", devices]).exits(0);
    project.write("trailblaze-config/tools/addOne.yaml", tool("more"));
    for args in [["check", "-d", devices], ["run", "-d", devices]] {
        let ran = project.run(&args).exits(0);
        let told = ran.stderr.matches("the tool `addOne` changed since this was recorded").count();
        assert_eq!(told, 1, "{}", ran.stderr);
    }
}

#[test]
fn only_who_asks_for_a_recording_is_warned_of_what_it_lacks() {
    let text = format!(
        "trailhead:\n  step: Start\n  tools: [{{launchApp: {{packageId: com.example.counter}}}}, {{parcel_tap: {{id: add}}}}]\n{}",
        trail("", "    tools: [{assertVisible: {id: count}}]\n")
    );
    let project = parcels().with("trails/a.trail.yaml", text);
    let warned = |args: &[&str]| project.run(args).exits(0).stderr.contains("the trailhead made 2 calls");
    assert!(!warned(&["run", "-d", "android/sim-1"]));
    assert!(warned(&["run", "-d", "android/sim-1", "--record"]));
}

#[test]
fn a_changed_trail_runs_again_alone() {
    let project = project();
    let running = project.start(&["run", "--pictures", "off", "--watch", "--tags", "smoke"]);
    let ended = |n: usize| {
        crate::support::wait_until(&format!("run {n} to end"), || {
            let runs = project.runs();
            let is_finished =
                |run: &crate::support::RunFolder| run.has("summary.json") && run.summary()["isFinished"] == true;
            (runs.len() == n && runs.iter().all(is_finished)).then_some(runs)
        })
    };
    ended(1);
    project.write("trails/b.trail.yaml", format!("# changed\n{}", trail("smoke", PASSES)));
    let again = ended(2).pop().unwrap();
    let trails: Vec<Value> = again.summary()["attempts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|attempt| attempt["trail"]["path"].clone())
        .collect();
    assert_eq!(trails, [json!("trails/b.trail.yaml")]);
    // A file that all of them depend on runs all of them.
    project.write("counter.app.yaml", crate::support::COUNTER_APP.replace("Add one", "Add 1"));
    assert_eq!(ended(3).pop().unwrap().summary()["attempts"].as_array().unwrap().len(), 2);
    running.interrupt();
    project.ended(running).exits(0);
}

#[test]
fn a_changed_tool_file_runs_again_the_trails_that_call_it() {
    let tool =
        |id: &str| format!("id: addOne\ndescription: Adds one.\nparameters: []\ntools:\n  - tap: {{id: {id}}}\n");
    let open = "{launchApp: {packageId: com.example.counter}}";
    let project = Project::counter()
        .with("trails/a.trail.yaml", trail("", &format!("    tools: [{open}, {{addOne: {{}}}}]\n")))
        .with("trails/b.trail.yaml", trail("", &format!("    tools: [{open}]\n")))
        .with("trailblaze-config/tools/addOne.yaml", tool("add"));
    let running = project.start(&["run", "--pictures", "off", "--watch"]);
    let ended = |n: usize| -> Vec<Value> {
        let run = crate::support::wait_until(&format!("run {n} to end"), || {
            let mut runs = project.runs();
            let is_finished =
                |run: &crate::support::RunFolder| run.has("summary.json") && run.summary()["isFinished"] == true;
            (runs.len() == n && runs.iter().all(is_finished)).then(|| runs.pop()).flatten()
        });
        let attempts = run.summary()["attempts"].as_array().unwrap().clone();
        attempts.iter().map(|attempt| json!([attempt["trail"]["path"], attempt["verdict"]])).collect()
    };
    let (a, b) = ("trails/a.trail.yaml", "trails/b.trail.yaml");
    assert_eq!(ended(1), [json!([a, "passed"]), json!([b, "passed"])]);
    project.write("trailblaze-config/tools/addOne.yaml", tool("more"));
    assert_eq!(ended(2), [json!([a, "passed"])]);
    // A file that nobody has seen yet may concern anybody.
    project.write("trailblaze-config/tools/other.yaml", tool("add").replace("addOne", "other"));
    assert_eq!(ended(3).len(), 2);
    running.interrupt();
    project.ended(running).exits(0);
}

#[test]
fn a_platform_stands_for_its_only_device() {
    let trail = "trail:\n  - step: Count\n    tools: [launchApp: {packageId: com.example.counter}]\n";
    let project = Project::counter().with("trails/a.trail.yaml", trail);
    let config = project.read("trailblaze.yaml");
    let ran_on = |expected: &str| {
        let ran = project.run(&["run", "-d", "ios"]).exits(0);
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    };
    ran_on("ios/sim-1");
    project.write("trailblaze.yaml", format!("{config}devices:\n  - {{id: ios/sim-3}}\n  - {{id: android/sim-1}}\n"));
    ran_on("ios/sim-3");
    project.write("trailblaze.yaml", format!("{config}devices:\n  - {{id: ios/sim-3}}\n  - {{id: ios/sim-4}}\n"));
    let refused = project.run(&["run", "-d", "ios"]).exits(3);
    let expected = "there are several ios devices; name one of ios/sim-3, ios/sim-4";
    assert!(refused.stderr.contains(expected), "{}", refused.stderr);
}
