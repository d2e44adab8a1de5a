//! How a Firefox starts and ends: nothing of it is left, whatever is killed.

use std::process::{Command, Stdio};

use crate::browser::firefox::open;
use crate::browser::web::shop::Shop;
use crate::support::{Running, wait_until};

const WAITS: &str = "waitUntilVisible: {text: Nowhere, timeoutMs: 60000}";

#[test]
fn a_firefox_that_is_not_there_is_told_with_what_to_do() {
    let Some(shop) = open(&[]) else { return };
    let mut command = shop.command(&["run", "--pictures", "off"]);
    command.env("TRAILBLAZE_FIREFOX", "/nowhere/firefox");
    let ran = shop.project.finish(command).exits(2);
    assert!(ran.stdout.contains("the device did not start: `/nowhere/firefox` is not a program"), "{}", ran.stdout);
}

#[test]
fn a_program_that_is_no_firefox_is_told_with_what_it_printed() {
    let Some(shop) = open(&[]) else { return };
    shop.project.write("trailblaze.yaml", "devices: [{id: web/firefox}]\nfirefox: {program: /bin/ls}\n");
    let ran = shop.run(&[], 2);
    assert!(ran.stdout.contains("the device did not start: /bin/ls did not answer:"), "{}", ran.stdout);
    assert!(ran.stdout.contains("--profile") || ran.stdout.contains("unrecognized option"), "{}", ran.stdout);
}

/// Starts a run, and returns it once the page waits, with the process of its Firefox.
fn start(shop: &Shop) -> (Running, String) {
    let mut command = shop.command(&["run", "--pictures", "off"]);
    let temp = shop.project.root().join("temp");
    std::fs::create_dir_all(&temp).expect("a folder");
    command.env("TMPDIR", &temp).stdout(Stdio::piped()).stderr(Stdio::piped());
    let running = Running::of(command.spawn().expect("the program starts"));
    wait_until("it waits", || (shop.project.runs().first()?.mentions("waitUntilVisible") > 0).then_some(()));
    let browser = wait_until("there is a Firefox", || {
        let alive = shop.mark.alive();
        let is_browser = |line: &&String| line.contains("--remote-debugging-port=0") && !line.contains("(guardian)");
        let found = alive.iter().find(|line| is_browser(line) && !line.contains("trailblaze run"))?;
        found.split_whitespace().next().map(str::to_string)
    });
    (running, browser)
}

fn assert_nothing_left(shop: &Shop) {
    shop.mark.wait_until_none_left_blocking();
    let temp = shop.project.root().join("temp");
    wait_until("the profile is removed", || {
        let mut left = std::fs::read_dir(&temp).expect("a folder").flatten();
        let is_profile =
            |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with("trailblaze-firefox");
        (!left.any(is_profile)).then_some(())
    });
}

#[test]
fn a_firefox_that_is_killed_ends_its_trail_and_leaves_nothing() {
    let Some(shop) = open(&[WAITS]) else { return };
    let (running, browser) = start(&shop);
    Command::new("kill").args(["-9", &browser]).status().expect("kill runs");
    let ran = shop.project.ended(running).exits(2);
    assert!(ran.stdout.contains("the device was lost: the browser"), "{}", ran.stdout);
    assert_nothing_left(&shop);
}

#[test]
fn a_run_that_is_killed_leaves_no_firefox_and_no_profile() {
    let Some(shop) = open(&[WAITS]) else { return };
    let (mut running, _) = start(&shop);
    running.kill();
    assert_nothing_left(&shop);
}
