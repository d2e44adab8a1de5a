//! The web shop of the examples: its server ends as it says, and its trails pass on a real Chromium.

use std::path::PathBuf;

use crate::support::chromium;
use crate::support::lab::{Lab, Runtime};
use crate::support::web_shop::Shop;
use crate::support::{files, wait_until};
use serde_json::json;

fn open(lab: &Lab, runtime: &str) -> Shop {
    Shop::open(&lab.project.root().join("bin").join(runtime), lab.project.root())
}

#[test]
fn its_trails_pass() {
    let Some(lab) = Lab::under(Runtime::Node) else { return };
    let Some(shared) = chromium::shared() else { return };
    let path = std::env::var_os("PATH").unwrap_or_default();
    lab.example("web-shop").env("PATH", path.to_string_lossy());
    lab.with("trailblaze.yaml", &format!("{}browser: {{attach: '{shared}'}}\n", lab.project.read("trailblaze.yaml")));
    let server = open(&lab, "node");
    let base = format!("base={}", server.address);
    // Two devices share the trails: much of their time is waiting for the shop.
    let repeats = if crate::support::is_full_tier() { 100 } else { 1 };
    let each = repeats.to_string();
    let played = lab.run(&["-d", "web/one,web/two", "--memory", &base, "--repeat-each", &each], 0);
    let is_trail = |path: &&PathBuf| path.to_string_lossy().ends_with(".trail.yaml");
    let trails = files(&lab.project.root().join("trails")).iter().filter(is_trail).count();
    assert_eq!(played.run.summary()["counts"]["passed"], json!(trails * repeats), "{}", played.ran.stdout);
}

#[test]
fn its_server_ends_when_its_stdin_closes() {
    for (runtime, name) in [(Runtime::Node, "node"), (Runtime::Bun, "bun")] {
        let Some(lab) = Lab::under(runtime) else { return };
        let mut server = open(lab.example("web-shop"), name);
        assert!(server.address.starts_with("http://127.0.0.1:"), "{}", server.address);
        assert!(server.child.try_wait().expect("it can be asked").is_none(), "under {name}, it runs on");
        drop(server.child.stdin.take());
        let status = wait_until("the server ends", || server.child.try_wait().expect("it can be asked"));
        assert!(status.success(), "under {name}: {status}");
    }
}
