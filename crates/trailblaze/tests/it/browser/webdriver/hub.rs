//! A hub in front of chromedriver that a test rules: how many sessions it gives and when, what it keeps of them, and what it answers.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use trailblaze_protocol::event::Event;

use super::{entry, run};
use crate::support::webdriver::{ScriptedAnswer, ScriptedEndpoint, capabilities, chromedriver, forward};
use crate::support::{PATIENCE, Project, wait_until};

const PAGE: &str = "<!doctype html><title>Desk</title><p>Open</p>";

/// A hub that answers some requests itself, and passes the others on.
fn hub(answer: impl Fn(&str) -> Option<(u16, String)> + Send + Sync + 'static) -> Option<ScriptedEndpoint> {
    let upstream = chromedriver()?;
    Some(ScriptedEndpoint::start(move |request, body| {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        Some(answer(request).unwrap_or_else(|| forward(upstream, request, &body)))
    }))
}

fn error(status: u16, code: &str, message: &str) -> (u16, String) {
    (status, json!({"value": {"error": code, "message": message, "stacktrace": ""}}).to_string())
}

/// A project with trails that open a page and make these calls, behind a hub.
fn project(hub: &ScriptedEndpoint, mut keys: Value, page: &str, calls: &[&str]) -> Project {
    keys["webdriver"] = hub.address.as_str().into();
    keys["capabilities"] = capabilities();
    let project = Project::empty().with("trailblaze.yaml", entry(keys)).with("trails/page.html", page);
    let calls = [&["web_navigate: {url: page.html}"], calls].concat();
    let calls: String = calls.iter().map(|call| format!("      - {call}\n")).collect();
    project.write("trails/a.trail.yaml", format!("trail:\n  - step: Go\n    tools:\n{calls}"));
    project
}

#[test]
fn a_session_ends_with_its_trail_so_that_another_slot_gets_one() {
    // Fewer sessions than the entry has slots, as when a node of a grid is lost.
    let n_open = Mutex::new(0);
    let upstream = chromedriver();
    let answer = move |request: &str, body: &Value| -> ScriptedAnswer {
        let upstream = upstream?;
        let forwarded = || {
            let body = if body.is_null() { String::new() } else { body.to_string() };
            Some(forward(upstream, request, &body))
        };
        let is_end = request.starts_with("DELETE /session/") && request.matches('/').count() == 2;
        match request {
            "POST /session" => {
                let mut n_open = n_open.lock().expect("no panic");
                if *n_open == 1 {
                    return Some(error(500, "session not created", "New session request timed out in the queue"));
                }
                *n_open += 1;
                forwarded()
            }
            _ if is_end => {
                let ended = forwarded();
                *n_open.lock().expect("no panic") -= 1;
                ended
            }
            _ => forwarded(),
        }
    };
    if upstream.is_none() {
        return;
    }
    let hub = ScriptedEndpoint::start(answer);
    let project = project(&hub, json!({"slots": 2}), PAGE, &["assertVisible: {text: Open}"]);
    let trail = project.read("trails/a.trail.yaml");
    ["b", "c"].into_iter().for_each(|name| project.write(&format!("trails/{name}.trail.yaml"), &trail));
    run(&project, &[]).exits(0);
    assert_eq!(project.last_run().summary()["counts"]["passed"], json!(3));
}

/// An endpoint that answers a request for a session when it is told to, and what tells it.
fn late_endpoint() -> (ScriptedEndpoint, Sender<()>) {
    let (release, is_released): (Sender<()>, Receiver<()>) = channel();
    let is_released = Mutex::new(is_released);
    let endpoint = ScriptedEndpoint::start(move |request, _| match request {
        "POST /session" => {
            let _ = is_released.lock().expect("no panic").recv_timeout(PATIENCE);
            Some((200, json!({"value": {"sessionId": "late", "capabilities": {}}}).to_string()))
        }
        _ => Some((200, json!({"value": null}).to_string())),
    });
    (endpoint, release)
}

