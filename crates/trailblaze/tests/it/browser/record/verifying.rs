//! A recording that is replayed once when it is saved.

use crate::browser::record::stage::{Stage, words};

/// A page on which the button works only the first time that the browser's storage sees it.
fn page(stage: &Stage, script: &str) -> String {
    let page = format!("<!doctype html><title>Vote</title><button>Vote</button><p></p><script>{script}</script>");
    stage.lab.project.write("vote.html", page);
    format!("file://{}/vote.html", stage.lab.project.root().display())
}

async fn record(stage: &Stage, url: &str) -> serde_json::Value {
    let (running, hand) = stage.record(url, &["--save", "trails/vote.trail.yaml", "--assertions", "--verify"]).await;
    let tab = hand.tab("vote.html").await;
    tab.click("button").await;
    stage.until("the vote is recorded", |steps| steps.iter().any(|step| step.contains("is shown")));
    running.interrupt();
    let code = i32::from(url.contains('?'));
    let ran = tokio::task::block_in_place(|| stage.lab.project.ended(running)).exits(code);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}\n{}", ran.stdout, ran.stderr))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_that_holds_is_said_to_hold() {
    let Some(stage) = Stage::open("web-shop", "server.mjs") else { return };
    let vote =
        "document.querySelector('button').onclick = () => { document.querySelector('p').textContent = 'Thank you' }";
    let recorded = record(&stage, &page(&stage, vote)).await;
    assert_eq!(recorded["verified"], serde_json::json!({"holds": true}), "{recorded}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_does_not_hold_is_marked_with_the_reason() {
    let Some(stage) = Stage::open("web-shop", "server.mjs") else { return };
    // A number that is another one on each load, as of an order.
    let vote = "document.querySelector('button').onclick = () => { \
                document.querySelector('p').textContent = 'Order ' + crypto.randomUUID().slice(0, 8).toUpperCase() }";
    let recorded = record(&stage, &format!("{}?once", page(&stage, vote))).await;
    assert_eq!(recorded["verified"]["holds"], false, "{recorded}");
    let saved = stage.lab.project.read("trails/vote.trail.yaml");
    let mark = saved.lines().position(|line| line.contains("# Did not hold when it was replayed: ")).expect("a mark");
    assert!(saved.lines().nth(mark + 1).is_some_and(|line| line.contains("is shown")), "{saved}");
    assert!(words(&recorded).iter().any(|step| step.starts_with("\"Order")), "{recorded}");
    // The mark is a comment, so the trail is still one.
    stage.run(&["check", "trails/vote.trail.yaml"]).exits(0);
}
