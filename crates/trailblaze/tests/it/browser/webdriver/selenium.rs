//! A real Selenium Grid: many trails over its slots, while one of its nodes is lost.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::json;
use trailblaze_protocol::event::{Event, Verdict};
use trailblaze_protocol::ids::AttemptId;

use crate::support::selenium_grid::{SeleniumGrid, capabilities};
use crate::support::webdriver::ScriptedEndpoint;
use crate::support::{Project, RunFolder, is_full_tier, wait_until};

/// Each runs on both browsers.
const TRAILS: usize = 25;
/// How many pages are shown before one has to wait for the loss of the node.
const BEFORE: usize = 12;

/// A page that can be paid on once its server says so.
const PAGE: &str = "<!doctype html><title>Till</title><p id=said>Not yet</p><button hidden onclick=\"said.textContent = 'Paid'\">Pay\
    </button><script>(async () => { while (await (await fetch('/ready')).text() !== 'yes') \
    await new Promise((done) => setTimeout(done, 200)); document.querySelector('button').hidden = false; })()</script>";

#[test]
fn fifty_trails_over_four_slots_survive_the_loss_of_a_node() {
    if !is_full_tier() {
        return;
    }
    let Some(mut grid) = SeleniumGrid::start(2) else { return };
    let (n_shown, is_lost) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let site = {
        let (n_shown, is_lost) = (Arc::clone(&n_shown), Arc::clone(&is_lost));
        ScriptedEndpoint::start(move |request, _| {
            let is_ready = n_shown.load(Ordering::SeqCst) <= BEFORE || is_lost.load(Ordering::SeqCst);
            Some(match request {
                "GET /" => {
                    n_shown.fetch_add(1, Ordering::SeqCst);
                    (200, PAGE.to_string())
                }
                "GET /ready" => (200, if is_ready { "yes" } else { "no" }.to_string()),
                _ => (404, String::new()),
            })
        })
    };
    let project = Project::empty().with("trailblaze.yaml", devices(&grid));
    for number in 0..TRAILS {
        let calls = [
            format!("web_navigate: {{url: '{}/'}}", site.address),
            "web_click: {ref: 'button \"Pay\"', timeoutMs: 100000}".to_string(),
            "assertVisible: {text: Paid}".to_string(),
        ];
        let calls: String = calls.iter().map(|call| format!("      - {call}\n")).collect();
        project.write(&format!("trails/{number}.trail.yaml"), format!("trail:\n  - step: Pay\n    tools:\n{calls}"));
    }
    let running = project.start(&["run", "-d", "web/chrome,web/firefox", "--pictures", "off"]);
    wait_until("every slot waits with a page", || {
        (n_shown.load(Ordering::SeqCst) >= BEFORE + 4 && grid.slots() == [true; 4]).then_some(())
    });
    grid.kill_node(0);
    is_lost.store(true, Ordering::SeqCst);
    wait_for_trails(&project);
    let ran = project.ended(running).exits(0);
    let run = project.last_run();
    assert_eq!(run.summary()["counts"]["passed"], json!(2 * TRAILS), "{}", ran.stdout);
    assert_all_are_accounted_for(&run);
    wait_until("the hub has no session", || (grid.n_sessions() == 0).then_some(()));
}

/// Waits as long as trails end one after the other.
fn wait_for_trails(project: &Project) {
    for n in 1..=2 * TRAILS {
        wait_until("another trail ends", || {
            let events = project.last_run().events();
            let n_ended = events.iter().filter(|event| matches!(event, Event::AttemptEnded { .. })).count();
            (n_ended >= n).then_some(())
        });
    }
}

fn devices(grid: &SeleniumGrid) -> String {
    let device = |browser: &str| {
        json!({
            "id": format!("web/{browser}"), "webdriver": grid.address, "slots": 2, "capabilities": capabilities(browser),
        })
    };
    format!("devices: [{}, {}]\n", device("chrome"), device("firefox"))
}

/// Each trail passed once on each browser; those whose session was lost moved once, and the record says why.
fn assert_all_are_accounted_for(run: &RunFolder) {
    let mut tries: BTreeMap<(String, String), Vec<AttemptId>> = BTreeMap::new();
    let (mut sessions, mut ended) = (BTreeMap::new(), BTreeMap::new());
    for event in run.events() {
        match event {
            Event::SessionOpened { session, device, .. } => {
                let browser = if device.id.as_str().contains("firefox") { "firefox" } else { "chrome" };
                sessions.insert(session, browser.to_string());
            }
            Event::AttemptStarted { attempt, session, trail, .. } => {
                let browser = sessions.get(&session).expect("an open session").clone();
                tries.entry((trail.id.to_string(), browser)).or_default().push(attempt);
            }
            Event::AttemptEnded { attempt, verdict, message, .. } => {
                ended.insert(attempt, (verdict, message));
            }
            _ => {}
        }
    }
    assert_eq!(tries.len(), 2 * TRAILS, "each trail has run on each browser");
    let mut lost = Vec::new();
    for (trail, attempts) in &tries {
        let outcomes: Vec<_> = attempts.iter().map(|attempt| ended.get(attempt).expect("it has ended")).collect();
        let (last, before) = outcomes.split_last().expect("an attempt");
        assert_eq!(last.0, Verdict::Passed, "{trail:?}: {}", last.1);
        for (verdict, message) in before {
            assert_eq!(*verdict, Verdict::Errored, "{trail:?}: {message}");
        }
        assert!(before.len() <= 1, "{trail:?} moved once: {before:?}");
        lost.extend(before.iter().map(|(_, message)| message));
    }
    assert_eq!(lost.len(), 2, "both sessions of the node were lost in the middle of a trail: {lost:?}");
    // A hub that cannot reach the node any more does not answer, or says so.
    let is_told =
        |message: &String| message.contains("the session ended") || message.contains("did not answer in time");
    assert!(lost.iter().all(|message| is_told(message)), "{lost:?}");
}
