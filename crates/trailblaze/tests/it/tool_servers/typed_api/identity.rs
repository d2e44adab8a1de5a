//! On whose behalf a request is made, over every protocol. What is refused is not dispatched.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::{Map, Value, json};
use trailblaze_protocol::event::Event;

use super::cases::Answer;
use super::cases::project;
use super::in_calls::InCalls;
use super::served::Served;
use super::wire::{Caller, PROTOCOLS, Protocol};
use crate::support::{Project, skip};

fn ids(ids: Value) -> Map<String, Value> {
    ids.as_object().cloned().expect("an object")
}

fn refused(code: &str, message: &str) -> Answer {
    Err((code.into(), message.into()))
}

async fn has_text(caller: &Caller, given: Value) -> Answer {
    let caller = Caller { ids: ids(given), ..caller.clone() };
    caller.call("TrailblazeCommands/HasText", json!({"text": "x"})).await
}

#[tokio::test]
async fn a_call_in_flight_is_named_by_its_id_and_only_by_it() {
    let open = InCalls::on(&["android/sim-1", "ios/sim-1"]);
    let (mine, other) = (&open.calls[0], &open.calls[1]);
    let id = mine["invocationId"].as_str().expect("an id");
    for protocol in PROTOCOLS {
        let caller = open.caller(protocol);
        let answer = has_text(&caller, json!({"invocationId": id, "sessionId": mine["sessionId"]})).await;
        assert!(answer.is_ok(), "{protocol:?}: {answer:?}");
        let unknown = "Unknown invocation ID: c-x. The tool call may have completed or timed out.";
        assert_eq!(has_text(&caller, json!({"invocationId": "c-x"})).await, refused("not_found", unknown));
        let foreign = json!({"invocationId": id, "sessionId": other["sessionId"]});
        let message = format!("The invocation {id} belongs to another session.");
        assert_eq!(has_text(&caller, foreign).await, refused("permission_denied", &message));
        let foreign = json!({"invocationId": id, "deviceId": "ios/sim-1"});
        let message = format!("The invocation {id} belongs to another device.");
        assert_eq!(has_text(&caller, foreign).await, refused("permission_denied", &message));
        // Neither a session nor a device alone identifies a call, and an unknown key is refused.
        let several = "`invocation_id` is missing: several sessions are open, so the call must name the tool call that it belongs to";
        let missing = refused("failed_precondition", several);
        assert_eq!(has_text(&caller, json!({})).await, missing);
        assert_eq!(
            has_text(&caller, json!({"deviceId": "android/sim-1", "sessionId": mine["sessionId"]})).await,
            missing
        );
        let with_key = Caller { key: Some(id.to_string()), ..caller };
        let message = "unknown session key; the session may have ended";
        assert_eq!(has_text(&with_key, json!({})).await, refused("unauthenticated", message));
    }
    let called = open.end();
    assert_eq!(called.iter().filter(|tool| *tool == "hasText").count(), PROTOCOLS.len(), "{called:?}");
}

#[tokio::test]
async fn without_an_id_a_request_belongs_to_the_only_tool_call() {
    let open = InCalls::on(&["android/sim-1"]);
    for protocol in PROTOCOLS {
        let caller = open.caller(protocol);
        assert!(has_text(&caller, json!({})).await.is_ok(), "{protocol:?}");
        let other = has_text(&caller, json!({"deviceId": "ios/sim-1"})).await;
        assert_eq!(
            other,
            refused("permission_denied", "the request names the device `ios/sim-1`, but belongs to another")
        );
    }
    let ask = open.caller(Protocol::ConnectJson).call("TrailblazeSession/AskModel", json!({"prompt": "hi"})).await;
    assert_eq!(ask, refused("failed_precondition", "`invocation_id` is missing: AskModel always needs it"));
    let caller =
        Caller { ids: ids(json!({"invocationId": open.calls[0]["invocationId"]})), ..open.caller(Protocol::Grpc) };
    let ask = caller.call("TrailblazeSession/AskModel", json!({"prompt": "hi"})).await;
    assert_eq!(
        ask,
        refused(
            "failed_precondition",
            "`rogue_act` may not ask a model: set `sampling: true` in the entry of its server to allow that"
        )
    );
    open.end();
}

