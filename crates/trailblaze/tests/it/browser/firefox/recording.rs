//! A recording does not belong to the browser that it was made on.

use crate::browser::firefox::open_on;
use crate::support::{chromium, firefox};

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
