//! A recording does not belong to the browser that it was made on.

use std::fs::File;
use std::process::Stdio;

use crate::browser::firefox::hand::{ENTER, Hand};
use crate::browser::firefox::open_on;
use crate::browser::record::stage::{Stage, words};
use crate::support::hand::{after_the_driver, free_port};
use crate::support::{Running, chromium, firefox, wait_until};

const BOTH: &str = "[{id: web/chromium}, {id: web/firefox}]";

/// Explores on one browser, keeps what was done, and replays it on the other one.
#[track_caller]
fn replays(made_on: &str, replayed_on: &str) {
    if chromium::find().is_none() {
        return;
    }
    let Some(shop) = open_on(BOTH, &[]) else { return };
    let address = format!("file://{}/shop.html", shop.project.root().display());
    let lines = format!(
        "step \"Greet\"\nopenUrl url={address}\nsnapshot\ntap ref='textbox \"Your name\"'\ninputText text=Grace\ntap text=Greet\n\
         assertVisible text=\"Hello Grace\"\ntap text='Inside a frame'\nassertVisible text='Pressed inside'\n\
         save trails/kept.trail.yaml\nquit\n"
    );
    shop.project.feed(&["shell", "-d", made_on], &lines).exits(0);
    shop.run(&["trails/kept.trail.yaml", "-d", made_on, "--record"], 0);
    shop.run(&["trails/kept.trail.yaml", "-d", replayed_on], 0);
}

#[test]
fn what_was_recorded_on_chromium_replays_on_firefox() {
    replays("web/chromium", "web/firefox");
}

#[test]
fn what_was_recorded_on_firefox_replays_on_chromium() {
    replays("web/firefox", "web/chromium");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_does_in_firefox_is_recorded_and_replays_on_both() {
    if firefox::find().is_none() {
        return;
    }
    let Some(stage) = Stage::open("web-shop", "server.mjs") else { return };
    let port = free_port();
    let config = format!("devices: [{{id: web/firefox}}]\nfirefox: {{args: ['{}']}}\n", Hand::ARGUMENT);
    stage.lab.project.write("trailblaze.yaml", config);
    let url = format!("{}/checkout", stage.server.address);
    let args =
        ["record", "--headless", "--json", "--url", &url, "-d", "web/firefox", "--save", "trails/order.trail.yaml"];
    let mut command = stage.command(&args);
    let (name, value) = Hand::variable(port);
    let talk = stage.lab.project.root().join("talk");
    command.env(name, value).stdout(Stdio::piped()).stderr(File::create(&talk).expect("a file"));
    let mut running = Running::of(command.spawn().expect("the program starts"));
    tokio::task::block_in_place(|| {
        wait_until("it records", || {
            let talk = std::fs::read_to_string(&talk).expect("a file");
            assert!(!running.has_ended(), "it ended: {talk}");
            talk.contains("Recording what you do").then_some(())
        });
    });
    after_the_driver().await;
    tokio::task::block_in_place(|| {
        let mut hand = Hand::connect(port);
        hand.tab("/checkout");
        hand.click("#name");
        hand.type_text("Ada");
        hand.click("#email");
        hand.type_text("ada@example.com");
        hand.click("#note");
        hand.type_text(&format!("Ring{ENTER}twice"));
        hand.click("#terms");
        hand.click("#place");
        hand.tab("/order");
        stage.until_recorded("Click \"Place order\"");
        hand.back();
        hand.tab("/checkout");
    });
    stage.until_recorded("Go back");
    let recorded = words(&stage.end(running));
    let expected = [
        &format!("Open {url}"),
        "Type \"Ada\" into \"Full name\"",
        "Type \"ada@example.com\" into \"Email\"",
        "Type \"Ring twice\" into \"Note to the driver\"",
        "Check \"I accept the terms\"",
        "Click \"Place order\"",
        "Go back",
    ];
    assert_eq!(recorded, expected);
    stage.lab.project.write("trailblaze.yaml", format!("devices: {BOTH}\n"));
    for device in ["web/firefox", "web/chromium"] {
        stage.run(&["run", "trails/order.trail.yaml", "-d", device]).exits(0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_trails_of_the_example_shop_pass_on_firefox() {
    use std::path::PathBuf;

    use crate::support::files;
    use crate::support::lab::{Lab, Runtime};
    use crate::support::web_shop::Shop;

    let Some(lab) = Lab::under(Runtime::Node) else { return };
    if firefox::find().is_none() {
        return;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    lab.example("web-shop").env("PATH", path.to_string_lossy());
    let server = Shop::open(&lab.project.root().join("bin/node"), lab.project.root());
    let base = format!("base={}", server.address);
    let played = tokio::task::block_in_place(|| lab.run(&["-d", "web/firefox", "--memory", &base], 0));
    let is_trail = |path: &&PathBuf| path.to_string_lossy().ends_with(".trail.yaml");
    let trails = files(&lab.project.root().join("trails")).iter().filter(is_trail).count();
    assert_eq!(played.run.summary()["counts"]["passed"], serde_json::json!(trails), "{}", played.ran.stdout);
}
