//! Sessions end with the run, however it ends, and a trail whose session is lost moves to another one.

use std::sync::Mutex;

use serde_json::json;
use trailblaze_protocol::event::Event;

use super::{project, run};
use crate::support::wait_until;
use crate::support::webdriver::{ScriptedEndpoint, ask, sessions};

const WAITING: &str = "<!doctype html><title>Waiting</title><p>Not yet</p>";

#[test]
fn a_killed_run_leaves_no_session() {
    for signal in ["KILL", "INT"] {
        let wait = "assertVisible: {text: Never, timeoutMs: 100000}";
        let Some((project, endpoint)) = project(1, WAITING, &[wait]) else { return };
        let marked = format!("<!doctype html><title>{signal} {}</title><p>Not yet</p>", std::process::id());
        project.write("trails/page.html", &marked);
        let running = project.start(&["run", "--pictures", "off"]);
        let is_here = |id: &String| {
            ask(endpoint, "GET", &format!("/session/{id}/title"))
                .as_str()
                .is_some_and(|title| marked.contains(title) && title.starts_with(signal))
        };
        let id = wait_until("the page is open", || sessions(endpoint).into_iter().find(is_here));
        running.signal(signal);
        project.ended(running);
        wait_until("its session has ended", || (!sessions(endpoint).contains(&id)).then_some(()));
    }
}

#[test]
fn a_trail_whose_session_is_lost_passes_in_another_and_the_record_says_why() {
    // A page that shows what is waited for when it is asked for the second time.
    let n_shown = Mutex::new(0);
    let site = ScriptedEndpoint::start(move |request, _| {
        let mut n_shown = n_shown.lock().expect("no panic");
        *n_shown += u32::from(request == "GET /");
        let text = if *n_shown > 1 { "Ready" } else { "Not yet" };
        Some((200, format!("<!doctype html><title>Lost {}</title><p>{text}</p>", std::process::id())))
    });
    let open = format!("web_navigate: {{url: '{}/'}}", site.address);
    let Some((project, endpoint)) = project(2, WAITING, &[&open, "assertVisible: {text: Ready, timeoutMs: 100000}"])
    else {
        return;
    };
    let running = project.start(&["run", "--pictures", "off"]);
    let title = format!("Lost {}", std::process::id());
    let is_here = |id: &String| ask(endpoint, "GET", &format!("/session/{id}/title")) == title.as_str();
    let id = wait_until("the page is open", || sessions(endpoint).into_iter().find(is_here));
    ask(endpoint, "DELETE", &format!("/session/{id}"));
    let ran = project.ended(running).exits(0);
    assert!(ran.stderr.contains("its trail moves to another session"), "{}", ran.stderr);
    let events = project.last_run().events();
    let lost = events
        .iter()
        .any(|event| matches!(event, Event::AttemptEnded { message, .. } if message.contains("the session ended")));
    assert!(lost, "the first attempt says why it ended");
    assert_eq!(project.last_run().summary()["counts"]["passed"], json!(1));
}

#[test]
fn trails_share_the_slots_and_each_has_a_session_of_its_own() {
    let page = "<!doctype html><title>Own</title><p id=said></p><script>\
        localStorage.n = Number(localStorage.n || 0) + 1; said.textContent = 'Visit ' + localStorage.n</script>";
    let Some((project, _)) = project(3, page, &["assertVisible: {text: Visit 1}"]) else { return };
    let trail = project.read("trails/a.trail.yaml");
    for name in ["b", "c", "d", "e"] {
        project.write(&format!("trails/{name}.trail.yaml"), &trail);
    }
    // Every trail on a page of the same origin: only another session has no storage of the one before.
    run(&project, &["--repeat-each", "2"]).exits(0);
    assert_eq!(project.last_run().summary()["counts"]["passed"], json!(10));
    let used = project.last_run().text("events.jsonl");
    assert!(used.contains("\"web/grid-3\"") && !used.contains("\"web/grid-4\""), "three slots");
}
