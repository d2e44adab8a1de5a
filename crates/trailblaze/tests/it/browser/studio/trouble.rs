//! What a page is told when something is large, slow, lost or replaced.

use serde_json::{Value, json};

use crate::browser::studio::browsing::person_at;
use crate::browser::studio::opening::{address, on_session, open};
use crate::browser::studio::page::{element, has};
use crate::support::chromium;
use crate::support::home::{Home, kill};
use crate::support::{is_full_tier, wait_until};

#[test]
fn a_trail_that_cannot_be_read_is_listed_with_the_reason() {
    let home = Home::counter();
    home.project.write("trails/broken.trail.yaml", "trail:\n  - step: Open\n    tools: [\n");
    let (page, _) = on_session(&home, &["-d", "android/sim-1"]);
    let mut workspace = page.follow("WatchWorkspace", json!({}));
    let listed = workspace.until("the trails", |now| {
        now["trails"].as_array().is_some_and(|all| all.iter().any(|trail| trail["last"] == "unreadable"))
    });
    let broken = listed["trails"].as_array().into_iter().flatten().find(|trail| trail["last"] == "unreadable");
    let broken = broken.expect("it is listed");
    assert_eq!(broken["path"], "trails/broken.trail.yaml");
    assert!(broken["title"].as_str().is_some_and(|why| why.starts_with("line ")), "{broken:#}");
}

#[test]
fn a_lost_device_is_told_and_its_steps_can_still_be_saved() {
    let home = Home::counter();
    let (page, session) = on_session(&home, &["-d", "android/sim-1", "--sim", "lostAt=1"]);
    let call = |tool: &str, arguments| {
        page.call("CallStudioTool", json!({"session": session, "tool": tool, "arguments": arguments}))
    };
    let mut screens = page.watch("screen", &session);
    screens.until("the home screen", |screen| has(screen, "Counter"));
    assert_eq!(call("remember", json!({"variable": "a", "value": "b"}))["isDone"], true);
    let lost = call("tap", json!({"text": "Counter"}));
    assert!(lost["text"].as_str().is_some_and(|text| text.contains("the device was lost")), "{lost:#}");
    let screen = screens.until("the loss", |screen| screen["lost"] != "");
    assert!(screen["lost"].as_str().is_some_and(|text| text.contains("the device was lost")), "{screen:#}");
    let again = call("tap", json!({"text": "Counter"}));
    assert!(again["text"].as_str().is_some_and(|text| text.contains("its steps can still be saved")), "{again:#}");
    page.call("SaveTrail", json!({"session": session, "path": "trails/kept.trail.yaml"}));
    assert!(home.project.read("trails/kept.trail.yaml").contains("remember"));
    let opened = page.call("OpenSession", json!({"device": "android/sim-1", "takeOver": true}));
    assert_eq!(opened["session"], session.as_str());
    let steps = json!([{"text": "Remember b", "calls": [{"remember": {"variable": "a", "value": "b"}}]}]);
    let edited = page.call("EditSteps", json!({"session": session, "revision": 0, "steps": steps}));
    assert_eq!(edited["isDone"], true, "{edited:#}");
}

#[test]
fn a_lost_device_is_opened_again_with_the_steps() {
    if chromium::find().is_none() {
        return;
    }
    let home = Home::counter();
    let address = address(&home, &["-d", "android/sim-1", "--sim", "lostAt=1"]);
    home.run(&["tool", "remember", "variable=a", "value=b"]).exits(0);
    let person = person_at(&address);
    home.run(&["tool", "tap", "text=Counter"]).exits(2);
    person.run(&["tool", "tap", "text=Reopen"]).exits(0);
    person.run(&["tool", "assertNotVisible", "text=The device cannot be used any more."]).exits(0);
    person.run(&["tool", "assertVisible", "text=Live"]).exits(0);
    let steps = home.run(&["session", "show"]).exits(0).stdout;
    assert!(steps.contains("remember"), "{steps}");
    home.run(&["tool", "tap", "text=Counter"]).exits(0);
}

#[test]
fn a_page_whose_daemon_was_replaced_is_told_what_to_do_and_enters_again() {
    let home = Home::counter();
    let (page, session) = on_session(&home, &["-d", "android/sim-1", "--launch", "com.example.counter"]);
    let pid = home.pid();
    kill(pid);
    wait_until("the daemon is gone", || (!std::path::Path::new(&format!("/proc/{pid}")).exists()).then_some(()));
    // The port may be another one; a page stays with its own.
    let (mut next, opened) = on_session(&home, &["-d", "android/sim-1"]);
    assert_eq!((&next.workspace, &opened), (&page.workspace, &session));
    let cookie = std::mem::replace(&mut next.cookie, page.cookie.clone());
    assert_eq!(next.try_call("Inspect", json!({"session": session})).expect_err("an old cookie").0, "unauthenticated");
    next.cookie = cookie;
    next.watch("screen", &session).until("the screen", |screen| screen.get("picture").is_some());
}