#[test]
fn a_session_that_comes_when_its_run_has_ended_is_ended() {
    for signal in ["INT", "KILL"] {
        let (endpoint, release) = late_endpoint();
        let trail = "trail:\n  - step: Go\n    tools: [web_navigate: {url: 'http://shop.example/'}]\n";
        let keys = json!({"webdriver": endpoint.address});
        let project = Project::empty().with("trailblaze.yaml", entry(keys)).with("trails/a.trail.yaml", trail);
        let running = project.start(&["run", "--pictures", "off"]);
        let has = |request: &str| endpoint.asked().iter().any(|asked| asked == request).then_some(());
        wait_until("a session is asked for", || has("POST /session"));
        running.signal(signal);
        if signal == "KILL" {
            project.ended(running);
            release.send(()).expect("the endpoint waits");
        } else {
            release.send(()).expect("the endpoint waits");
            project.ended(running).exits(2);
        }
        wait_until("the session that came late is ended", || has("DELETE /session/late"));
    }
}

#[test]
fn what_a_grid_keeps_of_a_session_is_fetched_into_the_run_folder() {
    let n_asked = Mutex::new(0);
    let Some(hub) = hub(move |request| {
        let path = request.strip_prefix("GET ")?;
        if path.starts_with("/video/") && path.ends_with(".mp4") {
            let mut n_asked = n_asked.lock().expect("no panic");
            *n_asked += 1;
            // It is written when the session has ended.
            return Some(if *n_asked == 1 { error(404, "unknown", "") } else { (200, "a video".to_string()) });
        }
        if path.starts_with("/log/") {
            return Some((200, "the key is s3cret-key".to_string()));
        }
        path.starts_with("/refused/").then(|| (403, String::new()))
    }) else {
        return;
    };
    let address = hub.address.trim_start_matches("http://");
    let artifacts = json!({
        "video": format!("http://{address}/video/{{sessionId}}.mp4"),
        "log": format!("http://ci:{{{{GRID_KEY}}}}@{address}/log/{{sessionId}}"),
        "trace": format!("http://{address}/refused/{{sessionId}}?key={{{{GRID_KEY}}}}"),
    });
    let project = project(&hub, json!({"artifacts": artifacts}), PAGE, &["assertVisible: {text: Open}"]);
    let ran = project.finish({
        let mut command = project.command(&["run", "--pictures", "off", "--secret", "GRID_KEY"]);
        command.env("GRID_KEY", "s3cret-key");
        command
    });
    let ran = ran.exits(0);
    let folder = project.last_run();
    let mut kept = Vec::new();
    for event in folder.events() {
        if let Event::Attached { attachment, .. } = event {
            let file = attachment.file.expect("it is kept");
            kept.push((attachment.name, attachment.mime, folder.text(&file)));
        }
    }
    kept.sort();
    let expected = |name: &str, mime: &str, text: &str| (name.to_string(), mime.to_string(), text.to_string());
    assert_eq!(
        kept,
        [
            expected("log", "application/octet-stream", "the key is {{GRID_KEY}}"),
            expected("video", "video/mp4", "a video")
        ]
    );
    let warned = folder.warnings();
    let refused = format!(
        "the trace of the session was not fetched from http://{address}/refused/{{sessionId}}?key={{{{GRID_KEY}}}}: it answers 403"
    );
    assert!(warned.contains(&refused), "{warned:?}");
    assert!(hub.asked().iter().any(|asked| asked.ends_with(" as Basic Y2k6czNjcmV0LWtleQ==")), "{:?}", hub.asked());
    let told = format!("{}{}{}", ran.stdout, ran.stderr, folder.text("events.jsonl"));
    assert!(!told.contains("s3cret-key"), "{told}");
}

