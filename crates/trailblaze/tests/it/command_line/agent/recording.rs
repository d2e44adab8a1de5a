//! What a model did is recorded, and replayed without it.

use serde_json::json;
use trailblaze_protocol::event::{Event, Plan};

use super::{counter, reply, run, trail};
use crate::support::Project;

#[test]
fn the_example_in_plain_words_is_recorded_and_replayed_without_a_model_on_both_platforms() {
    let project = Project::wallet();
    let ran = project
        .run(&["run", "plain-words", "--record", "--model", "scripted/plain-words/send-money.replies.yaml", "--json"])
        .exits(0);
    let summary = ran.json();
    assert_eq!((&summary["counts"]["passed"], &summary["modelUse"]["requests"]), (&json!(2), &json!(12)), "{summary}");
    assert_eq!(summary["modelUse"]["cost"], json!(null));
    let recorded = project.read("plain-words/send-money.trail.yaml");
    for device in ["android:", "ios:"] {
        assert_eq!(recorded.matches(device).count(), 4, "{recorded}");
    }
    project.run(&["run", "plain-words", "--model", "none"]).exits(0);
    let events = project.last_run().events();
    assert!(!events.iter().any(|event| matches!(event, Event::ModelAsked(_))));
    let is_replayed = |event: &Event| !matches!(event, Event::StepStarted { plan: Plan::Model, .. });
    assert!(events.iter().all(is_replayed));
}

#[test]
fn a_step_without_a_recording_is_refused_before_anything_starts_if_there_is_no_model() {
    let project = counter(&trail("  - step: Add one\n  - verify: The count is one\n"), "  []\n");
    for args in [&["run", "-d", "android/sim-1"][..], &["run", "-d", "android/sim-1", "--model", "none"]] {
        let said = project.run(args).exits(3).stderr;
        assert!(said.contains("trails/a.trail.yaml:5:11") && said.contains("trails/a.trail.yaml:6:13"), "{said}");
        assert!(said.contains("choose a model with --model"), "{said}");
    }
    assert!(!project.last_run().events().iter().any(|event| matches!(event, Event::SessionOpened { .. })));
}

#[test]
fn a_check_that_fails_fails_the_trail_and_says_what_the_model_saw() {
    let replies = reply("Check: The count is one", "{assertVisible: {text: 'Count: 1', completesStep: true}}")
        + &reply("Check: The count is one", "{objectiveStatus: {status: FAILED, explanation: it says Count: 0}}")
            .replace("it says Count: 0", "it says 0");
    let project = counter(&trail("  - verify: The count is one\n"), &replies);
    let ran = run(&project, &[]).exits(1);
    assert!(
        ran.stdout.contains("the model says that it is not so: it says 0; the last error was: `assertVisible` failed"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_cassette_replays_a_run_byte_for_byte_without_the_model() {
    let steps = "  - step: Add one\n  - verify: The count is one\n";
    let replies = reply("Step: Add one", "{tap: {ref: 'nothing'}}")
        + &reply("Step: Add one", "{tap: {ref: 'button \"Add one\"', completesStep: true}}")
        + &reply("Check: The count is one", "{assertVisible: {text: 'Count: 1', completesStep: true}}");
    let project = counter(&trail(steps), &replies);
    run(&project, &["--model-cassette", "record"]).exits(0);
    let cassette = "cassettes/models/trails/a.android-phone.replies.yaml";
    let recorded = project.read(cassette);
    assert!(recorded.contains("Add one"), "{recorded}");
    std::fs::remove_file(project.root().join("replies.yaml")).unwrap();
    let asked = |project: &Project| -> Vec<_> {
        let events = project.last_run().events();
        events
            .into_iter()
            .filter_map(|event| match event {
                Event::ModelAsked(asked) => Some((asked.setup, asked.messages)),
                _ => None,
            })
            .collect()
    };
    let first = asked(&project);
    for _ in 0..2 {
        project.run(&["run", "-d", "android/sim-1", "--pictures", "off", "--model-cassette", "replay"]).exits(0);
        assert_eq!(asked(&project), first);
    }
    // A changed test asks something else, and the error says what.
    project.write("trails/a.trail.yaml", trail("  - step: Add one, please\n"));
    let ran = project.run(&["run", "-d", "android/sim-1", "--model-cassette", "replay"]).exits(3);
    assert!(ran.stdout.contains(cassette) && ran.stdout.contains("message"), "{}", ran.stdout);
}

#[test]
fn a_judgement_is_asked_for_in_every_replay_and_marked_as_one() {
    let replies = reply("Statement: Add one is a button", "{verdict: {holds: true, reason: it looks like one}}");
    let steps = "  - verify: It looks right\n    tools: [{verifyVisually: {statement: Add one is a button}}]\n";
    let project = counter(&trail(steps), &replies);
    run(&project, &["--record"]).exits(0);
    let trail = project.read("trails/a.trail.yaml");
    assert!(!trail.contains("recording"), "{trail}");
    let folder = project.last_run();
    let junit = std::fs::read_to_string(folder.path.join("junit.xml")).unwrap();
    assert!(junit.contains("judged by a model") && junit.contains("it looks like one"), "{junit}");
    let said = project.run(&["run", "-d", "android/sim-1"]).exits(3).stderr;
    assert!(said.contains("`verifyVisually` needs a model"), "{said}");
}

#[test]
fn what_was_sent_and_received_is_in_the_record_and_in_the_report() {
    let replies = reply("Step: Add one", "{tap: {ref: 'button \"Add one\"', completesStep: true}}");
    let project = counter(&trail("  - step: Add one\n"), &replies);
    run(&project, &[]).exits(0);
    let folder = project.last_run();
    let events = folder.events();
    let asked = events.iter().find_map(|event| match event {
        Event::ModelAsked(asked) => Some(asked.clone()),
        _ => None,
    });
    let asked = asked.expect("the model was asked");
    assert!(asked.messages[0].contains("Step: Add one") && asked.messages[0].contains("Count: 0"), "{asked:?}");
    let setup: serde_json::Value = serde_json::from_str(&folder.text(&asked.setup)).unwrap();
    assert!(setup["system"].as_str().unwrap().contains("completesStep"), "{setup}");
    assert!(setup["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "tap"), "{setup}");
    let html = folder.text("report.html");
    assert!(html.contains("Step: Add one") && html.contains("button \\\\\\\"Add one"), "the report has both");
}

#[test]
fn a_step_that_the_model_only_claims_to_have_done_is_not_recorded() {
    let replies = reply("Step: Add one", "{objectiveStatus: {status: COMPLETED, explanation: it is done}}");
    let project = counter(&trail("  - step: Add one\n"), &replies);
    let ran = run(&project, &["--record"]).exits(0);
    assert!(ran.stderr.contains("was completed without a call that could be replayed"), "{}", ran.stderr);
    assert!(!project.read("trails/a.trail.yaml").contains("recording"));
}
