//! The web shop of the examples, used by a person.

use serde_json::json;

use crate::browser::record::stage::{Stage, words};
use crate::support::chromium;

fn stage() -> Option<Stage> {
    Stage::open("web-shop", "server.mjs")
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_is_recorded_and_replays() {
    let Some(stage) = stage() else { return };
    let (running, hand) = stage.record("/checkout", &["--save", "trails/order.trail.yaml", "--assertions"]).await;
    let tab = hand.tab("/checkout").await;
    tab.click("#name").await;
    tab.type_text("Ada").await;
    tab.click("#email").await;
    tab.type_text("ada@example.com").await;
    tab.click("#country").await;
    tab.type_text("F").await;
    tab.press("Enter", 13).await;
    tab.click("#payInvoice").await;
    tab.click("#note").await;
    tab.type_text("Ring").await;
    tab.press("Enter", 13).await;
    tab.type_text("twice").await;
    tab.click("#message").await;
    tab.type_text("With love").await;
    tab.click("#terms").await;
    tab.click("#place").await;
    hand.tab("/order").await.until("document.querySelector('h1')").await;
    stage.until_recorded("Click \"Place order\"");
    let recorded = stage.end(running);
    let all = words(&recorded);
    let expected = [
        &format!("Open {}/checkout", stage.server.address),
        "Type \"Ada\" into \"Full name\"",
        "Type \"ada@example.com\" into \"Email\"",
        "Choose \"France\" in \"Country\"",
        "Check \"Invoice\"",
        "Type \"Ring twice\" into \"Note to the driver\"",
        "Type \"With love\" into \"Gift message\"",
        "Check \"I accept the terms\"",
        "Click \"Place order\"",
        "\"Thank you, Ada. This is what we received:\" is shown",
    ];
    assert_eq!(all, expected);
    stage.run(&["run", "trails/order.trail.yaml"]).exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_and_tabs_are_recorded_and_replay() {
    let Some(stage) = stage() else { return };
    let (running, hand) = stage.record("/frames", &["--save", "trails/frames.trail.yaml"]).await;
    let tab = hand.tab("/frames").await;
    tab.click_through(&["iframe[title='Another site']", "#words"]).await;
    tab.type_text("far").await;
    tab.click_through(&["iframe[title='Another site']", "#send"]).await;
    tab.until("document.querySelector('#said').textContent.includes('another site says: far')").await;
    tab.click_through(&["iframe[title='Outer']", "iframe", "#words"]).await;
    tab.type_text("deep").await;
    tab.press("Enter", 13).await;
    tab.until("document.querySelector('#said').textContent.includes('inner says: deep')").await;
    tab.click_through(&["iframe[title='Written']", "button"]).await;
    tab.call("Page.navigate", serde_json::json!({"url": format!("{}/windows", stage.server.address)})).await;
    tab.until("location.pathname === '/windows' && document.readyState === 'complete'").await;
    tab.click("a[rel=opener]").await;
    let child = hand.recorded_tab("/child?from=opener").await;
    child.click("#tell").await;
    child.until("document.querySelector('#said').textContent.includes('was told')").await;
    stage.until_recorded("Click \"Tell the opener\"");
    tab.call("Page.bringToFront", serde_json::json!({})).await;
    stage.until_recorded("Switch to tab 1");
    tab.click("#popup").await;
    let popup = hand.recorded_tab("/child?from=popup").await;
    popup.click("#shut").await;
    stage.until_recorded("Click \"Close this window\"");
    let recorded = stage.end(running);
    let all = words(&recorded);
    let expected = [
        &format!("Open {}/frames", stage.server.address),
        "Type \"far\" into \"Say something from another site\"",
        "Click \"Send from another site\"",
        "Type \"deep\" into \"Say something from inner\"",
        "Press Enter",
        "Click \"Press inside\"",
        &format!("Open {}/windows", stage.server.address),
        "Click \"Open a tab that answers\"",
        "Click \"Tell the opener\"",
        "Switch to tab 1",
        "Click \"Open a popup\"",
        "Click \"Close this window\"",
    ];
    // On a busy machine, a tab that a page opened or closed late is recorded as selected by the person, which does no harm.
    let others = |steps: &[&str]| -> Vec<String> {
        steps.iter().filter(|step| !step.starts_with("Switch to tab")).map(ToString::to_string).collect()
    };
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    assert_eq!(others(&all), others(&expected));
    assert!(all.contains(&"Switch to tab 1"), "{all:#?}");
    stage.run(&["run", "trails/frames.trail.yaml"]).exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_is_recorded_as_the_name_of_a_secret() {
    let Some(stage) = stage() else { return };
    let (running, hand) = stage.record("/sign-in", &["--save", "trails/sign-in.trail.yaml", "--assertions"]).await;
    let tab = hand.tab("/sign-in").await;
    tab.click("#email").await;
    tab.type_text("ada@example.com").await;
    tab.press("Tab", 9).await;
    tab.type_text("bluebird").await;
    tab.press("Enter", 13).await;
    tab.until("document.body.textContent.includes('Wrong email or password.')").await;
    stage.until_recorded("Press Enter");
    let recorded = stage.end(running);
    let expected = [
        "Type \"ada@example.com\" into \"Email\"",
        "Type the secret PASSWORD into \"Password\"",
        "Press Enter",
        "\"Wrong email or password.\" is shown",
    ];
    assert_eq!(words(&recorded)[1..], expected);
    assert_eq!(recorded["secrets"], serde_json::json!(["PASSWORD"]));
    let root = stage.lab.project.root();
    for file in crate::support::files(root).iter().filter(|file| !file.starts_with(root.join("pages"))) {
        let text = String::from_utf8_lossy(&std::fs::read(file).expect("a file")).into_owned();
        let is_ours = file.starts_with(root.join("logs")) || file.ends_with("sign-in.trail.yaml");
        assert!(!is_ours || !text.contains("bluebird"), "{}", file.display());
    }
    let run = ["run", "trails/sign-in.trail.yaml", "--secret", "PASSWORD"];
    stage.run_with(&run, &[("PASSWORD", "bluebird")]).exits(0);
    // Without the secret, its name is not typed in its place.
    let without = stage.run(&run[..2]).exits(1);
    assert!(without.stdout.contains("run with `--secret PASSWORD`"), "{}", without.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_recording_ends_when_the_window_is_closed() {
    let Some(stage) = stage() else { return };
    let (running, hand) = stage.record("/products", &["--assertions"]).await;
    let tab = hand.tab("/products").await;
    // All buttons have one name, and this one is below the others.
    tab.click("#products li:nth-child(11) button").await;
    tab.until("document.querySelector('#said').textContent.startsWith('Added')").await;
    tab.click("a[href='/cart']").await;
    stage.until("the way to the cart is recorded", |steps| steps.len() > 3);
    hand.call(None, "Target.closeTarget", serde_json::json!({"targetId": tab.target})).await;
    let recorded = stage.ended(running);
    let all = words(&recorded);
    assert_eq!(all[1], "Click \"Add to cart\"", "{all:?}");
    assert!(all[2].starts_with("\"Added"), "{all:?}");
    let saved = recorded["saved"].as_str().expect("a path");
    assert!(saved.starts_with("trails/recorded-") && saved.ends_with(".trail.yaml"), "{saved}");
    assert_eq!(recorded["run"], format!("trailblaze run {saved}"));
    stage.run(&["run", saved]).exits(0);
}

#[test]
fn what_cannot_be_recorded_is_refused_with_the_reason() {
    let Some(stage) = stage() else { return };
    let url = stage.server.address.clone();
    stage.lab.project.write("trailblaze.yaml", chromium::devices("[{id: web/chromium}]"));
    stage.lab.project.write("trails/there.trail.yaml", "trail: []\n");
    let ran = stage.run(&["record", "--headless", "--url", &url, "--save", "trails/there.trail.yaml"]).exits(3);
    assert!(ran.stderr.contains("trails/there.trail.yaml` exists"), "{}", ran.stderr);
    let ran = stage.run(&["record", "--headless", "--url", "http://127.0.0.1:9/"]).exits(1);
    assert!(ran.stderr.contains("cannot open `http://127.0.0.1:9/`"), "{}", ran.stderr);
    let ran = stage.run(&["record", "--headless", "--url", &url, "-d", "android/sim-1"]);
    assert!(ran.stderr.contains("unsupported on android"), "{:?} {}", ran.code, ran.stderr);
    let open = stage.run(&["session", "list", "--json"]).exits(0);
    assert_eq!(open.stdout.trim(), "[]");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_to_a_dialog_is_recorded_before_what_opened_it() {
    let Some(stage) = Stage::open("web-shop", "server.mjs") else { return };
    let (running, hand) = stage.record("/dialogs", &["--save", "trails/dialogs.trail.yaml"]).await;
    let tab = hand.tab("/dialogs").await;
    tab.call("Page.enable", json!({})).await;
    let press = async |button: &str, answer: serde_json::Value, said: &str| {
        // The page waits in its dialog, and so does the press.
        tokio::join!(tab.click(button), async {
            while !tab.answers("Page.handleJavaScriptDialog", answer.clone()).await {
                tokio::time::sleep(std::time::Duration::from_millis(30)).await;
            }
        });
        tab.until(&format!("document.body.textContent.includes('{said}')")).await;
    };
    press("#confirm", json!({"accept": false}), "You refused.").await;
    press("#prompt", json!({"accept": true, "promptText": "Grace"}), "Grace").await;
    stage.until("both are recorded", |steps| steps.len() >= 5);
    let recorded = stage.end(running);
    let expected = [
        "Dismiss the dialog \"Really?\"",
        "Click \"Ask me\"",
        "Accept the dialog \"What is your name?\"",
        "Click \"Ask my name\"",
    ];
    assert_eq!(words(&recorded)[1..], expected, "{recorded}");
    let saved = stage.lab.project.read("trails/dialogs.trail.yaml");
    assert!(saved.contains("answer: DISMISS") && saved.contains("text: Grace"), "{saved}");
    stage.run(&["run", "trails/dialogs.trail.yaml"]).exits(0);
}
