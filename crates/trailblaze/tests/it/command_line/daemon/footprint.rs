//! What the daemon takes of the machine: memory for each request, memory and threads for each session. Prints what it measures, which
//! `--nocapture` shows.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use super::clients::{ask, send};
use crate::support::home::Home;
use crate::support::{Project, chromium, is_full_tier, wait_until};

/// What a process takes at one time.
#[derive(Debug, Clone, Copy)]
struct Footprint {
    /// Its own memory, in kilobytes.
    anonymous: u64,
    threads: u64,
}

impl Footprint {
    /// `None` where the system does not say.
    fn of(home: &Home) -> Option<Footprint> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", home.pid())).ok()?;
        let number = |name: &str| -> Option<u64> {
            let value = status.lines().find_map(|line| line.strip_prefix(name))?;
            value.trim().trim_end_matches(" kB").parse().ok()
        };
        Some(Footprint { anonymous: number("RssAnon:")?, threads: number("Threads:")? })
    }
}

/// Captures the screen this many times, and returns by how many kilobytes the daemon has grown.
fn growth(home: &Home, captures: usize) -> Option<i64> {
    let before = Footprint::of(home)?.anonymous;
    for _ in 0..captures {
        let answer = ask(home, "TrailblazeCommands/CaptureScreen", "{}");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    Some(Footprint::of(home)?.anonymous.cast_signed() - before.cast_signed())
}

/// Captures a screen many times, and fails if the daemon keeps something of each.
fn capture(home: &Home, what: &str, captures: usize) {
    // What is allocated once, and what allocators keep for the next request.
    let Some(first) = growth(home, captures / 4) else { return };
    let Some(later) = growth(home, captures) else { return };
    println!("{what}: {first} kB for the first {}, {later} kB for {captures} more", captures / 4);
    let each = later * 1024 / i64::try_from(captures).expect("a small number");
    assert!(each < 4096, "{what}: each capture keeps {each} bytes");
    home.run(&["session", "close"]).exits(0);
    let Some(closed) = Footprint::of(home) else { return };
    println!("{what}, closed: {} kB", closed.anonymous);
    assert!(closed.anonymous < 200_000, "{what}: {closed:?} after closing");
}

#[test]
#[cfg(target_os = "linux")]
fn capturing_a_screen_keeps_no_memory() {
    // Fewer captures say nothing.
    if !is_full_tier() {
        return;
    }
    let home = Home::counter();
    home.run(&["device", "connect", "-d", "android/sim-1", "--launch", "com.example.counter"]).exits(0);
    capture(&home, "a simulated phone", 12_000);
}

#[test]
#[cfg(target_os = "linux")]
fn capturing_a_page_keeps_no_memory() {
    if !is_full_tier() || chromium::find().is_none() {
        return;
    }
    let rows: String = (0..60).map(|n| format!("<li><button>Buy item {n}</button> for {n} euros</li>")).collect();
    let page = format!("<!doctype html><title>Shop</title><h1>Shop</h1><ul>{rows}</ul>");
    let project = Project::empty().with("shop.html", page);
    let home = Home::new(project.with("trailblaze.yaml", chromium::devices("[{id: web/chromium}]")));
    let url = format!("file://{}/shop.html", home.project.root().display());
    home.run(&["device", "connect", "-d", "web/chromium", "--launch", &url]).exits(0);
    capture(&home, "a web page", 12_000);
}

#[test]
#[cfg(target_os = "linux")]
fn sessions_share_threads() {
    let sessions = if is_full_tier() { 2_000 } else { 40 };
    let home = Home::counter();
    home.run(&["device", "connect", "-d", "android/sim-1"]).exits(0);
    let before = Footprint::of(&home).expect("Linux says");
    let key = home.key_file()["key"].as_str().expect("a key").to_string();
    let head = format!("POST /daemon HTTP/1.1\r\nhost: ADDRESS\r\nauthorization: Bearer {key}");
    let next = AtomicUsize::new(2);
    let open = || loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number > sessions {
            return;
        }
        let root = home.project.root();
        let client = json!({"currentDir": root, "project": root, "variables": {}, "command": []});
        let request = json!({"open": {"client": client, "device": format!("android/sim-{number}")}});
        let answer = send(&home, &head, &request.to_string());
        assert!(answer.contains(r#""answer""#), "{answer}");
    };
    std::thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(open))));
    // Threads that wrote the beginning of the record end when there is nothing to write.
    let after = wait_until("few threads are left", || {
        Footprint::of(&home).filter(|footprint| footprint.threads < before.threads + 20)
    });
    println!("{sessions} sessions: {before:?}, then {after:?}");
    let each = after.anonymous.saturating_sub(before.anonymous) / sessions as u64;
    assert!(each < 400, "each session keeps {each} kB");
}
