//! Runs in a page: started, watched while they run, stopped, and run again.

use serde_json::{Value, json};

use crate::browser::studio::opening::open;
use crate::browser::studio::page::{Page, Stream};
use crate::support::home::Home;
use trailblaze_protocol::event::Event;

const TRAIL: &str = "trails/add.trail.yaml";

fn with_trail(home: &Home, wait: &str) {
    home.project.write(
        TRAIL,
        format!(
            "config:\n  id: add\n  title: Add one\ntrailhead:\n  step: Start\n  tools:\n    - launchApp: {{packageId: com.example.counter}}\ntrail:\n  - step: Add\n    tools:\n      - tap: {{id: add}}\n{wait}  - verify: One\n    tools:\n      - assertVisible: {{text: 'Count: 1'}}\n"
        ),
    );
}

fn last(stream: &mut Stream<'_>) -> Value {
    let mut last = json!(null);
    while let Some(update) = stream.next() {
        last = update;
    }
    last
}

#[test]
fn a_run_is_watched_until_it_turns_into_its_report() {
    let home = Home::counter();
    with_trail(&home, "");
    let page = open(&home, &[]);
    let mut workspace = page.follow("WatchWorkspace", json!({}));
    let before = workspace.next().expect("the workspace");
    assert_eq!((&before["trails"][0]["path"], &before["trails"][0]["last"]), (&json!(TRAIL), &json!("")));
    assert!(before["devices"].as_array().is_some_and(|devices| !devices.is_empty()), "{before:#}");
    let started = page.call("StartRun", json!({"trails": [TRAIL], "devices": ["android/sim-1", "android/sim-2"]}));
    let run = started["run"].as_str().expect("a run").to_string();
    let ended = last(&mut page.follow("WatchRun", json!({"run": run})));
    assert_eq!((&ended["isOver"], &ended["run"]["exit"]), (&json!(true), &json!("passed")), "{ended:#}");
    assert_eq!(ended["run"]["attempts"].as_array().map(Vec::len), Some(1), "one device of a kind is enough");
    assert_eq!(ended["run"]["command"], format!("trailblaze run {TRAIL} -d android/sim-1,android/sim-2"));
    let driver = &ended["run"]["lanes"][0]["sessions"][0]["device"]["driver"];
    assert_eq!(driver, "simulated (android-ondevice-accessibility)");
    let detail = page.call("GetAttempt", json!({"run": run, "attempt": 0}));
    assert_eq!(detail["attempt"]["steps"][1]["text"], "Add");
    let picture = detail["attempt"]["steps"].to_string();
    let file = picture.split('"').find(|text| text.ends_with(".webp") || text.ends_with(".png")).expect("a picture");
    let (status, headers, _) = page.get(&format!("/studio/runs/{}/{run}/{file}", page.workspace));
    assert!(status == 200 && headers["content-type"].to_str().is_ok_and(|kind| kind.starts_with("image/")), "{file}");
    let (status, _, report) = page.get(ended["report"].as_str().expect("an address"));
    assert!(status == 200 && report.len() > 10_000);
    let after = workspace.until("the run", |workspace| workspace["runs"][0]["state"] == "passed");
    assert_eq!((&after["runs"][0]["id"], &after["trails"][0]["last"]), (&json!(run), &json!("passed")));
    // A run of another process is seen too.
    home.run(&["run"]).exits(0);
    workspace.until("another run", |workspace| workspace["runs"].as_array().is_some_and(|runs| runs.len() == 2));
}

#[test]
fn opening_the_studio_again_does_not_start_the_app_again() {
    let home = Home::counter();
    let args = ["studio", "--json", "-d", "android/sim-1", "--launch", "com.example.counter"];
    home.run(&args).exits(0);
    home.run(&["tool", "tap", "id=add"]).exits(0);
    let again = home.run(&args).exits(0);
    assert!(
        again.stderr.contains("is open and has steps, so `com.example.counter` was not started again"),
        "{again:?}"
    );
    let snapshot = home.run(&["snapshot"]).exits(0).stdout;
    assert!(snapshot.contains("Count: 1"), "{snapshot}");
    let calls = home.project.last_run().events();
    let is_launch = |event: &Event| matches!(event, Event::Called(called) if called.tool == "launchApp");
    assert_eq!(calls.iter().filter(|event| is_launch(event)).count(), 1);
}