#[test]
fn an_address_of_an_artifact_needs_the_session() {
    let project = Project::empty().with("trails/a.trail.yaml", "trail:\n  - step: Go\n    tools: [pressBack]\n");
    for (url, words) in [
        ("http://hub.example/video.mp4", "the address of `video` in its `artifacts:` needs {sessionId}"),
        (
            "hub.example/{sessionId}",
            "`video` in its `artifacts:` is no address: it must start with http:// or https://",
        ),
    ] {
        let keys = json!({"webdriver": "http://hub.example:4444", "artifacts": {"video": url}});
        project.write("trailblaze.yaml", entry(keys));
        let checked = project.run(&["check"]).exits(3);
        let told = format!("{}{}", checked.stdout, checked.stderr);
        assert!(told.contains(words), "{words} in {told}");
    }
}

#[test]
fn files_are_sent_to_a_browser_that_may_be_elsewhere() {
    let page = "<!doctype html><title>Files</title><label>Papers <input type=file multiple></label><p id=said></p><script>\
        document.querySelector('input').onchange = async (event) => { const all = []; for (const file of event.target.files) \
        all.push(file.name + ': ' + await file.text()); said.textContent = all.join(', ') }</script>";
    let Some(hub) = hub(|_| None) else { return };
    let calls = [
        "web_upload: {nodeSelector: {web: {cssSelector: input}}, files: [one.txt, zwei äöü.txt]}",
        "assertVisible: {text: 'one.txt: first, zwei äöü.txt: second'}",
    ];
    let project = project(&hub, json!({}), page, &calls);
    project.write("trails/one.txt", "first");
    project.write("trails/zwei äöü.txt", "second");
    run(&project, &[]).exits(0);
    let n_sent = hub.asked().iter().filter(|asked| asked.ends_with("/se/file")).count();
    assert_eq!(n_sent, 2, "{:?}", hub.asked());
}

#[test]
fn an_endpoint_that_takes_no_files_is_given_paths() {
    let page = "<!doctype html><title>Files</title><input type=file aria-label=Papers onchange=\"said.textContent = \
        'Chosen: ' + this.files[0].name\"><p id=said></p>";
    for answer in [error(404, "unknown command", "no such command"), (404, "<html>Not here".to_string())] {
        let answer = answer.clone();
        let Some(hub) = hub(move |request| request.ends_with("/se/file").then(|| answer.clone())) else { return };
        let calls = [
            "web_upload: {nodeSelector: {web: {cssSelector: input}}, files: [one.txt]}",
            "assertVisible: {text: 'Chosen: one.txt'}",
        ];
        let project = project(&hub, json!({}), page, &calls);
        project.write("trails/one.txt", "first");
        run(&project, &[]).exits(0);
    }
}

#[test]
fn an_element_that_has_become_stale_is_looked_for_again() {
    let page = "<!doctype html><title>Frames</title><iframe srcdoc=\"<button onclick='parent.said.textContent = `Pressed`'>Press\
        </button>\"></iframe><p id=said></p>";
    // The frame is replaced between a look and the command that goes into it; then the same happens to what is in it.
    for (part, code) in [
        ("/frame", "no such frame"),
        ("/frame", "stale element reference"),
        ("/execute/sync", "stale element reference"),
    ] {
        let n_asked = Arc::new(Mutex::new(0));
        let counted = Arc::clone(&n_asked);
        let Some(hub) = hub(move |request| {
            if !request.ends_with(part) {
                return None;
            }
            let mut n_asked = counted.lock().expect("no panic");
            *n_asked += 1;
            // Not what opens the page.
            let is_stale = if part == "/frame" { *n_asked == 1 } else { *n_asked == 12 };
            is_stale.then(|| error(404, code, "the element is not attached to the page"))
        }) else {
            return;
        };
        let calls = ["web_click: {ref: 'button \"Press\"'}", "assertVisible: {text: Pressed}"];
        let project = project(&hub, json!({}), page, &calls);
        run(&project, &[]).exits(0);
        assert!(*n_asked.lock().expect("no panic") > 1, "{part} was asked again");
    }
}
