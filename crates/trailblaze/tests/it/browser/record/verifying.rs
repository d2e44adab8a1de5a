//! A recording that is replayed once when it is saved.

use serde_json::{Value, json};

use crate::browser::record::stage::{Stage, words};

/// Records a click on the button of a page, whose script may change it, and replays it.
async fn record(stage: &Stage, script: &str, code: i32) -> Value {
    let page = format!("<!doctype html><title>Vote</title><button>Vote</button><script>{script}</script>");
    stage.lab.project.write("vote.html", page);
    let url = format!("file://{}/vote.html", stage.lab.project.root().display());
    let (running, hand) = stage.record(&url, &["--save", "trails/vote.trail.yaml", "--verify"]).await;
    hand.tab("vote.html").await.click("button").await;
    stage.until("the click is recorded", |steps| steps.iter().any(|step| step.starts_with("Click")));
    running.interrupt();
    let ran = tokio::task::block_in_place(|| stage.lab.project.ended(running)).exits(code);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}\n{}", ran.stdout, ran.stderr))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_that_holds_is_said_to_hold() {
    let Some(stage) = Stage::open("web-shop", "server.mjs") else { return };
    let recorded = record(&stage, "", 0).await;
    assert_eq!(recorded["verified"], json!({"holds": true}), "{recorded}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_does_not_hold_is_marked_with_the_reason() {
    let Some(stage) = Stage::open("web-shop", "server.mjs") else { return };
    // Another candidate on each load.
    let script = "const letters = [...crypto.getRandomValues(new Uint8Array(12))].map((n) => 'abcdefghijklmnop'[n % 16]).join(''); \
                  document.querySelector('button').textContent = 'Vote for ' + letters;";
    let recorded = record(&stage, script, 1).await;
    assert_eq!(recorded["verified"]["holds"], false, "{recorded}");
    let saved = stage.lab.project.read("trails/vote.trail.yaml");
    let mark = saved.lines().position(|line| line.contains("# Did not hold when it was replayed: ")).expect("a mark");
    assert!(saved.lines().nth(mark + 1).is_some_and(|line| line.contains("Click")), "{saved}");
    assert!(words(&recorded).iter().any(|step| step.starts_with("Click \"Vote for")), "{recorded}");
    // The mark is a comment, so the trail is still one.
    stage.run(&["check", "trails/vote.trail.yaml"]).exits(0);
}