#[test]
fn a_model_works_while_the_page_follows_its_turns() {
    let home = Home::counter();
    home.project.write(
        "replies.yaml",
        "replies:\n  - expect: {contains: 'Step: count once'}\n    reply: {calls: [{tap: {ref: 'button \"Add one\"', completesStep: true}}]}\n",
    );
    let (page, session) = on_session(
        &home,
        &["-d", "android/sim-1", "--launch", "com.example.counter", "--model", "scripted/replies.yaml"],
    );
    let mut log = page.watch("log", &session);
    assert_eq!(log.next().expect("the log")["isReset"], true);
    let done = page.call("CarryOut", json!({"session": session, "text": "count once"}));
    assert_eq!(done["isDone"], true, "{done:#}");
    let is_turn = |entry: &serde_json::Value| entry["kind"] == "turn" && entry["level"] == "ok";
    let told =
        log.until("the turn", |log| log["entries"].as_array().is_some_and(|entries| entries.iter().any(is_turn)));
    let turn =
        told["entries"].as_array().and_then(|entries| entries.iter().find(|entry| is_turn(entry))).expect("a turn");
    assert!(turn["detail"].as_str().is_some_and(|text| text.contains("Add one")), "{turn:#}");
    let shown = page.watch("steps", &session).next().expect("the steps");
    assert_eq!((&shown["hasModel"], &shown["steps"][1]["text"]), (&json!(true), &json!("count once")), "{shown:#}");
    assert_eq!(shown["steps"][1]["calls"], json!([{"tap": {"id": "add"}}]));
    let empty = page.try_call("CarryOut", json!({"session": session, "text": " "})).expect_err("nothing to do");
    assert_eq!(empty.1, "say what to do");
}

#[test]
fn what_a_session_does_can_be_stopped() {
    let home = Home::counter();
    let (page, session) = on_session(&home, &["-d", "android/sim-1"]);
    let other = open(&home, &[]);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let wait = json!({"session": session, "tool": "wait", "arguments": {"timeToWaitInSeconds": 50}});
            page.call("CallStudioTool", wait)
        });
        let mut steps = other.watch("steps", &session);
        steps.until("that it waits", |steps| steps["working"] == "wait");
        assert_eq!(other.call("StopWork", json!({"session": session}))["text"], "stopped");
        let ended = waiting.join().expect("an answer");
        assert_eq!(ended["isDone"], false, "{ended:#}");
        steps.until("that it does nothing", |steps| steps["working"] == "");
    });
    assert_eq!(other.call("StopWork", json!({"session": session}))["text"], "there was nothing to stop");
}

#[test]
fn a_screen_of_thousands_of_elements_is_listed_up_to_a_limit() {
    if chromium::find().is_none() {
        return;
    }
    let home = Home::counter();
    let buttons: String = (0..6_000).map(|number| format!("<button>Button {number}</button>")).collect();
    home.project.write("many.html", format!("<!doctype html><title>Many</title><body style='font-size:3px'>{buttons}"));
    let page_file = format!("file://{}", home.project.root().join("many.html").display());
    let (page, session) = on_session(&home, &["-d", "web/chromium", "--launch", &page_file]);
    let screen = page.watch("screen", &session).until("the page", |screen| has(screen, "Button 4000"));
    let n_elements = screen["elements"].as_array().map(Vec::len);
    assert_eq!((n_elements, screen["leftOut"].as_i64() > Some(500)), (Some(5_000), true), "{}", screen["leftOut"]);
    // Describing one of so many elements takes seconds in a build without optimisation.
    if !is_full_tier() {
        return;
    }
    let place_on = |screen: &Value| {
        let last = element(screen, "Button 4000");
        json!({"session": session, "generation": screen["generation"], "element": last["index"]})
    };
    let found = page.call("Inspect", place_on(&screen));
    assert_eq!(found["descriptions"][0]["text"], "text Button 4000");
    // On a busy machine, a page of this size may be drawn once more, and a tap on the screen before that is refused.
    let answers = (0..5).map(|_| {
        let screen = page.watch("screen", &session).until("the page", |screen| has(screen, "Button 4000"));
        let mut act = place_on(&screen);
        act["action"] = "tap".into();
        page.call("Act", act)
    });
    let mut refused = Vec::new();
    let is_done = answers.inspect(|answer| refused.push(answer.clone())).any(|answer| answer["isDone"] == true);
    assert!(is_done, "{refused:#?}");
}
