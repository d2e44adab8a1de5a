//! Endpoints that are none, or that fail: words, an exit code, and no session that stays.

use std::sync::Mutex;
use std::sync::mpsc::channel;

use serde_json::{Value, json};

use super::{entry, run};
use crate::support::webdriver::{ScriptedAnswer, ScriptedEndpoint};
use crate::support::{PATIENCE, Project, is_full_tier};

fn value(value: Value) -> ScriptedAnswer {
    Some((200, json!({"value": value}).to_string()))
}

fn error(status: u16, code: &str, message: &str) -> ScriptedAnswer {
    Some((status, json!({"value": {"error": code, "message": message, "stacktrace": ""}}).to_string()))
}

/// A project with a device that has these keys.
fn project(keys: Value) -> Project {
    let trail = "trail:\n  - step: Go\n    tools: [web_navigate: {url: 'http://shop.example/'}]\n";
    Project::empty().with("trailblaze.yaml", entry(keys)).with("trails/a.trail.yaml", trail)
}

/// What a run says that cannot have a session.
fn fails(keys: Value, code: i32) -> String {
    let project = project(keys);
    let ran = run(&project, &[]).exits(code);
    format!("{}{}", ran.stdout, ran.stderr)
}

#[test]
fn what_is_no_endpoint_is_told_by_what_it_answers() {
    for (status, body, words) in [
        (
            200,
            "<html><title>Welcome to nginx!</title>",
            "answers `POST /session` with 200 and the page \"Welcome to nginx!\"",
        ),
        (404, "not here", "answers `POST /session` with 404 and `not here`"),
        (401, "", "refuses our credentials with 401: set `credentials:` of the device"),
        (200, r#"{"value": {"sessionId": "../../evil", "capabilities": {}}}"#, "no id of a session"),
        (200, r#"{"sessionId": "1", "status": 0}"#, "is no WebDriver endpoint"),
    ] {
        let endpoint = ScriptedEndpoint::start(move |_, _| Some((status, body.to_string())));
        let told = fails(json!({"webdriver": endpoint.address}), 2);
        assert!(told.contains(words), "{words} in {told}");
        assert_eq!(endpoint.asked(), ["POST /session"], "asking again cannot help");
    }
}

#[test]
fn a_capability_that_nobody_offers_is_named() {
    let endpoint = ScriptedEndpoint::start(|_, _| error(500, "session not created", "No matching capabilities found"));
    let keys = json!({"webdriver": endpoint.address, "capabilities": {"browserName": "opera"}});
    let told = fails(keys, 2);
    assert!(told.contains("No matching capabilities found; no session has all that `capabilities:` ask for"), "{told}");
    assert!(told.contains("browserName"), "{told}");
}

#[test]
fn a_full_grid_is_waited_for_and_then_said_to_be_full() {
    let slot = |session: Value| json!({"session": session});
    let nodes = json!([{"slots": [slot(json!({"sessionId": "x"})), slot(json!({"sessionId": "y"}))]}]);
    let endpoint = ScriptedEndpoint::start(move |request, _| match request {
        "GET /status" => value(json!({"ready": true, "nodes": nodes})),
        _ => error(500, "session not created", "New session request timed out in the queue"),
    });
    let told = fails(json!({"webdriver": endpoint.address, "sessionWait": "3s"}), 2);
    assert!(told.contains("gave no session within"), "{told}");
    assert!(told.contains("; 2 of its 2 slots are in use; it said last:"), "{told}");
    assert!(told.contains("ask for fewer `slots:`, or wait longer with `sessionWait:`"), "{told}");
    let n_asked = endpoint.asked().iter().filter(|request| *request == "POST /session").count();
    assert!(n_asked > 1, "it is asked again");
}

#[test]
fn nothing_that_listens_is_waited_for_and_told() {
    let told = fails(json!({"webdriver": "http://127.0.0.1:1", "sessionWait": "1s"}), 2);
    assert!(told.contains("no WebDriver endpoint can be reached at http://127.0.0.1:1: connection refused"), "{told}");
}

#[test]
fn an_address_that_is_none_is_a_mistake_of_the_project() {
    let told = fails(json!({"webdriver": "hub.example:4444"}), 3);
    assert!(
        told.contains("`webdriver:` is no address of an endpoint: it must start with http:// or https://"),
        "{told}"
    );
    let told = fails(json!({"webdriver": "http://127.0.0.1:1", "slots": 0}), 3);
    assert!(told.contains("`slots` is a number from 1 to 5000"), "{told}");
}

#[test]
fn credentials_come_from_the_environment_and_are_in_no_record() {
    let endpoint = ScriptedEndpoint::start(|_, _| Some((401, String::new())));
    let credentials = json!({"user": "ci", "env_var": "GRID_KEY"});
    let project = project(json!({"webdriver": endpoint.address, "credentials": credentials}));
    let ran = project.finish({
        let mut command = project.command(&["run", "--pictures", "off"]);
        command.env("GRID_KEY", "s3cret-key");
        command
    });
    let ran = ran.exits(2);
    assert_eq!(endpoint.asked(), ["POST /session as Basic Y2k6czNjcmV0LWtleQ=="]);
    let told = format!("{}{}{}", ran.stdout, ran.stderr, project.last_run().text("events.jsonl"));
    assert!(!told.contains("s3cret-key") && !told.contains("Y2k6czNjcmV0"), "{told}");
    let unset = run(&project, &[]).exits(2);
    let told = format!("{}{}", unset.stdout, unset.stderr);
    assert!(told.contains("need the environment variable GRID_KEY, which is not set"), "{told}");
}

#[test]
fn a_session_that_dies_in_the_middle_is_replaced_once_and_then_told() {
    let n_made = Mutex::new(0);
    let endpoint = ScriptedEndpoint::start(move |request, _| match request {
        "POST /session" => {
            let mut n_made = n_made.lock().expect("no panic");
            *n_made += 1;
            value(json!({"sessionId": format!("s{n_made}"), "capabilities": {"browserName": "chrome"}}))
        }
        "GET /status" => value(json!({"ready": true})),
        request if request.starts_with("DELETE") => value(Value::Null),
        _ => error(404, "invalid session id", "the node is gone"),
    });
    let project = project(json!({"webdriver": endpoint.address}));
    let ran = run(&project, &[]).exits(2);
    let told = format!("{}{}", ran.stdout, ran.stderr);
    assert!(told.contains("its trail moves to another session"), "{told}");
    assert!(told.contains("the session ended: the node is gone"), "{told}");
    let asked = endpoint.asked();
    let n = |start: &str| asked.iter().filter(|request| request.starts_with(start)).count();
    assert_eq!(n("POST /session") - n("POST /session/"), 2, "{asked:?}");
    assert!(n("DELETE /session/s1") >= 1 && n("DELETE /session/s2") >= 1, "{asked:?}");
}

#[test]
fn a_node_that_the_hub_cannot_reach_is_a_lost_session_also_while_a_page_is_opened() {
    let endpoint = ScriptedEndpoint::start(move |request, _| match request {
        "POST /session" => value(json!({"sessionId": "s1", "capabilities": {"browserName": "firefox"}})),
        "GET /status" => value(json!({"ready": true})),
        "GET /session/s1/window/handles" => value(json!(["w"])),
        "POST /session/s1/execute/sync" => value(json!([[1280, 800, 1280, 800]])),
        "POST /session/s1/url" => {
            error(500, "unknown error", "Unable to execute request for an existing session: Failed to execute request")
        }
        _ => value(Value::Null),
    });
    let ran = run(&project(json!({"webdriver": endpoint.address})), &[]).exits(2);
    let told = format!("{}{}", ran.stdout, ran.stderr);
    assert!(told.contains("its trail moves to another session"), "{told}");
    assert!(told.contains("the session ended: Unable to execute request for an existing session"), "{told}");
    let n_sent = endpoint.asked().iter().filter(|asked| *asked == "POST /session/s1/url").count();
    assert_eq!(n_sent, 2, "once in each session: {:?}", endpoint.asked());
}

#[test]
fn what_a_proxy_answers_in_place_of_the_endpoint_is_told() {
    let page = "<html><title>502 Bad Gateway</title></html>".to_string();
    let proxy = ScriptedEndpoint::start(move |_, _| Some((502, page.clone())));
    let project = project(json!({"webdriver": "http://hub.invalid:4444", "sessionWait": "2s"}));
    let ran = project.finish({
        let mut command = project.command(&["run", "--pictures", "off"]);
        command.env("HTTP_PROXY", &proxy.address).env_remove("NO_PROXY").env_remove("no_proxy");
        command
    });
    let ran = ran.exits(2);
    let told = format!("{}{}", ran.stdout, ran.stderr);
    assert!(
        told.contains("is not available: it answers `POST /session` with 502 and the page \"502 Bad Gateway\""),
        "{told}"
    );
    assert!(proxy.asked().iter().all(|request| request.contains("hub.invalid:4444")), "{:?}", proxy.asked());
}

#[test]
fn what_did_not_reach_the_endpoint_is_repeated_only_if_that_does_no_harm() {
    let endpoint = ScriptedEndpoint::start(move |request, _| match request {
        "POST /session" => value(json!({"sessionId": "s1", "capabilities": {"browserName": "chrome"}})),
        "GET /status" => value(json!({"ready": true})),
        "GET /session/s1/window/handles" => value(json!(["w"])),
        request if request.starts_with("DELETE") => value(Value::Null),
        "POST /session/s1/execute/sync" => value(json!([[1280, 800, 1280, 800]])),
        _ => Some((503, "upstream connect error".to_string())),
    });
    let ran = run(&project(json!({"webdriver": endpoint.address})), &[]).exits(2);
    let told = format!("{}{}", ran.stdout, ran.stderr);
    assert!(told.contains("with 503 and `upstream connect error`"), "{told}");
    let asked = endpoint.asked();
    let n = |request: &str| asked.iter().filter(|asked| asked.starts_with(request)).count();
    // The trail moves once, so that there are two sessions.
    assert_eq!(n("POST /session/s1/window"), 2, "another window is chosen once in each: {asked:?}");
}

#[test]
fn an_endpoint_that_takes_long_is_waited_for_as_long_as_it_says_that_it_is_there() {
    if !is_full_tier() {
        return;
    }
    let (told, is_asked) = channel();
    let (told, is_asked) = (Mutex::new(told), Mutex::new(is_asked));
    let endpoint = ScriptedEndpoint::start(move |request, _| match request {
        "GET /status" => {
            let _ = told.lock().expect("no panic").send(());
            value(json!({"ready": true}))
        }
        _ => {
            // Answers only after it was asked twice whether it is there.
            let is_asked = is_asked.lock().expect("no panic");
            let _ = is_asked.recv_timeout(PATIENCE).and_then(|()| is_asked.recv_timeout(PATIENCE));
            error(500, "session not created", "No matching capabilities found")
        }
    });
    let told = fails(json!({"webdriver": endpoint.address}), 2);
    assert!(told.contains("No matching capabilities found") && !told.contains("it hangs"), "{told}");
}

#[test]
fn an_endpoint_that_hangs_is_told_from_one_that_is_slow() {
    let endpoint = ScriptedEndpoint::start(|request, _| match request {
        "POST /session" => value(json!({"sessionId": "s1", "capabilities": {"browserName": "chrome"}})),
        request if request.starts_with("DELETE") => value(Value::Null),
        _ => None,
    });
    let told = fails(json!({"webdriver": endpoint.address}), 2);
    assert!(told.contains("nor `GET /status`: it hangs"), "{told}");
}
