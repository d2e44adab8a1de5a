//! The server and a client that others maintain: FastMCP, which speaks the newest version of the protocol.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::program;
use crate::support::{repository, skip};

#[test]
fn another_client_uses_the_server_over_stdio() {
    check(&program().display().to_string(), &tempfile::tempdir().expect("a folder"));
}

#[test]
fn another_client_uses_the_server_over_http() {
    let runtime = tempfile::tempdir().expect("a folder");
    let mut server = Command::new(program())
        .args(["serve-tools", "--transport", "http", "--port", "0"])
        .env("TEAM_TOOLSETS", "team")
        .env_remove("TRAILBLAZE_BASE_URL")
        .env("XDG_RUNTIME_DIR", runtime.path())
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    BufReader::new(server.stderr.take().expect("its log")).read_line(&mut line).expect("a line");
    let address = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line}")).to_string();
    let checked = std::panic::catch_unwind(|| check(&address, &runtime));
    server.kill().expect("it ends");
    server.wait().expect("it ends");
    checked.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

/// The folder is one where no daemon is found.
fn check(server: &str, runtime: &TempDir) {
    let python = repository().join(".parts/python/bin/python");
    if !python.exists() {
        return skip::without_part("FastMCP is missing: `scripts/parts` installs it");
    }
    let script = repository().join("crates/trailblaze/tests/it/tool_servers/rust_tools/peer.py");
    let output = Command::new(python).arg(script).arg(server).env("XDG_RUNTIME_DIR", runtime.path()).output();
    let output = output.expect("Python starts");
    let told: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(told["tools"].as_array().map(Vec::len), Some(7), "{told}");
    assert_eq!(told["registry"]["platforms"], json!(["android", "ios"]));
    assert_eq!(told["delegates"], json!(vec![json!({"tool": "tap", "args": {"id": "add"}}); 20]));
    assert_eq!(told["remembered"], json!({"memoryDelta": {"user": "ada"}, "memoryDeletions": ["counted"]}));
    let reason = "no Trailblaze session is open; `trailblaze device connect` opens one (failed_precondition)";
    let (is_error, message) = (&told["withoutDevice"][0], told["withoutDevice"][1].as_str().unwrap_or_default());
    // The server runs in the folder of the crate.
    let place = format!("{reason} (examples/team.rs:");
    assert!(is_error == true && message.starts_with(&place), "{message}");
    assert_eq!((&told["flooded"], &told["said"]), (&json!("it said a lot"), &json!(1_000)));
    assert_eq!(told["unknown"], "unknown tool `team_none`");
}
