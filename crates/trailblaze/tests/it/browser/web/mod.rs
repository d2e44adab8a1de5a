//! Trails on a real Chromium: exploring, recording, replaying, and what goes wrong there.

mod accessible;
pub mod acting;
mod bare;
mod causes;
mod checks;
mod components;
mod describing;
mod dialogs;
mod finding;
mod fresh;
mod live;
mod network;
mod person;
mod phone;
mod refs;
mod roles;
mod secrets;
pub mod shop;
mod snapshots;
mod tools;
mod trace;
mod trouble;
mod typing;
mod world;

use std::process::Command;

use crate::support::wait_until;
use shop::{Shop, calls};
use trailblaze_protocol::event::{Event, Verdict};

#[test]
fn a_page_is_filled_in_and_answers() {
    let Some(shop) = Shop::open(&calls(&[
        "tap: {text: Your name}",
        "inputText: {text: Eve}",
        "clearText: {}",
        "inputText: {text: Ada}",
        "tap: {text: Send me news}",
        "tap: {text: Greet}",
        "assertVisible: {text: 'Hello Ada, news follow'}",
        "tap: {text: Ask me}",
        "assertVisible: {text: Agreed}",
        "tap: {text: Load slowly}",
        "assertVisible: {text: Here at last}",
    ])) else {
        return;
    };
    shop.run(&[], 0);
}

#[test]
fn what_is_scrolled_away_moves_or_is_nested_is_reached() {
    let Some(shop) = Shop::open(&calls(&[
        "tap: {text: Moving}",
        "assertVisible: {text: Caught}",
        "tap: {id: far}",
        "assertVisible: {text: Reached}",
        "tap: {text: Five stars}",
        "assertVisible: {text: Rated}",
        "tap: {text: Inside a frame}",
        "assertVisible: {text: Pressed inside}",
        "tap: {text: Cart}",
        "assertVisible: {text: Your cart}",
        "pressKey: {keyCode: BACK}",
        "assertVisible: {text: Acme shop}",
    ])) else {
        return;
    };
    shop.run(&[], 0);
}

#[test]
fn what_cannot_be_touched_is_named_with_the_reason() {
    let check = |call: &str, expected: &str| {
        let Some(shop) = Shop::open(&calls(&[call])) else { return };
        let ran = shop.run(&[], 1);
        assert!(ran.stdout.contains(expected), "{call}: expected `{expected}` in\n{}", ran.stdout);
    };
    check("tap: {id: off}", "button \"Not yet\"");
    check("tap: {id: under}", "A veil");
    check("tap: {text: Nowhere}", "nothing on the screen has the text \"Nowhere\"");
    check("openUrl: {url: 'http://127.0.0.1:9/'}", "cannot open `http://127.0.0.1:9/`: net::ERR");
    check("openUrl: {url: shop.html}", "`shop.html` is not a full URL");
}

#[test]
fn what_a_shell_explores_is_kept_and_replayed() {
    let Some(shop) = Shop::open("") else { return };
    let address = format!("file://{}/shop.html", shop.project.root().display());
    let lines = format!(
        "step \"Greet\"\nopenUrl url={address}\nsnapshot\ntap ref=e7\ninputText text=Grace\ntap text=Greet\n\
         assertVisible text=\"Hello Grace\"\nsave trails/kept.trail.yaml\nquit\n"
    );
    let ran = shop.project.feed(&["shell", "-d", "web/chromium"], &lines).exits(0);
    assert!(ran.stdout.contains("[e7] textbox \"Your name\" [id=name]"), "{}", ran.stdout);
    let kept = shop.project.read("trails/kept.trail.yaml");
    assert!(kept.contains("- tap:\n          id: name\n"), "a ref became something stable: {kept}");
    shop.run(&["trails/kept.trail.yaml", "--record"], 0);
    shop.run(&["trails/kept.trail.yaml"], 0);
}

#[test]
fn devices_of_one_browser_know_nothing_of_each_other() {
    let Some(shop) = Shop::open(&calls(&["evaluateJs: {script: '`visits: ${localStorage.visits}`'}"])) else { return };
    shop.device("[{id: web/one}, {id: web/two}]");
    shop.run(&["--all-devices"], 0);
    assert_eq!(shop.project.last_run().mentions("\"text\":\"visits: 1\""), 2, "each device was here once");
}

#[test]
fn more_workers_are_more_pages_of_the_browser() {
    let Some(shop) = Shop::open(&calls(&["assertVisible: {text: Acme shop}"])) else { return };
    shop.run(&["--workers", "2", "--repeat-each", "4"], 0);
    let summary = shop.project.last_run().summary();
    let mut devices: Vec<_> = summary["devices"].as_array().expect("devices").iter().map(ToString::to_string).collect();
    devices.sort();
    assert_eq!(devices, ["\"web/chromium\"", "\"web/chromium-2\""]);
}

#[test]
fn a_browser_that_is_not_there_is_told_with_what_to_do() {
    let Some(shop) = Shop::with_own_browser("") else { return };
    let mut command = shop.command(&["run", "--pictures", "off"]);
    command.env("TRAILBLAZE_CHROMIUM", "/nowhere/chromium");
    let ran = shop.project.finish(command).exits(2);
    assert!(ran.stdout.contains("the device did not start: `/nowhere/chromium` is not a program"), "{}", ran.stdout);
}

#[test]
fn a_browser_that_is_killed_ends_its_trail_and_leaves_nothing() {
    let Some(shop) = Shop::with_own_browser(&calls(&["waitUntilVisible: {text: Nowhere, timeoutMs: 60000}"])) else {
        return;
    };
    let mut command = shop.command(&["run", "--pictures", "off"]);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let running = crate::support::Running::of(command.spawn().expect("the program starts"));
    wait_until("it waits", || (shop.project.runs().first()?.mentions("waitUntilVisible") > 0).then_some(()));
    let browser = wait_until("there is a browser", || {
        let alive = shop.mark.alive();
        let is_browser = |line: &&String| {
            line.contains("--remote-debugging-pipe") && !line.contains("--type=") && !line.contains("(guardian)")
        };
        let found = alive.iter().find(is_browser)?;
        found.split_whitespace().next().map(str::to_string)
    });
    Command::new("kill").args(["-9", &browser]).status().expect("kill runs");
    let ran = shop.project.ended(running).exits(2);
    assert!(ran.stdout.contains("the device was lost: the browser"), "{}", ran.stdout);
    shop.mark.wait_until_none_left_blocking();
    let verdict = |event: &Event| match event {
        Event::AttemptEnded { verdict, .. } => Some(*verdict),
        _ => None,
    };
    let events = shop.project.last_run().events();
    assert_eq!(events.iter().filter_map(verdict).collect::<Vec<_>>(), [Verdict::Errored]);
}