#[test]
fn a_run_is_stopped() {
    let home = Home::counter();
    with_trail(&home, "  - step: Wait\n    tools:\n      - wait: {timeToWaitInSeconds: 50}\n");
    let page = open(&home, &[]);
    let started = page.call("StartRun", json!({"trails": [TRAIL]}));
    let run = started["run"].as_str().expect("a run").to_string();
    let mut watch = page.follow("WatchRun", json!({"run": run}));
    let running = watch.until("the first step", |update| {
        update["run"]["attempts"].as_array().is_some_and(|attempts| !attempts.is_empty())
    });
    assert_eq!(
        (&running["isOver"], &running["isStoppable"], &running["report"]),
        (&json!(false), &json!(true), &json!(""))
    );
    let mut workspace = page.follow("WatchWorkspace", json!({}));
    workspace.until("the run", |workspace| workspace["runs"][0]["isStoppable"] == true);
    assert_eq!(page.call("StopRun", json!({"run": run}))["isDone"], true);
    let ended = last(&mut watch);
    assert_eq!(
        (&ended["run"]["exit"], &ended["run"]["counts"]["cancelled"]),
        (&json!("environment"), &json!(1)),
        "{ended:#}"
    );
    workspace.until("that it was stopped", |workspace| workspace["runs"][0]["state"] == "cancelled");
    assert_eq!(page.call("StopRun", json!({"run": run}))["isDone"], false);
}

#[test]
fn what_cannot_run_is_told() {
    let home = Home::counter();
    with_trail(&home, "");
    let page = open(&home, &[]);
    let started = page.call("StartRun", json!({"trails": ["trails/none.trail.yaml"]}));
    assert!(started["problem"].as_str().is_some_and(|problem| problem.contains("none.trail.yaml")), "{started:#}");
    let started = page.call("StartRun", json!({"trails": [TRAIL], "devices": ["fridge/one"]}));
    assert!(started["problem"].as_str().is_some_and(|problem| problem.contains("fridge")), "{started:#}");
    for run in ["nothing", "..", "../trails", ""] {
        let (code, message) = page.try_call("GetAttempt", json!({"run": run})).expect_err("no such run");
        assert!(code == "failed_precondition" && message.contains("there is no run"), "{run}: {message}");
    }
    home.project.write("trailblaze.yaml", "platfrom: android\n");
    let (code, message) = page.try_call("StartRun", json!({})).expect_err("the project is broken");
    assert!(code == "failed_precondition" && message.contains("platfrom"), "{message}");
    let shown = page.follow("WatchWorkspace", json!({})).next().expect("the workspace");
    assert!(shown["problem"].as_str().is_some_and(|problem| problem.contains("platfrom")), "{shown:#}");
}

#[test]
fn trails_run_again_when_they_change() {
    let home = Home::counter();
    with_trail(&home, "");
    let page = open(&home, &[]);
    let mut workspace = page.follow("WatchWorkspace", json!({}));
    assert_eq!(page.call("RerunOnChange", json!({"trails": [TRAIL]}))["isDone"], true);
    let n_passed = |workspace: &Value| {
        let runs = workspace["runs"].as_array().into_iter().flatten();
        runs.filter(|run| run["state"] == "passed").count()
    };
    let shown = workspace.until("the first run", |workspace| n_passed(workspace) == 1);
    assert_eq!(shown["reruns"], json!([TRAIL]));
    let text = home.project.read(TRAIL).replace("Add one", "Add one again");
    home.project.write(TRAIL, text);
    let shown = workspace.until("the second run", |workspace| n_passed(workspace) == 2);
    assert_eq!((&shown["runs"][0]["rerun"], &shown["runs"][1]["rerun"]), (&json!("change"), &json!("")), "{shown:#}");
    let first = shown["runs"][1]["id"].clone();
    page.call("StartRun", json!({"trails": [TRAIL], "rerunOf": first}));
    workspace.until("that run again", |workspace| workspace["runs"][0]["rerun"] == first);
    assert_eq!(page.call("RerunOnChange", json!({}))["isDone"], true);
    workspace.until("that it is off", |workspace| workspace["reruns"] == json!([]));
}

#[test]
fn run_with_ui_prints_an_address_that_selects_the_trails() {
    let home = Home::counter();
    with_trail(&home, "");
    let printed = home.run(&["run", "--ui", "trails", "-d", "android/sim-1"]).exits(0).stdout;
    let address = printed.trim();
    assert!(address.ends_with("&trails=trails/add.trail.yaml&devices=android/sim-1"), "{address}");
    let mut page = Page::at(address);
    assert_eq!(page.enter(), 204);
    assert!(home.project.runs().is_empty(), "nothing runs before it is asked for");
}