#[tokio::test]
async fn another_user_of_the_machine_must_name_its_call() {
    let as_other = |args: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "65534", "--clear-groups", "curl", "-s"]).args(args);
        command.output().ok().filter(|output| output.status.success())
    };
    if as_other(&["--version"]).is_none() {
        return skip::without("a second user: needs root, setpriv and curl");
    }
    let open = InCalls::on(&["android/sim-1"]);
    let url = format!("http://{}/trailblaze.v1.TrailblazeCommands/HasText", open.caller(Protocol::ConnectJson).host);
    let json = "Content-Type: application/json";
    let post = |body: &str| {
        let output = as_other(&["-H", json, "-d", body, &url]).expect("an answer");
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    };
    let message = "`invocation_id` is missing, and only programs of the user who runs Trailblaze may leave it out";
    assert_eq!(post(r#"{"text": "x"}"#), json!({"code": "permission_denied", "message": message}));
    let callback = url.replace("trailblaze.v1.TrailblazeCommands/HasText", "scripting/callback");
    let body = r#"{"action": {"type": "call_tool", "tool_name": "hasText", "arguments_json": "{\"text\": \"x\"}"}}"#;
    let output = as_other(&["-H", json, "-d", body, &callback]).expect("an answer");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["result"], json!({"type": "error", "message": message}));
    // Knowing the id is permission to use it.
    let id = open.calls[0]["invocationId"].as_str().expect("an id");
    assert_eq!(post(&format!(r#"{{"text": "x", "invocationId": "{id}"}}"#)), json!({"value": false}));
    assert_eq!(open.end().iter().filter(|tool| *tool == "hasText").count(), 1);
}

#[tokio::test]
async fn a_session_is_used_by_its_key_which_only_its_owner_can_read() {
    let project = project();
    let served = Served::on(&project, "android/sim-1");
    let file = std::path::PathBuf::from(&served.key_file);
    let mode = |path: &std::path::Path| std::fs::metadata(path).expect("it exists").permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(file.parent().expect("a folder"))), (0o600, 0o700));
    for protocol in PROTOCOLS {
        let caller = Caller::of(&served, protocol);
        assert!(has_text(&caller, json!({"sessionId": served.session, "deviceId": "android/sim-1"})).await.is_ok());
        let other = has_text(&caller, json!({"sessionId": "s-x"})).await;
        assert_eq!(other, refused("permission_denied", "the request names the session `s-x`, but belongs to another"));
        let nothing = "`invocation_id` is missing: no tool is being called; a program that is not a tool sends the key of \
                       its session: `Authorization: Bearer KEY`";
        let without = Caller { key: None, ..caller.clone() };
        assert_eq!(has_text(&without, json!({})).await, refused("failed_precondition", nothing));
        let guessed = Caller { key: Some(served.session.clone()), ..caller };
        let message = "unknown session key; the session may have ended";
        assert_eq!(has_text(&guessed, json!({})).await, refused("unauthenticated", message));
    }
    let taken = project.run(&["serve", "-d", "ios/sim-1", "--key-file", &served.key_file]).exits(3);
    assert!(taken.stderr.contains("exists"), "{}", taken.stderr);
    assert!(file.exists(), "what is there stays there");
    let (key, address) = (served.key.clone(), served.address.clone());
    let ran = served.end(&project).exits(0);
    assert!(!file.exists(), "the key is gone with its session");
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains(&key) && !address.is_empty());
    assert_eq!(project.last_run().mentions(&key), 0, "a key is in no record");
}

#[test]
fn the_key_of_a_killed_session_is_removed_when_another_is_served() {
    let project = Project::counter();
    let [killed, running] = ["android/sim-1", "ios/sim-1"].map(|device| Served::on(&project, device));
    let files = [&killed, &running].map(|served| std::path::PathBuf::from(&served.key_file));
    killed.kill();
    assert!(files[0].exists(), "it could not clean up");
    let other = Served::on(&project, "web/sim-1");
    assert_eq!(files.map(|file| file.exists()), [false, true]);
    running.end(&project).exits(0);
    other.end(&project).exits(0);
}

#[tokio::test]
async fn a_served_session_is_recorded_as_one() {
    let project = Project::counter();
    let served = Served::on(&project, "android/sim-1");
    let client = trailblaze_client::Client::new(&served.address).with_key(&served.key);
    client.launch_app().package_id("com.example.counter").await.unwrap();
    served.end(&project).exits(0);
    let run = project.last_run();
    let trail = run.events().into_iter().find_map(|event| match event {
        Event::AttemptStarted { trail, .. } => Some(trail),
        _ => None,
    });
    let trail = trail.expect("an attempt");
    assert_eq!((trail.id.as_str(), trail.title.as_str()), ("serve", "serve"));
    let recording = run.text("recording.trail.yaml");
    assert!(recording.contains("id: serve\n  title: Recorded from the typed API\n"), "{recording}");
}
