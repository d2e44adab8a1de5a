//! The web shop of the examples: its server ends as it says, and its trails pass on a real Chromium.

#[path = "servers/lab.rs"]
mod lab;
#[path = "processes/marked.rs"]
mod marked;
mod support;

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use lab::{Lab, Runtime};
use serde_json::json;
use support::{files, wait_until};

/// The server, on a port of its own. It does not outlive its test.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(lab: &Lab, runtime: &str) -> Server {
        let mut command = Command::new(lab.project.root().join("bin").join(runtime));
        command.args(["server.mjs", "0"]).current_dir(lab.project.root());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the server starts");
        let mut line = String::new();
        // A server that ends without a word ends the line too.
        BufReader::new(child.stdout.take().expect("its output is ours")).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("listening on ").map(str::to_string);
        let address = address.unwrap_or_else(|| panic!("the server told no address: `{line}`"));
        Server { child, address }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn its_trails_pass() {
    let Some(lab) = Lab::under(Runtime::Node) else { return };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |name: &&str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    if !["chromium", "chromium-browser", "google-chrome"].iter().any(is_there) {
        support::skip::without_part("there is no Chromium; `scripts/parts` installs it");
        return;
    }
    lab.example("web-shop").env("PATH", path.to_string_lossy());
    let server = Server::start(&lab, "node");
    let base = format!("base={}", server.address);
    // Two devices share the trails: much of their time is waiting for the shop.
    let repeats = if std::env::var_os("SOAK").is_some() { 100 } else { 1 };
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
        let mut server = Server::start(lab.example("web-shop"), name);
        assert!(server.address.starts_with("http://127.0.0.1:"), "{}", server.address);
        assert!(server.child.try_wait().expect("it can be asked").is_none(), "under {name}, it runs on");
        drop(server.child.stdin.take());
        let status = wait_until("the server ends", || server.child.try_wait().expect("it can be asked"));
        assert!(status.success(), "under {name}: {status}");
    }
}
